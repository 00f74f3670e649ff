// SPDX-License-Identifier: MIT
#include <keel/space/simulated_memory.hpp>

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

TEST_CASE("space: the poison is no number, and known as an integer") {
  double d[2];
  keel::space::detail::fill_with_poison(d, sizeof d);
  std::uint64_t bits;
  std::memcpy(&bits, &d[1], sizeof bits);
  CHECK((bits & 0x7ff0'0000'0000'0000) == 0x7ff0'0000'0000'0000);
  CHECK((bits & 0x0008'0000'0000'0000) == 0); // signalling
  CHECK(std::isnan(std::bit_cast<float>(keel::space::poison_word)));
  CHECK(std::bit_cast<std::int32_t>(keel::space::poison_word) == 2'146'754'221);
}

TEST_CASE("space: poison fills what it is given to the last byte and no further") {
  unsigned char bytes[16] = {};
  keel::space::detail::fill_with_poison(bytes, 7);
  CHECK(bytes[3] == 0x7f);
  CHECK(bytes[6] == 0xf4);
  CHECK(bytes[7] == 0);
}

TEST_CASE("space: simulated memory is as large as it was asked for, on the last line too") {
  keel::space::simulated_memory const space;
  for (std::size_t bytes : {1, 63, 64, 65, 4097}) {
    auto* const p = static_cast<unsigned char*>(space.allocate("bytes", bytes));
    keel::space::detail::fill_with_poison(p, bytes); // which AddressSanitizer watches
    CHECK(reinterpret_cast<std::uintptr_t>(p) % space.alignment == 0);
    space.deallocate("bytes", p, bytes);
  }
}
