// SPDX-License-Identifier: MIT
#include <keel/device/report.hpp>

#include <doctest/doctest.h>
#include <support/shell.hpp>
#include <support/skip.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>

// What only a whole process shows: exit codes, what is printed once a job, who ends what.
// KEEL_TEST_PROGRAM is the program; KEEL_TEST_LAUNCH "mpiexec … -n", or empty without MPI;
// KEEL_TEST_HOST_DEVICE a host device that Kokkos was built with.

namespace {

struct result {
  int code;
  std::string output;

  [[nodiscard]] bool says(std::string const& words) const { return output.find(words) != std::string::npos; }
  /// Whether the lines are there in this order; warnings, which go another way, and Kokkos' own lines may be between
  /// them.
  [[nodiscard]] bool says_in_order(std::initializer_list<char const*> lines) const {
    std::size_t from = 0;
    for (std::string const line : lines) {
      auto const at = output.find(line, from);
      if (at == std::string::npos) return false;
      from = at + line.size();
    }
    return true;
  }
  [[nodiscard]] int count(std::string const& words) const {
    int n = 0;
    for (auto at = output.find(words); at != std::string::npos; at = output.find(words, at + 1)) ++n;
    return n;
  }
};

result shell(std::string const& command) {
  auto const heard = keel::test::shell(command + " 2>&1");
  return {heard.code, heard.out};
}

result program(std::string const& arguments, std::string const& environment = "") {
  return shell("env " + environment + " " KEEL_TEST_PROGRAM " " + arguments);
}

/// The set of hardware threads, such as 0,8 or 0-3,8-11, that follows these words; the words where they are not there.
std::string set_after(std::string const& output, std::string const& words) {
  auto const at = output.find(words);
  if (at == std::string::npos) return words;
  auto set = output.substr(at + words.size());
  set.resize(std::min(set.find_first_not_of("0123456789-,"), set.size()));
  if (set.ends_with(',')) set.pop_back();
  return set;
}

std::string const launch = KEEL_TEST_LAUNCH;

/// The program on so many ranks, for a minute at most.
result on_ranks(int ranks, std::string const& arguments) {
  return shell("timeout 60 " + launch + " " + std::to_string(ranks) + " " KEEL_TEST_PROGRAM " " + arguments);
}

} // namespace

TEST_CASE("device: libraries in one program share Kokkos and MPI, whichever ends first") {
  for (std::string const first : {"first", "second"})
    for (bool const has_kokkos : {false, true}) {
      CAPTURE(first);
      auto const r = program("end-in-turn " + first + (has_kokkos ? " kokkos" : ""),
                             "APP_DEVICE=" KEEL_TEST_HOST_DEVICE " SECOND_DEVICE=simulated");
      CHECK(r.code == 0);
      CHECK(r.says_in_order({"first on " KEEL_TEST_HOST_DEVICE ", second on simulated\n",
                             "kokkos runs 1, the other is the default 1\n",
                             has_kokkos ? "kokkos runs 1, mpi runs 1\n" : "kokkos runs 0, mpi runs 1\n"}));
    }
}

TEST_CASE("device: the program runs without a word of advice and ends well") {
  auto const r = program("facts in.txt --app-device=" KEEL_TEST_HOST_DEVICE " -- --app-help");
  CAPTURE(r.output);
  CHECK(r.code == 0);
  CHECK(r.says("device " KEEL_TEST_HOST_DEVICE "\n"));
  CHECK(r.says("argument facts\nargument in.txt\nargument --\nargument --app-help\n"));
  CHECK(r.says("knob --app-device [] " KEEL_TEST_HOST_DEVICE " command line\n"));
  CHECK(r.says("kokkos runs 0\n"));
}

TEST_CASE("device: a malformed knob ends with code 2 and the message, from argv and from the environment") {
  auto const argument = program("facts --app-device-instance=4x");
  CAPTURE(argument.output);
  CHECK(argument.code == 2);
  CHECK(
      argument.says("keel::device: --app-device-instance='4x' is not a value for this knob ('x' follows the number)."));
  CHECK_FALSE(argument.says("device " KEEL_TEST_HOST_DEVICE));
  auto const variable = program("facts", "APP_NUM_THREADS=' 4'");
  CHECK(variable.code == 2);
  CHECK(variable.says("APP_NUM_THREADS=' 4'"));
  auto const unknown = program("facts --app-num-thread 4");
  CHECK(unknown.code == 2);
  CHECK(unknown.says("Did you mean --app-num-threads?"));
}

