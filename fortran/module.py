#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the Fortran module hpcw from the public headers. Usage: module.py OUT.f90 OUT.c HEADER...

OUT.f90 is the module. OUT.c has symbols for what the headers have as inline functions.

Calls have C's names and arguments, in the same order; doc/fortran.md has the rules. A declaration of a form that is not
known here is an error, so that nothing is left out silently. Only what the headers call "Private" is.
"""
import contextlib
import re
import sys
import textwrap

KINDS = {
    "bool": "logical(c_bool)",
    "double": "real(c_double)",
    "float": "real(c_float)",
    "int": "integer(c_int)",
    "unsigned": "integer(c_int)",
    "unsigned char": "integer(c_int8_t)",
    "char": "character(kind=c_char)",
    "uint8_t": "integer(c_int8_t)",
    "int16_t": "integer(c_int16_t)",
    "int32_t": "integer(c_int32_t)",
    "int64_t": "integer(c_int64_t)",
    "uint32_t": "integer(c_int32_t)",
    "uint64_t": "integer(c_int64_t)",
    "size_t": "integer(c_size_t)",
}
BYTES = {"c_bool": 1, "c_double": 8, "c_float": 4, "c_int": 4, "c_int8_t": 1, "c_char": 1, "c_int16_t": 2, "c_int32_t": 4,
         "c_int64_t": 8, "c_size_t": 8, "c_ptr": 8, "c_funptr": 8}

# Arguments that the headers let be NULL, besides `err` and `comm`: they are optional.
NULL = set("""
hpcw_sink_open_brotli.options hpcw_sion_open.options
hpcw_linktest_timings.partner hpcw_linktest_end_permutation.slow hpcw_linktest_figures.times
hpcw_linktest_figures.all_to_all
hpcw_vom_file_name.pattern hpcw_vom_open.options hpcw_vom_end_iteration.values hpcw_vom_end_phase.values
hpcw_vom_stats_open.options hpcw_vom_stats_phase.migrations hpcw_vom_stats_phase.after
hpcw_clog2_log_open.options hpcw_clog2_log_state.format hpcw_clog2_log_known_state.format
hpcw_clog2_log_offer_state.format hpcw_clog2_log_solo.format hpcw_clog2_log_finish.report hpcw_clog2_recover.found
hpcw_kvtree_add.child hpcw_kvtree_decode.stored hpcw_sink_memory_data.size
hpcw_rank2file_add.crc hpcw_rank2file_prune.tally hpcw_rank2file_reindex.tally hpcw_rank2file_restart_open.dataset
hpcw_rank2file_restart_load.ranks
hpcw_sion_reader_open.ranks
hpcw_linktest_reader_row.time_s hpcw_linktest_reader_row.partner hpcw_linktest_reader_row.all_to_all_s
""".split())

# Pointers to more than one value whose number is not the next argument.
ARRAYS = set("""
hpcw_linktest_partners.partner hpcw_linktest_timings.time_ps hpcw_linktest_timings.partner hpcw_linktest_slowest.slow
hpcw_linktest_end_permutation.slow hpcw_linktest_complete.summary hpcw_vom_element.index
hpcw_rank2file_restart_load.ranks hpcw_sion_reader_open.ranks
hpcw_linktest_reader_row.time_s hpcw_linktest_reader_row.partner hpcw_linktest_reader_slowest.connection
""".split())

# What C still uses after the call.
BORROWED = {"hpcw_vom_element.index"}

# Texts that a call fills in, without an argument for their size.
TEXTS = {"hpcw_linktest_reader_host.host": "HPCW_LINKTEST_READER_HOST_SIZE"}

# Of the compiler, and constants that depend on it.
NOT_CONSTANTS = r"HPCW_(API|MUST_CHECK|PRINTF|CLOG2_HAVE_COUNTER)\b"


class Declared:
    """What the headers declare, each in its order."""

    def __init__(self):
        self.constants = {}  # name: value
        self.enums = set()
        self.handles = []
        self.callbacks = set()
        self.structs = {}  # name: [(type, stars, name, length)], or {"union": ...}
        self.functions = []  # (header, name, result, [(type, stars, name, length)], arguments as C text of inline functions)
        self.tables = set()  # entries of the tables above that were used


def fail(what):
    sys.exit(f"module.py: {what}")


def value_of(text, constants):
    """The value of a constant expression."""
    if text.startswith('"'):
        return text.strip('"')
    text = re.sub(r"UINT\d+_C\((\d+)\)", r"\1", text.replace("SIZE_MAX", "-1"))
    text = re.sub(r"\b(0x[0-9a-f]+|\d+)u\b", r"\1", text)
    text = re.sub(r"\bHPCW_\w+", lambda m: repr(constants[m.group()]), text)
    if not re.fullmatch(r"[-+*/()<.\w ]+", text):
        fail(f"expected a constant expression, got '{text}'")
    return eval(text, {"__builtins__": {}})


def variable_of(text):
    """`const char *name[4]` as (type, number of stars, name, length). A pointer to a function has the type "function"."""
    text = " ".join(text.split())
    if re.match(r"[\w ]+\(\*\w+\)\(", text):
        return ("function", 1, re.search(r"\(\*(\w+)\)", text).group(1), None)
    m = re.fullmatch(r"(?P<type>(?:const )?(?:unsigned char|\w+))(?P<stars>(?: ?\*(?:const)? ?)*) ?(?P<name>\w+)(?:\[(?P<length>[^]]+)\])?",
                     text)
    if not m:
        fail(f"expected a declaration of a variable, got '{text}'")
    return (m["type"], m["stars"].count("*"), m["name"], m["length"])


def members_of(body):
    """The members of a struct. A union is a dictionary of its members, under the type "union"."""
    members = []
    while body := body.strip():
        if m := re.match(r"union \{((?:[^{}]|\{[^{}]*\})*)\} (\w+);", body):
            inner = {}
            for n in re.finditer(r"struct \{([^{}]*)\} (\w+);|([^;{}]+);", m.group(1)):
                if n.group(2):
                    inner[n.group(2)] = members_of(n.group(1))
                else:
                    plain = variable_of(n.group(3).strip())
                    inner[plain[2]] = plain[0]
            members.append(("union", 0, m.group(2), inner))
        elif m := re.match(r"[^;{}]+;", body):
            first, *others = m.group()[:-1].split(",") if "(" not in m.group() else [m.group()[:-1]]
            members.append(variable_of(first))
            for other in others:  # const char *colour, *name
                members.append(variable_of(members[-1][0] + " " + other))
        else:
            fail(f"expected members of a struct, got '{body[:60]}'")
        body = body[m.end():]
    return members


def read(path, d):
    """Adds the declarations of a header."""
    text = open(path, encoding="utf-8").read()
    header = re.search(r"hpcw/\w+\.h$", path).group()
    text = re.sub(r"#ifdef __cplusplus.*?#endif", "", text, flags=re.S)
    text = re.sub(r"/\*\*\s*(?:\*\s*)?Private.*?\*/", "@private ", text, flags=re.S)
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    for m in re.finditer(r"^#define (HPCW_\w+) +(\S.*)$", text, flags=re.M):
        if not re.match(NOT_CONSTANTS, m.group(1)):
            d.constants[m.group(1)] = value_of(m.group(2).strip(), d.constants)
    text = " ".join(re.sub(r"^#.*$", "", text, flags=re.M).split())
    while text := text.strip():
        private = text.startswith("@private")
        text = text.removeprefix("@private").strip()
        if m := re.match(r"(?:typedef )?enum (\w+ )?\{([^}]*)\} ?(\w*);", text):
            d.enums.add(m.group(3))
            value = -1
            for item in filter(None, (i.strip() for i in m.group(2).split(","))):
                name, _, expression = item.partition(" = ")
                value = value_of(expression, d.constants) if expression else value + 1
                if not private:
                    d.constants[name] = value
        elif m := re.match(r"typedef struct (\w+) \w+;", text):
            d.handles.append(m.group(1))
        elif m := re.match(r"(?:typedef )?struct (\w+) \{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\} ?(\w*);", text):
            if not private:
                d.structs[m.group(1)] = members_of(m.group(2))
        elif m := re.match(r"typedef [\w ]+?(\w+)\([^)]*\);", text):
            d.callbacks.add(m.group(1))
        elif m := re.match(r"(HPCW_API(?: HPCW_MUST_CHECK)?|static inline) ((?:const )?\w+ \**)(\w+)\(([^)]*)\) ?(;|\{)", text):
            inline = m.group(1) == "static inline"
            if not private and not m.group(3).startswith("hpcw_clog2_timeline_"):
                args = [] if m.group(4) == "void" else [variable_of(a) for a in m.group(4).split(",")]
                d.functions.append((header, m.group(3), m.group(2).strip(), args, m.group(4) if inline else None))
            if inline:  # its body
                depth, at = 1, m.end()
                while depth:
                    depth += {"{": 1, "}": -1}.get(text[at], 0)
                    at += 1
                text = text[at:]
                continue
        elif m := re.match(r"extern|$", text):
            break
        else:
            fail(f"{path}: expected a declaration, got '{text[:80]}'")
        text = text[m.end():]


class Writer:
    """Prints the module."""

    def __init__(self, d):
        self.d = d
        d.handles = [h for h in dict.fromkeys(d.handles) if h not in d.structs]
        self.unions = {}  # begin of the names: (words, its members)
        self.names = {n.lower() for n in list(d.structs) + d.handles + [f[1] for f in d.functions]}

    def line(self, depth, text):
        """A statement, continued where it is long."""
        lead = "  " * depth
        print("\n".join(textwrap.wrap(text, 116, initial_indent=lead, subsequent_indent=lead + "    ",
                                      break_long_words=False, break_on_hyphens=False)).replace("\n", " &\n"))

    def constant(self, name):
        # Fortran does not know HPCW_VOM_GROUP from hpcw_vom_group.
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

    def plain(self, kind):
        """The Fortran type of a value."""
        kind = kind.removeprefix("const ")
        if kind in KINDS:
            return KINDS[kind]
        if kind in self.d.enums or kind == "hpcw_status":
            return "integer(c_int)"
        if kind in self.d.structs:
            return f"type({kind})"
        if kind == "function" or kind in self.d.callbacks:
            return "type(c_funptr)"
        return fail(f"unknown type '{kind}'")

    def member(self, member):
        """(type, default, length) of a member. The defaults are those of `= {0}` in C."""
        kind, stars, name, length = member
        if kind == "function" or kind in self.d.callbacks:
            return "type(c_funptr)", " = c_null_funptr", None
        if stars:
            return "type(c_ptr)", " = c_null_ptr", None
        plain = self.plain(kind)
        zero = {"type": "", "logical": " = .false.", "character": " = c_null_char"}.get(plain.partition("(")[0], " = 0")
        if length is None:
            return plain, zero, None
        if length in self.d.constants and kind in self.d.structs:
            return plain, zero, f"0:{length} - 1"  # by the constants of an enum
        return plain, zero, re.sub(r"\bHPCW_\w+", lambda m: self.constant(m.group()), length)

    def bytes_of(self, members):
        """The size of a struct of plain members, for the words of a union."""
        at = widest = 0
        for m in members:
            kind, _, length = self.member(m)
            one = BYTES[re.search(r"c_\w+", kind).group()]
            at = (at + one - 1) // one * one + one * (value_of(m[3], self.d.constants) if length else 1)
            widest = max(widest, one)
        return (at + widest - 1) // widest * widest

    @staticmethod
    def part(struct, union):
        """The begin of the names for the parts of a union: hpcw_clog2_as."""
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

    def listed(self, function, name, table):
        entry = f"{function}.{name}"
        if entry in table:
            self.d.tables.add(entry)
        return entry in table

    def argument(self, f, arg, after, texts):
        """One argument of a function, as a dictionary:

        skip: the next one is part of it; inner: its declarations in the interface of C; outer, names: its declarations and
        names in the call of Fortran; pass: what the call passes; before, after: statements around that; local: variables;
        bind: what the call says of C. gfortran 12 passes a text as an argument of any type correctly only to what C can call,
        and there it has trouble with other texts: `texts` says that the call has some.
        """
        kind, stars, name, length = arg
        const, base = kind.startswith("const "), kind.removeprefix("const ")
        opt = ", optional" if name == "err" or self.listed(f, name, NULL) else ""
        sized = after is not None and after[:2] == ("size_t", 0) and after[2] in ("size", "count")
        a = {"skip": False, "name": name, "inner": [], "outer": [], "pass": [name], "before": [], "after": [], "local": [], "names": [name], "bind": ""}

        def by_value(kind, passed):
            a["inner"] = [f"{kind}, value :: {name}"]
            a["pass"] = [passed]

        def number(default):
            """The number after an array is optional."""
            a["skip"] = True
            a["inner"].append(f"integer(c_size_t), value :: {after[2]}")
            a["outer"].append(f"integer(c_size_t), intent(in), optional :: {after[2]}")
            a["local"].append("integer(c_size_t) :: number")
            a["before"] += default + [f"if (present({after[2]})) number = {after[2]}"]
            a["pass"].append("number")
            a["names"].append(after[2])

        if base == "hpcw_comm" and stars == 1 and not f.endswith("_free"):
            by_value("type(c_ptr)", f"comm_of({name})")
            a["outer"] = [f"type(hpcw_comm), intent(in), optional :: {name}"]
        elif base in self.d.handles and stars == 1:
            by_value("type(c_ptr)", f"{name}%handle")
            free = f.endswith("_free")
            a["outer"] = [f"type({base}), intent({'inout' if free else 'in'}) :: {name}"]
            if free:
                a["after"] = [f"{name}%handle = c_null_ptr"]
        elif base in self.d.handles and sized:
            a["inner"] = [f"type({base}), intent(in) :: {name}(*)"]
            a["outer"] = [f"type({base}), intent(in) :: {name}(:)"]
            number([f"number = size({name}, kind=c_size_t)"])
        elif base in self.d.handles:
            a["inner"] = a["outer"] = [f"type({base}), intent(out){opt} :: {name}"]
        elif base == "char" and stars == 2:
            a["inner"] = [f"type(c_ptr), intent(in) :: {name}(*)"]
            a["outer"] = [f"character(*), intent(in) :: {name}(:)"]
            a["local"] = [f"character(kind=c_char, len=len({name}) + 1), target :: c_texts(size({name}))",
                          f"type(c_ptr) :: c_{name}(size({name}))", "integer :: i"]
            a["before"] = [f"do i = 1, size({name})", f"  c_texts(i) = trim({name}(i))//c_null_char",
                           f"  c_{name}(i) = c_loc(c_texts(i))", "end do"]
            a["pass"] = [f"c_{name}"]
            number([f"number = size({name}, kind=c_size_t)"])
        elif base == "char" and const and sized:
            a["skip"] = True
            a["inner"] = [f"character(kind=c_char), intent(in) :: {name}(*)", f"integer(c_size_t), value :: {after[2]}"]
            a["outer"] = [f"character(*), intent(in) :: {name}"]
            a["pass"] = [name, f"len({name}, kind=c_size_t)"]
        elif base == "char" and const:
            a["inner"] = [f"character(kind=c_char), intent(in){opt} :: {name}(*)"]
            a["outer"] = [f"character(*), intent(in){opt} :: {name}"]
            if opt:
                a["local"] = [f"character(kind=c_char), allocatable :: c_{name}(:)"]
                a["before"] = [f"call end_with_nul({name}, c_{name})"]
                a["pass"] = [f"c_{name}"]  # not allocated is not present
            else:
                a["pass"] = [f"trim({name})//c_null_char"]
        elif base == "char":
            if self.listed(f, name, TEXTS):
                length = TEXTS[f"{f}.{name}"]
            size = length or f"len({name}) + 1"
            a["inner"] = [f"character(kind=c_char), intent(out) :: {name}(*)"]
            a["outer"] = [f"character(*), intent(out) :: {name}"]
            a["local"] = [f"character(kind=c_char) :: c_{name}({size})"]
            a["before"] = [f"c_{name} = c_null_char"]
            a["pass"] = [f"c_{name}"]
            a["after"] = [f"call copy_to_nul(c_{name}, {name})"]
            if not length:
                a["skip"] = True
                a["inner"].append(f"integer(c_size_t), value :: {after[2]}")
                a["pass"].append(f"size(c_{name}, kind=c_size_t)")
        elif base == "void" and sized and not texts:
            by_value("type(c_ptr)", f"c_loc({name})")
            a["outer"] = [f"type(*), intent({'in' if const else 'inout'}), contiguous, target :: {name}(..)"]
            number([f"number = c_bytes_of({name})"])
            a["bind"] = f" bind(c, name='{f.replace('hpcw_', 'hpcw_f_', 1)}')"
        elif base == "void":
            by_value("type(c_ptr)", name)
            a["outer"] = [f"type(c_ptr), intent(in) :: {name}"]
        elif base in self.d.callbacks:
            by_value("type(c_funptr)", name)
            a["outer"] = [f"type(c_funptr), intent(in) :: {name}"]
        elif stars == 1 and base == "bool":
            a["inner"] = [f"logical(c_bool), intent(out) :: {name}"]
            a["outer"] = [f"logical, intent(out) :: {name}"]
            a["local"] = [f"logical(c_bool) :: c_{name}"]
            a["before"] = [f"c_{name} = .false."]
            a["pass"] = [f"c_{name}"]
            a["after"] = [f"{name} = c_{name}"]
        elif stars == 1:
            intent = "in" if const else "inout" if base in self.d.structs or base in self.d.callbacks else "out"
            many = self.listed(f, name, ARRAYS)
            what = f"{self.plain(base)}, intent({intent}){opt} :: {name}"
            a["inner"] = [what + ("(*)" if many or sized else "")]
            if self.listed(f, name, BORROWED):
                what = what.replace(" ::", ", target ::")
            a["outer"] = [what + ("(*)" if many else "(:)" if sized else "")]
            if sized:
                known = f"number = size({name}, kind=c_size_t)"
                number(["number = 0", f"if (present({name})) {known}"] if opt else [known])
        elif stars == 0 and base == "bool":
            by_value("logical(c_bool)", f"logical({name}, c_bool)")
            a["outer"] = [f"logical, intent(in) :: {name}"]
        elif stars == 0:
            by_value(self.plain(base), name)
            a["outer"] = [f"{self.plain(base)}, intent(in) :: {name}"]
        else:
            fail(f"{f}: expected an argument of a known form, got {arg}")
        return a

    def arguments(self, f, args):
        result, skip = [], False
        for i, arg in enumerate(args):
            if not skip:
                texts = any(a[0].endswith("char") for a in args)
                result.append(self.argument(f, arg, args[i + 1] if i + 1 < len(args) else None, texts))
            skip = not skip and result[-1]["skip"]
        return result

    def result(self, kind):
        """(its type in C's interface, in the call, how the call makes it of C's)"""
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
        return self.plain(kind), self.plain(kind), "{0} = {1}"

    def interface(self, name, kind, args, inline):
        names = [n for a in args for n in (re.search(r":: (\w+)", i).group(1) for i in a["inner"])]
        symbol = name.replace("hpcw_", "hpcw_f_", 1) if inline else name
        what = "subroutine" if kind == "void" else "function"
        result = "" if kind == "void" else " result(returned)"
        self.line(2, f"{what} c_{name[5:]}({', '.join(names)}) bind(c, name='{symbol}'){result}")
        print("      import")
        for a in args:
            for declaration in a["inner"]:
                self.line(3, declaration)
        if kind != "void":
            print(f"      {self.result(kind)[0]} :: returned")
        print(f"    end {what}")

    def call(self, name, kind, args):
        names = [n for a in args for n in a["names"]]
        passed = ", ".join(p for a in args for p in a["pass"])
        what = "subroutine" if kind == "void" else "function"
        returned = "status" if kind == "hpcw_status" else "returned"
        self.line(1, f"{what} {name}({', '.join(names)}){''.join(a['bind'] for a in args)}" +
                  (f" result({returned})" if kind != "void" else ""))
        for part in ("outer", "local"):
            for a in args:
                for declaration in a[part]:
                    self.line(2, declaration)
        if kind != "void":
            print(f"    {self.result(kind)[1]} :: {returned}")
        for a in args:
            for statement in a["before"]:
                print(f"    {statement}")
        call = f"c_{name[5:]}({passed})"
        self.line(2, f"call {call}" if kind == "void" else self.result(kind)[2].format(returned, call))
        for a in args:
            for statement in a["after"]:
                self.line(2, statement)
        print(f"  end {what}\n")

    def union(self, name):
        """The words of each part of a union."""
        words, parts = self.unions[name]
        for part, kind in parts.items():
            plain = f"type({name}_{part})" if isinstance(kind, list) else self.plain(kind)
            print(f"  function {name[5:]}_{part}(part) result(words)\n    {plain}, intent(in) :: part")
            print(f"    integer(c_int64_t), target :: words({words})\n    {plain}, pointer :: first")
            print("    words = 0\n    call c_f_pointer(c_loc(words), first)\n    first = part\n  end function\n")

    def module(self):
        d = self.d
        inits = [f for f in d.functions if f[4] and f[1].endswith("_options_init")]
        calls = [(f, self.arguments(f[1], f[3])) for f in d.functions if f not in inits]
        print("! SPDX-License-Identifier: BSD-3-Clause\n! Made by fortran/module.py of the headers of hpcw, which are the manual; doc/fortran.md has the rules.")
        print("module hpcw\n  use, intrinsic :: iso_c_binding\n  implicit none\n  private\n")
        self.constants()
        print()
        self.types()
        for f in d.functions:
            print(f"  public :: {f[1]}")
        print("  public :: hpcw_text\n")
        for name, (_, parts) in self.unions.items():
            print(f"  ! Makes the union of one of its parts.\n  interface {name}")
            self.line(2, f"module procedure {', '.join(f'{name[5:]}_{part}' for part in parts)}")
            print(f"  end interface\n  public :: {name}\n")
        print("  ! The size of the struct is that of the calling program, in the descriptor.\n  interface")
        for f in inits:
            kind = f[3][0][0]
            print(f"    subroutine {f[1]}(options) bind(c, name='{f[1].replace('hpcw_', 'hpcw_f_', 1)}')")
            print(f"      import\n      type({kind}), intent(inout) :: options(..)\n    end subroutine")
        print("  end interface\n\n  interface")
        for f, args in calls:
            self.interface(f[1], f[2], args, f[4])
        print(HELPER_INTERFACES)
        for name in self.unions:
            self.union(name)
        header = None
        for f, args in calls:
            if f[0] != header:
                header = f[0]
                print(f"  ! ---- <{header}>\n")
            self.call(f[1], f[2], args)
        print("end module")
        for entry in sorted((NULL | ARRAYS | BORROWED | set(TEXTS)) - d.tables):
            fail(f"expected an argument {entry}, which is in a table above, got none")

    def inline_functions(self):
        print("/* SPDX-License-Identifier: BSD-3-Clause */\n/* Made by fortran/module.py. */")
        print("#include <ISO_Fortran_binding.h>\n\n#include <hpcw/hpcw.h>\n\nsize_t hpcw_f_bytes_of(const CFI_cdesc_t *data);")
        print(BYTES_OF)
        for _, name, kind, args, text in self.d.functions:
            if text is None:
                continue
            symbol = name.replace("hpcw_", "hpcw_f_", 1)
            if name.endswith("_options_init"):
                declared, call = "CFI_cdesc_t *options", f"{name.replace('_init', '_fill')}(options->base_addr, options->elem_len)"
            else:
                declared, call = text, f"{name}({', '.join(a[2] for a in args)})"
            print(f"{kind} {symbol}({declared});\n{kind} {symbol}({declared}) {{\n    {'' if kind == 'void' else 'return '}{call};\n}}")


BYTES_OF = """\
size_t hpcw_f_bytes_of(const CFI_cdesc_t *data) {
    size_t bytes = data->elem_len;
    for (CFI_rank_t i = 0; i < data->rank; i++)
        bytes *= (size_t)data->dim[i].extent;
    return bytes;
}
"""

HELPER_INTERFACES = """\
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

  ! The text that C has at an address or in an array, up to its NUL. Nothing at NULL.
  interface hpcw_text
    module procedure text_at, text_in
  end interface

