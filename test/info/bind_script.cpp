// SPDX-License-Identifier: MIT
/// @file
/// The script of keel-info --bind-script: what each launcher is given, and, with the mpiexec that is here, what comes
/// of it.

#include "said.hpp"

#include <support/skip.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <unistd.h>

namespace {

using keel::test::shell, test::info;
namespace fs = std::filesystem;

/// A folder of its own, gone at the end.
struct folder : keel::test::folder {
  folder() : keel::test::folder("keel-bind-script") {}

  void write(std::string const& name, std::string const& text) const {
    std::ofstream{path / name} << text;
    fs::permissions(path / name, fs::perms::owner_all);
  }
};

std::string script(std::string const& arguments, char const* file) {
  auto const heard = info("--map " + arguments + " --bind-script --xml '" + KEEL_TEST_DATA + '/' + file + '\'');
  REQUIRE(heard.code == 0);
  return heard.out;
}

} // namespace

TEST_CASE("info: the bind script gives each launcher the hardware threads of each rank") {
  folder const here;
  std::string const shows_words = "#!/bin/sh\nfor word; do printf '[%s]' \"$word\"; done\n";
  for (char const* launcher : {"srun", "flux", "mpiexec"}) here.write(launcher, shows_words);
  here.write("jsrun", shows_words + "cat \"$2\"\n");
  here.write("script", script("3", "hybrid.xml")); // 8 cores of two threads and 8 of one
  auto const with = [&](std::string const& words) {
    return shell("PATH=" + here.path.string() + ":$PATH sh " + (here.path / "script").string() + ' ' + words + " 2>&1")
        .out;
  };
  CHECK(with("srun ./a 'b c'") == "[--nodes=1][--ntasks=3][--cpu-bind=mask_cpu:0x3ff,0x3fc00,0xfc0000][./a][b c]");
  CHECK(with("mpich ./a 'b c'") ==
        "[-n][3][-bind-to][user:0+1+2+3+4+5+6+7+8+9,10+11+12+13+14+15+16+17,18+19+20+21+22+23][./a][b c]");
  CHECK(with("flux ./a 'b c'") ==
        "[run][-N][1][-n][3][--exclusive][-o][mpibind=off][-o][cpu-affinity=map:0-9;10-17;18-23][./a][b c]");
  auto const resources = with("jsrun ./a 'b c'");
  CHECK(resources.find("[./a][b c]cpu_index_using: physical\n") != std::string::npos);
  CHECK(resources.find("\nrank: 0: { host: 1; cpu: {0-9} }\nrank: 1: { host: 1; cpu: {10-17} }\n") !=
        std::string::npos);

  // Open MPI's ranks bind themselves: the third, in the place of mpiexec.
  here.write("mpiexec", "#!/bin/sh\n[ \"$1 $2 $3 $4\" = '-n 3 --bind-to none' ] || exit 1\n"
                        "shift 4\nOMPI_COMM_WORLD_LOCAL_RANK=2 exec \"$@\"\n");
  here.write("taskset", shows_words);
  CHECK(with("openmpi ./a 'b c'") == "[-c][18-23][./a][b c]");
}

TEST_CASE("info: the masks of the bind script go beyond one word, and follow the rule") {
  auto const all = script("2", "cores192.xml"); // 96 cores of two threads in each half
  CHECK(all.find("mask_cpu:0x" + std::string(48, 'f') + ",0x" + std::string(48, 'f') + std::string(48, '0') + ' ') !=
        std::string::npos);
  CHECK(script("2 --by compact", "cores192.xml").find("mask_cpu:0x3,0xc ") != std::string::npos);
  auto const alone = [](std::string const& options) { return script("1" + options, "numa8_gpus4.xml"); };
  CHECK(alone("").find("map:0-95'") != std::string::npos);
  CHECK(alone(",greedy=no").find("map:0-11'") != std::string::npos);
  CHECK(alone(",greedy=no,smt=1").find("map:0,2,4,6,8,10'") != std::string::npos);
  CHECK(alone(",gpu").find("map:0-95'") == std::string::npos);
  CHECK(info("--map 1,smt=x --bind-script").err.starts_with("keel::device: --map: smt='x' is not a value"));
  CHECK(info("--map 1, --bind-script").code == 2);
}

TEST_CASE("info: the bind script says how it is used, and keel-info when it writes none") {
  folder const here;
  here.write("script", script("2", "hybrid.xml"));
  for (char const* words : {"", "srun", "aprun ./a"}) {
    auto const heard = shell("sh " + (here.path / "script").string() + ' ' + words + " 2>&1");
    CHECK(heard.out.starts_with("usage: sh "));
    CHECK(heard.code == 2);
  }
  for (char const* words : {"--bind-script", "--map 2 --bind-script --json", "--map 2 --bind-script --check",
                            "--map 2 --bind-script --svg /no/such/folder/x.svg"}) {
    auto const heard = info(words);
    CHECK(heard.code == 2);
    CHECK(heard.err.starts_with("keel::info: --bind-script goes with --map"));
  }
}

TEST_CASE("info: ranks started by the bind script run where the map shows them") {
  auto const version = shell("mpiexec --version 2>&1").out;
  std::string const launcher =
      version.find("Open MPI") != std::string::npos || version.find("OpenRTE") != std::string::npos ? "openmpi"
      : version.find("HYDRA") != std::string::npos                                                  ? "mpich"
                                                                                                    : "";
  if (launcher.empty()) return keel::test::skip("no mpiexec of Open MPI or MPICH");
  folder const here;
  auto const heard = info("--map 2 --bind-script");
  REQUIRE(heard.code == 0);
  here.write("script", heard.out);
  here.write("program",
             "#!/bin/sh\necho \"${OMPI_COMM_WORLD_RANK:-$PMI_RANK} on $(grep Cpus_allowed_list /proc/self/status)\"\n");
  std::string const as_anyone = "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
                                "OMPI_MCA_rmaps_base_oversubscribe=1 ";
  auto const said = shell(as_anyone + "sh " + (here.path / "script").string() + ' ' + launcher + ' ' +
                          (here.path / "program").string() + " 2>&1")
                        .out;
  auto const flux = heard.out.substr(heard.out.find("map:") + 4);
  std::istringstream lists{flux.substr(0, flux.find('\''))};
  int rank = 0;
  for (std::string list; std::getline(lists, list, ';'); ++rank) {
    CAPTURE(said);
    CHECK(said.find(std::to_string(rank) + " on Cpus_allowed_list:\t" + list + '\n') != std::string::npos);
  }
  CHECK(rank == 2);
}