TEST_CASE("device: threads are cut over as many NUMA regions as the knob says, and no more than there are") {
#if KEEL_WITH_TBB
  // hwloc is told that the first two hardware threads of this machine are a NUMA node each.
  auto const late = [](std::string const& regions) {
    return program("late --app-device=tbb --app-num-threads=2 --app-print-configuration --app-numa-regions=" + regions,
                   "HWLOC_SYNTHETIC='numa:2 core:1 pu:1' HWLOC_THISSYSTEM=1");
  };
  auto const three = late("3");
  CAPTURE(three.output);
  CHECK(three.code == 2);
  if (three.says("the largest value here is 1")) return keel::test::skip("no hardware threads 0 and 1");
  CHECK(three.says("--app-numa-regions=3 is more than tbb has (the largest value here is 2)"));
  auto const two = late("2");
  CAPTURE(two.output);
  CHECK(two.code == 0);
  CHECK(two.says("keel::space::tbb: 2 threads on 2 NUMA regions"));
  CHECK(two.says("sum 499500"));
  CHECK(two.says("threads 2"));
#else
  keel::test::skip("no oneTBB");
#endif
}

TEST_CASE("device: a set of hardware threads is read whole, also one that is not one range") {
  CHECK(set_after("rank 0 runs on 0,2, a worker on 0,2, tbb has 2;", "rank 0 runs on ") == "0,2");
  CHECK(set_after("rank 0 runs on 0-3,8-11;\n", "rank 0 runs on ") == "0-3,8-11");
  CHECK(set_after("rank 1 runs on 7", "rank 1 runs on ") == "7");
  CHECK(set_after("rank 1 runs on 7", "rank 0 runs on ") == "rank 0 runs on ");
}

TEST_CASE("device: --keel-bind=place binds each rank's threads to hardware threads of its own, and says so") {
  if (launch.empty()) return keel::test::skip("no MPI in this build");
  auto const ranks = [](std::string const& words, std::string const& variables = "") {
    return shell("env " + variables + " timeout 60 " + launch +
                 " 2 " KEEL_TEST_PROGRAM " bind --app-log-level=information " + words);
  };
  auto const r = ranks("--app-bind=place --app-tbb-num-threads=2");
  CAPTURE(r.output);
  CHECK(r.code == 0);
  auto const place = [&](std::string const& before) { return set_after(r.output, before); };
  std::string const first = place("information: rank 0 is bound to hardware threads "),
                    second = place("information: rank 1 is bound to hardware threads ");
  CHECK(first == place("rank 0 runs on "));
  CHECK(second == place("rank 1 runs on "));
#if KEEL_WITH_TBB
  CHECK(r.count(", a worker on " + first + ", tbb has 2;") + r.count(", a worker on " + second + ", tbb has 2;") >= 2);
#endif
  if (r.says("OpenMP has ")) { // each of its threads stays where the rank is
    auto const two = ranks("--app-bind=place --app-openmp-num-threads=2");
    CAPTURE(two.output);
    CHECK(two.count("OpenMP has 2,") == 2);
    CHECK(two.count(", OpenMP on " + first + ",") >= 2);
    CHECK(two.count(", OpenMP on " + second + ",") >= 2);
  }
  if (std::thread::hardware_concurrency() > 1) CHECK(first != second);
  CHECK_FALSE(ranks("").says("is bound to"));
  CHECK(ranks("--app-bind=place", "OMP_PROC_BIND=spread").count("OMP_PROC_BIND is set, so OpenMP binds its threads") ==
        1);
}

