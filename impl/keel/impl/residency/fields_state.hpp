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
#include <keel/impl/exchange/relocation.hpp>
#include <keel/impl/residency/records.hpp>
#include <keel/impl/validity/observers.hpp>
#include <keel/policy/macros.hpp>

#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace keel::residency::detail {

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

  // moving.hpp
  /// Whether all partitions were made on these ranks: the same error on each of them if not.
  void check_meshes(agreement const& ranks) const;
  /// `find_values` sets `values`, which new elements get.
  void repartition(std::span<cut_anew> meshes, std::span<new_values const> values, thunk find_values);
  void check_rows(new_values const& given, std::span<cut_anew const> meshes) const;
  void regrid(std::span<residency::patch const> patches);
  void resize(std::span<new_lengths const> all);
  void reserve(std::string_view mesh, std::int64_t size);
  /// Whose `destinations` are found first.
  void migrate(std::string_view mesh, std::span<int const> const& destinations, thunk find);

  arrays arrays_;
  book book_;
  exchanger exchanger_;
  executor executor_;
  relocation relocation_;
  std::unique_ptr<messenger> ranks_;
  std::shared_ptr<void const> environment_; // of the policy's `ranks`; null if the run has another
  agreement agreement_;                     // of it
  void (*connect_)(fields_state&) = nullptr;
  std::vector<int> destinations_; // of elements that move, on the host
  /// To be called when arrays have changed.
  void forget_layouts() { exchanger_.forget(), executor_.forget(); }

private:
  [[nodiscard]] agreement const& ranks_for(std::string_view call) const;
  template <class Begin>
  void go(auto& next, std::string_view who, Begin const& begin);

  std::shared_ptr<void> talk_; // messages to ranks that do not expect them, once there were some
};

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/residency/moving.hpp>
#endif
