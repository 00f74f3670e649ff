// SPDX-License-Identifier: MIT
#include <keel/policy.hpp>

template <class>
struct box {};

int main() {
  keel::policy::tuple_of<keel::list<keel::serial, keel::cuda>, box> boxes;
  (void)boxes.get<keel::cuda>();
  keel::for_each_device<keel::list<keel::serial>>([](auto) {});
}
