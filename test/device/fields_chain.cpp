// SPDX-License-Identifier: MIT
/// @file
/// Fields on a chain of devices, of which the first have no room: the test's own, whose memory can be full.
#include <keel/device/runtime.hpp>

#include <keel/residency.hpp>

#include <support/test.hpp>
#include <space/in_child.hpp>

#include "command_line.hpp"

namespace kr = keel::residency;

namespace {

/// Simulated devices whose memory can be full.
template <int Number>
struct crowded {
  static constexpr std::string_view name = Number == 1 ? "first" : "second";
};
template <int Number>
struct crowded_space;
template <int Number>
struct crowded_resource : keel::space::simulated_resource {
  static constexpr char const* name = Number == 1 ? "first" : "second";
  using execution_space = crowded_space<Number>;
  static inline bool is_full = false;
  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment) const {
    return is_full ? nullptr : simulated_resource::allocate(bytes, alignment);
  }
};
template <int Number>
struct crowded_space : keel::space::simulated {
  using execution_space = crowded_space;
  using memory_space = keel::space::memory<crowded_resource<Number>>;
  using device_type = Kokkos::Device<execution_space, memory_space>;
  using scratch_memory_space = Kokkos::ScratchMemorySpace<crowded_space>;
};
bool& is_full = crowded_resource<1>::is_full;

} // namespace

namespace keel {
template <int Number>
struct device_traits<crowded<Number>> : device_traits<simulated> {
  using execution_space = crowded_space<Number>;
};
} // namespace keel

namespace {

/// A device that this Kokkos was built with.
using host = std::conditional_t<keel::supported<keel::serial>, keel::serial, keel::openmp>;

struct app : keel::defaults {
  using devices = keel::list<host, crowded<1>, crowded<2>>;
  using ranks = keel::machine::alone;
  static constexpr std::string_view prefix = "chain";
};

struct big : kr::variable<"big", double*> {};
struct fill : kr::routine<"fill", kr::on_device, kr::writes<big>> {
  template <class V>
  static void run(V v) {
    auto const b = v(big{});
    Kokkos::parallel_for(
        "fill", Kokkos::RangePolicy(v.execution_space(), v.owned().begin[0], v.owned().end[0]),
        KOKKOS_LAMBDA(int i) { b(i) = i; });
  }
};
struct fill_first : kr::routine<"fill first", kr::on<crowded<1>>, kr::updates<big>> {
  template <class V>
  static void run(V v) {
    fill::run(v);
  }
};
struct total : kr::routine<"total", kr::on_host, kr::reads<kr::owned<big>>> {
  template <class V>
  static void run(V v, double& sum) {
    auto const b = v(big{});
    for (auto i = v.owned().begin[0]; i < v.owned().end[0]; ++i) sum += b(i);
  }
};

constexpr int cells = 100;

/// What comes of fields: the device and a sum, or the message; and what the run says.
std::string run_on(std::vector<std::string> words) {
  keel::test::command_line line{std::move(words)};
  keel::runtime<app> run{line.count, line.data()};
  try {
    kr::fields<app, big> f{run, kr::grid{{cells}, kr::ghost_width{0}}};
    f.run(fill{});
    double sum = 0;
    f.run(total{}, sum);
    return std::string(sum == 4950 ? "right; " : "wrong; ") + "on " + std::string(run.device_name()) + "; " +
           run.summary();
  } catch (keel::error const& e) {
    return e.what();
  }
}

/// What fields say on a chain of devices, in a process of its own, because Kokkos 5 starts once in a process.
std::string on(std::string const& chain, std::string const& level = "warning") {
  keel::device::set_log_level(keel::device::log_level::off);
  return keel::test::in_child([&] {
           setenv("OMP_PROC_BIND", "false", 1); // else Kokkos' OpenMP has something to say
           auto const text = run_on({"app", "--chain-device=" + chain, "--chain-log-level=" + level});
           std::fputs(text.c_str(), stderr);
           return 0;
         })
      .said;
}

std::string const host_name{host::name};

} // namespace

TEST_CASE("device: fields run on the next of the chain where a device has no room") {
  std::string const roomy = on("first," + host_name);
  CHECK(roomy.starts_with("right; "));
  CHECK(roomy.find("first: ran 0 times, failed 0 times") != std::string::npos);
  is_full = true;
  std::string const next = on("first," + host_name, "off");
  CAPTURE(next);
  CHECK(next.starts_with("right; on " + host_name + "; ")); // no longer what the chain begins with
  CHECK(next.find("failed 1 time (the device first has no room for big") != std::string::npos);
  CHECK(on("first").starts_with("keel::residency: the device first has no room for big"));
  is_full = false;
}

TEST_CASE("device: each device of the chain without room is named with its reason") {
  is_full = crowded_resource<2>::is_full = true;
  std::string const failed = on("second,first");
  CAPTURE(failed);
  CHECK(failed.starts_with("keel::residency::fields: no device has room for the variables (the device second has no "
                           "room for big, for routine the caller (second memory space failed to allocate"));
  CHECK(failed.find("); the device first has no room for big, for routine the caller (first memory space failed to "
                    "allocate") != std::string::npos);
  CHECK(failed.ends_with(". Take smaller arrays, or more ranks."));
  std::string const third = on("second,first," + host_name);
  CAPTURE(third);
  CHECK(third.starts_with("keel: warning: residency: routines on_device run on " + host_name +
                          ", because the device second has no room for big"));
  CHECK(third.find("; the device first has no room for big") != std::string::npos);
  CHECK(third.find("right; ") != std::string::npos);
  for (std::string const device : {"first", "second"})
    CHECK(third.find(device + ": ran 0 times, failed 1 time (the device " + device + " has no room for big") !=
          std::string::npos);
  is_full = crowded_resource<2>::is_full = false;
}

TEST_CASE("device: a device without room for its first routine is named, and the routine can come again") {
  std::string const said = keel::test::in_child([] {
                             setenv("OMP_PROC_BIND", "false", 1);
                             keel::test::command_line line{{"app", "--chain-device=" + host_name}};
                             keel::runtime<app> run{line.count, line.data()};
                             kr::fields<app, big> f{run, kr::grid{{cells}, kr::ghost_width{0}}};
                             auto const right = [&] {
                               double sum = 0;
                               f.run(total{}, sum);
                               return sum == 4950 ? " right\n" : " wrong\n";
                             };
                             f.run(fill{});
                             is_full = true;
                             for (int i = 0; i < 2; ++i) try {
                                 f.run(fill_first{});
                               } catch (keel::error const& e) {
                                 std::fputs((e.what() + std::string{right()}).c_str(), stderr);
                               }
                             is_full = false;
                             f.run(fill_first{});
                             std::fputs(right(), stderr);
                             return 0;
                           }).said;
  CAPTURE(said);
  std::string const told = "keel::residency: the device first has no room for big, for routine fill first (";
  CHECK(said.find(told) == 0);
  CHECK(said.find(told, 1) != std::string::npos);
  CHECK(said.find("Take smaller arrays, or more ranks. right\n") != std::string::npos);
  CHECK(said.ends_with("\n right\n"));
}
