// SPDX-License-Identifier: MIT
#include <keel/machine/host.hpp>

#include <array>
#include <fstream>

#include <unistd.h>

namespace keel::machine {

KEEL_INLINE std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? std::string{name.data()} : std::string{"unknown"};
}

namespace detail {
inline std::string drawn_at_boot() {
  std::string drawn;
  std::getline(std::ifstream{"/proc/sys/kernel/random/boot_id"}, drawn);
  return drawn;
}
} // namespace detail

KEEL_INLINE std::uint64_t node_identity() { return detail::hash(detail::drawn_at_boot() + host_name()); }

KEEL_INLINE std::uint64_t kernel_identity() { return detail::hash(detail::drawn_at_boot()); }

} // namespace keel::machine
