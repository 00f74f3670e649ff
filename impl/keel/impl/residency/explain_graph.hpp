// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A plan as a graph in the language of Graphviz.

#include <keel/impl/residency/explanation.hpp>

#include <cstddef>
#include <map>
#include <string>
#include <tuple>

namespace keel::residency::detail {

[[nodiscard]] inline std::string graph_text(std::string const& text) {
  std::string out = "\"";
  for (char c : text) out += c == '"' || c == '\\' ? std::string{'\\', c} : c == '\n' ? "\\n" : std::string{c};
  return out + '"';
}

/// Boxes are entries, in the order of a step, filled where they run away from the host. An arrow has the data that
/// go from writer to reader: thick and red where they are always copied, red and dashed where that depends, grey
/// where they stay; dotted lines hold the order.
KEEL_INLINE std::string as_graph(explanation const& told) {
  std::string text =
      "digraph step {\n  node [shape=box, fontname=sans, style=filled, fillcolor=white]\n  edge [fontname=sans, fontsize=10]\n";
  std::string order;
  int open = 0;
  std::size_t last = told.entries.size();
  for (std::size_t i = 1; i < told.entries.size(); ++i) {
    told_entry const& e = told.entries[i];
    for (; open > e.depth - 1; --open) text += std::string(std::size_t(2 * open), ' ') + "}\n";
    std::string const margin(std::size_t(2 * e.depth), ' ');
    if (has_body(e.what)) {
      text +=
          margin + "subgraph cluster_" + std::to_string(i) + " {\n" + margin + "  label=" + graph_text(e.name) + "\n";
      ++open;
      continue;
    }
    bool const is_far = !e.where.empty() && e.where != told.memories[0];
    text += margin + 'n' + std::to_string(i) +
            " [label=" + graph_text(e.name + (e.where.empty() ? "" : "\n" + e.where)) +
            (is_far ? ", fillcolor=lightblue" : "") + "]\n";
    if (last != told.entries.size())
      order += "  n" + std::to_string(last) + " -> n" + std::to_string(i) + " [style=dotted, arrowhead=none]\n";
    last = i;
  }
  for (; open > 0; --open) text += std::string(std::size_t(2 * open), ' ') + "}\n";
  // What goes the same way in the same manner shares an arrow.
  std::map<std::tuple<std::size_t, std::size_t, bool, std::string>, std::map<std::string, region>> arrows;
  for (told_flow const& f : told.flows) {
    region& where = arrows[{f.writer, f.reader, f.crosses, word_for(f.seen)}][f.variable];
    where = where | f.where;
  }
  for (auto const& [way, parts] : arrows) {
    std::string data;
    for (auto const& [variable, where] : parts)
      data += (data.empty() ? "" : "\n") + variable + ' ' + std::string(residency::name_of(where));
    auto const& [writer, reader, crosses, word] = way;
    char const* const look = word == "always"    ? "color=red, penwidth=2"
                             : word == "depends" ? "color=red, style=dashed"
                                                 : "color=grey";
    text += "  n" + std::to_string(writer) + " -> n" + std::to_string(reader) + " [label=" + graph_text(data) + ", " +
            look + (crosses ? ", constraint=false" : "") + "]\n";
  }
  return text + order + "}\n";
}

} // namespace keel::residency::detail
