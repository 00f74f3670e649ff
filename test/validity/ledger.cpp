// SPDX-License-Identifier: MIT
#include <keel/validity/ledger.hpp>

#include "trial.hpp"

#include <keel/policy/error.hpp>

#include <support/test.hpp>

#include <bit>
#include <random>

namespace kr = keel::residency;
using test::by, test::recording_provider, test::trial;

namespace {

static_assert(kr::Provider<recording_provider>);

constexpr kr::memory first_device{1}, second_device{2};

using keel::test::message_of, keel::test::refuses;

} // namespace

TEST_CASE("residency: the provider is asked in its own words, and coalesced") {
  trial t(2, {{2, {10, 20, 30}}, {2, {1, 2, 3}}});
  CHECK(t.run(1, {{0, 0, 0, oracle::owned}, {1, 0, 0, oracle::owned}}));
  t.provider.writes_down = true;
  kr::request const rims[] = {{0, 0, kr::region::rim, kr::region::ghosts}, {1, 0, kr::region::rim, kr::region::ghosts}};
  t.book.pre_sync(rims);
  t.book.post_sync(rims);
  kr::request const all[] = {{0, 0, kr::region::everywhere, kr::region::none},
                             {1, 0, kr::region::everywhere, kr::region::none}};
  t.book.pre_call(all, first_device, "reader");
  t.book.cycle(0);
  t.book.copy_from_past(0);
  CHECK(t.provider.calls ==
        std::vector<std::string>{"pre_sync", "post_sync", "copy_cycle", "copy_from_past", "copy_from_past"});
}

TEST_CASE("residency: what a device has does not come to the host on its behalf") {
  trial t(3, {{1, {1}}, {1, {1}}});
  CHECK(t.run(1, {{0, 0, 0, oracle::core}, {1, 0, 0, oracle::core}}));
  CHECK(t.run(0, {{0, 0, oracle::core, 0}}));
  t.provider.answers = kr::answer::moved; // so that both devices have it, and the host has not
  CHECK(t.run(2, {{0, 0, oracle::core, 0}}));
  t.provider.answers = kr::answer::copied;
  CHECK(t.run(2, {{0, 0, oracle::core, 0}, {1, 0, oracle::core, 0}}));
  CHECK(t.provider.bytes_to_host == 2);
}

TEST_CASE("residency: a list that needs more than one batch of copies gets all of them") {
  trial t(3, std::vector<oracle::variable>(200, {1, {1, 2, 4}}));
  std::vector<oracle::access> writes, reads;
  for (int v = 0; v < 200; ++v)
    writes.push_back({v, 0, 0, oracle::everywhere}), reads.push_back({v, 0, oracle::owned, 0});
  for (int writer = 0; writer < 3; ++writer)
    for (int reader = 0; reader < 3; ++reader) CHECK((t.run(writer, writes) && t.run(reader, reads)));
  CHECK(t.is_minimal());
}

TEST_CASE("residency: every rank refuses the same reads, also where a region has bytes on others alone") {
  recording_provider provider{3};
  kr::ledger<recording_provider> book{provider, 3};
  provider.add(1, {8, 0, 0, 0});
  (void)book.add("a", 1, {8, 0, 0, 0}, {}, kr::region::owned | kr::region::ghosts);
  auto const said = [&](kr::region where, kr::memory m) {
    return message_of([&] { book.require_valid_data(0, 0, where, m, "r"); });
  };
  book.notify_data_modified(0, 0, kr::core, first_device);
  CHECK(said(kr::region::rim, kr::host).find("routine r reads a, level 0, rim, valid nowhere") != std::string::npos);
  CHECK(said(kr::region::halo, second_device).find("halo, valid nowhere") != std::string::npos);
  CHECK(said(kr::region::walls, first_device).find("walls, valid nowhere") != std::string::npos);
  book.notify_data_modified(0, 0, kr::region::everywhere, first_device);
  book.open(first_device);
  CHECK(said(kr::region::rim | kr::region::walls, second_device).empty());
  CHECK(book.is_valid(0, 0, kr::region::rim, second_device));
  CHECK(provider.copies == 0); // of nothing
  provider.writes_down = true;
  book.require_invalid_data(0, 0, kr::region::rim, kr::host); // so nothing is waited for
  kr::request const rims{0, 0, kr::region::rim, kr::region::none};
  book.notify_data_modified(0, 0, kr::region::everywhere, first_device);
  book.begin_to_host({&rims, 1}, "r", {});
  CHECK(book.is_valid(0, 0, kr::region::rim, kr::host));
  CHECK(provider.calls.empty());
  CHECK(said(kr::region::everywhere, second_device).empty());
  CHECK(provider.bytes_to_host == 8);
  CHECK(provider.bytes_to_device == 8);
}

