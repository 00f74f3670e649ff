// SPDX-License-Identifier: MIT
#include <keel/topology/id_set.hpp>

#include <support/test.hpp>

#include <iterator>
#include <random>

using keel::topology::id_set;

TEST_CASE("topology: an id_set holds any number of ids, in rising order") {
  id_set ids{5000, 3, 64, 63, 3};
  CHECK(ids.size() == 4);
  CHECK(std::vector<int>(ids.begin(), ids.end()) == std::vector<int>{3, 63, 64, 5000});
  CHECK(ids.contains(5000));
  CHECK_FALSE(ids.contains(5001));
  CHECK_FALSE(ids.contains(-1));
  ids.erase(5000);
  ids.erase(5000);
  ids.erase(-7);
  CHECK(ids == id_set{3, 63, 64});
  CHECK(id_set{}.empty());
  CHECK(id_set{}.begin() == id_set{}.end());
  CHECK(id_set::range(7, 7).empty());
  CHECK_THROWS_AS(ids.insert(-1), keel::error);
}

TEST_CASE("topology: an id_set is the set that std::set is") {
  std::mt19937 random{17};
  auto const some = [&](int largest) {
    std::set<int> ids;
    for (auto n = random() % 80; n > 0; --n) ids.insert(int(random() % unsigned(largest + 1)));
    return ids;
  };
  auto const as_keel = [](std::set<int> const& ids) {
    id_set made;
    for (int const id : ids) made.insert(id);
    return made;
  };
  for (int round = 0; round < 300; ++round) {
    auto const a = some(round), b = some(300 - round);
    std::set<int> both, either, only;
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::inserter(both, both.end()));
    std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::inserter(either, either.end()));
    std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::inserter(only, only.end()));
    CHECK((as_keel(a) & as_keel(b)) == as_keel(both));
    CHECK((as_keel(a) | as_keel(b)) == as_keel(either));
    CHECK((as_keel(a) - as_keel(b)) == as_keel(only));
    CHECK(as_keel(either).size() == either.size());
    auto const walked = as_keel(either);
    CHECK(std::equal(walked.begin(), walked.end(), either.begin(), either.end()));
  }
  for (int first = 0; first < 200; first += 13)
    for (int last = first; last < 200; last += 7) {
      auto const ids = id_set::range(first, last);
      CHECK(ids.size() == std::size_t(last - first));
      CHECK(ids.contains(first) == (last > first));
      CHECK_FALSE(ids.contains(last));
    }
}

TEST_CASE("topology: an id_set is written as people write it") {
  CHECK(to_string(id_set{}).empty());
  CHECK(to_string(id_set{4}) == "4");
  CHECK(to_string(id_set{0, 1, 2, 3, 8, 64, 65}) == "0-3,8,64-65");
}
