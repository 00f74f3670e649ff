// SPDX-License-Identifier: MIT
/// @file
/// The command line, the environment and a file of knobs: zero bytes part the words; the first byte says how many are
/// variables.
#include <keel/impl/device/kinds.hpp>
#include <keel/impl/device/read.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace kd = keel::device;

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  if (size == 0) return 0;
  std::vector<std::string> words{""};
  for (std::size_t at = 1; at < size; ++at)
    if (data[at] == 0) words.emplace_back();
    else words.back() += char(data[at]);

  std::size_t const variables = data[0] % (words.size() + 1);
  for (auto const& row : kd::all_knobs) unsetenv(kd::variable_name("app", row.option).c_str());
  for (std::size_t n = 0; n < variables; ++n) {
    auto const& row = kd::all_knobs[n % std::size(kd::all_knobs)];
    setenv(kd::variable_name("app", row.option).c_str(), words[n].c_str(), 1);
  }
  std::vector<char*> argv{const_cast<char*>("app")};
  for (std::size_t n = variables; n < words.size(); ++n) argv.push_back(words[n].data());
  argv.push_back(nullptr);
  int argc = int(argv.size()) - 1;
  int const before = argc;
  try {
    auto found = kd::read_environment({"app"}).knobs;
    auto const taken = kd::read_arguments({"app"}, argc, argv.data());
    if (argc != before) std::abort();
    kd::leave_rest(taken.rest, argc, argv.data());
    if (argc < 1 || argc > before || argv[std::size_t(argc)] != nullptr) std::abort();
    found.insert(found.end(), taken.knobs.begin(), taken.knobs.end());
    for (auto const& one : found) {
      try {
        (void)kd::parse_number(one.where, one.text, 0);
      } catch (keel::error const&) {
      }
      (void)kd::parse_word(one.where, one.text, {"serial", "nearest", "rank", "none", "all"});
    }
  } catch (keel::error const& e) {
    if (std::string{e.what()}.rfind("keel::device: ", 0) != 0) std::abort();
    if (argc != before && argv[std::size_t(argc)] != nullptr) std::abort();
  }
  try {
    for (auto const& one : kd::parse_config({"app"}, "f", {reinterpret_cast<char const*>(data), size}))
      if (one.from != kd::source::file || one.where.rfind("f:", 0) != 0) std::abort();
  } catch (keel::error const& e) {
    if (std::string{e.what()}.rfind("keel::device: f:", 0) != 0) std::abort();
  }
  return 0;
}
