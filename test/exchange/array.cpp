// SPDX-License-Identifier: MIT
// Whether two arrays share elements: beside a set of addresses, and without walking long arrays.
#include <keel/exchange/array.hpp>

#include <support/test.hpp>

#include <random>

namespace kr = keel::residency;
using kr::detail::array_ref;

namespace {

constexpr int memory_bytes = 1 << 14;
std::array<std::byte, memory_bytes> memory;

array_ref at(int byte, int element_bytes, std::vector<std::array<std::int64_t, 2>> const& lies) {
  array_ref made;
  made.data = memory.data() + byte, made.element_bytes = element_bytes;
  for (auto const& [extent, stride] : lies) made.extents[made.rank] = extent, made.strides[made.rank++] = stride;
  return made;
}

// Calls f(number of the byte) for each byte of each element.
void for_each_byte(array_ref const& a, auto const& f) {
  std::int64_t elements = 1;
  for (int d = 0; d < a.rank; ++d) elements *= a.extents[d];
  for (std::int64_t n = 0; n < elements; ++n) {
    std::int64_t place = 0, left = n;
    for (int d = 0; d < a.rank; ++d) {
      place += left % a.extents[d] * a.strides[d];
      left /= a.extents[d];
    }
    std::byte const* const first = static_cast<std::byte const*>(a.data) + place * a.element_bytes;
    for (std::int64_t b = 0; b < a.element_bytes; ++b) f(std::size_t(first + b - memory.data()));
  }
}

} // namespace

TEST_CASE("exchange: arrays share elements if, and only if, a set of their addresses says so") {
  std::mt19937 random{11};
  auto const any = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  auto const random_array = [&] {
    array_ref made = at(memory_bytes / 2 + any(-200, 200), 1 << any(0, 3), {});
    made.rank = any(1, 5);
    for (int d = 0; d < made.rank; ++d)
      made.extents[d] = any(0, 40) == 0 ? 0 : any(1, 4), made.strides[d] = any(-24, 24);
    return made;
  };
  std::vector<int> seen(memory_bytes, -1);
  std::array<int, 2> answers{};
  for (int pair = 0; pair < 100'000; ++pair) {
    array_ref const a = random_array();
    array_ref b = random_array();
    if (pair % 2 == 0) { // two sections of one array
      b = a, b.data = static_cast<std::byte*>(b.data) + any(-40, 40);
      for (int d = 0; d < b.rank; ++d) b.extents[d] = any(1, 4);
    }
    bool is_shared = false;
    for_each_byte(a, [&](std::size_t byte) { seen[byte] = pair; });
    for_each_byte(b, [&](std::size_t byte) { is_shared = is_shared || seen[byte] == pair; });
    ++answers[is_shared ? 1 : 0];
    REQUIRE_MESSAGE(share_elements(a, b) == is_shared, "pair " << pair);
    REQUIRE_MESSAGE(share_elements(b, a) == is_shared, "pair " << pair << ", turned round");
  }
  CHECK((answers[0] > 20'000 && answers[1] > 20'000));
}

TEST_CASE("exchange: long arrays are not walked to see whether they share elements") {
  std::int64_t const many = 1'000'000'000;
  CHECK_FALSE(share_elements(at(0, 8, {{many, 6}, {2, 1}}), at(16, 8, {{many, 6}, {2, 1}})));
  CHECK(share_elements(at(0, 8, {{many, 6}, {3, 1}}), at(16, 8, {{many, 6}, {2, 1}})));
  CHECK_FALSE(share_elements(at(0, 8, {{many, 6}}), at(8, 8, {{many, 4}}))); // odd and even places
  CHECK(share_elements(at(0, 8, {{many, 6}}), at(16, 8, {{many, 4}})));
  CHECK_FALSE(share_elements(at(0, 8, {{1000, 1'000'003}, {1000, 2}}), at(8, 8, {{100, 2'000'004}, {1000, 2}})));
}
