// SPDX-License-Identifier: MIT
/// @file
/// What residency costs and saves, beside DualView, in one run: residency [DEVICE [MEBIBYTES]]. Copies are
/// made to DEVICE (simulated); MEBIBYTES is the size of the large ones. `--count KIND N` runs one loop, for valgrind.

#include "bookkeeping.hpp"
#include "bytes.hpp"
#include "kernels.hpp"
#include "report.hpp"
#include "transitions.hpp"

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace {

using namespace bench;

// Loops by name, each of `n` routines.
std::map<std::string, std::function<void(long)>> const loops{
    {"run", [](long n) { by_routine<on_device>(n, "twin"); }},
    {"run-host", [](long n) { by_routine<on_host>(n, "twin"); }},
    {"step", [](long n) { in_steps<on_device>(n, "twin"); }},
    {"step-host", [](long n) { in_steps<on_host>(n, "twin"); }},
    {"dual-view", dual_view},
    {"off", bench::on_one_memory<kr::off, bench::on_device>},
    {"answered", bench::on_one_memory<kr::automatic, bench::on_device>},
    {"asked", bench::on_one_memory<kr::automatic, kr::every<1, forty<bench::on_device>>>},
};

struct cost {
  double nanoseconds, instructions;
  [[nodiscard]] std::string words() const { return text(nanoseconds, 3) + " ns, " + text(instructions, 2) + " instr."; }
};
// Of a variable: a routine has five.
cost cost_of(std::string const& kind, long n) {
  return {nanoseconds(clock_of::thread, loops.at(kind), n) / 5, instructions(kind, 100'000) / 5};
}

void bookkeeping() {
  cost const dual = cost_of("dual-view", 1'000'000);
  std::string const peers = "DualView " + dual.words();
  auto const row = [&](std::string const& what, std::string const& kind, double ns, double instructions) {
    cost const c = cost_of(kind, 20'000'000);
    print("bookkeeping a variable, 4 reads + 1 write: " + what, c.words(), peers,
          text(ns) + " ns, " + text(instructions, 1) + " instr.",
          c.nanoseconds <= ns && !(c.instructions > instructions));
  };
  row("one routine", "run", 1.0, 25);
  row("one routine, on the host", "run-host", 1.0, 25);
  row("in a step", "step", 1.0, 20);
  row("in a step, on the host", "step-host", 1.0, 20);
  double const untracked = nanoseconds(clock_of::thread, loops.at("off"), 20'000'000),
               answered = nanoseconds(clock_of::thread, loops.at("answered"), 20'000'000),
               asked = nanoseconds(clock_of::thread, loops.at("asked"), 20'000'000);
  print("a step of one routine, 4 reads + 1 write, one memory: valid before it", text(answered, 1) + " ns",
        "tracking off " + text(untracked, 1) + " ns", "5 ns more", answered <= untracked + 5);
  print("one of forty in every<1, ...>, where the step asks for each routine", text(asked, 1) + " ns",
        "tracking off " + text(untracked, 1) + " ns", "40 ns", asked <= 40);
}

} // namespace

int main(int argc, char** argv) {
  keel::space::start<keel::list<host, twin>>();
  {
    std::string_view const first = argc > 1 ? argv[1] : "simulated";
    if (first == "--count" && argc > 3) {
      loops.at(argv[2])(std::atol(argv[3]));
    } else {
      print_head();
      keel::with_device<devices>(first, [&]<class Tag>(Tag) {
        kernels<std::conditional_t<keel::policy::is_accelerator<Tag>, Tag, host>>();
        if constexpr (!kr::detail::is_on_host<Tag>) {
          bytes<ocean, Tag>("ocean");
          bytes<wave, Tag>("wave");
          bytes<method_of_lines, Tag>("method of lines");
          bytes<refinement, Tag>("mesh refinement");
          bytes<output_heavy, Tag>("output-heavy");
          bytes<basin<kr::on_host>, Tag>("closed walls");
          bytes<basin<kr::on_device>, Tag>("closed walls, exchange on the device");
          bookkeeping();
          transition_row<Tag>();
          large_copy<Tag>(argc > 2 ? std::atol(argv[2]) : 64);
        }
      });
    }
  }
  keel::space::stop();
}
