// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What every model of `Ranks` must keep, said over its world. Collective where the model is.

#include <keel/machine/environment.hpp>

#include <doctest/doctest.h>

#include <utility>

namespace keel::laws {

/// Rank, size and master hang together.
template <machine::Ranks R>
void place_is_sound(machine::basic_environment<R> const& e) {
  CHECK(e.is_member() == (e.comm() != R::null()));
  if (!e.is_member()) {
    CHECK(e.rank() == -1);
    CHECK(e.size() == 0);
    CHECK(e.master_rank() == -1);
    CHECK_FALSE(e.is_master());
    return;
  }
  CHECK(e.rank() >= 0);
  CHECK(e.rank() < e.size());
  CHECK(e.is_master() == (e.rank() == e.master_rank()));
  CHECK(R::rank(e.communicator()) == e.rank());
  CHECK(R::size(e.communicator()) == e.size());
}

/// A subset has the selected ranks, in the order of the selection, and is as a whole the same from a handle.
template <machine::Ranks R, machine::Selection S>
void subset_is_sound(machine::basic_environment<R> const& parent, S const& selection) {
  machine::basic_environment<R> const subset{parent, selection};
  machine::basic_environment<R> const from_handle{parent.comm(), selection};
  place_is_sound(subset);
  place_is_sound(from_handle);
  CHECK(subset.rank() == selection.find(parent.rank()));
  CHECK(from_handle.rank() == subset.rank());
  if (subset.is_member()) CHECK(subset.size() == selection.count());
}

template <machine::Ranks R>
void ranks_are_sound() {
  using environment = machine::basic_environment<R>;
  environment world;
  int const n = world.size();
  place_is_sound(world);
  CHECK(world.is_member());
  CHECK(typename R::communicator{}.get() == R::null());

  subset_is_sound(world, machine::first{1});
  subset_is_sound(world, machine::first{n});
  subset_is_sound(world, machine::strided{(n + 1) / 2, 0, 2});
  subset_is_sound(world, machine::strided{n, n - 1, -1});
  subset_is_sound(world, machine::chosen{n - 1});
  CHECK_THROWS_AS((environment{world, machine::first{n + 1}}), error);
  CHECK_THROWS_AS((environment{world, machine::chosen{0, 0}}), error);
  CHECK_THROWS_AS((environment{world, machine::first{1}, machine::master{1}}), error);

  for (int master = -1; master <= n; master += n / 2 + 1) {
    bool const can = master >= 0 && master < n;
    CHECK(world.set_master(master) == can);
    if (can) CHECK(world.master_rank() == master);
    place_is_sound(world);
  }

  environment const coupled{world.comm(), machine::master{n - 1}};
  place_is_sound(coupled);
  CHECK(coupled.rank() == world.rank());
  CHECK(coupled.master_rank() == n - 1);
  place_is_sound(environment{R::null()});

  auto const node = world.node();
  auto leaders = world.leaders(node);
  place_is_sound(node);
  place_is_sound(leaders);
  CHECK(node.size() >= 1);
  CHECK(node.size() <= n);
  CHECK(leaders.is_member() == (node.rank() == 0));
  CHECK(leaders.set_master(0)); // how many there are is known on every rank
  CHECK_FALSE(leaders.set_master(n - node.size() + 1));

  environment moved{std::move(world)};
  place_is_sound(moved);
  place_is_sound(world);
  CHECK(moved.size() == n);
  world = std::move(moved);
  place_is_sound(moved);
  CHECK(world.size() == n);
}

} // namespace keel::laws
