// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Variables that are named at run time, of the application's arrays or keel's.

#include <keel/exchange/array.hpp>
#include <keel/impl/residency/fields_base.hpp>
#include <keel/impl/residency/options.hpp>
#include <keel/impl/residency/registered.hpp>
#include <keel/impl/residency/resize.hpp>
#include <keel/impl/residency/files/restart.hpp>
#include <keel/impl/residency/setup.hpp>
#include <keel/layout/partition.hpp>
#include <keel/machine/environment.hpp>
#include <keel/residency/registered_use.hpp>
#include <keel/schedule/routine.hpp>
#include <keel/validity/traffic.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace keel {
template <class App>
class runtime;
template <class App>
class start;
} // namespace keel

namespace keel::residency {

namespace detail {
/// The run of a registry in a code that has none. It ends after all else.
struct own_run {
  std::shared_ptr<void> run_;
};
} // namespace detail

/// `fields` whose variables are named at run time: `registry f{run, cells, edges}`, or of a grid. Arrays are the
/// application's, adopted, or keel's, added; where each is valid is kept as for a variable of a type, and the same
/// calls copy, exchange and refuse. Registering is collective, in the same order on every rank, as are `exchange`,
/// `accumulate`, `repartition` and `migrate`; errors of these are the same on every rank. The run must outlive it; so
/// must arrays that it adopted. One thread at a time.
template <class App>
class registry : detail::own_run, detail::fields_base<App> {
  using base = detail::fields_base<App>;

public:
  using handle = registered_variable;

  template <class Run, class... Places>
    requires requires(Run& run) { run.environment().rank(); }
  explicit registry(Run& run, Places const&... places);
  /// In a code that has started MPI and Kokkos itself: `registry<app> f{environment{borrow, comm}, cells}`. Only its
  /// communicator has to outlive this. Knobs come from environment variables. Include keel/device.hpp, too.
  template <machine::CommunicatingRanks R, class... Places>
  explicit registry(machine::basic_environment<R> const& on, Places const&... places)
      : registry(std::make_shared<runtime<App>>(start<App>{}, on.comm()), places...) {}

  /// Arrays on a mesh that the application has: a view on the host or a pointer to its memory with `extents{…}`, a view
  /// in the memory of a device, or both, which lie in the same way; keel makes what is missing. Valid nowhere until
  /// `notify_data_modified`. Options are those of `array_on`. Again, by the same name, it is the same variable. What
  /// shows an array of another name is refused.
  template <Mesh M, class First, class... More>
  handle adopt(std::string_view name, First const& view, More const&... more) {
    return adopt_on(detail::lattice_on<M>(), name, view, more...);
  }
  /// Adopts arrays on the grid, with the options of `array`.
  template <class First, class... More>
  handle adopt(std::string_view name, First const& view, More const&... more) {
    return adopt_on(lattice_in(more...), name, view, more...);
  }
  /// Arrays of keel's on a mesh: the first index counts elements, the others have these extents. `levels<N>{}` if
  /// there are several.
  template <class Data, Mesh M, class... Options>
  handle add(std::string_view name, Options const&... options) {
    return add_on<Data>(detail::lattice_on<M>(), name, options...);
  }
  template <class Data, class... Options>
  handle add(std::string_view name, Options const&... options) {
    return add_on<Data>(lattice_in(options...), name, options...);
  }
  /// Throws `keel::error` if there is no variable of the name.
  [[nodiscard]] handle find(std::string_view name) const { return {known_.find(name), 0, region::everywhere}; }
  [[nodiscard]] std::string_view name(handle x) const { return known_.name(checked(x).number); }
  [[nodiscard]] int size() const { return known_.size(); }

  /// Code that runs on a device, or `on_host`, from here to the end of what is returned: `reading{h}`, `writing{q}`,
  /// `updating{t}`. What it reads is made valid there, what it writes is valid there only.
  template <class Tag, class... Clauses>
  [[nodiscard]] registered_use<App, Tag> use(std::string_view name, on<Tag>, Clauses const&... clauses) {
    static_assert(policy::contains<typename base::devices, Tag> || detail::is_on_host<Tag>,
                  "keel::residency::registry::use: a device that is not in the application's list. Add it there.");
    if constexpr (!detail::is_on_host<Tag>) this->template prepare<Tag>(name);
    return {*this, name, base::template memory_of<Tag>, asked_of(clauses...)};
  }
  template <class... Clauses>
  [[nodiscard]] registered_use<App, typename base::host_tag> use(std::string_view name, on_host,
                                                                 Clauses const&... clauses) {
    return {*this, name, host, asked_of(clauses...)};
  }

  /// Fills the ghosts of these, or adds them to their owners, by one message to each rank.
  void exchange(std::initializer_list<handle> all) {
    run_exchange(all, {.reads = region::rim, .writes = region::halo}, false);
  }
  void accumulate(std::initializer_list<handle> all) {
    run_exchange(all, {.reads = region::rim | region::halo, .writes = region::rim}, true);
  }
  /// Level 0 becomes level 1, and so on; the new level 0 is valid nowhere.
  void cycle(handle x) {
    request const freed{checked(x).number, 0, region::none, region::everywhere};
    known_.require_idle({&freed, 1}, "cycle");
    this->book_.rotate(x.number, rotation::cycle);
  }

