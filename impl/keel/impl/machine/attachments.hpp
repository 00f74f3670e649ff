// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Bodies of `attachments`: the list, and what it refuses.

#include <keel/machine/attachments.hpp>
#include <keel/policy/error.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace keel::machine {

KEEL_INLINE attachments& attachments::operator=(attachments&& other) noexcept {
  clear();
  entries_.swap(other.entries_);
  return *this;
}
KEEL_INLINE void attachments::hang(void const* key, owned value) { entries_.push_back({key, std::move(value)}); }
KEEL_INLINE void* attachments::find(void const* key) const noexcept {
  auto const at = std::find_if(entries_.begin(), entries_.end(), [&](entry const& e) { return e.key == key; });
  return at == entries_.end() ? nullptr : at->value.get();
}
KEEL_INLINE bool attachments::remove(void const* key) {
  return std::erase_if(entries_, [&](entry const& e) { return e.key == key; }) != 0;
}
KEEL_INLINE void attachments::clear() noexcept {
  while (!entries_.empty()) entries_.pop_back();
}
KEEL_INLINE void attachments::refuse_second() {
  throw error("machine::attachments", "a value of this type is attached already", "it is found by its type",
              "Remove it first, or give the new one a type of its own");
}
KEEL_INLINE void attachments::refuse_missing() {
  throw error("machine::attachments", "no value of this type is attached", "it was never added, or is removed",
              "Call add first");
}

} // namespace keel::machine