TEST_CASE("device: a rank that cannot be bound ends all of them with the reason") {
  auto const other = program("bind --app-bind=place", "HWLOC_SYNTHETIC='numa:2 core:1 pu:1'");
  CAPTURE(other.output);
  CHECK(other.code == 2);
  CHECK(other.says("is not this machine"));
  auto const gpus = program("bind --app-bind=place,gpu", "HWLOC_SYNTHETIC='numa:2 core:1 pu:1' HWLOC_THISSYSTEM=1");
  CAPTURE(gpus.output);
  CHECK(gpus.code == 2);
  CHECK(gpus.says("ranks cannot be placed by device ("));
  if (launch.empty()) return keel::test::skip("no MPI in this build");
  auto const some = shell("timeout 60 " + launch +
                          " 2 sh -c 'test \"${OMPI_COMM_WORLD_RANK:-$PMI_RANK}\" = 1 || export APP_BIND=place; "
                          "exec " KEEL_TEST_PROGRAM " bind'");
  CAPTURE(some.output);
  CHECK(some.code != 0);
  CHECK(some.count("some ranks are to be bound and others not") == 1);
}

TEST_CASE("device: --keel-hugepages asks for huge pages for large arrays in keel's host memories") {
#if KEEL_WITH_TBB
  if (!std::filesystem::exists("/sys/kernel/mm/transparent_hugepage")) return keel::test::skip("no huge pages here");
  auto const huge = [](std::string const& arguments, std::string const& environment = "") {
    return program("hugepages --app-device=tbb " + arguments, environment);
  };
  CHECK(huge("").says("huge pages 0\n"));
  CHECK(huge("--app-hugepages=yes").says("huge pages 1\n"));
  CHECK(huge("", "APP_TBB_HUGEPAGES=yes").says("huge pages 1\n"));
  CHECK(huge("--app-hugepages=no", "APP_HUGEPAGES=yes").says("huge pages 0\n"));
  CHECK(program("facts --app-hugepages=yes").says("knob --app-hugepages [tbb] yes command line\n"));
#endif
}

TEST_CASE("device: --keel-stack-size is the stack of oneTBB's threads") {
#if KEEL_WITH_TBB
  auto const stack = [](std::string const& arguments, std::string const& environment = "") {
    return program("stack --app-device=tbb --app-num-threads=2 " + arguments, environment);
  };
  auto const r = stack("--app-stack-size=3M");
  CAPTURE(r.output);
  CHECK(r.code == 0);
  CHECK(r.says("stack 3145728\n"));
  CHECK(stack("", "APP_STACK_SIZE=5M APP_TBB_STACK_SIZE=2097152").says("stack 2097152\n"));
  CHECK(stack("--app-tbb-stack-size=1M --app-stack-size=7M").says("stack 1048576\n"));
  CHECK_FALSE(stack("").says("stack 1048576\n"));
  auto const small = stack("--app-stack-size=1K");
  CHECK(small.code == 2);
  CHECK(small.says("--app-stack-size=1K is less than tbb takes (the smallest value is 64K). Give more."));
  CHECK(
      stack("--app-stack-size=17G").says("--app-stack-size=17G is more than tbb has (the largest value here is 16G)"));
  CHECK(stack("--app-stack-size=3.5M").says("'.5' follows the number"));
  CHECK(program("facts --app-stack-size=3M").says("knob --app-stack-size [tbb] 3M command line\n"));
#else
  keel::test::skip("no oneTBB");
#endif
}

TEST_CASE("device: two parts of a program that were compiled differently are refused at the start") {
  for (auto const& [command, differs] : {std::pair{KEEL_TEST_MISMATCHED " facts", "vector size 7"},
                                         std::pair{KEEL_TEST_MISMATCHED_DEFAULTS " facts", "keel::space::pool<>"}}) {
    auto const r = shell(command);
    CAPTURE(r.output);
    CHECK(r.code == 2);
    CHECK(r.says("two parts of this program were compiled differently"));
    CHECK(r.says(differs));
  }
}

TEST_CASE("device: the configuration that is printed shows the four default spaces") {
  auto const r = program("late --app-print-configuration");
  CAPTURE(r.output);
  CHECK(r.count("keel's defaults: device ") == 1);
}

