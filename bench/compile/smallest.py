# SPDX-License-Identifier: MIT
"""What the smallest program costs the compiler: smallest.py COMPILER ARGUMENT... [--rounds N] [--check]

User seconds and memory, medians of N rounds in turn: Kokkos alone, the foreign headers that keel needs, a source of declarations
and kernels, the door of exchanges, all of keel's headers, a program with `keel::runtime`, and one with `fields` and a step, by keel.hpp and by the doors it needs;
exchanges of a list of arrays, of ten lists, and of one to ten arrays by name; keel's with headers alone and with its compiled part. Then what one of 100 routines costs above the headers, each with three views and a kernel, beside the same
bodies as templates on Kokkos alone, for the same two spaces. With --check only what LIMITS names, once; fails if one takes more times the memory of Kokkos
alone than that, or has a kernel of keel's own, which the compiled part holds."""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile

RUNTIME = """#include <keel/keel.hpp>
struct app : keel::defaults { using devices = keel::where_supported<keel::list<keel::serial, keel::openmp, keel::simulated>>; };
"""
MAIN = """int main(int argc, char** argv) try {
  keel::runtime<app> run{argc, argv};
  if (run.help_requested()) return 0;
%s} catch (std::exception const& e) { return keel::report(e); }
"""
SMALLEST = """namespace kr = keel::residency;
struct heat : kr::variable<"heat", double*> {};
struct warm : kr::routine<"warm", kr::on_device, kr::writes<heat>> {
  template <class V> static void run(V v, double by) {
    auto const h = v(heat{});
    auto const own = v.owned();
    Kokkos::parallel_for("warm", Kokkos::RangePolicy(v.execution_space(), own.begin[0], own.end[0]), KOKKOS_LAMBDA(int i) { h(i) = by * i; });
  }
};
struct step : kr::schedule<warm> {};
"""
STEP = """  kr::fields<app, heat> f{run, kr::grid{{1000}, kr::ghost_width{1}, kr::periodic{true}}};
  f.step(step{}, 2.0);
"""
PROGRAMS = {
    "Kokkos alone": """#include <Kokkos_Core.hpp>
int main(int argc, char** argv) {
  Kokkos::initialize(argc, argv);
  {
    Kokkos::View<double*> a("a", 10);
    Kokkos::parallel_for("x", 10, KOKKOS_LAMBDA(int i) { a(i) = i; });
  }
  Kokkos::finalize();
}
""",
    "foreign headers": """#include <Kokkos_Core.hpp>
#include <boost/hana/tuple.hpp>
#include <hwloc.h>
#if KEEL_WITH_MPI
#include <mpi.h>
#endif
#if KEEL_WITH_TBB
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#endif
int main() {}
""",
    "physics": "#include <keel/residency/declare.hpp>\n" + SMALLEST,
    "keel/exchange.hpp": "#include <keel/exchange.hpp>\nint main() {}\n",
    "keel/keel.hpp": "#include <keel/keel.hpp>\nint main() {}\n",
    "keel::runtime": RUNTIME + MAIN % "",
    "fields and a step": RUNTIME + SMALLEST + MAIN % STEP,
}
PROGRAMS["fields by doors"] = PROGRAMS["fields and a step"].replace("keel/keel.hpp", "keel/residency.hpp>\n#include <keel/device.hpp")
def exchanges(*calls):
    """A source that exchanges arrays in so many ways."""
    return ("#include <keel/exchange.hpp>\nnamespace kr = keel::residency;\n"
            "void go(kr::exchanger const& x, std::vector<kr::any_array> const& all) {\n" + "".join(f"  x.exchange({call});\n" for call in calls) + "}\n")


def counts(most):
    return exchanges(*(", ".join(f"all[{n}]" for n in range(count)) for count in range(1, most + 1)))


PROGRAMS |= {"a list of arrays": exchanges("all"), "ten lists": exchanges(*10 * ["all"]), "ten counts of arrays": counts(10)}
WITH_BODIES = [name for name, text in PROGRAMS.items() if "#include <keel/" in text and name != "physics"]

ROUTINES_HEAD = """#include <keel/machine/alone.hpp>
#include <keel/residency.hpp>
namespace kr = keel::residency;
struct app {
  using devices = keel::where_supported<keel::list<keel::serial, keel::openmp, keel::simulated>>;
  using ranks = keel::machine::alone;
  using tracking = kr::automatic;
  using layout = Kokkos::LayoutRight;
};
"""
ROUTINE = """struct r%d : kr::routine<"r%d", kr::on_device, kr::reads<kr::owned<v%d>, kr::owned<v%d>>, kr::writes<v%d>> {
  template <class V> static void run(V v) {
    auto const own = v.owned();
    auto const a = v(v%d{}), b = v(v%d{});
    auto const r = v(v%d{});
    Kokkos::parallel_for("r%d", Kokkos::RangePolicy(v.execution_space(), own.begin[0], own.end[0]),
                         KOKKOS_LAMBDA(int i) { r(i, 0) = a(i, 0) + b(i, 0); });
  }
};
"""
ALONE_HEAD = """#include <Kokkos_Core.hpp>
#include <keel/space/simulated.hpp>
#include <array>
template <class Space> using array = Kokkos::View<double**, Kokkos::LayoutRight, typename Space::memory_space>;
"""
ALONE = """struct r%d {
  template <class Space, class Views> static void run(Space const& space, Views const& v, int begin, int end) {
    auto const a = v[%d], b = v[%d];
    auto const r = v[%d];
    Kokkos::parallel_for("r%d", Kokkos::RangePolicy(space, begin, end), KOKKOS_LAMBDA(int i) { r(i, 0) = a(i, 0) + b(i, 0); });
  }
};
"""


