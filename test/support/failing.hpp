// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Runs a program again and again, each time with another of its allocations or writes failing.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

namespace keel::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool calls_can_fail = false; // sanitizers have an allocator of their own
#elif defined(__has_feature)
inline constexpr bool calls_can_fail = !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer);
#else
inline constexpr bool calls_can_fail = true;
#endif

enum class failing_call : std::uint64_t { allocation = 1, file = 2, plain_file = 3 };

/// `run(variables)` starts a program with these variables before it in a shell, `check(n)` looks at what became of it.
/// About 200 of its calls fail, evenly spread, or each where KEEL_TEST_EVERY is set. Answers how many calls there were.
std::uint64_t fail_one_by_one(failing_call kind, std::string const& numbers, auto const& run, auto const& check) {
  auto const set = [&](std::uint64_t failing) {
    std::array<std::uint64_t, 3> const all{std::uint64_t(kind), failing, 0};
    std::ofstream{numbers, std::ios::binary}.write(reinterpret_cast<char const*>(all.data()), sizeof all);
  };
  struct link { // the loader takes no name with a blank
    std::filesystem::path path =
        std::filesystem::temp_directory_path() / ("keel-failing-calls-" + std::to_string(getpid()) + ".so");
    link() {
      std::filesystem::remove(path);
      std::filesystem::create_symlink(KEEL_FAILING_CALLS, path);
    }
    ~link() { std::filesystem::remove(path); }
  } const loaded;
  std::string const variables = "LD_PRELOAD=" + loaded.path.string() + " KEEL_TEST_CALLS=" + numbers;
  set(0);
  run(variables);
  std::array<std::uint64_t, 3> all{};
  std::ifstream{numbers, std::ios::binary}.read(reinterpret_cast<char*>(all.data()), sizeof all);
  std::uint64_t const step = std::getenv("KEEL_TEST_EVERY") != nullptr ? 1 : std::max<std::uint64_t>(1, all[2] / 200);
  for (std::uint64_t n = 1; n <= all[2]; n += step) {
    set(n);
    run(variables);
    check(n);
  }
  return all[2];
}

} // namespace keel::test
