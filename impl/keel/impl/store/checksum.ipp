// SPDX-License-Identifier: MIT
#pragma once

#include <keel/impl/store/checksum.hpp>

#include <cstring>

namespace keel::residency::detail {

/// Sums products of the halves of each word, mixed with its index, as XXH3 (Y. Collet) does with a secret.
template <class Word>
std::uint64_t sum_of_words(std::byte const* bytes, std::size_t size, std::uint64_t index) {
  std::uint64_t sum = 0, mixed = index * 0x9e3779b97f4a7c15U;
  auto const add = [&](Word word) {
    std::uint64_t const x = word ^ (mixed += 0x9e3779b97f4a7c15U);
    sum += (x & 0xffffffffU) * (x >> 32) + word;
  };
  Word word = 0;
  for (; size >= sizeof(Word); size -= sizeof(Word), bytes += sizeof(Word)) {
    std::memcpy(&word, bytes, sizeof(Word));
    add(word);
  }
  if (size == 0) return sum;
  word = 0;
  std::memcpy(&word, bytes, size);
  add(word);
  return sum;
}

KEEL_INLINE std::uint64_t checksum(std::byte const* bytes, std::size_t size, std::uint64_t first_word, int word_bytes) {
  switch (word_bytes) {
  case 1: return sum_of_words<std::uint8_t>(bytes, size, first_word);
  case 2: return sum_of_words<std::uint16_t>(bytes, size, first_word);
  case 4: return sum_of_words<std::uint32_t>(bytes, size, first_word);
  default: return sum_of_words<std::uint64_t>(bytes, size, first_word);
  }
}

} // namespace keel::residency::detail
