/* SPDX-License-Identifier: MIT */
#pragma once

/** @file
 * keel for C and, by the module in keel.f90, for Fortran: link with keel_c. Ghosts of arrays that the application has,
 * and where they are valid. The guide is include/keel/exchange/README.md.
 *
 * Every function but keel_message and keel_device returns a code: KEEL_SUCCESS, or what went wrong, of which
 * keel_message has a sentence. What a function gives by pointer is then as it was. Objects are handles, positive
 * numbers, which keel_free ends; keel_end ends all that are left. A handle that was freed, or is of another kind of
 * object, is refused before anything is sent.
 *
 * Calls marked *collective* are made by all ranks of the environment, in the same order, with handles of the same
 * objects. One thread at a time.
 */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  KEEL_SUCCESS = 0,
  KEEL_REFUSED = 1, /**< arguments that do not fit, or what MPI or a device refuses; collective calls: on all ranks */
  KEEL_BAD_HANDLE = 2,  /**< freed, of another kind, or never given */
  KEEL_NOT_RUNNING = 3, /**< before keel_start or after keel_end, or keel_start twice */
  KEEL_NO_MEMORY = 4,
  KEEL_FAILED = 5 /**< what another library threw */
};

/** Types of elements. Of KEEL_BYTES + 12 each has 12 bytes, and is not added; 1 to 16 can be. */
enum {
  KEEL_INT32 = 1,
  KEEL_INT64 = 2,
  KEEL_FLOAT = 3,
  KEEL_DOUBLE = 4,
  KEEL_COMPLEX_FLOAT = 5,
  KEEL_COMPLEX_DOUBLE = 6,
  KEEL_BYTES = 256
};
/** Memories: the host's, and that of the device that was chosen at the start, which may be the same. */
enum { KEEL_HOST = 0, KEEL_DEVICE = 1 };
/** Added to a variable, as in `h + KEEL_OWNED`: its level so many back, n * KEEL_PAST; its owned elements only; that a
 * use reads it, that it overwrites it, or both. */
enum { KEEL_PAST = 1 << 20, KEEL_OWNED = 1 << 28, KEEL_READ = 1 << 29, KEEL_WRITTEN = 1 << 30 };

/** Added to `longer` of an array, a component of a vector: its ghosts beyond a fold have the other sign. */
enum { KEEL_OTHER_SIGN = 16 };

/** An array of the application. What is not named is 0. */
typedef struct keel_array {
  void* data;        /**< its first element */
  char const* mesh;  /**< the mesh that it lies on; null: the grid */
  int type, memory;  /**< KEEL_DOUBLE, KEEL_HOST */
  int rank;          /**< how many indices, 1 to 8; 0: only `data` counts, and it lies as planned */
  int layers;        /**< of ghosts that are exchanged, the nearest first; 0: all */
  int longer, along; /**< on a grid a bit for each dimension: on the faces of cells; the dimensions it has, 0 for all */
  int indexed;       /**< how many of index[] are given; 0: the first indices, in order */
  int index[4];      /**< which index, from 0, counts each dimension of the grid, or the elements of the mesh */
  int64_t extents[8]; /**< of each index, ghosts included */
  int64_t strides[8]; /**< elements from one to the next along each index; all 0: the last index is the fastest */
} keel_array;

/* ---- start and end */

/** Sets a knob before the start, by its name and text as on the command line: keel_set("num-threads", "4"). Environment
 * variables (KEEL_NUM_THREADS) and the command line beat it. */
int keel_set(char const* knob, char const* text);
/** Starts MPI unless it runs, and reads the command line, out of which it takes its own words; both may be null.
 * Collective over all processes. */
int keel_start(int* argc, char*** argv);
/** For the ranks of a communicator, as MPI_Comm_c2f or Fortran gives it, which is duplicated. Collective over it. */
int keel_start_on(int* argc, char*** argv, int communicator);
/** Ends what keel started, and all objects. Collective. */
int keel_end(void);
/** What went wrong in the last call of this thread that did not succeed. Stays until the next such call. */
char const* keel_message(void);
/** Name of the device that was chosen; empty before the start. */
char const* keel_device(void);
/** Ends an object. Collective for environments, and for the last object that is made from one. What others need of it
 * lives on. An exchange that has begun is finished. */
int keel_free(int handle);

/* ---- ranks */

/** The environment of the start. */
int keel_world(int* environment);
/** Ranks of a communicator of the application's, which is duplicated. Collective over it. */
int keel_environment(int communicator, int* environment);
int keel_rank(int environment, int* rank, int* size);
/** Sum of `n` doubles of each rank, whose bits depend neither on the number of ranks nor on the order. Collective. */
int keel_ordered_sum(int environment, int64_t n, double const* values, double* sum);

/* ---- where elements are */

/** A mesh, cut over the ranks, by the ids of this rank's elements. Local indices count in this order. Collective. */
int keel_partition(int environment, char const* mesh,         /**< any name */
                   int64_t owned_count, int64_t const* owned, /**< those that it owns */
                   int layers,                                /**< how many layers its ghosts lie in */
                   int64_t const* counts,                     /**< `layers` numbers: ghosts in each */
                   int64_t const* ghosts,                     /**< all of them, the nearest layer first */
                   int* partition);
/** The same, in which an element may be in several layers of ghosts, as its images. */
int keel_partition_with_images(int environment, char const* mesh, int64_t owned_count, int64_t const* owned, int layers,
                               int64_t const* counts, int64_t const* ghosts, int* partition);
