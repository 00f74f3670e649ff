// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Fills the ghosts of arrays that belong to the application: it holds none, and knows no names and no state of data.

#include <keel/exchange/array.hpp>
#include <keel/impl/exchange/array_exchanges.hpp>
#include <keel/impl/validity/trackings.hpp>
#include <keel/layout/partition.hpp>

#include <cstdlib>
#include <exception>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace keel::residency {

/// An exchange that has begun. Owned elements of its arrays may be read, ghosts not touched. Views are held until the
/// end; what a pointer is to has to stay. Ends with it at the latest.
class open_exchange {
public:
  open_exchange(open_exchange const&) = delete;
  open_exchange& operator=(open_exchange const&) = delete;
  ~open_exchange() noexcept(false) {
    try {
      finish();
    } catch (...) {
      if (std::uncaught_exceptions() == unwinding_) throw; // else that which is under way tells more
    }
  }
  /// Fills the ghosts: of arrays on a device work that the queue gets from here on finds them filled; the host may go
  /// on. Once; later calls do nothing.
  void finish() {
    if (auto const begun = std::move(it_)) plan_->finish(*begun);
  }

private:
  friend class exchange_plan;
  open_exchange(std::shared_ptr<detail::array_exchanges> by, std::shared_ptr<detail::array_plan> plan,
                std::span<detail::array_ref> all, detail::combine how,
                std::span<detail::copy_queue const* const> queues, std::shared_ptr<void> views)
      : by_(std::move(by)), plan_(std::move(plan)), views_(std::move(views)) {
    it_ = plan_->begin(all, how, queues);
  }

  std::shared_ptr<detail::array_exchanges> by_; // not kept by its plan
  std::shared_ptr<detail::array_plan> plan_;
  std::shared_ptr<void> views_;
  std::unique_ptr<detail::begun_exchange> it_;
  int unwinding_ = std::uncaught_exceptions();
};

/// How arrays that lie in some way are exchanged. Each call takes arrays of the application, as many as planned: views,
/// pointers (taken to lie as planned), what `array_on` and `array` make, whose options are not looked at, or lists of
/// the latter, `std::vector<any_array>`. Which data they have does not matter. Collective, on every rank with the same
/// ones; an array that lies in another way is refused with `keel::error`, on every rank where it does, before anything
/// is sent; under `--keel-tracking=checked` on every rank, because they agree first. A plan holds its exchanger's
/// state. One thread at a time, among all plans.
class exchange_plan {
public:
  exchange_plan(std::shared_ptr<detail::array_exchanges> by, std::shared_ptr<detail::array_plan> it)
      : by_(std::move(by)), it_(std::move(it)) {}

  /// Ghosts get what their owners have. Arrays of the host are filled on return. On a device it is work of the default
  /// queue of the view's space; whether the host waits depends on the transport.
  template <class... Arrays>
  void exchange(Arrays const&... arrays) const {
    run(detail::combine::replace, arrays...);
  }
  /// Ghosts are added to what their owners have, in the same order each time; they stay as they are.
  template <class... Arrays>
  void accumulate(Arrays const&... arrays) const {
    run(detail::combine::add, arrays...);
  }
  /// Begins what `exchange` does, after the work that `space` was given: by its queue, where its memory is that of the
  /// arrays; the host waits for a space of the host. Several exchanges may be open, of different arrays; all ranks
  /// begin and finish them in the same order.
  template <class Space, class... Arrays>
    requires Kokkos::is_execution_space<Space>::value
  [[nodiscard]] open_exchange begin(Space const& space, Arrays const&... arrays) const {
    auto all = detail::refs_of<true>(arrays...);
    std::vector<detail::copy_queue const*> queues;
    if constexpr (!Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Space::memory_space>::accessible &&
                  (detail::may_be_on_device<Arrays>() || ...))
      for (detail::array_ref const& one : all)
        queues.push_back(one.where != nullptr && one.where->type == &detail::type_mark<typename Space::memory_space>
                             ? &by_->queue_of(space)
                             : nullptr);
    if constexpr (Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Space::memory_space>::accessible)
      space.fence();
    return {by_, it_, all, detail::combine::replace, queues, std::make_shared<std::tuple<Arrays...>>(arrays...)};
  }

private:
  template <class... Arrays>
  void run(detail::combine how, Arrays const&... arrays) const {
    static_assert(sizeof...(Arrays) != 0, "keel::residency::exchange_plan: no array is given. Name those planned.");
    auto all = detail::refs_of<true>(arrays...);
    it_->run(all, how);
  }

  std::shared_ptr<detail::array_exchanges> by_;
  std::shared_ptr<detail::array_plan> it_;
};

