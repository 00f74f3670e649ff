// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What a report shows, as HTML that needs no script; the scripts of the page sort its tables and zoom its timeline.

#include "html.hpp"
#include "json.hpp"
#include "report_drawings.hpp"
#include "show.hpp"

#include <keel/policy/error.hpp>
#include <keel/topology.hpp>

#include <algorithm>
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

class report_html {
public:
  /// Of the document that the page holds, too.
  explicit report_html(json const& report)
      : report_(report), node_(report.at("node")), trace_(report.at("trace")), has_trace_(!trace_.is_null()) {
    find_places();
    section("summary", "Summary", summary());
    section("warnings", "Warnings", warnings());
    section("node", "Node", node());
    section("knobs", "Knobs", knobs());
    if (!has_trace_) return;
    section("copies", "Copies and exchanges", copies());
    section("routines", "Routines", routines());
    section("timeline", "Timeline", timeline());
    std::string schedules;
    for (auto const& s : trace_.at("schedules")) schedules += schedule_drawing(s);
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
    json device = {}, memory = {};
  };

  void section(std::string const& id, std::string const& title, std::string const& inside) {
    links_ += element("a href=\"#" + id + '"', title);
    sections_ += element("section id=\"" + id + '"', element("h2", title) + inside) + '\n';
  }
  static std::string counted(json const& items, char const* one, char const* many = "") {
    return policy::counted(std::int64_t(items.size()), one, many);
  }
  static std::string text_of_ids(json const& list) {
    topology::id_set set;
    for (int const id : list.get<std::vector<int>>()) set.insert(id);
    return set.empty() ? "-" : to_string(set);
  }
  static std::string or_dash(json const& text) {
    return text.is_null() || text.get<std::string>().empty() ? "-" : text.get<std::string>();
  }
  static std::string version_text(int n) {
    return n == 0 ? "a keel that does not tell its version"
                  : printed("keel %d.%d.%d", n / 10000, n / 100 % 100, n % 100);
  }
  static std::string date_text(double microseconds) {
    auto const seconds = std::time_t(microseconds / 1e6);
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
      for (auto const& c : node_.at("cores"))
        for (auto const& t : c.at("hardware_threads"))
          if (t >= first && t <= last) ++found, cores.insert(c.at("id").get<int>());
    }
    return found == wanted ? std::optional{cores} : std::nullopt;
  }
  /// Where the ranks of the run were when the first part of it began, and where keel would place them.
  void find_places() {
    std::map<int, place> of_run;
    for (auto const& f : has_trace_ ? trace_.at("files") : json::array()) {
      auto const threads = f.at("threads").get<std::string>(), host = f.at("host").get<std::string>();
      bool const is_here = report_.at("host").is_null() || report_.at("host") == host;
      if (!threads.empty())
        of_run.try_emplace(f.at("rank"),
                           place{f.at("rank"), host, threads, is_here ? cores_of(threads) : std::nullopt});
    }
    for (auto const& [rank, p] : of_run) were_.push_back(p);
    for (auto const& p : report_.at("map")) {
      topology::id_set cores;
      for (int const c : p.at("cores").get<std::vector<int>>()) cores.insert(c);
      planned_.push_back(
          {int(planned_.size()), "", text_of_ids(p.at("hardware_threads")), cores, p.at("device"), p.at("memory")});
    }
    for (auto const& p : were_) {
      if (std::find(hosts_.begin(), hosts_.end(), p.host) == hosts_.end()) hosts_.push_back(p.host);
      if (p.cores && !drawn_host_ && !report_.at("map_was_asked_for").get<bool>()) drawn_host_ = p.host;
    }
  }
  [[nodiscard]] std::string some_hosts() const {
    std::string made;
    std::size_t count = 0;
    for (auto const& h : hosts_)
      if (!h.empty() && ++count <= 3) made += (made.empty() ? "" : ", ") + h;
    return made + (count > 3 ? ", …" : "");
  }

  [[nodiscard]] std::string summary() const {
    std::string tiles, about;
    auto const tile = [&](std::string const& value, std::string const& words) {
      tiles += element("div", element("b", value) + element("span", words));
    };
    auto const number = [&](json const& count, std::string const& one, std::string const& many) {
      tile(count.dump(), count == 1 ? one : many);
    };
    if (has_trace_) {
      number(trace_.at("ranks").size(), "rank", "ranks");
      tile(time_text(trace_.at("duration")), "from first to last event");
      number(trace_.at("copies"), "copies", "copies");
      tile(bytes_text(trace_.at("moved")), "moved between memories");
      tile(bytes_text(trace_.at("least")), "of that, needed");
      tile(bytes_text(trace_.at("sent")), "sent to neighbours");
      auto const program = trace_.at("program").get<std::string>(), hosts = some_hosts();
      about = (program.empty() ? "A program" : program) + ", " + counted(trace_.at("ranks"), "rank") + " on " +
              (hosts.empty() ? "a host that is not known" : hosts) + ", began " + date_text(trace_.at("begin")) +
              ", with " + version_text(trace_.at("of_keel")) + '.';
    } else {
      about = "No run, only the node " + node_.at("source").get<std::string>() + ": written " +
              date_text(report_.at("written")) + " by " + version_text(report_.at("of_keel")) + '.';
    }
    auto const& devices = node_.at("devices");
    auto const& findings = report_.at("findings");
    number(node_.at("cores").size(), "core", "cores");
    number(std::count_if(devices.begin(), devices.end(), [](json const& d) { return d.at("type") == "gpu"; }), "GPU",
           "GPUs");
    number(std::count_if(findings.begin(), findings.end(), [](json const& f) { return f.at("wrong").get<bool>(); }),
           "warning", "warnings");
    return element("p class=\"about\"", escaped(about)) + element("div class=\"tiles\"", tiles) +
           (has_trace_ ? "<p class=\"note\">Not counted: what the program does outside of keel's routines, copies and "
                         "exchanges, and what a device does other than kernels of routines, such as packing ghosts. A "
                         "traced run is slower than another; compare its times with each other.</p>"
                       : "");
  }

  [[nodiscard]] std::string warnings() const {
    std::string all;
    for (auto const& f : report_.at("findings")) {
      auto text = f.at("text").get<std::string>();
      if (std::string const by = "keel::info: "; text.starts_with(by)) text.erase(0, by.size());
      all += f.at("wrong").get<bool>() ? element("li class=\"wrong\"", "Wrong: " + escaped(text))
                                       : element("li", "Note: " + escaped(text));
    }
    return "<p>What <code>keel-info --check</code> finds where this page was written.</p>" +
           element("ul class=\"findings\"", all.empty() ? "<li>Nothing is wrong.</li>" : all);
  }

  [[nodiscard]] std::string device_text(json const& device) const {
    if (device.is_null()) return "-";
    auto const& d = node_.at("devices").at(device.get<std::size_t>());
    return d.at("type").get<std::string>() + ' ' +
           (d.at("pci_id").is_null() ? d.at("name") : d.at("pci_id")).get<std::string>();
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
      if (!p.device.is_null()) users[p.device.get<int>()].insert(p.rank);
    }
    auto const lines = [&](json const& box) {
      std::vector<std::string> made;
      for (auto const& at : box.at("memories")) {
        auto const& m = node_.at("memories").at(at.get<std::size_t>());
        auto const size = readable(m.at("bytes").get<std::uint64_t>());
        made.push_back(m.at("name").get<std::string>() + ' ' + m.at("type").get<std::string>() +
                       (size == "-" ? "" : ' ' + size));
      }
      for (auto const& at : box.at("devices")) {
        auto const used = users.find(at.get<int>());
        made.push_back(device_text(at) + (used == users.end() ? "" : ": rank " + to_string(used->second)));
      }
      return made;
    };
    auto text = element("p class=\"about\"",
                        escaped(node_.at("source").get<std::string>() + ": " + counted(node_.at("cores"), "core") +
                                ", " + counted(node_.at("memories"), "memory", "memories") + ", " +
                                counted(node_.at("devices"), "device") + ". " + about_ranks())) +
                node_drawing(report_, ranks_of, lines);
    bool const is_as_planned = were_.size() == planned_.size() &&
                               std::equal(were_.begin(), were_.end(), planned_.begin(),
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
      if (has_host) made.push_back({p.host.empty() ? "-" : p.host});
      made.insert(made.end(), {{p.cores ? to_string(*p.cores) : "not known"}, {p.threads}});
      if (!has_near) continue;
      auto const& near = planned_[std::size_t(p.rank)];
      made.push_back({near.memory.is_null()
                          ? "-"
                          : node_.at("memories").at(near.memory.get<std::size_t>()).at("name").get<std::string>()});
      made.push_back({device_text(near.device)});
    }
    return table(of, heads, rows);
  }

  [[nodiscard]] std::string knobs() const {
    bool const are_of_run = report_.at("knobs_of_run");
    std::vector<char const*> heads{"knob", "device", "value", "set by"};
    if (are_of_run) heads.push_back("ranks");
    std::vector<std::vector<cell>> set, unset;
    for (auto const& k : report_.at("knobs")) {
      std::vector<cell> made{{k.at("option")}, {or_dash(k.at("device"))}, {or_dash(k.at("value"))}, {k.at("source")}};
      if (are_of_run) made.push_back({text_of_ids(k.at("ranks"))});
      (k.at("source") == "unset" ? unset : set).push_back(std::move(made));
    }
    auto const count = policy::counted(std::int64_t(unset.size()), "knob");
    return element("p class=\"about\"",
                   are_of_run ? "As they were when the run began, and who set them: code, environment, command line; "
                                "those that are unset have keel's proposal."
                              : "Of a program that starts where this page was written; the trace has none.") +
           table("knobs", heads, set) +
           element("details", element("summary", count + " that nothing set") + table("unset", heads, unset));
  }

  [[nodiscard]] std::string copies() const {
    auto all = trace_.at("by_variable").get<std::vector<json>>();
    std::stable_sort(all.begin(), all.end(), [](json const& a, json const& b) { return a.at(5) > b.at(5); });
    std::vector<std::vector<cell>> rows;
    for (auto const& r : all) {
      auto const said = [&](int n) { return r.at(std::size_t(n)).template get<std::string>(); };
      auto const number = [&](int n) { return r.at(std::size_t(n)).template get<double>(); };
      auto const bytes = [&](int n) { return cell{bytes_text(number(n)), number(n)}; };
      auto const time = [&](int n) { return cell{time_text(number(n)), number(n)}; };
      auto const why = !said(4).empty() ? said(4) : said(3) == "neighbours" ? "ghosts" : "not known";
      auto const waited = number(9) > 0 ? time(9) : cell{"-", 0};
      rows.push_back({{said(0)},
                      {said(2) + " to " + said(3)},
                      {said(1)},
                      {why},
                      {r.at(7).dump(), number(7)},
                      bytes(5),
                      bytes(6),
                      time(8),
                      waited,
                      time(10),
                      time(11)});
    }
    return "<p>What moved, for which routine, why, and how long it held the program's thread up. <em>Needed</em> leaves "
           "out bytes that the memory held already. <em>Waiting</em> is the part of the time in which the rank waited "
           "for messages of others.</p>" +
           table("copies",
                 {"variable", "way", "routine", "why", "times", "bytes", "needed", "time", "waiting", "first", "last"},
                 rows);
  }

  [[nodiscard]] std::string routines() const {
    bool on_device = false, is_far = false;
    for (auto const& r : trace_.at("by_routine"))
      on_device = on_device || !r.at("on_device").is_null(), is_far = is_far || r.at("memory") != "host";
    std::vector<char const*> heads{"routine", "in", "times", "time", "mean"};
    if (on_device) heads.push_back("on the device");
    heads.insert(heads.end(), {"first", "last"});
    std::vector<std::vector<cell>> rows;
    for (auto const& r : trace_.at("by_routine")) {
      auto const time = [](double n) { return cell{time_text(n), n}; };
      double const took = r.at("took"), times = r.at("times");
      auto& made = rows.emplace_back(std::vector<cell>{
          {r.at("routine")}, {r.at("memory")}, {r.at("times").dump(), times}, time(took), time(took / times)});
      if (on_device) made.push_back(r.at("on_device").is_null() ? cell{"-", -1} : time(r.at("on_device")));
      made.insert(made.end(), {time(r.at("first")), time(r.at("last"))});
    }
    auto about =
        std::string{"How long routines held the program's thread up"} +
        (on_device ? ", and how long the device ran their kernels, from the first to the last." : ".") +
        (is_far && !on_device ? " The device does not say when it runs their kernels, which may go on after the "
                                "call: neither the table nor the timeline has them."
                              : "");
    return element("p class=\"about\"", about) + table("routines", heads, rows);
  }

  [[nodiscard]] std::string timeline() const {
    timeline_drawing drawing{trace_};
    auto const lanes = drawing.lanes();
    auto const& thinned = trace_.at("thinned");
    return "<p class=\"keys\">Drag to zoom, double-click for all. Keys: <kbd>+</kbd> <kbd>-</kbd> zoom, <kbd>←</kbd> "
           "<kbd>→</kbd> move, <kbd>0</kbd> all, <kbd>n</kbd> <kbd>p</kbd> next and previous event.</p>" +
           (thinned.is_null()
                ? ""
                : element("p", "Of " + thinned.at("events").dump() + " events, those of one kind that began within " +
                                   time_text(thinned.at("within")) +
                                   " are drawn as one, as long as all of "
                                   "them: " +
                                   std::to_string(trace_.at("time").size()) + " in all. The tables count each.")) +
           drawing.legend() + lanes + "<p class=\"event\" role=\"status\" aria-live=\"polite\"></p>" +
           "<h3>Bytes moved between memories</h3>" + drawing.bytes();
  }

  json const &report_, &node_, &trace_;
  bool has_trace_;
  std::vector<place> were_, planned_;
  std::vector<std::string> hosts_;
  std::optional<std::string> drawn_host_;
  std::string links_, sections_;
};

} // namespace keel::info
