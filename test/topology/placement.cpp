// SPDX-License-Identifier: MIT
#include <keel/topology/placement.hpp>

#include <keel/topology/node.hpp>

#include "record.hpp"
#include "saved.hpp"

#include <support/test.hpp>

#include <fstream>
#include <iterator>
#include <sstream>

using namespace keel::topology;
using keel::test::own_machine;

namespace {

/// Every core is used; none by two ranks before all have one; hardware threads neither.
void check_cores(node const& n, std::vector<placement> const& ranks) {
  std::vector<int> users(n.cores().size(), 0);
  std::vector<int> thread_users;
  std::size_t threads = 0, largest = 0;
  for (auto const& c : n.cores()) threads += c.hardware_threads.size();
  for (auto const& rank : ranks) {
    REQUIRE_FALSE(rank.cores.empty());
    REQUIRE_FALSE(rank.hardware_threads.empty());
    largest = std::max(largest, rank.cores.size());
    id_set of_cores;
    for (int const c : rank.cores) {
      ++users[std::size_t(c)];
      of_cores |= n.cores()[std::size_t(c)].hardware_threads;
    }
    CHECK((rank.hardware_threads - of_cores).empty());
    for (int const t : rank.hardware_threads) {
      if (thread_users.size() <= std::size_t(t)) thread_users.resize(std::size_t(t) + 1, 0);
      ++thread_users[std::size_t(t)];
    }
  }
  CHECK(*std::min_element(users.begin(), users.end()) >= 1);
  if (ranks.size() <= users.size()) CHECK(*std::max_element(users.begin(), users.end()) == 1);
  CHECK(largest <= 2 * ((users.size() + ranks.size() - 1) / ranks.size())); // memories are never parted to be fair
  auto const most = *std::max_element(thread_users.begin(), thread_users.end());
  CHECK(std::size_t(most) <= (ranks.size() + threads - 1) / threads);
  for (auto const& c : n.cores()) // every one is used, evenly
    for (int const t : c.hardware_threads)
      CHECK(std::size_t(thread_users.at(std::size_t(t))) >= ranks.size() / threads);
}

/// Numbers as `0-3,5`.
id_set numbers(std::string const& list) {
  id_set all;
  std::istringstream parts(list);
  for (std::string part; std::getline(parts, part, ',');) {
    auto const dash = part.find('-');
    int const first = std::stoi(part), last = dash == part.npos ? first : std::stoi(part.substr(dash + 1));
    all |= id_set::range(first, last + 1);
  }
  return all;
}

/// A rule by its words in placements.txt.
placing rule_of(std::string const& words) {
  placing made;
  std::istringstream all(words);
  for (std::string word; all >> word;) {
    std::string const value = word.substr(word.find('=') + 1);
    if (word == "compact") made.order = order::compact;
    else if (word == "by_device") made.order = order::by_device;
    else if (word == "network") made.device = device_type::network;
    else if (word == "one_node") made.greedy = false;
    else if (word.starts_with("smt=")) made.threads_per_core = std::stoi(value);
    else if (word.starts_with("within=")) made.within = numbers(value);
    else if (word.starts_with("threads=")) made.hardware_threads = numbers(value);
    else FAIL(word << " is no word of a rule");
  }
  return made;
}

} // namespace

TEST_CASE("topology: ranks are where test/data/placements.txt has them, or are refused") {
  std::ifstream file{own_machine("placements.txt")};
  std::string why, machine;
  int rows = 0;
  for (std::string line; std::getline(file, line);) {
    CAPTURE(why);
    CAPTURE(machine);
    CAPTURE(line);
    if (line.starts_with('#')) why = line;
    else if (line.find_first_of("-0123456789") != 0) machine = line;
    else {
      ++rows;
      auto const end = std::min(line.find(" = "), line.find(" ! "));
      auto const place = [&] {
        return keel::test::machine_of(machine).place(std::stoi(line),
                                                     rule_of(line.substr(line.find(' '), end - line.find(' '))));
      };
      std::string const said = line.substr(end + 3), map = said.substr(0, said.find(" ; "));
      if (line[end + 1] == '!') {
        CHECK(keel::test::refuses([&] { (void)place(); }, said));
        continue;
      }
      auto const ranks = place();
      CHECK(keel::test::map_of(ranks) == map);
      if (map == said) continue;
      CHECK(keel::test::listed(ranks, [](placement const& p) { return to_string(p.hardware_threads); }) ==
            said.substr(map.size() + 3));
    }
  }
  CHECK(rows == 73);
}

TEST_CASE("topology: ranks get near, balanced places, and none shares before it must") {
  for (auto const& file : keel::test::all_machines())
    for (int const ranks : {1, 2, 3, 4, 8, 16, 20, 64, 100, 500}) {
      CAPTURE(file);
      CAPTURE(ranks);
      auto const n = node::from_xml(file);
      auto const placed = n.place(ranks);
      REQUIRE(placed.size() == std::size_t(ranks));
      check_cores(n, placed);
      if (ranks >= int(n.cores().size())) check_cores(n, n.place(ranks, {.order = order::compact}));
    }
}

TEST_CASE("topology: the maps of the project's machines are those on record") {
  std::string maps; // a line for each machine and number of ranks
  for (auto const& name : keel::test::own_machines())
    for (int const ranks : {1, 2, 4, 8, 16, 64})
      maps += name + ' ' + std::to_string(ranks) + ": " +
              keel::test::map_of(node::from_xml(own_machine(name)).place(ranks)) + '\n';
  keel::test::check_record("maps.txt", maps);
}

TEST_CASE("topology: by_device gives each rank cores and a device, wherever on a machine that is") {
  CHECK(placement{}.memory == -1);
  CHECK(placement{}.device == -1);
  for (auto const& file : keel::test::all_machines()) {
    CAPTURE(file);
    auto const n = node::from_xml(file);
    if (n.devices().empty()) continue;
    for (auto const& p : n.place(2, {.order = order::by_device, .device = device_type::any})) {
      CHECK_FALSE(p.cores.empty());
      CHECK(p.device >= 0);
    }
  }
}
