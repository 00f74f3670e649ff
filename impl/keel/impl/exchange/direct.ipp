// SPDX-License-Identifier: MIT
#include <keel/exchange/direct.hpp>

#include <cstddef>

namespace keel::residency {

// Libraries send short and long messages in different ways.
KEEL_INLINE std::vector<std::string> direct::connect(queue const& by, std::span<int const> ranks) {
  std::vector<std::string> why(ranks.size());
  if (ranks.empty()) return why;
  if (!by) return std::vector<std::string>(ranks.size(), "the data are on the host");
  if (!by.is_reached_by_host() && !messages_.reaches_device_memory())
    return std::vector<std::string>(ranks.size(),
                                    "the MPI library does not say that it reaches the memory of a device");
  for (std::size_t const bytes : {std::size_t{64}, std::size_t{1} << 20}) {
    auto const there = by.allocate("keel: try of messages", bytes * (1 + ranks.size()));
    std::vector<std::byte> tried(bytes), came(bytes);
    auto const fill = [&](int rank) {
      for (std::size_t i = 0; i < bytes; ++i) tried[i] = std::byte(i % 251 + std::size_t(rank));
    };
    fill(messages_.rank());
    by.to_device(there.get(), tried.data(), bytes);
    by.fence();
    messages_.swap(ranks, [&](std::size_t) { return there.get(); }, there.get() + bytes, bytes);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      fill(ranks[i]);
      by.to_host(came.data(), there.get() + bytes * (i + 1), bytes);
      by.fence();
      if (came != tried) why[i] = "a message of " + std::to_string(bytes) + " bytes came with other contents";
    }
  }
  return why;
}

} // namespace keel::residency
