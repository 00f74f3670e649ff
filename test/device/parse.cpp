// SPDX-License-Identifier: MIT
#include <keel/impl/device/kinds.hpp>
#include <keel/impl/device/table.hpp>

#include <keel/device/report.hpp>
#include <keel/policy/error.hpp>

#include <doctest/doctest.h>
#include <support/said_to_stderr.hpp>

#include <new>
#include <stdexcept>
#include <string>

namespace {

/// The message of the error that `text` gives as a count.
std::string refusal(std::string_view text, int least = 1) {
  try {
    return "accepted " + std::to_string(keel::device::parse_number("KEEL_NUM_THREADS", text, least));
  } catch (keel::error const& e) {
    return e.what();
  }
}

} // namespace

TEST_CASE("device: a whole number is read whole") {
  CHECK(keel::device::parse_number("x", "1", 1) == 1);
  CHECK(keel::device::parse_number("x", "0", 0) == 0);
  CHECK(keel::device::parse_number("x", "007", 1) == 7);
  CHECK(keel::device::parse_number("x", "2147483647", 1) == 2147483647);
}

TEST_CASE("device: what is not a whole number is refused by name, text and reason") {
  struct row {
    char const* text;
    char const* reason;
  };
  for (auto [text, reason] :
       {row{"4x", "'x' follows the number"}, row{" 4", "' ' is not a digit"}, row{"", "the text is empty"},
        row{"99999999999", "larger than 2147483647"}, row{"2147483648", "larger than 2147483647"},
        row{"-5", "less than 1"}, row{"-99999999999", "less than 1"}, row{"0", "less than 1"},
        row{"+4", "'+' is not a digit"}, row{"4 ", "' ' follows the number"}, row{"0x4", "'x4' follows the number"},
        row{"1e3", "'e3' follows the number"}, row{"four", "'f' is not a digit"}}) {
    std::string const message = refusal(text);
    CAPTURE(message);
    CHECK(message.starts_with("keel::device: KEEL_NUM_THREADS='" + std::string{text} + "'"));
    CHECK(message.find(reason) != std::string::npos);
  }
  CHECK(refusal("-1", 0).find("less than 0") != std::string::npos);
  CHECK(refusal("99999999999x").find("follows") != std::string::npos);
}

TEST_CASE("device: a period is a number from 1 on, or never") {
  CHECK(keel::device::kinds::period.parse("p", "1") == 1);
  CHECK_FALSE(keel::device::kinds::period.parse("p", "never").has_value());
  CHECK_THROWS_AS((void)keel::device::kinds::period.parse("p", "0"), keel::error);
}

TEST_CASE("device: a lack of memory is reported in words, any other exception in its own") {
  auto const said = [](std::exception const& e) {
    return keel::test::said_to_stderr([&] { CHECK(keel::report(e) == 2); });
  };
  CHECK(said(std::bad_alloc{}).starts_with("keel::report: there is not enough memory"));
  CHECK(said(std::runtime_error{"mine"}) == "mine\n");
}

TEST_CASE("device: a word or a flag is one of those that are known") {
  CHECK(keel::device::parse_word("w", "rank", {"nearest", "rank", "none"}) == 1);
  CHECK_THROWS_WITH_AS((void)keel::device::parse_word("KEEL_MAP_DEVICE_BY", "Rank", {"nearest", "rank"}),
                       "keel::device: KEEL_MAP_DEVICE_BY='Rank' is not a value for this knob (the known words are "
                       "nearest, rank). Take one of them.",
                       keel::error);
  for (char const* yes : {"1", "true", "on", "yes"}) CHECK(keel::device::parse_flag("f", yes));
  for (char const* no : {"0", "false", "off", "no"}) CHECK_FALSE(keel::device::parse_flag("f", no));
  CHECK_THROWS_AS((void)keel::device::parse_flag("f", ""), keel::error);
  CHECK_THROWS_AS((void)keel::device::parse_flag("f", "2"), keel::error);
}

TEST_CASE("device: the nearest option is the one with the fewest changes") {
  CHECK(keel::device::nearest_option("num-thread") == "num-threads");
  CHECK(keel::device::nearest_option("devise") == "device");
  CHECK(keel::device::nearest_option("halp") == "help");
}

TEST_CASE("device: a size is a whole number with K, M or G, and is shown so") {
  using keel::device::parse_size;
  CHECK(parse_size("s", "1") == 1);
  CHECK(parse_size("s", "64K") == 65536);
  CHECK(parse_size("s", "3m") == 3 << 20);
  CHECK(parse_size("s", "8G") == std::int64_t{8} << 30);
  CHECK(parse_size("s", "8589934591G") == std::int64_t{8589934591} << 30);
  for (char const* bad : {"", "K", "0", "0K", "-1", "1T", "1KK", "1 K", "K1", "1.5M", "0x10", "8589934592G",
                          "9223372036854775808", " 1", "1KB"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS((void)parse_size("s", bad), keel::error);
  }
  CHECK_THROWS_WITH_AS(
      (void)parse_size("s", "k"),
      "keel::device: s='k' is not a value for this knob ('k' is not a digit). Give a whole number from 1 "
      "on, with K, M or G for powers of 1024.",
      keel::error);
  using keel::device::size_text;
  CHECK(size_text(0) == "0");
  CHECK(size_text(1) == "1");
  CHECK(size_text(1023) == "1023");
  CHECK(size_text(65536) == "64K");
  CHECK(size_text(3 << 20) == "3M");
  CHECK(size_text(std::int64_t{5} << 40) == "5120G");
}
