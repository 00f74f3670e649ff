// SPDX-License-Identifier: MIT
#include <keel/space/allocations.hpp>
#include <keel/policy/printable.hpp>

#include <map>
#include <mutex>

namespace keel::space {

namespace detail {

/// The allocations that live, in the order they were made.
struct live_list {
  std::mutex mutex;
  std::map<std::size_t, allocation> live;
  std::size_t next = 0;

  static live_list& all() {
    static live_list instance;
    return instance;
  }
};

KEEL_INLINE std::size_t enter(allocation made) {
  live_list& all = live_list::all();
  std::lock_guard const lock(all.mutex);
  all.live.emplace(all.next, std::move(made));
  return all.next++;
}

KEEL_INLINE void leave(std::size_t number) {
  live_list& all = live_list::all();
  std::lock_guard const lock(all.mutex);
  all.live.erase(number);
}

} // namespace detail

KEEL_INLINE void report_leaks() {
  constexpr std::size_t most_lines = 20;
  detail::live_list& all = detail::live_list::all();
  std::lock_guard const lock(all.mutex);
  if (all.live.empty()) return;
  std::string text = "keel::space: " + std::to_string(all.live.size()) +
                     " allocations live where Kokkos ends (they can no longer be given back). "
                     "End views before that, and give back what kokkos_malloc gave.";
  std::size_t lines = 0;
  for (auto const& [number, one] : all.live)
    if (lines++ < most_lines)
      text += "\n  " + std::to_string(one.bytes) + " bytes for '" + one.label + "' in " + one.space;
  if (lines > most_lines) text += "\n  and " + std::to_string(lines - most_lines) + " more";
  policy::print_line(text);
}

} // namespace keel::space
