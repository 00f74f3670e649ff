// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Runs a program again and again, each time with another of its allocations, writes, messages or copies
/// failing.

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

/// See failing_calls.cpp; `own_allocation` leaves out libraries that die where they have no memory.
enum class failing_call : std::uint64_t { allocation = 1, file = 2, message = 4, copy = 5, own_allocation = 7 };

/// Whether a library ended the program by itself, with words of its own: libgomp where there is no memory for a thread,
/// and MPICH 5 where a rank frees a communicator while a message to it is lost.
[[nodiscard]] inline bool ended_by_library(std::string const& err) {
  return err.find("libgomp: ") != std::string::npos ||
         err.find("Fatal error in internal_Comm_free") != std::string::npos;
}

/// `run(variables)` starts a program with these variables before it in a shell, `check(n)` looks at what became of it.
/// About `most` of its calls fail, evenly spread, or each where KEEL_TEST_EVERY is set; the last always. Answers how
/// many calls there were.
std::uint64_t fail_one_by_one(failing_call kind, std::string const& numbers, auto const& run, auto const& check,
                              std::uint64_t most = 200) {
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
  std::string variables = "LD_PRELOAD=" + loaded.path.string() + " KEEL_TEST_CALLS=" + numbers;
  if (kind == failing_call::copy) variables += " " KEEL_KOKKOS_TOOL "=" + loaded.path.string();
  set(0);
  run(variables);
  std::array<std::uint64_t, 3> all{};
  std::ifstream{numbers, std::ios::binary}.read(reinterpret_cast<char*>(all.data()), sizeof all);
  std::uint64_t const step = std::getenv("KEEL_TEST_EVERY") != nullptr ? 1 : std::max<std::uint64_t>(1, all[2] / most);
  auto const fail = [&](std::uint64_t n) {
    set(n);
    run(variables);
    check(n);
  };
  for (std::uint64_t n = 1; n < all[2]; n += step) fail(n);
  if (all[2] > 0) fail(all[2]); // what a program does last, in destructors
  return all[2];
}

} // namespace keel::test
