// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How fields have ghosts filled.

#include <keel/impl/residency/fields_base.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>

namespace keel::residency::detail {

// Calls f with what exchanges and what packs in memory `m`, for the component.
template <class App>
template <class F>
void fields_base<App>::in_channel(int which, memory m, F&& f) {
  auto& channels = halo_channels_[std::size_t(which)];
  if (m == host) return f(channels.ghosts, channels.on_host);
  with_index<lanes::size>(std::size_t(m) - 1, [&]<std::size_t Lane>(std::integral_constant<std::size_t, Lane>) {
    auto& packing = std::get<Lane>(channels.on_devices);
    packing.connect(provider_.template queue<Lane>(), sends_by_way_of_host_);
    f(channels.ghosts, packing);
  });
}

// Calls f(component). Where it throws, what the exchange was to fill is lost.
template <class App>
template <class F>
void fields_base<App>::for_each_component(std::span<request const> asked, component_range range, F&& f) {
  try {
    for (int c = range.begin, end = range.of(components()).end; c < end; ++c) f(c);
  } catch (...) {
    if constexpr (keeps_ledger) lose(asked, range, "exchange");
    throw;
  }
}

template <class App>
std::span<halo_array const> fields_base<App>::arrays_of(std::span<request const> asked, int which, memory m) {
  exchanged_.clear();
  for (request const& r : asked)
    exchanged_.push_back({&provider_.shape_of(r.variable, which), provider_.array(r.variable, r.level, which, m)});
  return exchanged_;
}

// Rims come to memory `m` in one batch, and messages leave. The ghosts count as filled there from now on.
template <class App>
void fields_base<App>::begin_exchange(std::span<request const> asked, memory m, component_range range) {
  settle_host();
  if constexpr (keeps_ledger) {
    if (m == host) report_copies("exchange", [&] { ledger_.pre_sync(asked, range); });
    admit(asked, m, "exchange", range);
  }
  ledger_.observer().before_exchange();
  for_each_component(asked, range, [&](int c) {
    in_channel(c, m, [&](auto& ghosts, auto& packing) { ghosts.start(arrays_of(asked, c, m), packing); });
  });
}

// What came is put in its place. The ghosts go on to other memories where and when a routine reads them.
template <class App>
void fields_base<App>::finish_exchange(std::span<request const> asked, memory m, component_range range) {
  for_each_component(asked, range, [&](int c) {
    in_channel(c, m, [&](auto& ghosts, auto& packing) {
      ghosts.finish(arrays_of(asked, c, m), packing);
      for (request const& r : asked) {
        std::uint64_t const bytes = ghosts.bytes_sent(provider_.shape_of(r.variable, c));
        ledger_.traffic().add_bytes(r.variable, way::to_neighbours, region::rim, {0, bytes, 0});
        if constexpr (tracking::observer::is_told) ledger_.observer().exchange(r.variable, r.level, c, bytes);
      }
    });
  });
}

} // namespace keel::residency::detail
