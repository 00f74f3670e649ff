// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Where the data of fields are valid, and what is done to them so that they are where they are needed: copies, poison,
/// output, views that the caller keeps.

#include <keel/impl/layout/array_kind.hpp>
#include <keel/policy/macros.hpp>
#include <keel/validity/concepts.hpp>
#include <keel/validity/settings.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace keel::residency {
class traffic;
}

namespace keel::residency::detail {

class any_observer;
class arrays;
class field_ledger;
struct prefetch;
struct thunk;
struct tracking_choice;

class book {
public:
  /// Throws unless data are tracked, if there are several memories.
  book(arrays& of, tracking_choice const& how);
  ~book();
  book(book const&) = delete;
  book& operator=(book const&) = delete;

  /// Adds the last variable that the arrays got.
  void add_variable();
  [[nodiscard]] field_ledger& ledger() const { return *ledger_; }
  [[nodiscard]] any_observer& observer() const;
  /// Before there are variables.
  void observe_by(std::unique_ptr<any_observer> other);
  [[nodiscard]] residency::traffic& traffic() const;
  void name_memories(std::vector<std::string> const& names);
  [[nodiscard]] bool is_open(memory m) const;
  void open(memory m, std::string_view routine = "the caller");

  /// Whether data are tracked.
  [[nodiscard]] bool keeps_ledger() const { return keeps_ledger_; }
  void require_tracked(std::string_view who) const;
  /// Whether routines are checked, and what is overwritten is poisoned before.
  [[nodiscard]] bool checks() const { return checks_; }
  [[nodiscard]] bool poisons() const { return poisons_ && !records_; }
  void poison_from_now() { poisons_ = true; }
  /// As long as it lives, nothing is poisoned: it would be part of what is recorded.
  class recording_scope {
  public:
    explicit recording_scope(book& of) : of_(of) { of_.records_ = true; }
    ~recording_scope() { of_.records_ = false; }
    recording_scope(recording_scope const&) = delete;
    recording_scope& operator=(recording_scope const&) = delete;

  private:
    book& of_;
  };
  /// Whether this rank prints.
  void print_as(bool is_master) { is_master_ = is_master; }
  [[nodiscard]] bool prints() const { return is_master_; }
  void set(residency::settings const& how);
  [[nodiscard]] residency::settings const& settings() const { return settings_; }

  [[nodiscard]] std::int64_t steps() const { return steps_; }
  void set_steps(std::int64_t n) {
    if (n != steps_ + 1) began_at_ = n;
    steps_ = n;
  }
  /// Steps that a run before made, from which this one goes on.
  [[nodiscard]] std::int64_t began_at() const { return began_at_; }

  [[nodiscard]] bool is_valid(int variable, int level, region where, memory m, int component, int layers) const;
  /// The last memory that has a region of a level, a device rather than the host; the host if data are not tracked.
  [[nodiscard]] memory memory_with(int variable, int level, region where, int component, int layers = all_layers) const;
  /// Whether a region of a component has memory of its own at the moment. That of a scratch that is not valid has none.
  [[nodiscard]] bool has_array(int variable, memory m, region one, int component) const;
  /// Brings what a routine needs, or begins to.
  void acquire(std::span<request const> list, memory m, std::string_view routine, component_range range);
  void begin_prefetch(std::span<prefetch const> runs, request const* requests, component_range range);
  /// Does what may copy, and reports it if the user asked for that.
  void report_copies(std::string_view routine, thunk copy);
  /// Poisons what a routine is about to overwrite, and what others left in the scratches that it writes.
  void poison(std::span<request const> asked, memory m, component_range range);
  void rotate(int variable, rotation how);
  void copy_back_for(std::string_view output, component_range range);
  void copy_back_written(std::span<request const> written, component_range range);
  /// The owned part has to be there. Ghosts are there if they were filled.
  void require_copied_back(int variable, int level, int which, std::string_view output) const;
  /// The array whose elements these bytes of a caller's view are; empty for a view without elements.
  [[nodiscard]] std::optional<owner> owner_of(std::string const& label, void const* data, std::size_t bytes) const;
  /// The caller works on the array without a queue of keel's, so all that is queued for it has to be done.
  void require_data(std::optional<owner> const& o, region reads, region writes);
  void notify_data_modified(std::optional<owner> const& o, region where);
  void copy_from_past(int variable);
  /// Nothing is under way any more, to arrays or from them.
  void settle_all(std::string_view who) const;
  /// A variable has other arrays.
  void renew(int variable);

private:
  /// Says the bytes of components that are not like the first.
  void resize_components(int variable);
  void copy_back(std::span<request const> list, std::size_t variables, std::string_view why, component_range range);
  [[nodiscard]] std::string step_text() const;

  arrays& arrays_;
  std::unique_ptr<field_ledger> ledger_;
  bool keeps_ledger_, checks_, poisons_, is_master_ = true, records_ = false;
  residency::settings settings_;
  std::vector<int> copied_back_; // by number
  std::int64_t steps_ = 0, began_at_ = 0;
};

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/residency/book.ipp>
#endif
