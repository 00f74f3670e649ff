# SPDX-License-Identifier: MIT
"""What has to be built for some tests, a target a line: needed.py BUILD --suite NAME ... TEST ...

Prints nothing, so that all is built, where a test is none of the build's or its name is a pattern.
"""
import json
import pathlib
import sys


def needed(tests, targets, words):
    """Files in the build folder, of the tests whose suite stands behind `--suite` or whose name stands alone."""
    words = list(words)
    suites = {words.pop(at + 1) for at in reversed(range(len(words))) if words[at] == "--suite"}
    names = {word for word in words if word != "--suite"}
    chosen = [test for test in tests if test["name"] in names or suites & {suite.split(":")[-1] for suite in test["suite"]}]
    if names - {test["name"] for test in chosen} or not chosen:
        return []
    wanted = {target for test in chosen for target in test["depends"]}
    return sorted({file for target in targets if target["id"] in wanted for file in target["filename"]})


def main(build, *words):
    build = pathlib.Path(build).resolve()
    tests, targets = (json.loads((build / f"meson-info/intro-{what}.json").read_text()) for what in ("tests", "targets"))
    for file in needed(tests, targets, words):
        print(pathlib.Path(file).relative_to(build))


if __name__ == "__main__":
    main(*sys.argv[1:])
