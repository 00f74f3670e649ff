// SPDX-License-Identifier: MIT
#include "../../impl/info/cgroup.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

namespace fs = std::filesystem;

namespace {

/// A tree of cgroups as files.
struct groups {
  fs::path root = fs::temp_directory_path() / ("keel-cgroup-test-" + std::to_string(getpid()));
  ~groups() { fs::remove_all(root); }
  void put(fs::path const& file, std::string const& text) const {
    fs::create_directories((root / file).parent_path());
    std::ofstream{root / file} << text;
  }
  double allowed(std::string const& membership) const {
    put("self", membership);
    return keel::info::processors_allowed(root / "self", root).value_or(-1);
  }
};

} // namespace

TEST_CASE("info: the least that any cgroup on the way up allows is what there is") {
  groups const g;
  g.put("cpu.max", "max 100000\n");
  g.put("job/cpu.max", "150000 100000\n");
  g.put("job/step/cpu.max", "400000 100000\n");
  CHECK(g.allowed("0::/\n") == -1);
  CHECK(g.allowed("0::/job\n") == 1.5);
  CHECK(g.allowed("0::/job/step\n") == 1.5);
  CHECK(g.allowed("0::/elsewhere\n") == -1);
  g.put("cpu/old/cpu.cfs_quota_us", "50000\n");
  g.put("cpu/old/cpu.cfs_period_us", "100000\n");
  g.put("cpu/free/cpu.cfs_quota_us", "-1\n");
  g.put("cpu/free/cpu.cfs_period_us", "100000\n");
  CHECK(g.allowed("4:cpu,cpuacct:/old\n") == 0.5);
  CHECK(g.allowed("4:cpu,cpuacct:/free\n1:name=systemd:/old\n") == -1);
  CHECK(g.allowed("3:cpuset:/old\n") == -1);
  CHECK(g.allowed("4:cpu:/old\n0::/job\n") == 0.5);
  CHECK(g.allowed("not a line\n\n4:cpu\n") == -1);
  CHECK(g.allowed("") == -1);
}
