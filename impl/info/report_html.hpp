// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What a report shows, as HTML that needs no script; the scripts of the page sort its tables and zoom its timeline.

#include "check.hpp"
#include "html.hpp"
#include "json.hpp"
#include "report_drawings.hpp"
#include "trace_data.hpp"

#include <keel/policy/error.hpp>
#include <keel/policy/macros.hpp>
#include <keel/topology.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace keel::info {

/// What a report is made of.
struct report_content {
  topology::node const& node;
  std::vector<topology::placement> planned;
  bool map_was_asked_for;
  std::string host; ///< of this node; empty if it is read from a file
  bool knobs_are_of_run;
  std::vector<trace_knob> knobs;
  std::vector<finding> findings;
  trace_data const* trace; ///< null without a run
  json events;             ///< of its timeline
};

class report_html {
public:
  explicit report_html(report_content const& of) : of_(of) {
    find_places();
    section("summary", "Summary", summary());
    section("warnings", "Warnings", warnings());
    section("node", "Node", node());
    section("knobs", "Knobs", knobs());
    if (of.trace == nullptr) return;
    section("copies", "Copies and exchanges", copies());
    section("routines", "Routines", routines());
    section("timeline", "Timeline", timeline());
    std::string schedules;
    for (auto const& s : of.trace->schedules) schedules += schedule_drawing(s);
    if (!schedules.empty())
      section("schedule", "Schedules",
              "<p>Entries in the order of a step, in its steady state. An arc leads from the writer of data to their "
              "reader.</p>" +
                  schedules);
  }
  [[nodiscard]] std::string const& links() const { return links_; }
  [[nodiscard]] std::string const& sections() const { return sections_; }

private:
  struct place {
    int rank;
    std::string host, threads;
    std::optional<topology::id_set> cores; ///< of the drawn node; nothing if the node is not the rank's
    int device = -1;
  };

  void section(std::string const& id, std::string const& title, std::string const& inside) {
    links_ += element("a href=\"#" + id + '"', title);
    sections_ += element("section id=\"" + id + '"', element("h2", title) + inside) + '\n';
  }
  static std::string counted(std::size_t n, char const* one, char const* many = "") {
    return policy::counted(std::int64_t(n), one, many);
  }
  static std::string or_dash(std::string const& text) { return text.empty() ? "-" : text; }
  static std::string version_text(int n) {
    return n == 0 ? "a keel that does not tell its version"
                  : printed("keel %d.%d.%d", n / 10000, n / 100 % 100, n % 100);
  }
  static std::string date_text(std::time_t seconds) {
    std::tm parts{};
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", gmtime_r(&seconds, &parts));
    return text;
  }

  /// The cores that "0-3,8" are hardware threads of; nothing if the node does not have all of them.
  [[nodiscard]] std::optional<topology::id_set> cores_of(std::string const& threads) const {
    topology::id_set cores;
    std::int64_t wanted = 0, found = 0;
    std::istringstream parts(threads);
    for (std::string part; std::getline(parts, part, ',');) {
      std::int64_t first = 0, last = 0;
      auto const count = std::sscanf(part.c_str(), "%" SCNd64 "-%" SCNd64, &first, &last);
      if (count < 1) return std::nullopt;
      if (count == 1) last = first;
      wanted += last - first + 1;
      for (auto const& c : of_.node.cores())
        for (int const t : c.hardware_threads)
          if (t >= first && t <= last) ++found, cores.insert(c.id);
    }
    return found == wanted ? std::optional{cores} : std::nullopt;
  }
  /// Where the ranks of the run were when the first part of it began, and where keel would place them.
  void find_places() {
    std::map<int, place> of_run;
    if (of_.trace != nullptr)
      for (auto const& h : of_.trace->headers) {
        bool const is_here = of_.host.empty() || of_.host == h.host;
        if (!h.threads.empty())
          of_run.try_emplace(h.rank, place{h.rank, h.host, h.threads, is_here ? cores_of(h.threads) : std::nullopt});
      }
    for (auto const& [rank, p] : of_run) {
      were_.push_back(p);
      if (std::find(hosts_.begin(), hosts_.end(), p.host) == hosts_.end()) hosts_.push_back(p.host);
      if (p.cores && !drawn_host_ && !of_.map_was_asked_for) drawn_host_ = p.host;
    }
    for (auto const& p : of_.planned)
      planned_.push_back({int(planned_.size()), "", to_string(p.hardware_threads), p.cores, p.device});
  }
  [[nodiscard]] std::string some_hosts() const {
    std::string made;
    std::size_t count = 0;
    for (auto const& h : hosts_)
      if (!h.empty() && ++count <= 3) made += (made.empty() ? "" : ", ") + h;
    return made + (count > 3 ? ", …" : "");
  }

