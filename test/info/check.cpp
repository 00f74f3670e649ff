// SPDX-License-Identifier: MIT
#include "../../impl/info/check.hpp"

#include <support/test.hpp>

using keel::info::checking;
using keel::topology::node;

namespace {

/// What is found on a node with these devices of keel's, as it is printed.
std::string printed(node const& on, std::vector<keel::info::device_row> devices) {
  keel::info::configuration all;
  all.known.push_back({"--keel-device", "KEEL_DEVICE", {}, {}, {}, {}});
  all.devices = std::move(devices);
  return findings_text(checking{on, all, std::nullopt}.found());
}
bool says(std::string const& text, std::string_view words) { return text.find(words) != text.npos; }

} // namespace

TEST_CASE("info: a device that was compiled in and is not here is wrong, a GPU that nothing uses is a note") {
  auto const gpus = node::from_xml(KEEL_TEST_DATA "/gpus_one_side.xml");
  auto const without = printed(gpus, {{"serial", true, true}, {"cuda", false, false}});
  CHECK(says(
      without,
      "wrong: keel::info: the device cuda is not available (it is compiled in, but none is here). Run without it.\n"));
  CHECK(says(without, "note: keel::info: 3 GPUs will not be used (no device of this keel runs there).\n"));
  CHECK_FALSE(says(without, "device serial"));
  auto const with = printed(gpus, {{"serial", true, false}, {"cuda", true, true}});
  CHECK_FALSE(says(with, "not available"));
  CHECK_FALSE(says(with, "will not be used"));
}

TEST_CASE("info: what the system withholds is a note, after what is wrong") {
  auto const text = printed(node::from_xml(KEEL_TEST_DATA "/restricted.xml"), {{"serial", true, true}});
  auto const withheld = text.find("note: keel::info: hardware threads 0-3,8-11,24-31 are withheld ("),
             wrong = text.find("wrong: ");
  CHECK(withheld != text.npos);
  CHECK(says(text, "note: keel::info: NUMA nodes 1 are withheld ("));
  CHECK(wrong < withheld); // the file stands in the place of this machine
}
