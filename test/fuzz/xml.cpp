// SPDX-License-Identifier: MIT
/// @file
/// The XML of a machine, up to what hwloc makes of it. What comes out is a node that answers, or a keel::error.
#include <keel/topology/node.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  setenv("HWLOC_HIDE_ERRORS", "2", 1);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  try {
    auto const node = keel::topology::node::from_xml_text({reinterpret_cast<char const*>(data), size});
    for (auto const& core : node.cores())
      for (auto const& memory : node.memories())
        if (node.distance_to_memory(core.id, memory.id) < 0) std::abort();
    if (!node.cores().empty() && node.place(2).size() != 2) std::abort();
  } catch (keel::error const&) {
  }
  return 0;
}
