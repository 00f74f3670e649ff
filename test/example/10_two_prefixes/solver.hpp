// SPDX-License-Identifier: MIT
#pragma once
#include <keel/machine.hpp>
#include <memory>
#include <string>

/// A library that uses keel inside. Of keel, its interface has the ranks alone. Its users set `--solver-…` and
/// `SOLVER_…`.
class solver {
public:
  /// Takes its own options out of the arguments. Collective over `ranks`.
  solver(int& argc, char** argv, keel::machine::environment const& ranks);
  ~solver();

  double sum_to(int n) const;
  std::string device() const;

private:
  struct parts;
  std::unique_ptr<parts> parts_;
};
