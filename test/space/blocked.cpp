// SPDX-License-Identifier: MIT
#include <keel/space/blocked.hpp>

#include <keel/space/simulated.hpp>
#include <keel/space/tbb.hpp>

#include <support/test.hpp>
#include <laws/execution_space.hpp>

namespace {

/// Each team adds its number to the entries of one row.
template <class Space>
struct rows {
  Kokkos::View<double**, Kokkos::LayoutRight, Space> v;

  struct body {
    double* row;
    double number;
    template <class Block>
    KOKKOS_FUNCTION void operator()(Block const& b) const {
      b.store(row, b.load(row) + number);
    }
  };
  template <class Team>
  KOKKOS_FUNCTION void operator()(Team const& team) const {
    int const i = team.league_rank();
    keel::block::for_each_block<8, keel::block::tail::masked>(team, 0, int(v.extent(1)), body{&v(i, 0), double(i + 1)});
  }
};

/// Twice the field of three indices, plus that of two.
template <class Deep, class Flat>
struct on_columns {
  Deep deep;
  Flat flat;
  template <class Block>
  KOKKOS_FUNCTION void operator()(Block const& b) const {
    auto const below = b.load(flat);
    for (std::size_t k = 0; k < deep.extent(2); ++k) b.store(deep, 2.0 * b.load(deep, k) + below, k);
  }
};

template <class Space, class Layout, std::size_t Length>
void check_columns() {
  using deep = Kokkos::View<double***, Layout, Space>;
  using flat = Kokkos::View<double**, Layout, Space>;
  deep const d("d", 5, 19, 3);
  flat const f("f", 5, 19);
  auto const on_host = Kokkos::create_mirror_view(d);
  auto const below = Kokkos::create_mirror_view(f);
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 19; ++j) {
      below(i, j) = 0.5 * i + j;
      for (int k = 0; k < 3; ++k) on_host(i, j, k) = i * 100 + j + 0.25 * k;
    }
  Kokkos::deep_copy(d, on_host);
  Kokkos::deep_copy(f, below);
  keel::block::for_each_block<Length, keel::block::tail::masked>(
      "columns", Space(), keel::block::columns_of(d, {1, 2}, {5, 19}), on_columns<deep, flat>{d, f});
  Space().fence();
  CHECK(keel::laws::holds(d, [](int i, int j, int k) {
    double const before = i * 100 + j + 0.25 * k;
    return i >= 1 && j >= 2 ? 2 * before + 0.5 * i + j : before;
  }));
}

template <class Space>
void check_rows() {
  Kokkos::View<double**, Kokkos::LayoutRight, Space> const v("v", 7, 29);
  Kokkos::parallel_for("rows", Kokkos::TeamPolicy<Space>(Space(), 7, Kokkos::AUTO), rows<Space>{v});
  Space().fence();
  CHECK(keel::laws::holds(v, [](int i, int) { return i + 1; }));
}

} // namespace

TEST_CASE("space: the threads of a team share the blocks") {
  check_rows<Kokkos::DefaultHostExecutionSpace>();
  check_rows<keel::space::simulated>();
}

TEST_CASE("space: blocks of columns run on a device in either layout") {
  check_columns<Kokkos::DefaultHostExecutionSpace, Kokkos::LayoutRight, 8>();
  check_columns<keel::space::simulated, Kokkos::LayoutRight, 1>();
  check_columns<keel::space::simulated, Kokkos::LayoutLeft, 4>();
  check_columns<keel::space::simulated, Kokkos::LayoutLeft, 1>();
}

TEST_CASE("space: the threads of a team that has memory are whole warps which fill 32 KiB") {
  using keel::space::detail::team_width;
  CHECK(team_width(0) == 256);
  CHECK(team_width(128) == 256);
  CHECK(team_width(129) == 128);
  CHECK(team_width(257) == 64);
  CHECK(team_width(512) == 64);
  CHECK(team_width(1024) == 32);
  CHECK(team_width(1025) == 0);
  static_assert(keel::space::detail::tile_width % 32 == 0); // rows of a tile, too
}

#if KEEL_WITH_TBB

namespace {

/// oneTBB in the place of a GPU: its views have the layout of one, and teams the width.
struct lanes : keel::space::tbb {
  using tbb::tbb;
  using execution_space = lanes;
  using device_type = Kokkos::Device<lanes, Kokkos::HostSpace>;
  using array_layout = Kokkos::LayoutLeft;
  using scratch_memory_space = Kokkos::ScratchMemorySpace<lanes>;
};

/// Writes what its thread is told, and that its memory is its own.
struct told {
  struct entry {
    int visits = 0;
    bool is_own = false;
    std::size_t stride = 0;
  };
  entry* of;
  std::size_t own;

  KOKKOS_FUNCTION void operator()(std::size_t i, keel::block::team_memory<double>& memory) const {
    for (std::size_t k = 0; k < own; ++k) memory[k] = double(i * own + k);
    entry& e = of[i];
    e = {.visits = e.visits + 1, .is_own = true, .stride = memory.stride};
    for (std::size_t k = 0; k < own; ++k) e.is_own = e.is_own && memory[k] == double(i * own + k);
  }
};

/// Whether all of `count` threads were told so.
bool run_told(lanes const& space, std::size_t count, std::size_t own, std::size_t stride) {
  std::vector<told::entry> found(count + 1);
  told const kernel{found.data(), own};
  if (!keel::block::launcher<lanes>::run_with_memory<double>(space, count, own, kernel)) return false;
  space.fence();
  int wrong = found[count].visits;
  for (std::size_t i = 0; i < count; ++i) {
    auto const& e = found[i];
    wrong += e.visits != 1 || !e.is_own || e.stride != stride;
  }
  CHECK(wrong == 0);
  return true;
}

} // namespace

TEST_CASE("space: columns with memory run in teams of whole warps, each thread with its own") {
  lanes const space(64);
  for (std::size_t count : {0, 1, 31, 32, 33, 64, 65, 95, 96, 130}) {
    CAPTURE(count);
    CHECK(run_told(space, count, 33, 64));
    CHECK(run_told(space, count, 65, 32));
  }
  CHECK(run_told(space, 70, 128, 32));
  CHECK_FALSE(run_told(space, 70, 129, 32));
}

TEST_CASE("space: rows side by side are visited once each, of one column and of one row too") {
  using extents = std::pair<std::size_t, std::size_t>;
  for (auto const& [count, rows] : std::vector<extents>{{0, 3}, {3, 0}, {1, 1}, {1, 9}, {33, 1}, {70, 17}}) {
    std::vector<int> visits(count * rows);
    auto const visit = [&, n = rows](std::size_t i, std::size_t row) { ++visits[i * n + row]; };
    keel::block::launcher<lanes>::run_rows(lanes(2), count, rows, visit);
    CHECK(visits == std::vector<int>(count * rows, 1));
  }
}

#else

TEST_CASE("space: columns with memory run in teams of whole warps") { keel::test::skip("no oneTBB"); }

#endif
