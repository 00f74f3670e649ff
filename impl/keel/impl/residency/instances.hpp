// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The instances of the devices' spaces, and when the simulated device's memory is closed.

#include <keel/impl/residency/memories.hpp>
#include <keel/policy/list.hpp>
#include <keel/space/kokkos.hpp>
#include <keel/space/simulated_memory.hpp>

#include <cstddef>
#include <optional>
#include <type_traits>

namespace keel::residency::detail {

/// One instance of a device's space, had from the run when it is first needed.
template <class Tag>
struct instance_of {
  std::optional<space_of<Tag>> space;
};

/// Instances for the devices of a list and for the host, and where to get them.
template <class HostTag, class Devices>
class instances;
template <class HostTag, class... Tags>
class instances<HostTag, keel::list<Tags...>>
    : instance_of<Tags>...,
      std::conditional_t<(std::is_same_v<HostTag, Tags> || ...), std::type_identity<HostTag>, instance_of<HostTag>> {
public:
  template <class Run>
  explicit instances(Run& run) : run_(&run), make_{[](void* from, instances& self) {
    static_cast<instance_of<Tags>&>(self).space.emplace(static_cast<Run*>(from)->template execution_space<Tags>());
  }...} {}

  template <class Tag>
  [[nodiscard]] std::optional<space_of<Tag>> const& get() const {
    return static_cast<instance_of<Tag> const&>(*this).space;
  }
  template <class Tag>
  space_of<Tag> const& open() {
    auto& slot = static_cast<instance_of<Tag>&>(*this).space;
    if (!slot) {
      if constexpr ((std::is_same_v<Tag, Tags> || ...)) make_[policy::index_of<keel::list<Tags...>, Tag>](run_, *this);
      else slot.emplace();
    }
    return *slot;
  }
  /// Calls `f(tag, space)` for those that are open.
  template <class F>
  void for_each_open(F&& f) const {
    auto const one = [&]<class Tag>(Tag tag) {
      if (auto const& made = get<Tag>()) f(tag, *made);
    };
    (one(Tags{}), ...);
    if constexpr (!(std::is_same_v<HostTag, Tags> || ...)) one(HostTag{});
  }

private:
  void* run_;
  void (*make_[sizeof...(Tags)])(void*, instances&);
};

/// Closes what is allocated of the simulated device's memory, as long as it lives, to all but kernels and copies.
template <bool Closes>
struct closed_memory {};
template <>
struct closed_memory<true> {
  closed_memory() { space::set_guard(space::guard::pages); }
  ~closed_memory() { space::set_guard(guard_before); }
  closed_memory(closed_memory const&) = delete;
  closed_memory& operator=(closed_memory const&) = delete;

  space::guard guard_before = space::chosen_guard();
};

/// Whether the device is simulated, with memory of its own: then mistakes are made to show.
template <class Tag>
inline constexpr bool is_simulated = false;
template <class Tag>
  requires requires { device_traits<Tag>::preference; }
inline constexpr bool is_simulated<Tag> = device_traits<Tag>::preference == 0 && !is_on_host<Tag>;

} // namespace keel::residency::detail
