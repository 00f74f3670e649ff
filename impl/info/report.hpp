// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// `keel-info report`: a page that holds all that is known of a run, and needs nothing but a browser.

#include "arguments.hpp"
#include "places.hpp"
#include "report_data.hpp"
#include "report_page.hpp" // made by page/embed.py
#include "svg.hpp"
#include "trace_files.hpp"

#include <keel/machine/host.hpp>
#include <keel/policy/error.hpp>
#include <keel/impl/store/whole_file.hpp>
#include <keel/topology.hpp>

#include <array>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace keel::info {

inline constexpr std::string_view report_usage =
    R"(usage: keel-info report PAGE.html [TRACE...] [--map N] [--by RULE] [--xml FILE] [--force] [--keel-...]

Writes a page for a browser: the node with its ranks; knobs and who set them; of a run that was traced (tracking policy
`traced`) what was copied, when, why and how long, on a timeline; the graph of its schedules; and what --check finds.
The page needs no network and no server.

  --map N      draw N ranks on the node (as many as there are traces of)
  --by RULE    by which rule: spread, compact, by_device
  --xml FILE   the machine that lstopo saved in FILE instead of this one
  --force      take whatever traces are given

Ranks are drawn on the cores that they might run on, if the traces say so and are of this machine or --xml is given;
otherwise, or with --map, where keel places them. The knobs are those of the run; without a trace, of a program that starts now.
)";

struct report_arguments {
  std::string page, xml;
  std::vector<std::string> traces;
  std::optional<int> map;
  topology::order by = topology::order::spread;
  runs allowed = runs::one;
  bool help = false;
};

/// Reads what is left of the command line after `report`.
inline report_arguments parse_report(int argc, char** argv) {
  report_arguments asked;
  std::string_view const see_help = "See keel-info report --help";
  for (int i = 2; i < argc; ++i) {
    std::string_view const word = argv[i], option = word.substr(0, word.find('='));
    auto const value = [&]() -> std::string {
      bool const is_joined = option.size() < word.size();
      if (!is_joined && i + 1 == argc)
        throw error("info", std::string{option} + " has no value", "it is the last word", see_help);
      std::string given{is_joined ? word.substr(option.size() + 1) : argv[++i]};
      if (given.empty()) throw error("info", std::string{option} + " is empty", "it needs a value", see_help);
      return given;
    };
    if (word == "--help" || word == "-h") asked.help = true;
    else if (word == "--force") asked.allowed = runs::any;
    else if (option == "--xml") asked.xml = value();
    else if (option == "--map") asked.map = parse_ranks(value());
    else if (option == "--by") asked.by = parse_rule(value());
    else if (word.starts_with("--")) throw error("info", "unknown option " + std::string{word}, {}, see_help);
    else if (asked.page.empty()) asked.page = word;
    else asked.traces.emplace_back(word);
  }
  if (asked.help) return asked;
  if (asked.page.empty()) throw error("info", "no page to write", {}, "Name it before the traces, as report.html");
  if (!asked.page.ends_with(".html")) // it may be a trace, which would be lost
    throw error("info", shown(asked.page) + " is not written", "the name of a page ends in .html",
                "Name the page before the traces");
  return asked;
}

/// Writes the page whole or not at all, and not over a file that it was made of.
inline void write_report(report_arguments const& asked, topology::node const& node, configuration const& c,
                         trace_data const* traces) {
  auto const wanted = asked.map ? *asked.map : traces != nullptr ? int(traces->ranks().size()) : 1;
  auto const ranks = node.place(wanted, {.order = asked.by});
  finding const not_checked{false, "keel::info: --check was not run (--xml names another machine)."};
  auto found = asked.xml.empty() ? checking{node, c, wanted}.found() : std::vector{not_checked};
  if (traces != nullptr)
    for (auto& f : findings_of(*traces)) found.push_back(std::move(f));
  std::string page;
  auto const add = [&](auto const& texts) {
    for (auto const& text : texts) page += text;
  };
  auto const host = asked.xml.empty() ? std::optional{machine::host_name()} : std::nullopt;
  auto const places = traces != nullptr ? places_of(*traces, node, host) : std::vector<rank_place>{};
  auto const drawn = asked.map ? std::vector<topology::placement>{} : drawn_places(places);
  add(page_begin), add(std::array{picture{node, drawn.empty() ? ranks : drawn}.text()});
  add(page_middle), add(std::array{json::report(node, c, {ranks, places, !drawn.empty()}, found, traces)});
  add(page_end);
  auto inputs = asked.traces;
  if (!asked.xml.empty()) inputs.push_back(asked.xml);
  if (auto const failure = policy::write_whole_file(asked.page, page, inputs))
    throw error("info", shown(asked.page) + " cannot be written", failure.why, "Name a file in a folder of yours",
                failure.code);
  std::printf("%s: %s, %s\n", asked.page.c_str(), policy::counted(std::int64_t(ranks.size()), "rank").c_str(),
              readable(page.size()).c_str());
}

} // namespace keel::info
