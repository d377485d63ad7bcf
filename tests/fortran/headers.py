#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the module hpcw with the headers. Usage: headers.py HPCW.f90 FORTRAN_COMPILER C_COMPILER HEADER...

The compiled module is in the directory of HPCW.f90. A C program and a Fortran program print every constant, the size of
every type, and the offsets of its components. Names of the headers that the module does not have must be in the lists below.
An argument that may be NULL in C must be optional in Fortran.
"""
import difflib
import os
import re
import subprocess
import sys
import tempfile

# Names that the module does not have: macros for the C compiler, and names that the headers call private.
NO_CONSTANT = r"HPCW_(\w+_H|API|MUST_CHECK|PRINTF|CLOG2_HAVE_COUNTER|CLOG2_WORDS_\w+|CLOG2_PEER_\w+|CLOG2_COMM_FREED)"
NO_CALL = r"hpcw_\w+_(?:options|callbacks|removal)_fill|hpcw_clog2_timeline_\w+"
# Fortran has no union, so its parts are types of their own.
PARTS = {"hpcw_clog2_as_": "((hpcw_clog2_record *)0)->as."}
OWN = {"hpcw_text", "hpcw_clog2_as"}

module, fortran, compiler, *headers = sys.argv[1:]
failed = False


def run(*command, **others):
    return subprocess.run(command, check=True, capture_output=True, text=True, **others).stdout


def same(what, ours, theirs):
    """Compares lists of what the module and the headers have."""
    global failed
    for name in sorted(set(theirs) - set(ours)):
        print(f"the module does not have the {what} {name}")
        failed = True
    for name in sorted(set(ours) - set(theirs)):
        print(f"the headers do not have the {what} {name}")
        failed = True


# ---- Names
text = re.sub(r" &\n *", " ", open(module, encoding="utf-8").read())
raw = "\n".join(open(h, encoding="utf-8").read() for h in headers)
bare = re.sub(r"/\*.*?\*/", "", raw, flags=re.S)

words = {w for w in re.findall(r"\bHPCW_\w+", re.sub(r'"[^"\n]*"', "", bare)) if not re.fullmatch(NO_CONSTANT, w)}
constants = {}  # name in Fortran: (its type, name in C)
for kind, name in re.findall(r"^  (\w+)\([^)]*\), parameter, public :: (\w+) = ", text, flags=re.M):
    constants[name] = (kind, name if name in words else name.removesuffix("_VALUE"))
same("constant", [c for _, c in constants.values()], words)

types = {}  # name: [(component, whether it is an array)]
for name, body in re.findall(r"^  type\b[^\n]* :: (\w+)\n(.*?)^  end type", text, flags=re.M | re.S):
    types[name] = re.findall(r"^    .* :: (\w+)(\()?", body, flags=re.M)
structs = set(re.findall(r"\bstruct (hpcw_\w+)", bare))
same("type", [t for t in types if not t.startswith(tuple(PARTS))], structs)

declared = run("sh", os.path.join(os.path.dirname(__file__), "../headers/declared.sh"), *headers).split()
declared += re.findall(r"^static inline \w+ (hpcw_\w+)\(", raw, flags=re.M)
calls = set(re.findall(r"^  public :: (\w+)", text, flags=re.M)) - OWN
same("call", calls, [d for d in declared if not re.fullmatch(NO_CALL, d)])

# Arguments that may be NULL according to a call's comment are optional in Fortran.
can_be_null = set()
for comment, call in re.findall(r"/\*\*((?:(?!\*/).)*)\*/\s*HPCW_API [^;(]*?(hpcw_\w+)\(", raw, flags=re.S):
    for names, meaning in re.findall(r"@param\s+((?:\w+, )*\w+)((?:(?!@param|@return).)*)", comment, flags=re.S):
        if re.search(r"NULL: |may be NULL(?! if)|or NULL", " ".join(meaning.split())):
            can_be_null |= {f"{call}.{name}" for name in names.split(", ")}
optional = set()
for call, body in re.findall(r"^  (?:function|subroutine) (hpcw_\w+)\(.*?\n(.*?)^  end ", text, flags=re.M | re.S):
    optional |= {f"{call}.{name}" for name in re.findall(r"\boptional\b.* :: (\w+)", body)}
if len(can_be_null) < 20:
    print(f"expected comments that say what may be NULL, got {len(can_be_null)}")
    failed = True
for argument in sorted(can_be_null - optional):
    print(f"{argument} may be NULL: expected an entry in bindings/fortran/arguments.py, got none")
    failed = True

# ---- Values, sizes and places
c = ["#include <inttypes.h>", "#include <stddef.h>", "#include <stdio.h>", "#include <string.h>", "#include <hpcw/hpcw.h>",
     "static int64_t bits(double d) { int64_t i; memcpy(&i, &d, sizeof i); return i; }", "int main(void) {"]
f = ["program values", "  use, intrinsic :: iso_c_binding", "  use hpcw", "  implicit none"]
for name, (kind, c_name) in constants.items():
    if kind == "character":
        c.append(f'printf("{name} %s\\n", {c_name});')
        f.append(f"  print '(2a)', '{name} ', {name}")
    elif kind == "real":
        c.append(f'printf("{name} %" PRId64 "\\n", bits({c_name}));')
        f.append(f"  print '(a,i0)', '{name} ', transfer({name}, 0_c_int64_t)")
    else:
        c.append(f'printf("{name} %" PRId64 "\\n", (int64_t)({c_name}));')
        f.append(f"  print '(a,i0)', '{name} ', {name}")
f += [f"  call check_{name}" for name in types] + ["contains"]
for name, components in types.items():
    part = next((p for p in PARTS if name.startswith(p)), None)
    c_name = f"__typeof__({PARTS[part]}{name.removeprefix(part)})" if part else name
    opaque = [n for n, _ in components] == ["handle"]
    c.append(f'printf("{name} %zu\\n", sizeof({c_name}{" *" if opaque else ""}));')
    f += [f"  subroutine check_{name}", f"    type({name}), target :: x",
          f"    print '(a,i0)', '{name} ', storage_size(x)/8"]
    for component, array in [] if opaque else components:
        c.append(f'printf("{name}.{component} %zu %zu\\n", offsetof({c_name}, {component}), '
                 f'sizeof((({c_name} *)0)->{component}));')
        f.append(f"    print '(a,i0,1x,i0)', '{name}.{component} ', "
                 f"transfer(c_loc(x%{component}), 0_c_intptr_t) - transfer(c_loc(x), 0_c_intptr_t), &\n"
                 f"      storage_size(x%{component})/8{f'*size(x%{component})' if array else ''}")
    f.append("  end subroutine")
c.append("return 0; }")
f.append("end program")

with tempfile.TemporaryDirectory() as scratch:
    def output(name, lines, *command):
        path = os.path.join(scratch, name)
        with open(path, "w", encoding="utf-8") as source:
            source.write("\n".join(lines) + "\n")
        run(*command, path, "-o", path + ".out", cwd=scratch)
        return run(path + ".out").splitlines()

    include = os.path.dirname(os.path.dirname(os.path.abspath(headers[0])))
    expected = output("values.c", c, *compiler.split(), "-std=gnu11", "-I", include)
    got = output("values.f90", f, *fortran.split(), "-I", os.path.dirname(os.path.abspath(module)), "-ffree-line-length-none")
if len(expected) != len(constants) + sum(1 + (len(t) if [n for n, _ in t] != ["handle"] else 0) for t in types.values()):
    print("expected a line for each constant, type and component")
    failed = True
for line in difflib.unified_diff(expected, got, "C", "Fortran", n=0, lineterm=""):
    print(line)
    failed = True
print(f"{len(constants)} constants, {len(types)} types, {len(calls)} calls")
sys.exit(failed)