  [[nodiscard]] std::string summary() const {
    std::string tiles;
    auto const tile = [&](std::string const& value, std::string const& words) {
      tiles += element("div", element("b", value) + element("span", words));
    };
    auto const number = [&](std::size_t n, std::string const& one) {
      tile(std::to_string(n), n == 1 ? one : one + 's');
    };
    auto about = "No run, only the node " + of_.node.source() + ": written " +
                 date_text(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())) + " by " +
                 version_text(KEEL_VERSION) + '.';
    if (of_.trace != nullptr) {
      trace_sum moved, sent;
      for (auto const& e : of_.trace->events) (e.is_sent() ? sent : moved).add(e);
      auto const& first = *std::min_element(of_.trace->headers.begin(), of_.trace->headers.end(),
                                            [](auto const& a, auto const& b) { return a.begin < b.begin; });
      auto const ranks = of_.trace->ranks().size();
      number(ranks, "rank");
      tile(time_text(of_.events.at("duration")), "from first to last event");
      tile(std::to_string(moved.times), "copies");
      tile(bytes_text(double(moved.bytes)), "moved between memories");
      tile(bytes_text(double(moved.bytes - moved.repeated)), "of that, needed");
      tile(bytes_text(double(sent.bytes)), "sent to neighbours");
      auto const hosts = some_hosts();
      about = (first.program.empty() ? "A program" : first.program) + ", " + counted(ranks, "rank") + " on " +
              (hosts.empty() ? "a host that is not known" : hosts) + ", began " +
              date_text(std::time_t(first.begin / 1e6)) + ", with " + version_text(first.of_keel) + '.';
    }
    auto const& devices = of_.node.devices();
    number(of_.node.cores().size(), "core");
    number(std::size_t(std::count_if(devices.begin(), devices.end(),
                                     [](auto const& d) { return d.type == topology::device_type::gpu; })),
           "GPU");
    number(
        std::size_t(std::count_if(of_.findings.begin(), of_.findings.end(), [](auto const& f) { return f.is_wrong; })),
        "warning");
    return element("p class=\"about\"", escaped(about)) + element("div class=\"tiles\"", tiles) +
           (of_.trace == nullptr
                ? ""
                : "<p class=\"note\">Not counted: what the program does outside of keel's routines, "
                  "copies and exchanges, and what a device does other than kernels of routines, such as "
                  "packing ghosts. A traced run is slower than another; compare its times with each "
                  "other.</p>");
  }

  [[nodiscard]] std::string warnings() const {
    std::string all;
    for (auto const& f : of_.findings) {
      std::string_view text = f.text;
      if (std::string_view const by = "keel::info: "; text.starts_with(by)) text.remove_prefix(by.size());
      all += f.is_wrong ? element("li class=\"wrong\"", "Wrong: " + escaped(text))
                        : element("li", "Note: " + escaped(text));
    }
    return "<p>What <code>keel-info --check</code> finds where this page was written.</p>" +
           element("ul class=\"findings\"", all.empty() ? "<li>Nothing is wrong.</li>" : all);
  }

  [[nodiscard]] std::string about_ranks() const {
    if (drawn_host_)
      return "Each rank is drawn on the cores that it might run on when its trace began." +
             (hosts_.size() > 1 ? " Of " + std::to_string(hosts_.size()) + " hosts, " + *drawn_host_ + " is drawn."
                                : "");
    bool const is_elsewhere =
        !were_.empty() && std::none_of(were_.begin(), were_.end(), [](place const& p) { return p.cores.has_value(); });
    return "Ranks are drawn where keel places them." +
           (is_elsewhere ? " The run was on " + some_hosts() + ", not on this node: --xml FILE draws its cores." : "");
  }
  [[nodiscard]] std::string node() const {
    std::map<int, topology::id_set> ranks_of, users;
    for (auto const& p : drawn_host_ ? were_ : planned_) {
      if (drawn_host_ && (!p.cores || p.host != *drawn_host_)) continue;
      for (int const core : *p.cores) ranks_of[core].insert(p.rank);
      if (p.device >= 0) users[p.device].insert(p.rank);
    }
    auto text =
        element("p class=\"about\"", escaped(of_.node.source() + ": " + counted(of_.node.cores().size(), "core") +
                                             ", " + counted(of_.node.memories().size(), "memory", "memories") + ", " +
                                             counted(of_.node.devices().size(), "device") + ". " + about_ranks())) +
        node_drawing(of_.node, ranks_of, users);
    bool const is_as_planned = std::equal(were_.begin(), were_.end(), planned_.begin(), planned_.end(),
                                          [](auto& a, auto& b) { return a.rank == b.rank && a.cores == b.cores; });
    if (!were_.empty())
      text += element("h3", is_as_planned ? "Where the ranks were, as keel would place them" : "Where the ranks were") +
              places("places", were_, true, is_as_planned);
    if (is_as_planned) return text;
    return text + (were_.empty() ? "" : "<h3>Where keel would place them</h3>") + places("map", planned_, false, true);
  }
  [[nodiscard]] std::string places(char const* of, std::vector<place> const& all, bool has_host, bool has_near) const {
    std::vector<char const*> heads{"rank"};
    if (has_host) heads.push_back("host");
    heads.insert(heads.end(), {"cores", "hardware threads"});
    if (has_near) heads.insert(heads.end(), {"memory", "device"});
    std::vector<std::vector<cell>> rows;
    for (auto const& p : all) {
      auto& made = rows.emplace_back(std::vector<cell>{{std::to_string(p.rank)}});
      if (has_host) made.push_back({or_dash(p.host)});
      made.insert(made.end(), {{p.cores ? to_string(*p.cores) : "not known"}, {p.threads}});
      if (!has_near) continue;
      auto const& near = of_.planned[std::size_t(p.rank)];
      made.push_back({near.memory < 0 ? "-" : of_.node.memories()[std::size_t(near.memory)].name});
      made.push_back({near.device < 0 ? "-" : text_of(of_.node.devices()[std::size_t(near.device)])});
    }
    return table(of, heads, rows);
  }

  [[nodiscard]] std::string knobs() const {
    std::vector<char const*> heads{"knob", "device", "value", "set by"};
    if (of_.knobs_are_of_run) heads.push_back("ranks");
    std::vector<std::vector<cell>> set, unset;
    for (auto const& k : of_.knobs) {
      std::vector<cell> made{{k.option}, {or_dash(k.device)}, {or_dash(k.value)}, {k.source}};
      topology::id_set ranks;
      for (int const rank : k.ranks) ranks.insert(rank);
      if (of_.knobs_are_of_run) made.push_back({to_string(ranks)});
      (k.source == "unset" ? unset : set).push_back(std::move(made));
    }
    return element(
               "p class=\"about\"",
               of_.knobs_are_of_run
                   ? "As they were when the run began, and who set them: code, environment, command line; those that "
                     "are unset have keel's proposal."
                   : "Of a program that starts where this page was written; the trace has none.") +
           table("knobs", heads, set) +
           element("details", element("summary", counted(unset.size(), "knob") + " that nothing set") +
                                  table("unset", heads, unset));
  }

  /// A row for each variable, routine, way and reason, with their sums, the most bytes first.
  [[nodiscard]] std::string copies() const {
    std::map<std::array<std::string, 5>, trace_sum> sums;
    for (auto const& e : of_.trace->events) sums[{e.variable, e.routine, e.from, e.to, e.why}].add(e);
    std::vector<std::vector<cell>> rows;
    for (auto const& [key, s] : sums) {
      auto const& [variable, routine, from, to, why] = key;
      cell const waited =
          s.waited > 0 ? cell_of_time(s.waited) : cell{"-", 0}; // CUDA 13's front end ends within braces
      rows.push_back({{variable},
                      {from + " to " + to},
                      {routine},
                      {!why.empty()         ? why
                       : to == "neighbours" ? "ghosts"
                                            : "not known"},
                      cell_of(s.times),
                      cell_of_bytes(s.bytes),
                      cell_of_bytes(s.bytes - s.repeated),
                      cell_of_time(s.took),
                      waited,
                      cell_of_time(s.first),
                      cell_of_time(s.last)});
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [](auto const& a, auto const& b) { return *a[5].number > *b[5].number; });
    return "<p>What moved, for which routine, why, and how long it held the program's thread up. <em>Needed</em> leaves "
           "out bytes that the memory held already. <em>Waiting</em> is the part of the time in which the rank waited "
           "for messages of others.</p>" +
           table("copies",
                 {"variable", "way", "routine", "why", "times", "bytes", "needed", "time", "waiting", "first", "last"},
                 rows);
  }

  [[nodiscard]] std::string routines() const {
    std::map<std::pair<std::string, std::string>, std::pair<trace_sum, trace_sum>> sums; // of calls, and of kernels
    bool on_device = false, is_far = false;
    for (auto const& r : of_.trace->routines) {
      auto& [calls, kernels] = sums[{r.routine, r.memory}];
      (r.is_on_device ? kernels : calls).add(r.time, r.took);
      on_device = on_device || r.is_on_device, is_far = is_far || r.memory != "host";
    }
    std::vector<char const*> heads{"routine", "in", "times", "time", "mean"};
    if (on_device) heads.push_back("on the device");
    heads.insert(heads.end(), {"first", "last"});
    std::vector<std::vector<cell>> rows;
    for (auto const& [key, sum] : sums) {
      auto const& [calls, kernels] = sum;
      auto& made = rows.emplace_back(
          std::vector<cell>{{key.first},
                            {key.second},
                            cell_of(calls.times),
                            cell_of_time(calls.took),
                            cell_of_time(calls.took / double(std::max<std::uint64_t>(calls.times, 1)))});
      if (on_device) made.push_back(kernels.times == 0 ? cell{"-", -1} : cell_of_time(kernels.took));
      made.insert(made.end(), {cell_of_time(calls.first), cell_of_time(calls.last)});
    }
    return element("p class=\"about\"",
                   std::string{"How long routines held the program's thread up"} +
                       (on_device ? ", and how long the device ran their kernels, from the first to the last." : ".") +
                       (is_far && !on_device
                            ? " The device does not say when it runs their kernels, which may go on after "
                              "the call: neither the table nor the timeline has them."
                            : "")) +
           table("routines", heads, rows);
  }

  [[nodiscard]] std::string timeline() const {
    timeline_drawing drawing{of_.events};
    auto const lanes = drawing.lanes();
    auto const& thinned = of_.events.at("thinned");
    return "<p class=\"keys\">Drag to zoom, double-click for all. Keys: <kbd>+</kbd> <kbd>-</kbd> zoom, <kbd>←</kbd> "
           "<kbd>→</kbd> move, <kbd>0</kbd> all, <kbd>n</kbd> <kbd>p</kbd> next and previous event.</p>" +
           (thinned.is_null()
                ? ""
                : element("p", "Of " + thinned.at("events").dump() + " events, those of one kind that began within " +
                                   time_text(thinned.at("within")) + " are drawn as one, as long as all of them: " +
                                   std::to_string(of_.events.at("time").size()) + " in all. The tables count each.")) +
           drawing.legend() + lanes + "<p class=\"event\" role=\"status\" aria-live=\"polite\"></p>" +
           "<h3>Bytes moved between memories</h3>" + drawing.bytes();
  }

  report_content const& of_;
  std::vector<place> were_, planned_;
  std::vector<std::string> hosts_;
  std::optional<std::string> drawn_host_;
  std::string links_, sections_;
};

} // namespace keel::info
