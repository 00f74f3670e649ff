// SPDX-License-Identifier: MIT
#include <keel/impl/device/kinds.hpp>
#include <keel/policy/error.hpp>

#include <doctest/doctest.h>

#include <string>

using keel::device::bind_rule;
using keel::device::bind_text;

namespace {

bind_rule parsed(std::string_view text) { return keel::device::parse_bind("--keel-bind", text); }

std::string refusal(std::string_view text) {
  try {
    return "accepted " + bind_text(parsed(text));
  } catch (keel::error const& e) {
    return e.what();
  }
}

} // namespace

TEST_CASE("device: --keel-bind is none, or place and options, and is shown as it is written") {
  CHECK(parsed("none") == bind_rule{});
  CHECK(parsed("place") == bind_rule{.place = true});
  CHECK(parsed("place,smt=2,gpu,greedy=no") == bind_rule{.place = true, .smt = 2, .gpu = true, .greedy = false});
  CHECK(parsed("place,gpu=no,greedy") == bind_rule{.place = true});
  for (char const* text : {"none", "place", "place,smt=4", "place,gpu", "place,greedy=no", "place,smt=1,gpu,greedy=no"})
    CHECK(bind_text(parsed(text)) == text);
}

TEST_CASE("device: what is no way to bind is refused by name, text and reason") {
  CHECK(refusal("") ==
        "keel::device: --keel-bind='' is not a value for this knob (the text is empty). Take one of them.");
  CHECK(refusal("Place").find("the known words are none, place") != std::string::npos);
  CHECK(refusal("place,") == "keel::device: --keel-bind='place,' is not a value for this knob (there is no option ''). "
                             "Write place, with smt=N, gpu or greedy=no after commas.");
  CHECK(refusal("place,smtt=2").find("there is no option 'smtt'") != std::string::npos);
  CHECK(refusal("place, gpu").find("there is no option ' gpu'") != std::string::npos);
  CHECK(refusal("none,gpu").find("none has no options") != std::string::npos);
  CHECK(refusal("place,smt").find("--keel-bind: smt='' is not a value for this knob (the text is empty)") !=
        std::string::npos);
  CHECK(refusal("place,smt=0").find("smt='0' is not a value for this knob (the number is less than 1)") !=
        std::string::npos);
  CHECK(refusal("place,gpu=maybe").find("gpu='maybe' is not a value") != std::string::npos);
}
