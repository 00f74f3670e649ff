// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What files know of fields, and what they say of themselves.

#include <keel/impl/residency/arrays.hpp>
#include <keel/impl/residency/book.hpp>

#include <cstdint>
#include <memory>

namespace keel::residency {
class messenger;
}

namespace keel::residency::detail {

class checkpoint_files;
class executor;
class exchanger;
struct fields_state;

/// How many files of a kind are finished.
struct finished_files {
  std::int64_t written = 0, failed = 0;
};

/// Fields, as files know them. Copies are of the same fields.
struct stored_fields {
  arrays& on;
  book& in;
  executor& runs;
  std::unique_ptr<exchanger> const& ghosts;
  memory const& ghosts_in;
  std::unique_ptr<messenger> const& messages;
  std::unique_ptr<checkpoint_files> const& files;
  fields_state& whole; ///< for what asks for their ranks and lays them out anew
};

} // namespace keel::residency::detail
