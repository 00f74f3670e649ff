// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What keel-info was asked for.

#include <keel/impl/device/kinds.hpp>
#include <keel/policy/error.hpp>
#include <keel/topology/placement.hpp>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace keel::info {

inline constexpr std::string_view usage =
    R"(usage: keel-info [--json] [--xml FILE] [--map N [--by RULE]] [--svg FILE] [--explain KNOB] [--keel-...]
       keel-info --map N [--by RULE] [--xml FILE] --bind-script
       keel-info --check [--map N] [--keel-...]
       keel-info trace FILE... [--summary] [--chrome OUT]
       keel-info report PAGE.html [TRACE...] [--map N] [--xml FILE]

Shows what this node is made of, the devices that this keel was built with, and every knob with its value
and who set it.

  --json           the same as JSON; "schema" says which form, and changes when the form does
  --xml FILE       of the machine that lstopo saved in FILE instead of this one
  --map N          and where N ranks would run: cores, memory, device, and the distances to them
                   (options of --keel-bind=place follow after commas: --map 8,smt=1,greedy=no)
  --by RULE        by which rule: spread (all cores in near and equal parts), compact (one core each, the
                   first ones), by_device (on the cores near each GPU)
  --bind-script    only a shell script that starts the ranks bound so, through srun, mpiexec of Open MPI or MPICH,
                   flux or jsrun: sh SCRIPT LAUNCHER PROGRAM
  --svg FILE       draw the node, and with --map its ranks, into FILE
  --explain KNOB   only what this knob is, and what it is now (num-threads, --keel-num-threads, KEEL_NUM_THREADS, ...)
  --check          only what is wrong here, for a program that starts now with these knobs (with --map, on N ranks):
                   more threads than room, binding refused, devices that are not there, limits of cgroups, variables
                   that nothing reads
  --help           this text, then keel's knobs
  --version        the version of keel

keel-info trace --help and keel-info report --help describe traces and the page.
HWLOC_XMLFILE, HWLOC_SYNTHETIC and hwloc's other variables put another machine in this one's stead.

Exit code: 0; with --check 1 if something is wrong, knobs too; 2 if keel-info cannot look, or its options are wrong.
)";

struct arguments {
  bool json = false, help = false, version = false, check = false, bind_script = false;
  std::string xml, svg, explain;
  std::optional<int> map;
  device::bind_rule bind; ///< the options of `map`
  topology::order by = topology::order::spread;
};

inline constexpr int ranks_max = 65536;

inline int parse_ranks(std::string_view text) {
  int ranks = 0;
  auto const [end, code] = std::from_chars(text.data(), text.data() + text.size(), ranks);
  if (code != std::errc{} || end != text.data() + text.size() || ranks < 1 || ranks > ranks_max)
    throw error("info", "--map " + std::string{text} + " cannot be drawn", "it is not a number of ranks",
                "Write a number from 1 to " + std::to_string(ranks_max));
  return ranks;
}

inline topology::order parse_rule(std::string_view text) {
  if (text == "spread") return topology::order::spread;
  if (text == "compact") return topology::order::compact;
  if (text == "by_device") return topology::order::by_device;
  throw error("info", "--by " + std::string{text} + " is no rule", {}, "Write spread, compact or by_device");
}

/// Reads what is left of the command line after keel took its own. Refuses what it does not know.
inline arguments parse(int argc, char** argv) {
  arguments asked;
  for (int i = 1; i < argc; ++i) {
    std::string_view const word = argv[i], option = word.substr(0, word.find('='));
    auto const value = [&]() -> std::string {
      bool const is_joined = option.size() < word.size();
      if (!is_joined && i + 1 == argc)
        throw error("info", std::string{option} + " has no value", "it is the last word", "See keel-info --help");
      std::string given{is_joined ? word.substr(option.size() + 1) : argv[++i]};
      if (given.empty())
        throw error("info", std::string{option} + " is empty", "it needs a value", "See keel-info --help");
      return given;
    };
    if (word == "--json") asked.json = true;
    else if (word == "--check") asked.check = true;
    else if (word == "--bind-script") asked.bind_script = true;
    else if (word == "--help" || word == "-h") asked.help = true;
    else if (word == "--version") asked.version = true;
    else if (option == "--xml") asked.xml = value();
    else if (option == "--svg") asked.svg = value();
    else if (option == "--explain") asked.explain = value();
    else if (option == "--by") asked.by = parse_rule(value());
    else if (option == "--map") {
      auto const given = value();
      auto const options = given.substr(std::min(given.find(','), given.size()));
      asked.map = parse_ranks(given.substr(0, given.size() - options.size()));
      asked.bind = device::parse_bind("--map", "place" + options);
    } else throw error("info", "unknown option " + std::string{word}, {}, "See keel-info --help");
  }
  if (asked.check && (asked.json || !asked.xml.empty() || !asked.svg.empty() || !asked.explain.empty()))
    throw error("info", "--check goes with --map and keel's knobs alone", "it looks at this node",
                "Leave the rest out");
  if (asked.bind_script && (!asked.map || asked.json || asked.check || !asked.svg.empty() || !asked.explain.empty()))
    throw error("info", "--bind-script goes with --map, --by and --xml", "it prints a script and nothing else",
                "Write --map N --bind-script");
  return asked;
}

} // namespace keel::info
