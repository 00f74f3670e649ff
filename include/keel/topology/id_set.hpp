// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A set of ids, as many as a node has. Depends only on the standard library.

#include <keel/policy/error.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <string>
#include <vector>

namespace keel::topology {

/// A set of ids of cores, memories, devices or hardware threads: numbers from 0 up.
///
/// A value; one bit for each id up to the largest one held, so its size has no
/// limit, and it allocates. Iterates in rising order. A negative id is in no set,
/// and refused by what would put it there.
class id_set {
public:
  class const_iterator;
  using iterator = const_iterator;
  using value_type = int;

  id_set() = default;
  id_set(std::initializer_list<int> ids) {
    for (int const id : ids) insert(id);
  }

  /// The ids `first`, `first + 1`, … below `last`.
  [[nodiscard]] static id_set range(int first, int last) {
    id_set made;
    made.insert(first, last);
    return made;
  }

  /// Any number may be asked for; a negative one is not there.
  [[nodiscard]] bool contains(int id) const noexcept {
    return id >= 0 && word(id) < words_.size() && (words_[word(id)] >> bit(id) & 1) != 0;
  }
  /// Counts: it costs a walk over the words.
  [[nodiscard]] std::size_t size() const noexcept {
    std::size_t sum = 0;
    for (auto const w : words_) sum += std::size_t(std::popcount(w));
    return sum;
  }
  [[nodiscard]] bool empty() const noexcept { return words_.empty(); }

  void insert(int id) { insert(id, id + 1); }

  /// `[first, last)`. Throws `keel::error` for a negative id.
  void insert(int first, int last) {
    if (first < 0) throw error("topology", "id " + std::to_string(first) + " cannot be in a set", "ids start at 0");
    if (first >= last) return;
    if (words_.size() <= word(last - 1)) words_.resize(word(last - 1) + 1);
    for (std::size_t w = word(first); w <= word(last - 1); ++w) {
      auto const below = w == word(first) ? ~std::uint64_t{0} << bit(first) : ~std::uint64_t{0};
      auto const above = w == word(last - 1) ? ~std::uint64_t{0} >> (63 - bit(last - 1)) : ~std::uint64_t{0};
      words_[w] |= below & above;
    }
  }

  /// Nothing if it is not there.
  void erase(int id) noexcept {
    if (contains(id)) words_[word(id)] &= ~(std::uint64_t{1} << bit(id));
    trim();
  }

  /// Union, intersection, difference. Only a union may allocate.
  id_set& operator|=(id_set const& other) {
    if (words_.size() < other.words_.size()) words_.resize(other.words_.size());
    for (std::size_t w = 0; w < other.words_.size(); ++w) words_[w] |= other.words_[w];
    return *this;
  }
  id_set& operator&=(id_set const& other) noexcept {
    words_.resize(std::min(words_.size(), other.words_.size()));
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] &= other.words_[w];
    trim();
    return *this;
  }
  id_set& operator-=(id_set const& other) noexcept {
    for (std::size_t w = 0; w < std::min(words_.size(), other.words_.size()); ++w) words_[w] &= ~other.words_[w];
    trim();
    return *this;
  }
  [[nodiscard]] friend id_set operator|(id_set a, id_set const& b) { return a |= b; }
  [[nodiscard]] friend id_set operator&(id_set a, id_set const& b) { return a &= b; }
  [[nodiscard]] friend id_set operator-(id_set a, id_set const& b) { return a -= b; }
  [[nodiscard]] friend bool operator==(id_set const&, id_set const&) = default;

  [[nodiscard]] const_iterator begin() const noexcept;
  [[nodiscard]] const_iterator end() const noexcept;

private:
  static constexpr std::size_t word(int id) noexcept { return std::size_t(id) / 64; }
  static constexpr unsigned bit(int id) noexcept { return unsigned(id) % 64; }
  void trim() noexcept { // the last word is never zero, so that equal sets are equal words
    while (!words_.empty() && words_.back() == 0) words_.pop_back();
  }

  std::vector<std::uint64_t> words_;
};

/// Walks the ids upwards. Ends with the set it came from, or with a change of it.
class id_set::const_iterator {
public:
  using value_type = int;
  using difference_type = std::ptrdiff_t;
  using reference = int;
  using pointer = void;
  using iterator_category = std::input_iterator_tag; // its reference is a value
  using iterator_concept = std::forward_iterator_tag;

  const_iterator() = default;
  [[nodiscard]] int operator*() const noexcept { return id_; }
  const_iterator& operator++() noexcept {
    find(id_ + 1);
    return *this;
  }
  const_iterator operator++(int) noexcept {
    auto const before = *this;
    ++*this;
    return before;
  }
  [[nodiscard]] friend bool operator==(const_iterator const& a, const_iterator const& b) noexcept {
    return a.id_ == b.id_;
  }

private:
  friend class id_set;
  const_iterator(id_set const& set, int id) noexcept : set_(&set) { find(id); }
  void find(int id) noexcept {
    auto const& words = set_->words_;
    for (std::size_t w = word(id); w < words.size(); id = int(++w) * 64)
      if (auto const rest = words[w] >> bit(id); rest != 0) {
        id_ = id + std::countr_zero(rest);
        return;
      }
    id_ = int(words.size()) * 64;
  }

  id_set const* set_ = nullptr;
  int id_ = 0;
};

inline id_set::const_iterator id_set::begin() const noexcept { return {*this, 0}; }
inline id_set::const_iterator id_set::end() const noexcept { return {*this, int(words_.size()) * 64}; }

/// The ids as people write them: `0-3,8`. The empty set is the empty text.
[[nodiscard]] inline std::string to_string(id_set const& ids) {
  std::string text;
  for (auto at = ids.begin(); at != ids.end();) {
    int const first = *at;
    int last = first;
    while (++at != ids.end() && *at == last + 1) last = *at;
    if (!text.empty()) text += ',';
    text += std::to_string(first);
    if (last > first) text += '-' + std::to_string(last);
  }
  return text;
}

} // namespace keel::topology
