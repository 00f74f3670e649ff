// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What Kokkos' tools hear of an execution space. See execution_space.hpp.

#include "execution_space.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace keel::laws {

/// The fences that tools hear while it lives.
class heard_fences {
public:
  heard_fences() {
    begun() = {};
    ended() = {};
    Kokkos::Tools::Experimental::set_begin_fence_callback([](char const* label, std::uint32_t, std::uint64_t* id) {
      *id = 100 + begun().size();
      begun().push_back(label);
    });
    Kokkos::Tools::Experimental::set_end_fence_callback([](std::uint64_t id) { ended().push_back(id); });
  }
  heard_fences(heard_fences const&) = delete;
  heard_fences& operator=(heard_fences const&) = delete;
  ~heard_fences() {
    Kokkos::Tools::Experimental::set_begin_fence_callback(nullptr);
    Kokkos::Tools::Experimental::set_end_fence_callback(nullptr);
  }

  [[nodiscard]] static int count(std::string const& label) {
    int found = 0;
    for (auto const& heard : begun()) found += heard == label ? 1 : 0;
    return found;
  }
  /// Whether each that began has ended, in this order: fences of one thread do not overlap.
  [[nodiscard]] static bool all_ended() {
    bool good = ended().size() == begun().size();
    for (std::size_t i = 0; good && i < ended().size(); ++i) good = ended()[i] == 100 + i;
    return good;
  }

private:
  static std::vector<std::string>& begun() {
    static std::vector<std::string> labels;
    return labels;
  }
  static std::vector<std::uint64_t>& ended() {
    static std::vector<std::uint64_t> ids;
    return ids;
  }
};

} // namespace keel::laws

TEST_CASE_TEMPLATE_DEFINE("space: an execution space keeps the laws of one, its tools", Space, execution_tools) {
  SUBCASE("tools hear the fence of an instance, with its label, begin and end once") {
    Space const space;
    keel::laws::heard_fences const heard;
    space.fence("a label of the program");
    CHECK(heard.count("a label of the program") == 1);
    space.fence();
    CHECK(heard.count("a label of the program") == 1);
    CHECK(heard.all_ended());
  }
}