TEST_CASE("residency: after an allocation that failed in add, no call reaches an array that was never made") {
  for (int first : {0, 1}) {
    recording_provider provider{2};
    kr::ledger<recording_provider> book{provider, 2};
    for (int v = 0; v < 2; ++v) provider.add(2, {1, 1, 1});
    (void)book.add("a", 2);
    book.open(kr::host);
    book.open(first_device);
    book.notify_data_modified(0, 1, kr::region::everywhere, first_device);
    provider.creates_until_failure = first; // on the host, or on the device
    CHECK(refuses([&] { (void)book.add("b", 2); },
                  first == 0 ? "memory 0 has no room for b" : "memory 1 has no room for b"));
    book.copy_from_past(0);
    book.copy_from_past(1);
    kr::request const all[] = {{0, 0, kr::region::everywhere, kr::region::none}};
    book.poison(all, kr::host, {});
    book.copy_back(book.find_all("all"), true, "output");
    CHECK(book.is_valid(0, 1, kr::region::everywhere, kr::host));
    book.notify_data_modified(1, 0, kr::region::everywhere, kr::host);
    book.require_valid_data(1, 0, kr::region::everywhere, first_device);
    CHECK(provider.bytes_to_device == 3);
  }
}

TEST_CASE("residency: what a ledger cannot do is refused, and nothing has changed") {
  trial t(2, {{1, {1, 1, 1}}, {2, {1, 1, 1}}});
  CHECK(t.run(0, {{0, 0, 0, oracle::everywhere}}));
  CHECK(refuses([&] { t.book.copy_from_past(0); },
                "the current level of v0 cannot be copied from the past (it has one level alone)"));
  CHECK(t.book.is_valid(0, 0, kr::region::everywhere, kr::host));
  CHECK_FALSE(t.book.is_valid(1, 0, kr::core, kr::host));
  recording_provider provider{1};
  CHECK(refuses([&] { kr::ledger<recording_provider>{provider, 0}; }, "0 memories are refused"));
  CHECK(refuses([&] { kr::ledger<recording_provider>{provider, 6}; },
                "6 memories are refused (the host's counts, and there are at most 5)"));
  CHECK(refuses([&] { kr::ledger<recording_provider>{provider, 2, 0}; }, "0 components are refused"));
  CHECK_NOTHROW((kr::ledger<recording_provider>{provider, 1}));
  CHECK_NOTHROW((kr::ledger<recording_provider>{provider, 5, 1}));
}

TEST_CASE("residency: each variable is created once in each memory, whenever it is added") {
  recording_provider provider{3};
  provider.writes_down = true;
  kr::ledger<recording_provider> book{provider, 3};
  auto const created = [&] { return std::count(provider.calls.begin(), provider.calls.end(), "create"); };
  for (int v = 0; v < 3; ++v) provider.add(2, {1, 1, 1});
  (void)book.add("a", 2);
  (void)book.add("b", 2);
  CHECK(created() == 0);
  kr::request const one{0, 0, kr::region::none, kr::region::everywhere};
  for (int n = 0; n < 3; ++n) {
    book.pre_call({&one, 1}, first_device, "writer");
    book.post_call({&one, 1}, first_device);
    book.require_valid_data(0, 0, kr::region::everywhere, kr::host);
    book.cycle(0);
    book.copy_back(book.find_all("all"), true, "output");
  }
  CHECK(created() == 4);
  (void)book.add("c", 2);
  CHECK(created() == 6);
  book.open(second_device);
  book.open(second_device);
  CHECK(created() == 9);
}

