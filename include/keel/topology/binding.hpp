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

/// Binds to hardware threads as long as it lives, and then undoes that.
///
/// Throws `keel::error` and binds nothing if the node is not this machine, or the system
/// refuses. Threads that are born meanwhile inherit; at the end they get what the thread that made
/// the binding had before. Bindings in one thread end in the reverse of the order they were made in.
class binding {
public:
  /// The calling rank: every thread that this process has.
  binding(node const& on, placement const& to);
  /// Only the calling thread, the `thread`-th of a rank: to one core of the placement, round and
  /// round, so that thread 0 of each runs on its first.
  binding(node const& on, placement const& to, int thread);
  binding(binding const&) = delete;
  binding& operator=(binding const&) = delete;
  ~binding() { undo(); }

private:
  void bind(node const& on, id_set const& threads);
  void undo() noexcept;

  bool whole_process_;
  id_set own_;
  std::vector<std::pair<int, id_set>> before_;
};

} // namespace keel::topology

#if !KEEL_COMPILED
#include <keel/impl/topology/binding.ipp>
#endif
