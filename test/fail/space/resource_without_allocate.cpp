// SPDX-License-Identifier: MIT
// expect: keel::space::memory: the resource has no allocate
#include <keel/space.hpp>

struct heap {
  static constexpr char const* name = "heap";
  static constexpr keel::space::reach reached_from = keel::space::reach::host;
  void* allocate(std::size_t) const { return nullptr; } // no alignment
  void deallocate(void*, std::size_t, std::size_t) const {}
};

int main() { keel::space::memory<heap> const space; }
