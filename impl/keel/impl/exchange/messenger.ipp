// SPDX-License-Identifier: MIT
#include <keel/impl/exchange/messenger.hpp>
#include <keel/topology/affinity.hpp>

#include <bit>
#include <cstddef>

namespace keel::residency::detail {

KEEL_INLINE hardware_threads hardware_threads::own() {
  hardware_threads made{};
  try {
    for (int const t : topology::bound_hardware_threads())
      if (auto const at = std::size_t(t); at / 64 < made.bits.size()) made.bits[at / 64] |= std::uint64_t{1} << at % 64;
  } catch (error const&) {
    made.bits.fill(~std::uint64_t{0});
  }
  return made;
}
KEEL_INLINE bool outnumber(int ranks, std::span<hardware_threads const> of_each) {
  int count = 0;
  for (std::size_t w = 0; w < hardware_threads{}.bits.size(); ++w) {
    std::uint64_t of_any = 0;
    for (hardware_threads const& one : of_each) of_any |= one.bits[w];
    count += std::popcount(of_any);
  }
  return ranks > count;
}

} // namespace keel::residency::detail
