// SPDX-License-Identifier: MIT
// expect: a coefficient has another number of indices than the unknowns, and more than one
#include "field.hpp"

int main() {
  keel::block::tridiagonal const m{field<2>{}, field<1>{}, field<1>{}};
  keel::block::solve_tridiagonal<8>("solve", keel::block::caller{}, m, field<3>{});
}
