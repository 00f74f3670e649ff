// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Reading the traces of a run: line by line, each checked, and whether the files are those of one run.

#include "check.hpp"
#include "replay.hpp"
#include "trace_data.hpp"
#include "trace_line.hpp"

#include <keel/policy/error.hpp>
#include <keel/topology/id_set.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace keel::info {

inline constexpr int trace_ranks_max = 1 << 24;
inline constexpr std::size_t trace_line_max = std::size_t{1} << 20; ///< bytes, a thousand times what keel writes
inline constexpr std::uint64_t exact_max = std::uint64_t{1} << 53;  ///< what a program that draws them counts exactly

namespace detail {

inline trace_event read_event(trace_line const& line, bool is_copy, int rank) {
  return {line.text("variable"),
          is_copy ? line.text("region") : "ghosts",
          is_copy ? line.text("from") : "this rank",
          is_copy ? line.text("to") : "neighbours",
          line.text(is_copy ? "routine" : "what"),
          rank,
          line.number("level"),
          line.number("component"),
          line.count("bytes", exact_max),
          line.time("time"),
          line.time("took"),
          line.has("waited") ? line.time("waited") : 0};
}

inline trace_header read_header(trace_line const& line, std::string const& file) {
  if (!line.has("keel") || line.text("keel") != "trace") throw error("info", "it is not the header of a trace");
  if (auto const version = line.number("version"); version != 4)
    throw error("info", "it is of version " + std::to_string(version) + ", and this program reads version 4");
  trace_header made{file,
                    line.text("run"),
                    line.number("part"),
                    line.number("rank", trace_ranks_max),
                    line.number("ranks", trace_ranks_max),
                    double(line.count("begin", exact_max)),
                    line.text_if_there("program"),
                    line.text_if_there("host"),
                    line.text_if_there("threads"),
                    line.has("of_keel") ? line.number("of_keel") : 0};
  if (made.ranks != 0 && made.rank >= made.ranks) throw error("info", "rank is not below ranks");
  return made;
}

/// Adds what a line after the header says to `all`. Throws if no trace has such a line.
inline void read_line(trace_line const& line, replay& followed, trace_data& all) {
  static std::set<std::string_view> const ignored{"create", "reduce"},
      sent{"exchange", "accumulate", "repartition", "migrate", "renew_ghosts", "reorder", "regrid"},
      turned{"cycle", "rewind", "cycle_in_place"},
      others{"copy", "write", "components", "routine", "kernels", "knob", "entry", "flow", "end"};
  trace_header& header = all.headers.back();
  auto const what = line.text("what");
  if (header.has_end) throw error("info", "it is after the last one");
  if (ignored.contains(what)) return;
  if (!sent.contains(what) && !turned.contains(what) && !others.contains(what))
    throw error("info", "what is '" + brief(what) + "', which no trace has");
  if (line.number("rank", trace_ranks_max) != header.rank) throw error("info", "rank is not that of the header");
  if (what == "copy") {
    all.events.push_back(read_event(line, true, header.rank));
    followed.copy(all.events.back());
  } else if (sent.contains(what)) {
    all.events.push_back(read_event(line, false, header.rank));
  } else if (what == "write") {
    followed.write(line.text("variable"), line.number("component"), line.number("level"), line.text("region"),
                   line.text("memory"), line.text("routine"));
  } else if (turned.contains(what)) {
    followed.rotate(line.text("variable"), line.number("levels"), what);
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
    auto const name = line.text("schedule"); // the same on every rank
    if (all.schedules.empty() || all.schedules.back().name != name) all.schedules.push_back({name});
    auto& graph = all.schedules.back();
    if (what == "entry")
      graph.entries.push_back(
          {line.number("number"), line.number("depth"), line.text("kind"), line.text("name"), line.text("memory")});
    else
      graph.flows.push_back({line.number("writer"), line.number("reader"), line.text("data"), line.text("copied"),
                             line.number("crosses", 1) == 1});
  }
}

/// The lines of one file. Throws with file and line.
inline void read_trace(std::string const& file, trace_data& all) {
  std::ifstream in{file, std::ios::binary};
  std::string text(trace_line_max, '\0');
  replay followed;
  for (int number = 1;; ++number) {
    in.getline(text.data(), std::streamsize(text.size()));
    auto const read = std::size_t(in.gcount());
    if (!in.is_open() || in.bad())
      throw error("info", brief(file) + " is not read", std::strerror(errno), "Is this the name", errno);
    if (in.fail() && read == 0) {
      if (number > 1) return;
      throw error("info", brief(file) + " is empty", {}, "Give a file that a traced program wrote");
    }
    try {
      if (in.fail()) throw error("info", "it is longer than " + std::to_string(trace_line_max >> 20) + " MiB");
      trace_line const line{std::string_view{text}.substr(0, in.eof() ? read : read - 1)};
      if (number == 1) all.headers.push_back(read_header(line, file));
      else read_line(line, followed, all);
    } catch (error const& e) {
      throw error("info", "line " + std::to_string(number) + " of " + brief(file) + " is not understood", e.brief(),
                  number > 1 ? "Did the program die there? Delete the line"
                             : "Give a file that a traced program wrote");
    }
  }
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
      throw error("info", brief(h.file) + " is of another run than " + brief(all.front().file),
                  "run " + brief(h.run) + " and run " + brief(all.front().run),
                  "Leave it out, or add them up with --force");
    auto const [first, is_new] = files.try_emplace({h.part, h.rank}, h.file);
    if (!is_new)
      throw error("info", brief(h.file) + " and " + brief(first->second) + " are one trace",
                  "both are of rank " + std::to_string(h.rank), "Leave one out, or add them up with --force");
    auto& part = parts.try_emplace(h.part, &h, topology::id_set{}).first->second;
    part.second.insert(h.rank);
    if (h.ranks != part.first->ranks)
      throw error("info", brief(h.file) + " and " + brief(part.first->file) + " do not agree on the number of ranks",
                  std::to_string(h.ranks) + " and " + std::to_string(part.first->ranks), "Add them up with --force");
  }
  for (auto const& [number, part] : parts) {
    auto const& [header, present] = part;
    auto const missing = topology::id_set::range(0, header->ranks) - present;
    if (!missing.empty())
      throw error("info", traces_of(missing) + (missing.size() == 1 ? " is missing" : " are missing"),
                  "the run of " + brief(header->file) + " had " + std::to_string(header->ranks),
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
