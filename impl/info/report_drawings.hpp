// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The drawings of a report as HTML and SVG: the node, the timeline and the schedules of a run.

#include "html.hpp"
#include "json.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace keel::info {

/// The node as boxes inside each other: a box for each locality, in it its memories, devices and cores. A core has the
/// colour of its first rank. `ranks_of` has the ranks of each core, `lines` what a box says of its memories and devices.
inline std::string node_drawing(json const& report, std::map<int, topology::id_set> const& ranks_of,
                                auto const& lines) {
  struct box {
    std::string said;
    std::vector<std::size_t> inside = {};
    std::vector<int> cores = {};
  };
  std::vector<box> all{{element("div", escaped(report.at("node").at("source").get<std::string>()))}};
  std::map<int, std::size_t> innermost; // by core
  auto boxes = report.at("boxes").get<std::vector<json>>();
  std::stable_sort(boxes.begin(), boxes.end(),
                   [](json const& a, json const& b) { return a.at("cores").size() > b.at("cores").size(); });
  for (json const& b : boxes) {
    std::string said;
    for (std::string const& line : lines(b)) said += element("div", escaped(line));
    if (b.at("cores").size() == 1 && said.empty()) continue;
    auto const cores = b.at("cores").get<std::vector<int>>();
    all[innermost[cores[0]]].inside.push_back(all.size());
    for (int const core : cores) innermost[core] = all.size();
    all.push_back({said});
  }
  for (json const& c : report.at("node").at("cores")) {
    int const core = c.at("id");
    all[innermost[core]].cores.push_back(core);
  }
  auto const drawn = [&](auto const& self, box const& b) -> std::string {
    auto const count = double(b.inside.size() + b.cores.size());
    auto said = b.said;
    for (auto const at : b.inside) said += self(self, all[at]);
    for (int const core : b.cores) {
      auto const found = ranks_of.find(core);
      auto const ranks = found == ranks_of.end() ? std::string{} : to_string(found->second);
      said += element(printed("span class=\"core\" title=\"core %d", core) + (ranks.empty() ? "" : ", rank " + ranks) +
                          '"' + // hues stay apart
                          (ranks.empty() ? ""
                                         : printed(" style=\"background:hsl(%.1f 70%% 82%%)\"",
                                                   std::fmod(*found->second.begin() * 137.5, 360))),
                      std::to_string(core) + (ranks.empty() ? "" : "<br>r" + ranks));
    }
    return element(printed("div class=\"place\" style=\"grid-template-columns:repeat(%.0f,max-content)\"",
                           std::max(1.0, std::ceil(std::sqrt(count)))),
                   said);
  };
  return element("div class=\"drawing wide\" tabindex=\"0\" role=\"img\" aria-label=\"The node; a core has the colour "
                 "of its rank\"",
                 drawn(drawn, all[0]));
}

/// Events on lanes, a few for each rank, and the bytes that moved. Scripts draw a part of the time in place of all.
class timeline_drawing {
public:
  explicit timeline_drawing(json const& trace)
      : trace_(trace), kinds_(trace.at("kinds")), end_(std::max(trace.at("duration").get<double>(), 1e-3)) {
    for (auto const& kind : kinds_) has_[kind.at(0).get<std::string>()] = true;
    if (!has_["device"]) whats_.erase(whats_.begin() + 1);
    lanes_ = trace.at("ranks").size() * whats_.size();
    height_ = lanes_ > 48 ? 8 : 18;
  }

  [[nodiscard]] std::string legend() {
    std::string made;
    for (auto const& [name, words] : {std::pair{"routine", "calls of routines"},
                                      {"device", "their kernels on the device"},
                                      {"copy", "copies"},
                                      {"repeated", "copies that were not needed"},
                                      {"exchange", "exchanges"},
                                      {"waiting", "waiting for messages"}})
      if (has_[name]) made += element("span", element("i class=\"" + std::string{name} + '"', "") + words);
    return element("div class=\"legend\"", made);
  }