TEST_CASE("device: as JSON the configuration is one line, and Kokkos' own is left out") {
  auto const r = program("late --app-print-configuration=json");
  CAPTURE(r.output);
  CHECK(r.code == 0);
  CHECK(r.output.starts_with("{\"knobs\": [{\"option\": \"--app-"));
  CHECK(r.count("\"}]}\n") == 1);
  CHECK_FALSE(r.says("keel's defaults"));
}

TEST_CASE("device: help prints every option once and asks the program to end") {
  auto const r = program("facts --app-help");
  CHECK(r.code == 0);
  CHECK(r.count("--app-num-threads N") == 1);
  CHECK_FALSE(r.says("argument facts"));
}

TEST_CASE("device: a known knob without a device for it is taken, with one word about it") {
  auto const r = program("facts --app-device-instance=0 --app-device=" KEEL_TEST_HOST_DEVICE);
  CAPTURE(r.output);
  CHECK(r.code == 0);
  CHECK(r.count("--app-device-instance has no effect") == 1);
  CHECK_FALSE(r.says("argument --app-device-instance"));
  CHECK_FALSE(program("facts --app-device-instance=0 --app-log-level=silent").says("no effect"));
}

TEST_CASE("device: a process that may use one hardware thread takes one thread by itself") {
  auto const r = shell("taskset -c $(taskset -pc $$ | sed 's/.*: //; s/[-,].*//') " KEEL_TEST_PROGRAM " facts");
  CAPTURE(r.output);
  CHECK(r.code == 0);
  if (!r.says("--app-num-threads [")) return keel::test::skip("no device with threads");
  CHECK(r.count("--app-num-threads [") + r.count("--app-numa-regions [") ==
        r.count("] 1 unset\n") - r.count("[] 1 unset\n"));
}

TEST_CASE("device: Kokkos starts at the first use of a device and ends with the runtime") {
  for (char const* device : {KEEL_TEST_HOST_DEVICE, "simulated"}) {
    auto const r = program(std::string{"late --app-device="} + device);
    CAPTURE(r.output);
    CHECK(r.code == 0);
    CHECK(r.says("started before 0\nsum 499500\nstarted after 1\n"));
    CHECK(r.says("kokkos runs 0\n"));
  }
}

TEST_CASE("device: a knob that comes too late says so, once on standard error") {
  auto const r = program("late --app-print-configuration");
  CAPTURE(r.output);
  CHECK(r.code == 0);
  if (r.says("late invalid for device")) return keel::test::skip("no device with threads");
  CHECK(r.count("late not applied") == 2);
  CHECK(r.count("has no effect, because Kokkos runs already") == 1);
}

TEST_CASE("device: what is asked for is what runs") {
  auto const r = program("late --app-num-threads=1");
  CAPTURE(r.output);
  CHECK(r.code == 0);
  if (r.says("late invalid for device")) return keel::test::skip("no device with threads");
  CHECK(r.says("threads 1\n"));
}

TEST_CASE("device: as Viskores' OpenMP and TBB: all threads or half of them, as the library counts") {
  struct count {
    int has = 0, of = 0, counted = 0;
  };
  auto const threads = [](std::string const& device, std::string const& words) {
    auto const r = program("threads --app-numa-regions=1 " + words, "-u OMP_NUM_THREADS -u OMP_PROC_BIND");
    count c;
    auto const at = r.output.find(device + " has ");
    if (at != std::string::npos)
      std::sscanf(r.output.c_str() + at + device.size(), " has %d threads of %d and counts %d", &c.has, &c.of,
                  &c.counted);
    return c;
  };
  bool is_any = false;
  for (std::string const device : {"tbb", "openmp"}) {
    CAPTURE(device);
    count const all = threads(device, "");
    if (all.of == 0) continue;
    is_any = true;
    CHECK(all.has == all.of);
    CHECK(all.counted == all.of);
    int const wanted = std::max(1, all.of / 2);
    count const half = threads(device, "--app-num-threads=" + std::to_string(wanted));
    CHECK(half.of == all.of);
    CHECK(half.has == wanted);
    CHECK(half.counted == wanted);
  }
  if (!is_any) keel::test::skip("no device with threads");
}

