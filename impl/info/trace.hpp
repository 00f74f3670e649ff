// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// `keel-info trace`: the traces of a run's ranks, added up.

#include "arguments.hpp"
#include "show.hpp"
#include "trace_files.hpp"

#include <keel/policy/error.hpp>
#include <keel/policy/printable.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace keel::info {

/// Most bytes first: what moved, between which memories, for which routine; and a sum for each pair.
inline std::string summary(trace_data const& all) {
  auto const ms = [](double microseconds) {
    char text[48];
    std::snprintf(text, sizeof text, "%.3f", microseconds / 1000);
    return std::string{text};
  };
  auto const cells = [&](std::string_view a, std::string_view b, std::string_view c, trace_sum const& s) {
    return row{brief(a), brief(b), brief(c), std::to_string(s.times), std::to_string(s.bytes), ms(s.took)};
  };
  std::map<std::vector<std::string>, trace_sum> sums, pairs;
  double waited = 0;
  for (auto const& e : all.events) {
    waited += e.waited;
    sums[{e.variable, e.from + " to " + e.to, e.routine}].add(e);
    pairs[{e.from + " to " + e.to}].add(e);
  }
  std::vector<std::pair<std::vector<std::string>, trace_sum>> sorted(sums.begin(), sums.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](auto const& a, auto const& b) { return a.second.bytes > b.second.bytes; });
  std::vector<row> rows{{"variable", "way", "routine", "times", "bytes", "ms"}};
  for (auto const& [key, s] : sorted) rows.push_back(cells(key[0], key[1], key[2], s));
  for (auto const& [key, s] : pairs) rows.push_back(cells("all", key[0], "all", s));
  if (waited > 0) rows.push_back({"all", "waiting for messages", "exchange", "-", "-", ms(waited)});
  std::string const ranks = policy::counted(std::int64_t(all.ranks().size()), "rank");
  return policy::printable(all.events.empty() ? ranks + ": nothing was copied\n" : ranks + '\n' + aligned(rows));
}

/// What follows `keel-info trace` on the command line.
inline int show_trace(arguments const& asked) {
  if (asked.help) return std::fputs(trace_usage.data(), stdout), 0;
  if (asked.files.empty()) throw error("info", "no trace to read", {}, "Name the files, one for each rank");
  auto const all = read_traces(asked.files, asked.force ? runs::any : runs::one);
  std::string const text = summary(all);
  auto const findings = findings_of(all);
  std::fputs(text.c_str(), stdout);
  return report_findings(findings);
}

} // namespace keel::info
