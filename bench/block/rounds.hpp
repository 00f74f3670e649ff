// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Variants that take turns in one program, beside a ceiling that is measured before and after each round. A round in
/// which the ceiling moves by more than 10 % is rejected.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace keel::bench {

class rounds {
public:
  struct variant {
    std::string name;
    double units; ///< bytes or elements in one call
    std::function<void()> run;
    std::function<bool()> right = {}; ///< whether the results are what they should be
    std::vector<double> shares = {}, rates = {};
  };

  /// The ceiling first.
  explicit rounds(std::vector<variant> all) : all_(std::move(all)) {}

  /// Runs until `wanted` rounds are accepted, at most three times as many.
  void measure(int wanted, int calls) {
    for (auto& v : all_) v.run(); // touches the pages
    for (tried_ = 0; accepted_ < wanted && tried_ < 3 * wanted; ++tried_) {
      std::vector<double> rate(all_.size());
      rate[0] = timed(all_[0], calls);
      for (std::size_t n = 1; n < all_.size(); ++n) {
        std::size_t const v = 1 + (n - 1 + std::size_t(tried_)) % (all_.size() - 1); // another begins each time
        rate[v] = timed(all_[v], calls);
      }
      double const after = timed(all_[0], calls);
      if (std::abs(after / rate[0] - 1) > 0.1) continue;
      ++accepted_;
      rate[0] = 0.5 * (rate[0] + after);
      for (std::size_t v = 0; v < all_.size(); ++v) {
        all_[v].shares.push_back(rate[v] / rate[0]);
        all_[v].rates.push_back(rate[v]);
      }
    }
  }

  /// A line each; true where all results are right.
  bool print(char const* title, char const* unit) {
    std::printf("%s: %d rounds accepted of %d, share of '%s'\n", title, accepted_, tried_, all_[0].name.c_str());
    std::printf("  %-58s %8s %8s %8s %10s\n", "", "median", "min", "max", unit);
    bool good = true;
    for (auto& v : all_) {
      bool const right = !v.right || v.right();
      good = good && right;
      if (v.shares.empty()) continue;
      std::sort(v.shares.begin(), v.shares.end());
      std::sort(v.rates.begin(), v.rates.end());
      std::printf("  %-58s %8.3f %8.3f %8.3f %10.3f%s\n", v.name.c_str(), v.shares[v.shares.size() / 2],
                  v.shares.front(), v.shares.back(), v.rates[v.rates.size() / 2], right ? "" : "  WRONG RESULT");
    }
    return good && accepted_ > 0;
  }

private:
  static double timed(variant& v, int calls) {
    auto const begun = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) v.run();
    return 1e-9 * v.units * calls / std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  }

  std::vector<variant> all_;
  int accepted_ = 0, tried_ = 0;
};

} // namespace keel::bench
