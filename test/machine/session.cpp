// SPDX-License-Identifier: MIT
#include <keel/machine/session.hpp>

#include <support/test.hpp>

namespace km = keel::machine;
static_assert(!std::is_copy_constructible_v<km::session<km::mpi>> &&
              !std::is_move_constructible_v<km::session<km::mpi>>);

TEST_CASE("machine: a session uses the MPI that runs and does not end it") {
  {
    km::session<km::mpi> const outer;
    CHECK_FALSE(outer.owns());
    if constexpr (!std::same_as<km::mpi, km::alone>) CHECK(outer.level() >= km::thread_level::funneled);
  }
  CHECK(km::mpi::is_running());
}

TEST_CASE("machine: the registry is emptied by the outermost session") {
  km::session<km::mpi> const outer;
  km::environment const world;
  {
    km::session<km::mpi> const inner;
    km::environments().create("kept", world, km::first{1});
  }
  CHECK(km::environments().contains("kept"));
  {
    km::session<km::alone> const other;
    km::environments<km::alone>().create("solo", km::master{0});
    CHECK(km::environments<km::alone>().contains("solo"));
  }
  if constexpr (!std::same_as<km::mpi, km::alone>) CHECK_FALSE(km::environments<km::alone>().contains("solo"));
  km::environments().remove("kept");
}
