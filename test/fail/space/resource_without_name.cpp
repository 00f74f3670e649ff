// SPDX-License-Identifier: MIT
// expect: keel::space::memory: the resource has no name
#include <keel/space.hpp>

struct heap {
  static constexpr keel::space::reach reached_from = keel::space::reach::host;
  void* allocate(std::size_t, std::size_t) const { return nullptr; }
  void deallocate(void*, std::size_t, std::size_t) const {}
};

int main() { keel::space::memory<heap> const space; }
