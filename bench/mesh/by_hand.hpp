// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// TRiSK without keel's fields: arrays of Kokkos, levels swapped and ghosts filled by hand.

#include "../by_hand.hpp"
#include "cut.hpp"
#include "functions.hpp"
#include "model.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

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

  by_hand(Space const& space, cut const& here, keel::machine::environment const& env)
      : space_(space), here_(here), env_(env), ghosts_(space, env, ghosts_of(here)) {}
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
  /// A cell is twice its number, an edge one more.
  static std::vector<bench::ghost> ghosts_of(cut const& here) {
    std::vector<bench::ghost> all;
    auto const add = [&](auto const& part, int more) {
      for (std::size_t i = 0; i < part.owners().size(); ++i)
        all.push_back(
            {2 * (int(part.owned().end) + int(i)) + more, part.owners()[i], 2 * part.index_at_owner()[i] + more});
    };
    add(here.c, 0), add(here.e, 1);
    return all;
  }

  template <int Stage>
  void stages(physics const& p) {
    using H = source<h, Stage>;
    using U = source<u, Stage>;
    handle const v{this};
    vorticities<H, U>::run(v), fluxes<H, U>::run(v), energies<H, U>::run(v, p), advance_h<Stage>::run(v, p),
        advance_u<Stage>::run(v, p);
    ghosts_.fill(env_, {array<h>(0).data(), array<u>(0).data()});
  }

  Space space_;
  cut const& here_;
  keel::machine::environment const& env_;
  bench::ghosts_by_hand<Space, 2> ghosts_;
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
