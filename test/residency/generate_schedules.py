#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Schedules as C++ types: generate_schedules.py SEED COUNT WRONG OUT writes COUNT of them, made at random, and a test of each; and WRONG more, which may be wrong.

Each has two to five routines on two to four variables of a grid and a mesh, with cycles, exchanges, accumulates, conditions at walls, `every`, `repeat`, `once`, `rewind` and, in
every fourth schedule, `when` and `choose`; some routines are those of a `reduce`. None reads what may be valid nowhere: a walk over what may be lost drops such reads, or puts an exchange
before them where that helps, or a condition at walls. What may be wrong is left as it was made.
"""
import random
import sys

VARIABLES = {"a": 1, "b": 2, "c": 3, "d": 1, "e": 2}  # levels; d does not lie on the grid, e lies on a mesh
CORE, RIM, HALO, WALLS = 1, 2, 4, 8
OWNED, INSIDE, GHOSTS, EVERYWHERE = CORE | RIM, CORE | RIM | HALO, HALO | WALLS, CORE | RIM | HALO | WALLS
NAMES = {CORE: "part<{}, kr::core>", RIM: "rim<{}>", OWNED: "owned<{}>", INSIDE: "inside<{}>", WALLS: "walls<{}>", GHOSTS: "part<{}, kr::region::ghosts>", EVERYWHERE: "everywhere<{}>",
         RIM | GHOSTS: "part<{}, kr::region::rim | kr::region::ghosts>"}
WHEN, CHOOSE = "kr::when<chance, ", "kr::choose<chance, "


def part(cell, region):
    name, level = cell
    inner = f"kr::past<{name}, {level}>" if level else name
    return "kr::" + NAMES[region].format(inner) if name != "d" else inner


class Routine:
    def __init__(self, rng, variables):
        self.place = rng.choice(["on_host", "on_device", "on_device"])
        self.is_reduced = rng.random() < 0.2
        self.accesses = {}  # (variable, level): [reads, writes]
        for _ in range(rng.randint(1, 3)):
            name = rng.choice(variables)
            region = EVERYWHERE if name == "d" else rng.choice([r for r in NAMES if name != "e" or r != WALLS])
            how = rng.choice("rruw")
            self.accesses[name, rng.randrange(VARIABLES[name])] = [region if how in "ru" else 0, region if how in "uw" else 0]

    def text(self, name):
        clauses = []
        for word, keep in (("reads", lambda r, w: r and not w), ("writes", lambda r, w: w and not r), ("updates", lambda r, w: r and w)):
            parts = [part(cell, r or w) for cell, (r, w) in self.accesses.items() if keep(r, w)]
            if parts:
                clauses.append(f"kr::{word}<{', '.join(parts)}>")
        head = ", ".join([f'"{name}"', f"kr::{self.place}", *clauses])
        if self.is_reduced:
            return f"struct {name}_part : kr::routine<{head}>, measures {{}};\nstruct {name} : kr::reduce<\"{name}\", km::maximum, {name}_part> {{}};\n"
        return f"struct {name} : kr::routine<{head}>, calls {{}};\n"


class Group:
    def __init__(self, word, entries):
        self.word, self.entries = word, entries


def random_entries(rng, variables, routines, deep, conditions):
    entries = []
    for _ in range(rng.randint(2, 3) if deep else rng.randint(1, 2)):
        what = rng.random()
        if deep and what < 0.2:
            words = [f"kr::every<{rng.choice([2, 3, 4])}, ", f"kr::repeat<{rng.randint(1, 3)}, ", "kr::once<"] + [WHEN, CHOOSE, CHOOSE] * (2 if conditions else 0)
            word = rng.choice(words)
            made = [random_entries(rng, variables, routines, False, conditions) for _ in range(2 if word == CHOOSE else 1)]
            entries.append(Group(word, [Group("kr::schedule<", each) for each in made] if word == CHOOSE else made[0]))
        elif what < 0.4:
            entries.append((rng.choice(["cycle", "cycle", "rewind"]), rng.choice(variables)))
        elif what < 0.6:
            name = rng.choice([v for v in variables if v != "d"])
            kinds = ["exchange", "exchange", "accumulate"] + (["mirror", "outflow"] if name != "e" else [])
            entries.append((rng.choice(kinds), (name, rng.randrange(VARIABLES[name]))))
        elif len(routines) < 5:
            routines.append(Routine(rng, variables))
            entries.append(routines[-1])
    return entries


def repair(entries, lost, rng):
    """Walks `entries` from the set `lost` of (cell, region) that may be valid nowhere; the set behind, or None where it changed something."""
    i = 0
    while i < len(entries):
        e = entries[i]
        if isinstance(e, Group):
            if e.word == CHOOSE:
                ways = [repair(one.entries, lost, rng) for one in e.entries]
                if None in ways:
                    return None
                lost = set().union(*ways)
                i += 1
                continue
            is_repeated = e.word.startswith("kr::repeat<")
            times = int(e.word.removeprefix("kr::repeat<").split(",")[0]) if is_repeated else 1
            after = lost
            for _ in range(times):
                after = repair(e.entries, after, rng)
                if after is None:
                    return None
            lost = after if is_repeated else lost | after
        elif isinstance(e, Routine):
            for cell, (reads, _) in list(e.accesses.items()):
                gone = sum(r for c, r in lost if c == cell and r & reads and (r != WALLS or cell[0] != "e"))
                if gone == HALO and (cell, RIM) not in lost and rng.random() < 0.8:
                    entries.insert(i, ("exchange", cell))
                    return None
                if gone == WALLS and not any((cell, r) in lost for r in (CORE, RIM, HALO)) and rng.random() < 0.8:
                    entries.insert(i, ("mirror", cell))
                    return None
                if gone:
                    e.accesses[cell][0] = 0
                    if not e.accesses[cell][1]:
                        del e.accesses[cell]
                    return None
            for cell, (_, writes) in e.accesses.items():
                lost = behind_write(lost, cell, writes)
        elif e[0] in ("cycle", "rewind"):
            name, levels = e[1], VARIABLES[e[1]]
            way, freed = (1, 0) if e[0] == "cycle" else (-1, levels - 1)
            if levels > 1:
                lost = {(c, r) for c, r in lost if c[0] != name} | {
                    ((name, c[1] + way), r) for c, r in lost if c[0] == name and 0 <= c[1] + way < levels} | {
                    ((name, freed), r) for r in (CORE, RIM, HALO, WALLS)}
        else:
            reads, writes = {"exchange": ((RIM,), HALO), "accumulate": ((RIM, HALO), RIM)}.get(e[0], ((CORE, RIM, HALO), WALLS))
            if any((e[1], r) in lost for r in reads):
                del entries[i]
                return None
            lost = behind_write(lost, e[1], writes)
        i += 1
    return lost


def behind_write(lost, cell, writes):
    lost = {(c, r) for c, r in lost if c != cell or not r & writes}
    return lost | {(cell, HALO)} if writes & OWNED and not writes & HALO and cell[0] != "d" else lost


def schedule(rng, number, is_repaired=True):
    variables = sorted(rng.sample(list(VARIABLES), rng.randint(2, 4)))
    if variables == ["a", "d"]:
        variables = ["b", "d"]
    while True:
        routines, entries = [], []
        while len(routines) < 2:
            entries += random_entries(rng, variables, routines, True, number % 4 == 3)
        lost = set()
        while is_repaired:
            after = repair(entries, lost, rng)
            if after is None:
                lost = set()
            elif after <= lost:
                break
            else:
                lost = lost | after
        if sum(any(r for r, _ in routine.accesses.values()) for routine in routines) >= 2:
            return routines, entries


def entry_text(e, names):
    if isinstance(e, Group):
        inner = ", ".join(entry_text(child, names) for child in e.entries)
        return e.word + inner + ">" if inner or e.word == "kr::schedule<" else ""
    if isinstance(e, Routine):
        return names[id(e)]
    return f"kr::{e[0]}<{e[1]}>" if e[0] in ("cycle", "rewind") else f"kr::{e[0]}<{part(e[1], EVERYWHERE).replace('kr::everywhere<', '')[:-1]}>"


def main(seed, count, wrong, out):
    rng = random.Random(seed)
    lines = ["// SPDX-License-Identifier: MIT\n// Made by generate_schedules.py.\n#include \"generated.hpp\"\n",
             "namespace {\nnamespace kr = keel::residency;\nnamespace km = keel::machine;\nusing namespace test::generated;\n"]
    for number in range(count + wrong):
        routines, entries = schedule(rng, number, number < count)
        names = {id(r): f"r{number}_{i}" for i, r in enumerate(routines)}
        lines += [r.text(names[id(r)]) for r in routines]
        texts = [text for e in entries if (text := entry_text(e, names))]
        lines.append(f"struct s{number} : kr::schedule<{', '.join(texts)}> {{}};\n")
    lines.append("} // namespace\n")
    lines.append(f'TEST_CASE("residency: the plan of schedules generated from {seed} is what the tracked run does, and the oracle\'s minimum") {{')
    lines += [f"  holds<s{number}>();" for number in range(count)]
    lines.append("  CHECK(copies_seen > 0);\n}")
    lines.append(f'TEST_CASE("residency: of schedules generated from {seed}, those that are wrong are refused before a routine reads what is lost") {{')
    lines += [f"  is_sound<s{number}>();" for number in range(count, count + wrong)]
    lines.append("  CHECK(refused_while_compiling > 0);\n}")
    open(out, "w").write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
