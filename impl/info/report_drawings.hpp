// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The drawings of a report as HTML and SVG: the node, the timeline and the schedules of a run.

#include "html.hpp"
#include "json.hpp"
#include "show.hpp"
#include "trace_data.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace keel::info {

inline std::string text_of(topology::device const& d) {
  return std::string{to_string(d.type)} + ' ' + (d.pci_id.empty() ? d.name : d.pci_id);
}

/// The node as boxes inside each other: each locality once, in it the memories and devices that it is the nearest place
/// of, and its cores. A core has the colour of its first rank, a device the ranks that use it.
inline std::string node_drawing(topology::node const& n, std::map<int, topology::id_set> const& ranks_of,
                                std::map<int, topology::id_set> const& users) {
  std::map<std::pair<int, std::vector<int>>, std::string> boxes; // by minus the number of cores, and these; its words
  auto const key = [](topology::id_set const& cores) {
    std::vector<int> const all(cores.begin(), cores.end());
    return std::pair{-int(all.size()), all};
  };
  auto const around = [&](int core, int steps) { return n.nearby_cores(core, topology::core_type::any, 0, steps); };
  auto const nearest = [&](auto const& distance) -> std::string& {
    int core = 0;
    for (auto const& c : n.cores())
      if (distance(c.id) < distance(core)) core = c.id;
    return boxes[key(around(core, distance(core)))];
  };
  auto const whole = topology::id_set::range(0, int(n.cores().size()));
  for (int steps = 0; !boxes.contains(key(whole)); ++steps)
    for (auto rest = whole; !rest.empty();) {
      auto const place = around(*rest.begin(), steps);
      boxes.try_emplace(key(place));
      rest -= place;
    }
  for (auto const& m : n.memories())
    nearest([&](int c) { return n.steps_to_memory(c, m.id); }) += element(
        "div", escaped(m.name + ' ' + std::string{to_string(m.type)} + (m.bytes == 0 ? "" : ' ' + readable(m.bytes))));
  for (auto const& d : n.devices()) {
    auto const used = users.find(d.id);
    nearest([&](int c) { return n.distance_to_device(c, d.id); }) +=
        element("div", escaped(text_of(d) + (used == users.end() ? "" : ": rank " + to_string(used->second))));
  }
  struct nested {
    std::string said;
    std::vector<std::size_t> inside = {};
    std::vector<int> cores = {};
  };
  std::vector<nested> all{{element("div", escaped(n.source()))}};
  std::vector<std::size_t> innermost(n.cores().size(), 0);
  for (auto const& [at, said] : boxes) {
    auto const& cores = at.second;
    if (cores.size() == 1 && said.empty()) continue;
    all[innermost[std::size_t(cores[0])]].inside.push_back(all.size());
    for (int const core : cores) innermost[std::size_t(core)] = all.size();
    all.push_back({said});
  }
  for (auto const& c : n.cores()) all[innermost[std::size_t(c.id)]].cores.push_back(c.id);
  auto const drawn = [&](auto const& self, nested const& box) -> std::string {
    auto said = box.said;
    for (auto const at : box.inside) said += self(self, all[at]);
    for (int const core : box.cores) {
      auto const found = ranks_of.find(core);
      auto head = printed("span class=\"core\" title=\"core %d", core);
      auto words = std::to_string(core);
      if (found != ranks_of.end()) {
        auto const ranks = to_string(found->second);
        head += ", rank " + ranks +
                printed("\" style=\"background:hsl(%.1f 70%% 82%%)", // hues stay apart
                        std::fmod(*found->second.begin() * 137.5, 360));
        words += "<br>r" + ranks;
      }
      said += element(head + '"', words);
    }
    auto const count = double(box.inside.size() + box.cores.size());
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
inline std::string schedule_drawing(trace_schedule const& schedule) {
  int const pitch = 34, box = 24, left = 130;
  double const letter = 7.3; // of a font of 12 pixels whose letters have one width
  auto const& entries = schedule.entries;
  auto const shortened = [](std::string name) {
    std::size_t most = 90;
    if (name.size() <= most) return name;
    while ((name[most] & 0xC0) == 0x80) --most; // a letter is not cut
    return name.substr(0, most) + "…";
  };
  double wide = 300;
  std::map<int, std::size_t> place;
  for (auto const& e : entries) {
    wide = std::max(wide, 18 * e.depth + letter * double(shortened(e.name).size() + e.memory.size()) + 36);
    place.try_emplace(e.number, place.size());
  }
  auto const middle = [&](std::size_t at) { return int(at) * pitch + pitch / 2 + 8; };
  std::string drawn;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    auto const& [number, depth, kind, name, memory] = entries[i];
    int const in = 18 * depth;
    drawn +=
        printed("<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%.0f\" height=\"%d\" rx=\"4\"/>",
                memory.empty() || memory == "host" ? "box" : "box far", left + in, middle(i) - box / 2, wide - in,
                box) +
        element(printed("text x=\"%d\" y=\"%d\"", left + in + 8, middle(i) + 4),
                escaped(shortened(name)) + element("title", escaped(name))) +
        element(printed("text class=\"soft\" x=\"%.0f\" y=\"%d\" text-anchor=\"end\"", left + wide - 8, middle(i) + 4),
                escaped(memory));
  }
  std::map<std::tuple<std::size_t, std::size_t, std::string, bool>, std::string> arcs; // what they bring
  for (auto const& f : schedule.flows) {
    auto const from = place.find(f.writer), to = place.find(f.reader);
    if (from == place.end() || to == place.end()) continue;
    auto& data = arcs[{from->second, to->second, f.copied, f.crosses}];
    data += (data.empty() ? "" : ", ") + f.data;
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
                     element("title", escaped(entries[from].name + " → " + entries[to].name + ": " + data +
                                              "; copied " + how + (crosses ? "; in the next step" : ""))));
    rows.push_back({{entries[from].name}, {entries[to].name}, {data}, {how}, {crosses ? "next" : "same"}});
  }
  double const height = double(entries.size()) * pitch + 16, width = left + wide + 330;
  return element("h3", escaped(schedule.name)) +
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
