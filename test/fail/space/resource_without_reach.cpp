// SPDX-License-Identifier: MIT
// expect: keel::space::memory: the resource has no reached_from
#include <keel/space.hpp>

struct heap {
  static constexpr char const* name = "heap";
  void* allocate(std::size_t, std::size_t) const { return nullptr; }
  void deallocate(void*, std::size_t, std::size_t) const {}
};

int main() { keel::space::memory<heap> const space; }