TEST_CASE("device: a Kokkos that the application started is used and not ended") {
  auto const r = program("kokkos-of-the-application --app-device=" KEEL_TEST_HOST_DEVICE);
  CAPTURE(r.output);
  CHECK(r.code == 0);
  CHECK(r.says("started before 1\nsum 499500\n"));
  CHECK(r.says("kokkos runs 1\n"));
}

TEST_CASE("device: an MPI that the application started is used and not ended") {
  if (launch.empty()) return keel::test::skip("no MPI in this build");
  auto const r = program("mpi-of-the-application");
  CHECK(r.code == 0);
  CHECK(r.says("mpi ended 0\n"));
  CHECK(program("facts").says("mpi ended 0\n")); // keel's, too: it ends when the process exits
}

TEST_CASE("device: runtimes in turn share an MPI that runs until the process exits or the policy ends it") {
  if (launch.empty()) return keel::test::skip("no MPI in this build");
  auto const r = on_ranks(2, "library");
  CAPTURE(r.output);
  CHECK(r.code == 0);
  CHECK(r.count("library on 2 ranks\n") == 6);
  auto const ended = program("library-that-ends-mpi");
  CAPTURE(ended.output);
  CHECK(ended.count("library on 1 ranks\n") == 1);
  CHECK(ended.says("keel::machine::session: MPI has ended (it starts once a process)"));
  CHECK(ended.code == 2);
}

TEST_CASE("device: in every order of starting MPI and Kokkos, what keel's own devices are told applies") {
  std::string const tbb = "--app-device=tbb --app-num-threads=1 --kokkos-print-configuration";
  for (char mpi : {'k', 'a'})
    for (char kokkos : {'k', 'b', 'm'})
      for (char end : {'i', 'o'}) {
        if ((kokkos == 'k' && end == 'i') || (mpi == 'a' && launch.empty())) continue;
        std::string const order{mpi, kokkos, end};
        CAPTURE(order);
        auto const r = program("order " + order + " " + tbb);
        CAPTURE(r.output);
#if KEEL_WITH_TBB
        CHECK(r.code == 0);
        CHECK(r.says_in_order({"set success\n", "sum 499500\n", "sum 499500\n", "threads 5\n", "again not applied\n"}));
        CHECK(r.count("setting num-threads of tbb has no effect") == 1);
        CHECK(r.count("--kokkos-print-configuration has no effect, because the application has started Kokkos") ==
              (kokkos != 'k'));
        CHECK(r.count("kokkos kept 1\n") == (kokkos != 'k' && end == 'o'));
        if (!launch.empty()) CHECK(r.says("mpi ended 0\n"));
#endif
#if KEEL_WITH_TBB
        CHECK(program("order " + order + "n " + tbb).says("threads 1\n")); // what the command line said, and no call
#endif
        auto const own = program("order " + order + " --app-device=" KEEL_TEST_HOST_DEVICE " --app-num-threads=1");
        CAPTURE(own.output);
        CHECK(own.code == 0);
        CHECK(own.says("sum 499500\nsum 499500\n"));
        if (own.says("set invalid for device")) continue;
        // Kokkos' own threads: told by variables where the application starts it after keel, named once where it came
        // first.
        CHECK(own.says(kokkos == 'k' ? "set success\n" : "set not applied\n"));
        CHECK(own.says(kokkos == 'k' ? "threads 5\n" : kokkos == 'm' ? "threads 1\n" : "threads "));
        CHECK(own.count("--app-num-threads has no effect") == (kokkos == 'b'));
      }
}

TEST_CASE("device: the application may end MPI inside the runtime, in every order of Kokkos") {
  if (launch.empty()) return keel::test::skip("no MPI in this build");
  for (std::string const order : {"Kko", "Kbi", "Kmo", "Ako", "Abo", "Ami"}) {
    CAPTURE(order);
    auto const r = on_ranks(2, "order " + order + " --app-device=" KEEL_TEST_HOST_DEVICE);
    CAPTURE(r.output);
    CHECK(r.code == 0);
    CHECK(r.count("sum 499500\n") == 4);
    CHECK(r.count("mpi ended 1\n") == 2);
    CHECK_FALSE(r.says("keel::"));
  }
}

