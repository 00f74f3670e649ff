/* SPDX-License-Identifier: MIT */
/* keel.h from C99: a ring of cells over the ranks, each call with a result that is known, and its errors. */
#include <keel/keel.h>

#if KEEL_WITH_MPI
#include <mpi.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { cells = 6 }; /* of each rank; a ghost on either side */

static int failed = 0;
static void check(int is_good, char const* what, int line) {
  if (is_good) return;
  printf("FAILED in line %d: %s (%s)\n", line, what, keel_message());
  failed = 1;
}
#define CHECK(x) check((x), #x, __LINE__)
#define GOOD(call) check((call) == KEEL_SUCCESS, #call, __LINE__)
/* A code, and words of the message. */
#define BAD(call, code, words) \
  check((call) == (code) && strstr(keel_message(), words) != NULL, #call " is to say " words, __LINE__)

static double value(int64_t id) { return (double)(id * 3 + 1); }

int main(int argc, char** argv) {
  int world = 0, rank = 0, size = 0, ring = 0, x = 0, plan = 0, open = 0, grid = 0, registry = 0, h = -1, q = -1;
  BAD(keel_world(&world), KEEL_NOT_RUNNING, "does not run");
  BAD(keel_set("no-such-knob", "1"), KEEL_REFUSED, "no knob");
  BAD(keel_set("num-threads", "two"), KEEL_REFUSED, "num-threads");
  GOOD(keel_set("device", "simulated"));
#if KEEL_WITH_MPI
  MPI_Init(&argc, &argv);
  GOOD(keel_start_on(&argc, &argv, MPI_Comm_c2f(MPI_COMM_WORLD)));
#else
  GOOD(keel_start(&argc, &argv));
#endif
  BAD(keel_set("device", "serial"), KEEL_NOT_RUNNING, "too late");
  BAD(keel_start(&argc, &argv), KEEL_NOT_RUNNING, "again");
  CHECK(strcmp(keel_device(), "simulated") == 0);
  GOOD(keel_world(&world));
  GOOD(keel_rank(world, &rank, &size));

#if KEEL_WITH_MPI
  /* Ranks of a communicator of the program's: its own turned round. */
  MPI_Comm turned;
  int others = 0, place = 0, many = 0;
  MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &turned);
  GOOD(keel_environment(MPI_Comm_c2f(turned), &others));
  GOOD(keel_rank(others, &place, &many));
  CHECK(place == size - 1 - rank && many == size);
  GOOD(keel_free(others));
  MPI_Comm_free(&turned);
#endif

  /* Ids of the ring, and the ghosts at both ends; of one rank they are copies of its own. */
  int64_t const n = (int64_t)cells * size, first = (int64_t)cells * rank;
  int64_t owned[cells], ids[cells + 2], count = 0, all = 0;
  int64_t const ghosts[2] = {(first + n - 1) % n, (first + cells) % n}, counts[1] = {2};
  for (int i = 0; i < cells; ++i) owned[i] = first + i;
  GOOD(keel_partition(world, "cells", cells, owned, 1, counts, ghosts, &ring));
  GOOD(keel_partition_size(ring, &count, &all));
  CHECK(count == cells && all == cells + 2);
  GOOD(keel_partition_ids(ring, ids));
  CHECK(ids[0] == first && ids[cells + 1] == ghosts[1]);

  /* Both ghosts once more, as images of their cells. */
  int seen = 0, exchange_seen = 0, seen_plan = 0;
  int64_t const twice[4] = {ghosts[0], ghosts[1], ghosts[1], ghosts[0]}, two_layers[2] = {2, 2};
  BAD(keel_partition(world, "seen", cells, owned, 2, two_layers, twice, &seen), KEEL_REFUSED, "twice");
  GOOD(keel_partition_with_images(world, "seen", cells, owned, 2, two_layers, twice, &seen));
  GOOD(keel_exchanger(world, 0, 1, &seen, &exchange_seen));
  double images[cells + 4] = {0};
  for (int i = 0; i < cells; ++i) images[i] = (double)owned[i];
  keel_array on_seen = {.data = images, .mesh = "seen", .type = KEEL_DOUBLE, .rank = 1, .extents = {cells + 4}};
  GOOD(keel_plan(exchange_seen, 1, &on_seen, &seen_plan));
  GOOD(keel_exchange(seen_plan, 1, &on_seen));
  for (int i = 0; i < 4; ++i) CHECK(images[cells + i] == (double)twice[i]);

  /* Arrays: one of doubles, one (level, cell) of 32 bits, whose second index counts cells. */
  double t[cells + 2] = {0}, other[cells + 2] = {0};
  int32_t s[2][cells + 2] = {{0}};
  keel_array const on_cells = {.data = t, .mesh = "cells", .type = KEEL_DOUBLE, .rank = 1, .extents = {cells + 2}};
  keel_array arrays[2] = {on_cells,
                          {.data = s,
                           .mesh = "cells",
                           .type = KEEL_INT32,
                           .rank = 2,
                           .indexed = 1,
                           .index = {1},
                           .extents = {2, cells + 2}}};
  GOOD(keel_exchanger(world, 0, 1, &ring, &x));
  GOOD(keel_plan(x, 2, arrays, &plan));
  for (int i = 0; i < cells; ++i) t[i] = value(first + i), s[0][i] = (int32_t)(first + i), s[1][i] = -s[0][i];
  GOOD(keel_exchange(plan, 2, arrays));
  for (int i = 0; i < cells + 2; ++i) CHECK(t[i] == value(ids[i]) && s[0][i] == ids[i] && s[1][i] == -ids[i]);

  /* Another array of the layout, named by its address only; begun and finished. */
  for (int i = 0; i < cells; ++i) other[i] = 2 * value(first + i);
  arrays[0] = (keel_array){.data = other};
  GOOD(keel_begin(plan, 2, arrays, &open));
  BAD(keel_exchange(plan, 2, arrays), KEEL_REFUSED, "has begun");
  GOOD(keel_finish(open));
  BAD(keel_finish(open), KEEL_BAD_HANDLE, "freed");
  CHECK(other[cells] == 2 * value(ids[cells]) && other[cells + 1] == 2 * value(ids[cells + 1]));
  for (int i = 0; i < cells + 2; ++i) other[i] = i < cells ? 1 : 10;
  GOOD(keel_accumulate(plan, 2, arrays));
  CHECK(other[0] == 11 && other[cells - 1] == 11 && other[1] == 1);

  /* Errors, on every rank. */
  keel_array wrong = on_cells;
  wrong.extents[0] = cells + 2 - (rank == size - 1 ? 1 : 0);
  int none = 77;
  BAD(keel_plan(x, 1, &wrong, &none), KEEL_REFUSED, "array 1");
  wrong = on_cells, wrong.type = rank == 0 ? 99 : KEEL_DOUBLE;
  BAD(keel_plan(x, 1, &wrong, &none), KEEL_REFUSED, "type");
  wrong = on_cells, wrong.extents[0] = cells + 1;
  keel_array const short_ones[2] = {wrong, arrays[1]};
  BAD(keel_exchange(plan, 2, short_ones), KEEL_REFUSED, "another way than planned");
  BAD(keel_exchange(x, 2, arrays), KEEL_BAD_HANDLE, "it is an exchanger");
  BAD(keel_exchange(12345678, 2, arrays), KEEL_BAD_HANDLE, "no call gave it");
  BAD(keel_plan(x, 1, NULL, &none), KEEL_REFUSED, "null");
  int const rings[1] = {rank == size - 1 ? x : ring}; /* a wrong handle on one rank, which all refuse */
  CHECK(keel_exchanger(world, 0, 1, rings, &none) != KEEL_SUCCESS && strstr(keel_message(), "it is an exchanger"));
  CHECK(keel_registry(world, ring, 0, NULL, &none) == KEEL_BAD_HANDLE);
  CHECK(none == 77);

  /* A grid: one dimension, periodic. */
  int64_t const extents[1] = {n};
  int const width[1] = {1}, wraps[1] = {1};
  int64_t local = 0, begin = 0, end = 0, at = 0;
  int on_grid = 0, grid_plan = 0;
  BAD(keel_grid(5, extents, width, wraps, &grid), KEEL_REFUSED, "rank");
  GOOD(keel_grid(1, extents, width, wraps, &grid));
  GOOD(keel_share(grid, world, &local, &begin, &end, &at));
  CHECK(local == cells + 2 && begin == 1 && end == cells + 1 && at == first);
  GOOD(keel_exchanger(world, grid, 0, NULL, &on_grid));
  keel_array const line = {.data = other, .type = KEEL_DOUBLE, .rank = 1, .extents = {cells + 2}};
  GOOD(keel_plan(on_grid, 1, &line, &grid_plan));
  for (int i = 0; i < cells; ++i) other[i + 1] = value(first + i);
  GOOD(keel_exchange(grid_plan, 1, &line));
  CHECK(other[0] == value(ghosts[0]) && other[cells + 1] == value(ghosts[1]));

  /* Cut elsewhere: all ranks but the last have one cell. */
  int cut = 0, on_cut = 0, cut_plan = 0;
  int64_t positions[64] = {0};
  for (int r = 1; r <= size; ++r) positions[r] = r < size ? r : n;
  BAD(keel_cut_grid(grid, (int const[]){-1}, positions, &cut), KEEL_REFUSED, "negative length");
  GOOD(keel_cut_grid(grid, (int const[]){size + 1}, positions, &cut));
  GOOD(keel_share(cut, world, &local, &begin, &end, &at));
  CHECK(at == rank && end - begin == (rank < size - 1 ? 1 : n - rank) && local == end + 1);
  GOOD(keel_exchanger(world, cut, 0, NULL, &on_cut));
  double cut_line[64] = {0};
  CHECK(n < 62);
  keel_array const along = {.data = cut_line, .type = KEEL_DOUBLE, .rank = 1, .extents = {local}};
  GOOD(keel_plan(on_cut, 1, &along, &cut_plan));
  for (int64_t i = begin; i < end; ++i) cut_line[i] = value(at + i - begin);
  GOOD(keel_exchange(cut_plan, 1, &along));
  CHECK(cut_line[0] == value((at + n - 1) % n) && cut_line[end] == value((at + end - begin) % n));

  /* A folded one, of a component of a vector: beyond its last row lies that row, mirrored, with the other sign. */
  int flat = 0, folded = 0, on_folded = 0, folded_plan = 0;
  int64_t const columns = 8, rows = 3 * size;
  int64_t share[2] = {0}, low[2] = {0}, high[2] = {0}, origin[2] = {0};
  GOOD(keel_grid(2, (int64_t const[]){columns, rows}, (int const[]){1, 1}, (int const[]){1, 0}, &flat));
  BAD(keel_fold_grid(flat, 0, 1, 15, &folded), KEEL_REFUSED, "has no end to be folded");
  GOOD(keel_fold_grid(flat, 1, 0, 15, &folded));
  GOOD(keel_share(folded, world, share, low, high, origin));
  GOOD(keel_exchanger(world, folded, 0, NULL, &on_folded));
  double* const plane = calloc((size_t)(share[0] * share[1]), sizeof *plane);
  keel_array const over = {
      .data = plane, .type = KEEL_DOUBLE, .rank = 2, .longer = KEEL_OTHER_SIGN, .extents = {share[0], share[1]}};
  GOOD(keel_plan(on_folded, 1, &over, &folded_plan));
  for (int64_t i = low[0]; i < high[0]; ++i)
    for (int64_t j = low[1]; j < high[1]; ++j)
      plane[i * share[1] + j] = (double)(100 * (origin[1] + j - low[1]) + origin[0] + i - low[0]);
  GOOD(keel_exchange(folded_plan, 1, &over));
  for (int64_t i = low[0]; i < high[0] && origin[1] + high[1] - low[1] == rows; ++i)
    CHECK(plane[i * share[1] + high[1]] == -(double)(100 * (rows - 1) + columns - 1 - (origin[0] + i - low[0])));
  free(plane);

  double sum = 0, parts[2] = {1e100, 1};
  if (rank % 2 == 1) parts[0] = -1e100;
  GOOD(keel_ordered_sum(world, 2, parts, &sum));
  if (size % 2 == 0) CHECK(sum == size);

  /* A registry: an adopted array is valid where it was written, and its ghosts once they were exchanged. */
  int valid = -1, there = 0;
  GOOD(keel_registry(world, 0, 1, &ring, &registry));
  GOOD(keel_adopt(registry, "h", &on_cells, NULL, &h));
  BAD(keel_adopt(registry, "h", &short_ones[1], NULL, &none), KEEL_REFUSED, "two variables 'h'");
  BAD(keel_require_valid_data(registry, KEEL_DEVICE, 1, &h), KEEL_REFUSED, "h");
  BAD(keel_is_valid(registry, KEEL_HOST, 9, &valid), KEEL_REFUSED, "no variable 9");
  BAD(keel_is_valid(registry, KEEL_HOST, h + KEEL_PAST, &valid), KEEL_REFUSED, "no level 1");
  wrong = on_cells, wrong.data = other, wrong.extents[0] = rank == size - 1 ? cells : cells + 2;
  BAD(keel_adopt(registry, "short", &wrong, NULL, &none), KEEL_REFUSED, "'short'");
  for (int i = 0; i < cells + 2; ++i) t[i] = i < cells ? value(first + i) : -1;
  int const h_owned = h + KEEL_OWNED; /* its owned elements, written on the host */
  GOOD(keel_notify_data_modified(registry, KEEL_HOST, 1, &h_owned));
  GOOD(keel_exchange_variables(registry, 1, &h));
  GOOD(keel_require_valid_data(registry, KEEL_DEVICE, 1, &h)); /* with its ghosts */
  CHECK(t[cells] == value(ghosts[0]) && t[cells + 1] == value(ghosts[1]));
  keel_array copy;
  GOOD(keel_describe(registry, h, KEEL_DEVICE, &copy));
  CHECK(copy.rank == 1 && copy.extents[0] == cells + 2 && ((double*)copy.data)[cells] == value(ghosts[0]));
  GOOD(keel_is_valid(registry, KEEL_DEVICE, h, &valid));
  CHECK(valid == 1);
  BAD(keel_migrate(registry, "cells", 0, NULL), KEEL_REFUSED, "of the application");

  /* Interleaved sections of one allocation share no element: both travel at once, and both are adopted. */
  double wide[cells + 2][4] = {{0}};
  keel_array sides[2];
  int halves[2] = {0, 0}, opened[2] = {0, 0}, adopted[2] = {-1, -1};
  for (int side = 0; side < 2; ++side) {
    sides[side] = (keel_array){.data = &wide[0][2 * side], .mesh = "cells", .type = KEEL_DOUBLE, .rank = 2};
    sides[side].extents[0] = cells + 2, sides[side].extents[1] = 2, sides[side].strides[0] = 4,
    sides[side].strides[1] = 1;
    GOOD(keel_plan(x, 1, &sides[side], &halves[side]));
  }
  for (int i = 0; i < cells; ++i)
    for (int k = 0; k < 4; ++k) wide[i][k] = value(first + i) + k;
  for (int side = 0; side < 2; ++side) GOOD(keel_begin(halves[side], 1, &sides[side], &opened[side]));
  BAD(keel_exchange(halves[0], 1, &sides[0]), KEEL_REFUSED, "has begun");
  for (int side = 0; side < 2; ++side) GOOD(keel_finish(opened[side]));
  for (int k = 0; k < 4; ++k) CHECK(wide[cells][k] == value(ids[cells]) + k);
  wrong = sides[1], wrong.data = &wide[0][1];
  keel_array const shared[2] = {sides[0], wrong};
  BAD(keel_plan(x, 2, shared, &none), KEEL_REFUSED, "array 2 has elements of array 1");
  GOOD(keel_adopt(registry, "left", &sides[0], NULL, &adopted[0]));
  BAD(keel_adopt(registry, "middle", &wrong, NULL, &none), KEEL_REFUSED, "'middle' has elements of 'left'");
  GOOD(keel_adopt(registry, "right", &sides[1], NULL, &adopted[1]));
  GOOD(keel_notify_data_modified(registry, KEEL_HOST, 2, adopted));
  GOOD(keel_require_valid_data(registry, KEEL_DEVICE, 2, adopted));
  GOOD(keel_describe(registry, adopted[1], KEEL_DEVICE, &copy));
  CHECK(((double*)copy.data)[4] == value(first + 1) + 2);

  /* Elements of keel's own array go to the next rank, and their values with them. */
  int moving = 0, after = 0, to[cells];
  keel_array const like = {.mesh = "cells", .type = KEEL_DOUBLE, .rank = 2, .extents = {0, 2}};
  GOOD(keel_registry(world, 0, 1, &ring, &moving));
  GOOD(keel_add(moving, "q", 2, &like, &q));
  GOOD(keel_describe(moving, q, KEEL_HOST, &copy));
  CHECK(copy.extents[0] == cells + 2 && copy.extents[1] == 2 && copy.strides[0] == 2);
  for (int i = 0; i < cells; ++i) ((double*)copy.data)[2 * i] = value(first + i), to[i] = (rank + (i < 2)) % size;
  int const q_owned = q + KEEL_OWNED;
  GOOD(keel_notify_data_modified(moving, KEEL_HOST, 1, &q_owned));
  /* A use of a level: read on the device, no longer the current one, then overwritten by a use that is given up. */
  int use = 0;
  int const looks = q_owned + KEEL_READ, fills = q_owned + KEEL_WRITTEN, q_past = q_owned + KEEL_PAST;
  BAD(keel_begin_use(moving, NULL, KEEL_DEVICE, 1, &looks, &use), KEEL_REFUSED, "null");
  GOOD(keel_begin_use(moving, "looks", KEEL_DEVICE, 1, &looks, &use));
  BAD(keel_notify_data_modified(moving, KEEL_HOST, 1, &q_owned), KEEL_REFUSED, "'looks' uses");
  BAD(keel_cycle(moving, q), KEEL_REFUSED, "'looks' uses");
  GOOD(keel_finish_use(use));
  BAD(keel_finish_use(use), KEEL_BAD_HANDLE, "freed");
  GOOD(keel_cycle(moving, q));
  GOOD(keel_is_valid(moving, KEEL_DEVICE, q_past, &valid));
  CHECK(valid == 1);
  GOOD(keel_begin_use(moving, "fills", KEEL_HOST, 1, &fills, &use));
  GOOD(keel_is_valid(moving, KEEL_HOST, q_owned, &valid));
  CHECK(valid == 1);
  GOOD(keel_free(use));
  GOOD(keel_is_valid(moving, KEEL_HOST, q_owned, &valid));
  CHECK(valid == 0);
  GOOD(keel_migrate(moving, "cells", cells, to));
  GOOD(keel_partition_of(moving, "cells", &after));
  GOOD(keel_partition_size(after, &count, &all));
  CHECK(count == cells);
  GOOD(keel_partition_ids(after, ids));
  GOOD(keel_require_valid_data(moving, KEEL_HOST, 1, &q_past));
  GOOD(keel_describe(moving, q + KEEL_PAST, KEEL_HOST, &copy));
  for (int i = 0; i < cells; ++i) CHECK(((double*)copy.data)[2 * i] == value(ids[i]));

  void* bytes = NULL;
  GOOD(keel_allocate(64, &bytes, &there));
  CHECK(bytes != NULL);
  GOOD(keel_free(there));
  BAD(keel_free(there), KEEL_BAD_HANDLE, "freed");
  /* Lists and sizes of negative length: each function that takes one; collective ones on one rank. */
#define NEGATIVE(call) BAD(call, KEEL_REFUSED, "has a negative length")
  int const minus = rank == 0 ? -1 : 1;
  int64_t const layer[1] = {minus};
  NEGATIVE(keel_ordered_sum(world, minus, parts, &sum));
  NEGATIVE(keel_partition(world, "more", minus < 0 ? -1 : 0, owned, 0, NULL, NULL, &none));
  NEGATIVE(keel_partition(world, "more", 0, owned, minus, counts, ghosts, &none));
  NEGATIVE(keel_partition(world, "more", 0, owned, 1, layer, ghosts, &none));
  NEGATIVE(keel_exchanger(world, 0, minus, &ring, &none));
  NEGATIVE(keel_plan(x, minus, &on_cells, &none));
  NEGATIVE(keel_exchange(plan, -1, arrays));
  NEGATIVE(keel_accumulate(plan, -1, arrays));
  NEGATIVE(keel_begin(plan, -1, arrays, &none));
  NEGATIVE(keel_registry(world, 0, minus, &ring, &none));
  NEGATIVE(keel_require_valid_data(registry, KEEL_HOST, -1, &h));
  NEGATIVE(keel_notify_data_modified(registry, KEEL_HOST, -1, &h));
  NEGATIVE(keel_begin_use(registry, "none", KEEL_HOST, -1, &h, &none));
  NEGATIVE(keel_exchange_variables(registry, minus, &h));
  NEGATIVE(keel_accumulate_variables(registry, minus, &h));
  NEGATIVE(keel_migrate(moving, "cells", minus < 0 ? -1 : count, to));
  NEGATIVE(keel_allocate(-1, &bytes, &none));
  wrong = on_cells, wrong.extents[0] = minus < 0 ? -1 : cells + 2;
  BAD(keel_plan(x, 1, &wrong, &none), KEEL_REFUSED, "has -1 elements");
  wrong.data = other;
  BAD(keel_adopt(registry, "less", &wrong, NULL, &none), KEEL_REFUSED, "has -1 elements");
  wrong = like, wrong.extents[1] = -1;
  BAD(keel_add(moving, "less", 1, &wrong, &none), KEEL_REFUSED, "has -1 elements");
  BAD(keel_grid(1, (int64_t const[]){-1}, width, wraps, &none), KEEL_REFUSED, "-1");
  CHECK(none == 77);

  GOOD(keel_free(x)); /* plans keep what they need */
  /* What is open when keel ends is finished or given up. */
  GOOD(keel_begin(plan, 2, arrays, &open));
  GOOD(keel_begin_use(moving, "looks", KEEL_DEVICE, 1, (int const[]){q_past + KEEL_READ}, &use));
  GOOD(keel_end());
  BAD(keel_end(), KEEL_NOT_RUNNING, "does not run");
#if KEEL_WITH_MPI
  MPI_Finalize();
#endif
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
