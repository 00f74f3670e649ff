# SPDX-License-Identifier: MIT
"""What a routine costs the compiler: residency.py COMPILER ARGUMENT... [--routines N] [--variables N]

Writes a schedule of N routines, each of four reads and a write, over N variables, and compiles it three ways: its headers
alone; declared and planned, with an assertion about the plan; run, with a view for each declaration. Prints milliseconds
a routine above the headers, medians of three."""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

HEAD = """#include <keel/machine/alone.hpp>
#include <keel/residency.hpp>
namespace kr = keel::residency;
struct app {
  using devices = keel::where_supported<keel::list<keel::serial, keel::openmp, keel::simulated>>;
  using ranks = keel::machine::alone;
  using tracking = kr::automatic;
  using layout = Kokkos::LayoutRight;
};
"""
BODY = """  template <class V> static void run(V v) {
    auto r = v(v%d{});
    auto a = v(kr::past<v%d, 1>{});
    auto b = v(v%d{}), c = v(v%d{});
    r(0, 0) = a(0, 0) + b(0, 0) + c(0, 0);
  }
"""


def source(routines, variables, how):
    """`how`: headers, planned, run."""
    text = [HEAD]
    if how == "headers":
        return "".join(text)
    text += [f'struct v{i} : kr::variable<"v{i}", double**, kr::levels<2>> {{}};\n' for i in range(variables)]
    for n in range(routines):
        w, reads = n % variables, [(7 * n + 3 * k + 1) % variables for k in range(4)]
        reads = [r if r != w else (r + 1) % variables for r in reads]
        names = [f"kr::past<v{reads[0]}, 1>"] + [f"kr::owned<v{r}>" for r in reads[1:]]
        body = BODY % (w, *reads[:3])
        text.append(f'struct r{n} : kr::routine<"r{n}", kr::on_device, kr::reads<{", ".join(names)}>, kr::writes<v{w}>> {{\n'
                    f'{body if how == "run" else ""}}};\n')
    every = ", ".join(f"r{n}" for n in range(routines))
    text.append(f"struct step : kr::schedule<{every}> {{}};\n")
    text.append("static_assert(kr::plan<app, step, keel::simulated>::copies(kr::device, kr::host) == 0);\n")
    if how == "run":
        every = ", ".join(f"v{i}" for i in range(variables))
        text.append(f"using all = kr::fields<app, {every}>;\nvoid go(all& f) {{ f.step(step{{}}); }}\n")
    return "".join(text)


def seconds(command, text):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "it.cpp")
        with open(path, "w") as file:
            file.write(text)
        times = []
        for _ in range(3):
            before = os.times()
            subprocess.run(command + ["-c", path, "-o", os.path.join(folder, "it.o")], check=True)
            after = os.times()
            times.append(after.children_user + after.children_system - before.children_user - before.children_system)
        return statistics.median(times)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--routines", type=int, default=300)
    parser.add_argument("--variables", type=int, default=200)
    asked, command = parser.parse_known_args()
    head = seconds(command, source(0, 0, "headers"))
    print(f"{' '.join(command[:1])}: {asked.routines} routines, {asked.variables} variables; headers {head:.2f} s")
    for how, wanted in (("planned", 3), ("run", 6)):
        each = (seconds(command, source(asked.routines, asked.variables, how)) - head) / asked.routines * 1000
        what = {"planned": "declared and planned", "run": "with calls and views"}[how]
        print(f"  {what}: {each:.2f} ms a routine, wanted at most {wanted}: {'met' if each <= wanted else 'not met'}")


if __name__ == "__main__":
    sys.exit(main())
