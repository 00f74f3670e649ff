# SPDX-License-Identifier: MIT
"""Runs test/machine/endings.cpp, once for each way to end, on 4 ranks or on as many as are named, and judges it from
outside: the exit code, the words on stderr, and that no rank is left waiting for 30 seconds.
usage: endings.py PROGRAM LAUNCHER [ARGUMENT...]"""
import os, signal, subprocess, sys, time

program, launcher = sys.argv[1], sys.argv[2:]
host = os.uname().nodename


def is_told(code, text):
    """Code 2, or those where UCX, below MPICH 5, stumbles in MPI_Abort, which it says."""
    return code == 2 or code in (6, 15) and "ucp_worker.c" in text


endings = [  # name, whether the exit code is right, words that must stand in what was printed
    ("twice", lambda code, _: code == 0, []),
    ("orderly", lambda code, _: code == 0, []),
    ("alike", lambda code, _: code == 2, ["keel::device: --keel-num-threads=4x is not a number."]),
    ("killed", lambda code, _: code != 0, []),
    ("aborted", lambda code, _: code == 7,
     [f"keel::test: nothing to do [rank 1 of 4 on host {host} aborts the job with code 7]"]),
    ("unwound", is_told, [f"keel::test: rank 1 gives up. [rank 1 of 4 on host {host} aborts the job"]),
    ("unwound 2", is_told, [f"keel::test: rank 1 gives up. [rank 1 of 2 on host {host} aborts the job"]),
    ("failed", lambda code, _: code != 0, [f"MPI_Comm_dup failed on rank 1 of 4 on host {host}"]),
    *((call, is_told, [f"keel::machine: {call} failed on rank 1 of 4 on host {host}", "aborts the job with code 2]"])
      for call in ("MPI_Issend", "MPI_Improbe", "MPI_Test", "MPI_Ibarrier", "MPI_Allreduce")),
    ("uncaught", lambda code, _: code != 0, [f"MPI_Comm_dup failed on rank 1 of 4 on host {host}"]),
]
failed, count = 0, len(endings) + 7
for name, code_is_right, words in endings:
    begun = time.monotonic()
    word, _, ranks = name.partition(" ")
    job = subprocess.Popen(launcher + ["-n", ranks or "4", program, word], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           text=True, start_new_session=True)
    wrong = []
    try:
        text, _ = job.communicate(timeout=30)
    except subprocess.TimeoutExpired:
        os.killpg(job.pid, signal.SIGKILL)
        text, _ = job.communicate()
        wrong.append("a rank was still waiting after 30 s")
    if not wrong and not code_is_right(job.returncode, text):
        wrong.append(f"exit code {job.returncode}")
    wrong += [f"nobody said '{word}'" for word in words if word not in text]
    wrong += [f"said more than once: '{word}'" for word in words[:1] if name == "alike" and text.count(word) != 1]
    print(f"{'failed' if wrong else 'passed'}: a job that ends {name}, {time.monotonic() - begun:.1f} s", *wrong, sep="; ")
    if wrong:
        failed += 1
        print(text)


def alone(name, variables, code_wanted, words, ending="single"):
    """The program without a launcher, or with another's: what its variables say, by hand."""
    global failed
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OMPI_COMM", "PMI", "SLURM_"))}
    job = subprocess.run([program, ending], env=clean | variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
    good = job.returncode == code_wanted and (words in job.stdout if words else "keel::" not in job.stdout)
    print(f"{'passed' if good else 'failed'}: {name}")
    if not good:
        failed += 1
        print(job.returncode, job.stdout)


alone("one process without a launcher", {}, 0, "")
alone("the first of another MPI's launcher", {"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_RANK": "0"}, 2, "keel::machine: each of 4 processes is alone (OMPI_COMM_WORLD_SIZE counts them")
alone("the second of another MPI's launcher is told elsewhere", {"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_RANK": "1"}, 2, "")
alone("a step of Slurm's that speaks another PMI", {"SLURM_STEP_NUM_TASKS": "4"}, 2, "keel::machine: each of 4 processes is alone")
alone("a launcher of one process inside a step of many", {"OMPI_COMM_WORLD_SIZE": "1", "SLURM_STEP_NUM_TASKS": "4"}, 0, "")
alone("an exception leaves the only rank, as in any program", {}, 2, "", "thrown")
alone("an abort after MPI has ended", {}, -signal.SIGABRT, "keel::test: too late [rank 0 of 1 on host", "late")
print(f"{count - failed} passed, {failed} failed, 0 skipped")
sys.exit(1 if failed else 0)
