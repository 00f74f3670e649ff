# SPDX-License-Identifier: MIT
"""Kokkos' tools, and so the profilers behind them, get the names of routines, kernels and copies: tool_names.py HEAT.

Kokkos loads the tool because a variable of the environment names it; keel and the program know nothing of it.
"""
import subprocess
import sys

WANTED = ["region keel: routine warm", "kernel warm", "region keel: copy heat[0] owned simulated to host", "region keel: routine show"]

said = subprocess.run([sys.argv[1], "--keel-device=simulated"], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
lines = iter(said)
lost = [wanted for wanted in WANTED if wanted not in lines]  # in this order
print("\n".join(said))
sys.exit(f"the tool did not hear, in this order: {lost}" if lost else 0)
