// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// `keel-info trace`: the traces of a run's ranks, added up, or as events that Perfetto and chrome://tracing draw.

#include "flat_json.hpp"
#include "table.hpp"

#include <keel/policy/error.hpp>
#include <keel/policy/whole_file.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace keel::info {

inline constexpr std::string_view trace_usage =
    R"(usage: keel-info trace FILE... [--summary] [--chrome OUT]

Reads what programs with the tracking policy `traced` wrote, a FILE for each rank.

  --summary      bytes and times by variable, pair of memories and routine; also where nothing else is asked for
  --chrome OUT   write events to OUT that ui.perfetto.dev and chrome://tracing draw

A copy to a device goes on behind the program's thread: its time is how long it held that thread up.
)";

/// One copy, or what one rank sent of a variable in an exchange. Times in microseconds.
struct trace_event {
  std::string variable, region, from, to, routine;
  int rank, level, component;
  std::uint64_t bytes;
  double time, took;
};

/// Events of all files, with times from the beginning of the earliest.
struct trace_data {
  std::vector<trace_event> events;
  std::set<int> ranks;
};

namespace detail {

inline trace_event read_event(flat_object const& line) {
  bool const is_copy = line.text("what") == "copy";
  return {line.text("variable"),
          is_copy ? line.text("region") : "ghosts",
          is_copy ? line.text("from") : "this rank",
          is_copy ? line.text("to") : "neighbours",
          is_copy ? line.text("routine") : "exchange",
          static_cast<int>(line.number("rank")),
          static_cast<int>(line.number("level")),
          static_cast<int>(line.number("component")),
          static_cast<std::uint64_t>(line.number("bytes")),
          line.number("time"),
          line.number("took")};
}

/// The lines of one file, and the `begin` of its header. Throws with file and line.
inline double read_trace(std::string const& file, trace_data& all) {
  std::ifstream in(file);
  if (!in) throw error("info", file + " is not read", std::strerror(errno), "Is this the name", errno);
  std::string text;
  int number = 0;
  bool has_header = false;
  double begin = 0;
  while (std::getline(in, text)) {
    ++number;
    try {
      auto const line = flat_object::parse(text);
      if (!has_header) {
        if (!line.has("keel") || line.text("keel") != "trace") throw error("info", "it is not the header of a trace");
        if (line.number("version") != 1) throw error("info", "it is of a version that this program does not know");
        begin = line.number("begin");
        all.ranks.insert(static_cast<int>(line.number("rank")));
        has_header = true;
      } else if (auto const& what = line.text("what"); what == "copy" || what == "exchange") {
        all.events.push_back(read_event(line));
      } else if (what != "create") {
        throw error("info", "nobody knows what " + what + " is");
      }
    } catch (error const& e) {
      std::string const why = std::string(e.what()).substr(std::strlen("keel::info: "));
      throw error("info", "line " + std::to_string(number) + " of " + file + " is not understood", why.substr(0, why.size() - 1),
                  has_header ? "Did the program die there? Delete the line" : "Give a file that a traced program wrote");
    }
  }
  if (!has_header) throw error("info", file + " is empty", {}, "Give a file that a traced program wrote");
  return begin;
}

inline std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    char code[8];
    if (static_cast<unsigned char>(c) < 0x20) std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c)), out += code;
    else out += (c == '"' || c == '\\') ? std::string{'\\', c} : std::string{c};
  }
  return out + '"';
}

inline std::string fixed(double x, int digits = 3) {
  char text[48];
  std::snprintf(text, sizeof text, "%.*f", digits, x);
  return text;
}

} // namespace detail

/// All files, as one. Throws `keel::error` that names file and line where one is not a trace.
inline trace_data read_traces(std::vector<std::string> const& files) {
  trace_data all;
  std::vector<std::pair<double, std::size_t>> parts; // begin, events up to the end of that file
  for (auto const& file : files) {
    double const begin = detail::read_trace(file, all);
    parts.emplace_back(begin, all.events.size());
  }
  double const origin = std::min_element(parts.begin(), parts.end())->first;
  std::size_t at = 0;
  for (auto const& [begin, end] : parts)
    for (; at < end; ++at) all.events[at].time += begin - origin;
  std::stable_sort(all.events.begin(), all.events.end(), [](auto const& a, auto const& b) { return a.time < b.time; });
  return all;
}

