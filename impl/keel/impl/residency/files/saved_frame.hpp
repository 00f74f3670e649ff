// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Which levels of variables a file to look at has, and how they lie in it. The bodies stand in saved_frame.ipp.

#include <keel/impl/residency/files/checkpoint.hpp>
#include <keel/impl/residency/files/global_order.hpp>
#include <keel/policy/macros.hpp>
#include <keel/validity/concepts.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace keel::residency::detail {

/// What one file of a step has: levels of variables of one component whose elements are the cells or the points of one
/// image, or the elements of one mesh; those on neither are in the first of a component.
struct saved_frame {
  struct array {
    request level;
    std::string group; ///< of the file: CellData, PointData, FieldData
  };
  int component = 0;
  std::string suffix;               ///< of the file's name
  std::string_view mesh = {};       ///< empty for an image
  std::vector<std::int64_t> points; ///< of the image, the slowest dimension first
  std::array<double, 3> origin{};   ///< x first; a cell is 1 long
  std::vector<array> arrays = {};

  [[nodiscard]] bool lies_as(saved_frame const& other) const {
    return component == other.component && mesh == other.mesh && points == other.points && origin == other.origin;
  }
};

/// The files of a step, for components in this range.
[[nodiscard]] std::vector<saved_frame> frames_of(arrays const& on, std::span<request const> what,
                                                 component_range range);

/// How the elements of a variable on a grid are seen.
struct seen_elements {
  std::vector<std::int64_t> counts; ///< the slowest dimension first; at most three
  bool are_cells = true;            ///< else points
  std::array<double, 3> origin{};
};

[[nodiscard]] seen_elements seen_of(arrays const& on, int variable, int component);

/// How a level lies in the file: its type, and how many numbers each element has.
struct seen_array {
  saved_level level;
  whole_variable whole;
  stored_dataset as;
  std::int64_t numbers;
  std::vector<ordered_box> boxes;

  seen_array(arrays const& on, request const& r, int component);
  [[nodiscard]] std::byte const* data() const;
  [[nodiscard]] int element_bytes() const;
};
/// `eta`, or `eta[1]` for a level of the past.
[[nodiscard]] std::string name_of(arrays const& on, request const& r);

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/residency/files/saved_frame.ipp>
#endif
