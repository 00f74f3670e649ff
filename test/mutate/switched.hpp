// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The switch of each change that schemata.py writes into a header. `KEEL_MUTANT` names the change that is made; the
/// file `KEEL_REACHED` has a byte for each, which is set when the program reaches it.

#include <cstddef>
#include <cstdlib>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <type_traits>
#include <unistd.h>

namespace keel_switched {

struct state {
  int made = 0;
  long size = 0;
  char* reached = nullptr;

  state() {
    if (char const* const text = ::getenv("KEEL_MUTANT")) made = ::atoi(text);
    char const* const name = ::getenv("KEEL_REACHED");
    int const file = name == nullptr ? -1 : ::open(name, O_RDWR | O_CLOEXEC);
    if (file < 0) return;
    struct stat facts;
    if (::fstat(file, &facts) == 0 && facts.st_size > 0) {
      auto const bytes = std::size_t(facts.st_size);
      void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
      if (at != MAP_FAILED) reached = static_cast<char*>(at), size = facts.st_size;
    }
    ::close(file);
  }
};

inline bool is_made(int number) {
  static state const known;
  if (number < known.size) known.reached[number] = 1;
  return known.made == number;
}

/// Whether the change is made. A constant is computed without it.
constexpr bool on(int number) { return std::is_constant_evaluated() ? false : is_made(number); }

} // namespace keel_switched
