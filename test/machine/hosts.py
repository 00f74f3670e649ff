# SPDX-License-Identifier: MIT
"""Two hosts on one machine: network namespaces with names of their own, joined by a bridge, 2 ranks on each.
usage: hosts.py PROGRAM LAUNCHER [ARGUMENT...]   (test/machine/hosts.cpp is the program)"""
import os, pathlib, shutil, subprocess, sys, tempfile

NAMES = ["keel-a", "keel-b"]
CASES = ("honest", "unset", "lying")  # what the launcher's variables are made to say
INSIDE = "KEEL_TEST_INSIDE_NAMESPACE"


def run(command):
    subprocess.run(command.split(), check=True, capture_output=True, text=True)


def skip(reason):
    print(f"SKIP: machine on two hosts: {reason}\n0 passed, 0 failed, 1 skipped")
    sys.exit(0)


def make_hosts(folder):
    """The bridge, then for each name a process whose namespaces are the host."""
    (folder / "hosts").write_text("127.0.0.1 localhost\n10.77.0.1 keel-head\n" +
                                  "".join(f"10.77.0.{i + 2} {name}\n" for i, name in enumerate(NAMES)))
    for command in ("hostname keel-head", f"mount --bind {folder}/hosts /etc/hosts", "ip link set lo up",
                    "ip link add keel type bridge", "ip addr add 10.77.0.1/24 dev keel", "ip link set keel up"):
        run(command)
    hosts = []
    for i, name in enumerate(NAMES):
        host = subprocess.Popen(["unshare", "--net", "--uts", "sh", "-c", f"hostname {name}; echo; exec sleep 300"],
                                stdout=subprocess.PIPE)
        host.stdout.readline()
        hosts.append(host)
        (folder / name).write_text(str(host.pid))
        run(f"ip link add to-{name} type veth peer name eth0 netns {host.pid}")
        run(f"ip link set to-{name} master keel up")
        for command in (f"addr add 10.77.0.{i + 2}/24 dev eth0", "link set eth0 up", "link set lo up"):
            run(f"nsenter -t {host.pid} -n ip {command}")
    agent = folder / "agent"  # what launchers take for ssh
    agent.write_text('#!/bin/sh\nwhile [ "${1#-}" != "$1" ]; do shift; done\n'
                     f'host=$1; shift\nexec nsenter -t "$(cat {folder}/$host)" -n -u sh -c "$*"\n')
    agent.chmod(0o755)
    return hosts, agent


def launch(launcher, agent):
    version = subprocess.run([launcher[0], "--version"], capture_output=True, text=True).stdout
    places = ",".join(f"{name}:2" for name in NAMES)
    if "Open" in version or "open-mpi" in version:
        mca = {"plm": "rsh", "plm_rsh_agent": agent, "oob_tcp_if_include": "10.77.0.0/24", "btl": "self,vader,tcp",
               "btl_tcp_if_include": "10.77.0.0/24"}
        return launcher + ["-H", places, "-n", "4"] + [str(word) for item in mca.items() for word in ("--mca", *item)]
    return launcher + ["-launcher", "ssh", "-launcher-exec", str(agent), "-hosts", places, "-iface", "keel", "-n", "4"]


def main(program, launcher):
    if INSIDE not in os.environ:
        if os.geteuid() != 0:
            skip("not root")
        tools = all(map(shutil.which, ("unshare", "nsenter", "ip", "hostname", "mount")))
        if not tools or subprocess.run(["unshare", "--net", "--uts", "--mount", "sh", "-c",
                                        "hostname keel-head && ip link add keel type bridge"], capture_output=True).returncode:
            skip("no network namespaces")
        os.environ[INSIDE] = "1"
        os.execvp("unshare", ["unshare", "--net", "--uts", "--mount", sys.executable, *sys.argv])
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        hosts, agent = make_hosts(pathlib.Path(folder))
        try:
            for variables in CASES:
                job = subprocess.run(launch(launcher, agent) + [program, "2", variables], capture_output=True, text=True,
                                     timeout=120)
                right = job.returncode == 0 and job.stdout.count("right:") == 4
                failed += not right
                print(f"{'passed' if right else 'failed'}: 2 hosts x 2 ranks, launcher variables {variables}\n{job.stdout}")
                if not right:
                    print(job.stderr)
        finally:
            for host in hosts:
                host.kill()
    print(f"{len(CASES) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


sys.exit(main(sys.argv[1], sys.argv[2:]))
