// SPDX-License-Identifier: MIT
// expect: keel::policy::tuple_of: a type stands in the list twice
#include <keel/policy.hpp>

template <class>
struct box {};

int main() { keel::policy::tuple_of<keel::list<keel::serial, keel::serial>, box> boxes; }
