// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The bytes that ocean has to copy between memories, whatever program it is: what its steps
/// read and write, told to the oracle. Includes no header of keel's, and knows no ledger.

#include "state.hpp"

#include <support/oracle.hpp>

#include <cstdint>

namespace ocean {

/// A rank's part, and what it runs.
struct workload {
  place cells;
  bool south_wall = false, north_wall = false;
  int layers = 1;
  long steps = 0;
  long output_every = 0; ///< 0: after the last step
  bool output = true;
};

namespace detail {

inline std::uint64_t necessary_bytes_of(workload const& w) {
  std::uint64_t const ni = std::uint64_t(w.cells.ni), nj = std::uint64_t(w.cells.nj), owned = ni * nj;
  std::uint64_t const rims_j = std::uint64_t(!w.south_wall) + std::uint64_t(!w.north_wall);
  std::uint64_t const core = ni > 2 && nj > rims_j ? (ni - 2) * (nj - rims_j) : 0;
  auto const variable = [&](int levels, int layers) {
    std::uint64_t const cell = sizeof(double) * std::uint64_t(layers);
    return oracle::variable{levels, {core * cell, (owned - core) * cell, ((ni + 2) * (nj + 2) - owned) * cell}};
  };
  enum { eta, u, v };
  oracle::program p({variable(3, 1), variable(3, w.layers), variable(3, w.layers)});

  constexpr int host = 0, device = 1;
  p.run(host, {{eta, 0, 0, oracle::owned},
               {u, 0, 0, oracle::owned},
               {v, 0, 0, oracle::owned},
               {eta, 1, 0, oracle::owned},
               {u, 1, 0, oracle::owned},
               {v, 1, 0, oracle::owned}});
  p.exchange({{eta, 0}, {u, 0}, {v, 0}}, device);
  for (long n = 1; n <= w.steps; ++n) {
    for (int x : {eta, u, v}) p.cycle(x);
    p.run(device, {{eta, 1, oracle::everywhere},
                   {u, 1, oracle::everywhere},
                   {v, 1, oracle::everywhere},
                   {eta, 2, oracle::owned},
                   {u, 2, oracle::owned},
                   {v, 2, oracle::owned},
                   {eta, 0, 0, oracle::owned},
                   {u, 0, 0, oracle::owned},
                   {v, 0, 0, oracle::owned}});
    p.exchange({{eta, 0}, {u, 0}, {v, 0}}, device);
    bool const is_due = n == w.steps || (w.output_every > 0 && n % w.output_every == 0);
    if (w.output && is_due) p.run(host, {{eta, 0, oracle::owned}});
  }
  oracle::bill const b = p.make_bill();
  return b.host_bytes() + b.device_bytes();
}

} // namespace detail

/// For a device with memory of its own; 0 is the answer for any other. The oracle keeps a record of every
/// write, so of a long run it is shown the first steps, and the rest repeats itself.
inline double necessary_bytes(workload w) {
  long const period = w.output_every > 0 ? w.output_every : 1;
  long const shown = 3 * period + w.steps % period;
  if (w.steps <= shown + period) return double(detail::necessary_bytes_of(w));
  long const left = (w.steps - shown) / period;
  w.steps = shown;
  auto const first = detail::necessary_bytes_of(w);
  w.steps = shown + period;
  return double(first) + double(left) * double(detail::necessary_bytes_of(w) - first);
}

} // namespace ocean
