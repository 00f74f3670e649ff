// SPDX-License-Identifier: MIT
#include "solver.hpp"
#include <keel/keel.hpp>
#include <iostream>

struct model_policy : keel::defaults {
  using devices = keel::where_supported<keel::list<keel::simulated, keel::serial, keel::openmp>>;
  static constexpr std::string_view prefix = "model";
};

int main(int argc, char** argv) try {
  keel::runtime<model_policy> run{argc, argv}; // takes --model-…, leaves --solver-… alone
  if (run.help_requested()) return 0;
  solver const s{argc, argv, run.environment()};
  if (!run.environment().is_master()) return 0;
  std::cout << "the model is on " << run.device_name() << ", the solver on " << s.device() << '\n';
  std::cout << "the solver says " << s.sum_to(100) << '\n';
  for (int i = 1; i < argc; ++i) std::cout << "left over: " << argv[i] << '\n';
} catch (std::exception const& e) {
  return keel::report(e);
}
