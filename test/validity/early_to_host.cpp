// SPDX-License-Identifier: MIT
/// @file
/// Copies to the host that begin before their reader: the book takes what arrives for the device's newest, or forgets
/// it.
#include <keel/validity/ledger.hpp>

#include "trial.hpp"

#include <support/test.hpp>

namespace kr = keel::residency;
using keel::test::message_of, keel::test::refuses;
using test::recording_provider, test::trial;

namespace {

constexpr kr::memory first_device{1};
using words = std::vector<std::string>;

// One that cannot.
struct patient : recording_provider {
  using recording_provider::recording_provider;
  void begin_to_host(std::span<kr::transfer const>) = delete;
};
static_assert(kr::StartsToHost<recording_provider>);
static_assert(kr::Provider<patient> && !kr::StartsToHost<patient>);

// A variable of two levels and another, written on the first device, of which level 0 is on its way to the host.
struct under_way : trial {
  under_way() : trial(3, {{2, {10, 20, 30}}, {1, {1, 1, 1}}}) {
    CHECK(run(1, {{0, 0, 0, oracle::everywhere}, {0, 1, 0, oracle::everywhere}, {1, 0, 0, oracle::everywhere}}));
    provider.writes_down = true;
    begin_to_host(0, 0, oracle::everywhere);
    CHECK(asked() == words{"begin_to_host"});
    CHECK(provider.is_pending(first_device));
    CHECK_FALSE(book.is_valid(0, 0, kr::region::core, kr::host));
  }
  // What the provider was asked since the last time.
  words asked() { return std::exchange(provider.calls, {}); }
};

} // namespace

TEST_CASE("residency: a copy to the host that began early does not block and is not made twice") {
  under_way t;
  t.begin_to_host(0, 0, oracle::owned);
  CHECK(t.asked().empty());
  CHECK(t.run(1, {{1, 0, oracle::owned, oracle::owned}}));
  CHECK(t.asked().empty());
  CHECK((t.book.at(0, 0) & kr::slow_path) != 0);
  CHECK(t.run(0, {{0, 0, oracle::everywhere, 0}}));
  CHECK(t.asked() == words{"wait"});
  CHECK((t.book.at(0, 0) & kr::slow_path) == 0);
  CHECK(t.run(0, {{0, 0, oracle::everywhere, 0}}));
  CHECK(t.asked().empty());
  CHECK(t.settle());
  CHECK(t.is_minimal());
}

TEST_CASE("residency: a copy of the past waits for what arrives there, and the host gets it, too") {
  under_way t;
  t.cycle(0);
  t.copy_from_past(0);
  CHECK(t.run(0, {{0, 0, oracle::everywhere, 0}, {0, 1, oracle::everywhere, 0}}));
  CHECK(t.asked() == words{"copy_cycle", "wait", "copy_from_past", "copy_from_past"});
}

TEST_CASE("residency: a copy to the host that fails to begin, or whose writer fails, claims nothing") {
  under_way t;
  kr::request const past{0, 1, kr::region::everywhere, kr::region::none};
  t.provider.fails_in = 0;
  std::string const text = message_of([&] { t.book.begin_to_host({&past, 1}, "reader", {}); });
  CHECK(text.find("a copy of v0, level 1, inside, for routine reader, failed (the bus is on fire)") !=
        std::string::npos);
  CHECK(t.run(0, {{0, 1, oracle::everywhere, 0}}));
  kr::request const update{0, 0, kr::region::owned, kr::region::owned};
  t.begin_to_host(0, 0, oracle::everywhere);
  t.book.lose({&update, 1}, {}, "loser");
  t.book.wait_for_copies();
  CHECK_FALSE(t.book.is_valid(0, 0, kr::core, kr::host));
  CHECK(refuses([&] { t.book.require_valid_data(0, 0, kr::core, kr::host); }, "valid nowhere"));
}

TEST_CASE("residency: where a copy to the host cannot begin early it is made for its reader") {
  patient provider{2};
  provider.add(1, {1, 1, 1});
  kr::ledger<patient> book{provider};
  (void)book.add("v", 1);
  kr::request const write{0, 0, kr::region::none, kr::region::everywhere},
      read{0, 0, kr::region::everywhere, kr::region::none};
  book.pre_call({&write, 1}, first_device, "writer");
  book.post_call({&write, 1}, first_device);
  book.open(kr::host);
  provider.writes_down = true;
  book.begin_to_host({&read, 1}, "reader", {});
  CHECK(provider.calls.empty());
  book.pre_call({&read, 1}, kr::host, "reader");
  CHECK(provider.calls == words{"to_host"});
}
