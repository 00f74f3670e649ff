// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How fields have ghosts filled.

#include <keel/impl/residency/fields_base.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace keel::residency::detail {

// Where the component's rims are packed.
template <class App>
packing& fields_base<App>::packing_for(int which, memory m) {
  packing& here = halo_channels_[std::size_t(which)]->packings[std::size_t(m)];
  if (m != host) here.connect(provider_.lane_of(m), sends_by_way_of_host_);
  return here;
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
  return {exchanged_.data(), exchanged_.size()};
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
    halo_channels_[std::size_t(c)]->ghosts.start(arrays_of(asked, c, m), packing_for(c, m));
  });
}

// What came is put in its place. The ghosts go on to other memories where and when a routine reads them.
template <class App>
void fields_base<App>::finish_exchange(std::span<request const> asked, memory m, component_range range) {
  for_each_component(asked, range, [&](int c) {
    auto& ghosts = halo_channels_[std::size_t(c)]->ghosts;
    ghosts.finish(arrays_of(asked, c, m), packing_for(c, m));
    for (request const& r : asked) {
      std::uint64_t const bytes = ghosts.bytes_sent(provider_.shape_of(r.variable, c));
      ledger_.traffic().add_bytes(r.variable, way::to_neighbours, region::rim, {0, bytes, 0});
      if constexpr (tracking::observer::is_told) ledger_.observer().exchange(r.variable, r.level, c, bytes);
    }
  });
}

} // namespace keel::residency::detail
