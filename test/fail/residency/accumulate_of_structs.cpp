// SPDX-License-Identifier: MIT
// expect: keel::residency::accumulate: elements of a variable have no sum
// expect: summed<
// errors: 1
#include "heat.hpp"

struct pair {
  double first, second;
};
struct pairs : kr::variable<"pairs", pair**> {};
void use(kr::fields<app, pairs>& f) { f.run(kr::accumulate<pairs>{}); }
