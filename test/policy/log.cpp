// SPDX-License-Identifier: MIT
#include <keel/policy/log.hpp>

#include <support/test.hpp>

namespace {

namespace kp = keel::policy;

std::vector<std::string> heard;

/// Hears what is said, and sets all back at the end.
struct listener {
  listener() {
    heard.clear();
    kp::set_log_sink([](kp::log_level level, std::string_view text) {
      heard.push_back(std::string{kp::log_level_words[std::size_t(level)]} + ": " + std::string{text});
    });
  }
  ~listener() {
    kp::set_log_sink(nullptr);
    kp::set_log_level(kp::log_level::warning);
    kp::set_log_speaker(true);
  }
};

void say_one_of_each() {
  kp::log(kp::log_level::error, "e");
  kp::log(kp::log_level::warning, "w");
  kp::log(kp::log_level::information, "i");
  kp::log(kp::log_level::details, "d");
}

} // namespace

TEST_CASE("policy: a level of the log includes those before it, and is warning at first") {
  listener const here;
  say_one_of_each();
  CHECK(heard == std::vector<std::string>{"error: e", "warning: w"});
  heard.clear();
  kp::set_log_level(kp::log_level::details);
  say_one_of_each();
  CHECK(heard == std::vector<std::string>{"error: e", "warning: w", "information: i", "details: d"});
  heard.clear();
  kp::set_log_level(kp::log_level::off);
  say_one_of_each();
  CHECK(heard.empty());
}

TEST_CASE("policy: one rank of a job says what the log holds, and the others are silent") {
  listener const here;
  kp::set_log_speaker(false);
  say_one_of_each();
  CHECK(heard.empty());
}
