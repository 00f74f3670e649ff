// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// `keel-info report`: a page that holds all that is known of a run, and needs nothing but a browser: its numbers as a
/// document, and what report_html.hpp makes of them.

#include "arguments.hpp"
#include "check.hpp"
#include "json.hpp"
#include "report_events.hpp"
#include "report_html.hpp"
#include "report_page.hpp" // made by page/embed.py
#include "show.hpp"
#include "trace_data.hpp"
#include "trace_files.hpp"

#include <keel/machine/host.hpp>
#include <keel/policy/error.hpp>
#include <keel/policy/macros.hpp>
#include <keel/impl/store/whole_file.hpp>
#include <keel/topology.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace keel::info {

/// The boxes that a picture of the node has inside each other: each locality once, its cores, and the memories and
/// devices that it is the nearest place of.
inline json boxes_json(topology::node const& n) {
  std::map<json, json> boxes; // by cores
  auto const box = [&](topology::id_set const& cores) -> json& {
    return boxes.try_emplace(ids(cores), json{{"memories", json::array()}, {"devices", json::array()}}).first->second;
  };
  auto const around = [&](int core, int steps) { return n.nearby_cores(core, topology::core_type::any, 0, steps); };
  auto const nearest = [&](auto const& distance) -> json& {
    int core = 0;
    for (auto const& c : n.cores())
      if (distance(c.id) < distance(core)) core = c.id;
    return box(around(core, distance(core)));
  };
  auto const all = topology::id_set::range(0, int(n.cores().size()));
  for (int steps = 0; !boxes.contains(ids(all)); ++steps)
    for (auto rest = all; !rest.empty();) {
      auto const place = around(*rest.begin(), steps);
      box(place);
      rest -= place;
    }
  for (auto const& m : n.memories())
    nearest([&](int c) { return n.steps_to_memory(c, m.id); })["memories"].push_back(m.id);
  for (auto const& d : n.devices())
    nearest([&](int c) { return n.distance_to_device(c, d.id); })["devices"].push_back(d.id);
  return list_of(boxes, [](auto const& b) {
    return json{{"cores", b.first}, {"memories", b.second["memories"]}, {"devices", b.second["devices"]}};
  });
}

/// A row for each variable, routine, way and reason, with their sums.
inline json copies_json(trace_data const& all) {
  std::map<std::tuple<std::string, std::string, std::string, std::string, std::string>, trace_sum> sums;
  for (auto const& e : all.events) sums[{e.variable, e.routine, e.from, e.to, e.why}].add(e);
  return list_of(sums, [](auto const& one) {
    auto const& [key, s] = one;
    auto const& [variable, routine, from, to, why] = key;
    return json{variable,
                routine,
                from,
                to,
                why,
                s.bytes,
                s.bytes - s.repeated,
                s.times,
                rounded(s.took),
                rounded(s.waited),
                rounded(s.first),
                rounded(s.last)};
  });
}

inline json routines_json(trace_data const& all) {
  struct both {
    trace_sum calls, kernels;
  };
  std::map<std::pair<std::string, std::string>, both> sums;
  for (auto const& r : all.routines) {
    auto& sum = sums[{r.routine, r.memory}];
    (r.is_on_device ? sum.kernels : sum.calls).add(r.time, r.took);
  }
  return list_of(sums, [](auto const& one) {
    auto const& [calls, kernels] = one.second;
    return json{{"routine", one.first.first},
                {"memory", one.first.second},
                {"times", calls.times},
                {"took", rounded(calls.took)},
                {"first", rounded(calls.first)},
                {"last", rounded(calls.last)},
                {"on_device", null_unless(kernels.times > 0, rounded(kernels.took))}};
  });
}

inline json schedule_json(trace_schedule const& s) {
  auto const entry = [](trace_schedule::entry const& e) {
    return json{{"number", e.number}, {"depth", e.depth}, {"name", e.name}, {"memory", e.memory}};
  };
  auto const flow = [](trace_schedule::flow const& f) {
    return json{
        {"writer", f.writer}, {"reader", f.reader}, {"data", f.data}, {"copied", f.copied}, {"crosses", f.crosses}};
  };
  return {{"name", s.name}, {"entries", list_of(s.entries, entry)}, {"flows", list_of(s.flows, flow)}};
}

