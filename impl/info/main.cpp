// SPDX-License-Identifier: MIT
/// @file
/// keel-info: what this node is made of, what keel makes of it, and why.

#include "arguments.hpp"
#include "check.hpp"
#include "json.hpp"
#include "knobs.hpp"
#include "report.hpp"
#include "show.hpp"
#include "trace.hpp"

#include <keel/device/report.hpp>
#include <keel/impl/store/whole_file.hpp>
#include <keel/policy/macros.hpp>
#include <keel/policy/printable.hpp>
#include <keel/topology.hpp>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

namespace {

using namespace keel;

/// Whether this is a build with a sanitizer that reserves more memory than any limit allows.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool is_sanitized = true;
#elif defined(__has_feature)
constexpr bool is_sanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool is_sanitized = false;
#endif

/// Until the scope ends, this process may take 4 more seconds of a processor and 2 GiB, because what describes another
/// machine may be of any size, and hwloc does not always survive a lack of memory. Where it takes more, or dies, it
/// ends with a message that names `what`, and exit code 2.
class reading_limits {
public:
  reading_limits(std::string const& what, std::string const& hint) {
    std::snprintf(message_.data(), message_.size(),
                  "keel::info: %.3000s is not read (hwloc died of it, or it takes too much time or memory). %s\n",
                  what.c_str(), hint.c_str());
    for (int const signal : signals) std::signal(signal, end);
    for (auto& l : limits_) {
      getrlimit(l.which, &l.before);
      rlimit const now{std::min(l.before.rlim_max, l.most), l.before.rlim_max};
      setrlimit(l.which, &now);
    }
  }
  reading_limits(reading_limits const&) = delete;
  reading_limits& operator=(reading_limits const&) = delete;
  ~reading_limits() {
    for (auto const& l : limits_) setrlimit(l.which, &l.before);
    for (int const signal : signals) std::signal(signal, SIG_DFL);
  }

private:
  static constexpr int signals[]{SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGXCPU};

  struct limit {
    __rlimit_resource which;
    rlim_t most;
    rlimit before;
  };

  static void end(int) {
    [[maybe_unused]] auto const written = ::write(STDERR_FILENO, message_.data(), std::strlen(message_.data()));
    _exit(2);
  }

  static inline std::array<char, 4096> message_{};
  std::array<limit, 2> limits_{{{RLIMIT_CPU, rlim_t(std::clock() / CLOCKS_PER_SEC) + 5, {}},
                                {RLIMIT_AS, is_sanitized ? RLIM_INFINITY : rlim_t{2} << 30, {}}}};
};

/// Texts with names out of files, on standard output.
void print(std::string text) { std::fputs(policy::printable(std::move(text)).c_str(), stdout); }

topology::node node_of(info::arguments const& asked) {
  char const *const synthetic = std::getenv("HWLOC_SYNTHETIC"), *const file = std::getenv("HWLOC_XMLFILE");
  std::string const source = !asked.xml.empty()     ? asked.xml
                             : synthetic != nullptr ? std::string{"HWLOC_SYNTHETIC="} + synthetic
                             : file != nullptr      ? std::string{"HWLOC_XMLFILE="} + file
                                                    : "this machine";
  reading_limits const limits{source,
                              source == "this machine" ? "Does lstopo show it?" : "Describe a smaller machine."};
  return asked.xml.empty() ? topology::node::here() : topology::node::from_xml(asked.xml);
}

bool any_is_wrong(std::vector<info::finding> const& all) {
  return std::any_of(all.begin(), all.end(), [](info::finding const& f) { return f.is_wrong; });
}

int check(info::arguments const& asked, info::configuration const& configuration) {
  auto const node = node_of(asked);
  auto const found = info::checking{node, configuration, asked.map}.found();
  print(info::findings_text(found));
  return any_is_wrong(found) ? 1 : 0;
}

void show(info::arguments const& asked, info::configuration const& configuration) {
  auto const node = node_of(asked);
  std::optional<std::vector<topology::placement>> ranks;
  if (asked.map) ranks = info::map_of(asked, node);
  print(asked.json ? info::document(node, configuration, ranks ? &*ranks : nullptr)
                   : info::node_text(node) + (ranks ? info::map_text(node, *ranks) : "") +
                         info::configuration_text(configuration));
}

int report(int argc, char** argv) {
  auto const configuration = info::read_configuration(argc, argv);
  auto const asked = info::parse(info::report_command, 2, argc, argv);
  if (asked.help) std::fputs(info::report_usage.data(), stdout);
  if (asked.help || configuration.help_was_printed) return 0;
  if (asked.files.empty()) throw error("info", "no page to write", {}, "Name it before the traces, as report.html");
  if (!asked.files.front().ends_with(".html")) // it may be a trace, which would be lost
    throw error("info", info::brief(asked.files.front()) + " is not written", "the name of a page ends in .html",
                "Name the page before the traces");
  std::vector<std::string> const files{asked.files.begin() + 1, asked.files.end()};
  if (files.empty()) return info::write_report(asked, node_of(asked), configuration, nullptr), 0;
  auto const traces = info::read_traces(files, asked.force ? info::runs::any : info::runs::one);
  auto const findings = info::findings_of(traces);
  info::write_report(asked, node_of(asked), configuration, &traces);
  return info::report_findings(findings);
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
  bool const checks = std::find(words.begin(), words.end(), "--check") != words.end();
  info::configuration configuration;
  try {
    configuration = info::read_configuration(argc, argv);
  } catch (error const& e) {
    if (!checks) throw;
    print(info::findings_text({{true, e.what()}}));
    return 1; // a knob is wrong, and that is what was asked for
  }
  auto const asked = info::parse(info::node_command, 1, argc, argv);
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
  } else if (asked.check) {
    return check(asked, configuration);
  } else {
    show(asked, configuration);
  }
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  std::set_terminate([] { // a document's destructor allocates
    policy::print_line("keel::info: there is not enough memory (an allocation failed). Free some, or raise its limit.");
    _exit(2);
  });
  std::string_view const first = argc > 1 ? argv[1] : "";
  try {
    int const code = first == "trace"    ? info::show_trace(info::parse(info::trace_command, 2, argc, argv))
                     : first == "report" ? report(argc, argv)
                                         : run(argc, argv);
    if (auto const failure = policy::flush_standard_output())
      throw error("info", "the output cannot be written", failure.why, {}, failure.code);
    return code;
  } catch (std::exception const& e) {
    return keel::report(e);
  }
}
