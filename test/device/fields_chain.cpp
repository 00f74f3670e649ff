// SPDX-License-Identifier: MIT
/// @file
/// Fields on a chain of devices, of which the first has no room. The limit of the address space is what fails.
#include <keel/device/runtime.hpp>

#include <keel/residency.hpp>

#include <doctest/doctest.h>
#include <space/in_child.hpp>

#include "command_line.hpp"

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <type_traits>
#include <vector>

#include <sys/resource.h>

namespace kr = keel::residency;

namespace {

/// A device that this Kokkos was built with.
using host = std::conditional_t<keel::supported<keel::serial>, keel::serial, keel::openmp>;

struct app : keel::defaults {
  using devices = keel::list<host, keel::simulated>;
  using ranks = keel::machine::alone;
  static constexpr std::string_view prefix = "chain";
};

struct big : kr::variable<"big", double*> {};
struct fill : kr::routine<"fill", kr::on_device, kr::writes<big>> {
  template <class V>
  static void run(V v) {
    auto const b = v(big{});
    Kokkos::parallel_for("fill", Kokkos::RangePolicy(v.execution_space(), v.owned().begin[0], v.owned().end[0]),
                         KOKKOS_LAMBDA(int i) { b(i) = i; });
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
    return (sum == 0.5 * cells * (cells - 1.0) ? "right; " : "wrong; ") + run.summary();
  } catch (keel::error const& e) {
    return e.what();
  }
}

/// The same in a process of its own, because Kokkos 5 starts once in a process.
std::string on(std::vector<std::string> const& words, std::size_t room) {
  return keel::test::in_child([&] {
           setenv("OMP_PROC_BIND", "false", 1); // else Kokkos' OpenMP has something to say
           std::fputs(run_on(words, room).c_str(), stderr);
           return 0;
         }).said;
}

} // namespace

TEST_CASE("device: fields run on the next of the chain where a device has no room") {
  constexpr std::size_t one = std::size_t{cells} * sizeof(double);
  keel::device::set_log_level(keel::device::log_level::off);
  std::string const both = "--chain-device=simulated," + std::string{host::name};
  std::string const roomy = on({"app", both}, 4 * one);
  CHECK(roomy.find("right; ") == 0);
  CHECK(roomy.find("simulated: ran 0 times, failed 0 times") != std::string::npos);
  std::string const narrow = on({"app", both, "--chain-log-level=off"}, one + one / 2);
  CAPTURE(narrow);
  CHECK(narrow.find("right; ") == 0);
  CHECK(narrow.find("failed 1 times (the device simulated has no room for big") != std::string::npos);
  std::string const alone = on({"app", "--chain-device=simulated"}, one + one / 2);
  CHECK(alone.find("keel::residency: the device simulated has no room for big") == 0);
}
