// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The machines that the tests of topology read: the project's own, and those saved from real ones.

#include <keel/topology/node.hpp>

#include <hwloc.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace keel::test {

/// What a person counted in one saved machine.
struct counted {
  char const* file;
  int memories, cores, devices, gpus;
};

/// In test/data, always there, each named for what saved topologies of real machines lack. hwloc 3 does not read those
/// of hwloc 1.
inline constexpr counted own_machines[]{
    {"accelerators.xml", 2, 8, 7, 1},     {"attributes.xml", 4, 4, 0, 0},
    {"contexts.xml", 2, 8, 4, 3},         {"cores192.xml", 2, 192, 0, 0},
    {"cores96.xml", 1, 96, 0, 0},         {"gpus8_numa4.xml", 4, 32, 12, 8},
    {"gpus_one_side.xml", 2, 12, 3, 3},   {"hbm.xml", 6, 16, 0, 0},
    {"hybrid.xml", 1, 16, 0, 0},          {"interfaces.xml", 1, 4, 5, 1},
    {"latencies.xml", 5, 8, 0, 0},        {"nested_places.xml", 3, 6, 2, 2},
    {"nested_three.xml", 3, 6, 3, 3},     {"nested_two.xml", 3, 6, 2, 2},
    {"no_core_level.xml", 2, 8, 0, 0},    {"no_io.xml", 1, 12, 0, 0},
    {"numa2_gpus4.xml", 2, 40, 4, 4},     {"numa8_gpus4.xml", 8, 48, 4, 4},
    {"one_core.xml", 1, 1, 0, 0},         {"one_left.xml", 2, 1, 0, 0},
    {"one_offline.xml", 3, 17, 1, 1},     {"restricted.xml", 1, 8, 0, 0},
#if HWLOC_API_VERSION < 0x00030000
    {"hwloc1_node_root.xml", 1, 4, 0, 0}, {"hwloc1_withheld.xml", 2, 4, 0, 0},
#endif
};

/// Saved topologies of real machines: some of hwloc's own tests are part of the tree.
inline constexpr counted real_machines[]{
    {"hwloc/16em64t-4s2c2t.xml", 1, 8, 0, 0},
    {"hwloc/24em64t-2n6c2t-pci.xml", 2, 12, 7, 3},
    {"hwloc/32em64t-2n8c2t-pci-wholeio.xml", 2, 16, 8, 3},
    {"hwloc/64intel64-fakeKNL-SNC4-hybrid.xml", 8, 16, 0, 0},
    {"hwloc/8intel64-4n2t-memattrs.xml", 4, 8, 0, 0},
    {"hwloc/fakecpukinds.xml", 1, 2, 0, 0},
};
/// Others, if they are there.
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
  for (auto const& m : own_machines) found.push_back(own_machine(m.file));
  for (auto const& m : real_machines) found.push_back(own_machine(m.file));
  if (auto const folder = other_machines_folder(); !folder.empty())
    for (auto const& file : std::filesystem::directory_iterator{folder})
      if (file.path().extension() == ".xml" && !is_of_another_hwloc(file.path())) found.push_back(file.path());
  return found;
}

} // namespace keel::test
