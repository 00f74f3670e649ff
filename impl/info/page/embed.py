#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""embed.py FOLDER OUT.hpp: puts page.html, with its styles and scripts in it, into a header as texts.

The texts are what stands before and after the place of the data.
"""
import pathlib
import re
import sys

folder, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
page = (folder / "page.html").read_text()
page = re.sub(r"@\{([\w./]+)\}", lambda name: (folder / name[1]).read_text().strip(), page)
parts = page.split("@DATA@")
assert len(parts) == 2, "page.html has one @DATA@"


def texts(name, text):
    """Short ones, because compilers have to take none that is longer than 65536 characters."""
    assert ')keel"' not in text
    pieces = [f'R"keel({text[at:at + 8000]})keel"' for at in range(0, len(text), 8000)]
    return f"inline constexpr std::array<std::string_view, {len(pieces)}> {name}{{\n" + ",\n".join(pieces) + "};\n"


out.write_text(
    "// SPDX-License-Identifier: MIT\n#pragma once\n\n/// @file\n/// The page of a report; made by embed.py.\n\n"
    "#include <array>\n#include <string_view>\n\nnamespace keel::info {\n\n"
    + "\n".join(map(texts, ("page_begin", "page_end"), parts)) + "\n} // namespace keel::info\n")
