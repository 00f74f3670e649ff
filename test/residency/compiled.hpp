// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Routines whose bodies stand in compiled.cpp, for two applications.

#include "run.hpp"

#include <keel/machine/operations.hpp>
#include <keel/residency/declare.hpp>

namespace test::compiled {

namespace kr = keel::residency;

struct checked : application<keel::list<host, twin>, kr::checked> {};
struct off : application<keel::list<host>, kr::off> {};

struct heat : kr::variable<"heat", double*, kr::without_ghosts> {};

struct warm : kr::routine<"warm", kr::on_device, kr::writes<heat>> {
  template <class V>
  static void run(V v, double by);
};
struct most : kr::routine<"most", kr::on_device, kr::reads<heat>> {
  template <class V>
  static double run(V v);
};
struct hottest : kr::reduce<"hottest", keel::machine::maximum, most> {};
struct scale : kr::routine<"scale", kr::on<host>, kr::reads<hottest>, kr::updates<heat>> {
  template <class V>
  static void run(V v);
};
/// Reads an element that is not there if its argument is true.
struct show : kr::routine<"show", kr::on_host, kr::reads<heat>> {
  template <class V>
  static double run(V v, bool beyond);
};

} // namespace test::compiled
