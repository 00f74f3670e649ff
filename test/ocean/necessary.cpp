// SPDX-License-Identifier: MIT
#include <ocean/necessary.hpp>

#include <support/test.hpp>

TEST_CASE("ocean: the necessary bytes are those counted by hand") {
  // 6 x 5 owned cells, one layer, so three alike variables; all round a neighbour
  double const owned = 8 * 6 * 5;
  ocean::workload w{{0, 0, 6, 5}, false, false, 1, 1, 0, false};
  CHECK(ocean::necessary_bytes(w) == 3 * (owned + owned)); // both old levels up; ghosts are filled there
  w.steps = 2;
  CHECK(ocean::necessary_bytes(w) == 3 * (owned + owned));
  w.output = true;
  CHECK(ocean::necessary_bytes(w) == 3 * (owned + owned) + owned);
  w.output_every = 1;
  CHECK(ocean::necessary_bytes(w) == 3 * (owned + owned) + 2 * owned);
}

TEST_CASE("ocean: layers count") {
  double const owned = 8 * 6 * 5;
  ocean::workload const w{{0, 0, 6, 5}, true, true, 3, 1, 0, false};
  CHECK(ocean::necessary_bytes(w) == (1 + 3 + 3) * (owned + owned));
}

TEST_CASE("ocean: the necessary bytes of a long run are not guessed") {
  for (long every : {0, 1, 7})
    for (long steps : {1, 5, 28, 29, 30, 97, 98, 200}) {
      ocean::workload const w{{0, 0, 6, 5}, false, true, 2, steps, every, true};
      CHECK(ocean::necessary_bytes(w) == double(ocean::detail::necessary_bytes_of(w)));
    }
}
