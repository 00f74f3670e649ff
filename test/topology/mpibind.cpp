// SPDX-License-Identifier: MIT
/// @file
/// Placements beside those of mpibind, whose users come with its answers in mind. Each row is one of the questions that
/// its tests ask: a machine, a number of tasks and the options, and the hardware threads and GPUs that it answers.
///
/// Its defaults as keel's rules: one hardware thread of each core where there are no more tasks than cores, and all of
/// them where there are, or where there are fewer tasks than NUMA nodes; near GPUs first where GPUs are to be near.
#include <keel/topology/node.hpp>

#include "saved.hpp"

#include <support/test.hpp>

#include <charconv>

using namespace keel::topology;

namespace {

struct question {
  char const* machine;
  int tasks;
  placing rule;
  char const* threads;   ///< of each task; "each LIST" is one of the list for each
  char const* gpus = ""; ///< of each task: those that mpibind lists for it, of which keel takes one; empty is any
};

constexpr int one = 1; // hardware thread of each core

std::vector<std::string> parts(std::string const& text, char between) {
  std::vector<std::string> found;
  std::istringstream from{text};
  for (std::string part; std::getline(from, part, between);) found.push_back(part);
  return found;
}

/// "3", "0-7", "0-72:8" for every eighth, "0-72:8/7" for seven from each of these on; with commas between.
std::vector<int> numbers(std::string const& list) {
  std::vector<int> found;
  for (auto const& range : parts(list, ',')) {
    int first = 0, last = 0, step = 1, width = 1;
    char const *at = range.data(), *end = at + range.size();
    at = std::from_chars(at, end, first).ptr;
    last = first;
    if (at != end && *at == '-') at = std::from_chars(at + 1, end, last).ptr;
    if (at != end && *at == ':') at = std::from_chars(at + 1, end, step).ptr;
    if (at != end && *at == '/') at = std::from_chars(at + 1, end, width).ptr;
    REQUIRE(at == end);
    for (int n = first; n <= last; n += step)
      for (int w = 0; w < width; ++w) found.push_back(n + w);
  }
  return found;
}

std::vector<id_set> sets(std::string const& text) {
  std::vector<id_set> found;
  if (text.starts_with("each ")) {
    for (int const id : numbers(text.substr(5))) found.push_back({id});
  } else {
    for (auto const& list : parts(text, ';')) {
      found.emplace_back();
      for (int const id : numbers(list)) found.back().insert(id);
    }
  }
  return found;
}

void check(node const& on, question const& asked) {
  CAPTURE(asked.machine);
  CAPTURE(asked.tasks);
  CAPTURE(asked.threads);
  auto const placed = on.place(asked.tasks, asked.rule);
  auto const threads = sets(asked.threads), gpus = sets(asked.gpus);
  REQUIRE(threads.size() == placed.size());
  for (std::size_t r = 0; r < placed.size(); ++r) CHECK(placed[r].hardware_threads == threads[r]);
  std::vector<int> ids;
  for (auto const& d : on.devices())
    if (d.type == device_type::gpu) ids.push_back(d.id);
  for (std::size_t r = 0; r < gpus.size(); ++r)
    CHECK(gpus[r].contains(int(std::find(ids.begin(), ids.end(), placed[r].device) - ids.begin())));
}

id_set const first_ten = id_set::range(0, 10), first_twenty = id_set::range(0, 20), first_six = id_set::range(0, 6);
id_set const thread_0{0}, thread_8{8};
auto const by_device = order::by_device;

/// Machines like those of its tests. Eight NUMA nodes of six cores, GPUs at the second, third, sixth and last; threads
/// of a core are neighbours here.
char const* const corona = "numa8_gpus4.xml";
char const* const lassen = "numa2_gpus4.xml"; ///< 40 cores of four threads, which are 8 to 87 and 96 to 175
char const* const coral_ea = "numa:2 core:10 pu:8";
char const* const quartz = "numa:2 core:18 pu:1";

question const questions[]{
    {coral_ea, 20, {.threads_per_core = one}, "each 0-152:8"},
    {coral_ea, 1, {}, "0-159"},
    {coral_ea, 2, {.threads_per_core = one}, "0-72:8;80-152:8"},
    {coral_ea, 8, {.hardware_threads = id_set::range(0, 8)}, "each 0-7"},
    {coral_ea, 2, {.threads_per_core = 8}, "0-79;80-159"},
    {coral_ea, 2, {.threads_per_core = 7}, "0-72:8/7;80-152:8/7"},
    {coral_ea, 2, {.within = first_ten, .threads_per_core = one}, "0-32:8;40-72:8"},
    {coral_ea, 8, {.hardware_threads = thread_0}, "0;0;0;0;0;0;0;0"},
    {lassen,
     40,
     {.order = by_device, .threads_per_core = one},
     "each 8-84:4,96-172:4",
     "0;0;0;0;0;0;0;0;0;0;1;1;1;1;1;1;1;1;1;1;2;2;2;2;2;2;2;2;2;2;3;3;3;3;3;3;3;3;3;3"},
    {lassen, 1, {}, "8-87,96-175", "0-3"},
    {lassen, 2, {.threads_per_core = one}, "8-84:4;96-172:4", "0,1;2,3"},
    {lassen, 2, {.order = by_device, .threads_per_core = one}, "8-84:4;96-172:4", "0,1;2,3"},
    {lassen, 2, {.threads_per_core = 4}, "8-87;96-175", "0,1;2,3"},
    {lassen, 2, {.threads_per_core = 3}, "8-84:4/3;96-172:4/3", "0,1;2,3"},
    {lassen, 2, {.within = first_twenty, .threads_per_core = one}, "8-44:4;48-84:4", "0;1"},
    {quartz, 36, {.threads_per_core = one}, "each 0-35"},
    {quartz, 1, {}, "0-35"},
    {quartz, 2, {.threads_per_core = one}, "0-17;18-35"},
    {quartz, 1, {.hardware_threads = thread_0}, "0"},
    {quartz, 2, {.within = id_set::range(0, 18), .threads_per_core = one}, "0-8;9-17"},
    {quartz, 8, {.hardware_threads = thread_0}, "0;0;0;0;0;0;0;0"},
    // mpibind hands out the two near GPUs; keel uses every GPU before it doubles one
    {lassen, 4, {.hardware_threads = id_set::range(8, 12)}, "each 8-11", "0,1;0,1;2,3;2,3"},
    {lassen, 8, {.hardware_threads = thread_8}, "8;8;8;8;8;8;8;8", "0,1;0,1;2,3;2,3;0,1;0,1;2,3;2,3"},
    {corona,
     48,
     {.order = by_device},
     "each 12-35,60-71,84-95",
     "0;0;0;0;0;0;0;0;0;0;0;0;1;1;1;1;1;1;1;1;1;1;1;1;2;2;2;2;2;2;2;2;2;2;2;2;3;3;3;3;3;3;3;3;3;3;3;3"},
    {corona, 1, {}, "0-95", "0-3"},
    {corona, 2, {}, "0-47;48-95", "0,1;2,3"},
    {corona, 2, {.hardware_threads = id_set{0, 1}}, "0;1"},
    {corona, 2, {.threads_per_core = 2}, "0-47;48-95", "0,1;2,3"},
    {corona, 2, {.within = first_six, .threads_per_core = one}, "0-4:2;6-10:2"},
    {corona, 8, {.threads_per_core = one}, "0-10:2;12-22:2;24-34:2;36-46:2;48-58:2;60-70:2;72-82:2;84-94:2"},
    {corona,
     8,
     {.order = by_device, .threads_per_core = one},
     "12-16:2;18-22:2;24-28:2;30-34:2;60-64:2;66-70:2;84-88:2;90-94:2",
     "0;0;1;1;2;2;3;3"},
    {corona, 8, {.hardware_threads = thread_0}, "0;0;0;0;0;0;0;0"},
    // mpibind uses all threads of a core where there are fewer tasks than NUMA nodes, whatever it is asked for
    {corona, 2, {.threads_per_core = one}, "0-46:2;48-94:2", "0,1;2,3"},
    // without greedy a task stays in one NUMA node
    {corona, 2, {.greedy = false}, "0-11;48-59"},
    {corona, 1, {.threads_per_core = one, .greedy = false}, "0-10:2"},
    {corona, 1, {.within = id_set::range(3, 9), .greedy = false}, "6-11"},
    {corona, 9, {.hardware_threads = id_set{0}, .greedy = false}, "0;0;0;0;0;0;0;0;0"},
    // mpibind gives two NUMA nodes to the first of seven tasks; keel rounds shares, so it is the sixth
    {corona, 7, {}, "0-11;12-23;24-35;36-47;48-59;60-83;84-95"},
};

} // namespace

TEST_CASE("topology: on machines like those of mpibind's tests ranks are where it puts them, or the row says why not") {
  for (auto const& asked : questions) check(keel::test::machine_of(asked.machine), asked);
}
