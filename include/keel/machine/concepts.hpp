// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What carries an environment: the customisation surface of `machine`.

#include <keel/machine/selection.hpp>
#include <keel/policy/error.hpp>

#include <concepts>
#include <cstddef>
#include <optional>
#include <vector>

namespace keel::machine {

/// How many threads of a process may call MPI. Ordered: the later allows more.
enum class thread_level { single, funneled, serialized, multiple };

/// Processes in groups, each with a rank.
///
/// | member | contract | collective over |
/// |---|---|---|
/// | `handle` | what `comm()` returns; owns nothing; `null()` is the handle of no group | |
/// | `communicator` | owns a handle, or borrows one; movable; `get()`; frees once, and not after the end | |
/// | `start(argc, argv, level)` | true if it started what carries the ranks, false if that ran already | all |
/// | `stop()`, `is_running()`, `level()` | ends it; whether it runs; the level obtained | all / not collective |
/// | `world()`, `borrow(handle)` | all ranks; a handle of the application's | not collective |
/// | `duplicate(c)` | the same ranks, another context | `c` |
/// | `subset(c, strided or chosen)` | called only by the selected, with a checked selection | the selected |
/// | `by_node(c)` | the ranks of `c` that share this node, in the order of `c` | `c` |
/// | `lead_nodes(c, node)` | the first rank of each node, null elsewhere; and how many there are | `c` |
/// | `rank(c)`, `size(c)` | local | not collective |
/// | `reaches_device_memory()` | optional, no if it is not there: whether messages may be sent from and received in the memory of a GPU | not collective |
///
/// Models: `mpi`; `alone`, one rank without MPI. Laws: test/laws/machine_ranks.hpp.
template <class R>
concept Ranks =
    std::movable<typename R::communicator> && std::default_initializable<typename R::communicator> &&
    requires(typename R::communicator const& c, int* argc, char*** argv) {
      { R::null() } noexcept -> std::same_as<typename R::handle>;
      { c.get() } noexcept -> std::same_as<typename R::handle>;
      { R::start(argc, argv, thread_level::funneled) } -> std::same_as<bool>;
      { R::stop() } -> std::same_as<void>;
      { R::is_running() } noexcept -> std::same_as<bool>;
      { R::level() } -> std::same_as<thread_level>;
    } && // a compiler lists what is missing of the first part that fails
    requires(typename R::communicator const& c, typename R::handle h, strided const& range, chosen const& list) {
      { R::world() } -> std::same_as<typename R::communicator>;
      { R::borrow(h) } -> std::same_as<typename R::communicator>;
      { R::duplicate(c) } -> std::same_as<typename R::communicator>;
      { R::subset(c, range) } -> std::same_as<typename R::communicator>;
      { R::subset(c, list) } -> std::same_as<typename R::communicator>;
      { R::by_node(c) } -> std::same_as<typename R::communicator>;
      { R::lead_nodes(c, c).first } -> std::convertible_to<typename R::communicator>;
      { R::rank(c) } -> std::same_as<int>;
      { R::size(c) } -> std::same_as<int>;
    };

/// Whether messages of these ranks may be sent from and received in the memory of a GPU: what the model says, else no.
template <class R>
[[nodiscard]] bool reaches_device_memory() {
  if constexpr (requires {
                  { R::reaches_device_memory() } -> std::same_as<bool>;
                })
    return R::reaches_device_memory();
  else return false;
}

/// Elements for one rank, all of them of one size.
struct outgoing {
  int rank;
  void const* data;
  int count;
};

/// Ranks that exchange messages: collectives need this.
///
/// | member | contract |
/// |---|---|
/// | `split(c, color, key)` | collective over `c`; null without a color |
/// | `barrier`, `broadcast`, `gather_counts`, `gather`, `all_gather`, `all_of` | collective over `c`, which is not null; bytes travel as they lie |
/// | `requests` | sends and receives under way: `send receive wait`; messages of one tag between two ranks arrive in order |
/// | `exchange_sparse(c, sends, element_bytes, tag, room, state)` | optional; collective over `c`: sends to ranks that do not expect it, without counting for all ranks; as `detail::mpi_sparse` |
/// | `abort(c, code)` | ends every process of the job; does not return |
template <class R>
concept CommunicatingRanks =
    Ranks<R> && std::default_initializable<typename R::requests> &&
    requires(typename R::communicator const& c, void* data, void const* source, std::size_t bytes, int root,
             std::optional<int> color, std::vector<int> const& counts) {
      { R::split(c, color, root) } -> std::same_as<typename R::communicator>;
      R::barrier(c);
      R::broadcast(c, data, bytes, root);
      { R::gather_counts(c, root, root) } -> std::same_as<std::vector<int>>;
      R::gather(c, source, root, bytes, data, counts, root);
      R::all_gather(c, source, data, bytes);
      { R::all_of(c, true) } -> std::same_as<bool>;
      R::abort(c, root);
    };

} // namespace keel::machine
