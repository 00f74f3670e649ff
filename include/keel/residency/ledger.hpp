// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The book of what is valid where, for variables known at run time, and the calls by which a
/// driver keeps it. `fields` keeps its own book in one, and tests it with constants.

#include <keel/impl/residency/merge.hpp>
#include <keel/residency/concepts.hpp>
#include <keel/residency/observer.hpp>
#include <keel/residency/routine.hpp>
#include <keel/residency/settings.hpp>
#include <keel/residency/traffic.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace keel::residency {

/// A half-open range of components.
struct component_range {
  int begin = 0, end = 1;
};

/// The bytes of one component of a level, by region: core, rim, ghosts.
using region_bytes = std::array<std::uint64_t, 3>;

/// State for each variable, level and component: four bytes. One thread at a time.
///
/// The provider must outlive it. Allocates where variables are added, and nowhere else. Tells its observer of
/// all that happens by its calls; who writes to `cells()` tells it himself.
template <Provider P, Observer O = unobserved>
class ledger {
public:
  /// `memories` counts the host's; every variable has as many components.
  explicit ledger(P& provider, int memories = 2, int components = 1);
  ledger(ledger const&) = delete;
  ledger& operator=(ledger const&) = delete;

  /// Adds a variable, valid nowhere, and returns its number. A region of no bytes is valid
  /// everywhere. Throws where the name stands already.
  int add(std::string_view name, int levels, region_bytes const& bytes = {1, 1, 1}, std::string_view group = {});
  /// The number of a variable. Throws `keel::error` with the name where there is none.
  [[nodiscard]] int find(std::string_view name) const;
  /// The variables that a text means; see `chosen_by`.
  [[nodiscard]] std::vector<int> find_all(std::string_view text) const;
  /// Lets the provider create all variables in `m`; once for each memory.
  void open(memory m);
  [[nodiscard]] bool is_open(memory m) const { return (open_ >> int(m) & 1) != 0; }

  /// The nine calls of a driver. Those that name a routine do so for messages.
  void cycle(int variable);
  void copy_from_past(int variable);
  void pre_sync(std::span<request const> rims, component_range range = {});
  void post_sync(std::span<request const> ghosts, component_range range = {});
  void pre_call(std::span<request const> list, memory m, std::string_view routine, component_range range = {});
  void post_call(std::span<request const> list, memory m, component_range range = {}, std::string_view routine = "the caller");
  void notify_data_modified(int variable, int level, region where, memory m, component_range range = {});
  void require_invalid_data(int variable, int level, region where, memory m, component_range range = {});
  void require_valid_data(int variable, int level, region where, memory m, std::string_view routine = "the caller",
                          component_range range = {});

  /// Makes valid in `m` all that `list` reads, and lets copies from the host end whose source
  /// `list` writes. Finds out first whether it can: throws `keel::error`, naming variable, level,
  /// region and routine, before anything moves.
  void acquire(std::span<request const> list, memory m, std::string_view routine, component_range range);
  /// Brings to the host what is valid anywhere of these variables, for output that declares nothing: of their
  /// current level or of all. Allocates.
  void copy_back(std::span<int const> variables, bool all_levels, std::string_view output, component_range range = {});
  /// Poisons what `list` is about to overwrite in `m`, and what that makes stale elsewhere.
  void poison(std::span<request const> list, memory m, component_range range);
  /// What a failed writer leaves is valid nowhere.
  void lose(std::span<request const> list, component_range range, std::string_view routine = "the caller");

  /// The state of a component: the levels of the first variable, of the second, and so on.
  [[nodiscard]] cell* cells(int component) { return cells_.data() + std::size_t(component) * stride_; }
  /// Cells from one component to the next.
  [[nodiscard]] std::size_t stride() const { return stride_; }
  [[nodiscard]] cell at(int variable, int level, int component = 0) const {
    return cells_[std::size_t(component) * stride_ + index(variable, level)];
  }
  [[nodiscard]] bool is_valid(int variable, int level, region where, memory m, int component = 0) const {
    return residency::is_valid(at(variable, level, component), where, m);
  }
  [[nodiscard]] int components() const { return components_; }
  [[nodiscard]] int memories() const { return memories_; }
  [[nodiscard]] int variables() const { return int(variables_.size()); }
  [[nodiscard]] std::string_view name(int variable) const { return variables_[std::size_t(variable)].name; }
  [[nodiscard]] int levels(int variable) const { return variables_[std::size_t(variable)].levels; }

  [[nodiscard]] O& observer() { return observer_; }
  [[nodiscard]] residency::traffic& traffic() { return traffic_; }
  [[nodiscard]] residency::traffic const& traffic() const { return traffic_; }

private:
  struct record {
    std::string name;
    int levels;
    std::size_t base;
    region_bytes bytes;
    std::string group;
  };
  static constexpr std::size_t batch_size = 64;
  enum class verb { to_host, to_device, pre_sync, post_sync };

  [[nodiscard]] std::size_t index(int variable, int level) const {
    return variables_[std::size_t(variable)].base + std::size_t(level);
  }
  [[nodiscard]] std::string describe(request const& r, region where, int component) const;
  void bring(std::span<request const> list, memory from, memory to, memory reader, verb how, std::string_view routine,
             component_range range);
  void send(std::span<transfer const> batch, verb how, std::string_view routine);
  void wait_for_flights();
  template <class F>
  void for_each_cell(std::span<request const> list, component_range range, F&& f);

  P& provider_;
  int memories_, components_;
  std::uint32_t open_ = 0;
  std::vector<record> variables_;
  std::vector<cell> cells_;     // by component, then as the variables were added
  std::size_t stride_ = 0;      // room for cells of one component
  residency::traffic traffic_;
  [[no_unique_address]] O observer_;
};

} // namespace keel::residency

#include <keel/impl/residency/ledger.hpp>
#include <keel/impl/residency/ledger_outputs.hpp>
