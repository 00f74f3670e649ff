// SPDX-License-Identifier: MIT
#include <keel/impl/schedule/explain_texts.hpp>
#include <keel/policy/error.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <tuple>
#include <vector>

namespace keel::residency::detail {

using told_row = std::array<std::string, 8>;

[[nodiscard]] inline std::string aligned(std::vector<told_row> const& rows) {
  std::array<std::size_t, std::tuple_size_v<told_row>> width{};
  for (told_row const& r : rows)
    for (std::size_t c = 0; c < r.size(); ++c) width[c] = std::max(width[c], r[c].size());
  std::string text;
  for (told_row const& r : rows) {
    std::string line;
    for (std::size_t c = 0; c < r.size(); ++c) line += r[c] + std::string(width[c] - r[c].size() + 2, ' ');
    text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  }
  return text;
}

/// The memories that data can come from, with `or` between them.
[[nodiscard]] inline std::string sources(explanation const& made, read_sources const& m) {
  std::string text;
  for (std::size_t k = 0; k < made.memories.size(); ++k)
    if ((m.from >> k & 1U) != 0) text += (text.empty() ? "" : " or ") + made.memories[k];
  return text;
}

[[nodiscard]] inline std::string regions_of(explained_access const& a) {
  region const all = a.reads | a.writes;
  if (all == region::none) return "levels";
  if (overlap(all, region::halo) && a.layers == 0) return "closure";
  std::string text(residency::name_of(all));
  if (overlap(all, region::halo) && a.layers < all_layers) text += ", " + policy::counted(a.layers, "layer");
  return text;
}

[[nodiscard]] inline std::string fate_of_ghosts(explained_entry const& e, explained_access const& a) {
  if (e.what == entry_kind::exchange)
    return overlap(a.writes, region::ghosts) ? "filled here" : "sent to the neighbours";
  if (e.what == entry_kind::accumulate && a.writes == region::none) return "added to their owners";
  if (overlap(a.writes, region::owned) && !overlap(a.writes, region::ghosts)) return "stale from here on";
  if (overlap(a.writes, region::ghosts)) return a.reads == region::none ? "written here" : "changed here";
  if (overlap(a.reads, region::ghosts) && a.seen.lost) return "have not been filled";
  return "";
}

KEEL_INLINE std::string as_table(explanation const& made) {
  std::vector<told_row> rows{{"entry", "in", "data", "region", "access", "copied", "from", "ghosts"}};
  for (std::size_t i = 1; i < made.entries.size(); ++i) { // the schedule itself comes first
    explained_entry const& e = made.entries[i];
    std::string name = std::string(std::size_t(2 * (e.depth - 1)), ' ') + e.name;
    if (e.accesses.empty()) rows.push_back({name, e.where});
    for (explained_access const& a : e.accesses) {
      bool const reads = a.reads != region::none, writes = a.writes != region::none;
      std::string const copied = reads ? word_for(a.seen) : "";
      rows.push_back({name, name.find_first_not_of(' ') == name.npos ? "" : e.where, a.variable, regions_of(a),
                      reads && writes ? "updates"
                      : reads         ? "reads"
                      : writes        ? "writes"
                                      : "moves",
                      copied, copied == "always" || copied == "depends" ? sources(made, a.seen) : "",
                      fate_of_ghosts(e, a)});
      name = std::string(name.size(), ' ');
    }
  }
  std::string text = "on " + made.device + ", once " + policy::counted(made.transient, "step is", "steps are") +
                     " made:\n" + aligned(rows);
  if (made.period == 0) return text + "no steady state was found\n";
  std::vector<told_row> sums{{"", "core", "rim", "halo", "walls"}};
  for (std::size_t a = 0; a < std::size_t{max_planned_memories}; ++a)
    for (std::size_t b = 0; b < std::size_t{max_planned_memories}; ++b) {
      auto const& n = made.copies.copies[a][b];
      if (std::all_of(std::begin(n), std::end(n), [](std::int64_t one) { return one == 0; })) continue;
      told_row row{made.memories[a] + " to " + made.memories[b]};
      for (std::size_t r = 0; r < region_count; ++r) row[r + 1] = std::to_string(n[r]);
      sums.push_back(row);
    }
  text += "copies in " +
          (made.period == 1 ? std::string("a step") : "a period of " + std::to_string(made.period) + " steps");
  text += sums.size() == 1 ? ": none\n" : ":\n" + aligned(sums);
  for (told_early_copy const& c : made.early)
    text += "begins after " + c.writer + ", for " + c.reader + ": " + c.variable + ' ' +
            std::string(residency::name_of(c.where)) + " to " + made.memories[std::size_t(c.to)] + '\n';
  for (std::string const& names : made.scratches)
    text += (names.find(',') != names.npos ? "share memory: " : "has memory of its own: ") + names + '\n';
  for (explained_entry const& e : made.entries) {
    if (!e.reduced.empty()) text += e.reduced + ": " + e.name + '\n';
    if (e.begins_within.empty()) continue;
    text += "begins within " + e.begins_within + ", after its rim: " + e.name;
    for (explained_access const& a : e.accesses)
      if (a.reads != region::none) text += ' ' + a.variable;
    text += '\n';
  }
  return text;
}

} // namespace keel::residency::detail
