// SPDX-License-Identifier: MIT
#include <keel/impl/schedule/explanation.hpp>
#include <keel/impl/schedule/prefetch.hpp>
#include <keel/impl/schedule/scratch.hpp>

#include <array>
#include <set>
#include <utility>

namespace keel::residency::detail {

/// Finds the rows and the flows.
struct explainer {
  explicit explainer(explained_schedule const& of) : given(of), table(of.table), writers(of.states) {
    out.device = of.device;
    out.memories = of.memories;
    out.transient = of.steady.transient, out.period = of.steady.period;
    out.copies = of.steady.period_copies;
    std::vector<std::pair<std::size_t, int>> open; // groups, with the number of their next entry
    for (std::size_t i = 0; i < table.size; ++i) {
      while (!open.empty() && table.nodes[open.back().first].end <= i) open.pop_back();
      make(i, int(open.size()));
      if (!open.empty() && is_choice(table.nodes[open.back().first].what()))
        out.entries.back().name.insert(0, std::to_string(open.back().second++) + ": ");
      if (has_body(table.nodes[i].what())) open.emplace_back(i, 0);
    }
    tell_early();
    for (auto const& pool : scratches(table, given.where).pools) {
      std::string& names = out.scratches.emplace_back();
      for (int v : pool) names += (names.empty() ? "" : ", ") + std::string(table.variables[v]->name);
    }
    // The levels have to go round once before every reader meets the writer of its steady state.
    for (step = 0; step < given.states + 2; ++step) {
      is_last = step == given.states + 1;
      walk(table.nodes, 0, table.size, *this);
    }
  }

  // Finds the nodes that may have written what a node reads.
  void leaf(std::size_t i) {
    schedule_node const& n = table.nodes[i];
    for (std::uint32_t r = n.first; r < n.last; ++r)
      if (!rotates(n.what())) meet(i, table.requests[r], given.seen[r]);
      else if (int const levels = table.variables[table.requests[r].variable]->levels; levels > 1)
        if (auto* const freed = rotate_levels(&writers[state_of(table.requests[r])], levels, rotation_of(n.what())))
          *freed = {};
  }
  void group(std::size_t i, auto const& body) {
    if (is_for_first_step(table.nodes[i].what())) return;
    auto const before = writers;
    if (is_choice(table.nodes[i].what())) return choose(i, before);
    body();
    if (is_conditional(table.nodes[i].what())) join(before);
  }

  explanation out;

private:
  // By state and region: nodes, and their steps.
  using writers_of_cell = std::array<std::set<std::pair<std::size_t, std::size_t>>, region_count>;
  using row_of_writers = std::vector<writers_of_cell>;

