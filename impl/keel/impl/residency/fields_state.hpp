// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The part of `fields` that depends on no type of the application: four objects, each of which has references to those
/// that it needs, and the ranks. It is compiled once.

#include <keel/impl/residency/agreement.hpp>
#include <keel/impl/residency/arrays.hpp>
#include <keel/impl/residency/book.hpp>
#include <keel/impl/residency/exchanger.hpp>
#include <keel/impl/residency/executor.hpp>
#include <keel/impl/residency/records.hpp>
#include <keel/impl/validity/observers.hpp>
#include <keel/policy/macros.hpp>

#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

namespace keel::residency::detail {

class relocation;

inline constexpr machine::failing_call making_fields{"residency::fields", "the fields", "are not made",
                                                     "Take smaller arrays, or more ranks"};

struct fields_state {
  /// For one of `ranks`; `memories` counts the host's.
  fields_state(grid const& whole, std::span<grid const> further, int ranks, int rank, int memories, int components,
               bool checks)
      : arrays_(whole, further, ranks, rank, memories, components), book_(arrays_, checks), exchanger_(arrays_, book_),
        executor_(*this, arrays_, book_, exchanger_) {}
  fields_state(fields_state const&) = delete;
  fields_state& operator=(fields_state const&) = delete;

  /// Adds a variable, whose owner makes its arrays.
  void add(variable_info const& about, array_kind const& kind, std::initializer_list<lengths_given> given,
           arrays::allocator make, void* owner) {
    arrays_.add(about, kind, given, make, owner);
    book_.add_variable();
  }

  arrays arrays_;
  book book_;
  exchanger exchanger_;
  executor executor_;
  std::shared_ptr<relocation> relocation_; // once there was one
  std::unique_ptr<messenger> ranks_;
  std::shared_ptr<void const> environment_; // of the policy's `ranks`; null if the run has another
  agreement agreement_;                     // of it
  void (*connect_)(fields_state&) = nullptr;
  std::shared_ptr<void> talk_;    // messages to ranks that do not expect them, once there were some
  std::vector<int> destinations_; // of elements that move, on the host
};

} // namespace keel::residency::detail
