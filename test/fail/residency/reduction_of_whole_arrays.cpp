// SPDX-License-Identifier: MIT
// expect: the operation of a reduction does not combine two parts
// errors: 1
#include "reductions.hpp"

#include <array>

using pair = std::array<double, 2>;
struct larger {
  pair operator()(pair const& a, pair const& b) const { return a[0] < b[0] ? b : a; }
};
struct find : kr::routine<"find", kr::on_host> {
  using value_type = pair;
  template <class V>
  static pair run(V) {
    return {1, 2};
  }
};
struct step : kr::schedule<kr::reduce<"found", larger, find>> {};
void use(kr::fields<app, eta>& f) { f.step(step{}); }
