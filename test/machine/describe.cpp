// SPDX-License-Identifier: MIT
#include <keel/machine/describe.hpp>

#include <keel/machine/host.hpp>

#include <support/test.hpp>
#include <nlohmann/json.hpp>

namespace km = keel::machine;
using km::environment;

TEST_CASE("machine: the table has a line for each rank and a dash for what it does not know") {
  std::vector<km::whereabouts> const two{{"n1", "0-3", "numa 0", "0000:1b:00.0", "4 openmp"},
                                         {"node10", "4", "", "", "1 none"}};
  CHECK(km::to_text(two) == "rank  host    cores  memory  device        threads\n"
                            "0     n1      0-3    numa 0  0000:1b:00.0  4 openmp\n"
                            "1     node10  4      -       -             1 none\n");
}

TEST_CASE("machine: JSON carries the same, and survives any name") {
  std::vector<km::whereabouts> const one{{"a\"b\\c\nd", "0", "", "", "1 none"}};
  auto const read = nlohmann::json::parse(km::to_json(one));
  CHECK(read.size() == 1);
  CHECK(read[0]["rank"] == 0);
  CHECK(read[0]["host"] == "a\"b\\c\nd");
  CHECK(read[0]["memory"].is_null());
  CHECK(read[0]["threads"] == "1 none");
  CHECK(nlohmann::json::parse(km::to_json({})).empty());
}

TEST_CASE("machine: the master tells who runs where, for all") {
  environment world;
  world.set_master(world.size() - 1);
  auto const node = keel::topology::node::from_synthetic("package:2 numa:1 core:4 pu:1");
  auto const mine = km::whereabouts_of(world, node, world.rank() == 0 ? "0000:1b:00.0" : "");
  auto const text = km::describe_json(world, mine);
  CHECK(text.empty() == !world.is_master());
  CHECK(km::describe(world, mine).empty() == !world.is_master());
  if (!world.is_master()) return;
  auto const read = nlohmann::json::parse(text);
  CHECK(read.size() == std::size_t(world.size()));
  for (int r = 0; r != world.size(); ++r) {
    auto const& row = read[std::size_t(r)];
    CHECK(row["rank"] == r);
    CHECK(row["host"] == km::host_name());
    CHECK(row["device"].is_null() == (r != 0));
    if (world.size() == 8) CHECK(row["cores"] == std::to_string(r));
    CHECK(row["threads"] == "1 none");
  }
  environment const one{world, km::first{1}};
  if (!one.is_member()) CHECK(km::describe(one, mine).empty());
}
