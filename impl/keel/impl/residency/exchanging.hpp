// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How fields have ghosts filled.

#include <keel/impl/residency/holdings.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>

namespace keel::residency::detail {

// Calls f with what exchanges and what packs in memory `m`, for the component.
template <class App>
template <class F>
void holdings<App>::in_route(int which, memory m, F&& f) {
  auto& r = routes_[std::size_t(which)];
  if (m == host) return f(r.ghosts, r.on_host);
  [&]<std::size_t... Lane>(std::index_sequence<Lane...>) {
    [[maybe_unused]] auto const on = [&](auto& packing, auto const& queue) {
      packing.connect(queue, sends_by_way_of_host_);
      f(r.ghosts, packing);
      return true;
    };
    (void)((m == memory(Lane + 1) && on(std::get<Lane>(r.on_devices), provider_.template queue<Lane>())) || ...);
  }(std::make_index_sequence<lanes::size>{});
}

template <class App>
std::span<halo_array const> holdings<App>::arrays_of(std::span<request const> asked, int which, memory m) {
  exchanged_.clear();
  for (request const& r : asked)
    exchanged_.push_back({&provider_.shape_of(r.variable, which), provider_.array(r.variable, r.level, which, m)});
  return exchanged_;
}

// Rims come to memory `m` in one batch, and messages leave. From here on the ghosts count as filled there.
template <class App>
void holdings<App>::begin_exchange(std::span<request const> asked, memory m, component_range range) {
  settle_host();
  if constexpr (keeps_book) {
    if (m == host) tell_copies("exchange", [&] { book_.pre_sync(asked, range); });
    admit_closely(asked, m, "exchange", range);
    ++lag_.now; // as for a routine
  }
  book_.observer().before_exchange();
  try {
    for (int c = range.begin, end = range.of(components()).end; c < end; ++c)
      in_route(c, m, [&](auto& ghosts, auto& packing) { ghosts.start(arrays_of(asked, c, m), packing); });
  } catch (...) {
    if constexpr (keeps_book) {
      catch_up();
      book_.lose(asked, range, "exchange");
    }
    throw;
  }
}

// What came is put in its place. The ghosts go on to other memories where and when a routine reads them.
template <class App>
void holdings<App>::finish_exchange(std::span<request const> asked, memory m, component_range range) {
  try {
    for (int c = range.begin, end = range.of(components()).end; c < end; ++c)
      in_route(c, m, [&](auto& ghosts, auto& packing) {
        ghosts.finish(arrays_of(asked, c, m), packing);
        for (request const& r : asked) {
          std::uint64_t const bytes = ghosts.bytes_sent(provider_.shape_of(r.variable, c));
          book_.traffic().add_bytes(r.variable, way::to_neighbours, region::rim, {0, bytes, 0});
          if constexpr (tracking::observer::is_told) book_.observer().exchange(r.variable, r.level, c, bytes);
        }
      });
  } catch (...) {
    if constexpr (keeps_book) {
      catch_up();
      book_.lose(asked, range, "exchange");
    }
    throw;
  }
}

// The beginning and the end of an exchange that is under way while other entries run.
template <class App>
void holdings<App>::set_off(std::span<request const> asked, memory m, component_range range) {
  tool_region const during(keeps_book && book_.observer().listens(), "exchange, its beginning", {});
  begin_exchange(asked, m, range);
}
template <class App>
void holdings<App>::land(std::span<request const> asked, memory m, component_range range) {
  tool_region const during(keeps_book && book_.observer().listens(), "exchange, its end", {});
  finish_exchange(asked, m, range);
}
template <class App>
void holdings<App>::exchange_now(std::span<request const> asked, memory m, component_range range) {
  tool_region const during(keeps_book && book_.observer().listens(), "exchange", {});
  begin_exchange(asked, m, range);
  finish_exchange(asked, m, range);
}

} // namespace keel::residency::detail