/** Elements that this rank owns, and those that it has. */
int keel_partition_size(int partition, int64_t* owned, int64_t* all);
/** The ids of all that it has, by local index. */
int keel_partition_ids(int partition, int64_t* ids);
/** A grid of 1 to 4 dimensions: cells of the whole, without ghosts; how wide the ghosts are; whether a dimension ends
 * where it begins (null: none does). */
int keel_grid(int rank, int64_t const* extents, int const* ghosts, int const* periodic, int* grid);
/** The same grid, cut where the caller says: `positions` has where shares begin and end in each dimension, from 0 to
 * its extent, one dimension after the other; counts[d] of them, or 0 if keel is to cut that one. Between two equal ones
 * a share has no cells. */
int keel_cut_grid(int grid, int const* counts, int64_t const* positions, int* cut);
/** The same grid, folded at the upper end of a dimension, as tripolar ones are: beyond it lie its last rows again,
 * mirrored along another one, which is periodic. `pivot`: a bit for each dimension, as `longer` of an array, that says
 * where the pole lies: 15 on corners of the uppermost cells, 0 in the middle of their row. */
int keel_fold_grid(int grid, int dimension, int along, int pivot, int* folded);
/** This rank's share: its extents with ghosts, the local indices [begin, end) of what it owns, and the global index of
 * the first of these. Each has as many as the grid has dimensions; any may be null. */
int keel_share(int grid, int environment, int64_t* extents, int64_t* begin, int64_t* end, int64_t* first);

/* ---- exchanger: ghosts of arrays, whatever they hold */

/** For arrays on these partitions and on a grid, 0 if there is none. Collective. */
int keel_exchanger(int environment, int grid, int count, int const* partitions, int* exchanger);
/** How arrays that lie so are exchanged, in one message to each rank; `data` is looked at only for mistakes, as one
 * array named twice. Collective; costs some reductions. */
int keel_plan(int exchanger, int count, keel_array const* arrays, int* plan);
/** Fills the ghosts from their owners. Arrays lie as planned, and may be others each time. What does not is refused
 * where it does not, before anything is sent; with --keel-tracking=checked on all ranks. Collective. */
int keel_exchange(int plan, int count, keel_array const* arrays);
/** Adds ghosts to what their owners have, in the same order each time. Collective. */
int keel_accumulate(int plan, int count, keel_array const* arrays);
/** Begins what keel_exchange does; until keel_finish ghosts are not touched, and the arrays stay. Several may be
 * open, of different arrays. On a device it follows the work of the default queue. Collective, both. */
int keel_begin(int plan, int count, keel_array const* arrays, int* open);
/** Ends the handle, too. */
int keel_finish(int open);

/* ---- registry: variables by name, and where they are valid */

/** Collective. */
int keel_registry(int environment, int grid, int count, int const* partitions, int* registry);
/** A variable of the application's arrays on the host and in the device's memory, which lie in the same way; one may be
 * null, and keel makes it when it is needed. Valid nowhere until keel_notify_data_modified. Collective. */
int keel_adopt(int registry, char const* name, keel_array const* on_host, keel_array const* on_device, int* variable);
/** A variable of keel's own arrays, one for each time level: `like` without data. The first indices count the grid or
 * mesh: their extents are not looked at. Strides say only which index is fastest, the first or the last. Collective. */
int keel_add(int registry, char const* name, int levels, keel_array const* like, int* variable);
/** How a variable lies in a memory; of one that keel made, until keel_migrate. */
int keel_describe(int registry, int variable, int memory, keel_array* array);
/** Makes variables valid in a memory, and waits. Refused if one was written nowhere, or ghosts are needed that no
 * exchange filled. */
int keel_require_valid_data(int registry, int memory, int count, int const* variables);
/** Says that they were written there, and that the writer is done: they are valid nowhere else. */
int keel_notify_data_modified(int registry, int memory, int count, int const* variables);
/** From here to keel_finish_use code of the application reads and writes variables in a memory: what it reads is valid
 * there then, what it writes is valid nowhere else. To keel_free a use loses what it writes: valid nowhere. */
int keel_begin_use(int registry, char const* name, int memory, int count, int const* variables, int* use);
/** Ends the handle, too. */
int keel_finish_use(int use);
/** Level 0 becomes level 1, and so on; the new level 0 is valid nowhere. */
int keel_cycle(int registry, int variable);
int keel_is_valid(int registry, int memory, int variable, int* answer);
/** Fills the ghosts of variables, or adds them to their owners, in one message to each rank. Collective. */
int keel_exchange_variables(int registry, int count, int const* variables);
int keel_accumulate_variables(int registry, int count, int const* variables);
/** Sends elements of a mesh that this rank owns to other ranks, with all variables on it: destinations[i] of element i.
 * Ghosts are gone then. Refused if arrays on the mesh were adopted. Collective. */
int keel_migrate(int registry, char const* mesh, int64_t count, int const* destinations);
/** The partition of a mesh as the registry has it now. */
int keel_partition_of(int registry, char const* mesh, int* partition);

/* ---- memory of the device, for whom no other way gives it */

/** Memory where KEEL_DEVICE is; keel_free ends it. */
int keel_allocate(int64_t bytes, void** data, int* handle);

#ifdef __cplusplus
}
#endif
