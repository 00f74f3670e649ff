// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The atoms at the start: a lattice, and velocities that depend on where an atom is, and not on the ranks.

#include "box.hpp"

#include <keel/machine/reductions.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

namespace particles {

struct atom {
  std::int64_t id;
  point at, velocity;
};

/// Three numbers from -0.5 to 0.5, as by "loop geom" of LAMMPS: the bytes of a position are hashed (B. Jenkins, one at
/// a time), which gives the seed of a generator (S. Park and K. Miller, 1988), whose first five numbers are left out.
inline point random_of(point const& at) {
  std::uint32_t hash = 0;
  auto const add = [&](auto const& x) {
    signed char bytes[sizeof x];
    std::memcpy(bytes, &x, sizeof x);
    for (signed char const byte : bytes) {
      hash += std::uint32_t(std::int32_t{byte});
      hash += hash << 10;
      hash ^= hash >> 6;
    }
  };
  add(velocity_seed);
  add(at);
  hash += hash << 3;
  hash ^= hash >> 11;
  hash += hash << 15;
  std::uint64_t seed = hash & 0x7ffffff;
  if (seed == 0) seed = 1;
  constexpr std::uint64_t modulus = 2147483647; // 2^31 - 1
  auto const next = [&] { return double(seed = 16807 * seed % modulus); };
  for (int i = 0; i < 5; ++i) next();
  point p;
  for (double& x : p) x = 1.0 / modulus * next() - 0.5;
  return p;
}

/// The atoms that begin in the brick of this rank of `env`, without momentum of all, and of the temperature that is
/// wanted. Bits do not depend on the ranks.
template <class Environment>
std::vector<atom> atoms_at_start(Environment const& env, box const& b) {
  constexpr double sites[4][3] = {{0, 0, 0}, {0.5, 0.5, 0}, {0.5, 0, 0.5}, {0, 0.5, 0.5}};
  int begin[3], end[3];
  for (int d = 0; d < 3; ++d) {
    begin[d] = std::max(0, int(b.edge(env.rank(), d) / b.cell) - 1);
    end[d] = std::min(b.cells, int(b.edge(env.rank(), d, 1) / b.cell) + 2);
  }
  std::vector<atom> all;
  std::array<keel::machine::exact_sum, 3> sums;
  for (int z = begin[2]; z < end[2]; ++z)
    for (int y = begin[1]; y < end[1]; ++y)
      for (int x = begin[0]; x < end[0]; ++x)
        for (int k = 0; k < 4; ++k) {
          point const at{b.cell * (x + sites[k][0]), b.cell * (y + sites[k][1]), b.cell * (z + sites[k][2])};
          if (b.owner(at[0], at[1], at[2]) != env.rank()) continue;
          point v = random_of(at);
          for (std::size_t d = 0; d < 3; ++d) sums[d] += v[d] /= std::sqrt(mass);
          all.push_back({4 * ((std::int64_t{z} * b.cells + y) * b.cells + x) + k, at, v});
        }
  sums = keel::machine::sum(env, sums);
  point const mean{sums[0].value() / double(b.atoms()), sums[1].value() / double(b.atoms()),
                   sums[2].value() / double(b.atoms())};
  keel::machine::exact_sum squares;
  for (atom& a : all)
    for (std::size_t d = 0; d < 3; ++d) {
      a.velocity[d] -= mean[d];
      squares += a.velocity[d] * a.velocity[d];
    }
  double const is = mass * keel::machine::sum(env, squares).value() / (3 * double(b.atoms()) - 3);
  for (atom& a : all)
    for (double& v : a.velocity) v *= std::sqrt(temperature / is);
  return all;
}

} // namespace particles
