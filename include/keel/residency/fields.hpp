// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The variables of an application, held in every memory that needs them, and the steps that run routines on them.

#include <keel/impl/residency/fields_base.hpp>
#include <keel/impl/residency/options.hpp>
#include <keel/impl/residency/regrid.hpp>
#include <keel/impl/residency/resize.hpp>
#include <keel/impl/residency/files/restart.hpp>
#include <keel/residency/context.hpp>
#include <keel/residency/initial.hpp>
#include <keel/schedule/checkpoint.hpp>
#include <keel/schedule/graph.hpp>
#include <keel/schedule/plan.hpp>
#include <keel/schedule/schedule.hpp>
#include <keel/schedule/walls.hpp>
#include <keel/validity/concepts.hpp>
#include <keel/validity/settings.hpp>
#include <keel/validity/tracking.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace keel::residency {

/// The view of a variable in the memory of a device, as `v(x{})` gives it in a routine there: the type of a view that
/// one keeps.
template <class App, Variable X, class Tag>
using view_of = Kokkos::View<typename X::data_type, typename App::layout, detail::memory_space_of<Tag>>;

namespace detail {
struct gathering;
}

/// Variables on a grid: `fields<app, eta, u> f{run, grid{{nx, ny}, ghost_width{1, 1}}, extra<u>{layers}}`; on meshes:
/// `fields<app, h> f{run, partition_of_cells, extra<h>{layers}}`; or on both, `f{run, grid{{nx}}, partition_of_cells}`.
///
/// Construction and destruction are collective over the environment: messages travel in a duplicate
/// of it. Host arrays begin as zeros but valid nowhere, so the first routine to touch a variable
/// writes it. The run must outlive the fields. Not copied, not moved: routines hold its address.
template <class App, Variable... Vars>
class fields : detail::fields_base<App> {
  using base = detail::fields_base<App>;

  using tracking = typename base::tracking;

public:
  using typename base::devices;
  template <class Tag>
  using space = detail::space_of<Tag>;

  template <Runtime<App> Run, class... Options>
  fields(Run& run, grid const& whole, Options const&... options);
  /// On meshes, and on a grid, if there is one among the options.
  template <Runtime<App> Run, Mesh M, class... Options>
  fields(Run& run, partition<M> const& first, Options const&... options);

  /// One step of a schedule. The arguments go to every routine and condition, to each as many as it
  /// takes, by reference. Before an entry runs, what it reads is made valid where it runs; after it, what it wrote is
  /// valid there only. Copies and exchanges begin as soon as their source is final. Routines of a step may ask
  /// `is_valid`; a call of other entries is an error. A schedule that reads what is valid nowhere for certain, such as
  /// ghosts that no exchange has filled since their owners wrote, does not compile. Throws `keel::error`, the same on
  /// every rank, if a routine reads what is valid nowhere because of a condition, a wall or what ran before, or more
  /// layers of ghosts than there are.
  template <Entry S, class... Args>
  void step(S, Args&&... args);

  /// One routine, or any other entry, in free control flow; always tracked. Returns what the routine's `run` returns,
  /// by value; of a reduction, the value.
  template <Entry E, class... Args>
  auto run(E, Args&&... args);
  /// Runs an entry for only one component: the others are neither needed nor touched, and the routine cannot ask for
  /// them.
  template <Entry E, class... Args>
  auto run(E, component which, Args&&... args);

  /// The value of a reduction that ran last. Throws `keel::error` if none did.
  template <Reduction E>
  [[nodiscard]] auto value(E) const {
    return base::template value<typename E::reduction_type>();
  }

  /// What is copied back for output that declares nothing, from now on. The constructor sets the run's
  /// `residency_settings()`, if there are any. Throws if `copy_back_vars` has a name that matches nothing, and then
  /// keeps what it had.
  void set(residency::settings const& how) { this->book_.set(how); }
  [[nodiscard]] residency::settings const& settings() const { return this->book_.settings(); }

