#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the Fortran module hpcw from the public headers. Usage: module.py OUT.f90 OUT.c HEADER...

OUT.f90 is the module. OUT.c has symbols for the inline functions of the headers. Calls have C's names and
arguments, in the same order. The rules are in doc/fortran.md.
"""
import contextlib
import os
import re
import sys
import textwrap

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from arguments import arguments, check_tables, symbol_of, type_of  # noqa: E402
from declarations import declared, value_of  # noqa: E402

BYTES = {"c_bool": 1, "c_double": 8, "c_float": 4, "c_int": 4, "c_int8_t": 1, "c_char": 1, "c_int16_t": 2, "c_int32_t": 4,
         "c_int64_t": 8, "c_size_t": 8, "c_ptr": 8, "c_funptr": 8}


class Writer:
    """Prints the module."""

    def __init__(self, d):
        self.d = d
        self.unions = {}  # start of the names: (words, members of the union)
        self.names = {n.lower() for n in list(d.structs) + d.handles + [f.name for f in d.functions]}

    def line(self, depth, text):
        """Prints a statement, on several lines if it is long."""
        lead = "  " * depth
        print("\n".join(textwrap.wrap(text, 116, initial_indent=lead, subsequent_indent=lead + "    ",
                                      break_long_words=False, break_on_hyphens=False)).replace("\n", " &\n"))

    def constant(self, name):
        # Fortran takes HPCW_VOM_GROUP and hpcw_vom_group for one name.
        return name + "_VALUE" if name.lower() in self.names else name

    def constants(self):
        for name, value in self.d.constants.items():
            if isinstance(value, str):
                kind, text = "character(*)", f"'{value}'"
            elif isinstance(value, float):
                kind, text = "real(c_double)", f"{value!r}_c_double"
            elif name == "HPCW_RANK2FILE_NO_ENTRY":
                kind, text = "integer(c_size_t)", f"{value}_c_size_t"
            elif value >= 2**31:
                kind, text = "integer(c_int64_t)", f"{value}_c_int64_t"
            else:
                kind, text = "integer(c_int)", str(value)
            self.line(1, f"{kind}, parameter, public :: {self.constant(name)} = {text}")

    def member(self, member):
        """Returns (type, default, length) of a member. The defaults are those of `= {0}` in C."""
        kind, stars, name, length = member
        if kind == "function" or kind in self.d.callbacks:
            return "type(c_funptr)", " = c_null_funptr", None
        if stars:
            return "type(c_ptr)", " = c_null_ptr", None
        plain = type_of(self.d, kind)
        zero = {"type": "", "logical": " = .false.", "character": " = c_null_char"}.get(plain.partition("(")[0], " = 0")
        if length is None:
            return plain, zero, None
        if length in self.d.constants and kind in self.d.structs:
            return plain, zero, f"0:{length} - 1"  # an array whose indices are the constants of an enum
        return plain, zero, re.sub(r"\bHPCW_\w+", lambda m: self.constant(m.group()), length)

    def bytes_of(self, members):
        """Returns the size of a struct in bytes. Its members are neither structs nor unions."""
        at = widest = 0
        for m in members:
            kind, _, length = self.member(m)
            one = BYTES[re.search(r"c_\w+", kind).group()]
            at = (at + one - 1) // one * one + one * (value_of(m[3], self.d.constants) if length else 1)
            widest = max(widest, one)
        return (at + widest - 1) // widest * widest

    @staticmethod
    def part(struct, union):
        """Returns the prefix of all names for the members of a union, such as hpcw_clog2_as."""
        return f"{struct.rpartition('_')[0]}_{union}"

    def struct(self, name, members):
        for m in members:
            if m[0] == "union":
                for part, inner in m[3].items():
                    if isinstance(inner, list):
                        self.struct(f"{self.part(name, m[2])}_{part}", inner)
        print(f"  type, bind(c), public :: {name}")
        for m in members:
            if m[0] == "union":
                words = (max(self.bytes_of(i) for i in m[3].values() if isinstance(i, list)) + 7) // 8
                print(f"    integer(c_int64_t) :: {m[2]}({words}) = 0 ! a union")
                self.unions[self.part(name, m[2])] = (words, m[3])
                continue
            kind, default, length = self.member(m)
            print(f"    {kind} :: {m[2]}{f'({length})' if length else ''}{default}")
        print("  end type\n")

    def types(self):
        for handle in self.d.handles:
            print(f"  type, bind(c), public :: {handle}\n    type(c_ptr) :: handle = c_null_ptr\n  end type\n")
        for name, members in self.d.structs.items():
            self.struct(name, members)

    def result(self, kind):
        """Returns (type in the C interface, type in the Fortran call, statement that converts the C result {1} to {0})."""
        if kind.endswith("*"):
            base = kind.rstrip("* ").removeprefix("const ")
            if base == "char":
                return "type(c_ptr)", "character(:), allocatable", "call text_of({1}, {0})"
            if base == "void":
                return "type(c_ptr)", "type(c_ptr)", "{0} = {1}"
            if base in self.d.handles:
                return "type(c_ptr)", f"type({base})", "{0}%handle = {1}"
            return "type(c_ptr)", f"type({base}), pointer", "call c_f_pointer({1}, {0})"
        if kind == "bool":
            return "logical(c_bool)", "logical", "{0} = {1}"
        return type_of(self.d, kind), type_of(self.d, kind), "{0} = {1}"

    def interface(self, f, args):
        names = [re.search(r":: (\w+)", i).group(1) for a in args for i in a.inner]
        symbol = f.name if f.text is None else symbol_of(f.name)
        what = "subroutine" if f.result == "void" else "function"
        result = "" if f.result == "void" else " result(returned)"
        self.line(2, f"{what} c_{f.name[5:]}({', '.join(names)}) bind(c, name='{symbol}'){result}")
        print("      import")
        for declaration in (i for a in args for i in a.inner):
            self.line(3, declaration)
        if f.result != "void":
            print(f"      {self.result(f.result)[0]} :: returned")
        print(f"    end {what}")

    def call(self, f, args):
        names = ", ".join(n for a in args for n in a.names)
        what = "subroutine" if f.result == "void" else "function"
        returned = "status" if f.result == "hpcw_status" else "returned"
        result = "" if f.result == "void" else f" result({returned})"
        self.line(1, f"{what} {f.name}({names}){''.join(a.bind for a in args)}{result}")
        for declaration in [o for a in args for o in a.outer] + [l for a in args for l in a.local]:
            self.line(2, declaration)
        if f.result != "void":
            print(f"    {self.result(f.result)[1]} :: {returned}")
        for statement in (b for a in args for b in a.before):
            print(f"    {statement}")
        call = f"c_{f.name[5:]}({', '.join(p for a in args for p in a.passed)})"
        self.line(2, f"call {call}" if f.result == "void" else self.result(f.result)[2].format(returned, call))
        for statement in (s for a in args for s in a.after):
            print(f"    {statement}")
        print(f"  end {what}\n")

    def union(self, name):
        """Prints functions that convert a member of a union to the union, which is an array of 8-byte words in Fortran."""
        words, parts = self.unions[name]
        for part, kind in parts.items():
            plain = f"type({name}_{part})" if isinstance(kind, list) else type_of(self.d, kind)
            print(f"  function {name[5:]}_{part}(part) result(words)\n    {plain}, intent(in) :: part")
            print(f"    integer(c_int64_t), target :: words({words})\n    {plain}, pointer :: first")
            print("    words = 0\n    call c_f_pointer(c_loc(words), first)\n    first = part\n  end function\n")

    def specification(self, inits, calls):
        self.constants()
        print()
        self.types()
        for f in self.d.functions:
            print(f"  public :: {f.name}")
        print("  public :: hpcw_text\n")
        for name, (_, parts) in self.unions.items():
            print(f"  ! Makes the union of one of its members.\n  interface {name}")
            self.line(2, f"module procedure {', '.join(f'{name[5:]}_{part}' for part in parts)}")
            print(f"  end interface\n  public :: {name}\n")
        print("  ! The size of the struct is that of the calling program, in the descriptor.\n  interface")
        for f in inits:
            print(f"    subroutine {f.name}(options) bind(c, name='{symbol_of(f.name)}')\n      import")
            print(f"      type({f.args[0][0]}), intent(inout) :: options(..)\n    end subroutine")
        print("  end interface\n\n  interface")
        for f, args in calls:
            self.interface(f, args)
        print(OWN_INTERFACES)

    def module(self):
        inits = [f for f in self.d.functions if self.is_init(f)]
        calls = [(f, arguments(self.d, f)) for f in self.d.functions if f not in inits]
        check_tables()
        print("! SPDX-License-Identifier: BSD-3-Clause")
        print("! Made by bindings/fortran/module.py of the headers of hpcw, which are the manual; doc/fortran.md has the rules.")
        print("module hpcw\n  use, intrinsic :: iso_c_binding\n  implicit none\n  private\n")
        self.specification(inits, calls)
        print("contains\n")
        with open(os.path.join(os.path.dirname(__file__), "procedures.inc"), encoding="utf-8") as own:
            print(own.read())
        for name in self.unions:
            self.union(name)
        header = None
        for f, args in calls:
            if f.header != header:
                header = f.header
                print(f"  ! ---- <{header}>\n")
            self.call(f, args)
        print("end module")

    @staticmethod
    def is_init(f):
        """Returns whether `f` is the inline function that initialises an options struct."""
        return f.text is not None and f.name.endswith("_options_init")

    def inline_functions(self):
        print(INLINE_HEAD)
        for f in self.d.functions:
            if self.is_init(f):
                head = f"void {symbol_of(f.name)}(CFI_cdesc_t *options)"
                call = f"{f.name.replace('_init', '_fill')}(options->base_addr, options->elem_len)"
            elif f.text is not None:
                head = f"{f.result} {symbol_of(f.name)}({f.text})"
                call = f"{'' if f.result == 'void' else 'return '}{f.name}({', '.join(a[2] for a in f.args)})"
            else:
                continue
            print(f"{head};\n{head} {{\n    {call};\n}}")


INLINE_HEAD = """\
/* SPDX-License-Identifier: BSD-3-Clause */
/* Made by bindings/fortran/module.py. */
#include <ISO_Fortran_binding.h>

#include <hpcw/hpcw.h>

size_t hpcw_f_bytes_of(const CFI_cdesc_t *data);
size_t hpcw_f_bytes_of(const CFI_cdesc_t *data) {
    size_t bytes = data->elem_len;
    for (CFI_rank_t i = 0; i < data->rank; i++)
        bytes *= (size_t)data->dim[i].extent;
    return bytes;
}
"""

OWN_INTERFACES = """\
    function c_bytes_of(data) bind(c, name='hpcw_f_bytes_of') result(returned)
      import
      type(*), intent(in) :: data(..)
      integer(c_size_t) :: returned
    end function
    function c_strlen(text) bind(c, name='strlen') result(returned)
      import
      type(c_ptr), value :: text
      integer(c_size_t) :: returned
    end function
  end interface

  ! Returns the C string at an address or in an array, without its NUL; an empty text if the address is NULL.
  interface hpcw_text
    module procedure text_at, text_in
  end interface

"""


def main(module, inline, headers):
    writer = Writer(declared(headers))
    for path, write in ((module, writer.module), (inline, writer.inline_functions)):
        with open(path, "w", encoding="utf-8") as out, contextlib.redirect_stdout(out):
            write()


main(sys.argv[1], sys.argv[2], sys.argv[3:])
