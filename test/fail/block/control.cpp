// SPDX-License-Identifier: MIT
#include "field.hpp"

int main() {
  keel::block::for_each_block<8>(keel::block::columns_of(field<3>{}), body<int>{});
  keel::block::solve_tridiagonal<8>("solve", keel::block::caller{},
                                    keel::block::tridiagonal{field<3>{}, field<3>{}, field<3>{}}, field<3>{});
  keel::block::for_each_block<4>(0, 10, [](auto) {});
  keel::block::mask<4> const two = keel::block::mask<4>::first(2);
  if (all(two) || exp(keel::block::pack<double, 4>::filled(1))[0] < 0) return 1;
  return keel::block::pack<int, 4>::filled(0)[0];
}
