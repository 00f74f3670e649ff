// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// `keel-info report`: a page that holds all that is known of a run, and needs nothing but a browser.

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
#include <keel/impl/store/whole_file.hpp>
#include <keel/topology.hpp>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace keel::info {

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
