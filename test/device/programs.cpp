// SPDX-License-Identifier: MIT
#include <keel/device/report.hpp>

#include <support/test.hpp>
#include <support/shell.hpp>

#include <chrono>
#include <filesystem>
#include <thread>

// What only a whole process shows: exit codes, what is printed once a job, who ends what.
// KEEL_TEST_PROGRAM is the program; KEEL_TEST_LAUNCH "mpiexec … -n", or empty without MPI;
// KEEL_TEST_HOST_DEVICE a host device that Kokkos was built with.

namespace {

std::string const launch = KEEL_TEST_LAUNCH, host = KEEL_TEST_HOST_DEVICE;

/// Commands: the program, which may take a minute, with these variables; alone, or on so many ranks.
std::string program(std::string const& arguments, std::string const& variables = "") {
  return "env " + variables + " timeout 60 " KEEL_TEST_PROGRAM " " + arguments;
}
std::string on_ranks(int ranks, std::string const& arguments, std::string const& variables = "") {
  return "env " + variables + " timeout 60 " + launch + " " + std::to_string(ranks) + " " KEEL_TEST_PROGRAM " " +
         arguments;
}
std::string differing(std::string const& first, std::string const& others) {
  return on_ranks(1, "facts " + first) + " : -n 2 " KEEL_TEST_PROGRAM " facts " + others;
}

/// Words that a process prints so many times, or at least once.
struct words {
  static constexpr int any = -1;
  words(std::string t, int n = any) : text(std::move(t)), times(n) {}
  words(char const* t) : text(t) {}
  std::string text;
  int times = any;
};

struct result {
  int code;
  std::string output;

  [[nodiscard]] bool says(std::string const& text) const { return output.find(text) != std::string::npos; }
  [[nodiscard]] int count(std::string const& text) const {
    int n = 0;
    for (auto at = output.find(text); at != std::string::npos; at = output.find(text, at + 1)) ++n;
    return n;
  }
};

constexpr int failure = -1; // any code but that of a success or of a timeout

/// Runs a command, which ends with this code, if it fails within seconds, and prints all of these words.
result expect(std::string const& command, int code, std::vector<words> const& all = {}) {
  auto const begin = std::chrono::steady_clock::now();
  auto const heard = keel::test::shell(command + " 2>&1");
  result const r{heard.code, heard.out};
  CAPTURE(command);
  CAPTURE(r.output);
  if (code == failure) {
    CHECK((r.code != 0 && r.code != 124));
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds{30});
  } else {
    CHECK(r.code == code);
  }
  for (words const& one : all) {
    CAPTURE(one.text);
    CHECK((one.times == words::any ? r.says(one.text) : r.count(one.text) == one.times));
  }
  return r;
}

void expect(std::string const& shows, std::string const& command, int code, std::vector<words> const& all = {}) {
  CAPTURE(shows);
  expect(command, code, all);
}

/// The set of hardware threads, such as 0,8 or 0-3,8-11, that follows these words; the words where they are not there.
std::string set_after(std::string const& output, std::string const& before) {
  auto const at = output.find(before);
  if (at == std::string::npos) return before;
  auto set = output.substr(at + before.size());
  set.resize(std::min(set.find_first_not_of("0123456789-,"), set.size()));
  if (set.ends_with(',')) set.pop_back();
  return set;
}

std::vector<std::string> devices() {
#if KEEL_WITH_TBB
  return {host, "tbb", "simulated"};
#else
  return {host, "simulated"};
#endif
}

} // namespace

