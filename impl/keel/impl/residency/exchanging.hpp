// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How fields have ghosts filled.

#include <keel/residency/fields.hpp>

#include <array>
#include <cstddef>

namespace keel::residency {

// Rims down in one batch, ghosts between hosts; they go up where and when a routine reads them.
template <class App, Variable... Vars>
template <class E, class P, std::size_t At>
void fields<App, Vars...>::exchange_ghosts(component_range range) {
  using duties = duties_of<E, host>;
  settle_host();
  detail::tool_region const during(tracking::tracks && book_.observer().listens(), "exchange", {});
  if constexpr (keeps_book) {
    book_.pre_sync(duties::asked.all(), range);
    if (!admit<E, host, P, At>(range)) admit_closely<E, host>(range);
  }
  std::array<detail::halo_array, duties::size> arrays;
  book_.observer().before_exchange();
  try {
    for (int c = range.begin; c < range.end; ++c) {
      for (std::size_t i = 0; i < duties::size; ++i) {
        request const& r = duties::asked.list[i];
        arrays[i] = {&provider_.shape_of(r.variable), provider_.array(r.variable, r.level, c, host)};
        book_.traffic().add_bytes(r.variable, way::to_neighbours, region::rim, halo_.bytes_sent(*arrays[i].lies));
      }
      halo_.start(arrays, packing_);
      halo_.finish(arrays, packing_);
      if constexpr (tracking::observer::is_told)
        for (std::size_t i = 0; i < duties::size; ++i)
          book_.observer().exchange(duties::asked.list[i].variable, duties::asked.list[i].level, c, halo_.bytes_sent(*arrays[i].lies));
    }
  } catch (...) {
    if constexpr (keeps_book) lose<E>(range);
    throw;
  }
}

} // namespace keel::residency
