// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// When a kernel that throws does so, so that Kokkos' tools are notified of its end. Depends on Kokkos.

#include <keel/space/kokkos.hpp>

#include <exception>

namespace keel::space::detail {

/// Whether Kokkos' tools observe kernels. Kokkos then waits at each begin and end, and the fence of the latter must not
/// throw; so keel waits for an asynchronous kernel before.
inline bool tools_hear_kernels() {
  if (!Kokkos::Tools::profileLibraryLoaded()) return false;
  auto const heard = Kokkos::Tools::Experimental::get_callbacks();
  return heard.end_parallel_for || heard.end_parallel_reduce || heard.end_parallel_scan;
}

/// What a kernel threw, if Kokkos' tools observe kernels.
///
/// Kokkos notifies its tools of a kernel's end after `execute()`, thus not if that throws; only Kokkos has the number
/// of the kernel. The closure ends after both, in the same scope, so its end throws. A node of a graph outlives
/// its kernel and is not shown to tools: it throws at once, as every kernel does if no tool observes it. A scan with a
/// total leaves tools without its end since Kokkos 4.0, which ends its closure before.
template <class Policy>
class late_exception {
  static constexpr bool waits = !Policy::is_graph_kernel::value;

public:
  late_exception() = default;
  /// A closure is copied into a graph before it runs.
  late_exception(late_exception const&) {}
  late_exception& operator=(late_exception const&) = delete;
  /// Throws what `run()` kept, but not while a later exception, as of a tool, passes by.
  ~late_exception() noexcept(!waits) {
    if constexpr (waits)
      if (thrown_ && std::uncaught_exceptions() == in_flight_) std::rethrow_exception(thrown_);
  }

  template <class Execute>
  void run(Execute const& execute) const {
    if constexpr (waits) {
      try {
        execute();
      } catch (...) {
        if (!tools_hear_kernels()) throw;
        in_flight_ = std::uncaught_exceptions();
        thrown_ = std::current_exception();
      }
    } else execute();
  }

private:
  mutable std::exception_ptr thrown_;
  mutable int in_flight_ = 0;
};

} // namespace keel::space::detail
