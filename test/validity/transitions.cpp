// SPDX-License-Identifier: MIT
#include <keel/validity/transitions.hpp>

#include <support/test.hpp>

namespace kr = keel::residency;

TEST_CASE("residency: the host is the source wherever it has the region") {
  constexpr kr::memory last{kr::max_memories - 1};
  CHECK(kr::source_of(kr::valid_nowhere, kr::core) == kr::memory::none);
  kr::validity c = kr::after_write(kr::valid_nowhere, kr::region::owned, last);
  CHECK(kr::source_of(c, kr::core) == last);
  CHECK(kr::source_of(c, kr::region::ghosts) == kr::memory::none);
  c = kr::after_copy(c, kr::region::owned, kr::host);
  CHECK(kr::source_of(c, kr::region::rim) == kr::host);
  CHECK(kr::source_of(kr::after_loss(c, kr::core), kr::region::rim) == kr::host);
  CHECK(kr::source_of(kr::after_loss(c, kr::core), kr::core) == kr::memory::none);
}
