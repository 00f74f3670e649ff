// SPDX-License-Identifier: MIT
#pragma once
/// @file
/// Variables on two meshes, and partitions of these.

#include "heat.hpp"

#include <keel/layout/partition.hpp>

struct cells : kr::mesh<"cells"> {};
struct edges : kr::mesh<"edges"> {};
struct h : kr::variable<"h", double**, kr::levels<2>, kr::on_mesh<cells>> {};
struct un : kr::variable<"un", double*, kr::on_mesh<edges>> {};

struct a_run {
  keel::machine::basic_environment<keel::machine::alone> ranks;
  [[nodiscard]] auto& environment() { return ranks; }
  [[nodiscard]] std::string_view device_name() const { return "serial"; }
  template <class Tag>
  [[nodiscard]] auto execution_space() {
    return typename keel::device_traits<Tag>::execution_space{};
  }
};
