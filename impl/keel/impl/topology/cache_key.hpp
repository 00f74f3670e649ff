// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// All that a node depends on and that may change: while none of it has, what was read before is still right.

#include <keel/impl/topology/affinity.hpp>
#include <keel/topology/id_set.hpp>

#include <hwloc.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace keel::topology::detail {

/// Not made against forgery: the user who may write the folder owns it.
inline std::uint64_t digest(std::string_view text) noexcept {
  std::uint64_t made = 0xcbf29ce484222325u;
  for (char const c : text) made = (made ^ static_cast<unsigned char>(c)) * 0x100000001b3u; // FNV-1a
  return made;
}

/// A short file of the kernel's, whole; empty if it cannot be read.
inline std::string system_file(std::string const& path) {
  std::string text(4096, '\0');
  int const file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  auto const got = file < 0 ? -1 : read(file, text.data(), text.size());
  if (file >= 0) close(file);
  text.resize(got < 0 ? 0 : std::size_t(got));
  return text;
}

/// What hwloc and the drivers that it asks read of the environment, sorted.
inline std::vector<std::string_view> settings_of_hwloc() {
  std::vector<std::string_view> found;
  for (char** at = environ; at != nullptr && *at != nullptr; ++at)
    for (std::string_view const prefix :
         {"HWLOC_", "CUDA_", "NVIDIA_", "ROCR_", "HIP_", "GPU_", "ZE_", "ZES_", "DISPLAY="})
      if (std::string_view{*at}.starts_with(prefix)) found.emplace_back(*at);
  std::sort(found.begin(), found.end());
  return found;
}

/// The cpuset's limits, from where hwloc reads them; its name if they are not to be seen.
inline std::string limits_of_cpuset() {
  auto name = system_file("/proc/self/cpuset");
  while (name.ends_with('\n') || name.ends_with('/')) name.pop_back();
  for (auto const& [folder, end] :
       {std::array{"/sys/fs/cgroup", ".effective"}, std::array{"/sys/fs/cgroup/cpuset", ""}})
    if (auto const cpus = system_file(folder + name + "/cpuset.cpus" + end); !cpus.empty())
      return cpus + system_file(folder + name + "/cpuset.mems" + end);
  return name + '\n';
}

/// The NUMA nodes that the kernel lets this process have, as its mask; empty if it does not report them.
inline std::string allowed_memories() {
  std::array<unsigned long, 64> mask{};
  constexpr unsigned long of_the_cpuset = 4; // MPOL_F_MEMS_ALLOWED
  if (syscall(SYS_get_mempolicy, nullptr, mask.data(), mask.size() * 8 * sizeof mask[0], nullptr, of_the_cpuset) != 0)
    return {};
  std::string text;
  for (auto const word : mask) text += ' ' + std::to_string(word);
  return text.substr(0, text.find_last_not_of(" 0") + 1);
}

/// What a node of this machine is known by.
struct cache_key {
  std::string name;    ///< of the file: the same as long as only time goes by
  std::string text;    ///< everything
  std::string why_not; ///< nothing can be kept, for this reason; else empty
};

/// Cheap: a dozen calls of the system. The kernel's count of events rises with every processor, memory or device
/// that comes or goes, and with every driver; so it stands for all of them.
inline cache_key read_cache_key() {
  cache_key made;
  utsname system{};
  uname(&system);
  made.text = "keel 4, hwloc " + std::to_string(HWLOC_API_VERSION) + ' ' + std::to_string(hwloc_get_api_version()) +
              '\n' + system.nodename + '\n' + limits_of_cpuset() + to_string(affinity_of(0)) + '\n' +
              allowed_memories() + '\n';
  for (auto const setting : settings_of_hwloc()) {
    auto const equals = std::min(setting.find('='), setting.size() - 1);
    auto const name = setting.substr(0, equals);
    std::string const value{setting.substr(equals + 1)};
    if (name == "HWLOC_SYNTHETIC" || (name.starts_with("HWLOC_") && access(value.c_str(), F_OK) == 0))
      made.why_not = std::string{name} + " says what the node is"; // or what else can change: a file
    made.text.append(setting).append("\n");
  }
  char name[32];
  std::snprintf(name, sizeof name, "keel-node-%016llx", static_cast<unsigned long long>(digest(made.text)));
  made.name = name;

  auto const boot = system_file("/proc/sys/kernel/random/boot_id"), events = system_file("/sys/kernel/uevent_seqnum");
  if (boot.empty() || events.empty()) made.why_not = "the system has no boot id or no count of events";
  struct sysinfo memory{};
  sysinfo(&memory);
  char network[64] = {}; // a name space of its own shows other interfaces
  if (readlink("/proc/self/ns/net", network, sizeof network - 1) < 0) network[0] = '\0';
  made.text += boot + events + system.release + ' ' + system.version + ' ' + system.machine + '\n' +
               std::to_string(memory.totalram) + ' ' + std::to_string(memory.mem_unit) + ' ' + network + '\n';
  return made;
}

} // namespace keel::topology::detail
