// SPDX-License-Identifier: MIT
/// @file
/// keel-info: what this node is made of, what keel makes of it, and why.

#include "arguments.hpp"
#include "bind_script.hpp"
#include "check.hpp"
#include "child.hpp"
#include "json.hpp"
#include "knobs.hpp"
#include "report.hpp"
#include "show.hpp"
#include "svg.hpp"
#include "trace.hpp"

#include <keel/device/report.hpp>
#include <keel/impl/store/whole_file.hpp>
#include <keel/policy/macros.hpp>
#include <keel/policy/printable.hpp>
#include <keel/topology.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace {

using namespace keel;

/// The exit code of `work`, or 2 and a message if the input is wrong.
int guarded(auto const& work) {
  try {
    int const code = work();
    if (auto const failure = policy::flush_standard_output())
      throw error("info", "the output cannot be written", failure.why, {}, failure.code);
    return code;
  } catch (std::exception const& e) {
    return keel::report(e);
  }
}

/// Texts with names out of files, on standard output.
void print(std::string text) { std::fputs(policy::printable(std::move(text)).c_str(), stdout); }

topology::node node_of(info::arguments const& asked) {
  auto node = asked.xml.empty() ? topology::node::here() : topology::node::from_xml(asked.xml);
  info::input_is_read();
  return node;
}

/// The file that another machine is read from; empty if it is this one.
std::string input_file(info::arguments const& asked) {
  char const* const other = std::getenv("HWLOC_XMLFILE");
  return !asked.xml.empty() ? asked.xml : other != nullptr ? other : "";
}

/// Limits of the work with that machine: a pipe may wait for its writer.
info::child_limits limits_of(info::arguments const& asked) {
  info::child_limits limits;
  std::error_code failed;
  if (auto const file = input_file(asked); !file.empty() && !std::filesystem::is_regular_file(file, failed))
    limits.waiting_seconds = 4;
  return limits;
}

/// What hwloc reads, and what to do if it cannot.
std::pair<std::string, std::string> source_of(info::arguments const& asked) {
  char const* const synthetic = std::getenv("HWLOC_SYNTHETIC");
  if (!asked.xml.empty()) return {asked.xml, "Make one with lstopo"};
  if (synthetic != nullptr) return {std::string{"HWLOC_SYNTHETIC="} + synthetic, "Describe a smaller machine"};
  if (auto const file = input_file(asked); !file.empty()) return {"HWLOC_XMLFILE=" + file, "Make one with lstopo"};
  return {"this machine", "Does lstopo show it"};
}

int check(info::arguments const& asked, info::configuration const& configuration) {
  auto const found = info::checking{node_of(asked), configuration, asked.map}.found();
  print(info::findings_text(found));
  return std::any_of(found.begin(), found.end(), [](info::finding const& f) { return f.is_wrong; }) ? 1 : 0;
}

int show(info::arguments const& asked, info::configuration const& configuration) {
  auto const node = node_of(asked);
  std::optional<std::vector<topology::placement>> ranks;
  if (asked.map)
    ranks = node.place(*asked.map, {.order = asked.bind.gpu ? topology::order::by_device : asked.by,
                                    .threads_per_core = asked.bind.smt,
                                    .greedy = asked.bind.greedy});
  if (asked.bind_script) {
    std::fputs(info::bind_script(node, *ranks).c_str(), stdout);
    return 0;
  }
  if (!asked.svg.empty())
    info::write_svg(asked.svg, input_file(asked), node, ranks ? *ranks : std::vector<topology::placement>{});
  auto const text = asked.json ? info::json::document(node, configuration, ranks ? &*ranks : nullptr)
                               : info::node_text(node) + (ranks ? info::map_text(node, *ranks) : "") +
                                     info::configuration_text(configuration);
  print(text);
  return 0;
}

int report(int argc, char** argv) {
  auto const configuration = info::read_configuration(argc, argv);
  auto const asked = info::parse_report(argc, argv);
  if (asked.help) return std::fputs(info::report_usage.data(), stdout), 0;
  if (configuration.help_was_printed) return 0;
  std::optional<info::trace_data> traces;
  std::vector<info::finding> findings;
  if (!asked.traces.empty()) {
    traces = info::read_traces(asked.traces, asked.allowed);
    findings = info::findings_of(*traces);
  }
  info::arguments source;
  source.xml = asked.xml;
  auto const work = [&] {
    info::write_report(asked, node_of(source), configuration, traces ? &*traces : nullptr);
    return 0;
  };
  auto const [what, hint] = source_of(source);
  auto limits = limits_of(source);
  if (traces) // it holds them, and writes them
    limits.bytes += rlim_t{4096} * (traces->events.size() + traces->routines.size()), limits.seconds = RLIM_INFINITY;
  int const code = info::in_child(what, hint, [&] { return guarded(work); }, limits);
  return code == 0 ? info::report_findings(findings) : code;
}

/// The words with `--explain --keel-device` as one, because keel takes its options out of the command line.
std::vector<std::string> with_knob_joined(int argc, char** argv) {
  std::vector<std::string> words(argv, argv + argc);
  for (std::size_t i = 1; i + 1 < words.size(); ++i)
    if (words[i] == "--explain") {
      words[i] += "=" + words[i + 1];
      words.erase(words.begin() + std::ptrdiff_t(i) + 1);
    }
  return words;
}

int run(int given, char** given_words) {
  auto words = with_knob_joined(given, given_words);
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  int argc = int(words.size());
  char** const argv = pointers.data();
  bool const checks =
      std::any_of(argv, argv + argc, [](char const* word) { return std::strcmp(word, "--check") == 0; });
  info::configuration configuration;
  try {
    configuration = info::read_configuration(argc, argv);
  } catch (error const& e) {
    if (!checks) throw;
    print(info::findings_text({{true, e.what()}}));
    return 1; // a knob is wrong, and that is what was asked for
  }
  auto const asked = info::parse(argc, argv);
  if (configuration.help_was_printed) return 0;
  if (asked.version) {
    std::printf("keel %d.%d.%d\n", KEEL_VERSION / 10000, KEEL_VERSION / 100 % 100, KEEL_VERSION % 100);
  } else if (asked.help) {
    std::printf("%s\nkeel's knobs, which every program built on it takes:\n%s", std::string{info::usage}.c_str(),
                configuration.help.c_str());
  } else if (!asked.explain.empty()) {
    auto const text = info::explanation(configuration, asked.explain);
    if (text.empty()) throw error("info", "no knob is called " + asked.explain, {}, "See keel-info --help");
    print(text);
  } else {
    auto const work = [&] { return asked.check ? check(asked, configuration) : show(asked, configuration); };
    auto const [what, hint] = source_of(asked);
    return info::in_child(what, hint, [&] { return guarded(work); }, limits_of(asked)); // it prints what is wrong
  }
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  std::string_view const first = argc > 1 ? argv[1] : "";
  return guarded([&] {
    return first == "trace" ? info::show_trace(argc, argv) : first == "report" ? report(argc, argv) : run(argc, argv);
  });
}
