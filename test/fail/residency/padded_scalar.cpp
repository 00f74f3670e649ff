// SPDX-License-Identifier: MIT
// expect: keel::residency::variable: a scalar is padded
// errors: 1
#include "heat.hpp"

struct total : kr::variable<"total", double, kr::padded<8>> {};
