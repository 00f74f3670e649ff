# SPDX-License-Identifier: MIT
"""Whether fields that track nothing add no instruction to a loop, by `objdump`: same_instructions.py LIBRARY

But for a test whether the grid is in blocks, and the call if it is. The compiler may choose other registers and another order; so
instructions are counted, and the order is only told of."""
import re
import subprocess
import sys


def instructions(library, function):
    """Of a function, without addresses: jumps by how far they go."""
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", f"--disassemble={function}", library], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    lines = re.findall(r"^ +([0-9a-f]+):\t(.*)$", text, re.M)
    plain = []
    for address, line in lines:
        line = re.sub(r"#.*|<.*>", "", line).strip()
        line = re.sub(r"\b(j\w+|call) +([0-9a-f]+)", lambda m: f"{m[1]} {int(m[2], 16) - int(address, 16) if m[1] != 'call' else ''}", line)
        line = re.sub(r"-?0x[0-9a-f]+\(%rip\)", "(%rip)", line)
        plain.append(line)
    while plain and re.match(r"nop|cs nop|data16|xchg +%ax,%ax", plain[-1]):
        plain.pop()
    return plain


def main(library):
    wrong = 0
    for name in ("off", "one_memory"): # the last one has to differ, which shows that a difference is seen
        with_keel, without = (instructions(library, f"{how}_{name}") for how in ("keel", "loop"))
        calls = [sum(line.startswith("call") for line in lines) for lines in (with_keel, without)]
        adds_none = 0 < len(with_keel) <= len(without) + 12 and calls[0] <= calls[1] + 1
        order = ", the same in the same order" if with_keel == without else ""
        print(f"{name}: {len(with_keel)} instructions with keel, {len(without)} of the loop alone, calls {calls[0]} and {calls[1]}{order}")
        wrong += with_keel == without if name == "one_memory" else not adds_none
    return wrong


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
