// SPDX-License-Identifier: MIT
#include <keel/validity/observer.hpp>

#include "recording_provider.hpp"

#include <keel/policy/error.hpp>
#include <keel/validity.hpp>
#include <keel/validity/ledger.hpp>
#include <keel/validity/reasons.hpp>
#include <keel/validity/trace.hpp>

#include <support/test.hpp>

namespace kr = keel::residency;
using test::recording_provider;

namespace {

// Writes down what it is told.
struct listener {
  static constexpr bool is_told = true;
  std::vector<std::string> heard;

  void add(std::string_view name, int levels, int, kr::region_bytes const& bytes) {
    heard.push_back("add " + std::string(name) + ' ' + std::to_string(levels) + ' ' + std::to_string(bytes[2]));
  }
  void create(int variable, kr::memory m) {
    heard.push_back("create " + std::to_string(variable) + " in " + std::to_string(int(m)));
  }
  void before(std::span<kr::transfer const> batch, std::string_view routine) {
    heard.push_back("before " + std::to_string(batch.size()) + " for " + std::string(routine));
  }
  void after(std::span<kr::transfer const>, std::string_view, bool done) {
    heard.emplace_back(done ? "done" : "failed");
  }
  void before_exchange() {}
  void before_wait() {}
  void after_wait() {}
  void after_exchange(std::span<kr::sent const>, bool) { heard.emplace_back("exchange"); }
  void rotate(int, kr::rotation how) { heard.emplace_back(kr::words_of(how).name); }
  void write(kr::request const& r, int, kr::memory m, std::string_view routine) {
    heard.push_back(std::string(routine) + " writes " + std::string(name_of(r.writes)) + " in " +
                    std::to_string(int(m)));
  }
  void lose(kr::request const&, int, std::string_view routine) { heard.push_back(std::string(routine) + " fails"); }
  [[nodiscard]] std::string why(int, int, int, kr::region) const { return "the listener says so"; }
};

static_assert(kr::Observer<kr::unobserved> && kr::Observer<kr::reasons> && kr::Observer<kr::trace> &&
              kr::Observer<listener>);
static_assert(sizeof(kr::ledger<recording_provider>) < sizeof(kr::ledger<recording_provider, listener>));

} // namespace

TEST_CASE("residency: an observer hears of all that happens, once it has happened") {
  recording_provider provider(2);
  kr::ledger<recording_provider, listener> book(provider);
  provider.add(2, {1, 1, 1});
  int const v = book.add("eta", 2, {1, 1, 7});
  kr::memory const device{1};
  kr::request const writes[] = {{v, 0, kr::region::none, kr::region::everywhere}};
  kr::request const reads[] = {{v, 0, kr::region::everywhere, kr::region::none}};
  auto& heard = book.observer().heard;
  book.pre_call(writes, device, "init");
  book.post_call(writes, device, {}, "init");
  book.pre_call(reads, kr::host, "output");
  book.pre_call(reads, kr::host, "output");
  CHECK(heard == std::vector<std::string>{"add eta 2 7", "create 0 in 1", "init writes everywhere in 1",
                                          "create 0 in 0", "before 1 for output", "done"});
  heard.clear();
  book.cycle(v);
  book.lose(writes, {}, "init");
  CHECK(heard == std::vector<std::string>{"cycle", "init fails"});
}

TEST_CASE("residency: an observer hears of a copy that failed, and gives the reason of a refusal") {
  recording_provider provider(2);
  kr::ledger<recording_provider, listener> book(provider);
  provider.add(1, {1, 1, 1});
  int const v = book.add("eta", 1);
  std::string text;
  try {
    book.require_valid_data(v, 0, kr::core, kr::host);
  } catch (keel::error const& e) {
    text = e.what();
  }
  CHECK(text.find("valid nowhere (the listener says so). Write it first.") != std::string::npos);
  book.notify_data_modified(v, 0, kr::core, kr::host);
  provider.fails_in = 0;
  book.observer().heard.clear();
  CHECK_THROWS_AS(book.require_valid_data(v, 0, kr::core, kr::memory{1}), keel::error);
  CHECK(book.observer().heard == std::vector<std::string>{"create 0 in 1", "before 1 for the caller", "failed"});
}
