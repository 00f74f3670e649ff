// SPDX-License-Identifier: MIT
#include <keel/impl/device/together.hpp>
#include <keel/impl/device/bound_rank.hpp>
#include <keel/impl/device/neighbours.hpp>
#include <keel/impl/device/option_names.hpp>
#include <keel/policy/error.hpp>

#include <algorithm>
#include <cstring>
#include <functional>

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

KEEL_INLINE void agree(program_ranks const& ranks, std::string problem, std::string_view prefix, std::string alike,
                       void (*session_fails)(void* session), void* session) {
  std::size_t const mine = problem.empty() ? std::hash<std::string>{}(alike) | 1 : 0;
  auto const bytes = ranks.bytes_of_all(&mine, sizeof mine);
  std::vector<std::size_t> all(bytes.size() / sizeof mine);
  if (!all.empty()) std::memcpy(all.data(), bytes.data(), bytes.size());
  auto bad = std::find(all.begin(), all.end(), std::size_t{0});
  if (bad == all.end()) {
    if (std::count(all.begin(), all.end(), mine) == std::ptrdiff_t(all.size())) return;
    alike.resize(1024);
    problem = disagreement(ranks.bytes_of_all(alike.data(), alike.size()), alike.size(), prefix);
    bad = all.begin();
  }
  session_fails(session);
  throw error_of(problem, int(bad - all.begin()), ranks.rank());
}

KEEL_INLINE topology::id_set allowed_together(program_ranks const& ranks) {
  auto const own = own_bits();
  return threads_of_any(ranks.bytes_of_all(&own, sizeof own));
}

KEEL_INLINE std::string go(placed_rank& me, program_ranks const& ranks, std::string_view prefix,
                           common_settings const& common, own_node const& node) {
  char const wanted = common.program.bind.place ? 1 : 0;
  auto const all = ranks.bytes_of_all(&wanted, 1);
  auto const count = std::count(all.begin(), all.end(), char{1});
  if (count == 0) return {};
  auto const own = own_bits();
  auto const here = ranks.bytes_of_node(&own, sizeof own);
  return me.go(count == std::ptrdiff_t(all.size()), here.rank, here.bytes, prefix, common, node);
}

KEEL_INLINE void note_places(placed_rank const& me, program_ranks const& ranks, common_settings& common) {
  if (!me.place()) return;
  constexpr std::size_t length = 1024;
  std::string line = "rank " + std::to_string(ranks.rank()) + " is bound to " + me.text();
  line.resize(length);
  auto const here = ranks.bytes_of_node(line.data(), length);
  if (here.rank == 0) note_places(here.bytes, length, common);
}

KEEL_INLINE void propose(std::span<changeable_knobs const> devices, program_ranks const& ranks,
                         placed_rank const& placed, program_settings const& program, own_node const& node) {
  auto const own = told_threads::own();
  auto const here = ranks.bytes_of_node(&own, sizeof own);
  propose(devices, here.rank, here.bytes, placed, program, node);
}

} // namespace keel::device