TEST_CASE("device: a process of one rank ends with its code, and says what it should") {
  std::string const other_node = "HWLOC_SYNTHETIC='numa:2 core:1 pu:1'";
  std::string const differently = "two parts of this program were compiled differently";
  expect("a run without a word of advice that ends well",
         program("facts in.txt --app-device=" + host + " -- --app-help"), 0,
         {"device " + host + "\n", "argument facts\nargument in.txt\nargument --\nargument --app-help\n",
          "knob --app-device [] " + host + " command line\n", "kokkos runs 0\n"});
  expect("a malformed knob in argv", program("facts --app-device-instance=4x"), 2,
         {"keel::device: --app-device-instance='4x' is not a value for this knob ('x' follows the number).",
          {"device " + host, 0}});
  expect("a rank bound to another machine", program("bind --app-bind=place", other_node), 2, {"is not this machine"});
  expect("a rank bound by devices that there are not",
         program("bind --app-bind=place,gpu", other_node + " HWLOC_THISSYSTEM=1"), 2,
         {"ranks cannot be placed by device ("});
  expect("a part with another vector size", KEEL_TEST_MISMATCHED " facts", 2, {differently, "vector size 7"});
  expect("one with other spaces", KEEL_TEST_MISMATCHED_DEFAULTS " facts", 2, {differently, "keel::space::pool<>"});
  expect("the four default spaces", program("late --app-print-configuration"), 0, {{"keel's defaults: device ", 1}});
  auto const json = expect(program("late --app-print-configuration=json"), 0,
                           {{"\"}]}\n", 1}, {"keel's defaults", 0}}); // one line, and nothing of Kokkos' own
  CHECK(json.output.starts_with("{\"knobs\": [{\"option\": \"--app-"));
  expect("every option once", program("facts --app-help"), 0, {{"--app-num-threads N", 1}, {"argument facts", 0}});
  expect("devices without memory for an array, which are disabled", program("exhaust --app-device=simulated," + host),
         0,
         {"done 0, Kokkos runs 1\n",
          "simulated: ran 0 times, failed 1 time (",
          host + ": ran 0 times, failed 1 time (",
          {"), may not run\n", 2}});
  for (std::string const device : {host.c_str(), "simulated"})
    expect("Kokkos starts at the first use and ends with the runtime", program("late --app-device=" + device), 0,
           {"started before 0\n", "sum 499500\nstarted after 1\n", "kokkos runs 0\n"});
  for (std::string const first : {"first", "second"}) // libraries share Kokkos and MPI, whichever ends first
    for (bool const has_kokkos : {false, true})
      expect(program("end-in-turn " + first + (has_kokkos ? " kokkos" : ""),
                     "APP_DEVICE=" + host + " SECOND_DEVICE=simulated"),
             0,
             {"first on " + host + ", second on simulated\n", "kokkos runs 1, the other is the default 1\n",
              has_kokkos ? "kokkos runs 1, mpi runs 1\n" : "kokkos runs 0, mpi runs 1\n"});
}

