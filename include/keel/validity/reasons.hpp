// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// An observer that remembers, for each region, what made it stale.

#include <keel/validity/observer.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace keel::residency {

/// The last thing that happened to each region of each level and component: some 64 bytes for each.
class reasons : public unobserved {
public:
  static constexpr bool is_told = true;

  /// What memories are called in the texts; else `host`, `memory 1`, …
  void name_memories(std::vector<std::string> names) { memories_ = std::move(names); }
  /// The number that steps have in the texts from now on; 0 is before the first.
  void begin_step(std::int64_t n) { step_ = n; }

  void add(std::string_view, int levels, int components, region_bytes const&) {
    variables_.push_back({levels, std::vector<event>(std::size_t(levels * components * region_count))});
  }
  void renumber(int variable, std::span<int const> kept) {
    auto& v = variables_[std::size_t(variable)];
    std::vector<event> made(kept.size() * v.per_component());
    for (std::size_t c = 0; c < kept.size(); ++c)
      if (kept[c] >= 0)
        std::copy_n(&v.events[std::size_t(kept[c]) * v.per_component()], v.per_component(),
                    &made[c * v.per_component()]);
    v.events.swap(made);
  }
  void rotate(int variable, rotation how) {
    auto& v = variables_[std::size_t(variable)];
    for (std::size_t first = 0; first < v.events.size(); first += v.per_component()) {
      if (event* const freed = rotate_levels(&v.events[first], v.levels, how, region_count))
        std::fill_n(freed, region_count, event{cause::rotated, how, host, step_, {}});
    }
  }
  void write(request const& r, int component, memory m, std::string_view routine) {
    note(r, component, cause::written, m, routine);
  }
  void lose(request const& r, int component, std::string_view routine) {
    note(r, component, cause::lost, host, routine);
  }

  /// *routine rhs wrote it on the host in step 12*, *the levels cycled in step 3, and it was not written since*, …
  [[nodiscard]] std::string why(int variable, int level, int component, region single) const;

private:
  enum class cause : std::uint8_t { nothing, written, spoiled, rotated, lost };
  struct event {
    cause what = cause::nothing;
    rotation how = rotation::cycle; // of the levels, if that is the cause
    memory where = host;
    std::int64_t step = 0;
    std::string routine;
  };
  struct variable_causes {
    int levels;
    std::vector<event> events; // by component, level, region
    [[nodiscard]] std::size_t per_component() const { return std::size_t(levels * region_count); }
    [[nodiscard]] std::size_t place_of(int component, int level, region single) const {
      return std::size_t(component) * per_component() + std::size_t(region_count * level + index_of(single));
    }
  };

  void note(request const& r, int component, cause what, memory m, std::string_view routine) {
    auto& v = variables_[std::size_t(r.variable)];
    for (region one : single_regions) {
      if (!overlap(one, invalidated_by(r.writes))) continue;
      auto& e = v.events[v.place_of(component, r.level, one)];
      e.what = what == cause::written && !overlap(one, r.writes) ? cause::spoiled : what;
      e.where = m, e.step = step_, e.routine = routine;
    }
  }

  std::vector<variable_causes> variables_;
  std::vector<std::string> memories_;
  std::int64_t step_ = 0;
};

inline std::string reasons::why(int variable, int level, int component, region single) const {
  variable_causes const& v = variables_[std::size_t(variable)];
  event const& e = v.events[v.place_of(component, level, single)];
  std::size_t const m = std::size_t(e.where);
  std::string const where = m < memories_.size() ? memories_[m] : m == 0 ? "host" : "memory " + std::to_string(m);
  std::string const when = e.step == 0 ? " before the first step" : " in step " + std::to_string(e.step);
  switch (e.what) {
  case cause::nothing: return "it was never written";
  case cause::written: return "routine " + e.routine + " wrote it on " + where + when;
  case cause::spoiled:
    return "routine " + e.routine + " wrote the cells that it copies, on " + where + when +
           ", and there was no exchange since";
  case cause::rotated:
    return "the levels " + std::string(words_of(e.how).done) + when + ", and it was not written since";
  case cause::lost:
    if (e.routine == "repartition" || e.routine == "migrate" || e.routine == "regrid" || e.routine == "reorder" ||
        e.routine == "renew_ghosts")
      return e.routine + " found no values for some of it" + when;
    return "routine " + e.routine + " failed" + when + ", and may have written a part";
  }
  return {};
}

} // namespace keel::residency
