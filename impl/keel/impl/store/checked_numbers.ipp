// SPDX-License-Identifier: MIT
#pragma once

#include <keel/impl/store/checked_numbers.hpp>

#include <keel/policy/error.hpp>

#include <algorithm>
#include <utility>

namespace keel::residency::detail {

KEEL_INLINE checked_numbers::checked_numbers(std::string file, std::string_view whose,
                                             std::vector<stored_attribute> const& in, std::string_view name)
    : file_(std::move(file)), what_("the attribute " + std::string(name) + " of " + std::string(whose)) {
  if (auto const* const found = attribute_of<std::vector<std::int64_t>>(in, name)) all_ = *found;
}

KEEL_INLINE void checked_numbers::refuse(std::string const& possible) const {
  throw error("residency", "the file " + file_ + " cannot be read",
              at_ == all_.size() ? what_ + " has no whole number " + std::to_string(at_)
                                 : "number " + std::to_string(at_) + " of " + what_ + " is " +
                                       std::to_string(all_[at_]) + ", and not " + possible,
              "Name another file");
}

KEEL_INLINE std::int64_t checked_numbers::take(std::int64_t least, std::int64_t most) {
  if (!has_more() || all_[at_] < least || all_[at_] > most)
    refuse(std::to_string(least) + " to " + std::to_string(most));
  return all_[at_++];
}

KEEL_INLINE std::int64_t checked_numbers::take(std::initializer_list<std::int64_t> possible) {
  if (!has_more() || std::find(possible.begin(), possible.end(), all_[at_]) == possible.end()) {
    std::string text;
    for (std::int64_t const n : possible) text += (text.empty() ? "" : " or ") + std::to_string(n);
    refuse(text);
  }
  return all_[at_++];
}

} // namespace keel::residency::detail
