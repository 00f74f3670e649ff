// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Which cores this process may run on, and binding it to others for a while.

#include <keel/policy/macros.hpp>
#include <keel/topology/affinity.hpp>
#include <keel/topology/node.hpp>

#include <utility>
#include <vector>

namespace keel::topology {

/// The cores of a node that the calling thread may run on: what `taskset`, a batch system or
/// MPI's launcher left it. Of another machine's node: all cores, for nothing is bound there.
[[nodiscard]] id_set bound_cores(node const& of);

/// Binds every thread that this process has to a place as long as it lives, and then undoes that.
///
/// Throws `keel::error` and binds nothing if the node is not this machine, or the system
/// refuses. Threads that are born meanwhile inherit; at the end they get what the thread that made
/// the binding had before. Bindings in one thread end in the reverse of the order they were made in.
class binding {
public:
  binding(node const& on, placement const& to);
  binding(binding const&) = delete;
  binding& operator=(binding const&) = delete;
  ~binding() { undo(); }

private:
  void undo() noexcept;

  id_set own_;
  std::vector<std::pair<int, id_set>> before_;
};

} // namespace keel::topology

#if !KEEL_COMPILED
#include <keel/impl/topology/binding.ipp>
#endif
