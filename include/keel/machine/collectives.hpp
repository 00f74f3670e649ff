// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What all ranks of an environment do together.

#include <keel/machine/environment.hpp>
#include <keel/policy/error.hpp>

#include <climits>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span> // and the concepts of ranges, which its constructors need
#include <string>
#include <type_traits>
#include <vector>

namespace keel::machine {

/// A value whose bytes are the value on another rank of the same program.
template <class T>
concept Sendable = std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>;

/// One that a `std::vector` keeps as it is; `bool` is not.
template <class T>
concept Gatherable = Sendable<T> && !std::same_as<T, bool>;

/// Returns when every rank has called it. Every function of this header is
/// collective over the environment, and does nothing on a non-member.
template <CommunicatingRanks R>
void barrier(basic_environment<R> const& env) {
  if (env.is_member()) R::barrier(env.communicator());
}

/// Gives every rank the elements that `root` has. Extents must agree.
template <CommunicatingRanks R, Sendable T, std::size_t N>
void broadcast(basic_environment<R> const& env, std::span<T, N> values, int root) {
  if (env.is_member()) R::broadcast(env.communicator(), values.data(), values.size_bytes(), root);
}
template <CommunicatingRanks R, Sendable T>
  requires(!std::ranges::range<T>)
void broadcast(basic_environment<R> const& env, T& value, int root) {
  broadcast(env, std::span<T, 1>{&value, 1}, root);
}

/// The elements of all ranks, by rank, on `root`; empty elsewhere. Ranks may bring
/// different numbers; three calls of MPI. Throws on every rank, before elements travel, beyond
/// 2^31 - 1 of them, and if `root` lacks memory for them.
template <CommunicatingRanks R, Gatherable T>
[[nodiscard]] std::vector<T> gather(basic_environment<R> const& env, std::span<T const> mine, int root) {
  if (!env.is_member()) return {};
  constexpr int beyond = -1; // what int counts
  constexpr std::int64_t no_memory = -1;
  int const count = mine.size() > INT_MAX ? beyond : int(mine.size());
  auto const counts = R::gather_counts(env.communicator(), count, root);
  std::vector<T> all;
  std::int64_t total = 0; // the root finds out whether they all fit
  for (int const n : counts) total += n == beyond ? std::int64_t{INT_MAX} + 1 : n;
  try {
    if (env.rank() == root && total <= INT_MAX) all.resize(std::size_t(total));
  } catch (std::bad_alloc const&) {
    total = no_memory;
  }
  R::broadcast(env.communicator(), &total, sizeof total, root);
  if (total > INT_MAX)
    throw error("machine::gather", "more than 2147483647 elements meet on rank " + std::to_string(root),
                "MPI counts in int", "Gather in parts");
  if (total == no_memory)
    throw out_of_memory_error("machine::gather", "rank " + std::to_string(root) + " cannot hold all elements", 0);
  R::gather(env.communicator(), mine.data(), count, sizeof(T), all.data(), counts, root);
  return all;
}
template <CommunicatingRanks R, std::ranges::contiguous_range V>
[[nodiscard]] auto gather(basic_environment<R> const& env, V const& mine, int root) {
  return gather<R, std::ranges::range_value_t<V>>(env, std::span{std::ranges::data(mine), std::ranges::size(mine)},
                                                  root);
}

/// The value of each rank, by rank, everywhere.
template <CommunicatingRanks R, Gatherable T>
[[nodiscard]] std::vector<T> all_gather(basic_environment<R> const& env, T const& mine) {
  std::vector<T> all(std::size_t(env.size()));
  if (env.is_member()) R::all_gather(env.communicator(), &mine, all.data(), sizeof(T));
  return all;
}

/// Whether every rank says so; on a non-member what it says itself.
template <CommunicatingRanks R>
[[nodiscard]] bool all_of(basic_environment<R> const& env, bool mine) {
  return env.is_member() ? R::all_of(env.communicator(), mine) : mine;
}

/// One text of each rank, by rank, on `root`; empty elsewhere.
template <CommunicatingRanks R>
[[nodiscard]] std::vector<std::string> gather_texts(basic_environment<R> const& env, std::string const& mine,
                                                    int root) {
  int const length = int(mine.size());
  auto const lengths = gather<R, int>(env, std::span{&length, 1}, root);
  auto const all = gather<R, char>(env, std::span{mine.data(), mine.size()}, root);
  std::vector<std::string> texts;
  auto at = all.begin();
  for (int const n : lengths) {
    texts.emplace_back(at, at + n);
    at += n;
  }
  return texts;
}

} // namespace keel::machine
