// SPDX-License-Identifier: MIT
#include <keel/validity/transitions.hpp>

#include <support/test.hpp>

namespace kr = keel::residency;

namespace {

constexpr kr::memory one{1}, last{kr::max_memories - 1};

// What a reader expects of a write, in the words of the design; runs while compiling and again below.
constexpr bool a_write_is_valid_here_and_nowhere_else() {
  for (int r = 1; r < 16; ++r)
    for (kr::memory m : {kr::host, one, last}) {
      kr::region const where{std::uint8_t(r)};
      kr::validity const before = kr::after_write(kr::valid_nowhere, kr::region::everywhere, kr::host);
      kr::validity const after = kr::after_write(before, where, m);
      for (kr::region single : kr::single_regions) {
        bool const is_written = overlap(single, where);
        bool const is_spoiled = !is_written && single == kr::region::halo && overlap(where, kr::region::owned);
        for (kr::memory k : {kr::host, one, last}) {
          bool const expected = is_written ? k == m : !is_spoiled && k == kr::host;
          if (kr::is_valid(after, single, k) != expected) return false;
        }
      }
    }
  return true;
}
static_assert(a_write_is_valid_here_and_nowhere_else());

} // namespace

TEST_CASE("residency: what is written is valid here and nowhere else, and the ghosts are stale") {
  CHECK(a_write_is_valid_here_and_nowhere_else());
}

TEST_CASE("residency: a write of nothing settles nothing, and one of a region marks it as of now") {
  for (kr::memory const m : {kr::host, one, last}) {
    auto const nothing = kr::masks_of_write(kr::region::none, m);
    CHECK(nothing.settled == 0);
    CHECK(nothing.stale == 0);
    for (int r = 1; r < 16; ++r)
      CHECK((kr::masks_of_write(kr::region{std::uint8_t(r)}, m).settled & kr::slow_path) != 0);
  }
}

TEST_CASE("residency: each memory but the host's has a bit of the copies in flight, and these are all copies") {
  kr::copies_in_flight all = 0;
  for (int m = 1; m < kr::max_memories; ++m) {
    auto const bit = kr::copy_bit(kr::memory(m));
    CHECK((all & bit) == 0);
    all = kr::copies_in_flight(all | bit);
    CHECK((kr::arrival_bits(kr::region::everywhere, kr::memory(m)) & kr::all_copies) == bit);
  }
  CHECK(all == kr::all_copies);
}

TEST_CASE("residency: the host is the source wherever it has the region") {
  CHECK(kr::source_of(kr::valid_nowhere, kr::core) == kr::memory::none);
  kr::validity c = kr::after_write(kr::valid_nowhere, kr::region::owned, last);
  CHECK(kr::source_of(c, kr::core) == last);
  CHECK(kr::source_of(c, kr::region::ghosts) == kr::memory::none);
  c = kr::after_copy(c, kr::region::owned, kr::host);
  CHECK(kr::source_of(c, kr::region::rim) == kr::host);
  CHECK(kr::source_of(kr::after_loss(c, kr::core), kr::region::rim) == kr::host);
  CHECK(kr::source_of(kr::after_loss(c, kr::core), kr::core) == kr::memory::none);
}
