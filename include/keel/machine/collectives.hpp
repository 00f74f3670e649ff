// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What all ranks of an environment do together.

#include <keel/machine/environment.hpp>

#include <climits>
#include <concepts>
#include <cstddef>
#include <cstdint>
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
/// different numbers; two calls of MPI. Throws on `root` beyond 2^31 - 1 elements.
template <CommunicatingRanks R, Gatherable T>
[[nodiscard]] std::vector<T> gather(basic_environment<R> const& env, std::span<T const> mine, int root) {
  if (!env.is_member()) return {};
  if (mine.size() > INT_MAX)
    throw error("machine::gather", "one rank brings " + std::to_string(mine.size()) + " elements", "MPI counts in int",
                "Gather in parts");
  auto const count = int(mine.size());
  auto const counts = R::gather_counts(env.communicator(), count, root);
  std::int64_t total = 0;
  for (int const n : counts) total += n;
  if (total > INT_MAX)
    throw error("machine::gather", std::to_string(total) + " elements meet on one rank", "MPI counts in int",
                "Gather in parts");
  std::vector<T> all(env.rank() == root ? std::size_t(total) : 0);
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
