/* SPDX-License-Identifier: MIT */
/* keel from C99: heat on a ring of cells that is cut over the ranks, in arrays of the program. */
#include <keel/keel.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { cells = 24, steps = 10 };

/* Where a call does not succeed, keel has a sentence. */
static void good(int code) {
  if (code == KEEL_SUCCESS) return;
  fprintf(stderr, "%s\n", keel_message());
  exit(EXIT_FAILURE);
}

int main(int argc, char** argv) {
  int world, rank, size, ring, x, plan;
  good(keel_start(&argc, &argv)); /* takes its options out of the command line */
  good(keel_world(&world));
  good(keel_rank(world, &rank, &size));

  /* The ids of what this rank owns, then those of its ghosts, a cell on either side. */
  int64_t const begin = (int64_t)cells * rank / size, end = (int64_t)cells * (rank + 1) / size, n = end - begin;
  int64_t owned[cells];
  for (int64_t i = 0; i < n; ++i) owned[i] = begin + i;
  int64_t const ghosts[] = {(begin + cells - 1) % cells, end % cells}, in_layers[] = {2};
  good(keel_partition(world, "cells", n, owned, 1, in_layers, ghosts, &ring));

  double one[cells + 2], other[cells + 2], *t = one, *next = other;
  keel_array const lies = {.data = t, .mesh = "cells", .type = KEEL_DOUBLE, .rank = 1, .extents = {n + 2}};
  good(keel_exchanger(world, 0, 1, &ring, &x));
  good(keel_plan(x, 1, &lies, &plan));

  for (int64_t i = 0; i < n; ++i) t[i] = (double)(7 * (begin + i) % 11);
  for (int step = 0; step < steps; ++step) {
    keel_array const now = {.data = t}; /* it lies as planned, so where it begins is enough */
    int open;
    good(keel_begin(plan, 1, &now, &open));
    for (int64_t i = 1; i < n - 1; ++i) next[i] = t[i] + 0.25 * (t[i - 1] - 2 * t[i] + t[i + 1]);
    good(keel_finish(open));
    next[0] = t[0] + 0.25 * (t[n] - 2 * t[0] + t[1]);
    next[n - 1] = t[n - 1] + 0.25 * (t[n - 2] - 2 * t[n - 1] + t[n + 1]);
    double* const swap = t;
    t = next, next = swap;
  }

  double heat, squares;
  good(keel_ordered_sum(world, n, t, &heat));
  for (int64_t i = 0; i < n; ++i) next[i] = t[i] * t[i];
  good(keel_ordered_sum(world, n, next, &squares)); /* the same bits on any number of ranks */
  if (rank == 0) printf("heat %g, its squares %.17g\n", heat, squares);
  good(keel_end());
  return 0;
}
