// SPDX-License-Identifier: MIT
#include <keel/block/length.hpp>

#include <doctest/doctest.h>

namespace {

struct chooses {
  static constexpr std::size_t vector_length = 24;
};
struct leaves_it {
  static constexpr std::size_t vector_length = 0;
};
struct large {
  char bytes[4096];
};

} // namespace

TEST_CASE("block: without a choice a host block fills registers and an accelerator's is one") {
  namespace kb = keel::block;
  if (kb::requested_length == 0) {
    CHECK(kb::length<double, keel::serial> == kb::registers_per_block * kb::register_bytes / sizeof(double));
    CHECK(kb::length<float, keel::serial> == 2 * kb::length<double, keel::serial>);
    CHECK(kb::length<double, keel::cuda> == 1);
    CHECK(kb::length<large, keel::serial> == 1);
  } else {
    CHECK(kb::length<double, keel::serial> == kb::requested_length);
    CHECK(kb::length<double, keel::cuda> == (kb::requested_for_accelerators ? kb::requested_length : 1));
  }
}

TEST_CASE("block: the policy's length beats every other") {
  namespace kb = keel::block;
  CHECK(kb::length<double, keel::serial, chooses> == 24);
  CHECK(kb::length<float, keel::cuda, chooses> == 24);
  CHECK(kb::length<double, keel::serial, leaves_it> == kb::length<double, keel::serial>);
}