inline json trace_json(trace_data const& all) {
  trace_sum moved, sent, whole;
  for (auto const& e : all.events) {
    whole.add(e.time, e.took);
    (e.is_sent() ? sent : moved).add(e);
  }
  for (auto const& r : all.routines) whole.add(r.time, r.took);
  auto const& first = *std::min_element(all.headers.begin(), all.headers.end(),
                                        [](auto const& a, auto const& b) { return a.begin < b.begin; });
  auto const file = [](trace_header const& h) {
    return json{{"file", h.file}, {"rank", h.rank}, {"part", h.part}, {"host", h.host}, {"threads", h.threads}};
  };
  json made{{"run", first.run},
            {"program", first.program},
            {"begin", first.begin},
            {"of_keel", first.of_keel},
            {"files", list_of(all.headers, file)},
            {"ranks", all.ranks()},
            {"duration", rounded(whole.last)},
            {"copies", moved.times},
            {"moved", moved.bytes},
            {"least", moved.bytes - moved.repeated},
            {"sent", sent.bytes},
            {"by_variable", copies_json(all)},
            {"by_routine", routines_json(all)},
            {"schedules", list_of(all.schedules, schedule_json)}};
  report_events{all, whole.last}.write_to(made);
  return made;
}

inline json traced_knobs_json(trace_data const& all) {
  return list_of(all.knobs, [](trace_knob const& k) {
    return json{
        {"option", k.option}, {"device", k.device}, {"value", k.value}, {"source", k.source}, {"ranks", k.ranks}};
  });
}

/// Writes the page whole or not at all, and not over a file that it was made of. `traces` is null if none was given.
inline void write_report(arguments const& asked, topology::node const& node, configuration const& c,
                         trace_data const* traces) {
  auto const& page = asked.files.front();
  arguments with_ranks = asked;
  if (!asked.map) with_ranks.map = traces != nullptr ? int(traces->ranks().size()) : 1;
  finding const not_checked{false, "keel::info: --check was not run (--xml names another machine)."};
  auto found = asked.xml.empty() ? checking{node, c, with_ranks.map}.found() : std::vector{not_checked};
  if (traces != nullptr)
    for (auto& f : findings_of(*traces)) found.push_back(std::move(f));
  bool const is_of_run = traces != nullptr && !traces->knobs.empty();
  auto const now = std::chrono::system_clock::now().time_since_epoch();
  json const all{
      {"report", 2},
      {"written", std::chrono::duration_cast<std::chrono::microseconds>(now).count()},
      {"of_keel", KEEL_VERSION},
      {"node", node_json(node)},
      {"host", null_unless(asked.xml.empty(), machine::host_name())},
      {"boxes", boxes_json(node)},
      {"map", map_json(map_of(with_ranks, node))},
      {"map_was_asked_for", asked.map.has_value()},
      {"knobs_of_run", is_of_run},
      {"knobs", is_of_run ? traced_knobs_json(*traces) : knobs_json(c)},
      {"findings", list_of(found, [](finding const& f) { return json{{"wrong", f.is_wrong}, {"text", f.text}}; })},
      {"trace", traces != nullptr ? trace_json(*traces) : json{}}};
  report_html const html{all};
  auto data = text_of(all);
  for (auto at = data.find('<'); at != data.npos; at = data.find('<', at)) // no text ends the element that holds it
    data.replace(at, 1, "\\u003c");
  std::string text;
  for (auto const& piece : page_pieces)
    text += piece == "@LINKS@"      ? html.links()
            : piece == "@SECTIONS@" ? html.sections()
            : piece == "@DATA@"     ? data
                                    : piece;
  std::vector<std::string> inputs{asked.files.begin() + 1, asked.files.end()};
  if (!asked.xml.empty()) inputs.push_back(asked.xml);
  if (auto const failure = policy::write_whole_file(page, text, inputs))
    throw error("info", brief(page) + " cannot be written", failure.why, "Name a file in a folder of yours",
                failure.code);
  std::printf("%s: %s, %s\n", page.c_str(), policy::counted(*with_ranks.map, "rank").c_str(),
              readable(text.size()).c_str());
}

} // namespace keel::info
