// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The same kernels without keel's fields: arrays of Kokkos, levels swapped and messages sent by hand; on a device with
/// memory of its own for one rank, without messages.

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
  by_hand(Space const& space, cut const& here, Environment const& env) : space_(space), here_(here) {
#if KEEL_WITH_MPI
    communicator_ = env.comm();
#else
    (void)env;
#endif
    for (auto const* lists : {&here.c.lists(), &here.e.lists()})
      for (auto const& partner : lists->partners) (void)messages_[partner.rank];
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

private:
  struct message {
    std::vector<double> out, in;
  };
  template <int Stage>
  void stages(physics const& p) {
    using H = source<h, Stage>;
    using U = source<u, Stage>;
    handle const v{this};
    vorticities<H, U>::run(v), fluxes<H, U>::run(v), energies<H, U>::run(v, p), advance<Stage>::run(v, p);
    if (messages_.empty()) return;
    space_.fence();
    if constexpr (is_on_host) exchange();
  }
  /// Calls `f(rank, rims or ghosts, array)` for both variables.
  template <class F>
  void for_all(bool is_out, F const& f) {
    auto const visit = [&](auto const& part, auto const& array) {
      for (auto const& partner : part.lists().partners)
        f(partner.rank, is_out ? partner.rims.elements : partner.ghosts.elements, array);
    };
    visit(here_.c, array<h>(0)), visit(here_.e, array<u>(0));
  }
  void exchange() {
    for (auto& [rank, m] : messages_) m.out.clear(), m.in.clear();
    for_all(true, [&](int rank, auto const& list, auto const& from) {
      for (int const i : list) messages_[rank].out.push_back(from(i));
    });
    for_all(false, [&](int rank, auto const& list, auto const&) {
      auto& in = messages_[rank].in;
      in.resize(in.size() + list.size());
    });
#if KEEL_WITH_MPI
    std::vector<MPI_Request> requests;
    for (auto& [rank, m] : messages_)
      MPI_Irecv(m.in.data(), int(m.in.size()), MPI_DOUBLE, rank, 0, communicator_, &requests.emplace_back());
    for (auto& [rank, m] : messages_)
      MPI_Isend(m.out.data(), int(m.out.size()), MPI_DOUBLE, rank, 0, communicator_, &requests.emplace_back());
    MPI_Waitall(int(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
#endif
    std::map<int, std::size_t> at;
    for_all(false, [&](int rank, auto const& list, auto const& to) {
      auto const& in = messages_[rank].in;
      for (int const i : list) to(i) = in[at[rank]++];
    });
  }

  Space space_;
  cut const& here_;
#if KEEL_WITH_MPI
  MPI_Comm communicator_;
#endif
  std::map<int, message> messages_;
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