TEST_CASE("device: the elements of a view are reduced over ranks, wherever it lies") {
  if (launch.empty()) return keel::test::skip("no MPI in this build");
  for (char const* device : {KEEL_TEST_HOST_DEVICE, "simulated"}) {
    auto const r = on_ranks(2, std::string{"elements --app-device="} + device);
    CAPTURE(r.output);
    CHECK(r.code == 0);
    CHECK(r.count("elements 3 3\n") == 2);
    CHECK(r.count("has gaps (its elements are sent as they lie). Copy it to one without.") == 2);
  }
}

TEST_CASE("device: a device without memory for an array is disabled, and the next one is tried") {
  auto const r = program("exhaust --app-device=simulated," KEEL_TEST_HOST_DEVICE);
  CAPTURE(r.output);
  CHECK(r.code == 0);
  CHECK(r.says("done 0, Kokkos runs 1\n"));
  CHECK(r.says("simulated: ran 0 times, failed 1 time ("));
  CHECK(r.says(KEEL_TEST_HOST_DEVICE ": ran 0 times, failed 1 time ("));
  CHECK(r.count("may not run") >= 2);
}

TEST_CASE("device: a mistake that all ranks make is told once") {
  if (launch.empty()) return keel::test::skip("no MPI in this build");
  auto const r = on_ranks(4, "all-throw");
  CAPTURE(r.output);
  CHECK(r.code != 0);
  CHECK(r.count("keel::test: the grid does not fit (it was told to).") == 1);
}

TEST_CASE("device: MPI is asked for a thread level, and what it grants is told") {
  if (launch.empty()) return keel::test::skip("no MPI in this build");
  CHECK(program("facts").says("thread level"));
  CHECK_FALSE(program("facts").says("thread level 0"));
  auto const r = program("threads-of-mpi");
  CAPTURE(r.output);
  CHECK(r.says("thread level 3"));
}

TEST_CASE("device: an argument error is printed once a job, and every rank ends") {
  if (launch.empty()) return keel::test::skip("no MPI in this build");
  auto const r = shell(launch + " 2 " KEEL_TEST_PROGRAM " facts --app-device=cuba");
  CAPTURE(r.output);
  CHECK(r.code == 2);
  CHECK(r.count("there is no device 'cuba'") == 1);
}

TEST_CASE("device: ranks that disagree on what messages depend on all end with one error that has both values") {
  if (launch.empty()) return keel::test::skip("no MPI in this build");
  auto const differ = [](std::string const& first, std::string const& second, std::string const& message) {
    auto const r = shell("timeout 60 " + launch + " 1 " KEEL_TEST_PROGRAM " facts " + first +
                         " : -n 2 " KEEL_TEST_PROGRAM " facts " + second);
    CAPTURE(r.output);
    CHECK(r.code == 2);
    CHECK(r.count("keel::device: ranks do not agree on " + message + ". Give it the same value on every rank.") == 1);
  };
  differ("--app-exchange-together=yes", "--app-exchange-together=no",
         "--app-exchange-together (yes on rank 0, no on rank 1)");
  differ("--app-exchange-through=direct", "", "--app-exchange-through (direct on rank 0, measured on rank 1)");
  differ("", "--app-tracking=traced", "--app-tracking (the first on rank 0, traced on rank 1)");
  differ("--app-help", "", "--app-help (on on rank 0, off on rank 1)");
}

TEST_CASE("device: a device that is refused is named with its knob and its source") {
  auto const argument = program("facts --app-device=nope", "APP_DEVICE=serial");
  CAPTURE(argument.output);
  CHECK(argument.code == 2);
  CHECK(argument.says("keel::device: --app-device=nope: there is no device 'nope' ("));
  auto const variable = program("facts", "APP_DEVICE=nope");
  CHECK(variable.code == 2);
  CHECK(variable.says("keel::device: APP_DEVICE=nope: there is no device 'nope' ("));
  CHECK(program("facts", "APP_DEVICE=" KEEL_TEST_HOST_DEVICE ",sycl")
            .says("APP_DEVICE=" KEEL_TEST_HOST_DEVICE ",sycl: this program was built without the device 'sycl'"));
}

