// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The machines that the tests of topology read: the project's own, and those saved from real ones.

#include <keel/topology/node.hpp>

#include <hwloc.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace keel::test {

/// What a person counted in a saved machine that is no part of the tree.
struct counted {
  char const* file;
  int memories, cores, devices, gpus;
};
inline constexpr counted other_machines[]{
    {"192em64t-24n8c2t.xml", 24, 192, 9, 0},
#if HWLOC_API_VERSION < 0x00030000
    {"coral-ea-hwloc1.xml", 2, 20, 9, 4},    {"knl-snc4-flat-hwloc1.xml", 8, 68, 7, 0},
#endif
    {"coral-lassen.xml", 2, 40, 10, 4},      {"cts1-quartz-smt1.xml", 2, 36, 8, 0},     {"g4dnmetal.xml", 2, 48, 14, 8},
};

inline std::filesystem::path own_machine(std::string const& file) {
  return std::filesystem::path{KEEL_TEST_DATA} / file;
}
/// The names of the machines in test/data, each for what saved topologies of real machines lack, and of those in its
/// folder hwloc, which are out of hwloc's own tests; in order. hwloc 3 does not read those of hwloc 1.
inline std::vector<std::string> own_machines() {
  std::vector<std::string> names;
  for (std::string const folder : {"", "hwloc/"})
    for (auto const& file : std::filesystem::directory_iterator{own_machine(folder)})
      if (auto const name = folder + file.path().filename().string();
          name.ends_with(".xml") && (HWLOC_API_VERSION < 0x00030000 || !name.starts_with("hwloc1_")))
        names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

/// One of the project's machines, or a synthetic one.
inline topology::node machine_of(std::string const& text) {
  return text.ends_with(".xml") ? topology::node::from_xml(own_machine(text)) : topology::node::from_synthetic(text);
}

/// The folder of other machines; empty where they are not there.
inline std::filesystem::path other_machines_folder() {
  char const* const wish = std::getenv("KEEL_TEST_TOPOLOGIES");
  std::filesystem::path const folder = wish != nullptr ? wish : KEEL_TEST_TOPOLOGIES;
  return !folder.empty() && std::filesystem::is_directory(folder) ? folder : std::filesystem::path{};
}

/// hwloc 2 does not read what hwloc 3 wrote, nor hwloc 3 what hwloc 1 did.
inline bool is_of_another_hwloc(std::filesystem::path const& file) {
  std::string head(1024, '\0');
  std::ifstream{file}.read(head.data(), std::streamsize(head.size()));
#if HWLOC_API_VERSION >= 0x00030000
  return head.find("<topology version=\"") == head.npos;
#else
  return head.find("<topology version=\"3") != head.npos;
#endif
}

/// Every machine that is there and that this hwloc reads.
inline std::vector<std::filesystem::path> all_machines() {
  std::vector<std::filesystem::path> found;
  for (auto const& name : own_machines()) found.push_back(own_machine(name));
  if (auto const folder = other_machines_folder(); !folder.empty())
    for (auto const& file : std::filesystem::directory_iterator{folder})
      if (file.path().extension() == ".xml" && !is_of_another_hwloc(file.path())) found.push_back(file.path());
  return found;
}

} // namespace keel::test
