# SPDX-License-Identifier: MIT
"""What has to be built for some tests, a target a line: needed.py BUILD --suite NAME ... TEST ...

Prints `all` where the name of a test is a pattern, and nothing where these tests need no target. A suite that the build
does not have, and a test, are refused with exit code 2.
"""
import difflib
import json
import pathlib
import sys


def needed(tests, targets, words):
    """Files in the build folder, of the tests whose suite stands behind `--suite` or whose name stands alone; None for all of them."""
    words = list(words)
    suites = {words.pop(at + 1) for at in reversed(range(len(words))) if words[at] == "--suite"}
    names = {word for word in words if word != "--suite"}
    own = lambda test: {suite.split(":")[-1] for suite in test["suite"]}
    for kind, given, known in (("suite", suites, set().union(*map(own, tests))), ("test", names, {test["name"] for test in tests})):
        for name in sorted(given - known):
            if not any(sign in name for sign in "*?[:"):
                near = difflib.get_close_matches(name, known, 3) or sorted(known)[:12]
                raise LookupError(f"there is no {kind} {name!r} (this build has {', '.join(near)}{' and more' if len(known) > len(near) else ''}). Take one of them.")
    if names - {test["name"] for test in tests}:
        return None
    wanted = {target for test in tests if test["name"] in names or suites & own(test) for target in test["depends"]}
    return sorted({file for target in targets if target["id"] in wanted for file in target["filename"]})


def main(build, *words):
    build = pathlib.Path(build).resolve()
    tests, targets = (json.loads((build / f"meson-info/intro-{what}.json").read_text()) for what in ("tests", "targets"))
    try:
        files = needed(tests, targets, words)
    except LookupError as wrong:
        sys.exit(print(f"test/run: {wrong}", file=sys.stderr) or 2)
    for file in ["all"] if files is None else [pathlib.Path(file).relative_to(build) for file in files]:
        print(file)


if __name__ == "__main__":
    main(*sys.argv[1:])
