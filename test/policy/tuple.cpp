// SPDX-License-Identifier: MIT
#include <keel/policy/tuple.hpp>

#include <keel/policy/tags.hpp>

#include <support/test.hpp>

namespace tuple_test {

template <class Tag>
struct box {
  int value = 7;
};
template <>
struct box<keel::cuda> {};

} // namespace tuple_test
using tuple_test::box;

TEST_CASE("policy: a static tuple holds one value for each type and finds it by type") {
  keel::policy::tuple_of<std::tuple<keel::serial, keel::openmp>, box> boxes;
  boxes.get<keel::openmp>().value = 9;
  CHECK(boxes.get<keel::serial>().value == 7);
  CHECK(boxes.get<keel::openmp>().value == 9);
  auto const& view = boxes;
  CHECK(view.get<keel::openmp>().value == 9);
}

TEST_CASE("policy: an element without members costs no storage") {
  using with_empty = keel::policy::tuple_of<keel::list<keel::serial, keel::cuda>, box>;
  CHECK(sizeof(with_empty) == sizeof(int));
  CHECK_FALSE(std::is_copy_constructible_v<with_empty>);
}