  // What each of its entries may have written.
  void choose(std::size_t group, row_of_writers const& before) {
    row_of_writers all(given.states);
    for (std::size_t k = 0; k < table.nodes[group].about->child_count; ++k) {
      writers = before;
      walk_one(table.nodes, group, k, *this);
      join(all);
      all = writers;
    }
  }
  void join(row_of_writers const& others) {
    for (std::size_t c = 0; c < given.states; ++c)
      for (std::size_t r = 0; r < region_count; ++r) writers[c][r].insert(others[c][r].begin(), others[c][r].end());
  }
  void make(std::size_t i, int depth) {
    schedule_node const& n = table.nodes[i];
    explained_entry made{n.what(), name_of(*n.about), {}, depth, {}, {}, {}};
    for (std::uint32_t r = n.first; r < n.last; ++r)
      if (rotates(n.what())) made.accesses.emplace_back().variable = table.variables[table.requests[r].variable]->name;
      else add(made, table.requests[r], given.seen[r]);
    if (has_place(n.what()) || n.what() == entry_kind::output) made.where = out.memories[std::size_t(given.where[i])];
    if (i > 0 && table.nodes[i - 1].begins == i) made.begins_within = table.nodes[i - 1].about->name;
    if (value_info const* const value = n.about->makes) {
      std::size_t j = i + 1;
      while (j < table.size && !table.nodes[j].about->reads_value(value)) ++j;
      made.reduced = "reduced from " + std::string(value->routine) + ", waited for " +
                     (j < table.size ? "before " + name_of(*table.nodes[j].about) : "at the end of the step");
    }
    out.entries.push_back(std::move(made));
  }
  void tell_early() {
    prefetch_table const all(table, given.where);
    for (std::size_t i = 0; i < table.size; ++i)
      for (prefetch const& p : all.of(i))
        for (std::size_t r = p.first; r < p.first + p.size; ++r)
          out.early.push_back({name_of(*table.nodes[i].about), std::string(p.reader), level_of(all.requests[r]),
                               all.requests[r].reads, p.to});
  }
  // Regions that meet the same share a row.
  void add(explained_entry& made, request const& s, read_sources const* seen) {
    std::size_t const first = made.accesses.size();
    for (region one : single_regions) {
      region const reads = one & s.reads, writes = one & s.writes;
      read_sources const& m = seen[index_of(one)];
      if (reads == region::none && writes == region::none) continue;
      if (one == region::walls && writes == region::none && !m.lacked && s.reads != one) continue; // there may be none
      bool joined = false;
      for (std::size_t i = first; i < made.accesses.size() && !joined; ++i) {
        explained_access& a = made.accesses[i];
        joined = a.seen == m && (a.reads != region::none) == (reads != region::none) &&
                 (a.writes != region::none) == (writes != region::none);
        if (joined) a.reads = a.reads | reads, a.writes = a.writes | writes;
      }
      int const layers = overlap(s.writes, region::halo) ? s.written_layers : s.read_layers;
      if (!joined) made.accesses.push_back({level_of(s), reads, writes, m, layers});
    }
  }
  [[nodiscard]] std::size_t state_of(request const& r) const {
    return std::size_t(given.first_state[r.variable] + r.level);
  }
  [[nodiscard]] std::string level_of(request const& r) const {
    return std::string(table.variables[r.variable]->name) + '[' + std::to_string(r.level) + ']';
  }
  void meet(std::size_t reader, request const& asked, read_sources const* seen) {
    auto& last = writers[state_of(asked)];
    for (region one : single_regions) {
      auto const r = std::size_t(index_of(one));
      if (is_last && overlap(one, asked.reads))
        for (auto const& [writer, when] : last[r]) add({writer, reader, level_of(asked), one, seen[r], when != step});
      if (overlap(one, asked.writes)) last[r] = {{reader, step}};
      else if (overlap(one, invalidated_by(asked.writes))) last[r] = {};
    }
  }
  // Regions that go the same way in the same manner share a flow.
  void add(told_flow const& one) {
    for (told_flow& f : out.flows)
      if (f.writer == one.writer && f.reader == one.reader && f.crosses == one.crosses && f.variable == one.variable &&
          std::string_view(word_for(f.seen)) == word_for(one.seen)) {
        f.where = f.where | one.where;
        return;
      }
    out.flows.push_back(one);
  }

  explained_schedule const& given;
  schedule_nodes const table;
  row_of_writers writers;
  std::size_t step = 0;
  bool is_last = false;
};

KEEL_INLINE explanation explain_schedule(explained_schedule const& of) { return std::move(explainer(of).out); }

KEEL_INLINE std::string type_in(std::string_view signature) { // ... [with T = app::step; ...] or [T = app::step]
  std::size_t const begin = signature.find("T = ") + 4;
  std::string name{signature.substr(begin, signature.find_first_of(";]", begin) - begin)};
  for (std::string_view const unnamed :
       {"{anonymous}::", "(anonymous namespace)::", "_GLOBAL__N_"}) // the last is nvcc's
    for (auto at = name.find(unnamed); at != name.npos; at = name.find(unnamed))
      name.erase(at, name.find("::", at) + 2 - at);
  return name;
}

KEEL_INLINE std::string name_of(entry const& e) {
  bool const counts = e.what == entry_kind::every || e.what == entry_kind::repeat;
  return std::string(e.name) + (counts ? ' ' + std::to_string(e.count) : "");
}

} // namespace keel::residency::detail
