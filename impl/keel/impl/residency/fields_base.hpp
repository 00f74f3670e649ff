// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The part of `fields` that does not depend on the list of variables: arrays, ledger, devices. Variables go by number
/// here, so that what a routine costs the compiler does not grow with their list. What construction needs stands in
/// setup.hpp.

#include <keel/impl/residency/analysis.hpp>
#include <keel/impl/residency/checking.hpp>
#include <keel/impl/residency/fields_state.hpp>
#include <keel/impl/residency/halo.hpp>
#include <keel/impl/residency/memories.hpp>
#include <keel/impl/residency/prefetch.hpp>
#include <keel/impl/residency/profiling.hpp>
#include <keel/machine/environment.hpp>
#include <keel/policy/error.hpp>
#include <keel/policy/log.hpp>
#include <keel/residency/concepts.hpp>
#include <keel/residency/kokkos_provider.hpp>
#include <keel/residency/ledger.hpp>
#include <keel/residency/settings.hpp>
#include <keel/residency/tracking.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#if KEEL_COMPILED
namespace keel::residency {
extern template class ledger<kokkos_provider, detail::profiled_observer<unobserved>>;
extern template class ledger<kokkos_provider, detail::profiled_observer<reasons>>;
extern template class ledger<kokkos_provider, detail::profiled_observer<trace>>;
} // namespace keel::residency
#endif

