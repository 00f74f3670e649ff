// SPDX-License-Identifier: MIT
/// @file
/// What a start costs that looks at no node and starts no Kokkos, and then the start of Kokkos. Medians.
#include "../medians.hpp"

#include <keel/device.hpp>

#include <cstdio>
#include <vector>

struct app : keel::defaults {
  using ranks = keel::machine::alone;
  static constexpr std::string_view prefix = "bench";
};

int main() {
  char const* const words[] = {"app", "--own=1", "in.txt", "-v", "out.txt", "--bench-num-threads=1", nullptr};
  auto const start = [&](auto const& then) {
    std::vector<char*> argv;
    for (char const* word : words) argv.push_back(const_cast<char*>(word));
    int argc = int(argv.size()) - 1;
    keel::runtime<app> run{argc, argv.data()};
    then(run);
  };
  std::vector<double> all;
  for (int turn = 0; turn < 101; ++turn) all.push_back(bench::microseconds(20, [&] { start([](auto&) {}); }));
  std::printf("%-44s %9.3f\n", "a start and its end, no node, no Kokkos, us", bench::median(all));
  start([](auto& run) {
    std::printf("%-44s %9.3f\n", "start of Kokkos, once, us", bench::microseconds(1, [&] { run.start_devices(); }));
  });
}