  /// What is shorter than a pixel is drawn once for each pixel of its lane; timeline.js does the same.
  [[nodiscard]] std::string lanes() {
    std::map<std::string, std::string> paths;
    std::vector<double> drawn(lanes_, -1);
    double const pixel = end_ / 880, tall = height_ * 0.76;
    auto const ranks = trace_.at("ranks").get<std::vector<int>>();
    auto const &time = trace_.at("time"), &took = trace_.at("took"), &waited = trace_.at("waited");
    for (std::size_t i = 0; i < time.size(); ++i) {
      auto const& k = kinds_.at(trace_.at("kind")[i].get<std::size_t>());
      auto const of_rank =
          std::lower_bound(ranks.begin(), ranks.end(), trace_.at("rank")[i].get<int>()) - ranks.begin();
      auto const what = std::find(whats_.begin(), whats_.end(), k.at(0).get<std::string>()) - whats_.begin();
      auto const lane = std::size_t(of_rank) * whats_.size() + std::size_t(what);
      double const from = time[i], wide = std::max(pixel, took[i].get<double>());
      if (from + wide <= drawn[lane]) continue;
      drawn[lane] = std::ceil((from + wide) / pixel) * pixel;
      auto const add = [&](std::string const& paint, double at, double width) {
        has_[paint] = true;
        paths[paint] += printed("M%.7g %.4gh%.7gv%.4gh%.7gz", at, (double(lane) + 0.12) * height_, width, tall, -width);
      };
      add(k.back().get<bool>() ? "repeated" : k.at(0).get<std::string>(), from, wide);
      if (double const part = waited[i]; part > 0) add("waiting", from + (wide - part) / 2, part);
    }
    std::string all, names;
    for (char const* paint : {"routine", "device", "copy", "exchange", "repeated", "waiting", "selected"})
      all += element("path class=\"" + std::string{paint} + "\" d=\"" + paths[paint] + '"', "");
    for (std::size_t lane = 0; lane < lanes_; ++lane)
      if (height_ > 8 || lane % whats_.size() == 0)
        names += label(100, (double(lane) + 0.7) * height_,
                       (height_ > 8 ? whats_[lane % whats_.size()] : "rank") + ' ' +
                           std::to_string(ranks[lane / whats_.size()]));
    return chart("lanes\" tabindex=\"0\" role=\"application\" aria-label=\"Timeline of routines, copies and exchanges "
                 "by rank",
                 double(lanes_) * height_, names, all);
  }

  /// Cumulative, by when copies ended, at no more than 2000 times.
  [[nodiscard]] std::string bytes() const {
    struct copy {
      double end, bytes;
      bool is_repeated;
    };
    std::vector<copy> copies;
    double all = 0;
    for (std::size_t i = 0; i < trace_.at("time").size(); ++i) {
      auto const& k = kinds_.at(trace_.at("kind")[i].get<std::size_t>());
      if (k.at(0) != "copy") continue;
      copies.push_back({trace_.at("time")[i].get<double>() + trace_.at("took")[i].get<double>(),
                        trace_.at("bytes")[i].get<double>(), k.back().get<bool>()});
      all += copies.back().bytes;
    }
    if (copies.empty()) return "<p>Nothing moved: all routines worked in one memory.</p>";
    std::sort(copies.begin(), copies.end(), [](copy const& a, copy const& b) { return a.end < b.end; });
    std::size_t const step = (copies.size() + 1999) / 2000;
    double const height = 160;
    double moved = 0, needed = 0;
    std::string of_moved = "M0 160", of_needed = of_moved;
    for (std::size_t n = 0; n < copies.size(); ++n) {
      moved += copies[n].bytes, needed += copies[n].is_repeated ? 0 : copies[n].bytes;
      if (n % step != step - 1 && n + 1 != copies.size()) continue;
      of_moved += printed("H%.7gV%.5g", copies[n].end, height * (1 - moved / std::max(all, 1.0)));
      of_needed += printed("H%.7gV%.5g", copies[n].end, height * (1 - needed / std::max(all, 1.0)));
    }
    auto const stop = printed("H%.7g", end_);
    return chart("bytes\" role=\"img\" aria-label=\"Bytes that moved until each time", height,
                 label(100, 12, bytes_text(all)) + label(100, height, "0"),
                 element("path class=\"moved\" d=\"" + of_moved + stop + '"', "") +
                     element("path class=\"needed\" d=\"" + of_needed + stop + '"', "")) +
           element("div class=\"legend\"", "<span><i class=\"copy\"></i>moved</span><span><i "
                                           "class=\"exchange\"></i>of that, needed</span>");
  }

private:
  [[nodiscard]] static std::string label(double x, double y, std::string const& text, char const* anchor = "end") {
    return element(printed("text x=\"%g\" y=\"%g\" text-anchor=\"%s\"", x, y, anchor), escaped(text));
  }
  /// What is in `plot` has the time along x, and goes down to `height`.
  [[nodiscard]] std::string chart(std::string const& what, double height, std::string const& beside,
                                  std::string const& plot) const {
    std::string axis;
    for (int n = 0; n <= 4; ++n)
      axis += printed("<path d=\"M%d 0v%g\"/>", 110 + 220 * n, height + 4) +
              label(110 + 220 * n, height + 18, time_text(end_ * n / 4), n == 4 ? "end" : "middle");
    return element("div class=\"wide\"",
                   element("svg viewBox=\"0 0 1000 " + printed("%g", height + 24) + "\" class=\"chart " + what + '"',
                           beside + element("g class=\"axis\"", axis) +
                               element(printed("svg class=\"plot\" x=\"110\" width=\"880\" height=\"%g\" viewBox=\"0 0 "
                                               "%.9g %g\" preserveAspectRatio=\"none\"",
                                               height, end_, height),
                                       plot)));
  }

