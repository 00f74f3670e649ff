// SPDX-License-Identifier: MIT
#pragma once

#include <keel/impl/store/checksum.hpp>

#include <cstring>

namespace keel::residency::detail {

/// Sums the folded products of wyhash (W. Yi), of each word, mixed with its index.
template <class Word>
std::uint64_t sum_of_words(std::byte const* bytes, std::size_t size, std::uint64_t index) {
  __extension__ using product = unsigned __int128;
  std::uint64_t sum = 0, mixed = index * 0x9e3779b97f4a7c15U;
  auto const add = [&](Word word) {
    product const x = product(word ^ (mixed += 0x9e3779b97f4a7c15U)) * 0xbf58476d1ce4e5b9U;
    sum += std::uint64_t(x) ^ std::uint64_t(x >> 64);
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
