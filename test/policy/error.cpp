// SPDX-License-Identifier: MIT
#include <keel/policy/error.hpp>

#include <support/test.hpp>

TEST_CASE("policy: an error speaks in one grammar") {
  CHECK(std::string{
            keel::error("device", "--keel-num-threads=4x is not a number", "'x' is left over", "Write digits only")
                .what()} ==
        "keel::device: --keel-num-threads=4x is not a number ('x' is left over). Write digits only.");
  CHECK(std::string{keel::error("machine", "MPI has ended").what()} == "keel::machine: MPI has ended.");
  CHECK(keel::error("machine", "no", "", "", 17).code() == 17);
  CHECK(std::is_nothrow_copy_constructible_v<keel::error>);
  CHECK(std::is_base_of_v<std::runtime_error, keel::error>);
}

TEST_CASE("policy: one thing is counted in the singular") {
  CHECK(keel::policy::counted(1, "rank") == "1 rank");
  CHECK(keel::policy::counted(0, "rank") == "0 ranks");
  CHECK(keel::policy::counted(-1, "rank") == "-1 ranks");
  CHECK(keel::policy::counted(1, "thing is", "things are") + keel::policy::counted(12, "thing is", "things are") ==
        "1 thing is12 things are");
}

TEST_CASE("policy: a lack of memory is told in the same words everywhere") {
  keel::out_of_memory_error const e("topology", "x.xml is not read", 12);
  CHECK(std::string(e.what()) ==
        "keel::topology: x.xml is not read (there is not enough memory). Free some, or raise its limit.");
  CHECK(e.code() == 12);
  CHECK(keel::out_of_memory_error("space", "Kokkos did not start", 0).code() == 0);
}

TEST_CASE("policy: an error remembers what was said last and who says it") {
  keel::error const e("machine", "no");
  CHECK(keel::error::latest() == "keel::machine: no.");
  CHECK_FALSE(e.is_printed_elsewhere());
  CHECK(e.printed_elsewhere().is_printed_elsewhere());
  CHECK(std::string{e.printed_elsewhere().what()} == e.what());
  keel::error const far = keel::error::from_message("as it came", 3);
  CHECK(std::string{far.what()} == "as it came");
  CHECK(far.code() == 3);
  CHECK(keel::error::latest() == "as it came");
}

TEST_CASE("policy: an error is told from other exceptions, with RTTI and without") {
  try {
    throw keel::error("machine", "no", "it is closed", "Open it");
  } catch (std::exception const& e) {
    REQUIRE(keel::as_error(e) != nullptr);
    CHECK(keel::as_error(e)->what() == e.what());
    CHECK(keel::reason_of(e) == "no (it is closed)");
    std::runtime_error const other("not the one that is handled");
    CHECK(keel::as_error(other) == nullptr);
    CHECK(keel::reason_of(other) == "not the one that is handled");
  }
  try {
    throw std::runtime_error("of another library");
  } catch (std::exception const& e) {
    CHECK(keel::as_error(e) == nullptr);
    CHECK(keel::reason_of(e) == "of another library");
  }
  CHECK(keel::as_error(std::runtime_error("never thrown")) == nullptr);
}