  json const &trace_, &kinds_;
  double end_, height_ = 18;
  std::map<std::string, bool> has_;
  std::vector<std::string> whats_{"routine", "device", "copy", "exchange"};
  std::size_t lanes_ = 0;
};

/// A schedule as a list of its entries, with arcs from writers to readers: those within a step at the right, those into
/// the next step at the left; and the arcs as a table.
inline std::string schedule_drawing(json const& schedule) {
  int const row = 34, box = 24, left = 130;
  double const letter = 7.3; // of a font of 12 pixels whose letters have one width
  auto const& entries = schedule.at("entries");
  auto const name_of = [&](std::size_t at) { return entries.at(at).at("name").template get<std::string>(); };
  auto const shortened = [](std::string name) {
    std::size_t most = 90;
    if (name.size() <= most) return name;
    while ((name[most] & 0xC0) == 0x80) --most; // a letter is not cut
    return name.substr(0, most) + "…";
  };
  double wide = 300;
  std::map<int, std::size_t> place;
  for (auto const& e : entries) {
    auto const letters = shortened(e.at("name")).size() + e.at("memory").get<std::string>().size();
    wide = std::max(wide, 18 * e.at("depth").get<double>() + letter * double(letters) + 36);
    place.try_emplace(e.at("number"), place.size());
  }
  auto const middle = [&](std::size_t at) { return int(at) * row + row / 2 + 8; };
  std::string drawn;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    auto const memory = entries[i].at("memory").get<std::string>();
    int const in = 18 * entries[i].at("depth").get<int>();
    drawn +=
        printed("<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%.0f\" height=\"%d\" rx=\"4\"/>",
                memory.empty() || memory == "host" ? "box" : "box far", left + in, middle(i) - box / 2, wide - in,
                box) +
        element(printed("text x=\"%d\" y=\"%d\"", left + in + 8, middle(i) + 4),
                escaped(shortened(name_of(i))) + element("title", escaped(name_of(i)))) +
        element(printed("text class=\"soft\" x=\"%.0f\" y=\"%d\" text-anchor=\"end\"", left + wide - 8, middle(i) + 4),
                escaped(memory));
  }
  std::map<std::tuple<std::size_t, std::size_t, std::string, bool>, std::string> arcs; // what they bring
  for (auto const& f : schedule.at("flows")) {
    auto const from = place.find(f.at("writer")), to = place.find(f.at("reader"));
    if (from == place.end() || to == place.end()) continue;
    auto& data = arcs[{from->second, to->second, f.at("copied"), f.at("crosses")}];
    data += (data.empty() ? "" : ", ") + f.at("data").get<std::string>();
  }
  std::vector<std::vector<cell>> rows;
  for (auto const& [arc, data] : arcs) {
    auto const& [from, to, copied, crosses] = arc;
    auto const side = crosses ? double(left) : left + wide;
    int const shift = from == to ? 6 : 0, a = middle(from) - shift, b = middle(to) + shift;
    auto const reach = side + std::min(crosses ? 110 : 300, 24 + int(std::abs(b - a) * 0.35)) * (crosses ? -1 : 1);
    auto const how = copied.empty() ? std::string{"never"} : copied;
    drawn += element("path class=\"" + escaped(how) + (crosses ? " crosses\"" : "\"") +
                         printed(" d=\"M%.0f %d C%.0f %d %.0f %d %.0f %d\"", side, a, reach, a, reach, b, side, b),
                     element("title", escaped(name_of(from) + " → " + name_of(to) + ": " + data + "; copied " + how +
                                              (crosses ? "; in the next step" : ""))));
    rows.push_back({{name_of(from)}, {name_of(to)}, {data}, {how}, {crosses ? "next" : "same"}});
  }
  double const height = double(entries.size()) * row + 16, width = left + wide + 330;
  return element("h3", escaped(schedule.at("name").get<std::string>())) +
         element("p", "Thick: copied in every step. Dashed: copied where conditions ask for it. Thin: the data stay. "
                      "Left: into the next step.") +
         element(
             "div class=\"wide\" tabindex=\"0\"",
             element(
                 printed("svg class=\"graph\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" role=\"img\" "
                         "aria-label=\"A schedule\"",
                         width, height, width, height),
                 drawn)) +
         table("flows", {"written by", "read by", "data", "copied", "step"}, rows);
}

} // namespace keel::info
