// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The part of `fields` that depends on no type: arrays, cells, settings, and where a step is. It is compiled once. The
/// bodies stand in lay_out.hpp.

#include <keel/impl/residency/packing.hpp>
#include <keel/impl/residency/pending_updates.hpp>
#include <keel/policy/macros.hpp>
#include <keel/residency/grid.hpp>
#include <keel/residency/kokkos_provider.hpp>
#include <keel/residency/settings.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace keel::residency::detail {

/// Lengths of the dimensions beyond the grid's that an option gives; whether for this variable by name.
struct lengths_given {
  std::int64_t const* lengths;
  int count;
  bool is_own;
};

/// What a type of arrays says of how they lie. The first `dynamic` of `rank` dimensions are set at run time.
struct array_kind {
  int rank, dynamic;
  std::int64_t element_bytes;
  bool is_left; ///< the first index runs fastest
  std::int64_t fixed[max_rank + 1];

  template <class View>
  static constexpr array_kind of(bool is_left) {
    array_kind made{int(View::rank), int(View::rank_dynamic), sizeof(typename View::value_type), is_left, {}};
    for (int d = made.dynamic; d < made.rank; ++d) made.fixed[d] = std::int64_t(View::static_extent(unsigned(d)));
    return made;
  }
};

/// Where a step is.
struct step_progress {
  position now = {};
  void (*apply_pending)(cell* row, position now) = nullptr; ///< in a planned step: brings cells to the position
  bool is_in_step = false;
};

struct fields_state {
  /// `memories` counts the host's.
  fields_state(std::vector<share> shares, int memories);
  ~fields_state();
  fields_state(fields_state const&) = delete;
  fields_state& operator=(fields_state const&) = delete;

  /// Finds out how the arrays of the next variable lie on each share, and tells the provider.
  void lay_out(variable_info const& about, array_kind const& kind, std::initializer_list<lengths_given> given,
               int components, kokkos_provider::allocator make, void* owner);
  /// Makes the arrays of all levels and components of a variable in memory `m`, as views of type `View`, from views of
  /// type `Made`; `options(label)` is what Kokkos gets beside the lengths.
  template <class View, class Made, class Options>
  void make_arrays(int variable, memory m, Options const& options);

  /// The views of one variable in one memory, by component, then slot.
  [[nodiscard]] void const* arrays(int variable, memory m) const { return arrays_[place_of(variable, m)].get(); }
  /// This rank's share of the grid of a component.
  [[nodiscard]] share const& local(component which) const {
    return shares_[shares_.size() == 1 ? 0 : std::size_t(which.index)];
  }
  /// How the ranks cut the grids: 2x2, and 1x4 behind it for a second component that has a grid of its own.
  [[nodiscard]] std::string cut() const;
  /// Prints it as a row of the table of knobs, which was printed before there was a grid.
  void print_cut() const;
  void require_idle(std::string_view who) const;

  std::vector<share> shares_; // by component, or one for all
  kokkos_provider provider_;
  std::vector<halo_array> exchanged_;
  std::vector<sent> sent_;
  bool sends_by_way_of_host_ = false; // where MPI does not reach the device's memory
  // The cells of the only component. With more components, and inside a step, a row on which every test fails; it is
  // not written.
  cell* row_ = nullptr;
  std::vector<cell> slow_row_;
  mutable std::vector<cell> current_row_;
  step_progress progress_;
  void* result_ = nullptr; // where what a routine returns goes to
  std::size_t chosen_ = 0;
  bool poisons_ = false;
  residency::settings settings_;
  std::vector<int> copied_back_; // by number
  std::int64_t steps_ = 0, planned_steps_ = 0;

private:
  using views = std::unique_ptr<void, void (*)(void*)>;
  struct record {
    variable_info const* about;
    int arrays;                                             // of all levels and components
    std::vector<std::array<std::size_t, max_rank>> extents; // of the dynamic dimensions, by share
  };

  [[nodiscard]] std::size_t place_of(int variable, memory m) const {
    return std::size_t(variable * memories_) + std::size_t(m);
  }
  shape shape_on(share const& part, variable_info const& about, array_kind const& kind, std::int64_t const* extra,
                 std::array<std::size_t, max_rank>& dynamic) const;
  // What Kokkos gets for one array: its label and the lengths of its dynamic dimensions.
  [[nodiscard]] std::pair<std::string, std::size_t const*> described(int variable, int array) const;
  void check_size(int variable, int array, std::size_t elements) const;

  int memories_;
  std::vector<record> variables_;
  std::vector<views> arrays_; // at place_of
};

template <class View, class Made, class Options>
void fields_state::make_arrays(int variable, memory m, Options const& options) {
  int const count = variables_[std::size_t(variable)].arrays;
  auto* const made = new View[std::size_t(count)];
  views all(made, [](void* them) { delete[] static_cast<View*>(them); });
  std::vector<void*> data;
  for (int i = 0; i < count; ++i) {
    typename View::array_layout lengths;
    auto const [label, extents] = described(variable, i);
    for (int d = 0; d < int(View::rank_dynamic); ++d) lengths.dimension[d] = extents[d];
    made[i] = Made(options(label), lengths);
    check_size(variable, i, made[i].span());
    data.push_back(made[i].data());
  }
  provider_.place(variable, m, std::move(data));
  arrays_[place_of(variable, m)] = std::move(all); // when all are there
}

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/residency/lay_out.hpp>
#endif
