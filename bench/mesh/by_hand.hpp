// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// TRiSK without keel's fields: arrays of Kokkos, levels swapped and messages sent by hand, packed where the
/// arrays are; from a device with memory of its own through the host's (pinned for CUDA).

#include "cut.hpp"
#include "functions.hpp"
#include "model.hpp"

#include <keel/machine/mpi.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#if KEEL_WITH_MPI
#include <mpi.h>
#endif

namespace trisk {

/// What routines of the model take, without what a tracked step does for them.
template <class Space, class... Xs>
class by_hand {
  template <class X>
  using kept_view = Kokkos::View<typename X::data_type, Kokkos::LayoutRight, typename Space::memory_space>;
  template <class X>
  struct kept {
    static constexpr int count = X::about.levels;
    kept_view<X> levels[count];
  };

public:
  static constexpr bool is_on_host = std::is_same_v<typename Space::memory_space, Kokkos::HostSpace>;
  /// Copied into each routine.
  struct handle {
    using space = Space;
    static constexpr std::string_view name = "by_hand";
    by_hand const* all;

    template <class X>
    [[nodiscard]] auto operator()(X) const {
      using item = kr::detail::item<X>;
      return std::get<kept<typename item::variable>>(all->arrays_).levels[item::level];
    }
    [[nodiscard]] space const& execution_space() const { return all->space_; }
    template <kr::Mesh M>
    [[nodiscard]] kr::element_range owned(M mesh) const {
      return part_of(all->here_, mesh).owned();
    }
    template <class X>
    [[nodiscard]] kr::bounds everywhere(X) const {
      using item = kr::detail::item<X>;
      auto const end = [](auto const& part) { return part.layer(item::layers).end; };
      constexpr std::string_view mesh = item::variable::about.on.mesh;
      return {{},
              {{mesh == cells::name   ? end(all->here_.c)
                : mesh == edges::name ? end(all->here_.e)
                                      : end(all->here_.v)}}};
    }
  };

  /// `communicator` is used if there are other ranks.
  template <class Environment>
  by_hand(Space const& space, cut const& here, Environment const& env)
      : space_(space), here_(here), out_(made(here, [](auto const& p) -> auto const& { return p.rims; })),
        in_(made(here, [](auto const& p) -> auto const& { return p.ghosts; })) {
#if KEEL_WITH_MPI
    communicator_ = env.comm();
#else
    (void)env;
#endif
  }
  by_hand(by_hand const&) = delete;

  /// Takes an array over as it is.
  template <class X, class View>
  void set(View const& from) {
    auto& to = std::get<kept<X>>(arrays_);
    for (auto& level : to.levels) {
      if constexpr (View::rank == 1) level = kept_view<X>(std::string(X::about.name), from.extent(0));
      else level = kept_view<X>(std::string(X::about.name), from.extent(0), from.extent(1));
      Kokkos::deep_copy(level, from);
    }
  }
  /// Makes one for results on the way.
  template <class X>
  void make(std::int64_t elements) {
    array<X>(0) = kept_view<X>(std::string(X::about.name), std::size_t(elements));
  }

  void step(physics const& p) {
    std::swap(array<h>(0), array<h>(1)), std::swap(array<u>(0), array<u>(1));
    stages<0>(p), stages<1>(p), stages<2>(p);
  }
  template <class X>
  [[nodiscard]] auto& array(int level) {
    return std::get<kept<X>>(arrays_).levels[level];
  }

  /// Kernels of nvcc stand in public functions only.
  void exchange() {
    auto const cells_now = array<h>(0);
    auto const edges_now = array<u>(0);
    auto const rims = out_.elements, ghosts = in_.elements;
    auto const out = out_.values, in = in_.values;
    Kokkos::parallel_for(
        Kokkos::RangePolicy<Space>(space_, 0, int(rims.extent(0))),
        KOKKOS_LAMBDA(int n) { out(n) = rims(n) >= 0 ? cells_now(rims(n)) : edges_now(~rims(n)); });
    Kokkos::deep_copy(space_, out_.on_host, out);
    space_.fence();
#if KEEL_WITH_MPI
    std::vector<MPI_Request> requests;
    for (auto const& [rank, begin, count] : in_.messages)
      MPI_Irecv(&in_.on_host(begin), count, MPI_DOUBLE, rank, 0, communicator_, &requests.emplace_back());
    for (auto const& [rank, begin, count] : out_.messages)
      MPI_Isend(&out_.on_host(begin), count, MPI_DOUBLE, rank, 0, communicator_, &requests.emplace_back());
    MPI_Waitall(int(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
#endif
    Kokkos::deep_copy(space_, in, in_.on_host);
    Kokkos::parallel_for(
        Kokkos::RangePolicy<Space>(space_, 0, int(ghosts.extent(0))), KOKKOS_LAMBDA(int n) {
          if (ghosts(n) >= 0) cells_now(ghosts(n)) = in(n);
          else edges_now(~ghosts(n)) = in(n);
        });
  }

private:
#ifdef KOKKOS_ENABLE_CUDA
  static constexpr bool is_on_card = std::is_same_v<typename Space::memory_space, Kokkos::CudaSpace>;
  using host_space = std::conditional_t<is_on_card, Kokkos::CudaHostPinnedSpace, Kokkos::HostSpace>;
#else
  using host_space = Kokkos::HostSpace;
#endif
  struct message {
    int rank;
    std::size_t begin;
    int count;
  };
  /// What goes one way, ordered by rank: a cell is its number, an edge ~ its number.
  struct direction {
    Kokkos::View<int*, typename Space::memory_space> elements;
    Kokkos::View<double*, typename Space::memory_space> values;
    Kokkos::View<double*, host_space> on_host;
    std::vector<message> messages;
  };
  template <class ListOf>
  static direction made(cut const& here, ListOf const& list_of) {
    std::map<int, std::vector<int>> lists;
    for (auto const& p : here.c.lists().partners)
      for (int const i : list_of(p).elements) lists[p.rank].push_back(i);
    for (auto const& p : here.e.lists().partners)
      for (int const i : list_of(p).elements) lists[p.rank].push_back(~i);
    direction d;
    std::vector<int> all;
    for (auto const& [rank, list] : lists) {
      d.messages.push_back({rank, all.size(), int(list.size())});
      all.insert(all.end(), list.begin(), list.end());
    }
    Kokkos::View<int const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> const from(all.data(), all.size());
    d.elements = decltype(d.elements)("elements", all.size());
    Kokkos::deep_copy(d.elements, from);
    d.values = decltype(d.values)("values", all.size());
    if constexpr (is_on_host) d.on_host = d.values;
    else d.on_host = decltype(d.on_host)("values", all.size());
    return d;
  }

  template <int Stage>
  void stages(physics const& p) {
    using H = source<h, Stage>;
    using U = source<u, Stage>;
    handle const v{this};
    vorticities<H, U>::run(v), fluxes<H, U>::run(v), energies<H, U>::run(v, p), advance<Stage>::run(v, p);
    if (!out_.messages.empty()) exchange();
  }

  Space space_;
  cut const& here_;
#if KEEL_WITH_MPI
  MPI_Comm communicator_;
#endif
  direction out_, in_;
  std::tuple<kept<Xs>...> arrays_;
};

/// All that they need, as it is on the host.
template <class Hand, class... Xs>
struct hand_over : kr::routine<"hand_over", kr::on_host, kr::reads<Xs...>> {
  template <class V>
  static void run(V v, Hand& to) {
    (to.template set<Xs>(v(Xs{})), ...);
  }
};

} // namespace trisk
