// SPDX-License-Identifier: MIT
#include <keel/machine/threads.hpp>

#include <cstddef>
#include <string>

namespace keel::machine {

KEEL_INLINE std::vector<team> teams(int threads, int count) {
  if (count < 1 || threads < count)
    throw error("machine::teams",
                policy::counted(threads, "thread does", "threads do") + " not make " + policy::counted(count, "team"),
                "each has a master of its own", "Ask for one team at least, and at most one a thread");
  std::vector<team> made;
  for (int i = 0; i != count; ++i) {
    int const begin = int(static_cast<long long>(threads) * i / count);
    made.push_back({begin, int(static_cast<long long>(threads) * (i + 1) / count) - begin});
  }
  return made;
}

KEEL_INLINE std::vector<int> thread_layout(int threads, std::span<int const> cores) {
  std::vector<int> core_of;
  if (cores.empty()) return core_of;
  for (int t = 0; t < threads; ++t) core_of.push_back(cores[std::size_t(t) * cores.size() / std::size_t(threads)]);
  return core_of;
}

} // namespace keel::machine
