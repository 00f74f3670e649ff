// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The variables of a registry, named at run time: fields by another way in. Arrays go by bytes here.

#include <keel/impl/exchange/array_ref.hpp>
#include <keel/impl/layout/array_kind.hpp>
#include <keel/impl/residency/checked_call.hpp>
#include <keel/impl/residency/fields_state.hpp>
#include <keel/layout/variable.hpp>
#include <keel/policy/macros.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace keel::residency::detail {

class registered {
public:
  /// For fields without variables, which keep them.
  explicit registered(fields_state& of) : fields_(of) {}
  registered(registered const&) = delete;
  registered& operator=(registered const&) = delete;

  /// What is registered; `lies` without data.
  struct wanted {
    std::string_view name;
    array_ref lies;
    void const* type; ///< a `type_mark`
    int levels = 1;
    std::array<void*, max_memories> adopted{};    ///< where the application's array lies in each memory
    std::array<std::int64_t, max_rank> lengths{}; ///< of keel's own, beyond the grid or mesh, so many
    int given = 0;
    bool is_left = false;       ///< its first index runs fastest
    bool is_saved = true;       ///< by checkpoints
    std::exception_ptr wrong{}; ///< what `add` throws, on every rank

    /// The application's array in a memory. Arrays lie in the same way, and each memory has one, or it is wrong.
    void adopt(array_ref one, void const* type_of_it, memory m);
  };
  /// Registers a variable and returns its number; that of one which is there, if its arrays are adopted again.
  /// Collective: the same error on every rank, if one cannot, or if they register others.
  int add(wanted const& w, bool is_adopted);

  [[nodiscard]] int find(std::string_view name) const;
  [[nodiscard]] int size() const { return int(all_.size()); }
  [[nodiscard]] int levels(int variable) const { return all_[std::size_t(variable)].about.levels; }
  [[nodiscard]] std::string_view name(int variable) const { return all_[std::size_t(variable)].name; }
  /// Where a level lies, and how, for a view of this element type and rank.
  [[nodiscard]] array_ref lies(int variable, int level, memory m, void const* type, int rank) const;
  /// Throws if there are variables of the application on that mesh, whose arrays it would have to make anew.
  void require_own(std::string_view mesh) const;

  /// A use of some variables by code of the application.
  struct use {
    std::string name;
    memory where = host;
    std::vector<request> asked;
    std::vector<checker::digested> before{}; ///< what it does not declare, if it is checked and nothing comes between
  };
  /// Makes valid what it reads, and records what it writes.
  void begin(use& u);
  /// Throws if it is checked, and what it does not declare has changed.
  void end(use& u, bool has_failed);
  /// Fills ghosts, or adds them to their owners.
  void exchange(std::span<request const> asked, bool adds, memory m);
  /// Throws if a use that has begun writes one of these, or this writes what one reads. Uses that are open are not
  /// checked from then on.
  void require_idle(std::span<request const> asked, std::string_view who) const;

private:
  struct one {
    std::string name;
    array_ref lies;
    void const* type;
    std::array<void*, max_memories> adopted;
    bool is_adopted;
    array_kind kind;
    variable_info about;
    shape own{};
    std::vector<dimension_run> order{};
  };
  static void make(void* self, int variable, memory m);
  void make(int variable, memory m);

  fields_state& fields_;
  std::deque<one> all_; // their addresses stay
  std::vector<use*> open_;
  checker checker_{fields_.arrays_, fields_.book_};
};

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/residency/registered.ipp>
#endif
