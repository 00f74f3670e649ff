// SPDX-License-Identifier: MIT
#include <keel/space/simulated_memory.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <vector>

#include <unistd.h>

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

TEST_CASE("space: closed pages are as many as asked for, apart from each other, and given back") {
  auto& pages = keel::space::detail::guarded_pages::all();
  std::size_t const ahead = keel::space::detail::bytes_ahead, page = std::size_t(sysconf(_SC_PAGESIZE));
  for (std::size_t bytes : {ahead + 1, ahead + page, ahead + page + 1}) {
    std::vector<unsigned char*> all(8);
    for (auto& p : all) p = static_cast<unsigned char*>(pages.allocate(bytes, ahead));
    for (std::size_t n = 0; n < all.size(); ++n) std::memset(all[n], int(n + 1), bytes);
    for (std::size_t n = 0; n < all.size(); ++n) CHECK(std::size_t(std::count(all[n], all[n] + bytes, n + 1)) == bytes);
    for (auto* const p : all) CHECK(pages.deallocate(p));
  }
  auto const mapped_pages = [] {
    long size = 0;
    std::ifstream("/proc/self/statm") >> size;
    return size;
  };
  long const before = mapped_pages();
  for (int n = 0; n < 1000; ++n) CHECK(pages.deallocate(pages.allocate(ahead + 16 * page, ahead)));
  CHECK(mapped_pages() - before < 8000);
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
