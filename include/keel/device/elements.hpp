// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Kokkos' views as what `machine` reduces over ranks.

#include <keel/policy/error.hpp>
#include <keel/space/kokkos.hpp>

#include <cstddef>
#include <string>

namespace keel::device {

/// The elements of a view of any rank, in whatever memory: `machine::sum(env, device::elements(v))` adds them up, one
/// by one, over the ranks, if MPI reaches that memory there, else through the host. Fences the view's execution
/// space.
template <class View>
class elements {
public:
  using value_type = typename View::non_const_value_type;

  /// Refuses a view with gaps, because MPI counts elements.
  explicit elements(View view) : view_(view) {
    if (!view.span_is_contiguous())
      throw error("device::elements", "the view '" + std::string(view.label()) + "' has gaps",
                  "its elements are sent as they lie", "Copy it to one without");
    typename View::execution_space().fence();
  }
  [[nodiscard]] value_type* data() const { return view_.data(); }
  [[nodiscard]] std::size_t size() const { return view_.span(); }
  void copy_to_host(value_type* host) const { Kokkos::deep_copy(on_host(host), flat()); }
  void copy_from_host(value_type const* host) const {
    Kokkos::deep_copy(flat(), on_host(const_cast<value_type*>(host)));
  }

private:
  template <class Space>
  using row = Kokkos::View<value_type*, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  [[nodiscard]] row<typename View::device_type> flat() const {
    return row<typename View::device_type>(view_.data(), view_.span());
  }
  [[nodiscard]] row<Kokkos::HostSpace> on_host(value_type* host) const {
    return row<Kokkos::HostSpace>(host, view_.span());
  }

  View view_;
};

} // namespace keel::device
