// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// `keel-info report`: a page that holds all that is known of a run, and needs nothing but a browser.

#include "arguments.hpp"
#include "check.hpp"
#include "json.hpp"
#include "report_html.hpp"
#include "report_page.hpp" // made by page/embed.py
#include "show.hpp"
#include "trace_data.hpp"
#include "trace_files.hpp"

#include <keel/machine/host.hpp>
#include <keel/policy/error.hpp>
#include <keel/impl/store/whole_file.hpp>
#include <keel/topology.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace keel::info {

/// To a nanosecond, because sums have more digits than traces.
inline double rounded(double microseconds) { return std::round(microseconds * 1000) / 1000; }

/// What events have in common stands once, in `kinds`, and `kind` counts from 0 in it. If there are too many, those of
/// a kind and rank that lie within a pixel of the whole are one.
class report_events {
public:
  static constexpr std::size_t most = std::size_t{1} << 17; ///< in a page, which has some 4 MB then

  report_events(trace_data const& all, double duration) {
    auto e = all.events.begin();
    auto r = all.routines.begin();
    while (e != all.events.end() || r != all.routines.end()) { // both are in the order of time
      if (r == all.routines.end() || (e != all.events.end() && e->time <= r->time)) add(*e++);
      else add(*r++);
    }
    auto const count = rows_.size();
    double pixel = duration / 8192;
    for (; rows_.size() > most && pixel <= duration; pixel *= 2) merge(pixel);
    if (rows_.size() < count) thinned_ = {{"events", count}, {"within", rounded(pixel / 2)}};
  }
  void write_to(json& trace) const {
    auto const column = [&](char const* name, auto const& value) { trace[name] = list_of(rows_, value); };
    trace["kinds"] = kinds_;
    trace["thinned"] = thinned_;
    column("kind", [](event const& e) { return e.kind; });
    column("rank", [](event const& e) { return e.rank; });
    column("time", [](event const& e) { return rounded(e.time); });
    column("took", [](event const& e) { return rounded(e.took); });
    column("waited", [](event const& e) { return rounded(e.waited); });
    column("bytes", [](event const& e) { return e.bytes; });
    if (!thinned_.is_null()) column("count", [](event const& e) { return e.count; });
  }

private:
  struct event {
    std::size_t kind;
    int rank;
    double time, took, waited;
    std::uint64_t bytes, count;
  };
  /// What it is, variable, level, component, region, from, to, routine, why, and whether it repeats what was there.
  using kind = std::tuple<std::string_view, std::string_view, int, int, std::string_view, std::string_view,
                          std::string_view, std::string_view, std::string_view, bool>;

  void add(trace_event const& e) {
    add({e.is_sent() ? "exchange" : "copy", e.variable, e.level, e.component, e.region, e.from, e.to, e.routine, e.why,
         e.repeated > 0},
        {0, e.rank, e.time, e.took, e.waited, e.bytes, 1});
  }
  /// `to` is where it ran.
  void add(trace_routine const& r) {
    add({r.is_on_device ? "device" : "routine", "", 0, 0, "", "", r.memory, r.routine, "", false},
        {0, r.rank, r.time, r.took, 0, 0, 1});
  }
  void add(kind const& what, event e) {
    auto const [at, is_new] = numbers_.try_emplace(what, numbers_.size());
    if (is_new) std::apply([&](auto const&... parts) { kinds_.push_back(json::array({parts...})); }, what);
    e.kind = at->second;
    rows_.push_back(e);
  }
  /// Those of a kind and rank that begin within the same pixel become the first of them, but for longer ones.
  void merge(double pixel) {
    std::map<std::pair<std::size_t, int>, std::size_t> first; // of the pixel
    double now = -1;
    std::vector<event> made;
    for (event const& e : rows_) {
      if (double const at = std::floor(e.time / pixel); at != now) {
        now = at;
        first.clear();
      }
      auto const of = e.took < pixel ? first.try_emplace({e.kind, e.rank}, made.size()).first->second : made.size();
      if (of == made.size()) {
        made.push_back(e);
        continue;
      }
      event& sum = made[of];
      sum.took += e.took;
      sum.waited += e.waited;
      sum.bytes += e.bytes;
      sum.count += e.count;
    }
    rows_ = std::move(made);
  }

  std::map<kind, std::size_t> numbers_;
  json kinds_ = json::array(), thinned_;
  std::vector<event> rows_;
};

/// What the scripts of the page zoom.
inline json events_json(trace_data const& all) {
  trace_sum whole;
  for (auto const& e : all.events) whole.add(e.time, e.took);
  for (auto const& r : all.routines) whole.add(r.time, r.took);
  json made{{"ranks", all.ranks()}, {"duration", rounded(whole.last)}};
  report_events{all, whole.last}.write_to(made);
  return made;
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
  std::vector<trace_knob> knobs;
  if (is_of_run) knobs = traces->knobs;
  else
    for (auto const& k : c.knobs) knobs.push_back({k.option, k.device, k.value, k.source});
  report_content const content{node,
                               map_of(with_ranks, node),
                               asked.map.has_value(),
                               asked.xml.empty() ? machine::host_name() : "",
                               is_of_run,
                               std::move(knobs),
                               std::move(found),
                               traces,
                               traces != nullptr ? events_json(*traces) : json{}};
  report_html const html{content};
  auto data = text_of(content.events);
  for (auto at = data.find('<'); at != data.npos; at = data.find('<', at)) // no text ends the element that holds it
    data.replace(at, 1, "\\u003c");
  std::string text;
  for (auto const& piece : page_pieces)
    text += piece == "@LINKS@"      ? html.links()
            : piece == "@SECTIONS@" ? html.sections()
            : piece == "@DATA@"     ? data
                                    : std::string{piece};
  std::vector<std::string> inputs{asked.files.begin() + 1, asked.files.end()};
  if (!asked.xml.empty()) inputs.push_back(asked.xml);
  if (auto const failure = policy::write_whole_file(page, text, inputs))
    throw error("info", brief(page) + " cannot be written", failure.why, "Name a file in a folder of yours",
                failure.code);
  std::printf("%s: %s, %s\n", page.c_str(), policy::counted(*with_ranks.map, "rank").c_str(),
              readable(text.size()).c_str());
}

} // namespace keel::info
