#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that what the documents name exists. Usage: names.py SOURCE_ROOT

Looks at the code spans (`...`) of all Markdown pages, outside of fenced blocks:

- `name()`: some source defines or declares a function, macro or target of this name. Functions of other projects are
  written without parentheses.
- hpcw_..., HPCW_..., and names with the prefix of a directory (read_, model_, gen_, ui_, bench_): some source has this
  word or, if the name ends with "_", a word that begins with it.
- `gen/model/load.c` and other paths whose first part is a directory of the tree: the path exists. {a,b} and * stand for
  several names.
- `hpcw/sion.h`: a public header.

The scripts that the hooks of .pre-commit-config.yaml call must exist, too.

The template of a format has a tree of its own below tests/template. Its pages, and doc/new-format.md, may also name files
of that tree.
"""
import glob
import os
import re
import sys

TEMPLATE = "tests/template"
TOPS = ("include", "libwriter", "libreader", "ui", "gen", "trace", "bench", "bindings", "tests", "examples", "doc", ".ci")
PREFIX = re.compile(r"\b(?:hpcw|HPCW|read|READ|model|MODEL|gen|GEN|ui|UI|bench|BENCH)_(?![a-z]\b)\w*") # hpcw_x stands for any
# The changelog names what existed at the time of an entry.
SKIPPED = ("CHANGELOG.md",)

root = sys.argv[1]
failed = False


def files_of(tops, ending):
    for top in tops:
        for directory, _, names in os.walk(os.path.join(root, top)):
            for name in sorted(names):
                if re.search(ending, name):
                    yield os.path.join(directory, name)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


code = "\n".join(read(p) for p in files_of(TOPS, r"\.(c|h|f90|F90|py|sh|js|build)$"))
words = set(re.findall(r"\w+", code))
called = set(re.findall(r"(\w+)\s*\(", code))


def expand(path):
    """gen/{cli,spec}/*.c -> gen/cli/*.c, gen/spec/*.c"""
    braces = re.match(r"(.*?)\{([^{}]*)\}(.*)$", path)
    if not braces:
        return [path]
    return [p for part in braces.group(2).split(",") for p in expand(braces.group(1) + part + braces.group(3))]


def missing(span, roots):
    """Returns what a code span names that exists in none of the trees."""
    function = re.fullmatch(r"(\w+)\(\)", span)
    if function and function.group(1) not in called:
        yield function.group(0)
    for name in PREFIX.findall(span):
        if name not in words and not (name.endswith("_") and any(w.startswith(name) for w in words)):
            yield name
    for path in re.findall(r"(?<![\w./<-])[\w.]+/[\w./{},*-]*", span):
        if path.split("/")[0] in TOPS:
            wanted = expand(path.rstrip(".,"))
        elif path.startswith("hpcw/") and path.endswith(".h"):
            wanted = ["include/" + path]
        else:
            continue
        yield from (p for p in wanted if not any(glob.glob(os.path.join(r, p)) for r in roots))


pages = [p for p in glob.glob(os.path.join(root, "*.md")) if os.path.basename(p) not in SKIPPED]
pages += files_of([t for t in TOPS if t != ".ci"], r"\.md$")
spans = 0
for page in sorted(pages):
    # Fenced blocks become empty lines, so that line numbers are right. A span may continue on the next line.
    name = os.path.relpath(page, root)
    template = name.startswith(TEMPLATE + "/") or name == "doc/new-format.md"
    roots = [root] + ([os.path.join(root, TEMPLATE)] if template else [])
    text = re.sub(r"^```.*?^```$", lambda m: "\n" * m.group(0).count("\n"), read(page), flags=re.S | re.M)
    for found in re.finditer(r"`([^`]+)`", text):
        spans += 1
        line = text.count("\n", 0, found.start()) + 1
        for unknown in missing(" ".join(found.group(1).split()), roots):
            print(f"{name}:{line}: {unknown} does not exist")
            failed = True
for script in re.findall(r"\btests/\S+", read(os.path.join(root, ".pre-commit-config.yaml"))):
    if not os.path.exists(os.path.join(root, script)):
        print(f".pre-commit-config.yaml: {script} does not exist")
        failed = True
if spans == 0:
    sys.exit("names.py: no code span found, so nothing was checked")
sys.exit(failed)
