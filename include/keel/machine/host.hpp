// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How this node calls itself, and how it is told from others.

#include <unistd.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

namespace keel::machine {

namespace detail {
/// FNV-1a: few names, told apart by a number.
[[nodiscard]] constexpr std::uint64_t hash(std::string_view name) noexcept {
  std::uint64_t value = 14695981039346656037u;
  for (char const c : name) value = (value ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return value;
}
} // namespace detail

/// The host name as the system has it, `"unknown"` where it has none.
[[nodiscard]] inline std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? std::string{name.data()} : std::string{"unknown"};
}

/// A number that processes of one node share, and no other node has: of the host name, and of what
/// the kernel drew when it booted, so that nodes of one name differ too.
///
/// Not MPI's `MPI_COMM_TYPE_SHARED`: an MPI without shared memory of its own (MPICH 5 over UCX) finds a
/// node for each rank with it.
[[nodiscard]] inline std::uint64_t node_identity() {
  std::string name;
  std::getline(std::ifstream{"/proc/sys/kernel/random/boot_id"}, name);
  return detail::hash(name + host_name());
}

} // namespace keel::machine
