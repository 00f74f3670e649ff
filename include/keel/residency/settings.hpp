// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What a user says about residency at run time: above all what is copied back to the host for output that
/// declares nothing. A runtime that has a `residency_settings()` is asked for them.

#include <keel/policy/error.hpp>
#include <keel/policy/nearest.hpp>
#include <keel/residency/request.hpp>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace keel::residency {

/// The knobs, with their defaults. Output that declares what it reads needs none of them.
struct settings {
  std::optional<int> copy_back_every = 1;    ///< steps from one copying back to the next; empty: never
  std::string copy_back_vars = "all";        ///< names of variables or groups, see `chosen_by`
  std::string copy_back_vars_name = "copy-back-vars"; ///< what the user wrote these to: an option or a variable
  bool copy_back_all_levels = false;         ///< or the current level alone
  bool copy_back_written_in_analysis = true; ///< what the routines of an `analysis` wrote, at its end
  bool only_reads_current_level = false;     ///< of a routine that names no levels: see `all_levels`
  bool only_writes_current_level = false;
  bool verbose = false;                      ///< a line on standard error for each copying back
  bool veryverbose = false; ///< and one for each routine and exchange that needed copies; of rank 0, both
  std::string trace_file = "keel-trace";     ///< what `traced` writes goes to this name, with `.rank.jsonl` behind it
};

/// What a variable can be called by.
struct names {
  std::string_view variable, group; ///< the latter empty where it is in none
};

/// Which variables a text means: names of variables and of groups, with blanks or commas between them; the
/// empty text none, `all` all. A name that matches nothing is an error that has the nearest known one, and what the
/// text was `written_to`.
[[nodiscard]] inline std::vector<bool> chosen_by(std::string_view text, std::span<names const> known,
                                                 std::string_view written_to = "copy-back-vars") {
  std::vector<bool> chosen(known.size(), text == "all");
  if (text == "all") return chosen;
  constexpr std::string_view between = " \t\n,";
  for (std::size_t at = text.find_first_not_of(between); at != text.npos; at = text.find_first_not_of(between, at)) {
    std::size_t const end = std::min(text.find_first_of(between, at), text.size());
    std::string_view const word = text.substr(at, end - at);
    at = end;
    bool is_known = false;
    std::vector<std::string_view> all{"all"};
    for (std::size_t v = 0; v < known.size(); ++v) {
      if (word == known[v].variable || word == known[v].group) chosen[v] = is_known = true;
      all.push_back(known[v].variable);
      if (!known[v].group.empty()) all.push_back(known[v].group);
    }
    if (!is_known)
      throw error("residency", std::string(written_to) + " names '" + std::string(word) + "'",
                  "no variable and no group is called so", "Did you mean " + std::string(policy::nearest(word, all)));
  }
  return chosen;
}

/// What a routine asks that names a variable and no level, as Cactus' routines do: all levels, but for
/// what the settings restrict to the current one.
[[nodiscard]] inline std::vector<request> all_levels(int variable, int levels, region reads, region writes,
                                                     settings const& how) {
  std::vector<request> list;
  for (int l = 0; l < levels; ++l) {
    request const one{variable, l, l > 0 && how.only_reads_current_level ? region::none : reads,
                      l > 0 && how.only_writes_current_level ? region::none : writes};
    if (one.reads != region::none || one.writes != region::none) list.push_back(one);
  }
  return list;
}

} // namespace keel::residency
