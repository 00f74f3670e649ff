// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The values of arguments, in the memory of each device that reads them. Nothing of it is instantiated without one.

#include <keel/impl/residency/fields_base.hpp>
#include <keel/space/kokkos.hpp>
#include <keel/policy/error.hpp>
#include <keel/policy/macros.hpp>
#include <keel/schedule/graph.hpp>

#include <memory>
#include <string>
#include <tuple>
#include <type_traits>

namespace keel::residency::detail {

template <class View>
struct fill_value {
  View to;
  typename View::value_type value;
  KEEL_FUNCTION void operator()(int) const { to() = value; }
};

/// The value of argument `A` in some fields.
template <class A, class... Tags>
class argument_value {
  using type = typename A::value_type;
  static_assert(std::is_trivially_copyable_v<type>,
                "keel::residency::argument: its type is not copied as bytes (the argument is in the message). Take a "
                "number, or a struct of numbers.");
  template <class Tag>
  struct copy {
    Kokkos::View<type, memory_space_of<Tag>> view;
  };

public:
  explicit argument_value(type const& value) : value_(value) {}

  /// In the memory of a device, where work that its queue gets from here on finds the value.
  template <class Tag>
  [[nodiscard]] Kokkos::View<type const, memory_space_of<Tag>> in(space_of<Tag> const& queue) {
    auto& view = std::get<copy<Tag>>(copies_).view;
    if (view.data() == nullptr) {
      view = std::remove_cvref_t<decltype(view)>(
          Kokkos::view_alloc(std::string(A::value.name), Kokkos::WithoutInitializing));
      fill(queue, view);
    }
    return view;
  }
  /// After all that the queues have been given.
  void set(type const& value, auto const& instances) {
    value_ = value;
    instances.for_each_open([&]<class Tag>(Tag, auto const& queue) {
      if (auto const& view = std::get<copy<Tag>>(copies_).view; view.data() != nullptr) fill(queue, view);
    });
  }

private:
  template <class Space, class View>
  void fill(Space const& queue, View const& view) const {
    Kokkos::parallel_for("keel: argument", space::detail::light(Kokkos::RangePolicy<Space>(queue, 0, 1)),
                         fill_value<View>{view, value_});
  }

  type value_;
  std::tuple<copy<Tags>...> copies_;
};

template <class A, class HostTag, class Devices>
struct argument_value_of;
template <class A, class HostTag, class... Tags>
struct argument_value_of<A, HostTag, keel::list<Tags...>>
    : std::conditional_t<(std::is_same_v<HostTag, Tags> || ...), std::type_identity<argument_value<A, Tags...>>,
                         std::type_identity<argument_value<A, Tags..., HostTag>>> {};

template <class App>
template <class A>
void fields_base<App>::set_argument(typename A::value_type const& value) {
  using held = typename argument_value_of<A, host_tag, devices>::type;
  if (kept_value* const known = executor_.find_value(A::value))
    return static_cast<held*>(known->held.get())->set(value, instances_);
  kept_value& made = executor_.keep(std::unique_ptr<kept_value>(
      new kept_value{&A::value, {new held(value), [](void* it) { delete static_cast<held*>(it); }}, nullptr, nullptr}));
  made.is_there = true;
}
template <class App>
template <class A, class Tag>
auto fields_base<App>::argument_in() const {
  using held = typename argument_value_of<A, host_tag, devices>::type;
  kept_value* const known = executor_.find_value(A::value);
  if (known == nullptr)
    throw error("residency", "argument " + std::string(A::value.name) + " has no value", "nothing has set it",
                "Call f.set(" + std::string(A::value.name) + "{}, ...) before a routine reads it");
  return static_cast<held*>(known->held.get())->template in<Tag>(instance<Tag>());
}

} // namespace keel::residency::detail