def many(routines=100, variables=60):
    """The routines with keel's fields, and without."""
    fields, alone = [ROUTINES_HEAD], [ALONE_HEAD]
    fields += [f'struct v{i} : kr::variable<"v{i}", double**, kr::levels<2>> {{}};\n' for i in range(variables)]
    for n in range(routines):
        w, reads = n % variables, [(7 * n + 3 * k + 1) % variables for k in range(2)]
        places = [r if r != w else (r + 1) % variables for r in reads] + [w]
        fields.append(ROUTINE % (n, n, *places, *places, n))
        alone.append(ALONE % (n, *places, n))
    fields.append(f"struct step : kr::schedule<{', '.join(f'r{n}' for n in range(routines))}> {{}};\n"
                  f"void go(kr::fields<app, {', '.join(f'v{i}' for i in range(variables))}>& f) {{ f.step(step{{}}); }}\n")
    calls = " ".join(f"r{n}::run(space, v, begin, end);" for n in range(routines))
    views = f"std::array<array<%s>, {variables}> const&"
    alone.append(f"template <class Space> void all(Space const& space, {views % 'Space'} v, int begin, int end) {{ {calls} }}\n")
    for space in ("Kokkos::Serial", "keel::space::simulated"):
        alone.append(f"template void all<{space}>({space} const&, {views % space}, int, int);\n")
    return {"headers of routines": ROUTINES_HEAD, "100 routines": "".join(fields),
            "headers without": ALONE_HEAD, "100 without": "".join(alone)}


MANY = many()
PROGRAMS |= MANY

# Times the memory of Kokkos alone, compiled part, -O0: what was reached, and 5 %. Memory, because a compiler that collects nothing takes the same in
# each run, in which time differs by a third on a machine that others use.
LIMITS = {"physics": 1.12, "fields and a step": 2.36}


def cost(command, text, folder):
    """What one compilation used, as `os.wait4` says it."""
    path = os.path.join(folder, "it.cpp")
    with open(path, "w") as file:
        file.write(text)
    child = subprocess.Popen(command + ["-c", path, "-o", path + ".o"], env=os.environ | {"CCACHE_DISABLE": "1"})
    _, status, used = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"compile: {' '.join(command)} failed")
    return used


def own_kernels(folder):
    """Kernels of keel's own in the last source."""
    names = subprocess.run(["nm", "-C", "--defined-only", os.path.join(folder, "it.cpp.o")], check=True, text=True, stdout=subprocess.PIPE).stdout
    return [line for line in names.splitlines() if "kokkos_queue<" in line]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--check", action="store_true")
    asked, command = parser.parse_known_args()
    command = [word for word in command if not word.startswith("-DKEEL_COMPILED")]
    rows = [(name, how, ["-O0"]) for name in PROGRAMS if name not in MANY for how in ((0, 1) if name in WITH_BODIES else (0,))]
    rows += [("fields and a step", how, ["-O2"]) for how in (0, 1)]
    rows += [(name, 1, ["-O0"]) for name in MANY]
    if asked.check:
        rows = [("Kokkos alone", 0, ["-O0"]), *((name, 1, ["-O0"]) for name in LIMITS)]
    kernels = []
    seen = {row[0] + str(row[1]) + row[2][0]: [] for row in rows}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(1 if asked.check else asked.rounds):
            for name, how, level in rows:
                used = cost(command + level + [f"-DKEEL_COMPILED={how}"], PROGRAMS[name], folder)
                seen[name + str(how) + level[0]].append((used.ru_utime, used.ru_maxrss / 1024))
                kernels += own_kernels(folder) if asked.check else []
    base, base_memory = (statistics.median(column) for column in zip(*seen["Kokkos alone0-O0"]))
    print(f"{'program':20}{'keel is':18}{'':6}{'user s':>8}{'x Kokkos':>10}{'MiB':>7}")
    wrong = 0
    for name, how, level in rows:
        user, memory = (statistics.median(column) for column in zip(*seen[name + str(how) + level[0]]))
        kind = "" if "#include <keel/" not in PROGRAMS[name] else "partly compiled" if how else "headers alone"
        print(f"{name:20}{kind:18}{level[0]:6}{user:8.2f}{user / base:10.2f}{memory:7.0f}")
        if asked.check and memory > LIMITS.get(name, 1) * base_memory:
            wrong += 1
            print(f"FAIL: {name} takes more than {LIMITS[name]} times the memory of Kokkos alone")
    if not asked.check:
        keel_headers, keel, headers, alone = (statistics.median(user for user, _ in seen[name + "1-O0"]) for name in MANY)
        print(f"one more routine: {10 * (keel - keel_headers):.1f} ms; on Kokkos alone {10 * (alone - headers):.1f}; "
              f"ratio {(keel - keel_headers) / (alone - headers):.2f}")
    if kernels:
        wrong += 1
        print("FAIL: a user's source has kernels of keel's own:", *kernels[:3], sep="\n")
    if asked.check:
        print(f"{len(rows) + 1 - wrong} passed, {wrong} failed, 0 skipped")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
