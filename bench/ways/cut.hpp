// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The case as lists: which elements of a rank are its own, and whose copies the others are. An array has some doubles
/// for each element.

#include <mpi.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace bench {

struct ghost {
  int at;    ///< local index
  int rank;  ///< of the owner
  int there; ///< local index on that rank
};

struct cut {
  int elements; ///< of this rank, ghosts included
  int doubles;  ///< of an element
  std::vector<int> own;
  std::vector<ghost> ghosts;

  [[nodiscard]] std::size_t size() const { return std::size_t(elements) * std::size_t(doubles); }
};

/// One way to fill the ghosts of an array of its own.
struct way {
  std::string name;
  std::function<void()> exchange;
  std::function<std::vector<double>()> array; ///< as it is now; empty if it lies otherwise
};

inline int my_rank() {
  int me = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  return me;
}
inline int all_ranks() {
  int n = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  return n;
}

/// Another number in each owned double, 0 in the ghosts.
inline std::vector<double> initial_of(cut const& c) {
  std::vector<double> all(c.size());
  for (int const i : c.own)
    for (int n = 0; n < c.doubles; ++n) {
      std::size_t const at = std::size_t(i) * std::size_t(c.doubles) + std::size_t(n);
      all[at] = double(at + 1) + double(c.size() + 1) * my_rank();
    }
  return all;
}

} // namespace bench
