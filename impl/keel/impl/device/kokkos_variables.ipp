// SPDX-License-Identifier: MIT
#include <keel/impl/device/kokkos_variables.hpp>
#include <keel/space/settings.hpp>

#include <cstdlib>

namespace keel::device {

KEEL_INLINE kokkos_variables::kokkos_variables() = default;
KEEL_INLINE kokkos_variables::~kokkos_variables() {
  for (auto at = before_.rbegin(); at != before_.rend(); ++at) {
    if (at->value) setenv(at->name, at->value->c_str(), 1);
    else unsetenv(at->name);
  }
}

KEEL_INLINE void kokkos_variables::set(std::span<device_knobs const> devices) {
  space::settings proposed, said;
  for (auto const& d : devices) {
    if (d.device().starts_itself) {
      d.device().configure(d.told());
      continue;
    }
    space::merge(proposed, d.told());
    space::merge(said, d.told(true));
  }
  set("KOKKOS_NUM_THREADS", proposed.threads, said.threads);
  set("KOKKOS_NUMA", proposed.numa_regions, said.numa_regions);
  set("KOKKOS_DEVICE_ID", proposed.device_instance, said.device_instance);
}

KEEL_INLINE void kokkos_variables::set(char const* name, std::optional<int> proposed, std::optional<int> said) {
  char const* const old = std::getenv(name);
  if (!(said || (proposed && old == nullptr))) return;
  before_.push_back({name, old == nullptr ? std::nullopt : std::optional<std::string>{old}});
  setenv(name, std::to_string(said ? *said : *proposed).c_str(), 1);
}

} // namespace keel::device
