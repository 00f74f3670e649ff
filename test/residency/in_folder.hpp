// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A folder for the files of so many ranks: tests run beside each other. And runs on other numbers of ranks.

#include "run.hpp"

#include <keel/machine/collectives.hpp>
#include <keel/machine/mpi.hpp>

#include <support/test.hpp>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

namespace test {

struct in_folder {
  explicit in_folder(auto const& env) {
    std::string const name = "files-of-" + std::to_string(env.size());
    if (env.rank() == 0) std::filesystem::create_directory(name);
    keel::machine::barrier(env);
    std::filesystem::current_path(name);
  }
  ~in_folder() { std::filesystem::current_path(".."); }
  in_folder(in_folder const&) = delete;
  in_folder& operator=(in_folder const&) = delete;
};

/// Calls f(run) on so many ranks; all wait for its end.
void on_ranks(int ranks, std::string_view device, auto const& f) {
  if (run<keel::machine::mpi> some(device, ranks); some.environment().is_member()) f(some);
  keel::machine::barrier(keel::machine::basic_environment<keel::machine::mpi>());
}
/// Calls f(ranks that write, ranks that read). Of many ranks some numbers do.
void for_numbers_of_ranks(auto const& f) {
  keel::machine::basic_environment<keel::machine::mpi> const world;
  in_folder const here(world);
  std::vector<int> numbers{3, world.size()};
  if (world.size() <= 3) numbers.resize(std::size_t(world.size())), std::iota(numbers.begin(), numbers.end(), 1);
  for (int const before : numbers)
    for (int const after : numbers) {
      CAPTURE(before);
      CAPTURE(after);
      f(before, after);
    }
}
/// What f(run) gives on the first rank, and elsewhere nothing, is the same on any number of ranks and on either device.
void check_same_on_all_ranks(auto const& f) {
  std::vector<double> first;
  int const most = std::min(keel::machine::basic_environment<keel::machine::mpi>().size(), 6);
  for (int ranks = 1; ranks <= most; ++ranks)
    for (std::string_view const device : {host::name, std::string_view("simulated")})
      on_ranks(ranks, device, [&](auto& some) {
        std::vector<double> const now = f(some);
        if (first.empty()) first = now;
        CHECK(now == first);
      });
}

} // namespace test
