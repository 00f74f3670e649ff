#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the machines of this folder, hwloc XML 2.0: what the saved topologies of real machines lack.

Run it here after a change; the tests read the files, never this.
"""
from pathlib import Path

GiB = 1 << 30


class Machine:
    """A tree of lines. Nested calls count hardware threads and NUMA nodes as they come."""

    def __init__(self):
        self.lines, self.tail, self.depth = [], [], 1
        self.gp, self.threads, self.cores, self.nodes = 0, 0, -1, 0

    def line(self, text):
        self.lines.append("  " * self.depth + text)

    def id(self):
        self.gp += 1
        return self.gp

    def object(self, kind, inside=(), extra=""):
        """An object with what `inside` (functions) puts in it; its sets are what they counted."""
        mark, first, gp = len(self.lines), (self.threads, self.nodes), self.id()
        self.depth += 1
        for put in inside:
            put()
        self.depth -= 1
        cpus = ((1 << self.threads) - 1) & ~((1 << first[0]) - 1)
        mems = ((1 << self.nodes) - 1) & ~((1 << first[1]) - 1)
        self.lines.insert(mark, (mark, kind, extra, gp, cpus, mems, self.depth))
        self.lines.append("  " * self.depth + "</object>")

    def pu(self):
        self.lines.append((0, "PU", f'os_index="{self.threads}"', self.id(), 1 << self.threads, 0, self.depth))
        self.threads += 1

    def core(self, threads=1, caches=True):
        core = lambda: self.object("Core", [self.pu] * threads, f'os_index="{self.cores}"')
        self.cores += 1
        if not caches:
            return core()
        l1 = lambda: self.object("L1Cache", [lambda: self.object("L1iCache", [core], cache(32 << 10, 1, 2))], cache(32 << 10, 1, 1))
        self.object("L2Cache", [l1], cache(1 << 20, 2, 0))

    def numa(self, gib=64, subtype=None, cpuless=False):
        name = f' subtype="{subtype}"' if subtype else ""
        self.lines.append((len(self.lines), "NUMA", f'os_index="{self.nodes}"{name} local_memory="{gib * GiB}"', self.id(),
                           0 if cpuless else None, 1 << self.nodes, self.depth))
        self.lines.append("  " * (self.depth + 1) + f'<page_type size="4096" count="{gib * GiB // 4096}"/>')
        self.lines.append("  " * (self.depth + 1) + '<page_type size="2097152" count="0"/>')
        self.lines.append("  " * self.depth + "</object>")
        self.nodes += 1

    def pci(self, bus, kind, speed="31.5", inside=(), facts=()):
        """A bridge from the host, and below it the function; several in one call are one slot."""
        functions = kind if isinstance(kind, list) else [(kind, inside)]
        domain, number = divmod(bus, 256)
        self.line(f'<object type="Bridge" gp_index="{self.id()}" bridge_type="0-1" depth="0" bridge_pci="{domain:04x}:[{number:02x}-{number:02x}]">')
        self.depth += 1
        for f, (code, interfaces) in enumerate(functions):
            self.line(f'<object type="PCIDev" gp_index="{self.id()}" pci_busid="{domain:04x}:{number:02x}:00.{f}" pci_type="{code} [0000:0000] 00" pci_link_speed="{speed}">')
            self.depth += 1
            for name, value in facts:
                self.line(f'<info name="{name}" value="{value}"/>')
            for interface in interfaces:
                self.os(*interface)
            self.depth -= 1
            self.line("</object>")
        self.depth -= 1
        self.line("</object>")

    def os(self, name, kind, subtype=None, facts=()):
        sub = f' subtype="{subtype}"' if subtype else ""
        self.line(f'<object type="OSDev" gp_index="{self.id()}" name="{name}"{sub} osdev_type="{kind}">')
        for key, value in facts:
            self.line(f'  <info name="{key}" value="{value}"/>')
        self.line("</object>")

    def write(self, file, inside, allowed=None, allowed_nodes=None):
        self.object("Machine", inside)
        everything = (1 << self.threads) - 1, (1 << self.nodes) - 1
        out = []
        stack = []  # the nodes local to an object without its own are its holder's
        for line in self.lines:
            if isinstance(line, str):
                out.append(line)
                if line.strip() == "</object>" and stack and line.index("<") == stack[-1][0]:
                    stack.pop()
                continue
            _, kind, extra, gp, cpus, mems, depth = line
            holder = stack[-1][1:] if stack else everything
            if kind == "NUMA":
                cpus = holder[0] if cpus is None else cpus
                out.append("  " * depth + f'<object type="NUMANode" {extra} {sets(cpus, mems)} gp_index="{gp}">')
                stack.append((2 * depth, cpus, mems))
                continue
            mems = mems or holder[1]
            if kind == "PU":
                out.append("  " * depth + f'<object type="PU" {extra} {sets(cpus, mems)} gp_index="{gp}"/>')
                continue
            top = f' allowed_cpuset="{bits(allowed or cpus)}" allowed_nodeset="{bits(allowed_nodes or mems)}"' if kind == "Machine" else ""
            out.append("  " * depth + f'<object type="{kind}" {extra} {sets(cpus, mems)}{top} gp_index="{gp}">'.replace("  ", " "))
            stack.append((2 * depth, cpus, mems))
        head = ['<?xml version="1.0" encoding="UTF-8"?>', '<!DOCTYPE topology SYSTEM "hwloc2.dtd">', '<topology version="2.0">']
        Path(__file__).with_name(file).write_text("\n".join(head + out + self.tail + ["</topology>", ""]))


def bits(mask):
    words = []
    while mask:
        words.append(f"0x{mask & 0xffffffff:08x}")
        mask >>= 32
    return ",".join(reversed(words)) or "0x0"


def sets(cpus, mems):
    return (f'cpuset="{bits(cpus)}" complete_cpuset="{bits(cpus)}" '
            f'nodeset="{bits(mems)}" complete_nodeset="{bits(mems)}"')


def cache(size, depth, kind):
    return f'cache_size="{size}" depth="{depth}" cache_linesize="64" cache_associativity="8" cache_type="{kind}"'


def matrix(rows):
    """Latencies between NUMA nodes, as the firmware tells them."""
    indexes = "".join(f"{i} " for i in range(len(rows)))
    values = "".join(f"{v} " for row in rows for v in row)
    return [f'  <distances2 type="NUMANode" nbobjs="{len(rows)}" kind="5" name="NUMALatency" indexing="os">',
            f'    <indexes length="{len(indexes)}">{indexes}</indexes>',
            f'    <u64values length="{len(values)}">{values}</u64values>', "  </distances2>"]


def attribute(name, flags, values):
    """Of memories as seen from sets of hardware threads: (gp_index of the node, threads, value)."""
    return [f'  <memattr name="{name}" flags="{flags}">'] + [
        f'    <memattr_value target_obj_type="NUMANode" target_obj_gp_index="{node}" value="{value}" initiator_cpuset="{bits(threads)}"/>'
        for node, threads, value in values] + ["  </memattr>"]


def machine(file):
    return lambda build: build(Machine(), file)


@machine("gpus8_numa4.xml")
def _(m, file):
    def part(n):
        return lambda: m.object("Group", [m.numa] + [m.core] * 8 + [
            lambda: m.pci(16 * n + 1, "0302 [10de:2330]"), lambda: m.pci(16 * n + 2, "0302 [10de:2330]"),
            lambda: m.pci(16 * n + 3, "0207 [15b3:1021]", inside=[(f"ib{n}", 2), (f"mlx5_{n}", 3)])], 'kind="1001" subkind="0"')
    m.write(file, [lambda: m.object("Package", [part(0), part(1)], 'os_index="0"'),
                   lambda: m.object("Package", [part(2), part(3)], 'os_index="1"')])


def ccds(m, count, cores, threads=1):
    return [lambda: m.object("L3Cache", [lambda: m.core(threads, caches=False)] * cores, cache(32 << 20, 3, 0))] * count


@machine("cores96.xml")
def _(m, file):
    m.write(file, [lambda: m.object("Package", [m.numa] + ccds(m, 12, 8), 'os_index="0"')])


@machine("cores192.xml")
def _(m, file):
    half = lambda: m.object("Package", [lambda: m.numa(384)] + ccds(m, 12, 8, 2))
    m.write(file, [half, half])


@machine("no_core_level.xml")
def _(m, file):
    pair = lambda: m.object("L2Cache", [m.pu, m.pu], cache(1 << 20, 2, 0))
    half = lambda: m.object("Package", [m.numa, pair, pair])
    m.write(file, [half, half])


@machine("gpus_one_side.xml")
def _(m, file):
    m.write(file, [lambda: m.object("Package", [m.numa] + [lambda: m.core(2)] * 6),
                   lambda: m.object("Package", [m.numa] + [lambda: m.core(2)] * 6 +
                                    [lambda b=b: m.pci(b, "0300 [1002:66a0]", inside=[(f"card{b}", 1), (f"renderD{128 + b}", 1)]) for b in range(3)])])


@machine("hybrid.xml")
def _(m, file):
    efficient = lambda: m.object("L2Cache", [lambda: m.core(1, caches=False)] * 4, cache(2 << 20, 2, 0))
    m.tail = ['  <cpukind cpuset="0x00ff0000" forced_efficiency="0">', '    <info name="CoreType" value="IntelAtom"/>',
              '    <info name="FrequencyMaxMHz" value="3900"/>', "  </cpukind>",
              '  <cpukind cpuset="0x0000ffff" forced_efficiency="1">', '    <info name="CoreType" value="IntelCore"/>',
              '    <info name="FrequencyMaxMHz" value="5200"/>', "  </cpukind>"]
    m.write(file, [lambda: m.object("Package", [lambda: m.numa(32), lambda: m.object(
        "L3Cache", [lambda: m.core(2)] * 8 + [efficient, efficient], cache(30 << 20, 3, 0))])])


@machine("hbm.xml")
def _(m, file):
    def half():
        m.object("Package", [lambda: m.numa(128), lambda: m.numa(64, "HBM")] + [m.core] * 8)
    def tail():
        m.numa(256, "CXL-DRAM", cpuless=True)
        m.numa(512, "NVM", cpuless=True)
    m.tail = matrix([[10, 10, 20, 20, 40, 50], [10, 10, 20, 20, 40, 50], [20, 20, 10, 10, 40, 50],
                     [20, 20, 10, 10, 40, 50], [40, 40, 40, 40, 10, 60], [50, 50, 50, 50, 60, 10]])
    m.write(file, [half, half, tail])


@machine("restricted.xml")
def _(m, file):
    half = lambda: m.object("Package", [m.numa] + [lambda: m.core(2)] * 8)
    m.write(file, [half, half], allowed=0x00ff_f0f0, allowed_nodes=1)


@machine("one_left.xml")
def _(m, file):
    half = lambda: m.object("Package", [m.numa] + [m.core] * 4)
    m.write(file, [half, half], allowed=0x04, allowed_nodes=3)


@machine("interfaces.xml")
def _(m, file):
    uuid = [("NVIDIAUUID", "GPU-00000000-0000-0000-0000-000000000001")]
    m.write(file, [lambda: m.object("Package", [m.numa] + [m.core] * 4 + [
        lambda: m.pci(1, [("0200 [15b3:101d]", [("ens1f0", 2), ("ib0", 2), ("mlx5_0", 3)]), ("0200 [15b3:101d]", [("ens1f1", 2), ("mlx5_1", 3)])]),
        lambda: m.pci(2, [("0302 [10de:20b0]", [("card1", 1), ("renderD128", 1), ("cuda0", 5, "CUDA"), ("nvml0", 1, "NVML", uuid)]), ("0108 [10de:0001]", [])]),
        lambda: m.pci(3, "0300 [1a03:2000]", "0.0", inside=[("card0", 1), ("controlD64", 1)]),
        lambda: m.pci(0x10104, "0108 [144d:a808]", "7.9", inside=[("nvme0n1", 0, "Disk"), ("nvme0n2", 0, "Disk")])]),
        lambda: m.os("sdb", 0, "Disk")])


@machine("no_io.xml")
def _(m, file):
    m.write(file, [lambda: m.object("Package", [m.numa] + [m.core] * 6), lambda: m.object("Package", [m.core] * 6)])


@machine("one_core.xml")
def _(m, file):
    m.write(file, [lambda: m.object("Package", [lambda: m.numa(1), m.core])])


@machine("contexts.xml")
def _(m, file):
    m.write(file, [
        lambda: m.object("Package", [m.numa] + [lambda: m.core(2)] * 4 + [
            lambda: m.pci(1, "0302 [10de:20b0]", facts=[("Contexts", "4")]), lambda: m.pci(2, "0302 [10de:20b0]", facts=[("Contexts", "2")])]),
        lambda: m.object("Package", [m.numa] + [lambda: m.core(2)] * 4 + [
            lambda: m.pci(3, "0302 [10de:20b0]"), lambda: m.pci(4, "0200 [15b3:101d]", facts=[("Contexts", "3")])])])


@machine("accelerators.xml")
def _(m, file):
    m.write(file, [lambda: m.object("Package", [m.numa] + [m.core] * 4 + [
        lambda: m.pci(1, "1200 [10ee:5000]"), lambda: m.pci(2, "1200 [1002:74a1]", facts=[("Contexts", "1")]),
        lambda: m.pci(3, "1200 [1da3:1020]"), lambda: m.pci(4, "0b40 [8086:225c]", inside=[("mic0", 5, "MIC")])]),
        lambda: m.object("Package", [m.numa] + [m.core] * 4 + [
            lambda: m.pci(5, "0c06 [15b3:1003]"), lambda: m.pci(6, "0c04 [1077:2532]"), lambda: m.pci(7, "0000 [119f:0100]", inside=[("bxi0", 3)])])])


@machine("one_offline.xml")
def _(m, file):
    core = lambda: m.core(1, caches=False)
    shared = lambda *inside: lambda: m.object("L2Cache", list(inside), cache(1 << 20, 2, 0))
    pair, single = shared(core, core), shared(core)
    gpu = lambda: m.pci(1, "0302 [10de:20b0]")
    m.write(file, [lambda: m.object("Package", [m.numa, pair, pair, single, pair, gpu]),
                   lambda: m.object("Package", [m.numa, pair, pair, pair, pair]),
                   lambda: m.object("Package", [m.numa, single, single])])


@machine("latencies.xml")
def _(m, file):
    part = lambda: m.object("Package", [m.numa, m.core, m.core])
    def without_cores():
        m.numa(256, cpuless=True)
        m.numa(80, "GPUMemory", cpuless=True)
    ring = [[10, 16, 22, 16], [16, 10, 16, 22], [22, 16, 10, 16], [16, 22, 16, 10]]
    m.tail = matrix([row + [40, 80] for row in ring] + [[40, 40, 40, 40, 10, 80], [80, 80, 80, 80, 80, 10]])
    m.write(file, [part, part, part, part, without_cores], allowed_nodes=0b111011)


@machine("attributes.xml")
def _(m, file):
    nodes = []
    def numa(gib, subtype=None):
        m.numa(gib, subtype)
        nodes.append(m.gp)
    half = lambda: m.object("Package", [lambda: numa(128), lambda: numa(64, "HBM"), m.core, m.core])
    def tail():
        pairs = lambda *values: [(node, 0b1100 if side else 0b11, values[(n % 2) * 2 + (n // 2 != side)])
                                 for n, node in enumerate(nodes) for side in range(2)]
        m.tail = matrix([[10, 11, 20, 21], [11, 10, 21, 22], [20, 21, 10, 11], [21, 22, 11, 10]])
        m.tail += attribute("Bandwidth", 5, pairs(200000, 80000, 800000, 90000))
        m.tail += attribute("Latency", 6, pairs(90, 140, 110, 160))
    m.write(file, [half, half, tail])


def of_hwloc_1(file, root):
    """The first form of hwloc's XML, in which a NUMA node holds its cores. An object is (type, its number, its threads,
    its nodes, what is in it); nodes may be (those that may be used, all)."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<!DOCTYPE topology SYSTEM "hwloc.dtd">', "<topology>"]

    def put(depth, kind, number, threads, nodes, inside):
        usable, all_nodes = nodes if isinstance(nodes, tuple) else (nodes, nodes)
        memory = f' local_memory="{GiB}"' if kind == "NUMANode" and usable else ""
        lines.append("  " * depth + f'<object type="{kind}" os_index="{number}" cpuset="{bits(threads)}" complete_cpuset="{bits(threads)}" '
                     f'online_cpuset="{bits(threads)}" allowed_cpuset="{bits(threads)}" nodeset="{bits(usable)}" '
                     f'complete_nodeset="{bits(all_nodes)}" allowed_nodeset="{bits(usable)}"{memory}>')
        for child in inside:
            put(depth + 1, *child)
        lines.append("  " * depth + "</object>")

    put(1, *root)
    Path(__file__).with_name(file).write_text("\n".join(lines + ["</topology>", ""]))


