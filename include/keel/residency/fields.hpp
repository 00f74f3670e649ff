// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The variables of an application, held in every memory that needs them, and the steps that
/// run routines on them.

#include <keel/impl/residency/halo.hpp>
#include <keel/impl/residency/invoke.hpp>
#include <keel/impl/residency/memories.hpp>
#include <keel/impl/residency/regions.hpp>
#include <keel/impl/residency/storage.hpp>
#include <keel/machine/environment.hpp>
#include <keel/residency/concepts.hpp>
#include <keel/residency/context.hpp>
#include <keel/residency/kokkos_provider.hpp>
#include <keel/residency/ledger.hpp>
#include <keel/residency/plan.hpp>
#include <keel/residency/schedule.hpp>
#include <keel/residency/settings.hpp>
#include <keel/residency/tracking.hpp>

#include <cstdint>
#include <deque>
#include <span>
#include <string_view>
#include <vector>

namespace keel::residency {

/// Variables on a grid: `fields<app, eta, u> f{run, grid{{nx, ny}, ghost_width{1, 1}}, extra<u>{layers}}`.
///
/// Construction and destruction are collective over the environment: messages travel in a duplicate
/// of it. Host arrays begin as zeros but valid nowhere, so the first routine to touch a variable
/// writes it. The run must outlive the fields. Not copied, not moved: routines hold its address.
template <class App, Variable... Vars>
class fields {
public:
  using devices = policy::to_list<typename App::devices>;
  using tracking = typename App::tracking;
  template <class Tag>
  using space = detail::space_of<Tag>;

  template <Runtime<App> Run, class... Options>
  fields(Run& run, grid const& whole, Options const&... options);
  ~fields();
  fields(fields const&) = delete;
  fields& operator=(fields const&) = delete;

  /// One step of a schedule. The arguments go to every routine and condition, to each as many as it
  /// takes, by reference. Where the state allows it, as it does in the steady state, reads that the plan knows to
  /// find their data are not tested. A schedule in which ghosts are read that no exchange has
  /// filled since their owners wrote does not compile. Throws `keel::error` where a routine reads what
  /// is valid nowhere.
  template <Entry S, class... Args>
  void step(S, Args&&... args);

  /// One routine, or any other entry, in free control flow; always tracked.
  template <Entry E, class... Args>
  void run(E, Args&&... args);
  /// The same for one component alone: the others are neither needed nor touched.
  template <Entry E, class... Args>
  void run(E, component which, Args&&... args);

  /// What is copied back for output that declares nothing, from now on; at the start the run is asked, where it
  /// knows. Throws where `copy_back_vars` has a name that matches nothing, and then keeps what it had.
  void set(residency::settings const& how);
  [[nodiscard]] residency::settings const& settings() const { return settings_; }

  /// Level 1 to level 0 of each variable, in every memory where it is valid.
  template <Variable... Vs>
  void copy_from_past();

  /// For views that the application keeps or makes, pieces and unmanaged ones among them: which variable it is says
  /// its address. `require_valid_data` makes the region valid where the view lies. `notify_data_modified` says that
  /// it was written there; of a view of less than the array the region has to be valid there before. A view
  /// that lies in no variable, or in more than one array, is refused.
  template <class View>
  void require_valid_data(View const& v, region where = region::owned);
  template <class View>
  void notify_data_modified(View const& v, region where = region::owned);

  /// Steps that went by the plan; the others were tracked, as are all where there are several components.
  [[nodiscard]] std::int64_t planned_steps() const { return planned_steps_; }
  /// Steps made; `every` counts by it. To be set after a restart.
  [[nodiscard]] std::int64_t steps() const { return steps_; }
  void set_steps(std::int64_t n) { steps_ = n; }

  /// This rank's share of the grid of a component.
  [[nodiscard]] share const& local(component which = {}) const {
    return shares_[shares_.size() == 1 ? 0 : std::size_t(which.index)];
  }
  [[nodiscard]] int components() const { return book_.components(); }
  [[nodiscard]] std::string_view device_name() const;

  /// Bytes moved so far, variables in the order of the list; see `reset_traffic`.
  [[nodiscard]] residency::traffic const& traffic() const { return book_.traffic(); }
  void reset_traffic() { book_.traffic().reset(); }
  /// A variable's place in the list.
  template <Variable V>
  static constexpr int number = detail::directory<Vars...>::find(&V::about);
  /// Bytes of one level of one component of `V`, by region, on this rank.
  template <Variable V>
  [[nodiscard]] region_bytes bytes(component which = {}) const {
    return provider_.bytes_of(number<V>, which.index);
  }
  /// Whether a region is valid in the memory of a device; of the host, without one. True where nothing is tracked.
  template <Part X, class Tag = void>
  [[nodiscard]] bool is_valid(region where = region::everywhere, component which = {}) const;

private:
  template <class, class, class>
  friend class context;

  using layout = typename App::layout;
  using lanes = detail::lanes_of<devices>;
  using host_tag = typename detail::host_tag<devices>::type;
  using provider_type = kokkos_provider<lanes>;
  using directory = detail::directory<Vars...>;
  static_assert(sizeof...(Vars) > 0, "keel::residency::fields: no variables. Name those of the application?");
  static_assert(directory::is_unique, "keel::residency::fields: two variables have one name (they are told apart by it). "
                                      "Rename one?");
  static_assert(tracking::tracks || lanes::size == 0,
                "keel::residency::off: the list has a device with memory of its own (nobody would copy). Take automatic?");

