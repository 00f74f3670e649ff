// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Whether a text may be shown to hwloc's XML readers, which trust it and crash on some.

#include <keel/impl/topology/xml.hpp>
#include <keel/topology/id_set.hpp>

#include <hwloc.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace keel::topology::detail {

inline constexpr std::size_t xml_bytes_max = std::size_t{32} << 20; ///< 100 times the largest seen
inline constexpr int xml_index_max = 1 << 16;                       ///< of threads and NUMA nodes, which become bits

/// The ids of a set as hwloc writes it, `0x3,0xffffffff`: the last word is the lowest, and an empty one is zero, but
/// for the first, which hwloc does not count. Empty if the text is none.
inline std::optional<id_set> read_set(std::string_view text) {
  if (text.empty() || text.front() == ',' || std::count(text.begin(), text.end(), ',') >= xml_index_max / 32)
    return std::nullopt;
  id_set made;
  for (int first = 0;; first += 32) {
    auto const comma = text.rfind(',');
    auto const word = text.substr(comma == text.npos ? 0 : comma + 1);
    std::uint32_t bits = 0;
    if (word.starts_with("0x")) {
      auto const [stop, code] = std::from_chars(word.data() + 2, word.data() + word.size(), bits, 16);
      if (code != std::errc{} || stop != word.data() + word.size()) return std::nullopt;
    } else if (!word.empty()) {
      return std::nullopt;
    }
    for (; bits != 0; bits &= bits - 1) made.insert(first + std::countr_zero(bits));
    if (comma == text.npos) return made;
    text = text.substr(0, comma);
  }
}

/// Checks objects one by one as they open, against those that they stand in.
///
/// Each rule is there because hwloc 2.9 crashed, or went on with nonsense, without it: sets that are
/// missing or are none, a PU without its index, objects in one that cannot hold them, hardware threads
/// that a parent lacks, that two siblings share, or that nothing below has.
class xml_rules {
public:
  /// Empty if the whole text may pass, else the first thing that is wrong with it.
  static std::string broken_by(std::string_view text) {
    using token = xml_scanner::token;
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    xml_scanner scan{text};
    xml_rules rules;
    for (token at = scan.next(); at != token::end; at = scan.next()) {
      if (at == token::wrong) return scan.why();
      if (at == token::close) {
        if (auto wrong = rules.close(scan.depth()); !wrong.empty()) return wrong;
        continue;
      }
      for (auto const& a : scan.attributes()) {
        bool const is_set = a.name.ends_with("cpuset") || a.name.ends_with("nodeset");
        if ((is_set && !read_set(a.value)) || (is_count(scan.name(), a.name) && !number<std::uint64_t>(a.value)))
          return "<" + std::string{scan.name()} + "> has a " + std::string{a.name} + " that is none";
      }
      if (auto wrong = scan.depth() == 1         ? rules.root(scan)
                       : scan.name() == "object" ? rules.object(scan)
                                                 : std::string{};
          !wrong.empty())
        return wrong;
    }
    if (rules.roots_ == 0) return "it has no Machine";
    if (rules.threads_.empty()) return "it has no PU";
    if (!rules.first_form_ && rules.nodes_.empty()) return "it has no NUMANode";
    return {};
  }

private:
  enum class family { normal, memory, io, misc, unknown };

  struct open_object {
    family kind;
    std::size_t depth;
    bool is_unit;          ///< a PU: nothing normal lies in it
    bool has_nodes;        ///< a nodeset
    id_set threads, below; ///< its own, and those of what lies in it so far
  };

  static bool inside(id_set const& some, id_set const& all) { return (some - all).empty(); }

  /// Bytes and the like, of which hwloc takes "-1" for 2^64 - 1.
  static bool is_count(std::string_view element, std::string_view attribute) {
    return attribute == "local_memory" || attribute == "cache_size" || element == "page_type" ||
           (element == "memattr_value" && attribute == "value");
  }

