// SPDX-License-Identifier: MIT
#include <keel/policy.hpp>

template <class>
struct box {};

#if defined(EXCEPTIONS_OFF)
// expect: keel: exceptions are off (errors are thrown). Compile without -fno-exceptions.
// flags: -fno-exceptions
#include <keel/keel.hpp>
#elif defined(NOT_A_DEVICE)
// expect: DeviceTag
int main() {
  keel::for_each_device<keel::list<int>>([](auto) {});
}
#elif defined(NOT_A_LIST)
// expect: TypeList
int main() {
  keel::for_each_device<keel::serial>([](auto) {});
}
#elif defined(TYPE_TWICE)
// expect: keel::policy::tuple_of: a type stands in the list twice
int main() { keel::policy::tuple_of<keel::list<keel::serial, keel::serial>, box> boxes; }
#else
int main() {
  keel::policy::tuple_of<keel::list<keel::serial, keel::cuda>, box> boxes;
  (void)boxes.get<keel::cuda>();
  keel::for_each_device<keel::list<keel::serial>>([](auto) {});
}
#endif
