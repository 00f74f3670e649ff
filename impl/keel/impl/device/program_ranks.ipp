// SPDX-License-Identifier: MIT
#include <keel/impl/device/program_ranks.hpp>
#include <keel/impl/device/table.hpp>
#include <keel/policy/error.hpp>

#include <algorithm>
#include <cstring>
#include <functional>
#include <span>

namespace keel::device {

KEEL_INLINE std::vector<char> program_ranks::bytes_of_all(void const* mine, std::size_t bytes) const {
  std::vector<char> all;
  gather_(environment_, false, {mine, bytes}, all);
  return all;
}
KEEL_INLINE program_ranks::on_node program_ranks::bytes_of_node(void const* mine, std::size_t bytes) const {
  on_node here;
  here.rank = gather_(environment_, true, {mine, bytes}, here.bytes);
  return here;
}

// What is wrong if ranks did not give the same knobs; `texts` has those of each rank, all of one length.
inline std::string disagreement(std::span<char const> texts, std::size_t length, std::string_view prefix) {
  auto const text_of = [&](std::size_t rank) { return std::string_view(texts.data() + rank * length, length); };
  std::string_view const first = text_of(0);
  std::size_t rank = 1;
  while (text_of(rank) == first && (rank + 1) * length < texts.size()) ++rank;
  auto const differs = std::mismatch(first.begin(), first.end(), text_of(rank).begin()).first - first.begin();
  std::size_t const begin = first.rfind('\0', std::size_t(differs) - 1) + 1, value = first.find('=', begin) + 1;
  auto const value_on = [&](std::size_t r) {
    return std::string(text_of(r).substr(value, text_of(r).find('\0', value) - value)) + " on rank " +
           std::to_string(r);
  };
  return error::message(
      "device", "ranks do not agree on " + option_prefix(prefix) + std::string(first.substr(begin, value - 1 - begin)),
      value_on(0) + ", " + value_on(rank), "Give it the same value on every rank");
}

// What `rank` throws if `first` is the first rank that has a problem; its own is empty on others.
inline error error_of(std::string const& problem, int first, int rank) {
  error const told = problem.empty()
                         ? error("device", "the knobs of rank " + std::to_string(first) + " are wrong", "it says how")
                         : error::from_message(problem);
  return first == rank ? told : told.printed_elsewhere();
}

KEEL_INLINE void program_ranks::agree(std::string problem, std::string_view prefix, std::string alike,
                                      void (*session_fails)(void* session), void* session) const {
  std::size_t const mine = problem.empty() ? std::hash<std::string>{}(alike) | 1 : 0;
  auto const bytes = bytes_of_all(&mine, sizeof mine);
  std::vector<std::size_t> all(bytes.size() / sizeof mine);
  if (!all.empty()) std::memcpy(all.data(), bytes.data(), bytes.size());
  auto bad = std::find(all.begin(), all.end(), std::size_t{0});
  if (bad == all.end()) {
    if (std::count(all.begin(), all.end(), mine) == std::ptrdiff_t(all.size())) return;
    alike.resize(1024);
    problem = disagreement(bytes_of_all(alike.data(), alike.size()), alike.size(), prefix);
    bad = all.begin();
  }
  session_fails(session);
  throw error_of(problem, int(bad - all.begin()), rank_);
}

} // namespace keel::device
