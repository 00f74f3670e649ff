// SPDX-License-Identifier: MIT
#include <keel/block/length.hpp>

#include <support/test.hpp>

namespace {

struct chooses {
  static constexpr std::size_t vector_length = 24;
};
struct leaves_it {
  static constexpr std::size_t vector_length = 0;
};
struct chooses_for_devices : chooses {
  template <class Device>
  static constexpr std::size_t vector_length_on = 0;
};
template <>
constexpr std::size_t chooses_for_devices::vector_length_on<keel::cuda> = 4;
struct large {
  char bytes[4096];
};

} // namespace

TEST_CASE("block: without a choice a host block fills registers and an accelerator's is one") {
  namespace kb = keel::block;
  if (kb::detail::length_of_build == 0) {
    CHECK(kb::length<double, keel::serial> ==
          kb::detail::registers_per_block * kb::detail::register_bytes / sizeof(double));
    CHECK(kb::length<float, keel::serial> == 2 * kb::length<double, keel::serial>);
    CHECK(kb::length<large, keel::serial> == 1);
  } else {
    CHECK(kb::length<double, keel::serial> == kb::detail::length_of_build);
  }
  CHECK(kb::length<double, keel::cuda> == 1);
}

TEST_CASE("block: the policy's length beats every other on processors") {
  namespace kb = keel::block;
  CHECK(kb::length<double, keel::serial, chooses> == 24);
  CHECK(kb::length<double, keel::simulated, chooses> == 24);
  CHECK(kb::length<float, keel::cuda, chooses> == 1);
  CHECK(kb::length<double, keel::serial, leaves_it> == kb::length<double, keel::serial>);
}

TEST_CASE("block: the policy's length on one device is for that device alone") {
  namespace kb = keel::block;
  CHECK(kb::length<double, keel::cuda, chooses_for_devices> == 4);
  CHECK(kb::length<double, keel::hip, chooses_for_devices> == 1);
  CHECK(kb::length<double, keel::serial, chooses_for_devices> == 24);
}

TEST_CASE("block: the units of this program agree on the length") {
  CHECK(keel::block::detail::noted_lengths.any);
  CHECK(keel::block::detail::noted_lengths.first == keel::block::detail::length_of_build);
  CHECK_FALSE(keel::block::detail::noted_lengths.differ);
}