  /// For code that works on arrays without a use: makes regions valid in a memory and waits, or says that they were
  /// written there, all of them, and that the writer is done.
  template <class Place>
  void require_valid_data(Place, std::initializer_list<handle> all) {
    for (handle const x : all) this->book_.require_data(owner_for<Place>(x), x.where, region::none);
  }
  /// About to be overwritten whole: copies nothing, and returns when nothing of keel's uses it any more.
  template <class Place>
  void require_invalid_data(Place, std::initializer_list<handle> all) {
    for (handle const x : all) this->book_.require_data(owner_for<Place>(x), region::none, x.where);
  }
  template <class Place>
  void notify_data_modified(Place, std::initializer_list<handle> all) {
    for (handle const x : all) this->book_.notify_data_modified(owner_for<Place>(x), x.where);
  }
  template <class Place>
  [[nodiscard]] bool is_valid(Place, handle x) {
    return this->book_.is_valid(checked(x).number, x.level, x.where, memory_for<Place>(), 0, all_layers);
  }
  /// A view of a variable to be kept, as `f.view` of fields gives it.
  template <class Data, class Tag, class Layout = typename App::layout>
  [[nodiscard]] auto view(handle x) {
    if constexpr (!detail::is_on_host<Tag>) this->template prepare<Tag>();
    using view = Kokkos::View<Data, Layout, detail::memory_space_of<Tag>, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
    return make_view<view>(x, base::template memory_of<Tag>);
  }

  /// See `fields::repartition`. Refused for a mesh with arrays that were adopted.
  template <Mesh... Ms>
  void repartition(partition<Ms> const&... cuts) {
    (known_.require_own(Ms::name), ...);
    std::array<detail::new_cut, sizeof...(Ms)> const meshes{detail::new_cut{Ms::name, cuts.here()}...};
    auto const none = [] {};
    detail::repartition(*this, meshes, {}, detail::thunk::of(none));
  }
  /// See `fields::migrate`.
  template <Mesh M>
  void migrate(M, std::span<int const> destinations) {
    known_.require_own(M::name);
    detail::migrate(*this, M::name, destinations);
  }
  /// Writes `name.h5`, with every level that is valid somewhere, and goes on from one; see `residency::checkpoint` and
  /// `fields::restart`. Variables are found by name, so those of the file have to be registered. One that is adopted or
  /// added with `without_checkpoint{}` is left out.
  void checkpoint(std::string_view name) {
    known_.require_idle({}, "checkpoint");
    detail::checkpoint(*this, name);
  }
  /// See `fields::checkpoints`.
  [[nodiscard]] auto checkpoints() { return detail::finish_files(*this, entry_kind::checkpoint); }
  void restart(std::string_view name) {
    known_.require_idle({}, "restart");
    detail::restart(*this, name, {});
  }
  /// From the one that the user names, `--keel-restart=run`; returns whether there is one.
  [[nodiscard]] bool restart() {
    known_.require_idle({}, "restart");
    return detail::restart(*this, {});
  }
  template <Mesh M>
  [[nodiscard]] std::int64_t size(M) const {
    return this->arrays_.size_of(M::name);
  }
  [[nodiscard]] share const& local() const { return this->arrays_.local(component{}); }

  /// Bytes moved so far, variables in the order in which they were registered.
  [[nodiscard]] residency::traffic const& traffic() const { return this->book_.traffic(); }
  void reset_traffic() { this->book_.traffic().reset(); }

private:
  template <class, class>
  friend class registered_use;

  template <class Run, class... Places>
  registry(std::shared_ptr<Run> run, Places const&... places) try : registry(*run, places...) {
    run_ = std::move(run);
  } catch (...) {
    run.reset(); // ends here, where no exception is on its way that would end the job
    throw;
  }
  template <class... Options>
  [[nodiscard]] static lattice lattice_in(Options const&...) {
    return detail::about_of<Options...>("", true).on;
  }
  template <class T>
  [[nodiscard]] auto const& space_of() const {
    return this->template instance<T>();
  }
  template <class... Views>
  handle adopt_on(lattice const& on, std::string_view name, Views const&... views);
  template <class Data, class... Options>
  handle add_on(lattice const& on, std::string_view name, Options const&... options);
  template <class V>
  [[nodiscard]] V make_view(handle x, memory m) const;
  [[nodiscard]] handle checked(handle x) const;
  [[noreturn]] void refuse_view(handle x, std::string_view use, bool is_there) const;
  template <class... Clauses>
  [[nodiscard]] std::vector<request> asked_of(Clauses const&... clauses) const;
  void run_exchange(std::span<handle const> all, request const& each, bool adds);
  template <class Place>
  [[nodiscard]] memory memory_for();
  template <class Place>
  [[nodiscard]] std::optional<owner> owner_for(handle x) {
    request const all{checked(x).number, x.level, region::none, x.where};
    known_.require_idle({&all, 1}, "the caller");
    return owner{x.number, x.level, 0, memory_for<Place>(), true};
  }

  detail::registered known_{*this};
};
template <class Run, class... Places>
registry(Run&, Places const&...) -> registry<typename Run::application>;

} // namespace keel::residency

#include <keel/impl/residency/registry.hpp>
