// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What a user says about residency at run time: above all what is copied back to the host for output that
/// declares nothing. A runtime that has a `residency_settings()` is asked for them.

#include <keel/policy/macros.hpp>
#include <keel/validity/concepts.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace keel::residency {

/// The knobs, with their defaults. Output that declares what it reads needs none of them.
struct settings {
  std::optional<int> copy_back_every = 1;    ///< steps from one copying back to the next; empty: never
  std::string copy_back_vars = "all";        ///< names of variables or groups, see `chosen_by`
  bool copy_back_all_levels = false;         ///< or only the current level
  bool copy_back_written_in_analysis = true; ///< what the routines of an `analysis` wrote, at its end
  bool only_reads_current_level = false;     ///< of a routine that names no levels: see `all_levels`
  bool only_writes_current_level = false;
  bool verbose = false;                  ///< a line on standard error for each copying back
  bool veryverbose = false;              ///< and one for each routine and exchange that needed copies; of rank 0, both
  std::string trace_file = "keel-trace"; ///< what `traced` writes goes to this name, followed by `.rank.jsonl`
  std::string exchange_through = "measured"; ///< the transport of exchanges, by name, or the fastest at the start
  bool exchange_together = true;             ///< one message to each rank, or one for each variable and level
  std::optional<bool> graphs =
      true;                 ///< what a `graph` launches is recorded and launched at once; empty: if that is faster
  std::string restart = {}; ///< the checkpoint that the first step goes on from; empty: none
  std::optional<int> checkpoint_every = {}; ///< steps from one checkpoint to the next; empty: as the schedule says
  std::optional<int> checkpoint_before_end =
      {};                    ///< seconds before the end of the job at which one is made; empty: never
  std::string tracking = {}; ///< which of the policy's trackings, by name; empty: the first
  /// What the user wrote these to, for messages: an option, a variable or a line of a file.
  std::string copy_back_vars_name = "copy-back-vars", exchange_through_name = "exchange-through",
              tracking_name = "tracking";

  /// Whether something has to be done before or after steps.
  [[nodiscard]] bool watches_steps() const { return !restart.empty() || checkpoint_every || checkpoint_before_end; }
};

/// The device that routines `on_device` of `App` run on, as its runtime has chosen it; empty if none runs.
template <class App>
inline std::string_view chosen_device{};

/// What a variable can be called by.
struct names {
  std::string_view variable, group; ///< the latter empty if it is in none
};

/// Which variables a text means: names of variables and of groups, with blanks or commas between them; the
/// empty text none, `all` all. A name that matches nothing is an error that has the nearest known one, and what the
/// text was `written_to`.
[[nodiscard]] std::vector<bool> chosen_by(std::string_view text, std::vector<names> const& known,
                                          std::string_view written_to = "copy-back-vars");

/// What a routine asks that names a variable and no level, as Cactus' routines do: all levels, but for
/// what the settings restrict to the current one.
[[nodiscard]] std::vector<request> all_levels(int variable, int levels, region reads, region writes,
                                              settings const& how);

} // namespace keel::residency

#if !KEEL_COMPILED
#include <keel/impl/validity/settings.ipp>
#endif