  /// Level 1 to level 0 of each variable, in every memory where it is valid, and everywhere valid as that is.
  template <Variable... Vs>
  void copy_from_past();

  /// A view of a variable, or of a level of it, in the memory of a device, to be kept: it declares nothing, so what is
  /// valid where stays as it is, and the calls below say what the application does with it. It shows one array, which
  /// after a `cycle` is that of another level. Opens the memory if nothing ran there yet.
  template <class Tag, Part X>
  [[nodiscard]] auto view(X, component which = {});

  /// For views that the application keeps or makes, pieces and unmanaged ones among them; the address says which
  /// variable is meant. `require_valid_data` makes the region valid where the view lies. `require_invalid_data` is for
  /// data that the caller is about to overwrite whole: it copies nothing. Both return when no copy or kernel of keel's
  /// uses the array any more, unless the elements are const and the view is on the host: then copies from there may go
  /// on. `notify_data_modified` says that the region was written there, and that the writer is done; of a view of less
  /// than the array the region has to be valid there before. A view that lies in no variable, or in more than one
  /// array, is refused.
  template <class View>
  void require_valid_data(View const& v, region where = region::owned) {
    auto const visit = this->users_.enter("require_valid_data");
    this->book_.require_data(base::owner_of(v, "require_valid_data"), where, is_mutable<View> ? where : region::none);
  }
  template <class View>
  void require_invalid_data(View const& v, region where = region::owned) {
    static_assert(
        is_mutable<View>,
        "keel::residency: data cannot be overwritten through a view of const elements. Ask with the other one.");
    auto const visit = this->users_.enter("require_invalid_data");
    this->book_.require_data(base::owner_of(v, "require_invalid_data"), region::none, where);
  }
  template <class View>
  void notify_data_modified(View const& v, region where = region::owned) {
    static_assert(is_mutable<View>, "keel::residency: data cannot have been modified through a view of const elements. "
                                    "Say so of the other one.");
    auto const visit = this->users_.enter("notify_data_modified");
    this->book_.notify_data_modified(base::owner_of(v, "notify_data_modified"), where);
  }

  /// The value of an argument from now on: see there. Does not wait.
  template <Argument A>
  void set(A, typename A::value_type const& value) {
    auto const visit = this->users_.enter("set");
    this->executor_.require_idle("set");
    this->template set_argument<typename A::argument_type>(value);
  }
  /// Steps made; `every` counts by it. To be set after a restart from a file of the program's own.
  [[nodiscard]] std::int64_t steps() const { return this->book_.steps(); }
  void set_steps(std::int64_t n) { this->book_.set_steps(n); }

  /// This rank's share of the grid of a component.
  [[nodiscard]] share const& local(component which = {}) const { return this->arrays_.local(which); }
  /// What it has of a variable that lies on the grid.
  template <Variable V>
  [[nodiscard]] share const& local(component which = {}) const {
    return this->arrays_.local(which, number<V>);
  }
  /// How many elements of a mesh this rank has, ghosts included.
  template <Mesh M>
  [[nodiscard]] std::int64_t size(M) const {
    return this->arrays_.size_of(M::name);
  }
  /// Which elements of a mesh this rank has now.
  template <Mesh M>
  [[nodiscard]] partition<M> partition_of(M) const {
    return partition<M>(this->arrays_.part_of(M::name));
  }

