// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Observers: the notifications of a ledger for each allocation, copy, rotation and write.

#include <keel/validity/concepts.hpp>
#include <keel/validity/traffic.hpp>
#include <keel/validity/transitions.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace keel::residency {

/// What left this rank of one variable in an exchange, an accumulate, a repartition, a migrate or a regrid; all are
/// exchanges in what follows.
struct sent {
  int variable, level, component;
  std::uint64_t bytes;
  std::string_view entry = "exchange"; ///< or `accumulate`, …
};

/// The notifications of a ledger, sent after the event; and its queries.
///
/// | member | event |
/// |---|---|
/// | `add(name, levels, components, bytes)` | a variable, the next number; `bytes` of a level by region |
/// | `create(variable, m)` | it has arrays in `m` now |
/// | `before(batch, routine)` | the provider is about to copy |
/// | `after(batch, routine, done)` | it has, or has begun to; not `done` if it threw |
/// | `before_exchange()` | one half of an exchange begins: ranks are about to send, or to receive |
/// | `before_wait()`, `after_wait()` | in it, the rank waits for messages |
/// | `after_exchange(all, done)` | the half has ended; `done` after the second, which filled the ghosts, or added them to their owners |
/// | `rotate(variable, how)` | the levels moved, by a `cycle` or a `rewind` |
/// | `write(request, component, m, routine)` | a routine in `m` is about to write |
/// | `lose(request, component, routine)` | it failed |
/// | `why(variable, level, component, single)` | asks why that region is stale somewhere; may be empty |
///
/// `is_told` is false if all of it does nothing, so that callers can leave out loops. Models:
/// `unobserved`, `reasons`, `trace`.
template <class O>
concept Observer = requires(O& o, int n, memory m, region r, std::string_view text, request const& one,
                            std::span<transfer const> batch, std::span<sent const> all, region_bytes const& by_region,
                            bool done, rotation how) {
  { O::is_told } -> std::convertible_to<bool>;
  o.add(text, n, n, by_region);
  o.create(n, m);
  o.before(batch, text);
  o.after(batch, text, done);
  o.before_exchange();
  o.before_wait();
  o.after_wait();
  o.after_exchange(all, done);
  o.rotate(n, how);
  o.write(one, n, m, text);
  o.lose(one, n, text);
  { o.why(n, n, n, r) } -> std::same_as<std::string>;
};

/// Observers that ask for more: the number of each step before it; the bytes of a component that is not like the first;
/// by component the one whose arrays it keeps in a `regrid`, negative for none; a file, with the rank and what memories
/// are called, then the knobs of the runtime; when each routine begins and ends; the graph of each schedule. (Named,
/// because nvcc 13 takes no requires-expression over members of `fields`.)
template <class O>
concept CountsSteps = requires(O& o, std::int64_t n) { o.begin_step(n); };
template <class O>
concept CountsComponents = requires(O& o, int n, region_bytes const& bytes) { o.resize(n, n, bytes); };
template <class O>
concept NumbersComponents = requires(O& o, int n, std::span<int const> kept) { o.renumber(n, kept); };
template <class O>
concept WritesFile = requires(O& o, std::string const& path, int rank, std::vector<std::string> const& memories) {
  o.open(path, rank, memories);
};

template <class O>
concept TimesRoutines =
    requires(O& o, std::string_view routine, memory m) { o.end_routine(o.begin_routine(), routine, m); };
template <class O>
concept ObservesSchedules = requires(O& o, std::string_view text, std::size_t n, int depth) {
  { o.begins_schedule(text) } -> std::same_as<bool>;
  o.entry(text, n, depth, text, text, text);
  o.flow(text, n, n, text, text, true);
};

/// Observes nothing, and leaves no code. Others derive from it what they leave out.
struct unobserved {
  static constexpr bool is_told = false;
  void add(std::string_view, int, int, region_bytes const&) {}
  void create(int, memory) {}
  void before(std::span<transfer const>, std::string_view) {}
  void after(std::span<transfer const>, std::string_view, bool) {}
  void before_exchange() {}
  void before_wait() {}
  void after_wait() {}
  void after_exchange(std::span<sent const>, bool) {}
  void rotate(int, rotation) {}
  void write(request const&, int, memory, std::string_view) {}
  void lose(request const&, int, std::string_view) {}
  [[nodiscard]] std::string why(int, int, int, region) const { return {}; }
};

} // namespace keel::residency
