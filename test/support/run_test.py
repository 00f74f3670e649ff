# SPDX-License-Identifier: MIT
"""That test/run and bench/run say in one sentence what they need, with exit code 2, before they install or build."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

KEEL = pathlib.Path(sys.argv[1])


def heard(script, arguments, tree, as_user=None):
    """Exit code and standard error of a script in `tree`, which holds nothing to build."""
    done = subprocess.run([tree / script, *arguments], capture_output=True, text=True, user=as_user, timeout=60)
    return done.returncode, done.stderr + done.stdout


def make_tree(folder):
    for script in ("test/run", "bench/run"):
        (folder / script).parent.mkdir()
        shutil.copy(KEEL / script, folder / script)
    (folder / "subprojects").mkdir()
    setup = folder / "subprojects/setup"
    setup.write_text("#!/bin/sh\necho setup was reached\nexit 3\n")
    setup.chmod(0o755)


def main():
    wrong = []

    def check(what, outcome, sentence):
        code, text = outcome
        if code != 2 or text.strip() != sentence:
            wrong.append(f"{what}: exit code {code}, {text!r}, not {sentence!r}")

    with tempfile.TemporaryDirectory() as name:
        tree = pathlib.Path(name).resolve()
        make_tree(tree)
        alone = "test/run: {} stands alone (it takes a value). See test/run --help."
        for option in ("--build", "--suite"):
            for rest in ([], [""], ["--suite", "unit"]):
                check(f"{option} {rest}", heard("test/run", [option, *rest], tree), alone.format(option))
        check("an option", heard("test/run", ["--x"], tree),
              "test/run: unknown option --x (it is not known). See test/run --help.")
        check("a report that is no page", heard("bench/run", ["--report", "run.jsonl"], tree),
              "bench/run: --report run.jsonl cannot be used (the name of a page ends in .html). Name another.")
        cannot = "test/run: {} cannot be written (it is where the tests are built). Name another folder with --build FOLDER."
        check("no folder", heard("test/run", ["--build", "/proc/keel"], tree), cannot.format("/proc/keel"))
        os.chmod(tree, 0o555)
        user = 65534 if os.geteuid() == 0 else None  # root may write everywhere
        check("a clone that is read-only", heard("test/run", [], tree, user), cannot.format(tree / "build"))
        check("the same, for the ocean", heard("bench/run", [], tree, user),
              f"bench/run: {tree}/build cannot be written (it is where the ocean is built). Copy the clone to a folder that can.")
        os.chmod(tree, 0o755)
        with tempfile.TemporaryDirectory(suffix=" with a blank") as elsewhere:
            code, text = heard("test/run", ["--build", elsewhere], tree)
            if (code, text) != (3, "setup was reached\n"):
                wrong.append(f"a folder elsewhere: exit code {code}, {text!r}")
    return "\n".join(f"FAIL: {each}" for each in wrong) or 0


if __name__ == "__main__":
    sys.exit(main())