TEST_CASE("residency: reading what is valid nowhere, and an unknown variable, are errors with names") {
  trial t(2, {{2, {1, 1, 1, 1}}});
  auto const said = [&](int level, kr::region where) {
    return message_of([&] { t.book.require_valid_data(0, level, where, kr::host, "rhs"); });
  };
  CHECK(said(1, kr::region::owned).find("keel::residency: routine rhs reads v0, level 1, core, valid nowhere") == 0);
  CHECK(said(0, kr::region::walls).find("rhs reads v0, level 0, walls, valid nowhere") != std::string::npos);
  CHECK(said(0, kr::region::walls).find("writes<walls<...>>") != std::string::npos);
  kr::request const both{0, 0, kr::region::rim, kr::region::ghosts};
  CHECK(refuses([&] { t.book.pre_sync({&both, 1}); }, "routine exchange reads v0, level 0, rim, valid nowhere"));
  CHECK(refuses([&] { (void)t.book.find("temperature"); }, "there is no variable temperature"));
  CHECK(refuses([&] { (void)t.book.add("v0", 1); }, "two variables v0"));
  CHECK(t.provider.copies == 0);
}

TEST_CASE("residency: an exchange that names all ghosts leaves walls as they are, and nothing has no bytes to lose") {
  trial t(2, {{1, {8, 4, 2, 1}}, {1, {4, 0, 0}}});
  CHECK(t.run(1, {{0, 0, 0, oracle::everywhere}}));
  kr::request const both{0, 0, kr::region::rim, kr::region::ghosts};
  t.book.pre_sync({&both, 1});
  t.book.post_sync({&both, 1});
  CHECK(t.book.is_valid(0, 0, kr::region::walls, first_device));
  CHECK_FALSE(t.book.is_valid(0, 0, kr::region::walls, kr::host));
  CHECK(t.book.is_valid(1, 0, kr::region::rim | kr::region::ghosts, kr::host));
}

TEST_CASE("residency: names are found in whatever order they were added, each once") {
  recording_provider provider{1};
  kr::ledger<recording_provider> book{provider};
  std::vector<std::string> const names{"u", "eta", "v", "du", "a", "eta2", "z"};
  for (std::string const& name : names) (void)book.add(name, 1);
  for (std::size_t i = 0; i < names.size(); ++i) {
    CHECK(book.find(names[i]) == int(i));
    CHECK(refuses([&] { (void)book.add(names[i], 1); }, "two variables " + names[i]));
  }
  CHECK(book.variables() == int(names.size()));
}

TEST_CASE("residency: after a copy from the past that failed nothing of the level is valid, its walls neither") {
  for (int n : {0, 1}) { // in the first memory, or in the second
    trial t(2, {{2, {10, 20, 30, 40}}});
    CHECK(t.run(1, {{0, 0, 0, oracle::everywhere}, {0, 1, 0, oracle::everywhere}}));
    CHECK(t.run(0, {{0, 1, oracle::everywhere, 0}}));
    t.provider.fails_in = n;
    CHECK(message_of([&] { t.book.copy_from_past(0); }).find("from level 1 to level 0 failed") != std::string::npos);
    t.provider.fails_in = -1;
    kr::request const inside{0, 0, kr::region::none, kr::region::inside};
    t.book.pre_call({&inside, 1}, kr::host, "writer");
    t.book.post_call({&inside, 1}, kr::host);
    kr::request const all{0, 0, kr::region::everywhere, kr::region::none};
    CHECK(message_of([&] { t.book.pre_call({&all, 1}, kr::host, "reader"); }).find("v0, level 0, walls") !=
          std::string::npos);
    t.book.copy_from_past(0);
    t.book.pre_call({&all, 1}, kr::host, "reader");
  }
}

