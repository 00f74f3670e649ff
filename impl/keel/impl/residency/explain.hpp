// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A plan as rows, each an access of an entry to one or more regions of a level, with what is known of it; also as
/// lines of a trace.

#include <keel/impl/residency/explanation.hpp>
#include <keel/impl/residency/memories.hpp>
#include <keel/impl/residency/prefetch.hpp>
#include <keel/impl/residency/scratch.hpp>
#include <keel/policy/choose.hpp>
#include <keel/residency/plan.hpp>
#include <keel/space/devices.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace keel::residency::detail {

struct any_application {
  using devices = where_supported<all_devices>;
};

template <class... Tags>
constexpr std::size_t find_memory_apart(keel::list<Tags...>) {
  bool const is_apart[] = {!is_on_host<Tags>...};
  for (std::size_t i = 0; i < sizeof...(Tags); ++i)
    if (is_apart[i]) return i;
  return 0;
}
/// The first device with memory of its own; if there is none, the first.
template <class App>
using device_to_explain = typename nth_of<find_memory_apart(devices_of<App>{}), devices_of<App>>::type;

[[nodiscard]] inline std::string name_of(entry const& e) {
  bool const counts = e.what == entry_kind::every || e.what == entry_kind::repeat;
  return std::string(e.name) + (counts ? ' ' + std::to_string(e.count) : "");
}

/// The explanation of `Schedule`: found at run time, from the constants of its analysis, and a little more.
template <class App, class Schedule, class Device>
struct explained {
  using devices = devices_of<App>;
  static_assert(policy::contains<devices, Device>,
                "keel::residency::explain: a device that is not in the application's list. Add it there.");
  using found = analysis<App, Schedule, memory_of<devices, Device>>;
  static constexpr auto const& table = table_of<Schedule>;

  static explanation make() {
    explained self;
    self.out.device = Device::name;
    self.out.memories = memory_names(devices{});
    self.out.transient = found::steady.transient, self.out.period = found::steady.period;
    self.out.copies = found::steady.period_copies;
    if constexpr (found::is_small)
      (void)steady_search<typename found::table_type, found::cells>(table, found::where.data(), self.seen).find();
    std::vector<std::pair<std::size_t, int>> open; // groups, with the number of their next entry
    for (std::size_t i = 0; i < table.size; ++i) {
      while (!open.empty() && table.nodes[open.back().first].end <= i) open.pop_back();
      self.make(i, int(open.size()));
      if (!open.empty() && is_choice(table.nodes[open.back().first].what()))
        self.out.entries.back().name.insert(0, std::to_string(open.back().second++) + ": ");
      if (has_body(table.nodes[i].what())) open.emplace_back(i, 0);
    }
    self.tell_early();
    for (auto const& pool : scratches(table.view(), found::where.data()).pools) {
      std::string& names = self.out.scratches.emplace_back();
      for (int v : pool) names += (names.empty() ? "" : ", ") + std::string(table.variables[v]->name);
    }
    // The levels have to go round once before every reader meets the writer of its steady state.
    for (self.step = 0; self.step < found::cells + 2; ++self.step) {
      self.is_last = self.step == found::cells + 1;
      walk(table.nodes, 0, table.size, self);
    }
    return std::move(self.out);
  }

