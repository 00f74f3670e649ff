// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Owning an hwloc topology, and the three sources it is loaded from. The only header that includes hwloc.

#include <keel/impl/topology/xml_rules.hpp>
#include <keel/policy/error.hpp>

#include <hwloc.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace keel::topology::detail {

struct destroy {
  void operator()(hwloc_topology* t) const noexcept { hwloc_topology_destroy(t); }
};
using handle = std::unique_ptr<hwloc_topology, destroy>;

/// A set of hwloc's, for the length of a scope. hwloc dies of one that is null, because memory ran out.
struct bitmap {
  hwloc_bitmap_t bits = hwloc_bitmap_alloc();
  bitmap() {
    if (bits == nullptr) throw std::bad_alloc{};
  }
  bitmap(bitmap const&) = delete;
  bitmap& operator=(bitmap const&) = delete;
  ~bitmap() { hwloc_bitmap_free(bits); }
};

/// What hwloc knows, and the source that it knows it from.
struct loaded {
  handle tree;
  std::string source; ///< for people: "this machine", "file n.xml", …
};

/// A topology that will keep what keel shows and hwloc drops by default: cards, instruction
/// caches, and what this process may not use.
inline handle fresh() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0)
    throw error("topology", "hwloc does not start", std::generic_category().message(errno), {}, errno);
  handle t{raw};
  hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  hwloc_topology_set_icache_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_ALL);
  hwloc_topology_set_type_filter(raw, HWLOC_OBJ_MEMCACHE, HWLOC_TYPE_FILTER_KEEP_ALL);
  hwloc_topology_set_flags(raw, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  return t;
}

[[noreturn]] inline void throw_lack_of_memory(std::string const& what) {
  throw out_of_memory_error("topology", what + " is not read", ENOMEM);
}
/// hwloc and its reader of XML answer the same for a lack of memory and for wrong input, but for errno.
inline void refuse_lack_of_memory(std::string const& what) {
  if (errno == ENOMEM) throw_lack_of_memory(what);
}

/// Lets hwloc do its work. `what` stands in the message.
inline void load(handle const& t, std::string const& what) {
  errno = 0;
  if (hwloc_topology_load(t.get()) == 0) return;
  refuse_lack_of_memory(what);
  throw error("topology", what + " is not a topology", "hwloc refuses it: " + std::generic_category().message(errno),
              "Make one with lstopo", errno);
}

/// Loads XML that lies in memory; `name` stands in messages. Throws before hwloc sees it if it
/// is not a topology.
inline loaded from_xml_text(std::string_view text, std::string const& name) {
  auto const refuse = [&](std::string const& why) {
    throw error("topology", name + " is not a topology", why, "Make one with lstopo", EINVAL);
  };
  if (auto const wrong = why_not_a_topology(text); !wrong.empty()) refuse(wrong);
  auto t = fresh();
  std::string const terminated{text}; // hwloc wants the final null inside the length
  errno = 0;
  if (hwloc_topology_set_xmlbuffer(t.get(), terminated.c_str(), int(terminated.size() + 1)) != 0) {
    refuse_lack_of_memory(name);
    refuse("hwloc cannot read it as XML");
  }
  load(t, name);
  return {std::move(t), name};
}

/// A topology from a file, of which no more than the largest allowed size is read.
inline loaded from_xml_file(std::filesystem::path const& path, std::string const& name) {
  auto const refuse = [&](int code) {
    throw error("topology", name + " cannot be read", std::generic_category().message(code),
                "Name a file that lstopo wrote", code);
  };
  std::error_code code;
  if (std::filesystem::is_directory(path, code)) refuse(EISDIR);
  errno = 0;
  std::ifstream file{path, std::ios::binary};
  if (!file) refuse(errno);
  std::string text;
  for (char block[1 << 16]; text.size() <= xml_bytes_max && (file.read(block, sizeof block), file.gcount() > 0);)
    text.append(block, std::size_t(file.gcount()));
  return from_xml_text(text, name);
}

inline loaded from_synthetic(std::string_view text, std::string const& name) {
  auto t = fresh();
  std::string const terminated{text};
  errno = 0;
  if (terminated.size() > 4096 || hwloc_topology_set_synthetic(t.get(), terminated.c_str()) != 0) {
    refuse_lack_of_memory(name);
    throw error("topology", name + " is not a topology", "hwloc does not understand it",
                "Write something like 'package:2 numa:1 core:8 pu:2'", EINVAL);
  }
  load(t, name);
  return {std::move(t), name};
}

/// This machine, or what hwloc's variables put in its stead. A variable that hwloc would
/// drop in silence is an error; with two, the synthetic one wins, as in hwloc.
inline loaded from_here() {
  auto const named = [](char const* variable, char const* value) { return std::string{variable} + '=' + value; };
  for (char const* variable : {"HWLOC_FSROOT", "HWLOC_CPUID_PATH"})
    if (char const* const path = std::getenv(variable); path != nullptr) {
      std::error_code code;
      if (!std::filesystem::is_directory(path, code) || std::filesystem::is_empty(path, code))
        throw error("topology", named(variable, path) + " cannot be used", "no folder with files is there",
                    std::string{"Unset "} + variable, ENOENT);
    }
  if (char const* const text = std::getenv("HWLOC_SYNTHETIC"); text != nullptr)
    return from_synthetic(text, named("HWLOC_SYNTHETIC", text));
  if (char const* const path = std::getenv("HWLOC_XMLFILE"); path != nullptr)
    return from_xml_file(path, named("HWLOC_XMLFILE", path));
  auto t = fresh();
  load(t, "this machine");
  return {std::move(t), "this machine"};
}

} // namespace keel::topology::detail
