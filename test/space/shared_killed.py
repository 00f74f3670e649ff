# SPDX-License-Identifier: MIT
"""Kills one of 4 ranks that share memory: the job ends, and the node has its memory back.
usage: shared_killed.py PROGRAM LAUNCHER [ARGUMENT...]"""
import os, signal, subprocess, sys, time

SIZE = 256 << 10  # KiB, as the kernel counts


def shared_now():
    with open("/proc/meminfo") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("Shmem:"))


before = shared_now()
job = subprocess.Popen(sys.argv[2:] + ["-n", "4", sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                       stderr=subprocess.DEVNULL, text=True, start_new_session=True)
said = job.stdout.readline().strip()
held = shared_now() - before
try:
    job.communicate("go\n", timeout=60)
    ended = True
except subprocess.TimeoutExpired:
    os.killpg(job.pid, signal.SIGKILL)
    ended = False
until = time.monotonic() + 10
while shared_now() - before > SIZE // 2 and time.monotonic() < until:
    time.sleep(0.1)
left = shared_now() - before
failed = 0
for good, words in [(said == "shared by 4", f"four ranks share the memory: {said!r}"),
                    (SIZE // 2 < held < 2 * SIZE, f"they hold it once: {held} KiB"),
                    (ended and job.returncode != 0, f"the job ends with an error: {job.returncode}"),
                    (left < SIZE // 2, f"the node has it back: {left} KiB are left")]:
    print("passed:" if good else "failed:", words)
    failed += not good
print(f"{4 - failed} passed, {failed} failed, 0 skipped")
sys.exit(1 if failed else 0)
