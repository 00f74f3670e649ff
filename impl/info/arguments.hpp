// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What keel-info was asked for.

#include <keel/impl/device/kinds.hpp>
#include <keel/policy/error.hpp>
#include <keel/topology/placement.hpp>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace keel::info {

inline constexpr std::string_view usage =
    R"(usage: keel-info [--json] [--xml FILE] [--map N [--by RULE]] [--explain KNOB] [--keel-...]
       keel-info --check [--map N] [--keel-...]
       keel-info trace FILE...
       keel-info report PAGE.html [TRACE...] [--map N] [--xml FILE]

Shows what this node is made of, the devices that this keel was built with, and every knob with its value
and who set it.

  --json           the same as JSON; "schema" says which form, and changes when the form does
  --xml FILE       of the machine that lstopo saved in FILE instead of this one
  --map N          and where N ranks would run: cores, memory, device, and the distances to them
                   (options of --keel-bind=place follow after commas: --map 8,smt=1,greedy=no)
  --by RULE        by which rule: spread (all cores in near and equal parts), compact (one core each, the
                   first ones), by_device (on the cores near each GPU)
  --explain KNOB   only what this knob is, and what it is now (num-threads, --keel-num-threads, KEEL_NUM_THREADS, ...)
  --check          only what is wrong here, for a program that starts now with these knobs (with --map, on N ranks):
                   more threads than room, binding refused, devices that are not there, variables that nothing reads
  --help           this text, then keel's knobs
  --version        the version of keel

keel-info trace --help and keel-info report --help describe traces and the page.
HWLOC_XMLFILE, HWLOC_SYNTHETIC and hwloc's other variables put another machine in this one's stead.

Exit code: 0; with --check 1 if something is wrong, knobs too; 2 if keel-info cannot look, or its options are wrong.
)";

inline constexpr std::string_view trace_usage =
    R"(usage: keel-info trace FILE... [--force]

Adds up bytes and times by variable, pair of memories and routine, of what a program with the tracking policy `traced`
wrote, a FILE for each rank. Files of two runs, a file given twice and missing ranks are refused. Of a process that was
killed, what it had written is added up, and the exit code is 1.

  --force        add up whatever traces are given

A copy to a device runs asynchronously: its time is how long it held the program's thread up.
)";

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

struct arguments {
  bool json = false, help = false, version = false, check = false, force = false;
  std::string xml, explain;
  std::vector<std::string> files;
  std::optional<int> map;
  device::bind_rule bind; ///< the options of `map`
  topology::order by = topology::order::spread;
};

inline constexpr int ranks_max = 65536;

/// `8,smt=1`: ranks, and the options of `--keel-bind=place`.
inline void parse_map(arguments& into, std::string const& text) {
  auto const options = std::min(text.find(','), text.size());
  int ranks = 0;
  auto const [end, code] = std::from_chars(text.data(), text.data() + options, ranks);
  if (code != std::errc{} || end != text.data() + options || ranks < 1 || ranks > ranks_max)
    throw error("info", "--map " + text + " cannot be drawn", "it is not a number of ranks",
                "Write a number from 1 to " + std::to_string(ranks_max));
  into.map = ranks;
  into.bind = device::parse_bind("--map", "place" + text.substr(options));
}

inline topology::order parse_rule(std::string const& text) {
  if (text == "spread") return topology::order::spread;
  if (text == "compact") return topology::order::compact;
  if (text == "by_device") return topology::order::by_device;
  throw error("info", "--by " + text + " is no rule", {}, "Write spread, compact or by_device");
}

/// The commands of keel-info, as bits.
enum command : unsigned { node_command = 1, trace_command = 2, report_command = 4 };

/// An option, which commands have it, and whether a value follows.
struct option {
  std::string_view name;
  unsigned commands;
  bool has_value;
  void (*take)(arguments& into, std::string const& value);
};

inline constexpr option options[]{
    {"--help", ~0U, false, [](arguments& a, std::string const&) { a.help = true; }},
    {"-h", ~0U, false, [](arguments& a, std::string const&) { a.help = true; }},
    {"--version", node_command, false, [](arguments& a, std::string const&) { a.version = true; }},
    {"--json", node_command, false, [](arguments& a, std::string const&) { a.json = true; }},
    {"--check", node_command, false, [](arguments& a, std::string const&) { a.check = true; }},
    {"--explain", node_command, true, [](arguments& a, std::string const& value) { a.explain = value; }},
    {"--xml", node_command | report_command, true, [](arguments& a, std::string const& value) { a.xml = value; }},
    {"--map", node_command | report_command, true, parse_map},
    {"--by", node_command | report_command, true,
     [](arguments& a, std::string const& value) { a.by = parse_rule(value); }},
    {"--force", trace_command | report_command, false, [](arguments& a, std::string const&) { a.force = true; }},
};

/// Reads what is left of the command line from word `first` on, after keel took its own. Refuses what the command does
/// not know.
inline arguments parse(command which, int first, int argc, char** argv) {
  std::string_view const see_help = which == trace_command    ? "See keel-info trace --help"
                                    : which == report_command ? "See keel-info report --help"
                                                              : "See keel-info --help";
  arguments asked;
  for (int i = first; i < argc; ++i) {
    std::string const word = argv[i], name = word.substr(0, word.find('='));
    bool const is_joined = name.size() < word.size();
    auto const* const known = std::find_if(std::begin(options), std::end(options), [&](option const& o) {
      return (o.commands & which) != 0 && o.name == name && (o.has_value || !is_joined);
    });
    if (known == std::end(options)) {
      if (which == node_command || word.starts_with("--")) throw error("info", "unknown option " + word, {}, see_help);
      asked.files.push_back(word);
      continue;
    }
    std::string value;
    if (known->has_value) {
      if (!is_joined && i + 1 == argc) throw error("info", name + " has no value", "it is the last word", see_help);
      value = is_joined ? word.substr(name.size() + 1) : argv[++i];
      if (value.empty()) throw error("info", name + " is empty", "it needs a value", see_help);
    }
    known->take(asked, value);
  }
  if (asked.check && (asked.json || !asked.xml.empty() || !asked.explain.empty()))
    throw error("info", "--check goes with --map and keel's knobs alone", "it looks at this node",
                "Leave the rest out");
  return asked;
}

} // namespace keel::info
