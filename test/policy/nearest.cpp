// SPDX-License-Identifier: MIT
#include <keel/policy/nearest.hpp>

#include <support/test.hpp>

TEST_CASE("policy: the distance of two words is what has to be typed") {
  using keel::policy::edit_distance;
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("eta", "") == 3);
  CHECK(edit_distance("", "eta") == 3);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("eta", "eta") == 0);
}

TEST_CASE("policy: the nearest known name is the first of those with the least distance") {
  constexpr std::array<std::string_view, 3> known{"eta", "beta", "u"};
  CHECK(keel::policy::nearest("etta", known) == "eta");
  CHECK(keel::policy::nearest("v", known) == "u");
  CHECK(keel::policy::nearest("zeta", known) == "eta");
  CHECK(keel::policy::nearest("eta", std::array<std::string_view, 0>{}).empty());
}
