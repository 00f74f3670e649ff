// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What Kokkos' tools hear of an execution space. See execution_space.hpp.

#include "execution_space.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace keel::laws {

/// The fences that tools hear while it lives.
class heard_fences {
public:
  heard_fences() {
    begun = {};
    ended = {};
    Kokkos::Tools::Experimental::set_begin_fence_callback([](char const* label, std::uint32_t on, std::uint64_t* id) {
      *id = 100 + begun.size();
      begun.push_back({label, on});
    });
    Kokkos::Tools::Experimental::set_end_fence_callback([](std::uint64_t id) { ended.push_back(id); });
  }
  heard_fences(heard_fences const&) = delete;
  ~heard_fences() {
    Kokkos::Tools::Experimental::set_begin_fence_callback(nullptr);
    Kokkos::Tools::Experimental::set_end_fence_callback(nullptr);
  }

  /// How many with a label that ends so were of this device, as tools number devices.
  [[nodiscard]] static auto count(std::string const& end, std::uint32_t on) {
    return std::count_if(begun.begin(), begun.end(),
                         [&](fence const& heard) { return heard.label.ends_with(end) && heard.on == on; });
  }
  /// Whether each that began has ended, in this order: fences of one thread do not overlap.
  [[nodiscard]] static bool all_ended() {
    bool good = ended.size() == begun.size();
    for (std::size_t i = 0; good && i < ended.size(); ++i) good = ended[i] == 100 + i;
    return good;
  }

private:
  struct fence {
    std::string label;
    std::uint32_t on;
  };
  static inline std::vector<fence> begun;
  static inline std::vector<std::uint64_t> ended;
};

/// A kernel that throws.
struct throws {
  void operator()(int) const { throw std::out_of_range("index"); }
};

} // namespace keel::laws

TEST_CASE_TEMPLATE_DEFINE("space: an execution space keeps the laws of one, its tools", Space, execution_tools) {
  SUBCASE("tools hear a fence end that throws what a kernel threw") {
    Space const space;
    keel::laws::heard_fences const heard;
    auto const run = [&] {
      Kokkos::parallel_for("throws", Kokkos::RangePolicy<Space>(space, 0, 1), keel::laws::throws{});
      space.fence();
    };
    CHECK_THROWS_AS(run(), std::out_of_range);
    CHECK(heard.all_ended());
  }
  SUBCASE("tools hear which instance a fence is of, and that one without a label has none") {
    Space const space;
    namespace tools = Kokkos::Tools::Experimental;
    auto const on = tools::device_id(space);
    CHECK((on & 0x1ffff) == space.impl_instance_id());
    keel::laws::heard_fences const heard;
    space.fence("a label of the program");
    CHECK(heard.count("a label of the program", on) == 1);
    space.fence();
    CHECK(heard.count(": Unnamed Instance Fence", on) == 1);
#if KOKKOS_VERSION >= 30600 // before it Kokkos fences without a label
    Kokkos::fence("of all instances");
    // More than once where several spaces of keel's run, because Kokkos has one number for all that it does not know.
    CHECK(heard.count("of all instances", std::uint32_t(tools::DeviceTypeTraits<Space>::id) << 24) >= 1);
#endif
    CHECK(heard.all_ended());
  }
}
