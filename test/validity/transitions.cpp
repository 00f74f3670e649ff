// SPDX-License-Identifier: MIT
#include <keel/validity/transitions.hpp>

#include <support/test.hpp>

namespace kr = keel::residency;

namespace {

constexpr kr::memory one{1}, last{kr::max_memories - 1};

} // namespace

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