TEST_CASE("residency: every operation from every state does what the oracle says, and moves no byte too many") {
  std::string first_mistake;
  long wrong = 0;
  // Puts region after region of a level into the memories that have a bit in `held`; where no device has it, the host
  // wrote it, and where `by_host` says so.
  auto const lead = [](trial& t, int level, unsigned held, int memories, bool by_host) {
    for (int r = 0; r < 3; ++r) {
      unsigned const here = held >> memories * r & ((1U << memories) - 1), devices = here & ~1U;
      int const writer = devices == 0 || (by_host && (here & 1U) != 0) ? 0 : std::countr_zero(devices);
      if (here != 0) t.run(writer, {{0, level, 0, 1U << r}});
      for (int m = 0; m < memories; ++m)
        if ((here >> m & 1U) != 0 && m != writer) t.run(m, {{0, level, 1U << r, 0}});
    }
  };
  auto const check = [&](trial& t, int levels, int memories) {
    for (int l = 0; l < levels; ++l) // what each memory says that it has, it has
      for (int n = 0; n < 3 * memories; ++n) t.run(n / 3, {{0, l, 1U << n % 3, 0}});
    wrong += !t.settle() || !t.is_minimal();
    if (first_mistake.empty()) first_mistake = t.first_mistake;
  };
  for (unsigned held = 0; held < 1U << 9; ++held) {
    if ((held & 7) == 6 || (held >> 3 & 7) == 6 || held >> 6 == 6) continue; // copies between devices leave one there
    for (unsigned n = 0; n < 3 * 64; ++n) {
      trial t(3, {{1, {5, 7, 11, 0}}});
      lead(t, 0, held, 3, (held + n) % 2 != 0);
      constexpr by ways[] = {by::list, by::prepared, by::poisoned, by::failing};
      t.run(int(n % 3), {{0, 0, n / 3 % 8, n / 24}}, ways[(held + n) / 2 % 4]);
      check(t, 1, 3);
    }
  }
  for (unsigned held = 0; held < 1U << 12; ++held)
    for (int operation = 0; operation < 7; ++operation) {
      trial t(2, {{2, {5, 7, 11, 0}}});
      for (int l : {1, 0}) lead(t, l, held >> 6 * l & 63U, 2, (int(held) + operation) % 2 != 0);
      switch (operation) {
      case 0: t.cycle(0); break;
      case 1: t.rewind(0); break;
      case 2: t.cycle_in_place(0); break;
      case 3: t.copy_from_past(0); break;
      case 4: t.exchange(0, int(held % 2)); break;
      default: t.copy_back({0}, operation == 5);
      }
      check(t, 2, 2);
    }
  CHECK_MESSAGE(wrong == 0, first_mistake);
}

TEST_CASE(
    "residency: random programs, some copies of which begin early or fail, read what was written last and move no byte too many") {
  char const* const asked = std::getenv("KEEL_TEST_SEQUENCES");
  long const sequences = asked ? std::atol(asked) : 1'000'000;
  char const* const seed = std::getenv("KEEL_TEST_SEED"); // another part of a long run
  std::mt19937_64 random(seed ? std::strtoull(seed, nullptr, 10) : 20'120'517);
  auto const below = [&](int n) { return int(random() % std::uint64_t(n)); };
  std::string first_mistake;
  long wrong = 0, dear = 0, begun = 0, failures = 0;
  for (long s = 0; s < sequences; ++s) {
    int const memories = 2 + below(4), components = s % 5 == 0 ? 2 + below(2) : 1;
    bool const has_holes = below(8) == 0; // variables without a core, or of nothing else
    std::vector<oracle::variable> variables{{1, {3, 5, 7, 2}}, {2, {11, 13, 17}}, {3, {19, 23, 29, 31}}};
    if (has_holes) variables = {{1, {3, 0, 0}}, {2, {0, 13, 17}}, {3, {19, 23, 0, 31}}};
    trial t(memories, variables, below(2) == 0, components);
    t.begins = trial::early(s % 3);
    t.fails = s % 4 == 0, t.provider.waits_fail = s % 8 == 0;
    bool const moves = s % 16 == 3; // a copy leaves nothing where it was
    if (moves) t.begins = trial::early::none, t.provider.answers = kr::answer::moved;
    for (int v = 0; v < 3 && t.fails; ++v)
      for (int l = 0; l <= v; ++l) wrong += !t.run(1, {{v, l, 0, oracle::everywhere}});
    for (int n = 0; n < 24 && !t.provider.failed_wait; ++n) wrong += !t.play(below);
    if (!t.provider.failed_wait) wrong += !t.settle();
    if (first_mistake.empty()) first_mistake = t.first_mistake;
    dear += t.begins != trial::early::any && !moves && !t.provider.failed_wait && !t.is_minimal();
    begun += t.begun, failures += t.failures;
  }
  CHECK_MESSAGE(wrong == 0, first_mistake);
  CHECK(dear == 0);
  CHECK(begun > sequences / 4);
  CHECK(failures > sequences / 20);
}

