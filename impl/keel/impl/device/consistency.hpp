// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Notices at the start that two parts of one program were compiled with different choices.

#include <keel/block/length.hpp>
#include <keel/policy/error.hpp>
#include <keel/policy/macros.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace keel::device {

/// What the compile line said: these must be the same in every part of a program, or two definitions
/// of one type meet in it.
struct build_choices {
  std::string_view devices;
  std::string_view default_spaces; ///< the four as written; one that was left to keel is its macro's name

  friend bool operator==(build_choices const&, build_choices const&) = default;
};

namespace detail {

struct noted_choices {
  std::optional<build_choices> first, other; ///< the second empty if all are alike

  void note(build_choices const& c) {
    if (!first) first = c;
    else if (!other && !(*first == c)) other = c;
  }
};

inline noted_choices& noted() {
  static noted_choices all;
  return all;
}

// For this translation unit only, so that each one speaks for itself.
namespace {
[[maybe_unused]] bool const choices_noted =
    (noted().note({KEEL_DEVICES_TEXT, KEEL_TEXT(KEEL_DEFAULT_EXECUTION_SPACE, KEEL_DEFAULT_HOST_EXECUTION_SPACE,
                                                KEEL_DEFAULT_MEMORY_SPACE, KEEL_DEFAULT_HOST_MEMORY_SPACE)}),
     true);
} // namespace

} // namespace detail

/// Throws if two translation units of this program disagree: on the vector size those that include keel's `block`,
/// on the rest those that include `device`.
inline void check_build_choices() {
  auto const& all = detail::noted();
  if (auto const& lengths = block::detail::noted_lengths; lengths.differ)
    throw error("device", "two parts of this program were compiled differently",
                "vector size " + std::to_string(lengths.first) + " here, " + std::to_string(lengths.other) + " there",
                "Give all of them the same flags");
  if (!all.other) return;
  auto const tell = [](build_choices const& c) {
    return "KEEL_DEVICES='" + std::string{c.devices} + "' and default spaces '" + std::string{c.default_spaces} + "'";
  };
  throw error("device", "two parts of this program were compiled differently",
              tell(*all.first) + " here, " + tell(*all.other) + " there", "Give all of them the same flags");
}

} // namespace keel::device