TEST_CASE("device: a runtime that outlives main says so, and one that std::exit leaves does not crash") {
  for (char const* device : {KEEL_TEST_HOST_DEVICE, "tbb", "simulated"}) {
#if !KEEL_WITH_TBB
    if (std::string{device} == "tbb") continue;
#endif
    CAPTURE(device);
    for (char const* owner : {"static", "thread"}) {
      auto const r = program("outlive " + std::string{owner} + " --app-device=" + device);
      CAPTURE(r.output);
      CHECK(r.code == 0);
      CHECK(r.says("sum 499500\n"));
      CHECK(r.count("keel::runtime: the runtime ends after main, and leaves Kokkos as it is (") == 1);
    }
    auto const exited = program("outlive exit --app-device=" + std::string{device});
    CAPTURE(exited.output);
    CHECK(exited.code == 3);
    CHECK(exited.says("sum 499500\n"));
  }
}

TEST_CASE("device: the child of a fork computes on each device and ends, and so does its parent") {
  for (char const* device : {KEEL_TEST_HOST_DEVICE, "tbb", "simulated"}) {
    if (device == std::string{"openmp"}) continue; // libgomp's threads are not keel's
#if !KEEL_WITH_TBB
    if (std::string{device} == "tbb") continue;
#endif
    std::string const command = "timeout 60 " KEEL_TEST_PROGRAM " fork --app-device=" + std::string{device};
    auto const one = shell(command);
    CAPTURE(one.output);
    CHECK(one.code == 0);
    CHECK(one.says("child 0\n"));
    if (launch.empty()) continue;
    auto const two = on_ranks(2, std::string{"fork --app-device="} + device);
    CAPTURE(two.output);
    CHECK(two.code == 0);
    CHECK(two.count("child 0\n") == 2);
  }
}

TEST_CASE("device: an exception that is not keel's keeps its message on the way out of a job") {
  if (launch.empty()) return keel::test::skip("no MPI in this build");
  auto const r = on_ranks(2, "throws-another");
  CAPTURE(r.output);
  CHECK(r.code != 0);
  CHECK(r.code != 124);
  CHECK(r.says("cell 7 of 5 [rank 1 of 2 on host "));
}

TEST_CASE("device: an exception that nothing reports ends the job within seconds") {
  if (launch.empty()) return keel::test::skip("no MPI in this build");
  auto const begin = std::chrono::steady_clock::now();
  auto const r = on_ranks(2, "throws-and-says-nothing");
  CAPTURE(r.output);
  CHECK(r.code != 0);
  CHECK(r.code != 124);
  CHECK(r.says("an exception leaves the scope of the runtime [rank 1 of 2 on host "));
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds{30});
}

TEST_CASE("device: a rank that returns early is found by --keel-end-timeout, which names it and who is missing") {
  if (launch.empty()) return keel::test::skip("no MPI in this build");
  auto const r = on_ranks(3, "leaves-early --app-end-timeout=1");
  CAPTURE(r.output);
  CHECK(r.code != 0);
  CHECK(r.code != 124);
  CHECK(r.count("keel::runtime: rank 1 has ended and rank 0 has not, for 1 s (") == 1);
  CHECK(r.says("change --app-end-timeout. [rank 1 of 3 on host "));
  CHECK(on_ranks(3, "facts --app-end-timeout=1").code == 0);
  CHECK(program("facts --app-end-timeout=0").code == 2);
  CHECK(program("facts --app-end-timeout=5").says("knob --app-end-timeout [] 5 command line\n"));
  CHECK(program("facts").says("knob --app-end-timeout [] never unset\n"));
}

TEST_CASE("device: a rank that an exception unwinds aborts the job with the message") {
  if (launch.empty()) return keel::test::skip("no MPI in this build");
  auto const begin = std::chrono::steady_clock::now();
  auto const r = on_ranks(2, "throws");
  CAPTURE(r.output);
  CHECK((r.code == 2 || r.says("ucp_worker.c"))); // as on one rank; UCX, below MPICH 5, can stumble in MPI_Abort
  CHECK(r.says("keel::test: the last rank gives up (it was told to)."));
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds{30});
}
