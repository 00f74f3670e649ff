// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The part of `fields` that depends on the application's policy and not on the list of variables: devices, and arrays
/// in their memories. Variables go by number here, so that what a routine costs the compiler does not grow with their
/// list. What construction needs stands in setup.hpp.

#include <keel/impl/residency/checking.hpp>
#include <keel/impl/residency/fields_state.hpp>
#include <keel/impl/schedule/memories.hpp>
#include <keel/validity/concepts.hpp>
#include <keel/validity/tracking.hpp>

#include <cstddef>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

namespace keel::residency::detail {

/// The simulated device's memory is closed before anything is made in it, and opened after the last.
template <class App>
struct fields_base : closed_memory<tracking_of<App>::may_check && policy::contains<devices_of<App>, simulated>>,
                     fields_state {
  using devices = devices_of<App>;
  using tracking = tracking_of<App>;
  using layout = typename App::layout;
  using queue_spaces = queue_spaces_of<devices>;
  using host_tag = typename detail::host_tag<devices>::type;
  static_assert(
      tracking::may_track || queue_spaces::size == 0,
      "keel::residency::off: the list has a device with memory of its own (nothing would be copied). Take automatic.");

  /// One memory: nothing is copied, and routines can be called without a question.
  static constexpr bool has_one_memory = queue_spaces::size == 0;
  template <class Tag>
  static constexpr memory memory_of = detail::memory_of<devices, Tag>;
  /// The device whose space runs a routine of this place, if `Chosen` was chosen.
  template <class Place, class Chosen>
  using device_for = typename runs_on<Place, Chosen, host_tag>::type;
  template <class Data, class Memory>
  using array_type = Kokkos::View<Data, layout, Memory>;

  // setup.hpp
  template <class Run>
  fields_base(Run& run, grid const& whole, std::span<grid const> further, int component_count);
  ~fields_base();
  template <class Data>
  void add(variable_info const& about, std::initializer_list<lengths_given> given);
  struct addition {
    variable_info const* about;
    void (fields_base::*add)(variable_info const&, std::initializer_list<lengths_given>);
  };
  template <class Run>
  void open_for(Run& run, bool has_output = true);
  template <class Data>
  static void allocate(void* self, int variable, memory m);
  template <bool Asks, class F>
  void on_chosen(F&& f);
  template <class Tag>
  void prepare(std::string_view routine = "the caller");
  template <class Run>
  void open_first_of_chain(Run& run);
  [[nodiscard]] std::string_view device_name() const;

  /// The array of a level of one of `levels`.
  template <class View, class Tag>
  [[nodiscard]] View const& array(int variable, int levels, int level, int which) const {
    auto const* const all = static_cast<View const*>(arrays_.views(variable, memory_of<Tag>));
    return all[which * levels + arrays_.slot(variable, level)];
  }
  template <class Tag>
  [[nodiscard]] space_of<Tag> const& instance() const {
    return *instances_.template get<Tag>();
  }
  // reductions.hpp
  template <class E>
  [[nodiscard]] auto value() const;
  // arguments.hpp
  template <class A>
  void set_argument(typename A::value_type const& value);
  template <class A, class Tag>
  [[nodiscard]] auto argument_in() const;
  /// So many bytes in the memory of a space, which stay where they are as long as these fields: graphs name them. What
  /// is in them is for one purpose, and until its next call.
  template <class Space, class Purpose>
  [[nodiscard]] void* kept_memory(std::size_t bytes) const {
    using view = Kokkos::View<unsigned char*, typename Space::memory_space>;
    static constexpr char purpose = 0;
    for (kept_bytes const& one : kept_bytes_)
      if (one.purpose == &purpose && one.size >= bytes) return one.data;
    auto const made = std::make_shared<view>(Kokkos::view_alloc("keel: kept", Kokkos::WithoutInitializing), bytes);
    kept_bytes_.push_back({&purpose, bytes, made->data(), made});
    return made->data();
  }
  template <class View>
  [[nodiscard]] std::optional<owner> owner_of(View const& v, std::string_view call) const {
    executor_.require_idle(call);
    return book_.owner_of(v.label(), v.data(), v.size() == 0 ? 0 : v.span() * sizeof(typename View::value_type));
  }

  instances<host_tag, devices> instances_;
  std::size_t chosen_ = 0; ///< the device, by its place in the list
  struct kept_bytes {
    void const* purpose;
    std::size_t size;
    void* data;
    std::shared_ptr<void> view;
  };
  mutable std::vector<kept_bytes> kept_bytes_;
  [[no_unique_address]] mutable occupancy<tracking::may_check> users_;
};

} // namespace keel::residency::detail
