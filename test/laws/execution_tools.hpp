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
  using value_type = long;
  void operator()(int) const { throw std::out_of_range("index"); }
  void operator()(int, long&) const { throw std::out_of_range("index"); }
  void operator()(int, long&, bool) const { throw std::out_of_range("index"); }
  template <class Member>
    requires requires(Member const& member) { member.league_rank(); }
  void operator()(Member const&) const {
    throw std::out_of_range("index");
  }
};

/// The kernels that tools hear while it lives; it can be told to throw at an end.
class heard_kernels {
  using number = std::uint64_t;

public:
  heard_kernels() : before_(Kokkos::Tools::Experimental::get_callbacks()) {
    begun = 0;
    ended = {};
    auto heard = before_;
    heard.begin_parallel_for = heard.begin_parallel_reduce = heard.begin_parallel_scan = begin;
    heard.end_parallel_for = heard.end_parallel_reduce = heard.end_parallel_scan = end;
    Kokkos::Tools::Experimental::set_callbacks(heard);
  }
  heard_kernels(heard_kernels const&) = delete;
  ~heard_kernels() { Kokkos::Tools::Experimental::set_callbacks(before_); }

  /// Whether this many have begun, and each has ended once, in this order.
  [[nodiscard]] static bool all_ended(number count) {
    bool good = begun == count && ended.size() == count;
    for (number i = 0; good && i < count; ++i) good = ended[i] == i;
    return good;
  }
  static inline bool throws_at_end = false;

private:
  static void begin(char const*, std::uint32_t, number* id) { *id = begun++; }
  static void end(number id) {
    ended.push_back(id);
    if (throws_at_end) throw std::runtime_error("a tool's");
  }
  static inline number begun = 0;
  static inline std::vector<number> ended;
  Kokkos::Tools::Experimental::EventSet before_;
};

/// Whether a kernel, or the fence after it, throws what the kernel threw.
template <class Space, class Kernel>
bool throws_index(Space const& space, Kernel const& kernel) {
  try {
    kernel();
    space.fence();
  } catch (std::out_of_range const& what) {
    return what.what() == std::string("index");
  }
  return false;
}

} // namespace keel::laws

TEST_CASE_TEMPLATE_DEFINE("space: an execution space keeps the laws of one, its tools", Space, execution_tools) {
  SUBCASE("tools hear a fence end that throws what a kernel threw") {
    Space const space;
    keel::laws::heard_fences const heard;
    CHECK(keel::laws::throws_index(
        space, [&] { Kokkos::parallel_for("throws", Kokkos::RangePolicy<Space>(space, 0, 1), keel::laws::throws{}); }));
    CHECK(heard.all_ended());
  }

  SUBCASE("tools hear each kernel end once, also one that throws") {
    Space const space;
    Kokkos::RangePolicy<Space> const items(space, 0, 8);
    long total = 0;
    keel::laws::heard_kernels heard;
    keel::laws::throws const throws;
    CHECK(keel::laws::throws_index(space, [&] { Kokkos::parallel_for("throws", items, throws); }));
    CHECK(heard.all_ended(1));
    CHECK(keel::laws::throws_index(space, [&] { Kokkos::parallel_reduce("throws", items, throws, total); }));
    CHECK(heard.all_ended(2));
    CHECK(keel::laws::throws_index(space, [&] { Kokkos::parallel_scan("throws", items, throws); }));
    CHECK(heard.all_ended(3));
    Kokkos::TeamPolicy<Space> const teams(space, 2, 1);
    CHECK(keel::laws::throws_index(space, [&] { Kokkos::parallel_for("throws", teams, throws); }));
    CHECK(heard.all_ended(4));
    Kokkos::parallel_reduce("does not", items, KOKKOS_LAMBDA(int, long& sum) { ++sum; }, total);
    CHECK(total == 8);
    CHECK(heard.all_ended(5));
#if KOKKOS_VERSION < 40000 // since then the closure of a scan with a total ends before tools hear of its end
    CHECK(keel::laws::throws_index(space, [&] { Kokkos::parallel_scan("throws", items, throws, total); }));
    CHECK(heard.all_ended(6));
#endif
  }

  SUBCASE("a tool that throws where a kernel has thrown ends no program") {
    Space const space;
    Kokkos::RangePolicy<Space> const items(space, 0, 8);
    keel::laws::heard_kernels heard;
    heard.throws_at_end = true;
    CHECK_THROWS_AS(Kokkos::parallel_for("throws", items, keel::laws::throws{}), std::runtime_error);
    heard.throws_at_end = false;
    try {
      space.fence();
    } catch (std::out_of_range const&) { // of a kernel that ran asynchronously
    }
    CHECK(heard.all_ended(1));
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
