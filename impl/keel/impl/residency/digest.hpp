// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A number for what lies in a part of an array, by which undeclared writes are found.

#include <keel/impl/residency/strip.hpp>
#include <keel/residency/ledger.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace keel::residency::detail {

/// What one word adds: another number for each place and value (the finaliser of S. Vigna's splitmix64).
KEEL_FUNCTION inline std::uint64_t digest_of(std::uint64_t place, std::uint64_t value) {
  std::uint64_t x = value ^ (place + 1) * 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

/// The kernel: a sum, so that the order does not matter.
struct digest_words {
  void const* array;
  strip which;

  KEEL_FUNCTION void operator()(std::int64_t i, std::uint64_t& sum) const {
    auto const at = std::size_t(which[i]);
    std::uint64_t const value = which.word_bytes == 8   ? static_cast<std::uint64_t const*>(array)[at]
                                : which.word_bytes == 4 ? static_cast<std::uint32_t const*>(array)[at]
                                                        : static_cast<std::uint8_t const*>(array)[at];
    sum += digest_of(at, value);
  }
};
/// The same on the calling thread.
[[nodiscard]] inline std::uint64_t digest_on_host(shape const& lies, void const* array, bounds const& box) {
  digest_words const words{array, strip_of(lies, box)};
  std::uint64_t sum = 0;
  for (std::int64_t i = 0; i < words.which.words; ++i) words(i, sum);
  return sum;
}

/// One region of one level, in one memory, and what lay there.
struct digested {
  transfer what; ///< `to` is the memory
  std::uint64_t digest;
};

/// The digests of all regions in all open memories, without those that `writes` may change in `m`.
template <class Ledger, class Provider>
std::vector<digested> digest_all(Ledger const& ledger, Provider& provider, std::span<request const> writes, memory m,
                                 component_range range) {
  std::vector<digested> all;
  for (int v = 0; v < ledger.variables(); ++v)
    for (int l = 0; l < ledger.levels(v); ++l)
      for (int c = 0; c < ledger.components(); ++c) {
        region spared = region::none;
        for (request const& r : writes)
          if (r.variable == v && r.level == l && c >= range.begin && c < range.end) spared = spared | r.writes;
        for (int k = 0; k < ledger.memories(); ++k)
          for (region one : single_regions)
            if (ledger.is_open(memory(k)) && !(memory(k) == m && overlap(one, spared)))
              all.push_back({{v, l, c, one, memory(k), memory(k)}, provider.digest(v, l, c, one, memory(k))});
      }
  return all;
}

} // namespace keel::residency::detail
