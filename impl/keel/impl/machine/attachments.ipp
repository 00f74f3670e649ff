// SPDX-License-Identifier: MIT
#include <keel/machine/attachments.hpp>

#include <algorithm>

namespace keel::machine {

KEEL_INLINE attachments& attachments::operator=(attachments&& other) noexcept {
  clear();
  entries_.swap(other.entries_);
  return *this;
}
KEEL_INLINE void* attachments::find(void const* key) const noexcept {
  auto const at = std::find_if(entries_.begin(), entries_.end(), [&](entry const& e) { return e.key == key; });
  return at == entries_.end() ? nullptr : at->value.get();
}
KEEL_INLINE bool attachments::remove(void const* key) {
  auto const at = std::find_if(entries_.begin(), entries_.end(), [&](entry const& e) { return e.key == key; });
  if (at == entries_.end()) return false;
  auto const gone = at->value; // once it is no longer found
  entries_.erase(at);
  return true;
}
KEEL_INLINE void attachments::clear() noexcept {
  while (!entries_.empty()) {
    auto const last = entries_.back().value;
    entries_.pop_back();
  }
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
