// SPDX-License-Identifier: MIT
#include <keel/policy/error.hpp>

#include <doctest/doctest.h>

#include <string>
#include <type_traits>

TEST_CASE("policy: an error speaks in one grammar") {
  CHECK(std::string{keel::error("device", "--keel-num-threads=4x is not a number", "'x' is left over",
                                "Write digits only").what()} ==
        "keel::device: --keel-num-threads=4x is not a number ('x' is left over). Write digits only?");
  CHECK(std::string{keel::error("machine", "MPI has ended").what()} == "keel::machine: MPI has ended.");
  CHECK(keel::error("machine", "no", "", "", 17).code() == 17);
  CHECK(std::is_nothrow_move_constructible_v<keel::error>);
  CHECK(std::is_base_of_v<std::exception, keel::error>);
}

TEST_CASE("policy: an error remembers what was said last and who says it") {
  keel::error const e("machine", "no");
  CHECK(keel::error::latest() == "keel::machine: no.");
  CHECK_FALSE(e.is_told_elsewhere());
  CHECK(e.told_elsewhere().is_told_elsewhere());
  CHECK(std::string{e.told_elsewhere().what()} == e.what());
  keel::error const far = keel::error::from_message("as it came", 3);
  CHECK(std::string{far.what()} == "as it came");
  CHECK(far.code() == 3);
  CHECK(keel::error::latest() == "as it came");
}
