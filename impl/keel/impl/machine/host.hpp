// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Bodies of `host`: what the system says of this node.

#include <keel/machine/host.hpp>

#include <array>
#include <cstdint>
#include <fstream>
#include <string>

#include <unistd.h>

namespace keel::machine {

KEEL_INLINE std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? std::string{name.data()} : std::string{"unknown"};
}

KEEL_INLINE std::uint64_t node_identity() {
  std::string name;
  std::getline(std::ifstream{"/proc/sys/kernel/random/boot_id"}, name);
  return detail::hash(name + host_name());
}

} // namespace keel::machine
