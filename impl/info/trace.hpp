// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// `keel-info trace`: the traces of a run's ranks, added up, or as events that Perfetto and chrome://tracing draw.

#include "shown.hpp"
#include "table.hpp"
#include "trace_files.hpp"

#include <keel/policy/json.hpp>
#include <keel/policy/error.hpp>
#include <keel/impl/store/whole_file.hpp>
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

inline constexpr std::string_view trace_usage =
    R"(usage: keel-info trace FILE... [--summary] [--chrome OUT] [--force]

Reads what a program with the tracking policy `traced` wrote, a FILE for each rank. Files of two runs, a file given
twice and missing ranks are refused. Of a process that was killed, what it had written is added up, and the exit code
is 1.

  --summary      bytes and times by variable, pair of memories and routine; also if nothing else is asked for
  --chrome OUT   write events to OUT that ui.perfetto.dev and chrome://tracing draw
  --force        add up whatever traces are given

A copy to a device runs asynchronously: its time is how long it held the program's thread up.
)";

namespace detail {

inline std::string fixed(double x, int digits = 3) {
  char text[48];
  std::snprintf(text, sizeof text, "%.*f", digits, x);
  return text;
}

} // namespace detail

/// Most bytes first: what moved, between which memories, for which routine; and a sum for each pair.
inline std::string summary(trace_data const& all) {
  struct sum {
    std::uint64_t events = 0, bytes = 0;
    double took = 0;
    void add(trace_event const& e) {
      ++events, took += e.took;
      if (__builtin_add_overflow(bytes, e.bytes, &bytes))
        throw error("info", "the bytes of " + shown(e.variable) + " are more than 2^64", {},
                    "Did a program write this");
    }
    [[nodiscard]] row cells(std::string_view a, std::string_view b, std::string_view c) const {
      return {shown(a), shown(b), shown(c), std::to_string(events), std::to_string(bytes), detail::fixed(took / 1000)};
    }
  };
  std::map<std::vector<std::string>, sum> sums, pairs;
  double waited = 0;
  for (auto const& e : all.events) {
    waited += e.waited;
    sums[{e.variable, e.from + " to " + e.to, e.routine}].add(e);
    pairs[{e.from + " to " + e.to}].add(e);
  }
  std::vector<std::pair<std::vector<std::string>, sum>> sorted(sums.begin(), sums.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](auto const& a, auto const& b) { return a.second.bytes > b.second.bytes; });
  std::vector<row> rows{{"variable", "way", "routine", "times", "bytes", "ms"}};
  for (auto const& [key, s] : sorted) rows.push_back(s.cells(key[0], key[1], key[2]));
  for (auto const& [key, s] : pairs) rows.push_back(s.cells("all", key[0], "all"));
  if (waited > 0) rows.push_back({"all", "waiting for messages", "exchange", "-", "-", detail::fixed(waited / 1000)});
  auto const count = all.ranks().size();
  std::string const ranks = policy::counted(std::int64_t(count), "rank");
  return all.events.empty() ? ranks + ": nothing was copied\n" : ranks + '\n' + aligned(rows);
}

/// The document that tracing tools read: a process for each rank, a thread for each way that bytes went.
inline std::string chrome_document(trace_data const& all) {
  std::map<std::pair<int, std::string>, int> lanes;
  std::string text, names;
  auto const begin_event = [](std::string& out) { out += out.empty() ? "\n{" : ",\n{"; };
  for (auto const& e : all.events) {
    auto const [lane, is_new] = lanes.try_emplace({e.rank, e.from + " to " + e.to}, int(lanes.size()) + 1);
    std::string const where = "\"pid\":" + std::to_string(e.rank) + ",\"tid\":" + std::to_string(lane->second);
    if (is_new) {
      begin_event(names);
      names += "\"ph\":\"M\",\"name\":\"thread_name\"," + where +
               ",\"args\":{\"name\":" + policy::json_text(lane->first.second) + "}}";
    }
    begin_event(text);
    text += "\"ph\":\"X\",\"cat\":" + policy::json_text(e.routine) +
            ",\"name\":" + policy::json_text(e.variable + '[' + std::to_string(e.level) + "] " + e.region) + ',' +
            where + ",\"ts\":" + detail::fixed(e.time) + ",\"dur\":" + detail::fixed(e.took) +
            ",\"args\":{\"bytes\":" + std::to_string(e.bytes) + ",\"routine\":" + policy::json_text(e.routine) +
            ",\"component\":" + std::to_string(e.component) + "}}";
  }
  for (int const rank : all.ranks()) {
    begin_event(names);
    names += "\"ph\":\"M\",\"name\":\"process_name\",\"pid\":" + std::to_string(rank) + ",\"args\":{\"name\":\"rank " +
             std::to_string(rank) + "\"}}";
  }
  return "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[" + names + (text.empty() ? "" : ",") + text + "\n]}\n";
}

/// What follows `keel-info trace` on the command line.
inline int show_trace(int argc, char** argv) {
  std::vector<std::string> files;
  std::string chrome;
  std::string_view const see_help = "See keel-info trace --help";
  bool wants_summary = false;
  auto allowed = runs::one;
  for (int i = 2; i < argc; ++i) {
    std::string_view const word = argv[i];
    if (word == "--help" || word == "-h") return std::fputs(trace_usage.data(), stdout), 0;
    bool const is_chrome = word == "--chrome" || word.starts_with("--chrome=");
    if (word == "--summary") wants_summary = true;
    else if (word == "--force") allowed = runs::any;
    else if (is_chrome && word.size() > 8) chrome = word.substr(9);
    else if (is_chrome && i + 1 < argc) chrome = argv[++i];
    else if (is_chrome) throw error("info", "--chrome has no value", "it is the last word", see_help);
    else if (word.starts_with("--")) throw error("info", "unknown option " + std::string{word}, {}, see_help);
    else files.emplace_back(word);
    if (is_chrome && chrome.empty()) throw error("info", "--chrome is empty", "it names a file", see_help);
  }
  if (files.empty()) throw error("info", "no trace to read", {}, "Name the files, one for each rank");
  auto const all = read_traces(files, allowed);
  if (!chrome.empty()) {
    if (auto const failure = policy::write_whole_file(chrome, chrome_document(all), files))
      throw error("info", chrome + " cannot be written", failure.why, "Name another file", failure.code);
  }
  std::string const text = wants_summary || chrome.empty() ? policy::printable(summary(all)) : "";
  auto const findings = findings_of(all);
  std::fputs(text.c_str(), stdout);
  return report_findings(findings);
}

} // namespace keel::info
