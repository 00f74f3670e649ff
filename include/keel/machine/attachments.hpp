// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Data of the application's, hung on something and found by type.

#include <keel/policy/error.hpp>

#include <algorithm>
#include <concepts>
#include <memory>
#include <utility>
#include <vector>

namespace keel::machine {

namespace detail {
/// An address for each type. Not const: equal constants may share theirs.
template <class T>
inline char key_of = 0;
} // namespace detail

/// At most one value of each type, owned, destroyed last first. Addresses stay while
/// it hangs. Finding walks the list; it needs no run-time type information.
class attachments {
public:
  attachments() = default;
  attachments(attachments&&) noexcept = default;
  attachments& operator=(attachments&& other) noexcept {
    clear();
    entries_.swap(other.entries_);
    return *this;
  }
  ~attachments() { clear(); }

  /// Hangs a `T` made from the arguments. Throws `keel::error` if one is there already.
  template <class T, class... Arguments>
    requires std::constructible_from<T, Arguments...>
  T& add(Arguments&&... arguments) {
    if (find<T>() != nullptr)
      throw error("machine::attachments", "a value of this type is attached already", "it is found by its type",
                  "Remove it first, or give the new one a type of its own");
    auto const value = std::make_shared<T>(std::forward<Arguments>(arguments)...);
    entries_.push_back({&detail::key_of<T>, value});
    return *value;
  }

  /// Null if there is none.
  template <class T>
  [[nodiscard]] T* find() const noexcept {
    auto const at = place_of(&detail::key_of<T>);
    return at == entries_.end() ? nullptr : static_cast<T*>(at->value.get());
  }

  /// Throws `keel::error` if there is none.
  template <class T>
  T& get() const {
    if (auto* const found = find<T>()) return *found;
    throw error("machine::attachments", "no value of this type is attached", "it was never added, or is removed",
                "Call add first");
  }

  /// False if there was none.
  template <class T>
  bool remove() {
    auto const at = place_of(&detail::key_of<T>);
    if (at == entries_.end()) return false;
    auto const gone = at->value; // destroyed once it is no longer found
    entries_.erase(at);
    return true;
  }

private:
  struct entry {
    void const* key;
    std::shared_ptr<void> value;
  };
  [[nodiscard]] std::vector<entry>::const_iterator place_of(void const* key) const noexcept {
    return std::find_if(entries_.begin(), entries_.end(), [&](entry const& e) { return e.key == key; });
  }
  void clear() noexcept {
    while (!entries_.empty()) {
      auto const last = entries_.back().value;
      entries_.pop_back();
    }
  }

  std::vector<entry> entries_;
};

} // namespace keel::machine
