// SPDX-License-Identifier: MIT
/// @file
/// Fields on a chain of devices, of which the first have no room. What fails is the limit of the address space, or a
/// device of the test's own whose memory is full.
#include <keel/device/runtime.hpp>

#include <keel/residency.hpp>

#include <support/test.hpp>
#include <space/in_child.hpp>

#include "command_line.hpp"

#include <fstream>

#include <sys/resource.h>

namespace kr = keel::residency;

namespace {

/// A second simulated device, whose memory can be full.
struct crowded {
  static constexpr std::string_view name = "crowded";
};
struct crowded_space;
struct crowded_resource : keel::space::simulated_resource {
  static constexpr char const* name = "crowded";
  using execution_space = crowded_space;
  static inline bool is_full = false;
  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment) const {
    return is_full ? nullptr : simulated_resource::allocate(bytes, alignment);
  }
};
struct crowded_space : keel::space::simulated {
  using execution_space = crowded_space;
  using memory_space = keel::space::memory<crowded_resource>;
  using device_type = Kokkos::Device<execution_space, memory_space>;
  using scratch_memory_space = Kokkos::ScratchMemorySpace<crowded_space>;
};

} // namespace

namespace keel {
template <>
struct device_traits<crowded> : device_traits<simulated> {
  using execution_space = crowded_space;
};
} // namespace keel

namespace {

/// A device that this Kokkos was built with.
using host = std::conditional_t<keel::supported<keel::serial>, keel::serial, keel::openmp>;

struct app : keel::defaults {
  using devices = keel::list<host, keel::simulated, crowded>;
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
struct fill_crowded : kr::routine<"fill crowded", kr::on<crowded>, kr::updates<big>> {
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

/// The address space may grow by so many bytes, as long as this lives.
struct limited {
  explicit limited(std::size_t more) {
    getrlimit(RLIMIT_AS, &before);
    std::size_t pages = 0;
    std::ifstream{"/proc/self/statm"} >> pages;
    rlimit now = before;
    now.rlim_cur = pages * 4096 + more;
    setrlimit(RLIMIT_AS, &now);
  }
  limited(limited const&) = delete;
  limited& operator=(limited const&) = delete;
  ~limited() { setrlimit(RLIMIT_AS, &before); }
  rlimit before{};
};

constexpr int cells = 1 << 25; // 256 MiB

/// What comes of fields with room for so many bytes: the device and a sum, or the message; and what the run says.
std::string run_on(std::vector<std::string> words, std::size_t room) {
  keel::test::command_line line{std::move(words)};
  keel::runtime<app> run{line.count, line.data()};
  run.start_devices();
  try {
    limited const here{room};
    kr::fields<app, big> f{run, kr::grid{{cells}, kr::ghost_width{0}}};
    f.run(fill{});
    double sum = 0;
    f.run(total{}, sum);
    return std::string(sum == 0.5 * cells * (cells - 1.0) ? "right; " : "wrong; ") + "on " +
           std::string(run.device_name()) + "; " + run.summary();
  } catch (keel::error const& e) {
    return e.what();
  }
}

/// What fields say on a chain of devices, in a process of its own, because Kokkos 5 starts once in a process.
std::string on(std::string const& chain, std::size_t room, std::string const& level = "warning") {
  keel::device::set_log_level(keel::device::log_level::off);
  return keel::test::in_child([&] {
           setenv("OMP_PROC_BIND", "false", 1); // else Kokkos' OpenMP has something to say
           auto const text = run_on({"app", "--chain-device=" + chain, "--chain-log-level=" + level}, room);
           std::fputs(text.c_str(), stderr);
           return 0;
         })
      .said;
}

constexpr std::size_t one = std::size_t{cells} * sizeof(double), narrow = one + one / 2;
std::string const host_name{host::name};

} // namespace

TEST_CASE("device: fields run on the next of the chain where a device has no room") {
  std::string const roomy = on("simulated," + host_name, 4 * one);
  CHECK(roomy.starts_with("right; "));
  CHECK(roomy.find("simulated: ran 0 times, failed 0 times") != std::string::npos);
  std::string const next = on("simulated," + host_name, narrow, "off");
  CAPTURE(next);
  CHECK(next.starts_with("right; on " + host_name + "; ")); // no longer what the chain begins with
  CHECK(next.find("failed 1 time (the device simulated has no room for big") != std::string::npos);
  CHECK(on("simulated", narrow).starts_with("keel::residency: the device simulated has no room for big"));
}

TEST_CASE("device: each device of the chain without room is named with its reason") {
  crowded_resource::is_full = true;
  std::string const failed = on("crowded,simulated", narrow);
  CAPTURE(failed);
  CHECK(failed.starts_with("keel::residency::fields: no device has room for the variables (the device crowded has no "
                           "room for big, for routine the caller (crowded memory space failed to allocate"));
  CHECK(
      failed.find("); the device simulated has no room for big, for routine the caller (simulated memory space failed "
                  "to allocate") != std::string::npos);
  CHECK(failed.ends_with(". Take smaller arrays, or more ranks."));
  std::string const third = on("crowded,simulated," + host_name, narrow);
  CAPTURE(third);
  CHECK(third.starts_with("keel: warning: residency: routines on_device run on " + host_name +
                          ", because the device crowded has no room for big"));
  CHECK(third.find("; the device simulated has no room for big") != std::string::npos);
  CHECK(third.find("right; ") != std::string::npos);
  for (std::string const device : {"crowded", "simulated"})
    CHECK(third.find(device + ": ran 0 times, failed 1 time (the device " + device + " has no room for big") !=
          std::string::npos);
  crowded_resource::is_full = false;
}

TEST_CASE("device: a device without room for its first routine is named, and the routine can come again") {
  std::string const said = keel::test::in_child([] {
                             setenv("OMP_PROC_BIND", "false", 1);
                             keel::test::command_line line{{"app", "--chain-device=" + host_name}};
                             keel::runtime<app> run{line.count, line.data()};
                             kr::fields<app, big> f{run, kr::grid{{100}, kr::ghost_width{0}}};
                             auto const right = [&] {
                               double sum = 0;
                               f.run(total{}, sum);
                               return sum == 4950 ? " right\n" : " wrong\n";
                             };
                             f.run(fill{});
                             crowded_resource::is_full = true;
                             for (int i = 0; i < 2; ++i) try {
                                 f.run(fill_crowded{});
                               } catch (keel::error const& e) {
                                 std::fputs((e.what() + std::string{right()}).c_str(), stderr);
                               }
                             crowded_resource::is_full = false;
                             f.run(fill_crowded{});
                             std::fputs(right(), stderr);
                             return 0;
                           }).said;
  CAPTURE(said);
  std::string const told = "keel::residency: the device crowded has no room for big, for routine fill crowded (";
  CHECK(said.find(told) == 0);
  CHECK(said.find(told, 1) != std::string::npos);
  CHECK(said.find("Take smaller arrays, or more ranks. right\n") != std::string::npos);
  CHECK(said.ends_with("\n right\n"));
}