TEST_CASE("device: a job of several ranks ends with its code, and says once what it should") {
  if (launch.empty()) return keel::test::skip("no MPI in this build");
  std::string const disagree = "keel::device: ranks do not agree on --app-",
                    alike = ". Give it the same value on every rank.";
  expect("one of keel's, which ends with the process", program("facts"), 0, {"mpi ended 0\n", {"thread level 0", 0}});
  expect("the thread level asked for", program("threads-of-mpi"), 0, {"thread level 3"});
  expect("runtimes in turn", on_ranks(2, "library"), 0, {{"library on 2 ranks\n", 6}});
  expect("registries where MPI runs", on_ranks(2, "registries", "APP_TRACKING=none"), 0,
         {{"refused: keel::residency: APP_TRACKING names 'none'", 2}, {"valid 1, in runtime 2\n", 2}});
  expect("an MPI that the policy ends", program("library-that-ends-mpi"), 2,
         {{"library on 1 ranks\n", 1}, "keel::machine::session: MPI has ended (it starts once a process)"});
  expect("ranks of which some are to be bound",
         "timeout 60 " + launch +
             " 2 sh -c 'test \"${OMPI_COMM_WORLD_RANK:-$PMI_RANK}\" = 1 || export APP_BIND=place; "
             "exec " KEEL_TEST_PROGRAM " bind'",
         failure, {{"some ranks are to be bound and others not", 1}});
  expect("a mistake of all ranks", on_ranks(4, "all-throw"), failure,
         {{"keel::test: the grid does not fit (it was told to).", 1}});
  expect("a wrong argument", on_ranks(2, "facts --app-device=cuba"), 2, {{"there is no device 'cuba'", 1}});
  expect("ranks that disagree on a switch", differing("--app-exchange-together=yes", "--app-exchange-together=no"), 2,
         {{disagree + "exchange-together (yes on rank 0, no on rank 1)" + alike, 1}, {"words left 3\n", 3}});
  expect("on a knob that the first leaves out", differing("", "--app-tracking=traced"), 2,
         {{disagree + "tracking (the first on rank 0, traced on rank 1)" + alike, 1}});
  expect("an exception that is not keel's", on_ranks(2, "throws-another"), failure,
         {"cell 7 of 5 [rank 1 of 2 on host "});
  expect("one that nothing reports", on_ranks(2, "throws-and-says-nothing"), failure,
         {"an exception leaves the scope of the runtime [rank 1 of 2 on host "});
  expect("a rank that returns early", on_ranks(3, "leaves-early --app-end-timeout=1"), failure,
         {{"keel::runtime: rank 1 has ended and rank 0 has not, for 1 s (", 1},
          "change --app-end-timeout. [rank 1 of 3 on host "});
  expect("ranks that all end in time", on_ranks(3, "facts --app-end-timeout=1"), 0);
  for (std::string const device : {host.c_str(), "simulated"}) // elements of a view, wherever it lies
    expect(on_ranks(2, "elements --app-device=" + device), 0,
           {{"elements 3 3\n", 2}, {"has gaps (its elements are sent as they lie). Copy it to one without.", 2}});
  for (std::string const order : {"Kko", "Kbi", "Kmo", "Ako", "Abo", "Ami"}) // MPI is ended inside the runtime
    expect(on_ranks(2, "order " + order + " --app-device=" + host), 0,
           {{"sum 499500\n", 4}, {"mpi ended 1\n", 2}, {"keel::", 0}});
  auto const thrown = expect(on_ranks(2, "throws"), failure, {"keel::test: the last rank gives up (it was told to)."});
  CHECK((thrown.code == 2 || thrown.says("ucp_worker.c"))); // UCX, below MPICH 5, can stumble in MPI_Abort
}

TEST_CASE("device: the knobs of oneTBB's threads reach them") { // a stack does in test/space/tbb_regions.cpp
#if KEEL_WITH_TBB
  auto const huge = [](std::string const& arguments) { return program("hugepages --app-device=tbb " + arguments); };
  expect("too small a stack", program("facts --app-device=tbb --app-stack-size=1K"), 2,
         {"--app-stack-size=1K is less than tbb takes (the smallest value is 64K). Give more."});
  expect("too large a stack", program("facts --app-device=tbb --app-stack-size=17G"), 2,
         {"--app-stack-size=17G is more than tbb has (the largest value here is 16G)"});
  if (!std::filesystem::exists("/sys/kernel/mm/transparent_hugepage")) return keel::test::skip("no huge pages here");
  expect("by default", huge(""), 0, {"huge pages 0\n"});
  expect("asked for", huge("--app-hugepages=yes"), 0, {"huge pages 1\n"});
#else
  keel::test::skip("no oneTBB");
#endif
}

TEST_CASE("device: --keel-bind=place binds each rank's threads to hardware threads of its own, and says so") {
  if (launch.empty()) return keel::test::skip("no MPI in this build");
  auto const ranks = [](std::string const& arguments, std::string const& variables = "") {
    return on_ranks(2, "bind --app-log-level=information " + arguments, variables);
  };
  auto const r = expect(ranks("--app-bind=place --app-tbb-num-threads=2"), 0);
  auto const place = [&](std::string const& before) { return set_after(r.output, before); };
  std::string const first = place("information: rank 0 is bound to hardware threads "),
                    second = place("information: rank 1 is bound to hardware threads ");
  CHECK(first == place("rank 0 runs on "));
  CHECK(second == place("rank 1 runs on "));
#if KEEL_WITH_TBB
  CHECK(r.count(", a worker on " + first + ", tbb has 2;") + r.count(", a worker on " + second + ", tbb has 2;") >= 2);
#endif
  if (r.says("OpenMP has ")) { // each of its threads stays where the rank is
    auto const two = expect(ranks("--app-bind=place --app-openmp-num-threads=2"), 0, {{"OpenMP has 2,", 2}});
    CHECK(two.count(", OpenMP on " + first + ",") >= 2);
    CHECK(two.count(", OpenMP on " + second + ",") >= 2);
  }
  if (std::thread::hardware_concurrency() > 1) CHECK(first != second);
  expect(ranks(""), 0, {{"is bound to", 0}});
  expect(ranks("--app-bind=place", "OMP_PROC_BIND=spread"), 0,
         {{"OMP_PROC_BIND is set, so OpenMP binds its threads", 1}});
}

