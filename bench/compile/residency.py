# SPDX-License-Identifier: MIT
"""What a routine costs the compiler: residency.py COMPILER ARGUMENT... [--routines N] [--variables N]

Writes a schedule of N routines over so many variables and compiles it: its headers alone; declared and planned, each of
four reads and a write, with an assertion about the plan; and run, each with three views and a kernel, beside the same
bodies as templates on Kokkos alone, for the same two spaces. Prints milliseconds a routine above the headers and the
memory of the whole, medians of three in turn."""
import argparse
import statistics
import sys
import tempfile

from smallest import cost

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
    auto const own = v.owned();
    auto const r = v(v%d{});
    auto const a = v(v%d{}), b = v(v%d{});
    Kokkos::parallel_for("r%d", Kokkos::RangePolicy(v.execution_space(), own.begin[0], own.end[0]),
                         KOKKOS_LAMBDA(int i) { r(i, 0) = a(i, 0) + b(i, 0); });
  }
"""
ALONE_HEAD = """#include <Kokkos_Core.hpp>
#include <keel/space/simulated.hpp>
#include <array>
template <class Space> using array = Kokkos::View<double**, Kokkos::LayoutRight, typename Space::memory_space>;
"""
ALONE = """struct r%d {
  template <class Space, class Views> static void run(Space const& space, Views const& v, int begin, int end) {
    auto const r = v[%d];
    auto const a = v[%d], b = v[%d];
    Kokkos::parallel_for("r%d", Kokkos::RangePolicy(space, begin, end), KOKKOS_LAMBDA(int i) { r(i, 0) = a(i, 0) + b(i, 0); });
  }
};
"""


def places(n, variables):
    """The variable that routine n writes, and the four that it reads."""
    w, reads = n % variables, [(7 * n + 3 * k + 1) % variables for k in range(4)]
    return w, [r if r != w else (r + 1) % variables for r in reads]


def source(routines, variables, how):
    """`how`: planned, run."""
    if not routines:
        return HEAD
    text = [HEAD]
    text += [f'struct v{i} : kr::variable<"v{i}", double**, kr::levels<2>> {{}};\n' for i in range(variables)]
    for n in range(routines):
        w, reads = places(n, variables)
        if how == "run":
            names, body = [f"kr::owned<v{r}>" for r in dict.fromkeys(reads[:2])], BODY % (w, *reads[:2], n)
        else:
            names, body = [f"kr::past<v{reads[0]}, 1>"] + [f"kr::owned<v{r}>" for r in reads[1:]], ""
        text.append(f'struct r{n} : kr::routine<"r{n}", kr::on_device, kr::reads<{", ".join(names)}>, kr::writes<v{w}>> {{\n{body}}};\n')
    every = ", ".join(f"r{n}" for n in range(routines))
    text.append(f"struct step : kr::schedule<{every}> {{}};\n")
    if how == "planned":
        text.append("static_assert(kr::plan<app, step, keel::simulated>::copies(kr::device, kr::host) == 0);\n")
    else:
        every = ", ".join(f"v{i}" for i in range(variables))
        text.append(f"using all = kr::fields<app, {every}>;\nvoid go(all& f) {{ f.step(step{{}}); }}\n")
    return "".join(text)


def alone(routines, variables):
    """The bodies of `run` without keel's fields, for the serial and the simulated space."""
    text = [ALONE_HEAD]
    for n in range(routines):
        w, reads = places(n, variables)
        text.append(ALONE % (n, w, *reads[:2], n))
    if routines:
        calls = " ".join(f"r{n}::run(space, v, begin, end);" for n in range(routines))
        text.append("template <class Space> void all(Space const& space, "
                    f"std::array<array<Space>, {variables}> const& v, int begin, int end) {{ {calls} }}\n")
        for space in ("Kokkos::Serial", "keel::space::simulated"):
            text.append(f"template void all<{space}>({space} const&, std::array<array<{space}>, {variables}> const&, int, int);\n")
    return "".join(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--routines", type=int, default=300)
    parser.add_argument("--variables", type=int, default=200)
    asked, command = parser.parse_known_args()
    n, variables = asked.routines, asked.variables
    texts = {"headers": source(0, 0, ""), "planned": source(n, variables, "planned"), "run": source(n, variables, "run"),
             "headers alone": alone(0, 0), "run alone": alone(n, variables)}
    seen = {name: [] for name in texts}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(3):
            for name, text in texts.items():
                used = cost(command, text, folder)
                seen[name].append((used.ru_utime + used.ru_stime, used.ru_maxrss / 1024))
    time, memory = ({name: statistics.median(row[k] for row in rows) for name, rows in seen.items()} for k in (0, 1))
    each = {name: (time[name] - time["headers alone" if name == "run alone" else "headers"]) / n * 1000 for name in texts}
    print(f"{command[0]}: {n} routines, {variables} variables; headers {time['headers']:.2f} s, without keel's fields {time['headers alone']:.2f} s")
    print(f"  declared and planned:          {each['planned']:.2f} ms a routine (wanted: g++ 1.5, clang 3)")
    print(f"  with three views and a kernel: {each['run']:.1f} ms a routine; on Kokkos alone {each['run alone']:.1f}; "
          f"ratio {each['run'] / each['run alone']:.2f} (wanted: 1.30)")
    print(f"  memory of the whole:           {memory['run']:.0f} MiB; on Kokkos alone {memory['run alone']:.0f}; "
          f"ratio {memory['run'] / memory['run alone']:.2f} (wanted: 1.30)")


if __name__ == "__main__":
    sys.exit(main())