contains

  function text_at(address) result(text)
    type(c_ptr), intent(in) :: address
    character(:), allocatable :: text
    call text_of(address, text)
  end function

  pure function text_in(bytes) result(text)
    character(kind=c_char), intent(in) :: bytes(:)
    character(:), allocatable :: text
    allocate (character(len=length_of(bytes)) :: text)
    call copy_to_nul(bytes, text)
  end function

  ! No function, as gfortran keeps the length of a function's text in a static variable, which threads would share.
  subroutine text_of(address, text)
    type(c_ptr), intent(in) :: address
    character(:), allocatable, intent(out) :: text
    character(kind=c_char), pointer :: bytes(:)
    if (c_associated(address)) then
      call c_f_pointer(address, bytes, [c_strlen(address)])
      allocate (character(len=size(bytes)) :: text)
      call copy_to_nul(bytes, text)
    else
      allocate (character(len=0) :: text)
    end if
  end subroutine

  pure function length_of(bytes) result(length)
    character(kind=c_char), intent(in) :: bytes(:)
    integer :: length
    do length = 0, size(bytes) - 1
      if (bytes(length + 1) == c_null_char) exit
    end do
  end function

  pure subroutine copy_to_nul(bytes, text)
    character(kind=c_char), intent(in) :: bytes(:)
    character(*), intent(out) :: text
    integer :: i
    text = ''
    do i = 1, min(len(text), length_of(bytes))
      text(i:i) = bytes(i)
    end do
  end subroutine

  ! A text that is not present is not allocated, and so is not present in a call to C.
  subroutine end_with_nul(text, bytes)
    character(*), intent(in), optional :: text
    character(kind=c_char), allocatable, intent(out) :: bytes(:)
    integer :: i
    if (.not. present(text)) return
    allocate (bytes(len_trim(text) + 1))
    do i = 1, len_trim(text)
      bytes(i) = text(i:i)
    end do
    bytes(len_trim(text) + 1) = c_null_char
  end subroutine

  function comm_of(comm) result(address)
    type(hpcw_comm), intent(in), optional :: comm
    type(c_ptr) :: address
    address = c_null_ptr
    if (present(comm)) address = comm%handle
  end function
"""


def main(module, inline, headers):
    headers = {re.search(r"hpcw/\w+\.h$", h).group(): h for h in headers}
    done, d = set(), Declared()

    def read_after_others(name):
        if name not in done:
            done.add(name)
            for other in re.findall(r"#include <(hpcw/\w+\.h)>", open(headers[name], encoding="utf-8").read()):
                read_after_others(other)
            read(headers[name], d)

    for name in headers:
        read_after_others(name)
    writer = Writer(d)
    for path, write in ((module, writer.module), (inline, writer.inline_functions)):
        with open(path, "w", encoding="utf-8") as out, contextlib.redirect_stdout(out):
            write()


main(sys.argv[1], sys.argv[2], sys.argv[3:])
