// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The name of this node, and what distinguishes it from others.

#include <keel/policy/macros.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace keel::machine {

namespace detail {
/// FNV-1a: a number that distinguishes few names.
[[nodiscard]] constexpr std::uint64_t hash(std::string_view name) noexcept {
  std::uint64_t value = 14695981039346656037u;
  for (char const c : name) value = (value ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return value;
}
} // namespace detail

/// The host name as the system has it, `"unknown"` if it has none.
[[nodiscard]] std::string host_name();

/// A number that processes of one node share, and no other node has: of the host name, and of what
/// the kernel drew when it booted, so that nodes of one name differ too.
///
/// Containers of one node may have names of their own: `node()` of an environment joins those whose ranks share memory
/// (`MPI_COMM_TYPE_SHARED`). That alone is not enough: an MPI without shared memory of its own (MPICH 5 over UCX) finds
/// a node for each rank with it.
[[nodiscard]] std::uint64_t node_identity();

/// A number that processes of one running kernel share, whatever host names their containers have.
[[nodiscard]] std::uint64_t kernel_identity();

} // namespace keel::machine

#if !KEEL_COMPILED
#include <keel/impl/machine/host.ipp>
#endif
