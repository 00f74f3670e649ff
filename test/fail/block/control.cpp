// SPDX-License-Identifier: MIT
#include "field.hpp"

int main() {
  keel::block::for_each_block<8>(keel::block::columns_of(field<3>{}), body<int>{});
  keel::block::solve_tridiagonal<8>("solve", keel::block::caller{},
                                    keel::block::tridiagonal{field<3>{}, field<3>{}, field<3>{}}, field<3>{});
  keel::block::for_each_block<4>(0, 10, [](auto) {});
  return keel::block::pack<int, 4>::filled(0)[0];
}