  /// Cuts meshes anew: `f.repartition(c2, e2, initial<h>{0.0})`. The values of all variables on them, of all levels and
  /// components, go to the owners of their elements, found by id, in one message to each rank, packed in a memory where
  /// they are valid; there they are valid after it. Ghosts are valid nowhere until an exchange. Elements that no rank
  /// owns any more are dropped. If a rank owns one that is new, variables with an `initial` take its values there, and
  /// the owned elements of those without are valid nowhere, as those of a level that was not valid on all ranks. Arrays
  /// are made anew: views of them that one keeps, and what was copied of the numbers of elements, are void.
  ///
  /// Collective. Throws the same `keel::error` on every rank, and nothing has changed, if a partition was made on
  /// another environment, the fields have no such mesh, rows of initial values do not fit, or memory for arrays or
  /// messages is lacking somewhere.
  template <class... Arguments>
    requires((detail::is_partition<Arguments> || detail::is_initial<Arguments>) && ...)
  void repartition(Arguments const&... arguments) {
    auto const visit = this->users_.enter("repartition");
    this->executor_.require_idle("repartition");
    // Without memory, which one rank may lack while others go on.
    std::array<detail::new_cut, (int(detail::is_partition<Arguments>) + ... + 0)> meshes;
    std::array<detail::new_values, (int(detail::is_initial<Arguments>) + ... + 0)> values;
    [[maybe_unused]] auto mesh = meshes.begin();
    (add_partition<Arguments, Arguments...>(mesh, arguments), ...);
    auto const find_values = [&] {
      [[maybe_unused]] auto next = values.begin();
      (add_values<Arguments, Arguments...>(next, arguments), ...);
    };
    detail::repartition(*this, meshes, values, detail::thunk::of(find_values));
  }
  /// The components are these patches from now on. All variables take part, with all levels. A patch on a grid like
  /// that of its `from`, without a shift, keeps the arrays of that component, and is valid where they were; the first
  /// one, if there are several. Otherwise the owned cells that both have travel as in `repartition`, beyond the ends of
  /// a periodic `from` those at its other end; the rest is zeros. What is not on the grid goes with `from` as it is.
  /// A component that no patch is from vanishes. Views of arrays that were not kept are void.
  ///
  /// Collective, with the same patches on every rank. Throws the same `keel::error` on every rank, and nothing has
  /// changed, if they do not fit or memory is lacking somewhere.
  void regrid(std::vector<patch> const& patches) {
    auto const visit = this->users_.enter("regrid");
    this->executor_.require_idle("regrid");
    detail::regrid(*this, patches);
  }
  /// Gives variables other lengths beyond the grid's or the mesh's: `f.resize(extra<h>{levels + 2})`. What both the old
  /// and the new arrays have stays, and is valid where it was; the rest is zeros. Collective, with the same lengths on
  /// every rank; otherwise as `repartition`.
  template <class... Extras>
  void resize(Extras const&... lengths) {
    auto const visit = this->users_.enter("resize");
    this->executor_.require_idle("resize");
    std::array<detail::new_lengths, (detail::variables_in<Extras> + ... + 0)> all;
    auto next = all.begin();
    (add_lengths(next, lengths), ...);
    detail::resize(*this, all);
  }
  /// Makes room for `n` elements of a mesh on this rank, ghosts included, so that arrays stay where they are as long as
  /// there are not more. The first extent of views is what there is room for. Collective; `n` may differ.
  template <Mesh M>
  void reserve(M, std::int64_t n) {
    auto const visit = this->users_.enter("reserve");
    this->executor_.require_idle("reserve");
    detail::reserve(*this, M::name, n);
  }
  /// Goes on where the run was that wrote the checkpoint `name`, on any number of ranks and any device, however the
  /// grid and the meshes are cut: what the file has is valid on the host, ghosts are filled that were, and `steps()`
  /// counts on. What the file has not stays as it is. `f.restart<step>("run")` names the schedules that go on, instead
  /// of those that ran: what one of them reads and neither the file nor the fields have is refused; without any, what
  /// the fields have and the file has not. A mesh whose elements move gets those of the file.
  ///
  /// Collective. Throws the same `keel::error` on every rank, and nothing has changed, if the file is cut short,
  /// damaged, not finished, or of other variables, grids or meshes; if the checksum of data is wrong, what they were to
  /// fill is valid nowhere. Then `name.previous` has the checkpoint before.
  template <Entry... Schedules>
  void restart(std::string_view name) {
    auto const visit = this->users_.enter("restart");
    std::array<detail::schedule_nodes, sizeof...(Schedules)> const all{
        detail::bound_schedule<Schedules, index>::nodes...};
    detail::restart(*this, name, all);
  }
  /// Goes on from the checkpoint that the user names, `--keel-restart=run`, and returns whether there is one: if not,
  /// the program makes the state at the start. For programs that need `steps()`, or what the file has, before the first
  /// step, which goes on from it else. Checkpoints have what these schedules read, also before they ran. Does nothing
  /// after the first step.
  template <Entry... Schedules>
  [[nodiscard]] bool restart() {
    auto const visit = this->users_.enter("restart");
    std::array<detail::schedule_nodes, sizeof...(Schedules)> const all{
        detail::bound_schedule<Schedules, index>::nodes...};
    return detail::restart(*this, all);
  }
  /// How many checkpoints, or files of what is saved, were `written`, and how many `failed`. That costs a warning each,
  /// and never the run: an error ends it only before the first step. Waits for those under way. Collective.
  [[nodiscard]] auto checkpoints() { return detail::finish_files(*this, entry_kind::checkpoint); }
  [[nodiscard]] auto saves() { return detail::finish_files(*this, entry_kind::save); }
  /// Each owned element goes to a rank: `destinations` is a view, on the host or on a device, or a span, of at least as
  /// many `int` as the rank owns elements. All variables travel, as in `repartition`. Elements that come take the
  /// places of those that leave; the order of those that stay may change where places are left. The mesh has no ghosts
  /// then: `renew_ghosts` gives it some. Arrays grow by half at least when there is no room, and never
  /// shrink. If nothing leaves any rank, and there were no ghosts, all stays as it is.
  ///
  /// Collective. Throws the same `keel::error` on every rank, and nothing has changed, if there is no rank of that
  /// number.
  template <Mesh M, class Destinations>
  void migrate(M, Destinations const& destinations) {
    auto const visit = this->users_.enter("migrate");
    this->executor_.require_idle("migrate");
    if constexpr (Kokkos::is_view<Destinations>::value) {
      detail::leavers all;
      auto const find = [&] {
        auto const owned = detail::leavers_among(*this, M::name, destinations.extent(0));
        detail::find_leavers(all, destinations, int(owned), this->arrays_.rank());
      };
      detail::migrate(*this, M::name, all, detail::thunk::of(find));
    } else {
      detail::migrate(*this, M::name, destinations);
    }
  }
  /// Other ghosts instead of those of the mesh, which owners give: the first elements of the list become ghosts of the
  /// first rank, as many as it gets, and so on. `ranks` is in ascending order, the own one may be among them; the list,
  /// a view of `int` on the host or on a device, or a span, has local indices of owned elements, of each rank in
  /// ascending order. Ghosts are one layer, by their owners, as they list them; they are valid after an exchange. What
  /// is owned stays where it is, and no search goes over it, as that of `repartition` does.
  ///
  /// Collective; otherwise as `migrate`.
  template <Mesh M, class Elements>
  void renew_ghosts(M, std::span<ghosts_of const> ranks, Elements const& elements) {
    auto const visit = this->users_.enter("renew_ghosts");
    this->executor_.require_idle("renew_ghosts");
    std::int64_t count = 0;
    for (ghosts_of const& one : ranks) count += one.count;
    std::vector<std::int32_t> on_host;
    auto const find = [&] { detail::list_on_host(on_host, elements, count); };
    detail::renew_ghosts(*this, M::name, ranks, on_host, detail::thunk::of(find));
  }
  /// Numbers the owned elements of this rank anew: the first one is then that which the first number of the list, as
  /// in `renew_ghosts`, says now, so that those which are near to each other lie together in memory. The mesh has no
  /// ghosts then. Collective; otherwise as `migrate`.
  template <Mesh M, class Elements>
  void reorder(M, Elements const& elements) {
    auto const visit = this->users_.enter("reorder");
    this->executor_.require_idle("reorder");
    std::vector<std::int32_t> on_host;
    auto const find = [&] { detail::list_on_host(on_host, elements, this->arrays_.owned_of(M::name).end); };
    detail::reorder(*this, M::name, on_host, detail::thunk::of(find));
  }
  using base::device_name;
  [[nodiscard]] int components() const { return this->arrays_.components(); }

