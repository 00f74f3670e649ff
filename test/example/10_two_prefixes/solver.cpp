// SPDX-License-Identifier: MIT
#include "solver.hpp"
#include <keel/keel.hpp>

namespace {

struct solver_policy : keel::defaults {
  using devices = keel::where_supported<keel::list<keel::serial, keel::openmp, keel::simulated>>;
  static constexpr std::string_view prefix = "solver";
};

/// A struct, because nvcc takes no lambda of a device inside a generic lambda.
struct add {
  KOKKOS_FUNCTION void operator()(int i, double& sum) const { sum += i; }
};

} // namespace

struct solver::parts {
  keel::runtime<solver_policy> run;
};

solver::solver(int& argc, char** argv, keel::machine::environment const& ranks)
    : parts_(new parts{keel::runtime<solver_policy>{argc, argv, ranks.comm()}}) {}
solver::~solver() = default;

std::string solver::device() const { return std::string{parts_->run.device_name()}; }

double solver::sum_to(int n) const {
  double sum = 0;
  keel::with_device<solver_policy::devices>(parts_->run.device_name(), [&]<class Tag>(Tag) {
    using space = typename keel::device_traits<Tag>::execution_space;
    Kokkos::parallel_reduce("sum", Kokkos::RangePolicy<space>(parts_->run.template execution_space<Tag>(), 1, n + 1),
                            add{}, sum);
  });
  return sum;
}