def old_cores(first, count, nodes):
    return [("Core", c, 1 << c, nodes, [("PU", c, 1 << c, nodes, [])]) for c in range(first, first + count)]


of_hwloc_1("hwloc1_node_root.xml", ("NUMANode", 0, 0b1111, 1, [
    ("Socket", p, 0b11 << 2 * p, 1, old_cores(2 * p, 2, 1)) for p in range(2)]))

of_hwloc_1("hwloc1_withheld.xml", ("Machine", 0, 0b1111, (0b101, 0b111), [
    ("NUMANode", 0, 0b0011, 1, old_cores(0, 2, 1)),
    ("NUMANode", 1, 0b1100, (0, 0b010), old_cores(2, 2, (0, 0b010))),
    ("NUMANode", 2, 0, 0b100, [])]))


@machine("numa8_gpus4.xml")
def _(m, file):
    def part(n):
        gpus = [lambda: m.pci(n + 1, "0300 [1002:66a0]")] if n in (1, 2, 5, 7) else []
        return lambda: m.object("Group", [m.numa] + [lambda: m.core(2)] * 6 + gpus, 'kind="1001" subkind="0"')
    m.tail = matrix([[10 if a == b else 16 if a // 4 == b // 4 else 32 for b in range(8)] for a in range(8)])
    m.write(file, [lambda: m.object("Package", [part(n) for n in range(4)]), lambda: m.object("Package", [part(n) for n in range(4, 8)])])


@machine("nested_places.xml")
def _(m, file):
    gpu = lambda bus: lambda: m.pci(bus, "0302 [10de:20b0]")
    group = lambda *inside: lambda: m.object("Group", [m.numa, m.core, m.core] + list(inside), 'kind="1001" subkind="0"')
    m.write(file, [lambda: m.object("Package", [group(gpu(1)), gpu(2)]), lambda: m.object("Package", [group(), group()])])
