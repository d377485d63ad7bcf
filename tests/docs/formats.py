#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that each format of gen/spec/formats.h stands where users look for it, and in the programs and bindings that
have all formats. Usage: formats.py SOURCE_ROOT"""
import os
import re
import sys

# The files, of which one must have a regular expression for the format NAME, and what to add to the first of them.
PLACES = (
    ("README.md", r"\(doc/formats/{name}\.md\)", "a link to doc/formats/{name}.md in the table of Read on"),
    ("include/hpcw/hpcw.h", r"^ \*   {name}\.h  ", "a line for {name}.h in the table of headers that write"),
    ("doc/library.md", r"^\| .*\]\(formats/{name}\.md\)", "a row with a link to formats/{name}.md in the table of formats"),
    ("doc/info.md", r"^\| `format` \|.*`{name}`", "`{name}` in the row of `format`"),
    ("doc/info.md", r"^\[The format\]\(formats/{name}\.md\)|\. \[The format\]\(formats/{name}\.md\)",
     "a section with [The format](formats/{name}.md), and its line in tests/cli/info.sh"),
    ("doc/architecture.md", r"^ *libwriter/format/\{{.*\b{name}\b.*writers$", "{name} in the drawing, among the writers"),
    ("tests/crash/writers.c", r'\{{"{name}", \w+,', 'a row "{name}" in its table, and cases in tests/crash/cases.py'),
    ("examples/heat.c examples/heat.h examples/heat_files.c examples/links.h", r"^#include <hpcw/{name}(_log)?\.h>",
     "a file of {name} among those that the program writes"),
    ("bindings/python/hpcw/__init__.py", r"^from \.{name} import ", "a module {name}.py, which reads the format"),
)

root = sys.argv[1]


def read(path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return file.read()


names = re.findall(r"^ +X\(\w+, (\w+)\)", read("gen/spec/formats.h"), re.M)
lacks = [f"{paths.split()[0]}: expected {add.format(name=name)}, got none" for paths, pattern, add in PLACES for name in names
         if not any(re.search(pattern.format(name=name), read(path), re.M) for path in paths.split())]
if len(names) < 5:
    lacks.append(f"gen/spec/formats.h: expected the list of formats, got {len(names)} of them")
for line in lacks:
    print(line)
sys.exit(bool(lacks))
