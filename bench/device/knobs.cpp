// SPDX-License-Identifier: MIT
/// @file
/// What knobs cost: reading twenty options, asking how many threads run, and a start that looks at no node. Medians.
#include "../medians.hpp"

#include <keel/device.hpp>

#include <chrono>
#include <cstdio>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using clock = std::chrono::steady_clock;
namespace kd = keel::device;

struct app : keel::defaults {
  using devices = keel::where_supported<keel::list<keel::serial, keel::openmp, keel::tbb>>;
  using ranks = keel::machine::alone;
  static constexpr std::string_view prefix = "bench";
};
using host = std::conditional_t<keel::supported<keel::tbb>, keel::tbb,
                                std::conditional_t<keel::supported<keel::openmp>, keel::openmp, keel::serial>>;

/// Microseconds of one call: the median of 101 times `calls` of them.
template <class F>
double measured(int calls, F const& f) {
  std::vector<double> all;
  for (int turn = 0; turn < 101; ++turn) all.push_back(bench::microseconds(calls, f));
  return bench::median(all);
}

/// argc and argv of a program.
struct arguments {
  explicit arguments(std::vector<std::string> all) : words(std::move(all)) {
    for (auto& w : words) pointers.push_back(w.data());
    pointers.push_back(nullptr);
    count = int(words.size());
  }
  std::vector<std::string> words;
  std::vector<char*> pointers;
  int count = 0;
};

void keep(int value) { asm volatile("" : : "r"(value) : "memory"); }

} // namespace

int main() {
  std::vector<std::string> words{"app"}, own{"app"};
  for (int i = 0; i < 5; ++i) {
    words.insert(words.end(), {"--bench-num-threads=1", "--bench-log-level=error", "in.txt", "--kokkos-x"});
    own.insert(own.end(), {"--own=1", "in.txt", "-v", "out.txt"});
  }
  arguments twenty{words}, none{own};
  std::printf("what                                         us\n");
  auto const row = [](char const* what, double us) { std::printf("%-40s %7.3f\n", what, us); };
  row("20 arguments read, 10 of them knobs", measured(200, [&] {
        keep(int(kd::read_arguments("bench", twenty.count, twenty.pointers.data()).knobs.size()));
      }));
  row("20 arguments read, none of them keel's",
      measured(200, [&] { keep(int(kd::read_arguments("bench", none.count, none.pointers.data()).rest.size())); }));
  row("the environment read", measured(200, [&] { keep(int(kd::read_environment("bench").knobs.size())); }));
  row("a start and its end, no node, no Kokkos", measured(20, [&] {
        arguments a{own};
        keel::runtime<app> run{a.count, a.pointers.data()};
        keep(run.environment().size());
      }));
  arguments a{own};
  keel::runtime<app> run{a.count, a.pointers.data()};
  row("threads() before a device runs", measured(2000, [&] { keep(run.configuration<host>().threads().value_or(1)); }));
  auto const begun = clock::now();
  run.start_devices();
  row("start of Kokkos, once", std::chrono::duration<double, std::micro>(clock::now() - begun).count());
  if constexpr (keel::device_traits<host>::has_threads) {
    row("device_traits<Tag>::threads()", measured(2000, [&] { keep(keel::device_traits<host>::threads()); }));
    row("threads() while it runs", measured(2000, [&] { keep(run.configuration<host>().threads().value_or(1)); }));
  }
}