/// Most bytes first: what moved, between which memories, for whom; and a sum for each pair.
inline std::string summary(trace_data const& all) {
  struct sum {
    std::uint64_t events = 0, bytes = 0;
    double took = 0;
    void add(trace_event const& e) { ++events, bytes += e.bytes, took += e.took; }
    [[nodiscard]] row cells(std::string a, std::string b, std::string c) const {
      return {std::move(a), std::move(b), std::move(c), std::to_string(events), std::to_string(bytes), detail::fixed(took / 1000)};
    }
  };
  std::map<std::vector<std::string>, sum> sums, pairs;
  for (auto const& e : all.events) {
    sums[{e.variable, e.from + " to " + e.to, e.routine}].add(e);
    pairs[{e.from + " to " + e.to}].add(e);
  }
  std::vector<std::pair<std::vector<std::string>, sum>> sorted(sums.begin(), sums.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](auto const& a, auto const& b) { return a.second.bytes > b.second.bytes; });
  std::vector<row> rows{{"variable", "way", "routine", "times", "bytes", "ms"}};
  for (auto const& [key, s] : sorted) rows.push_back(s.cells(key[0], key[1], key[2]));
  for (auto const& [key, s] : pairs) rows.push_back(s.cells("all", key[0], "all"));
  std::string const ranks = std::to_string(all.ranks.size()) + (all.ranks.size() == 1 ? " rank" : " ranks");
  return all.events.empty() ? ranks + ": nothing was copied\n" : ranks + '\n' + aligned(rows);
}

/// The document that tracing tools read: a process for each rank, a thread for each way that bytes went.
inline std::string chrome_document(trace_data const& all) {
  std::map<std::pair<int, std::string>, int> lanes;
  std::string text, names;
  auto const begin_event = [](std::string& out) { out += out.empty() ? "\n{" : ",\n{"; };
  for (auto const& e : all.events) {
    auto const [lane, is_new] = lanes.try_emplace({e.rank, e.from + " to " + e.to}, static_cast<int>(lanes.size()) + 1);
    std::string const where = "\"pid\":" + std::to_string(e.rank) + ",\"tid\":" + std::to_string(lane->second);
    if (is_new) {
      begin_event(names);
      names += "\"ph\":\"M\",\"name\":\"thread_name\"," + where + ",\"args\":{\"name\":" + detail::json_text(lane->first.second) + "}}";
    }
    begin_event(text);
    text += "\"ph\":\"X\",\"cat\":" + detail::json_text(e.routine) +
            ",\"name\":" + detail::json_text(e.variable + '[' + std::to_string(e.level) + "] " + e.region) + ',' + where +
            ",\"ts\":" + detail::fixed(e.time) + ",\"dur\":" + detail::fixed(e.took) + ",\"args\":{\"bytes\":" + std::to_string(e.bytes) +
            ",\"routine\":" + detail::json_text(e.routine) + ",\"component\":" + std::to_string(e.component) + "}}";
  }
  for (int rank : all.ranks) {
    begin_event(names);
    names += "\"ph\":\"M\",\"name\":\"process_name\",\"pid\":" + std::to_string(rank) + ",\"args\":{\"name\":\"rank " + std::to_string(rank) + "\"}}";
  }
  return "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[" + names + (text.empty() ? "" : ",") + text + "\n]}\n";
}

/// What stands behind `keel-info trace`.
inline int show_trace(int argc, char** argv) {
  std::vector<std::string> files;
  std::string chrome;
  bool wants_summary = false;
  for (int i = 2; i < argc; ++i) {
    std::string_view const word = argv[i];
    if (word == "--help" || word == "-h") return std::fputs(trace_usage.data(), stdout), 0;
    if (word == "--summary") wants_summary = true;
    else if (word.starts_with("--chrome=")) chrome = word.substr(9);
    else if (word == "--chrome" && i + 1 < argc) chrome = argv[++i];
    else if (word == "--chrome") throw error("info", "--chrome has no value", "it is the last word", "See keel-info trace --help");
    else if (word.starts_with("--")) throw error("info", "unknown option " + std::string{word}, {}, "See keel-info trace --help");
    else files.emplace_back(word);
  }
  if (files.empty()) throw error("info", "no trace to read", {}, "Name the files, one for each rank");
  auto const all = read_traces(files);
  if (!chrome.empty()) {
    if (auto const failure = policy::write_whole_file(chrome, chrome_document(all), files))
      throw error("info", chrome + " cannot be written", failure.why, "Name another file", failure.code);
  }
  if (wants_summary || chrome.empty()) std::fputs(summary(all).c_str(), stdout);
  return 0;
}

} // namespace keel::info
