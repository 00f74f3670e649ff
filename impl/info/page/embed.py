#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""embed.py FOLDER OUT.hpp: puts page.html, with its styles and scripts in it, into a header as texts.

A place that keel-info fills, such as @DATA@, is a text by itself.
"""
import pathlib
import re
import sys

folder, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
page = (folder / "page.html").read_text()
page = re.sub(r"@\{([\w.]+)\}", lambda name: (folder / name[1]).read_text().strip(), page)
assert ')keel"' not in page
# Short ones, because compilers have to take none that is longer than 65536 characters.
pieces = [text[at:at + 8000] for text in re.split("(@[A-Z]+@)", page) for at in range(0, len(text), 8000)]
texts = ",\n".join(f'R"keel({piece})keel"' for piece in pieces)
out.write_text(
    "// SPDX-License-Identifier: MIT\n#pragma once\n\n/// @file\n/// The page of a report; made by embed.py.\n\n"
    "#include <array>\n#include <string_view>\n\nnamespace keel::info {\n\n"
    f"inline constexpr std::array<std::string_view, {len(pieces)}> page_pieces{{\n{texts}}};\n\n}} // namespace keel::info\n")
