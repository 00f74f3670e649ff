// SPDX-License-Identifier: MIT
#include <keel/policy/forks.hpp>

#include <support/test.hpp>

#include <sys/wait.h>
#include <unistd.h>

TEST_CASE("policy: a child, and a child of a child, know that they were forked, and their parents do not") {
  using keel::policy::forks, keel::policy::is_forked_since;
  unsigned const here = forks();
  pid_t const child = fork();
  if (child == 0) {
    bool good = is_forked_since(here) && !is_forked_since(forks());
    unsigned const there = forks();
    pid_t const grandchild = fork();
    if (grandchild == 0) _exit(is_forked_since(there) && is_forked_since(here) ? 0 : 1);
    int status = 1;
    waitpid(grandchild, &status, 0);
    _exit(good && status == 0 && !is_forked_since(there) ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK_FALSE(is_forked_since(here));
}
