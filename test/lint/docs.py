# SPDX-License-Identifier: MIT
"""The API reference is made without a warning, no link in it is broken, its main page is the README, and the programs of the course are pages: docs.py BUILD"""
import pathlib
import re
import shutil
import subprocess
import sys
from html import unescape

ROOT = pathlib.Path(__file__).resolve().parents[2]


def broken_links(html):
    """Links to files, and to places in pages. Doxygen 1.9.4 heads a list of private classes that it leaves out: nested-classes."""
    pages = {page.name: page.read_text(errors="replace") for page in html.glob("*.html")}
    places = {name: set(re.findall(r'(?:id|name)="([^"]+)"', text)) | {"nested-classes"} for name, text in pages.items()}
    for name, text in pages.items():
        for link in set(re.findall(r'<(?:a|img) [^>]*?(?:href|src)="([^":]*)"', text)):
            file, _, place = unescape(link).partition("#")
            file = file or name
            if not (html / file).is_file() or (place and file in places and place not in places[file]):
                yield f"{name} links to {link}, which is not there"


def left_out(readme, index):
    """Code of the README, and names of its figure, that the main page does not have as code and in a figure."""
    readme = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", readme)
    readme = re.split(r"(^```.*?^```$|^    [^\n]*$)", readme, flags=re.M | re.S)
    plain = lambda text: " ".join(unescape(re.sub(r"<[^>]*>", "", text)).replace("\u200b", "").split())
    shown = {plain(code) for code in re.findall(r"<code>(.*?)</code>", index, re.S)}
    for code in re.findall(r"`([^`]+)`", "".join(readme[::2])):
        if " ".join(code.split()) not in shown:
            yield f"index.html lacks the code {code}"
    for label in re.findall(r'-- "([^"]*)" -->', "".join(readme)):
        if label not in plain(index):
            yield f"index.html lacks the figure's arrow {label}"


def main(build):
    doxyfile = pathlib.Path(build) / "impl/docs/Doxyfile"
    if not doxyfile.is_file() or not shutil.which("doxygen"):
        print("SKIP: docs: no doxygen\n0 passed, 0 failed, 1 skipped")
        return 0
    html = doxyfile.parent / "html"
    shutil.rmtree(html, ignore_errors=True)  # pages of headers that are gone would stay
    done = subprocess.run(["doxygen", doxyfile], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    wrong = done.stdout.splitlines() if done.returncode or done.stdout.strip() else []
    wrong += broken_links(html)
    if not (html / "search/search.js").is_file() or 'class="keyword' not in (html / "index.html").read_text():
        wrong.append("the reference has no search, or its code has no colours")
    course = {path.stem for path in (ROOT / "test/example").glob("[0-9]*.txt")}
    linked = set(re.findall(r'href="example_(\w+)\.html"', (html / "index.html").read_text()))
    wrong += [f"the main page has no link to the program {name}" for name in sorted(course - linked)]
    wrong += left_out((ROOT / "README.md").read_text(), (html / "index.html").read_text())
    for line in wrong:
        print(f"FAIL: {line}")
    print(f"{int(not wrong)} passed, {int(bool(wrong))} failed, 0 skipped")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
