// SPDX-License-Identifier: MIT
#include <keel/policy/forks.hpp>

#include <support/test.hpp>
#include <space/in_child.hpp>

TEST_CASE("policy: a child, and a child of a child, know that they were forked, and their parents do not") {
  using keel::policy::forks, keel::policy::is_forked_since;
  unsigned const here = forks();
  auto const child = keel::test::in_child([&] {
    bool const good = is_forked_since(here) && !is_forked_since(forks());
    unsigned const there = forks();
    auto const grandchild = keel::test::in_child([&] { return is_forked_since(there) && is_forked_since(here); });
    return good && grandchild.status == 0 && !is_forked_since(there);
  });
  CHECK(child.status == 0);
  CHECK_FALSE(is_forked_since(here));
}
