// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A plan as rows, each an access of an entry to one or more regions of a level, with what is known of it.

#include <keel/impl/residency/memories.hpp>
#include <keel/impl/residency/siblings.hpp>
#include <keel/policy/choose.hpp>
#include <keel/residency/plan.hpp>
#include <keel/space/devices.hpp>

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace keel::residency::detail {

struct any_application {
  using devices = where_supported<keel::list<serial, openmp, threads, tbb, cuda, hip, sycl, simulated>>;
};

template <class... Tags>
constexpr std::size_t find_memory_apart(keel::list<Tags...>) {
  bool const is_apart[] = {!is_on_host<Tags>...};
  for (std::size_t i = 0; i < sizeof...(Tags); ++i)
    if (is_apart[i]) return i;
  return 0;
}
template <std::size_t At, class... Tags>
std::tuple_element_t<At, std::tuple<Tags...>> device_at(keel::list<Tags...>);
template <class Devices>
struct to_explain {
  using type = decltype(device_at<find_memory_apart(Devices{})>(Devices{}));
};
/// The first device with memory of its own; where there is none, the first.
template <class App>
using device_to_explain = typename to_explain<policy::to_list<typename App::devices>>::type;

/// One access of an entry. `reads` and `writes` hold the regions that the row stands for.
struct told_access {
  std::string variable; ///< with its level
  region reads = region::none, writes = region::none;
  met seen;
};

/// One entry, `depth` groups below the schedule. Groups come before what they hold.
struct told_entry {
  entry_kind what;
  std::string name, where; ///< the memory; empty for groups and cycles
  int depth = 0;
  std::vector<told_access> accesses;
};

/// Data that `writer` left and `reader` meets, entries both; `crosses` where a step ends in between.
struct told_flow {
  std::size_t writer, reader;
  std::string variable; ///< with its level
  region where;
  met seen;
  bool crosses;
};

/// A copy that begins behind `writer`, because `reader` is certain to want it further on in the same group.
struct told_early_copy {
  std::string writer, reader, variable; ///< with its level
  region where;
  memory to;
};

/// What all texts are made of.
struct explanation {
  std::string device;
  std::vector<std::string> memories;
  std::vector<told_entry> entries;
  std::vector<told_flow> flows;
  std::vector<told_early_copy> early;
  std::int64_t transient = 0, period = 0;
  tally copies;
};

[[nodiscard]] inline std::string name_of(entry const& e) {
  switch (e.what) {
  case entry_kind::every: return "every " + std::to_string(e.count);
  case entry_kind::repeat: return "repeat " + std::to_string(e.count);
  case entry_kind::when: return "when";
  case entry_kind::sequence: return "sequence";
  case entry_kind::analysis: return "analysis";
  default: return std::string(e.name);
  }
}

/// Gathers what the reads of each site met.
template <std::size_t Sites>
struct gathering {
  met (*of)[region_count];
  constexpr void read(int site, region one, met const& seen) {
    met& all = of[site][index_of(one)];
    all = {all.found || seen.found, all.lacked || seen.lacked, all.lost || seen.lost, all.from | seen.from};
  }
};

/// Finds out, once and at run time, what a plan has as constants, and a little more.
template <class App, class Schedule, class Device>
struct explained<plan<App, Schedule, Device>> {
  using plan_type = plan<App, Schedule, Device>;
  using program_type = typename plan_type::program_type;
  static constexpr std::size_t cells = plan_type::cells, sites = program_type::accesses;

  static explanation tell(std::string_view device) {
    explained self;
    self.out.device = device;
    self.out.memories = memory_names(typename plan_type::devices{});
    self.out.transient = plan_type::steady.transient, self.out.period = plan_type::steady.period;
    self.out.copies = plan_type::steady.period_copies;
    if constexpr (plan_type::is_small)
      (void)simulation<program_type, cells, gathering<sites>>(plan_type::program, gathering<sites>{self.seen}).find();
    std::size_t at = 0;
    self.tell(Schedule::about, at, 0);
    // The levels have to go round once before every reader meets the writer of its steady state.
    self.writers.resize(cells);
    for (std::size_t n = 0; n < cells + 2; ++n) {
      self.is_last = n == cells + 1;
      self.step = n;
      self.flow(0, plan_type::program.size);
    }
    return std::move(self.out);
  }

private:
  // The program has the entries of the tree, in the same order.
  void tell(entry const& e, std::size_t& at, int depth) {
    instruction const& in = plan_type::program.code[at++];
    told_entry told{e.what, name_of(e), {}, depth, {}};
    if (e.what == entry_kind::cycle)
      for_each_access(e, [&](access const& a) { told.accesses.push_back({std::string(a.variable->name), {}, {}, {}}); });
    else
      for (std::uint32_t s = in.first; s < in.last; ++s) add(told, plan_type::program.sites[s], seen[s]);
    if (e.what == entry_kind::routine || e.what == entry_kind::exchange || e.what == entry_kind::output)
      told.where = out.memories[std::size_t(plan_type::memory_at(e.where))];
    out.entries.push_back(std::move(told));
    for (std::size_t i = 0; i < e.child_count; ++i) {
      tell(*e.children[i], at, depth + 1);
      if (e.children[i]->what != entry_kind::exchange || lands_before(e, i) == i + 1)
        for (std::size_t m = 0; m < out.memories.size(); ++m) tell_early(e, i, memory(m));
    }
  }
  struct numbers {
    static constexpr int find(variable_info const* v) {
      int n = 0;
      while (*plan_type::program.variables[n] != *v) ++n;
      return n;
    }
  };
  void tell_early(entry const& group, std::size_t i, memory to) {
    auto const copies = certain_copies<numbers, plan_type::accesses>(group, i, to, [](place const& p) { return plan_type::memory_at(p); });
    copies.for_each_reader([&](std::span<request const> part, std::string_view reader) {
      for (request const& r : part)
        out.early.push_back({name_of(*group.children[i]), std::string(reader),
                             name_of_cell(std::size_t(plan_type::program.first_cell[r.variable] + r.level)), r.reads, to});
    });
  }
  // Regions that meet the same share a row.
  static void add(told_entry& told, site const& s, met const (&of)[region_count]) {
    std::size_t const first = told.accesses.size();
    for (region one : single_regions) {
      region const reads = one & s.reads, writes = one & s.writes;
      met const& m = of[index_of(one)];
      if (reads == region::none && writes == region::none) continue;
      if (one == region::walls && writes == region::none && !m.lacked) continue; // there may be none
      bool joined = false;
      for (std::size_t i = first; i < told.accesses.size() && !joined; ++i) {
        told_access& a = told.accesses[i];
        joined = a.seen.found == m.found && a.seen.lacked == m.lacked && a.seen.lost == m.lost && a.seen.from == m.from &&
                 (a.reads != region::none) == (reads != region::none) && (a.writes != region::none) == (writes != region::none);
        if (joined) a.reads = a.reads | reads, a.writes = a.writes | writes;
      }
      if (!joined) told.accesses.push_back({name_of_cell(s.cell), reads, writes, m});
    }
  }
  static std::string name_of_cell(std::size_t cell) {
    std::size_t v = 0;
    while (plan_type::program.first_cell[v + 1] <= cell) ++v;
    return std::string(plan_type::program.variables[v]->name) + '[' + std::to_string(cell - plan_type::program.first_cell[v]) + ']';
  }

  // Who may have written each region of each cell last: an entry and a step.
  using writer_set = std::set<std::pair<std::size_t, std::size_t>>;
  struct cell_writers {
    writer_set of[region_count];
  };
  void flow(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end;) {
      instruction const& in = plan_type::program.code[i];
      bool const may_be_left_out = in.what == entry_kind::every || in.what == entry_kind::when;
      bool const has_body = in.next > i + 1 && in.what != entry_kind::sequence && in.what != entry_kind::analysis;
      for (std::uint32_t s = in.first; s < in.last; ++s)
        if (in.what == entry_kind::cycle) rotate(plan_type::program.sites[s]);
        else meet(i, plan_type::program.sites[s], seen[s]);
      if (has_body) {
        auto const without = writers;
        flow(i + 1, in.next);
        if (may_be_left_out)
          for (std::size_t c = 0; c < writers.size(); ++c)
            for (int r = 0; r < region_count; ++r) writers[c].of[r].insert(without[c].of[r].begin(), without[c].of[r].end());
      }
      i = has_body ? in.next : i + 1;
    }
  }
  void rotate(site const& s) {
    auto const levels = std::size_t(plan_type::program.levels(s));
    if (levels < 2) return;
    for (std::size_t l = levels - 1; l > 0; --l) writers[s.cell + l] = writers[s.cell + l - 1];
    writers[s.cell] = {};
  }
  void meet(std::size_t reader, site const& s, met const (&of)[region_count]) {
    for (region one : single_regions) {
      int const r = index_of(one);
      if (is_last && overlap(one, s.reads))
        for (auto const& [writer, when] : writers[s.cell].of[r])
          out.flows.push_back({writer, reader, name_of_cell(s.cell), one, of[r], when != step});
      if (overlap(one, s.writes)) writers[s.cell].of[r] = {{reader, step}};
      else if (overlap(one, spoiled_by(s.writes))) writers[s.cell].of[r] = {};
    }
  }

  explanation out;
  met seen[sites][region_count]{};
  std::vector<cell_writers> writers;
  std::size_t step = 0;
  bool is_last = false;
};

} // namespace keel::residency::detail
