#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the module hpcw._c, the public headers for ctypes. Usage: declare.py OUT.py HEADER...

Constants, structs and calls have the names that they have in C. A pointer to numbers, to a handle or to a function becomes
c_void_p, and so does a pointer that the call sets. c_void_p accepts the address of a NumPy array, and ctypes.byref().
"""
import os
import sys

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from declarations import declared, value_of  # noqa: E402

PLAIN = {"bool": "bool", "char": "char", "unsigned char": "ubyte", "int": "int", "size_t": "size_t", "double": "double",
         "float": "float", "int8_t": "int8", "int16_t": "int16", "int32_t": "int32", "int64_t": "int64",
         "uint8_t": "uint8", "uint16_t": "uint16", "uint32_t": "uint32", "uint64_t": "uint64",
         "unsigned": "uint"}


class Writer:
    def __init__(self, d):
        self.d = d
        self.known = set()  # structs that are declared so far

    def type_of(self, kind, stars, length=None):
        """Returns the ctypes type of a variable."""
        const = kind.startswith("const ")
        kind = kind.removeprefix("const ")
        if kind == "function" or kind in self.d.callbacks:
            text = "c_void_p"
        elif stars == 1 and kind == "char" and const:
            text = "c_char_p"
        elif stars == 1 and kind in self.known and length is None:
            text = f"POINTER({kind})"
        elif stars:
            text = "c_void_p"
        elif kind in self.d.enums:
            text = "c_int"
        else:
            text = kind if kind in self.known else f"c_{PLAIN[kind]}"
        return text if length is None else f"{text} * {value_of(length, self.d.constants)}"

    def fields(self, members):
        return "".join(f"\n        ({name!r}, {self.type_of(kind, stars, length)})," for kind, stars, name, length in members)

    def struct(self, name, members):
        members = list(members)
        for i, (kind, _, member, parts) in enumerate(members):
            if kind == "union":
                inner = []
                for part, declaration in parts.items():
                    if isinstance(declaration, list):
                        self.struct(f"{name}_{part}", declaration)
                        declaration = f"{name}_{part}"
                    inner.append((declaration, 0, part, None))
                self.known.add(f"{name}_{member}")
                self.print_struct(f"{name}_{member}", inner, "Union")
                members[i] = (f"{name}_{member}", 0, member, None)
        self.print_struct(name, members, "Structure")
        self.known.add(name)

    def print_struct(self, name, members, base):
        print(f"\n\nclass {name}(Whole, {base}):\n    _fields_ = [{self.fields(members)}\n    ]", file=self.out)
        self.known.add(name)

    def function(self, f):
        """Returns the entry of a function in CALLS. For an inline ..._init this is the exported ..._fill that it calls."""
        if f.text is not None:
            return f"    {f.name[:-4]}fill=(None, POINTER({f.args[0][0]}), c_size_t),"
        stars = f.result.count("*")
        result = "None" if f.result == "void" else self.type_of(f.result.rstrip("* "), stars)
        args = ", ".join(self.argument(*a) for a in f.args)
        return f"    {f.name}=({result}, {args}),"

    def argument(self, kind, stars, _name, length):
        return self.type_of(kind, stars + (length is not None))

    def write(self, out):
        self.out = out
        print('# Made by bindings/python/declare.py of the headers of hpcw, which are the manual.\n'
              '"""The public headers of hpcw."""\n'
              'from ctypes import *  # noqa: F403\n\n'
              'from ._whole import Whole\n', file=out)
        for name, value in self.d.constants.items():
            print(f"{name} = {value.encode() if isinstance(value, str) else value!r}", file=out)
        for name, members in self.d.structs.items():
            self.struct(name, members)
        print("\n\n# The result of each call, and its arguments.\nCALLS = dict(", file=out)
        for f in self.d.functions:
            if f.text is None or f.name.endswith("_init"):
                print(self.function(f), file=out)
        print(")", file=out)


def main(path, headers):
    with open(path, "w", encoding="utf-8") as out:
        Writer(declared(headers)).write(out)


main(sys.argv[1], sys.argv[2:])
