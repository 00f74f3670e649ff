// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The node as a picture: a box for each locality, in it its memories, devices and cores; a
/// core has the colour of its rank.

#include "show.hpp"

#include <keel/policy/error.hpp>
#include <keel/impl/store/whole_file.hpp>
#include <keel/topology.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <string>
#include <vector>

namespace keel::info {

class picture {
public:
  picture(topology::node const& node, std::vector<topology::placement> const& ranks)
      : node_(node), rank_of_(node.cores().size()) {
    for (auto const& p : ranks)
      for (int const c : p.cores) rank_of_[std::size_t(c)].insert(int(&p - ranks.data()));
    for (auto const& m : node.memories())
      place([&](int c) { return node_.steps_to_memory(c, m.id); },
            m.name + ' ' + std::string{to_string(m.type)} + ' ' + readable(m.bytes));
    for (auto const& d : node.devices()) {
      topology::id_set users;
      for (auto const& p : ranks)
        if (p.device == d.id) users.insert(int(&p - ranks.data()));
      place([&](int c) { return node_.distance_to_device(c, d.id); },
            std::string{to_string(d.type)} + ' ' + (d.pci_id.empty() ? d.name : d.pci_id) +
                (users.empty() ? "" : ": rank " + to_string(users)));
    }
    auto const all = draw(topology::id_set::range(0, int(node.cores().size())));
    text_ = "<svg xmlns=\"http://www.w3.org/2000/svg\"" + size(all.width + 2 * gap, all.height + 2 * gap + line) +
            " font-family=\"sans-serif\" font-size=\"10\">\n<title>" + escaped(node.source()) + "</title>\n" +
            label(gap, gap, node.source()) + moved(gap, gap + line, all.text) + "</svg>\n";
  }
  [[nodiscard]] std::string const& text() const { return text_; }

private:
  static constexpr double gap = 6, line = 14, side = 30;

  struct drawn {
    double width, height;
    std::string text;
  };
  struct note {
    topology::id_set where;
    std::string text;
  };

  /// Remembers what to write into the smallest box around a thing.
  void place(auto const& distance, std::string text) {
    int nearest = 0;
    for (auto const& c : node_.cores())
      if (distance(c.id) < distance(nearest)) nearest = c.id;
    notes_.push_back({node_.nearby_cores(nearest, topology::core_type::any, 0, distance(nearest)), std::move(text)});
  }

  [[nodiscard]] bool has_note(topology::id_set const& where) const {
    return std::any_of(notes_.begin(), notes_.end(), [&](note const& n) { return n.where == where; });
  }

  /// The largest locality around `core` that is smaller than `outer`; the core's own at least.
  [[nodiscard]] topology::id_set within(int core, topology::id_set const& outer) const {
    topology::id_set best{core};
    for (int steps = 0;; ++steps) {
      auto next = node_.nearby_cores(core, topology::core_type::any, 0, steps);
      if (next.size() >= outer.size()) return best;
      best = std::move(next);
    }
  }

  drawn draw(topology::id_set const& cores) {
    double width = 0, height = gap;
    std::string text;
    for (auto const& n : notes_)
      if (n.where == cores) {
        text += label(gap, height, n.text);
        height += line;
        width = std::max(width, 6.2 * double(n.text.size()));
      }
    std::vector<drawn> inside;
    if (cores.size() == 1) {
      inside.push_back(square(*cores.begin()));
    } else {
      for (auto rest = cores; !rest.empty();) {
        auto const part = within(*rest.begin(), cores);
        inside.push_back(part.size() == 1 && !has_note(part) ? square(*part.begin()) : draw(part));
        rest -= part;
      }
    }
    auto const columns = std::size_t(std::ceil(std::sqrt(double(inside.size()))));
    double x = gap, tallest = 0;
    for (std::size_t i = 0; i < inside.size(); ++i) {
      if (i % columns == 0 && i > 0) {
        height += tallest + gap;
        x = gap;
        tallest = 0;
      }
      text += moved(x, height, inside[i].text);
      x += inside[i].width + gap;
      tallest = std::max(tallest, inside[i].height);
      width = std::max(width, x - gap);
    }
    height += tallest + gap;
    width += gap;
    return {width, height, "<rect" + size(width, height) + " rx=\"4\" fill=\"none\" stroke=\"#555\"/>\n" + text};
  }

  drawn square(int core) const {
    auto const& ranks = rank_of_[std::size_t(core)];
    auto const name = "core " + std::to_string(core) + (ranks.empty() ? "" : ", rank " + to_string(ranks));
    auto const fill = ranks.empty() ? "#eee" : colour(*ranks.begin());
    auto const box =
        "<rect" + size(side, side) + " rx=\"2\" fill=\"" + fill + "\"><title>" + name + "</title></rect>\n";
    auto const rank = ranks.empty() ? "" : label(2, 15, "r" + to_string(ranks));
    return {side, side, box + label(2, 3, std::to_string(core)) + rank};
  }

  /// Light colours that stay apart: the hue turns by the golden angle with each rank.
  static std::string colour(int rank) {
    double const turn = 2 * std::numbers::pi * std::fmod(rank * 0.381966, 1.0);
    char text[8];
    auto const part = [&](double phase) { return unsigned(195 + 55 * std::cos(turn + phase)); };
    std::snprintf(text, sizeof text, "#%02x%02x%02x", part(0), part(2.094), part(4.189));
    return text;
  }
  static std::string number(double value) { return std::to_string(long(std::ceil(value))); }
  static std::string size(double width, double height) {
    return " width=\"" + number(width) + "\" height=\"" + number(height) + '"';
  }
  static std::string moved(double x, double y, std::string const& what) {
    return "<g transform=\"translate(" + number(x) + ' ' + number(y) + ")\">\n" + what + "</g>\n";
  }
  static std::string label(double x, double y, std::string const& what) {
    return "<text x=\"" + number(x) + "\" y=\"" + number(y + 9) + "\">" + escaped(what) + "</text>\n";
  }
  static std::string escaped(std::string const& what) {
    std::string made;
    for (char const c : what)
      if (c == '<') made += "&lt;";
      else if (c == '>') made += "&gt;";
      else if (c == '&') made += "&amp;";
      else made += c >= 0x20 && c < 0x7f ? c : '?';
    return made;
  }

  topology::node const& node_;
  std::vector<topology::id_set> rank_of_;
  std::vector<note> notes_;
  std::string text_;
};

/// Writes the picture whole or not at all, and not over the file that the node was read from.
inline void write_svg(std::string const& path, std::string const& input, topology::node const& node,
                      std::vector<topology::placement> const& ranks) {
  if (auto const failure = policy::write_whole_file(path, picture{node, ranks}.text(), {&input, 1}))
    throw error("info", path + " cannot be written", failure.why, "Name a file in a folder of yours", failure.code);
}

} // namespace keel::info
