// SPDX-License-Identifier: MIT
#include <keel/machine/selection.hpp>

#include <support/test.hpp>

#include <climits>

namespace km = keel::machine;

namespace {

template <km::Selection S>
std::string refusal(S const& selection, int extent) {
  return keel::test::message_of([&] { selection.check(extent); });
}

template <km::Selection S>
bool find_inverts(S const& selection, int extent) {
  int found = 0;
  for (int parent = -1; parent != extent; ++parent) {
    int const rank = selection.find(parent);
    if (rank < 0) continue;
    ++found;
    if (selection.rank_in_parent(rank) != parent) return false;
  }
  return found == selection.count();
}

} // namespace

TEST_CASE("machine: a selection finds exactly the ranks it names") {
  CHECK(find_inverts(km::first{4}, 8));
  CHECK(find_inverts(km::first{8}, 8));
  CHECK(find_inverts(km::strided{4, 1, 2}, 8));
  CHECK(find_inverts(km::strided{3, 7, -3}, 8));
  CHECK(find_inverts(km::chosen{1, 2, 5, 7}, 8));
  CHECK(find_inverts(km::chosen{7, 0, 3}, 8));
  CHECK(km::strided{3, 7, -3}.find(4) == 1);
  CHECK(km::chosen{7, 0, 3}.find(3) == 2);
  CHECK(km::strided{4, 1, 2}.find(-1) == -1);
}

TEST_CASE("machine: a list that no parent could give is refused") {
  CHECK(refusal(km::strided{}, 8).find("it selects no rank") != std::string::npos);
  CHECK(refusal(km::first{}, 8).find("it selects no rank") != std::string::npos);
  CHECK(refusal(km::first{0}, 8).find("no rank") != std::string::npos);
  CHECK(refusal(km::first{9}, 8).find("leaves the parent, which has 8 ranks") != std::string::npos);
  CHECK(refusal(km::strided{4, 0, 0}, 8).find("stride of 0") != std::string::npos);
  CHECK(refusal(km::strided{1, 0, 0}, 8).find("stride of 0") != std::string::npos);
  CHECK(refusal(km::strided{5, 0, 2}, 8).find("leaves the parent, which has 8 ranks") != std::string::npos);
  CHECK(refusal(km::strided{3, 4, -3}, 8).find("leaves the parent, which has 8 ranks") != std::string::npos);
  CHECK(refusal(km::strided{-1, 0, 1}, 8).find("no rank") != std::string::npos);
  CHECK(refusal(km::chosen{1, 2, 1}, 8).find("rank 1 stands in it twice") != std::string::npos);
  CHECK(refusal(km::chosen{1, -2}, 8).find("rank -2 is negative") != std::string::npos);
  CHECK(refusal(km::chosen{1, 8}, 8).find("rank 8 is not in the parent, which has 8 ranks") != std::string::npos);
  CHECK(refusal(km::chosen(std::vector<int>{}), 8).find("empty") != std::string::npos);
  CHECK(refusal(km::chosen{0}, 1) == "");
}

TEST_CASE("machine: numbers at the end of int are refused, not wrapped") {
  CHECK(refusal(km::strided{INT_MAX, INT_MAX, INT_MAX}, 8) != "");
  CHECK(refusal(km::strided{2, INT_MIN, 1}, 8) != "");
  CHECK(refusal(km::strided{2, 0, INT_MIN}, 8) != "");
  CHECK(refusal(km::first{INT_MAX}, INT_MAX) == "");
  CHECK(km::strided{2, 0, 2}.find(INT_MAX) == -1);
}

TEST_CASE("machine: where the parent is unknown only what no parent has is refused") {
  CHECK(refusal(km::first{9}, km::unknown) == "");
  CHECK(refusal(km::first{0}, km::unknown) != "");
  CHECK(refusal(km::chosen{3, 3}, km::unknown) != "");
  CHECK(refusal(km::strided{4, -1, 1}, km::unknown) != "");
}

TEST_CASE("machine: a master outside the new environment is refused") {
  CHECK_NOTHROW(km::master{3}.check(4));
  CHECK_THROWS_WITH_AS(km::master{4}.check(4), doctest::Contains("rank 4 is no rank of the new environment"),
                       keel::error);
  CHECK_THROWS_AS(km::master{-1}.check(4), keel::error);
}
