# SPDX-License-Identifier: MIT
"""Runs test/machine/endings.cpp on 4 ranks, once for each way to end, and judges it from outside:
the exit code, the words on stderr, and that no rank is left waiting for 30 seconds.
usage: endings.py PROGRAM LAUNCHER [ARGUMENT...]"""
import os, signal, subprocess, sys, time

program, launcher = sys.argv[1], sys.argv[2:]
host = os.uname().nodename
endings = [  # name, whether the exit code is right, words that must stand in what was printed
    ("orderly", lambda code: code == 0, []),
    ("alike", lambda code: code == 2, ["keel::device: --keel-num-threads=4x is not a number."]),
    ("killed", lambda code: code != 0, []),
    ("aborted", lambda code: code == 7, [f"keel::test: nothing to do [rank 1 of 4 on host {host} aborts the job with code 7]"]),
    ("unwound", lambda code: code != 0, [f"keel::test: rank 1 gives up. [rank 1 of 4 on host {host} aborts the job"]),
    ("failed", lambda code: code != 0, [f"MPI_Comm_dup failed on rank 1 of 4 on host {host}"]),
    ("uncaught", lambda code: code != 0, [f"MPI_Comm_dup failed on rank 1 of 4 on host {host}"]),
]
failed = 0
for name, code_is_right, words in endings:
    begun = time.monotonic()
    job = subprocess.Popen(launcher + ["-n", "4", program, name], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           text=True, start_new_session=True)
    wrong = []
    try:
        text, _ = job.communicate(timeout=30)
    except subprocess.TimeoutExpired:
        os.killpg(job.pid, signal.SIGKILL)
        text, _ = job.communicate()
        wrong.append("a rank was still waiting after 30 s")
    if not wrong and not code_is_right(job.returncode):
        wrong.append(f"exit code {job.returncode}")
    wrong += [f"nobody said '{word}'" for word in words if word not in text]
    wrong += [f"said more than once: '{word}'" for word in words[:1] if name == "alike" and text.count(word) != 1]
    print(f"{'failed' if wrong else 'passed'}: a job that ends {name}, {time.monotonic() - begun:.1f} s", *wrong, sep="; ")
    if wrong:
        failed += 1
        print(text)
print(f"{len(endings) - failed} passed, {failed} failed, 0 skipped")
sys.exit(1 if failed else 0)