namespace keel::residency::detail {

/// The simulated device's memory is closed before anything is made in it, and opened behind the last.
template <class App>
struct fields_base : closed_memory<tracking_of<App>::type::checks && policy::contains<devices_of<App>, simulated>>,
                     fields_state {
  using devices = devices_of<App>;
  using tracking = typename tracking_of<App>::type;
  using layout = typename App::layout;
  using lanes = lanes_of<devices>;
  using host_tag = typename detail::host_tag<devices>::type;
  static_assert(
      tracking::tracks || lanes::size == 0,
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

  /// An observer that hears each write needs the ledger as it is at each routine, so there nothing is put off.
  static constexpr bool defers_updates = keeps_ledger && lanes::size != 0 && !tracking::observer::is_told;
  template <class Data, class Memory>
  using array_type = Kokkos::View<Data, layout, Memory>;

  // setup.hpp
  template <class Run>
  fields_base(Run& run, std::vector<share> shares, int component_count);
  ~fields_base();
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
  [[nodiscard]] region_listener const* tool() const { return keeps_ledger ? ledger_.observer().tool() : nullptr; }
  void check(component which, component_range of, std::string_view routine) const {
    auto const refuse = [&](std::string const& why, std::string_view mend) {
      throw error("residency", "routine " + std::string(routine) + " wants component " + std::to_string(which.index),
                  why, mend);
    };
    if (which.index < 0 || which.index >= components())
      refuse("there are " + std::to_string(components()), "Ask for an existing one");
    if (which.index < of.begin || which.index >= of.end)
      refuse("it runs for component " + std::to_string(of.begin) +
                 " alone, so the others are neither copied nor marked",
             "Run it for all components");
  }

  /// In a planned step the ledger lacks what is pending. Where the step ends early, this brings the ledger to the
  /// step's position.
  void apply_pending() {
    if (defers_updates && progress_.apply_pending != nullptr)
      std::exchange(progress_.apply_pending, nullptr)(ledger_.cells(), progress_.now);
  }
  /// The cells at the step's position.
  [[nodiscard]] cell const* current_row() const {
    if (!defers_updates || progress_.apply_pending == nullptr) return ledger_.cells();
    current_row_.assign(ledger_.cells(), ledger_.cells() + slow_row_.size() - row_padding);
    progress_.apply_pending(current_row_.data(), progress_.now);
    return current_row_.data();
  }
  [[nodiscard]] bool is_valid(int variable, int level, region where, memory m, int which) const {
    if (!defers_updates || progress_.apply_pending == nullptr)
      return ledger_.is_valid(variable, level, where, m, which);
    std::size_t at = std::size_t(level);
    for (int v = 0; v < variable; ++v) at += std::size_t(ledger_.levels(v));
    return residency::is_valid(current_row()[at] & ~ledger_.empty(variable), where, m);
  }

  // What an entry does to the ledger by the slow path.
  void admit(std::span<request const> asked, memory m, std::string_view routine, component_range range) {
    if (!ledger_.is_ready(asked, m, range)) acquire(asked, m, routine, range);
    if constexpr (may_poison)
      if (poisons_) poison(asked, m, range);
    ledger_.post_call(asked, m, range, routine);
    progress_.now = inside(progress_.now.node());
  }
  void lose(std::span<request const> asked, component_range range, std::string_view who) {
    apply_pending();
    ledger_.lose(asked, range, who);
  }
  void poison(std::span<request const> asked, memory m, component_range range) {
    settle_host();
    ledger_.poison(asked, m, range, current_row());
  }
  void rotate(int variable, rotation how) {
    int const levels = ledger_.levels(variable);
    if constexpr (may_poison)
      if (poisons_ && levels > 1) {
        request const freed{variable, how == rotation::cycle ? levels - 1 : 0, region::none, region::everywhere};
        poison({&freed, 1}, memory::none, {0, components()});
      }
    if (defers_updates && progress_.apply_pending != nullptr) ledger_.rotate_buffers(variable, how);
    else ledger_.rotate(variable, how);
  }

  // Work on the host's memory that may go on behind its caller is done when this returns.
  void settle_host() const {
    instances_.for_each_open([]<class Tag>(Tag, auto const& queue) {
      if constexpr (is_on_host<Tag>) queue.fence();
    });
  }
  // Brings what a routine needs, or begins to.
  void acquire(std::span<request const> list, memory m, std::string_view routine, component_range range) {
    settle_host();
    report_copies(routine, [&] { ledger_.acquire(list, m, routine, range); });
  }
  void begin_prefetch(std::span<prefetch const> runs, request const* requests, component_range range) {
    for (prefetch const& p : runs) {
      std::span<request const> const part{requests + p.first, p.size};
      if (!ledger_.is_open(p.to)) continue;
      if (p.to != host) {
        acquire(part, p.to, p.reader, range);
        continue;
      }
      settle_host();
      report_copies(p.reader, [&] { ledger_.begin_to_host(part, p.reader, range); });
    }
  }
  // Does what may copy, and says so where the user wants to know.
  void report_copies(std::string_view routine, auto const& copy) {
    auto const bytes = [&](way w) { return ledger_.traffic().bytes(w); };
    if (!settings_.veryverbose || own_.rank() != 0) return copy();
    std::uint64_t const to_host = bytes(way::to_host), to_device = bytes(way::to_device);
    copy();
    std::uint64_t const down = bytes(way::to_host) - to_host, up = bytes(way::to_device) - to_device;
    if (down + up != 0)
      policy::say(policy::log_level::details, "residency: step " + std::to_string(steps_) + ": " +
                                                  std::string(routine) + " needed " + std::to_string(down) +
                                                  " bytes on the host, " + std::to_string(up) + " on a device");
  }

  void set(residency::settings const& how) {
    copied_back_ = ledger_.find_all(how.copy_back_vars, how.copy_back_vars_name);
    settings_ = how;
  }
  void copy_back(std::span<int const> variables, std::string_view why, component_range range) {
    settle_host();
    std::uint64_t const before = ledger_.traffic().bytes(way::to_host);
    ledger_.copy_back(variables, settings_.copy_back_all_levels, why, range);
    if ((settings_.verbose || settings_.veryverbose) && own_.rank() == 0)
      policy::say(policy::log_level::information, "residency: step " + std::to_string(steps_) + ": " +
                                                      std::to_string(ledger_.traffic().bytes(way::to_host) - before) +
                                                      " bytes of " + std::to_string(variables.size()) +
                                                      " variables copied back for " + std::string(why));
  }
  void copy_back_for(std::string_view output, component_range range) {
    if constexpr (keeps_ledger)
      if (settings_.copy_back_every && steps_ % *settings_.copy_back_every == 0) copy_back(copied_back_, output, range);
    settle_host();
  }
  // What the routines of an analysis wrote.
  void copy_back_written(std::span<request const> asked, component_range range) {
    if (!settings_.copy_back_written_in_analysis) return;
    std::vector<int> variables;
    for (request const& r : asked)
      if (r.writes != region::none && std::find(variables.begin(), variables.end(), r.variable) == variables.end())
        variables.push_back(r.variable);
    copy_back(variables, "analysis", range);
  }
  // The owned part has to be there. Ghosts are there where they were filled.
  void require_copied_back(int variable, int level, int which, std::string_view output) const {
    if (!keeps_ledger || ledger_.is_valid(variable, level, region::owned, host, which)) return;
    throw error("residency",
                "output " + std::string(output) + " asks for " + std::string(ledger_.name(variable)) + ", level " +
                    std::to_string(level) + (components() > 1 ? ", component " + std::to_string(which) : "") +
                    ", which the host does not have",
                "copy-back-every, copy-back-vars and copy-back-all-levels leave it out, or it was never written",
                "Set them, or declare a routine that reads it");
  }

  /// Whose elements a caller's view shows; empty for a view without elements. Throws where a routine runs.
  template <class View>
  [[nodiscard]] std::optional<owner> owner_of(View const& v, std::string_view call) const {
    require_idle(call);
    if (v.size() == 0) return std::nullopt;
    std::size_t const bytes = v.span() * sizeof(typename View::value_type);
    if (std::optional<owner> const found = provider_.owner_of(v.data(), bytes)) return found;
    throw error("residency", "the view '" + v.label() + "' shows no variable of these fields",
                "its " + std::to_string(bytes) + " bytes do not lie in one of their arrays",
                "Take it from v in a routine, or a piece of such a view");
  }
  // The caller works on the array without a queue of keel's, so all that is queued for it has to be done.
  template <class View>
  void require_data(View const& v, region reads, region writes, std::string_view call) {
    auto const visit = users_.enter(call);
    auto const o = owner_of(v, call);
    if (!o) return;
    settle_host();
    if constexpr (keeps_ledger) {
      request const one{o->variable, o->level, reads, writes & region::everywhere};
      acquire({&one, 1}, o->where, "the caller", {o->component, o->component + 1});
      if (o->where != host) provider_.wait(o->where);
    }
  }
  template <class View>
  void notify_data_modified(View const& v, region where) {
    auto const visit = users_.enter("notify_data_modified");
    auto const o = owner_of(v, "notify_data_modified");
    if (!o) return;
    if constexpr (keeps_ledger) {
      if (!o->is_whole && !ledger_.is_valid(o->variable, o->level, where, o->where, o->component))
        throw error("residency",
                    "a piece of " + std::string(ledger_.name(o->variable)) + " was written where the rest of its " +
                        std::string(name_of(where)) + " is not valid",
                    "what it holds beside the piece is stale", "Ask for it by require_valid_data before");
      ledger_.notify_data_modified(o->variable, o->level, where, o->where, {o->component, o->component + 1});
    }
  }

  // Rims come to memory `m` in one batch, and messages leave. The ghosts count as filled there from now on.
  void begin_exchange(std::span<request const> asked, memory m, component_range range) {
    settle_host();
    if constexpr (keeps_ledger) {
      if (m == host) report_copies("exchange", [&] { ledger_.pre_sync(asked, range); });
      admit(asked, m, "exchange", range);
    }
    ledger_.observer().before_exchange();
    exchange_each(asked, m, range, [](auto& channel, packing& where, auto arrays) { channel.start(arrays, where); });
    if constexpr (tracking::observer::is_told) ledger_.observer().after_exchange(sent_in(asked, range), false);
  }
  // What came is put in its place. The ghosts go on to other memories where and when a routine reads them.
  void finish_exchange(std::span<request const> asked, memory m, component_range range) {
    ledger_.observer().before_exchange();
    exchange_each(asked, m, range, [&](auto& channel, packing& where, auto arrays) {
      channel.finish(arrays, where, ledger_.observer());
    });
    auto const all = sent_in(asked, range);
    for (sent const& s : all) ledger_.traffic().add_bytes(s.variable, way::to_neighbours, region::rim, {0, s.bytes, 0});
    ledger_.observer().after_exchange(all, true);
  }
  std::span<sent const> sent_in(std::span<request const> asked, component_range range) {
    sent_.clear();
    for (int c = range.begin, end = range.of(components()).end; c < end; ++c)
      for (request const& r : asked)
        sent_.push_back(
            {r.variable, r.level, c, halo_channels_[std::size_t(c)]->bytes_sent(provider_.shape_of(r.variable, c))});
    return sent_;
  }
  // Calls f(channel, its packing in `m`, arrays) for each component. If it throws, what the exchange was to fill is
  // lost.
  void exchange_each(std::span<request const> asked, memory m, component_range range, auto const& f) {
    try {
      for (int c = range.begin, end = range.of(components()).end; c < end; ++c) {
        auto& channel = *halo_channels_[std::size_t(c)];
        packing& where = channel.packings[std::size_t(m)];
        if (m != host) where.connect(provider_.lane_of(m), sends_by_way_of_host_);
        exchanged_.clear();
        for (request const& r : asked)
          exchanged_.push_back({&provider_.shape_of(r.variable, c), provider_.array(r.variable, r.level, c, m)});
        f(channel, where, std::span<halo_array const>(exchanged_));
      }
    } catch (...) {
      if constexpr (keeps_ledger) lose(asked, range, "exchange");
      throw;
    }
  }

  ledger<kokkos_provider, profiled_observer<typename tracking::observer>> ledger_;
  instances<host_tag, devices> instances_;
  // A duplicate, so that no message meets one of the application's.
  machine::basic_environment<typename App::ranks> own_;
  std::vector<std::unique_ptr<halo_channel<typename App::ranks>>> halo_channels_; // by component
  [[no_unique_address]] mutable occupancy<tracking::checks> users_;
};

} // namespace keel::residency::detail