  template <class E, memory M, class P = detail::no_plan, std::size_t At = 0>
  using duties_of = detail::duties<E, M, directory, lanes::size != 0, P, At>;
  /// Where nothing can be copied nothing is tracked, but by a policy that looks for mistakes.
  static constexpr bool keeps_book = tracking::tracks && (lanes::size != 0 || tracking::checks);
  template <class Tag>
  static constexpr memory memory_of = detail::memory_of<devices, Tag>;
  template <class Tag>
  static constexpr memory exchange_memory = detail::exchanges_on_device<App> ? memory_of<Tag> : host;
  static constexpr bool may_poison = []<class... Tags>(keel::list<Tags...>) {
    return tracking::checks || (detail::is_rehearsal<Tags> || ...);
  }(devices{});

  template <bool Asks, class F>
  void on_chosen(F&& f);
  template <class P>
  [[nodiscard]] bool allows_plan() const;
  template <class P>
  void settle_leavers();
  // `P` is the plan that the step goes by, or `detail::no_plan`; `At` the number of the entry in it.
  template <class E, class Tag, class P, std::size_t At, class... Args>
  void walk(cell* row, component_range range, Args&... args);
  template <class E, class Tag, class P, std::size_t At, class... Args>
  void enter(cell* row, component_range range, Args&... args);
  template <class R, class Tag, class P, std::size_t At, class... Args>
  void run_routine(cell* row, component_range range, Args&... args);
  template <class R, class Tag, class... Args>
  void run_closely(component_range range, Args&... args);
  template <class R, class Tag, class... Args>
  void call(component_range range, Args&... args);
  template <class E, memory M, class P, std::size_t At>
  [[nodiscard]] bool admit(cell* row, component_range range);
  template <class E, memory M>
  void admit_closely(component_range range);
  template <class E>
  void lose(component_range range);
  template <class E, memory M>
  [[nodiscard]] std::vector<detail::digested> digest_undeclared(component_range range);
  void find_undeclared(std::vector<detail::digested> const& before, std::vector<detail::digested> const& after, std::string_view routine);
  void acquire(std::span<request const> list, memory m, std::string_view routine, component_range range);
  void begin_to_host(std::span<request const> list, std::string_view routine, component_range range);
  template <class F>
  void tell_copies(std::string_view routine, F&& bring);
  void copy_back(std::span<int const> variables, std::string_view why, component_range range);
  void require_copied_back(int variable, int level, int which, std::string_view output) const;
  template <class E, class... Args>
  void run_output(component_range range, Args&... args);
  template <memory M, class F>
  void in_route(int which, F&& f);
  template <class E>
  [[nodiscard]] auto arrays_of(int which, memory m) const;
  template <class E, memory M, class P, std::size_t At>
  void begin_exchange(cell* row, component_range range);
  template <class E, memory M>
  void finish_exchange(component_range range);
  template <class G, std::size_t I, class Tag, bool IsOver>
  void land(component_range range);
  template <class G, std::size_t I, class Tag>
  void begin_certain_copies(component_range range);
  template <class G, std::size_t I, class E, class Tag, class P, std::size_t At, class... Args>
  void walk_child(cell* row, component_range range, Args&... args);
  template <class V>
  void cycle_levels();

  template <class V, class Tag>
  [[nodiscard]] auto const& view(int level, int which) const;
  template <class Tag>
  [[nodiscard]] space<Tag> const& instance() const {
    return *instances_.template get<Tag>();
  }
  template <class Tag>
  void prepare(std::string_view routine = "the caller");
  void settle_host() const;
  template <class View>
  [[nodiscard]] residency::owner owner_of(View const& v) const;
  void check(component which, std::string_view routine) const;
  template <class V, class... Options>
  void add(Options const&... options);
  template <class V>
  [[nodiscard]] detail::shape lay_out(share const& part, std::int64_t const* extra, layout& kokkos) const;
  template <class V>
  static void allocate(void* self, int variable, memory m);

  [[no_unique_address]] detail::closed_memory<tracking::checks && policy::contains<devices, simulated>> closed_;
  std::vector<share> shares_; // by component, or one for all
  provider_type provider_;
  ledger<provider_type, detail::announced<typename tracking::observer>> book_;
  detail::storage<layout, lanes, Vars...> storage_;
  detail::instances<host_tag, devices> instances_;
  machine::basic_environment<typename App::ranks> own_; // a duplicate, so that no message meets one of the application's
  std::deque<detail::route<typename App::ranks, lanes>> routes_; // by component
  bool sends_by_way_of_host_ = false; // where MPI does not reach the device's memory
  // The cells of the only component; with more, a row on which everyone takes the long way. Not written then.
  cell* row_ = const_cast<cell*>(detail::closed_row<directory::cell_count>.data());
  std::size_t chosen_ = 0;
  bool poisons_ = tracking::checks;
  residency::settings settings_;
  std::vector<int> copied_back_; // by number
  std::int64_t steps_ = 0, planned_steps_ = 0;
};

} // namespace keel::residency

#include <keel/impl/residency/aliases.hpp>
#include <keel/impl/residency/checking.hpp>
#include <keel/impl/residency/exchanging.hpp>
#include <keel/impl/residency/making.hpp>
#include <keel/impl/residency/outputs.hpp>
#include <keel/impl/residency/running.hpp>
