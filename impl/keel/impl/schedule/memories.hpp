// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The devices of an application: their memories, which device's queue moves bytes to each, and an instance of each
/// space.

#include <keel/policy/list.hpp>
#include <keel/policy/macros.hpp>
#include <keel/policy/tags.hpp>
#include <keel/impl/validity/trackings.hpp>
#include <keel/schedule/routine.hpp>
#include <keel/validity/tracking.hpp>
#include <keel/validity/transitions.hpp>
#include <keel/space/devices.hpp>
#include <keel/space/kokkos.hpp>

#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace keel::residency::detail {

template <class Tag>
using space_of = typename device_traits<Tag>::execution_space;
template <class Tag>
using memory_space_of = typename space_of<Tag>::memory_space;

/// Whether kernels of the device work on the host's memory.
template <class Tag>
inline constexpr bool is_on_host = std::same_as<memory_space_of<Tag>, Kokkos::HostSpace>;

/// Whether the device is simulated, with memory of its own: then mistakes are made to show.
template <class Tag>
inline constexpr bool is_simulated = false;
template <class Tag>
  requires requires { device_traits<Tag>::preference; }
inline constexpr bool is_simulated<Tag> = device_traits<Tag>::preference == 0 && !is_on_host<Tag>;

template <class Spaces, class Devices>
struct queue_spaces : std::type_identity<Spaces> {};
template <class... Spaces, class Tag, class... Tags>
struct queue_spaces<keel::list<Spaces...>, keel::list<Tag, Tags...>> {
  static constexpr bool is_new =
      !is_on_host<Tag> && !(std::same_as<memory_space_of<Tag>, typename Spaces::memory_space> || ...);
  using next = std::conditional_t<is_new, keel::list<Spaces..., space_of<Tag>>, keel::list<Spaces...>>;
  using type = typename queue_spaces<next, keel::list<Tags...>>::type;
};
/// The spaces by which bytes go to the memories of a list of devices that are not the host's, each the first device's
/// that has it: memory `i + 1` is that of space `i`.
template <class Devices>
using queue_spaces_of = typename queue_spaces<keel::list<>, Devices>::type;

/// The memory of `Space` among `Spaces`; the host's if it is none of them.
template <class Space, class... Spaces>
constexpr memory find_memory(keel::list<Spaces...>) {
  int at = 1;
  bool const found =
      ((std::same_as<typename Space::memory_space, typename Spaces::memory_space> ? true : (++at, false)) || ...);
  return found ? memory(at) : host;
}
/// What the memories of a list are called: the host's, then each by the first device that has it.
template <class... Tags>
std::vector<std::string> memory_names(keel::list<Tags...>) {
  std::vector<std::string> names{"host"};
  auto const look = [&](memory m, std::string_view name) {
    if (std::size_t(m) == names.size()) names.emplace_back(name);
  };
  (look(find_memory<space_of<Tags>>(queue_spaces_of<keel::list<Tags...>>{}), Tags::name), ...);
  return names;
}
template <class Devices, class Tag>
inline constexpr memory memory_of = find_memory<space_of<Tag>>(queue_spaces_of<Devices>{});

/// The type number `N` of a list.
template <std::size_t N, class List>
struct nth_of;
template <std::size_t N, class... Ts>
struct nth_of<N, keel::list<Ts...>> : std::tuple_element<N, std::tuple<Ts...>> {};

/// Calls `f` with `index` as a constant. It has to be below `N`; the last one is not tested.
template <std::size_t N, class F>
KEEL_FORCE_INLINE constexpr void with_index(std::size_t index, F&& f) {
  [&]<std::size_t... I>(std::index_sequence<I...>) __attribute__((always_inline)) {
    (void)(((index == I || I + 1 == N) && (f(std::integral_constant<std::size_t, I>{}), true)) || ...);
  }(std::make_index_sequence<N>{});
}

/// The policy's devices, without what is no tag.
template <class Tag>
inline constexpr bool is_tag = policy::DeviceTag<Tag>; // a concept would bring its own errors along
template <class Tag>
consteval bool require_tag() {
  static_assert(is_tag<Tag>,
                "keel::residency: the application's list of devices names what is no tag of a device (it is in the "
                "message). Say keel::serial instead of Kokkos::Serial.");
  return is_tag<Tag>;
}
template <class Tag>
using checked_tag = std::bool_constant<require_tag<Tag>()>;
template <class App>
using devices_of = policy::filter<typename App::devices, checked_tag>;

/// Where the exchange of an application's fields happens: on the host, or where `on_device` runs, as
/// `using exchange = on_device;` in the policy says. Pages that checked tracking closes are no place for messages.
template <class App>
inline constexpr bool exchanges_on_device = false;
template <class App>
  requires requires { App::exchange::where; }
inline constexpr bool exchanges_on_device<App> =
    App::exchange::where.what == place::kind::at_chosen && !tracking_of<App>::may_check;

/// The memory of a place, if that of the device chosen at the start is `Chosen`.
template <class App, memory Chosen>
constexpr memory memory_at(place const& where) {
  using devices = devices_of<App>;
  bool const is_chosen =
      where.what == place::kind::at_exchange ? exchanges_on_device<App> : where.what == place::kind::at_chosen;
  if (is_chosen) return Chosen;
  memory found = host;
  [&]<class... Tags>(keel::list<Tags...>) {
    if (where.what == place::kind::at_named)
      (void)((where.device == Tags::name && (found = memory_of<devices, Tags>, true)) || ...);
  }(devices{});
  return found;
}

/// Stands for the host if no device of the list works on the host's memory.
struct kokkos_host {
  static constexpr std::string_view name = "host";
};
template <class Devices>
struct host_tag : std::type_identity<kokkos_host> {};
template <class Tag, class... Tags>
struct host_tag<keel::list<Tag, Tags...>>
    : std::conditional_t<is_on_host<Tag>, std::type_identity<Tag>, host_tag<keel::list<Tags...>>> {};

/// The device that runs a routine of a place.
template <class Place, class Chosen, class Host>
struct runs_on : std::type_identity<typename Place::tag> {};
template <class Chosen, class Host>
struct runs_on<on_device, Chosen, Host> : std::type_identity<Chosen> {};
template <class Chosen, class Host>
struct runs_on<on_host, Chosen, Host> : std::type_identity<Host> {};

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
  explicit instances(Run& run)
      : run_(&run), make_{[](void* from, instances& self) {
          static_cast<instance_of<Tags>&>(self).space.emplace(
              static_cast<Run*>(from)->template execution_space<Tags>());
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

} // namespace keel::residency::detail

template <>
struct keel::device_traits<keel::residency::detail::kokkos_host> {
  using execution_space = Kokkos::DefaultHostExecutionSpace;
};
