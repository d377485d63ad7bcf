# SPDX-License-Identifier: BSD-3-Clause
"""Compares the declarations in Python with the headers: constants, sizes of structs, and offsets of members. The C compiler
computes the values of the headers."""
import ctypes
import os
import re
import subprocess

from hpcw import _c, _library

# Prefix of the structs in the union of a record. In C these structs have no name.
RECORD = "hpcw_clog2_record_"


def structs():
    found = {name: value for name, value in vars(_c).items() if isinstance(value, type)
             and issubclass(value, (ctypes.Structure, ctypes.Union)) and name.startswith("hpcw_")}
    assert len(found) > 50
    return found


def c_type(name):
    if not name.startswith(RECORD):
        return name
    part = name[len(RECORD):]
    return f"__typeof__(((hpcw_clog2_record *)0)->as{'' if part == 'as' else '.' + part})"


def run(source, tmp_path, include):
    file = tmp_path / "values.c"
    file.write_text("\n".join(["#include <inttypes.h>", "#include <stddef.h>", "#include <stdio.h>", "#include <string.h>",
                               "#include <hpcw/hpcw.h>", "int main(void) {", *source, "return 0; }", ""]))
    program = str(tmp_path / "values")
    subprocess.run([*os.environ["HPCW_CC"].split(), "-std=gnu11", "-I", include, str(file), "-o", program], check=True)
    return subprocess.run([program], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()


def test_structs(tmp_path, source):
    lines, expected = [], []
    for name, struct in structs().items():
        lines.append(f'printf("{name} %zu\\n", sizeof({c_type(name)}));')
        expected.append(f"{name} {ctypes.sizeof(struct)}")
        for member, _ in struct._fields_:
            lines.append(f'printf("{name}.{member} %zu %zu\\n", offsetof({c_type(name)}, {member}), '
                         f'sizeof((({c_type(name)} *)0)->{member}));')
            field = getattr(struct, member)
            expected.append(f"{name}.{member} {field.offset} {field.size}")
    assert run(lines, tmp_path, os.path.join(source, "include")) == expected


def test_constants(tmp_path, source):
    values = {name: value for name, value in vars(_c).items() if name.startswith("HPCW_") and isinstance(value, int)}
    assert len(values) > 100
    lines = [f'printf("{name} %" PRId64 "\\n", (int64_t)({name}));' for name in values]
    assert run(lines, tmp_path, os.path.join(source, "include")) == [f"{name} {value}" for name, value in values.items()]


def test_calls(source):
    """Checks that the declared functions are exactly those that the library exports."""
    include = os.path.join(source, "include", "hpcw")
    declared = set()
    for name in sorted(os.listdir(include)):
        if name not in ("mpi.h", "trace.h"):
            with open(os.path.join(include, name), encoding="utf-8") as header:
                text = re.sub(r"/\*.*?\*/", "", header.read(), flags=re.S)
            declared |= set(re.findall(r"HPCW_API [^;(]*?(hpcw_\w+)\(", text))
    # Python does not declare hpcw_clog2_timeline_*: in C, only inline functions call them.
    assert declared - set(_c.CALLS) == {name for name in declared if name.startswith("hpcw_clog2_timeline_")}
    assert set(_c.CALLS) <= declared
    _library.library()