/// Exchanges ghosts of arrays on a grid, on meshes, or on both: `exchanger x{run, grid{{nx, ny}}, cells, edges}`.
/// Transports and knobs are as those of `fields`; messages of all exchangers and fields of a run travel in one
/// communicator. All arrays of a call make one message to each rank.
///
/// Construction and calls are collective over the run's environment, and throw the same `keel::error` on every rank.
/// The environment must outlive it. For arrays in the memory of a device that the application made, include
/// keel/exchange/kokkos_queue.hpp, too.
class exchanger {
public:
  template <class Run, class... Places>
    requires requires(Run& run) { run.environment().rank(); }
  explicit exchanger(Run& run, Places const&... places);
  /// In a code that has started MPI and Kokkos itself: `exchanger x{environment{borrow, comm}, cells}`. Only its
  /// communicator has to outlive this. It has all transports of keel's; `KEEL_EXCHANGE_THROUGH` names one.
  template <machine::CommunicatingRanks R, class... Places>
  explicit exchanger(machine::basic_environment<R> const& on, Places const&... places);

  /// A plan for arrays that lie as these: `x.plan(array_on<cells>(t), array_on<edges>(u), depth_of{1})`. Collective;
  /// costs two reductions more than a known one.
  template <class... Arrays>
  [[nodiscard]] exchange_plan plan(Arrays const&... arrays) const {
    auto const all = detail::refs_of<false>(arrays...);
    return {it_, it_->plan(all)};
  }
  /// Plans, if there is no such plan yet, and exchanges. A plan kept saves the one reduction by which ranks agree, and
  /// the search among the 256 that are kept.
  template <class... Arrays>
  void exchange(Arrays const&... arrays) const {
    auto all = detail::refs_of<false>(arrays...);
    it_->plan(all)->run(all, detail::combine::replace);
  }
  template <class... Arrays>
  void accumulate(Arrays const&... arrays) const {
    auto all = detail::refs_of<false>(arrays...);
    it_->plan(all)->run(all, detail::combine::add);
  }

private:
  std::shared_ptr<detail::array_exchanges> it_;
};

template <class Run, class... Places>
  requires requires(Run& run) { run.environment().rank(); }
exchanger::exchanger(Run& run, Places const&... places) {
  messenger const ranks(run.environment());
  grid const* whole = nullptr;
  std::vector<detail::array_exchanges::place> meshes;
  [[maybe_unused]] auto const look = [&]<class Place>(Place const& place) {
    if constexpr (std::is_same_v<Place, grid>) whole = &place;
    else {
      static_assert(!detail::mesh_of_option<Place>.empty(),
                    "keel::residency::exchanger: neither a grid nor a partition (it is in the message). Give these.");
      meshes.push_back({detail::mesh_of_option<Place>, place.space()});
    }
  };
  (look(places), ...);
  settings how;
  bool agrees = false;
  if constexpr (requires { run.residency_settings(); }) how = run.residency_settings();
  if constexpr (requires { typename Run::application::tracking; })
    agrees = detail::tracking_of<typename Run::application>::chosen(run).checks;
  using ranks_type = typename std::remove_cvref_t<decltype(run.environment())>::ranks;
  it_ = detail::array_exchanges::made_of(
      ranks, machine::agreement(*ranks.template environment<ranks_type>()),
      [](messenger const& of) {
        if constexpr (requires { typename Run::application::transports; })
          return detail::transports_of(typename Run::application::transports{}, of);
        else return detail::transports_of(all_transports{}, of);
      },
      std::move(how), agrees, whole, meshes);
}

namespace detail {
/// What a code that has started MPI and Kokkos itself has in place of a run.
template <machine::CommunicatingRanks R>
struct borrowed_run {
  explicit borrowed_run(typename R::handle comm) : on(machine::borrow, comm) {
    if (char const* const through = std::getenv("KEEL_EXCHANGE_THROUGH")) how.exchange_through = through;
  }
  machine::basic_environment<R>& environment() { return on; }
  [[nodiscard]] settings const& residency_settings() const { return how; }

  machine::basic_environment<R> on;
  settings how;
};
} // namespace detail

template <machine::CommunicatingRanks R, class... Places>
exchanger::exchanger(machine::basic_environment<R> const& on, Places const&... places) {
  auto const run = std::make_shared<detail::borrowed_run<R>>(on.comm());
  auto const kept = std::make_shared<std::pair<decltype(run), exchanger>>(run, exchanger(*run, places...));
  it_ = {kept, kept->second.it_.get()};
}

} // namespace keel::residency
