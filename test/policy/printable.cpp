// SPDX-License-Identifier: MIT
#include <keel/policy/error.hpp>
#include <keel/policy/log.hpp>
#include <keel/policy/printable.hpp>

#include <support/test.hpp>

namespace kp = keel::policy;

TEST_CASE("policy: no control character reaches a message or a line of the log, and UTF-8 stays") {
  CHECK(kp::printable("a\033[2J\r\x7f\xc2\x9b") == "a?[2J????");
  CHECK(kp::printable("Größe 4\u00a0µs\n\t日本") == "Größe 4\u00a0µs\n\t日本");
  CHECK(kp::printable("\xc2") == "\xc2"); // half of a character
  CHECK(std::string{keel::error("x", "a\033b", "\a", "c\033").what()} == "keel::x: a?b (?). c?.");
  CHECK(keel::error("x", "a\033b", "\a").brief() == "a?b (?)");
  CHECK(std::string{keel::error::from_message("\033").what()} == "?");
  static std::string heard;
  kp::set_log_sink([](kp::log_level, std::string_view text) { heard = text; });
  kp::say(kp::log_level::error, "a\033b");
  kp::set_log_sink(nullptr);
  CHECK(heard == "a?b");
}
