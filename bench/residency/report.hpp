// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Rows of a table: what was measured, beside whom, and whether it is what was wanted.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <string>
#include <unistd.h>

namespace bench {

/// One row; `met` is said of numbers, not of taste.
inline void print(std::string const& quantity, std::string const& keel, std::string const& peers,
                  std::string const& wanted, bool met) {
  std::printf("| %-66s | %-26s | %-58s | %-20s | %-3s |\n", quantity.c_str(), keel.c_str(), peers.c_str(),
              wanted.c_str(), met ? "yes" : "no");
  std::fflush(stdout);
}
inline void print_head() {
  std::printf("| %-66s | %-26s | %-58s | %-20s | met |\n|---|---|---|---|---|\n", "quantity", "keel", "beside",
              "wanted");
}

/// Text of a number with `digits` after the point; a dash where it is not one.
inline std::string text(double x, int digits = 2) {
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, "%.*f", digits, x);
  return std::isnan(x) ? "-" : buffer;
}

/// Whose time counts: this thread's own, where nobody else works for it, or that on the wall.
enum class clock_of { thread, wall };

/// Median of 9 times of `work(n)`, in nanoseconds for each of the `n`.
template <class Work>
double nanoseconds(clock_of whose, Work&& work, long n) {
  auto const now = [&] {
    timespec t{};
    clock_gettime(whose == clock_of::thread ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return 1e9 * double(t.tv_sec) + double(t.tv_nsec);
  };
  std::array<double, 9> times{};
  work(n);
  for (double& t : times) {
    double const start = now();
    work(n);
    t = (now() - start) / double(n);
  }
  std::nth_element(times.begin(), times.begin() + 4, times.end());
  return times[4];
}

/// Instructions that this program executes in `--count KIND N`, by valgrind where it is installed; else not a number.
inline double instructions_of(std::string const& kind, long n) {
  char self[4096]{};
  std::FILE* const link = popen(("readlink /proc/" + std::to_string(getpid()) + "/exe").c_str(), "r");
  if (link == nullptr || std::fscanf(link, "%4095s", self) != 1) return NAN;
  pclose(link);
  std::string const command = std::string("valgrind --tool=callgrind --callgrind-out-file=/dev/null '") + self +
                              "' --count " + kind + ' ' + std::to_string(n) + " 2>&1 | sed -n 's/.*Collected : //p'";
  std::FILE* const pipe = popen(command.c_str(), "r");
  double counted = NAN;
  if (pipe == nullptr || std::fscanf(pipe, "%lf", &counted) != 1) counted = NAN;
  if (pipe != nullptr) pclose(pipe);
  return counted;
}
/// Instructions for each of `n`: what is executed once cancels.
inline double instructions(std::string const& kind, long n) {
  return (instructions_of(kind, 2 * n) - instructions_of(kind, n)) / double(n);
}

} // namespace bench
