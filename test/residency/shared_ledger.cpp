// SPDX-License-Identifier: MIT
#include <keel/residency/shared_ledger.hpp>

#include "recording_provider.hpp"

#include <doctest/doctest.h>

#include <concepts>
#include <thread>
#include <vector>

namespace kr = keel::residency;
using shared = kr::shared_ledger<test::recording_provider>;

namespace {
template <class T>
concept Tracks = requires(T& t) { t.cycle(0); };
} // namespace

// Nothing of the book can be reached without a turn.
static_assert(!Tracks<shared> && Tracks<kr::ledger<test::recording_provider>>);
static_assert(!std::convertible_to<shared&, kr::ledger<test::recording_provider>&>);

TEST_CASE("residency: threads that take turns at a ledger find it whole") {
  test::recording_provider provider{3};
  shared book{provider, 3};
  constexpr int rounds = 2000, threads = 4;
  for (int v = 0; v < threads; ++v) {
    provider.add(2, {1, 2, 4});
    book.with([&](auto& b) { return b.add("v" + std::to_string(v), 2, {1, 2, 4}); });
  }
  std::vector<std::thread> team;
  for (int v = 0; v < threads; ++v)
    team.emplace_back([&book, v] {
      for (int n = 0; n < rounds; ++n)
        book.with([&](auto& b) {
          kr::request const writes{v, 0, kr::region::none, kr::region::owned},
              reads{v, 0, kr::region::owned, kr::region::none};
          kr::memory const m{std::uint8_t(1 + n % 2)};
          b.pre_call({&writes, 1}, m, "writer");
          b.post_call({&writes, 1}, m);
          b.pre_call({&reads, 1}, kr::host, "reader");
          if (n % 3 == 0) b.cycle(v);
        });
    });
  for (auto& t : team) t.join();
  CHECK(provider.bytes_to_host == 3U * rounds * threads);
  for (int v = 0; v < threads; ++v)
    CHECK(
        book.with([&](auto& b) { return b.is_valid(v, (rounds - 1) % 3 == 0 ? 1 : 0, kr::region::owned, kr::host); }));
}
