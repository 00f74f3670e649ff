// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How fields have ghosts filled, and what they begin early.

#include <keel/impl/residency/siblings.hpp>
#include <keel/residency/fields.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace keel::residency {

// Calls f with what packs in memory `M`, for the component.
template <class App, Variable... Vars>
template <memory M, class F>
void fields<App, Vars...>::in_route(int which, F&& f) {
  detail::route<typename App::ranks, lanes>& r = routes_[std::size_t(which)];
  if constexpr (M == host) f(r.ghosts, r.on_host);
  else {
    auto& packing = std::get<std::size_t(M) - 1>(r.on_devices);
    packing.connect(provider_.template queue<std::size_t(M) - 1>(), sends_by_way_of_host_);
    f(r.ghosts, packing);
  }
}

template <class App, Variable... Vars>
template <class E>
auto fields<App, Vars...>::arrays_of(int which, memory m) const {
  using duties = duties_of<E, host>;
  std::array<detail::halo_array, duties::size> arrays;
  for (std::size_t i = 0; i < duties::size; ++i) {
    request const& r = duties::asked.list[i];
    arrays[i] = {&provider_.shape_of(r.variable, which), provider_.array(r.variable, r.level, which, m)};
  }
  return arrays;
}

// Rims come to memory `M` in one batch, and messages leave. From here on the ghosts count as filled there.
template <class App, Variable... Vars>
template <class E, memory M, class P, std::size_t At>
void fields<App, Vars...>::begin_exchange([[maybe_unused]] cell* row, component_range range) {
  detail::require_variables<E, directory>();
  settle_host();
  if constexpr (keeps_book) {
    if constexpr (M == host) tell_copies(E::about.name, [&] { book_.pre_sync(duties_of<E, host>::asked.all(), range); });
    if (!admit<E, M, P, At>(row, range)) admit_closely<E, M>(range);
  }
  book_.observer().before_exchange();
  try {
    for (int c = range.begin, end = range.of(components()).end; c < end; ++c)
      in_route<M>(c, [&](auto& ghosts, auto& packing) { ghosts.start(arrays_of<E>(c, M), packing); });
  } catch (...) {
    if constexpr (keeps_book) lose<E>(range);
    throw;
  }
}

// What came is put in its place. The ghosts go on to other memories where and when a routine reads them.
template <class App, Variable... Vars>
template <class E, memory M>
void fields<App, Vars...>::finish_exchange(component_range range) {
  try {
    for (int c = range.begin, end = range.of(components()).end; c < end; ++c)
      in_route<M>(c, [&](auto& ghosts, auto& packing) {
        ghosts.finish(arrays_of<E>(c, M), packing);
        for (request const& r : duties_of<E, host>::asked.all()) {
          std::uint64_t const bytes = ghosts.bytes_sent(provider_.shape_of(r.variable, c));
          book_.traffic().add_bytes(r.variable, way::to_neighbours, region::rim, {0, bytes, 0});
          if constexpr (tracking::observer::is_told) book_.observer().exchange(r.variable, r.level, c, bytes);
        }
      });
  } catch (...) {
    if constexpr (keeps_book) lose<E>(range);
    throw;
  }
}

// The exchange of group `G` that has to be finished before its entry number `I`, or that is under way behind an
// entry that failed.
template <class App, Variable... Vars>
template <class G, std::size_t I, class Tag, bool IsOver>
void fields<App, Vars...>::land(component_range range) {
  constexpr std::size_t open = IsOver ? detail::exchanges_in<G>.before[I] : detail::exchanges_in<G>.during[I];
  if constexpr (open != detail::none_open) {
    detail::tool_region const during(keeps_book && book_.observer().listens(), "exchange, its end", {});
    finish_exchange<detail::nth<open, typename G::entries>, exchange_memory<Tag>>(range);
  }
}

// Copies that later entries of the group are certain to want, behind the ones in between: to devices of what was
// written on the host, else to the host.
template <class App, Variable... Vars>
template <class G, std::size_t I, class Tag>
void fields<App, Vars...>::begin_certain_copies([[maybe_unused]] component_range range) {
  constexpr auto memory_of_place = detail::memory_at<App, devices, Tag>;
  auto const to = [&]<memory M>(std::integral_constant<memory, M>) {
    if constexpr (detail::reads_in<G, M, memory_of_place>) {
      static constexpr auto certain = detail::certain_copies<directory, detail::count_accesses(*G::children[I])>(G::about, I, M, memory_of_place);
      if constexpr (certain.size != 0)
        if (book_.is_open(M))
          certain.for_each_reader([&](std::span<request const> part, std::string_view reader) {
            if constexpr (M == host) begin_to_host(part, reader, range);
            else acquire(part, M, reader, range);
          });
    }
  };
  if constexpr (constexpr entry const& writer = *G::children[I]; detail::has_place(writer)) {
    if constexpr (memory_of_place(writer.where) != host) to(std::integral_constant<memory, host>{});
    else
      [&]<std::size_t... D>(std::index_sequence<D...>) {
        (to(std::integral_constant<memory, memory(D + 1)>{}), ...);
      }(std::make_index_sequence<lanes::size>{});
  }
}

// One entry of a group, with what its neighbours mean to it.
template <class App, Variable... Vars>
template <class G, std::size_t I, class E, class Tag, class P, std::size_t At, class... Args>
[[gnu::always_inline]] inline void fields<App, Vars...>::walk_child(cell* row, component_range range, Args&... args) {
  land<G, I, Tag, true>(range);
  constexpr bool overlaps = E::about.what == entry_kind::exchange && detail::lands_before(G::about, I) > I + 1;
  if constexpr (overlaps) {
    detail::tool_region const during(keeps_book && book_.observer().listens(), "exchange, its beginning", {});
    begin_exchange<E, exchange_memory<Tag>, P, At>(row, range);
  } else if constexpr (detail::exchanges_in<G>.during[I] != detail::none_open) {
    try {
      enter<E, Tag, P, At>(row, range, args...);
    } catch (...) {
      land<G, I, Tag, false>(range);
      throw;
    }
  } else {
    enter<E, Tag, P, At>(row, range, args...);
  }
  if constexpr (keeps_book && lanes::size != 0 && !overlaps) begin_certain_copies<G, I, Tag>(range);
}

} // namespace keel::residency