TEST_CASE("residency: whichever allocation fails, the error names it, and the next call goes on") {
  for (int place = 0; place < 6; ++place) {
    recording_provider provider{2};
    kr::ledger<recording_provider> book{provider, 2};
    for (int v = 0; v < 3; ++v) provider.add(1, {1, 1, 1});
    provider.creates_until_failure = place;
    std::string text;
    auto const until_it_works = [&](auto const& f) {
      for (int n = 0; n < 2; ++n) {
        std::string const said = message_of(f);
        if (said.empty()) return;
        text += said;
      }
      CHECK_MESSAGE(false, text);
    };
    (void)book.add("a", 1);
    (void)book.add("b", 1);
    kr::request const write[] = {{0, 0, kr::region::none, kr::region::everywhere},
                                 {1, 0, kr::region::none, kr::region::everywhere}};
    kr::request const read[] = {{0, 0, kr::region::everywhere, kr::region::none},
                                {1, 0, kr::region::everywhere, kr::region::none}};
    until_it_works([&] { book.pre_call(write, first_device, "writer"); });
    book.post_call(write, first_device);
    until_it_works([&] { book.pre_call(read, kr::host, "reader"); });
    CHECK(book.is_valid(1, 0, kr::region::everywhere, kr::host));
    std::string const third = message_of([&] { (void)book.add("c", 1); });
    text += third;
    kr::request const last{book.find("c"), 0, kr::region::none, kr::region::everywhere};
    until_it_works([&] { book.pre_call({&last, 1}, kr::host, "late"); });
    until_it_works([&] { book.open(first_device); });
    CHECK(text.find("has no room for ") != std::string::npos);
    CHECK(text.find(place < 2   ? "for routine writer"
                    : place < 4 ? "for routine reader"
                                : "for routine the caller") != std::string::npos);
    CHECK(text.find(std::string("room for ") + (place == 0 || place == 2 ? "a"
                                                : place < 4              ? "b"
                                                                         : "c")) != std::string::npos);
  }
}

TEST_CASE("residency: routines in one memory need and do together what they need and do one after the other") {
  std::mt19937_64 random(104'729);
  auto const below = [&](int n) { return int(random() % std::uint64_t(n)); };
  constexpr int variables = 2;
  trial t(1, {{1, {1, 1, 1, 1}}, {1, {1, 1, 1, 1}}});
  for (int v = 0; v < variables; ++v) t.book.set_layers(v, 3);
  std::uint64_t wrong = 0, answered = 0, asked = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::vector<kr::prepared> calls;
    kr::prepared whole;
    bool is_closed = true;
    for (int n = 1 + below(4); n > 0; --n) {
      std::vector<kr::request> list;
      for (int v = 0; v < variables; ++v)
        if (below(3) != 0)
          list.push_back({v, 0, kr::region(below(2) * below(16)), kr::region(below(2) * below(16)),
                          std::uint8_t(1 + below(3)), std::uint8_t(1 + below(3))});
      is_closed = whole.append(calls.emplace_back(t.book.prepare(list, kr::host, "one"))) && is_closed;
    }
    for (unsigned n = 0; n < 1U << (4 * variables); ++n) {
      kr::validity before[variables], after[variables];
      for (unsigned v = 0; v < variables; ++v)
        before[v] = bits_of(kr::region(n >> 4 * v & 15U), kr::host) | kr::detail::layer_bits(below(4), 3);
      std::copy_n(before, variables, t.book.states());
      bool const is_ready = is_closed && t.book.is_ready(whole);
      t.book.post_call(whole);
      std::copy_n(t.book.states(), variables, after);
      std::copy_n(before, variables, t.book.states());
      bool can = true;
      for (kr::prepared const& one : calls) {
        can = can && t.book.is_ready(one);
        t.book.post_call(one);
      }
      wrong += is_ready != can || (can && !std::equal(after, after + variables, t.book.states()));
      ++(is_ready ? answered : asked);
    }
  }
  CHECK(wrong == 0);
  CHECK(answered > 500'000);
  CHECK(asked > 500'000);
}
