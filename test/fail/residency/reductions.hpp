// SPDX-License-Identifier: MIT
#pragma once
/// @file
/// A reduction, correct in itself, and a run that takes its value.

#include "heat.hpp"

struct timestep : kr::routine<"timestep", kr::on_device, kr::reads<kr::owned<kr::past<eta, 1>>>> {
  template <class V>
  static double run(V v) {
    return v(kr::past<eta, 1>{})(0, 0);
  }
};
struct dt : kr::reduce<"dt", keel::machine::minimum, timestep> {};

struct by_value {
  template <class V>
  static void run(V v) {
    v(eta{})(0, 0) = v(dt{});
  }
};
struct advance_by : kr::routine<"advance_by", kr::on_device, kr::writes<eta>, kr::reads<dt>>, by_value {};
