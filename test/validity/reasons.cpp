// SPDX-License-Identifier: MIT
#include <keel/validity/reasons.hpp>

#include "recording_provider.hpp"

#include <keel/policy/error.hpp>
#include <keel/validity/ledger.hpp>
#include <keel/validity/trace.hpp>

#include <support/test.hpp>

namespace kr = keel::residency;
using test::recording_provider;

namespace {

constexpr kr::memory first_device{1};
static_assert(kr::Observer<kr::unobserved> && kr::Observer<kr::reasons> && kr::Observer<kr::trace>);
static_assert(sizeof(kr::ledger<recording_provider>) < sizeof(kr::ledger<recording_provider, kr::reasons>));

using keel::test::message_of;

} // namespace

TEST_CASE("residency: a ledger with reasons says why what is read is valid nowhere") {
  recording_provider provider(2);
  kr::ledger<recording_provider, kr::reasons> book(provider);
  provider.add(2, {1, 1, 1});
  int const v = book.add("eta", 2);
  book.observer().name_memories({"host", "simulated"});
  auto const why = [&](int level, kr::region r) {
    return message_of([&] { book.require_valid_data(v, level, r, kr::host, "rhs"); });
  };
  CHECK(why(0, kr::core).find("routine rhs reads eta, level 0, core, valid nowhere (it was never written)") !=
        std::string::npos);

  book.observer().begin_step(3);
  kr::request const writes[] = {{v, 0, kr::region::none, kr::region::owned}};
  book.post_call(writes, first_device, {}, "advance");
  CHECK(
      why(0, kr::region::ghosts)
          .find(
              "(routine advance wrote the cells that it copies, on simulated in step 3, and there was no exchange since)") !=
      std::string::npos);
  CHECK(book.observer().why(v, 0, 0, kr::core) == "routine advance wrote it on simulated in step 3");

  book.observer().begin_step(4);
  book.cycle(v);
  CHECK(why(0, kr::core).find("(the levels cycled in step 4, and it was not written since)") != std::string::npos);
  CHECK(book.observer().why(v, 1, 0, kr::core) == "routine advance wrote it on simulated in step 3");
  book.lose(writes, {}, "heat");
  CHECK(why(0, kr::region::rim).find("(routine heat failed in step 4, and may have written a part)") !=
        std::string::npos);
}

TEST_CASE("residency: reasons are kept for each component, and cycle with the levels") {
  recording_provider provider(2, 2);
  kr::ledger<recording_provider, kr::reasons> book(provider, 2, 2);
  provider.add(3, {1, 1, 1});
  int const v = book.add("u", 3);
  for (int step = 1; step <= 2; ++step) {
    book.observer().begin_step(step);
    book.cycle(v);
    book.notify_data_modified(v, 0, kr::region::owned, first_device, {1, 2});
  }
  CHECK(book.observer().why(v, 0, 1, kr::core) == "routine the caller wrote it on memory 1 in step 2");
  CHECK(book.observer().why(v, 1, 1, kr::core) == "routine the caller wrote it on memory 1 in step 1");
  CHECK(book.observer().why(v, 0, 0, kr::core) == "the levels cycled in step 2, and it was not written since");
  CHECK(book.observer().why(v, 2, 0, kr::core) == "it was never written");
}

TEST_CASE("residency: a ledger is ready for what is valid, and a region has one byte where none are said") {
  recording_provider provider(2);
  kr::ledger<recording_provider> book(provider);
  provider.add(1, {1, 1, 1});
  int const v = book.add("x", 1);
  kr::request const writes[] = {{v, 0, kr::region::none, kr::region::everywhere}};
  kr::request const reads[] = {{v, 0, kr::region::everywhere, kr::region::none}};
  CHECK_FALSE(book.is_ready(reads, kr::host, {}));
  book.post_call(writes, kr::host, {}, "rhs");
  CHECK(book.is_ready(reads, kr::host, {}));
  CHECK_FALSE(book.is_ready(reads, first_device, {}));
  book.acquire(reads, first_device, "rhs", {});
  CHECK(book.is_ready(reads, first_device, {}));
  CHECK(book.traffic().bytes(kr::way::to_device) == 3);
}