  /// The number that the whole text is.
  template <class T>
  static std::optional<T> number(std::string_view text) {
    T value{};
    auto const [stop, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    return code == std::errc{} && stop == text.data() + text.size() ? std::optional{value} : std::nullopt;
  }

  /// hwloc's names of types, of both forms of its XML.
  [[nodiscard]] family family_of(std::string_view type) const {
    if (type == "NUMANode") return first_form_ ? family::normal : family::memory; // in hwloc 1 it held its cores
    for (std::string_view const normal :
         {"System", "Machine", "Package", "Socket", "Die", "Group", "Core", "PU", "Cache"})
      if (type == normal) return family::normal;
    if (type.size() >= 7 && type[0] == 'L' && type[1] >= '1' && type[1] <= '5' && type.ends_with("Cache"))
      return type.size() == 7 || (type.size() == 8 && type[2] == 'i' && type[1] <= '3') ? family::normal
                                                                                        : family::unknown;
    if (type == "MemCache") return family::memory;
    if (type == "Bridge" || type == "PCIDev" || type == "OSDev") return family::io;
    return type == "Misc" ? family::misc : family::unknown;
  }

  std::string root(xml_scanner const& scan) {
    if (scan.name() != "topology")
      return "its root is <" + std::string{scan.name().substr(0, 32)} + ">, not <topology>";
    auto const version = scan.value("version");
    first_form_ = !scan.has("version");
    bool const known = version.size() == 3 && version[1] == '.' && (version[0] == '2' || version[0] == '3');
    if (first_form_ && HWLOC_API_VERSION >= 0x00030000) return "it is of hwloc 1, which hwloc 3 does not read";
    return known || first_form_ ? std::string{} : "its version is unknown";
  }

  std::string object(xml_scanner const& scan) {
    auto const type = scan.value("type");
    auto const what = "an object of type '" + std::string{type.substr(0, 32)} + "' ";
    open_object made{family_of(type), scan.depth(), type == "PU", scan.has("nodeset"), {}, {}};
    if (made.kind == family::unknown) return what + "is unknown";
    bool const is_root =
        type == "Machine" || type == "System" || (type == "NUMANode" && first_form_ && scan.has("nodeset"));
    if (scan.depth() == 2 ? !is_root || ++roots_ > 1 // hwloc 1 could leave out a Machine with one NUMA node
                          : scan.parent() != "object" || type == "System" || (type == "Machine" && !first_form_))
      return what + "stands where the one Machine should, or it where another should";
    if (made.kind == family::normal || made.kind == family::memory)
      if (auto wrong = local(scan, made); !wrong.empty()) return what + wrong;
    if (!around_.empty()) {
      auto& holder = around_.back();
      bool const held = made.kind == family::normal   ? holder.kind == family::normal && !holder.is_unit
                        : made.kind == family::memory ? holder.kind == family::normal || holder.kind == family::memory
                                                      : made.kind == family::misc || holder.kind != family::misc;
      if (!held) return what + "stands in one that holds none";
      if (made.has_nodes && !holder.has_nodes && (made.kind == family::normal || made.kind == family::memory))
        return what + "has a nodeset that what holds it has not";
      if (!inside(made.threads, holder.threads)) return what + "has hardware threads that what holds it has not";
      if (made.kind == family::normal) {
        if (!(made.threads & holder.below).empty()) return what + "has hardware threads of one beside it";
        holder.below |= made.threads;
      }
    }
    around_.push_back(std::move(made));
    return {};
  }

  /// What is deeper than `depth` has ended.
  std::string close(std::size_t depth) {
    for (; !around_.empty() && around_.back().depth > depth; around_.pop_back()) {
      auto const& ended = around_.back();
      if (ended.kind == family::normal && !ended.is_unit && !inside(ended.threads, ended.below))
        return "an object has hardware threads that nothing in it has";
    }
    return {};
  }

  /// Sets, index and their relation to the object around.
  std::string local(xml_scanner const& scan, open_object& made) {
    auto const threads = read_set(scan.value("cpuset"));
    bool const needs_nodes = !first_form_ || scan.has("nodeset");
    auto const nodes = needs_nodes ? read_set(scan.value("nodeset")) : id_set{};
    if (!threads || !nodes) return "has no cpuset or no nodeset that could be one";
    for (auto const& [name, part] : {std::pair{"complete_cpuset", &*threads}, std::pair{"complete_nodeset", &*nodes}}) {
      if (part == &*nodes && !needs_nodes) continue;
      auto const whole = read_set(scan.value(name));
      if (!whole || !inside(*part, *whole)) return "has no " + std::string{name} + " that holds the other";
    }
    made.threads = *threads;
    auto const type = scan.value("type");
    if (type == "PU") return numbered(scan, *threads, threads_);
    if (type == "NUMANode" && needs_nodes) { // hwloc 1 left a withheld node in the tree, with an empty nodeset
      bool const is_withheld = first_form_ && nodes->empty();
      return numbered(scan, is_withheld ? *read_set(scan.value("complete_nodeset")) : *nodes, nodes_);
    }
    return {};
  }

  /// An index of its own, which is its set.
  static std::string numbered(xml_scanner const& scan, id_set const& own, std::set<int>& known) {
    int const index = number<int>(scan.value("os_index")).value_or(-1);
    if (index < 0 || index >= xml_index_max) return "has no os_index";
    if (own != id_set{index}) return "has a set that is not its os_index";
    return known.insert(index).second ? std::string{} : "has the os_index of another";
  }

  std::vector<open_object> around_;
  std::set<int> threads_, nodes_;
  int roots_ = 0;
  bool first_form_ = false;
};

/// Empty if `text` is a topology as far as that can be seen without hwloc, else what is wrong.
inline std::string why_not_a_topology(std::string_view text) {
  if (text.empty()) return "it is empty";
  if (text.size() > xml_bytes_max) return "it is larger than " + std::to_string(xml_bytes_max >> 20) + " MiB";
  if (text.find('\0') != text.npos) return "it is not text";
  return xml_rules::broken_by(text);
}

} // namespace keel::topology::detail
