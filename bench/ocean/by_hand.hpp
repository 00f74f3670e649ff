// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What plain.cpp does by hand where ocean.cpp has keel: ranks, the division of the grid, and the
/// exchange of ghosts through buffers placed by hand. Kokkos and MPI alone; without MPI one rank.

#include "kernels.hpp"
#include "options.hpp"
#include "state.hpp"

#if defined(KEEL_WITH_MPI) && KEEL_WITH_MPI
#include <mpi.h>
#endif

#include <array>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

namespace ocean::by_hand {

#if defined(KEEL_WITH_MPI) && KEEL_WITH_MPI

/// MPI from here to the end of the scope.
class world {
public:
  world(int& argc, char**& argv) {
    int level = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  world(world const&) = delete;
  world& operator=(world const&) = delete;
  ~world() { MPI_Finalize(); }

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }

  /// The largest `x` of all ranks. Waits for all.
  [[nodiscard]] double largest(double x) const {
    MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return x;
  }
  /// The parts of all ranks one after another on rank 0, nothing elsewhere.
  template <class T>
  [[nodiscard]] std::vector<T> gather(std::vector<T> const& part) const {
    int const bytes = int(part.size() * sizeof(T));
    std::vector<int> counts(std::size_t(size_), 0), starts(std::size_t(size_), 0);
    MPI_Gather(&bytes, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
    std::size_t total = 0;
    for (std::size_t n = 0; n < counts.size(); total += std::size_t(counts[n++])) starts[n] = int(total);
    std::vector<T> whole(rank_ == 0 ? total / sizeof(T) : 0);
    MPI_Gatherv(part.data(), bytes, MPI_BYTE, whole.data(), counts.data(), starts.data(), MPI_BYTE, 0, MPI_COMM_WORLD);
    return whole;
  }
  /// Sends to one neighbour while receiving from the other; -1 is none.
  void shift(double const* out, int to, double* in, int from, std::size_t doubles) const {
    auto const rank_or_null = [](int rank) { return rank < 0 ? MPI_PROC_NULL : rank; };
    MPI_Sendrecv(out, int(doubles), MPI_DOUBLE, rank_or_null(to), 0, in, int(doubles), MPI_DOUBLE, rank_or_null(from),
                 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }

private:
  int rank_ = 0, size_ = 1;
};

#else

class world {
public:
  world(int&, char**&) {}
  [[nodiscard]] int rank() const { return 0; }
  [[nodiscard]] int size() const { return 1; }
  [[nodiscard]] double largest(double x) const { return x; }
  template <class T>
  [[nodiscard]] std::vector<T> gather(std::vector<T> const& part) const {
    return part;
  }
  void shift(double const* out, int to, double* in, int, std::size_t doubles) const {
    if (to >= 0) std::memcpy(in, out, doubles * sizeof(double));
  }
};

#endif

/// This rank's part of the grid and its neighbours, -1 where there is none.
struct division {
  place here;
  int west, east, south, north;

  /// The division of the grid with the least ghosts to exchange, as keel does it;
  /// refuses more ranks than cells.
  division(world const& w, long nx, long ny, bool closed_in_y) {
    int columns = 0; // ranks in x
    long least = 0;
    for (int c = w.size(); c >= 1; --c) {
      int const r = w.size() / c;
      if (c * r != w.size() || c > nx || r > ny) continue;
      long const across_x = c > 1 ? 2 * ((ny + r - 1) / r) : 0;
      long const across_y = r > 1 ? (closed_in_y && r == 2 ? 1 : 2) * ((nx + c - 1) / c) : 0;
      if (columns == 0 || across_x + across_y < least) columns = c, least = across_x + across_y;
    }
    if (columns == 0)
      throw bench::refusal("ocean",
                           "the grid " + std::to_string(nx) + "x" + std::to_string(ny) + " cannot be cut for " +
                               std::to_string(w.size()) + " ranks",
                           "each rank needs a cell in each direction", "Take fewer ranks or a larger --grid");
    int const rows = w.size() / columns, c = w.rank() / rows, r = w.rank() % rows;
    auto const begin = [](long n, long parts, long part) { return int(n / parts * part + std::min(part, n % parts)); };
    here = {begin(nx, columns, c), begin(ny, rows, r), 0, 0};
    here.ni = begin(nx, columns, c + 1) - here.i;
    here.nj = begin(ny, rows, r + 1) - here.j;
    west = (c + columns - 1) % columns * rows + r;
    east = (c + 1) % columns * rows + r;
    south = closed_in_y && r == 0 ? -1 : c * rows + (r + rows - 1) % rows;
    north = closed_in_y && r + 1 == rows ? -1 : c * rows + (r + 1) % rows;
  }

  [[nodiscard]] part bounds() const { return {1, here.ni + 1, 1, here.nj + 1, south < 0, north < 0}; }
};

/// A block of columns of a view.
struct strip {
  int i, j, ni, nj;
};

/// Copies a strip of a field, given as a view of rank 3, into or out of a buffer, in the order in
/// which the field lies: a number with each call.
template <class View, class Buffer>
struct transfer {
  View field;
  Buffer buffer;
  strip s;
  int depth;
  std::size_t start;
  bool into_buffer;

  [[nodiscard]] int count() const { return s.ni * s.nj * depth; }

  KOKKOS_INLINE_FUNCTION void operator()(int n) const {
    auto& in_field = field(s.i + n % s.ni, s.j + n / s.ni % s.nj, n / (s.ni * s.nj));
    auto& in_buffer = buffer(start + std::size_t(n));
    if (into_buffer) in_buffer = in_field;
    else in_field = in_buffer;
  }
};

/// Copies the rims of all fields to the ghosts on the other side, where a rank is its own neighbour.
template <class View>
struct around {
  View eta, u, v;
  strip low_rim, high_rim, low_ghost, high_ghost;

  [[nodiscard]] int count() const { return 2 * low_rim.ni * low_rim.nj * (2 * int(u.extent(2)) + 1); }

  KOKKOS_INLINE_FUNCTION void operator()(int n) const {
    int const ni = low_rim.ni, cells = ni * low_rim.nj, layers = int(u.extent(2));
    int const i = n % ni, j = n % cells / ni, layer = n / cells / 2 - 1;
    strip const& from = n / cells % 2 == 0 ? high_rim : low_rim;
    strip const& to = n / cells % 2 == 0 ? low_ghost : high_ghost;
    View const& field = layer < 0 ? eta : layer < layers ? u : v;
    int const k = layer < 0 ? 0 : layer % layers;
    field(to.i + i, to.j + j, k) = field(from.i + i, from.j + j, k);
  }
};

#ifdef KOKKOS_HAS_SHARED_HOST_PINNED_SPACE
using message_space = Kokkos::SharedHostPinnedSpace;
#else
using message_space = Kokkos::HostSpace;
#endif

/// Fills the ghosts of eta, u and v: first in x, then in y over the ghosts in x, so that the
/// corners come along. One message a neighbour; on a device the rims travel through pinned buffers. What a
/// rank has on both sides stays where it is.
template <class Space>
class ghosts {
  using memory = typename Space::memory_space;
  using buffer = Kokkos::View<double*, memory>;
  using message =
      std::conditional_t<std::is_same_v<memory, Kokkos::HostSpace>, buffer, Kokkos::View<double*, message_space>>;
  using cube = Kokkos::View<double***, layout, memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

public:
  ghosts(world const& w, division const& d, Space const& space, int layers)
      : world_(w), division_(d), space_(space),
        longest_(std::size_t(std::max(d.here.ni, d.here.nj) + 2) * (2 * std::size_t(layers) + 1)) {
    for (int n = 0; n < 4; ++n) {
      device_[n] = buffer(Kokkos::view_alloc("ghosts", Kokkos::WithoutInitializing), longest_);
      if constexpr (std::is_same_v<message, buffer>) host_[n] = device_[n];
      else host_[n] = message(Kokkos::view_alloc("messages", Kokkos::WithoutInitializing), longest_);
    }
  }

  template <class Field, class Layered>
  void fill(Field const& eta, Layered const& u, Layered const& v) {
    place const& p = division_.here;
    std::array<cube, 3> const fields{cube(eta.data(), eta.extent(0), eta.extent(1), 1),
                                     cube(u.data(), u.extent(0), u.extent(1), u.extent(2)),
                                     cube(v.data(), v.extent(0), v.extent(1), v.extent(2))};
    both_ways(fields, division_.west, division_.east, {1, 1, 1, p.nj}, {p.ni, 1, 1, p.nj}, {0, 1, 1, p.nj},
              {p.ni + 1, 1, 1, p.nj});
    both_ways(fields, division_.south, division_.north, {0, 1, p.ni + 2, 1}, {0, p.nj, p.ni + 2, 1},
              {0, 0, p.ni + 2, 1}, {0, p.nj + 1, p.ni + 2, 1});
  }

private:
  enum side { low_out, high_out, low_in, high_in };

  void both_ways(std::array<cube, 3> const& fields, int low, int high, strip low_rim, strip high_rim, strip low_ghost,
                 strip high_ghost) {
    if (low == world_.rank() && high == low) {
      around<cube> const work{fields[0], fields[1], fields[2], low_rim, high_rim, low_ghost, high_ghost};
      Kokkos::parallel_for("around", Kokkos::RangePolicy<Space, Kokkos::IndexType<int>>(space_, 0, work.count()), work);
      return;
    }
    std::size_t doubles = 0;
    auto const bring = [&](auto const& to, auto const& from, side s) {
      auto const used = std::pair<std::size_t, std::size_t>(0, doubles);
      Kokkos::deep_copy(space_, Kokkos::subview(to[s], used), Kokkos::subview(from[s], used));
    };
    if (low >= 0) {
      doubles = copy(fields, low_rim, low_out, true);
      bring(host_, device_, low_out);
    }
    if (high >= 0) {
      doubles = copy(fields, high_rim, high_out, true);
      bring(host_, device_, high_out);
    }
    space_.fence();
    world_.shift(host_[low_out].data(), low, host_[high_in].data(), high, doubles);
    world_.shift(host_[high_out].data(), high, host_[low_in].data(), low, doubles);
    if (low >= 0) {
      bring(device_, host_, low_in);
      copy(fields, low_ghost, low_in, false);
    }
    if (high >= 0) {
      bring(device_, host_, high_in);
      copy(fields, high_ghost, high_in, false);
    }
  }

  std::size_t copy(std::array<cube, 3> const& fields, strip s, side which, bool into_buffer) {
    std::size_t start = 0;
    for (cube const& field : fields) {
      transfer<cube, buffer> const work{field, device_[which], s, int(field.extent(2)), start, into_buffer};
      Kokkos::parallel_for("ghosts", Kokkos::RangePolicy<Space, Kokkos::IndexType<int>>(space_, 0, work.count()), work);
      start += std::size_t(s.ni) * std::size_t(s.nj) * field.extent(2);
    }
    return start;
  }

  world const& world_;
  division const& division_;
  Space space_;
  std::size_t longest_;
  buffer device_[4];
  message host_[4];
};

} // namespace ocean::by_hand
