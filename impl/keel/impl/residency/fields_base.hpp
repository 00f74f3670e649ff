// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The part of `fields` that does not depend on the list of variables: arrays, ledger, devices. Variables go by number
/// here, so that what a routine costs the compiler does not grow with their list. The bodies of its members stand in
/// the headers that the comments name.

#include <keel/impl/residency/analysis.hpp>
#include <keel/impl/residency/checking.hpp>
#include <keel/impl/residency/fields_state.hpp>
#include <keel/impl/residency/halo.hpp>
#include <keel/impl/residency/memories.hpp>
#include <keel/impl/residency/prefetch.hpp>
#include <keel/impl/residency/profiling.hpp>
#include <keel/machine/environment.hpp>
#include <keel/residency/concepts.hpp>
#include <keel/residency/kokkos_provider.hpp>
#include <keel/residency/ledger.hpp>
#include <keel/residency/settings.hpp>
#include <keel/residency/tracking.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#if KEEL_COMPILED
namespace keel::residency {
extern template class ledger<kokkos_provider, detail::profiled_observer<unobserved>>;
extern template class ledger<kokkos_provider, detail::profiled_observer<reasons>>;
extern template class ledger<kokkos_provider, detail::profiled_observer<trace>>;
} // namespace keel::residency
#endif

namespace keel::residency::detail {

template <class App, class Arguments>
struct action;

/// The simulated device's memory is closed before anything is made in it, and opened behind the last.
template <class App>
struct fields_base
    : closed_memory<tracking_of<App>::type::checks && policy::contains<devices_of<App>, simulated>>, fields_state {
  using devices = devices_of<App>;
  using tracking = typename tracking_of<App>::type;
  using layout = typename App::layout;
  using lanes = lanes_of<devices>;
  using host_tag = typename detail::host_tag<devices>::type;
  static_assert(tracking::tracks || lanes::size == 0,
                "keel::residency::off: the list has a device with memory of its own (nothing would be copied). Take automatic?");

  /// Where nothing can be copied nothing is tracked, but by a policy that looks for mistakes.
  static constexpr bool keeps_ledger = tracking::tracks && (lanes::size != 0 || tracking::checks);
  static constexpr bool may_poison = []<class... Tags>(keel::list<Tags...>) {
    return tracking::checks || (is_simulated<Tags> || ...);
  }(devices{});
  template <class Tag>
  static constexpr memory memory_of = detail::memory_of<devices, Tag>;
  /// The device whose space runs a routine of this place, where `Chosen` was chosen.
  template <class Place, class Chosen>
  using device_for = typename runs_on<Place, Chosen, host_tag>::type;

  template <class Run>
  fields_base(Run& run, std::vector<share> shares, int component_count);
  ~fields_base();

  // setup.hpp
  template <class Data>
  void add(variable_info const& about, std::initializer_list<lengths_given> given);
  struct addition {
    variable_info const* about;
    void (fields_base::*add)(variable_info const&, std::initializer_list<lengths_given>);
  };
  template <class Run>
  void open_for(Run& run);
  template <class Data>
  static void allocate(void* self, int variable, memory m);
  template <bool Asks, class F>
  void on_chosen(F&& f);
  template <class Tag>
  void prepare(std::string_view routine = "the caller");
  template <class Run>
  void open_first_of_chain(Run& run);
  [[nodiscard]] std::string_view device_name() const;

  // planned_step.hpp
  /// Not where an observer is told of each write.
  static constexpr bool defers_updates = keeps_ledger && lanes::size != 0 && !tracking::observer::is_told;
  struct step_scope;
  void apply_pending();
  [[nodiscard]] cell const* current_row() const;
  [[nodiscard]] bool is_valid(int variable, int level, region where, memory m, int which) const;

  // tracked_step.hpp
  void check(component which, component_range of, std::string_view routine) const;
  template <class Arguments>
  [[nodiscard]] int rounds(entry const& group, bool (*holds)(Arguments const&), Arguments const& args) const;
  template <class R, class Tag, class Arguments>
  static void perform(fields_base& self, std::span<request const> asked, component_range range, Arguments const& args);
  template <class Arguments>
  void run_slowly(action<App, Arguments> const& routine, component_range range, Arguments const& args);
  void admit(std::span<request const> asked, memory m, std::string_view routine, component_range range);
  void lose(std::span<request const> asked, component_range range, std::string_view who);
  void poison(std::span<request const> asked, memory m, component_range range);
  void rotate(int variable, rotation how);
  [[nodiscard]] bool listens() const { return keeps_ledger && ledger_.observer().listens(); }

  // exchange.hpp
  [[nodiscard]] packing& packing_for(int which, memory m);
  template <class F>
  void for_each_component(std::span<request const> asked, component_range range, F&& f);
  [[nodiscard]] std::span<halo_array const> arrays_of(std::span<request const> asked, int which, memory m);
  void begin_exchange(std::span<request const> asked, memory m, component_range range);
  void finish_exchange(std::span<request const> asked, memory m, component_range range);

  // copies.hpp
  void settle_host() const;
  void acquire(std::span<request const> list, memory m, std::string_view routine, component_range range);
  void begin_prefetch(std::span<prefetch const> runs, request const* requests, component_range range);
  template <class F>
  void report_copies(std::string_view routine, F&& copy);
  void set(residency::settings const& how);
  void copy_back(std::span<int const> variables, std::string_view why, component_range range);
  void copy_back_for(std::string_view output, component_range range);
  void copy_back_written(std::span<request const> asked, component_range range);
  void require_copied_back(int variable, int level, int which, std::string_view output) const;

  template <class View>
  [[nodiscard]] std::optional<owner> owner_of(View const& v, std::string_view call) const;
  template <class View>
  void require_data(View const& v, region reads, region writes, std::string_view call);
  template <class View>
  void notify_data_modified(View const& v, region where);

  template <class Data, class Memory>
  using array_type = Kokkos::View<Data, layout, Memory>;
  /// The array of a level of one of `levels`.
  template <class View, class Tag>
  [[nodiscard]] View const& array(int variable, int levels, int level, int which) const {
    auto const* const all = static_cast<View const*>(arrays(variable, memory_of<Tag>));
    return all[which * levels + provider_.slot(variable, level)];
  }

  template <class Tag>
  [[nodiscard]] space_of<Tag> const& instance() const {
    return *instances_.template get<Tag>();
  }
  [[nodiscard]] int components() const { return ledger_.components(); }

  ledger<kokkos_provider, profiled_observer<typename tracking::observer>> ledger_;
  instances<host_tag, devices> instances_;
  machine::basic_environment<typename App::ranks>
      own_; // a duplicate, so that no message meets one of the application's
  std::vector<std::unique_ptr<halo_channel<typename App::ranks>>> halo_channels_; // by component
  [[no_unique_address]] mutable occupancy<tracking::checks> users_;
};

} // namespace keel::residency::detail
