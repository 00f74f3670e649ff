// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Reading the traces of a run: line by line, each checked, and whether the files are those of one run.

#include "check.hpp"
#include "replay.hpp"
#include "trace_data.hpp"
#include "trace_line.hpp"
#include "trace_text.hpp"

#include <keel/policy/error.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

namespace keel::info {

inline constexpr std::uint64_t trace_ranks_max = std::uint64_t{1} << 24;
inline constexpr int trace_threads_max = 1 << 20; ///< hardware threads of a node

namespace detail {

inline trace_event read_event(trace_line const& line, int rank) {
  bool const is_copy = line.text("what") == "copy";
  return {line.text("variable"),
          is_copy ? line.text("region") : "ghosts",
          is_copy ? line.text("from") : "this rank",
          is_copy ? line.text("to") : "neighbours",
          line.text(is_copy ? "routine" : "what"),
          rank,
          int(line.count("level", INT_MAX)),
          int(line.count("component", INT_MAX)),
          line.count("bytes", std::uint64_t{1} << 53), // what a program that draws them counts exactly
          line.time("time"),
          line.time("took"),
          line.has("waited") ? line.time("waited") : 0};
}

/// The ids of a text as `0-3,8`, in rising order.
inline topology::id_set read_ids(std::string const& text) {
  topology::id_set made;
  int next = 0; // the lowest that may follow
  auto const number = [&](char const*& at) {
    int n = -1;
    auto const [end, code] = std::from_chars(at, text.data() + text.size(), n);
    if (code != std::errc{} || n < next || n >= trace_threads_max)
      throw error("info", "threads is no list of hardware threads as 0-3,8");
    at = end, next = n;
    return n;
  };
  char const* at = text.data();
  do {
    int const first = number(at), last = *at == '-' ? number(++at) : first;
    made.insert(first, last + 1);
    if (at == text.data() + text.size()) return made;
    ++next;
  } while (*at++ == ',');
  throw error("info", "threads is no list of hardware threads as 0-3,8");
}

inline trace_header read_header(trace_line const& line, std::string const& file) {
  if (!line.has("keel") || line.text("keel") != "trace") throw error("info", "it is not the header of a trace");
  if (auto const version = line.count("version", INT_MAX); version != 4)
    throw error("info", "it is of version " + std::to_string(version) + ", and this program reads version 4");
  trace_header made{file,
                    line.text("run"),
                    int(line.count("part", INT_MAX)),
                    int(line.count("rank", trace_ranks_max)),
                    int(line.count("ranks", trace_ranks_max)),
                    double(line.count("begin", std::uint64_t{1} << 53))};
  if (line.has("program")) made.program = line.text("program");
  if (line.has("of_keel")) made.of_keel = int(line.count("of_keel", INT_MAX));
  if (line.has("host")) made.host = line.text("host");
  if (line.has("threads")) made.threads = read_ids(line.text("threads"));
  if (made.ranks != 0 && made.rank >= made.ranks) throw error("info", "rank is not below ranks");
  return made;
}

/// Adds what a line after the header says to `all`. Throws if no trace has such a line.
inline void read_line(trace_line const& line, replay& followed, trace_data& all) {
  auto const number = [&](char const* key, std::uint64_t most = INT_MAX) { return int(line.count(key, most)); };
  trace_header& header = all.headers.back();
  auto const& what = line.text("what");
  if (header.has_end) throw error("info", "it is after the last one");
  if (what == "create" || what == "reduce") return;
  bool const is_sent =
      what == "exchange" || what == "accumulate" || what == "repartition" || what == "migrate" || what == "regrid";
  bool const is_new = what == "write" || what == "components" || what == "cycle" || what == "rewind" ||
                      what == "cycle_in_place" || what == "routine" || what == "kernels" || what == "knob" ||
                      what == "entry" || what == "flow" || what == "end";
  if (what != "copy" && !is_sent && !is_new) throw error("info", "what is '" + shown(what) + "', which no trace has");
  if (line.count("rank", trace_ranks_max) != std::uint64_t(header.rank))
    throw error("info", "rank is not that of the header");
  if (what == "copy" || is_sent) {
    all.events.push_back(read_event(line, header.rank));
    if (what == "copy") followed.copy(all.events.back());
  } else if (what == "write") {
    followed.write(line.text("variable"), number("component"), number("level"), line.text("region"),
                   line.text("memory"), line.text("routine"));
  } else if (what == "cycle" || what == "rewind" || what == "cycle_in_place") {
    followed.rotate(line.text("variable"), number("levels"), what);
  } else if (what == "components") {
    followed.renumber(line.text("variable"), line.text("kept"));
  } else if (what == "end") {
    header.has_end = true;
  } else if (what == "routine" || what == "kernels") {
    all.routines.push_back({line.text("routine"), line.text("memory"), what == "kernels", header.rank,
                            line.time("time"), line.time("took")});
  } else if (what == "knob") {
    trace_knob k{line.text("option"), line.text("device"), line.text("value"), line.text("source")};
    auto const same = std::find_if(all.knobs.begin(), all.knobs.end(), [&](trace_knob const& o) {
      return o.option == k.option && o.device == k.device && o.value == k.value && o.source == k.source;
    });
    auto& kept = same != all.knobs.end() ? *same : all.knobs.emplace_back(std::move(k));
    kept.ranks.insert(header.rank);
  } else if (header.rank == all.headers.front().rank && header.part == all.headers.front().part) {
    auto const& name = line.text("schedule"); // the same on every rank
    if (all.schedules.empty() || all.schedules.back().name != name) all.schedules.push_back({name});
    auto& graph = all.schedules.back();
    if (what == "entry")
      graph.entries.push_back(
          {number("number"), number("depth"), line.text("kind"), line.text("name"), line.text("memory")});
    else
      graph.flows.push_back(
          {number("writer"), number("reader"), line.text("data"), line.text("copied"), number("crosses", 1) == 1});
  }
}

/// The lines of one file. Throws with file and line.
inline void read_trace(std::string const& file, trace_data& all) {
  trace_text in{file};
  std::string text;
  replay followed;
  bool has_header = false;
  for (int number = 1;; ++number) {
    try {
      if (!in.next(text)) break;
      auto const line = trace_line::parse(text);
      if (has_header) read_line(line, followed, all);
      else all.headers.push_back(read_header(line, file));
      has_header = true;
    } catch (error const& e) {
      if (e.code() != 0) throw;
      std::string const why = std::string(e.what()).substr(std::strlen("keel::info: "));
      throw error("info", "line " + std::to_string(number) + " of " + shown(file) + " is not understood",
                  why.substr(0, why.size() - 1),
                  has_header ? "Did the program die there? Delete the line"
                             : "Give a file that a traced program wrote");
    }
  }
  if (has_header) return;
  throw error("info", shown(file) + " is empty", {}, "Give a file that a traced program wrote");
}

inline std::string traces_of(topology::id_set const& ranks) {
  return (ranks.size() == 1 ? "the trace of rank " : "the traces of ranks ") + to_string(ranks);
}

/// Refuses files of several runs, a file given twice, and missing ranks.
inline void require_one_run(std::vector<trace_header> const& all) {
  std::map<std::tuple<int, int>, std::string> files;                     // by part and rank
  std::map<int, std::pair<trace_header const*, topology::id_set>> parts; // first header, and which ranks are here
  for (auto const& h : all) {
    if (h.run != all.front().run)
      throw error("info", shown(h.file) + " is of another run than " + shown(all.front().file),
                  "run " + shown(h.run) + " and run " + shown(all.front().run),
                  "Leave it out, or add them up with --force");
    auto const [first, is_new] = files.try_emplace({h.part, h.rank}, h.file);
    if (!is_new)
      throw error("info", shown(h.file) + " and " + shown(first->second) + " are one trace",
                  "both are of rank " + std::to_string(h.rank), "Leave one out, or add them up with --force");
    auto& part = parts.try_emplace(h.part, &h, topology::id_set{}).first->second;
    part.second.insert(h.rank);
    if (h.ranks != part.first->ranks)
      throw error("info", shown(h.file) + " and " + shown(part.first->file) + " do not agree on the number of ranks",
                  std::to_string(h.ranks) + " and " + std::to_string(part.first->ranks), "Add them up with --force");
  }
  for (auto const& [number, part] : parts) {
    auto const& [header, present] = part;
    auto const missing = topology::id_set::range(0, header->ranks) - present;
    if (!missing.empty())
      throw error("info", traces_of(missing) + (missing.size() == 1 ? " is missing" : " are missing"),
                  "the run of " + shown(header->file) + " had " + std::to_string(header->ranks),
                  "Name their files, or add up what is here with --force");
  }
}

} // namespace detail

/// The message about traces that may be cut; empty if all are whole.
inline std::vector<finding> findings_of(trace_data const& all) {
  topology::id_set cut;
  for (auto const& h : all.headers)
    if (!h.has_end) cut.insert(h.rank);
  if (cut.empty()) return {};
  return {{true, error::message("info", detail::traces_of(cut) + (cut.size() == 1 ? " has" : " have") + " no last line",
                                "a process was killed, or still runs", "Read the results as those of its beginning")}};
}
/// Writes them to standard error, without an allocation, because the results are printed by then. Returns the exit code:
/// 1 if a trace is cut.
inline int report_findings(std::vector<finding> const& all) {
  int code = 0;
  for (auto const& f : all) {
    std::fprintf(stderr, "%s\n", f.text.c_str());
    if (f.is_wrong) code = 1;
  }
  return code;
}

enum class runs { one, any };

/// All files, as one. Throws `keel::error` that names file and line if one is not a trace, and unless `allowed`
/// is `any`, if they are not all the traces of one run.
inline trace_data read_traces(std::vector<std::string> const& files, runs allowed) {
  trace_data all;
  auto const by_time = [](auto const& a, auto const& b) { return a.time < b.time; };
  std::vector<std::array<std::size_t, 2>> ends; // of each file's events and routines
  for (auto const& file : files) {
    detail::read_trace(file, all);
    ends.push_back({all.events.size(), all.routines.size()});
  }
  if (allowed == runs::one) detail::require_one_run(all.headers);
  double origin = all.headers.front().begin;
  for (auto const& h : all.headers) origin = std::min(origin, h.begin);
  std::array<std::size_t, 2> at{};
  for (std::size_t n = 0; n < ends.size(); ++n) {
    double const later = all.headers[n].begin - origin;
    for (; at[0] < ends[n][0]; ++at[0]) all.events[at[0]].time += later;
    for (; at[1] < ends[n][1]; ++at[1]) all.routines[at[1]].time += later;
  }
  std::stable_sort(all.events.begin(), all.events.end(), by_time);
  std::stable_sort(all.routines.begin(), all.routines.end(), by_time);
  return all;
}

} // namespace keel::info