  // Finds the nodes that may have written what a node reads.
  void leaf(std::size_t i) {
    schedule_node const& n = table.nodes[i];
    for (std::uint32_t r = n.first; r < n.last; ++r)
      if (rotates(n.what())) table.rotate(writers->data(), table.requests[r], rotation_of(n.what()), {});
      else meet(i, table.requests[r], seen[r]);
  }
  template <class Body>
  void group(std::size_t i, Body const& body) {
    if (is_for_first_step(table.nodes[i].what())) return;
    auto const before = std::make_unique<row_of_writers>(*writers);
    if (is_choice(table.nodes[i].what())) return choose(i, *before);
    body();
    if (is_conditional(table.nodes[i].what())) join(*before);
  }

private:
  // What each of its entries may have written.
  void choose(std::size_t group, auto const& before) {
    row_of_writers all;
    for (std::size_t k = 0; k < table.nodes[group].about->child_count; ++k) {
      *writers = before;
      walk_one(table.nodes, group, k, *this);
      join(all);
      all = *writers;
    }
  }
  void join(auto const& others) {
    for (std::size_t c = 0; c < found::cells; ++c)
      for (std::size_t r = 0; r < region_count; ++r) (*writers)[c][r].insert(others[c][r].begin(), others[c][r].end());
  }
  void make(std::size_t i, int depth) {
    schedule_node const& n = table.nodes[i];
    explained_entry made{n.what(), name_of(*n.about), {}, depth, {}, {}, {}};
    for (std::uint32_t r = n.first; r < n.last; ++r)
      if (rotates(n.what())) made.accesses.emplace_back().variable = table.variables[table.requests[r].variable]->name;
      else add(made, table.requests[r], seen[r]);
    if (has_place(n.what()) || n.what() == entry_kind::output) made.where = out.memories[std::size_t(found::where[i])];
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
    prefetch_table const all(table.view(), found::where.data());
    for (std::size_t i = 0; i < table.size; ++i)
      for (prefetch const& p : all.of(i))
        for (std::size_t r = p.first; r < p.first + p.size; ++r)
          out.early.push_back({name_of(*table.nodes[i].about), std::string(p.reader), level_of(all.requests[r]),
                               all.requests[r].reads, p.to});
  }
  // Regions that meet the same share a row.
  static void add(explained_entry& made, request const& s, met const (&of)[region_count]) {
    std::size_t const first = made.accesses.size();
    for (region one : single_regions) {
      region const reads = one & s.reads, writes = one & s.writes;
      met const& m = of[index_of(one)];
      if (reads == region::none && writes == region::none) continue;
      bool const is_named = overlap(s.reads, region::written); // else there may be none
      if (one == region::walls && writes == region::none && !m.lacked && !is_named) continue;
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
  static std::string level_of(request const& r) {
    return std::string(table.variables[r.variable]->name) + '[' + std::to_string(r.level) + ']';
  }
  void meet(std::size_t reader, request const& asked, met const (&of)[region_count]) {
    auto& cell = (*writers)[table.cell_of(asked)];
    for (region one : single_regions) {
      auto const r = std::size_t(index_of(one));
      if (is_last && overlap(one, asked.reads))
        for (auto const& [writer, when] : cell[r]) add({writer, reader, level_of(asked), one, of[r], when != step});
      if (overlap(one, asked.writes)) cell[r] = {{reader, step}};
      else if (overlap(one, invalidated_by(asked.writes))) cell[r] = {};
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

  explanation out;
  met seen[table_of<Schedule>.max_requests + 1][region_count]{};
  // By cell and region: nodes, and their steps.
  using writers_of_cell = std::array<std::set<std::pair<std::size_t, std::size_t>>, region_count>;
  using row_of_writers = std::array<writers_of_cell, found::cells>;
  std::unique_ptr<row_of_writers> const writers = std::make_unique<row_of_writers>();
  std::size_t step = 0;
  bool is_last = false;
};

/// A type as the compiler spells it, without the name of an unnamed namespace.
template <class T>
std::string spelled() {
  std::string_view const whole = __PRETTY_FUNCTION__; // ... [with T = app::step; ...] or [T = app::step]
  std::size_t const begin = whole.find("T = ") + 4;
  std::string name{whole.substr(begin, whole.find_first_of(";]", begin) - begin)};
  for (std::string_view const unnamed : {"{anonymous}::", "(anonymous namespace)::"})
    for (auto at = name.find(unnamed); at != name.npos; at = name.find(unnamed)) name.erase(at, unnamed.size());
  return name;
}

/// Sends an observer the entries and the flows of data of schedule `S`, once.
template <class App, class S, class Device, class O>
void tell_schedule(O& observer) {
  static std::string const name = spelled<S>();
  if (!observer.begins_schedule(name)) return;
  explanation const made = explained<App, S, Device>::make();
  for (std::size_t i = 1; i < made.entries.size(); ++i) { // the schedule itself comes first
    explained_entry const& e = made.entries[i];
    std::string about = e.name;
    if (rotates(e.what) || (has_place(e.what) && !calls_routine(e.what)))
      for (explained_access const& a : e.accesses)
        if (about.find(' ' + a.variable) == about.npos) about += ' ' + a.variable;
    if (!e.reduced.empty()) about += ", " + e.reduced;
    if (!e.begins_within.empty()) about += ", begins within " + e.begins_within;
    observer.entry(name, i, e.depth - 1, name_of(e.what), about, e.where);
  }
  for (told_flow const& f : made.flows)
    observer.flow(name, f.writer, f.reader, f.variable + ' ' + std::string(residency::name_of(f.where)),
                  word_for(f.seen), f.crosses);
}

} // namespace keel::residency::detail