  /// Bytes moved so far, variables in the order of the list; see `reset_traffic`.
  [[nodiscard]] residency::traffic const& traffic() const { return this->book_.traffic(); }
  void reset_traffic() { this->book_.traffic().reset(); }
  /// A variable's place in the list.
  template <Variable V>
  static constexpr int number = detail::variable_index<Vars...>::find(&V::about);
  /// Bytes of one level of one component of `V`, by region, on this rank.
  template <Variable V>
  [[nodiscard]] region_bytes bytes(component which = {}) const {
    return this->arrays_.bytes_of(number<V>, which.index);
  }
  /// Bytes that scratches have so far in all memories, on this rank.
  [[nodiscard]] std::uint64_t scratch_bytes() const { return this->executor_.scratch_bytes(); }
  /// Whether a region is valid in the memory of a device; of the host, without one. Throws `keel::error` with tracking
  /// `off`, which does not know.
  template <Part X, class Tag = void>
  [[nodiscard]] bool is_valid(region where = region::everywhere, component which = {}) const;

private:
  friend struct detail::gathering;
  using index = detail::variable_index<Vars...>;
  static_assert(sizeof...(Vars) > 0, "keel::residency::fields: no variables. Name those of the application.");
  static_assert(index::is_unique, "keel::residency::fields: two variables have one name (names must be unique). "
                                  "Rename one.");
  template <class One, class... All>
  static void add_partition([[maybe_unused]] auto& next, [[maybe_unused]] One const& one) {
    if constexpr (detail::is_partition<One>) {
      constexpr std::string_view mesh = detail::mesh_of_option<One>;
      static_assert((int(detail::mesh_of_option<All> == mesh) + ...) == 1,
                    "keel::residency::fields: repartition gets two partitions of one mesh (it has one cut). Pass one.");
      *next++ = {mesh, one.here()};
    }
  }
  template <class One, class... All>
  void add_values([[maybe_unused]] auto& next, [[maybe_unused]] One const& one) const {
    if constexpr (detail::is_initial<One>) {
      using V = typename One::variable;
      static_assert(number<V> >= 0 && ((detail::mesh_of_option<All> == V::about.on.mesh) || ...),
                    "keel::residency::fields: repartition gets initial values of a variable that does not lie on these "
                    "meshes, or that the fields do not have (it is in the message). Leave them out.");
      using array = typename base::template array_type<typename V::data_type, Kokkos::HostSpace>;
      detail::new_values made{number<V>, &one.one()};
      if (one.has_rows())
        std::tie(made.rows, made.row_count) = one.template rows_as<array>(this->arrays_.extents_of(number<V>));
      *next++ = std::move(made);
    }
  }
  template <class... Vs>
  static void add_lengths(auto& next, extra<Vs...> const& given) {
    static_assert(sizeof...(Vs) != 0,
                  "keel::residency::fields: resize gets an extra without variables (it is not clear "
                  "which). Name them: extra<h>{n}.");
    ((*next++ = {number<Vs>, {given.lengths.data(), std::size_t(given.given)}}), ...);
  }
  template <class View>
  static constexpr bool is_mutable = !std::is_const_v<typename View::value_type>;

  struct checked_places {};
  /// Collective, and before anything else is: the options have to be the same on every rank.
  template <class First, class... Options>
  static checked_places check_places(auto& run, grid const& whole, Options const&... options) {
    (detail::require_place<Vars, First, Options...>(), ...);
    detail::require_same_options(run.environment(), whole, options...);
    return {};
  }
  template <class Run, class... Options>
  fields(checked_places, Run& run, grid const& whole, Options const&... options);

  template <Entry E, class Arguments>
  auto run_in(component_range range, Arguments const& args);
};

} // namespace keel::residency

#include <keel/impl/residency/fields.hpp>