TEST_CASE("device: a process that may use one hardware thread takes one thread by itself") {
  auto const r = expect("taskset -c $(taskset -pc $$ | sed 's/.*: //; s/[-,].*//') " KEEL_TEST_PROGRAM " facts", 0);
  if (!r.says("--app-num-threads [")) return keel::test::skip("no device with threads");
  CHECK(r.count("--app-num-threads [") + r.count("--app-numa-regions [") ==
        r.count("] 1 unset\n") - r.count("[] 1 unset\n"));
}

TEST_CASE("device: what is asked for is what runs, and a knob that comes too late says so, once on standard error") {
  auto const r = expect(program("late --app-num-threads=1"), 0);
  if (r.says("late invalid for device")) return keel::test::skip("no device with threads");
  CHECK(r.says("threads 1\n"));
  expect(program("late"), 0, {{"late not applied", 2}, {"has no effect, because Kokkos runs already", 1}});
}

TEST_CASE("device: in every order of starting MPI and Kokkos, what keel's own devices are told applies") {
  for (std::string const mpi : {"k", "a"})
    for (std::string const kokkos : {"k", "bi", "bo", "mi", "mo"}) {
      if (mpi == "a" && launch.empty()) continue;
      bool const keel_starts_it = kokkos == "k";
      std::string const order = "order " + mpi + (keel_starts_it ? "ko" : kokkos);
#if KEEL_WITH_TBB
      std::string const tbb = " --app-device=tbb --app-num-threads=1 --kokkos-print-configuration";
      expect(program(order + tbb), 0,
             {"set success\n",
              {"sum 499500\n", 2},
              "threads 5\n",
              "again not applied\n",
              {"setting num-threads of tbb has no effect", 1},
              {"--kokkos-print-configuration has no effect, because the application has started Kokkos",
               !keel_starts_it}});
      expect(program(order + "n" + tbb), 0, {"threads 1\n"}); // what the command line said, and no call
#endif
      auto const own = expect(program(order + " --app-device=" + host + " --app-num-threads=1"), 0,
                              {"sum 499500\nsum 499500\n", {"kokkos kept 1\n", kokkos.ends_with("o")}});
      if (!launch.empty()) CHECK(own.says("mpi ended 0\n"));
      if (own.says("set invalid for device")) continue;
      // Kokkos' own threads: told by variables where the application starts it after keel, named once where it came
      // first.
      CAPTURE(own.output);
      CHECK(own.says(keel_starts_it ? "set success\n" : "set not applied\n"));
      CHECK(own.says(keel_starts_it ? "threads 5\n" : kokkos[0] == 'm' ? "threads 1\n" : "threads "));
      CHECK(own.count("--app-num-threads has no effect") == (kokkos[0] == 'b'));
    }
}

TEST_CASE("device: a runtime that outlives main says so, and one that std::exit leaves does not crash") {
  for (auto const& device : devices()) {
    for (std::string const owner : {"static", "thread"})
      expect(program("outlive " + owner + " --app-device=" + device), 0,
             {"sum 499500\n", {"keel::runtime: the runtime ends after main, and leaves Kokkos as it is (", 1}});
    expect(program("outlive exit --app-device=" + device), 3, {"sum 499500\n"});
  }
}

TEST_CASE("device: the child of a fork computes where that takes no other thread, and ends, as does its parent") {
  for (auto const& device : devices()) {
    if (device == "openmp") continue; // libgomp's threads are not keel's
    char const* const child = device == "serial" ? "child 0\n" : "child 3\n";
    expect(program("fork --app-device=" + device), 0, {child});
    if (!launch.empty()) expect(on_ranks(2, "fork --app-device=" + device), 0, {{child, 2}});
  }
}
