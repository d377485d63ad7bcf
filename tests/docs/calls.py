#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that doc/calls.md has the order of calls of every handle, and names all calls. Usage: calls.py SOURCE_ROOT

A handle is a struct that a public header declares and does not define. Its calls are the functions that take or return one.
The page marks with C the calls whose comments say "Collective".
"""
import glob
import os
import re
import sys

root = sys.argv[1]
headers = "\n".join(open(path, encoding="utf-8").read() for path in sorted(glob.glob(os.path.join(root, "include/hpcw/*.h"))))
code = re.sub(r"/\*.*?\*/|^#.*?(?<!\\)$", "", headers, flags=re.S | re.M)
declared = set(re.findall(r"typedef struct (\w+) \1;", code))
handles = {name for name in declared if not re.search(rf"struct {name} {{", code)}
calls = {}  # functions, and the handles that they take or return; most calls also pass a communicator
for result, name, arguments in re.findall(r"HPCW_API\s+([\w\s*]*?)\b(hpcw_\w+)\(([^;{}]*?)\)\s*;", code):
    calls[name] = {h for h in handles if re.search(rf"\b{h} \*", arguments + ";" + result)
                   and (h != "hpcw_comm" or name.startswith("hpcw_comm_"))}

collective = set()
for comment, functions in re.findall(r"/\*\*((?:[^*]|\*(?!/))*)\*/\s*((?:HPCW_API[^;{]*;\s*)+)", headers):
    if "Collective" in comment:
        collective |= set(re.findall(r"\b(hpcw_\w+)\(", functions))

failed = 0


def bad(text):
    global failed
    failed = 1
    print(f"doc/calls.md: {text}")


page = open(os.path.join(root, "doc/calls.md"), encoding="utf-8").read()
rules = {}
for name, text in re.findall(r"^### `(\w+)`.*?^```\n(.*?)^```", page, flags=re.S | re.M):
    rules[name] = set(re.findall(r"\bhpcw_\w+", text))
for handle in sorted(handles):
    if handle not in rules:
        bad(f"no rule for {handle}")
        continue
    for name in sorted(n for n, of in calls.items() if handle in of):
        if name not in rules[handle]:
            bad(f"{handle}: {name} is missing")
for name, names in rules.items():
    if name not in handles:
        bad(f"{name}: expected a handle of a public header")
    for call in sorted(names):
        if call not in calls and not re.search(rf"\b{call}\(", code):
            bad(f"{name}: no public header has {call}")
rules_text = "\n".join(re.findall(r"^```\n(.*?)^```", page, flags=re.S | re.M))
marked = set(re.findall(r"\b(hpcw_\w+)[?*+]? +C\b", rules_text))
for group in re.findall(r"\(([^()]*)\) C\b", rules_text):
    marked |= set(re.findall(r"\bhpcw_\w+", group))
for call in sorted((marked ^ collective) & set().union(*rules.values())):
    bad(f"{call}: " + ("marked C, but its comment does not say Collective" if call in marked else "collective, but not marked C"))
if len(handles) < 10:
    bad(f"found only {len(handles)} handles in the headers")
sys.exit(failed)
