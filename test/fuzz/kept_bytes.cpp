// SPDX-License-Identifier: MIT
/// @file
/// The bytes of a node that was kept in a folder. What can be read is written again as it was.
#include <keel/topology/node.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace kt = keel::topology;

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string_view const bytes{reinterpret_cast<char const*>(data), size};
  (void)kt::detail::from_cache_file(bytes, "key");
  if (auto const all = kt::detail::from_bytes(bytes)) {
    auto const again = kt::detail::to_bytes(*all);
    auto const second = kt::detail::from_bytes(again);
    if (!second || kt::detail::to_bytes(*second) != again) std::abort();
  }
  return 0;
}
