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
  (void)kt::impl::from_cache_file(bytes, "key");
  if (auto const all = kt::impl::from_bytes(bytes)) {
    auto const again = kt::impl::to_bytes(*all);
    auto const second = kt::impl::from_bytes(again);
    if (!second || kt::impl::to_bytes(*second) != again) std::abort();
  }
  return 0;
}

