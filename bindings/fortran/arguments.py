# SPDX-License-Identifier: BSD-3-Clause
"""Translates the types and arguments of C to Fortran. The rules are in doc/fortran.md."""
from declarations import fail

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

# Arguments besides `err` and `comm` that may be NULL according to the headers. In Fortran they are optional.
NULL = set("""
hpcw_sink_open_brotli.options hpcw_sion_open.options
hpcw_linktest_timings.partner hpcw_linktest_end_permutation.slow hpcw_linktest_figures.times
hpcw_linktest_figures.all_to_all
hpcw_vom_file_name.pattern hpcw_vom_open.options hpcw_vom_end_iteration.values hpcw_vom_end_phase.values
hpcw_vom_stats_open.options hpcw_vom_stats_phase.migrations hpcw_vom_stats_phase.after
hpcw_clog2_log_open.options hpcw_clog2_log_state.format hpcw_clog2_log_known_state.format
hpcw_clog2_log_offer_state.format hpcw_clog2_log_solo.format hpcw_clog2_log_finish.report hpcw_clog2_recover.found
hpcw_kvtree_add.child hpcw_kvtree_decode.stored hpcw_sink_memory_data.size
hpcw_rank2file_add.crc hpcw_rank2file_drop.how hpcw_rank2file_drop.tally hpcw_rank2file_prune.how
hpcw_rank2file_prune.tally hpcw_rank2file_reindex.tally hpcw_rank2file_restart_open.dataset
hpcw_rank2file_restart_load.ranks
hpcw_sion_reader_open.ranks hpcw_sion_reader_open_named.ranks
hpcw_linktest_reader_row.time_s hpcw_linktest_reader_row.partner hpcw_linktest_reader_row.all_to_all_s
hpcw_clog2_reader_select.window
""".split())

# Pointers to arrays, where the next argument is not the length of the array.
ARRAYS = set("""
hpcw_linktest_partners.partner hpcw_linktest_timings.time_ps hpcw_linktest_timings.partner hpcw_linktest_slowest.slow
hpcw_linktest_end_permutation.slow hpcw_linktest_complete.summary hpcw_vom_element.index
hpcw_linktest_reader_row.time_s hpcw_linktest_reader_row.partner hpcw_linktest_reader_slowest.connection
hpcw_linktest_reader_matrix.time_s
""".split())

# Pointers to arrays that may be NULL, where the previous argument is the length of the array.
COUNTED = {"hpcw_rank2file_restart_load.ranks", "hpcw_sion_reader_open.ranks", "hpcw_sion_reader_open_named.ranks"}

# Arguments that C still uses after the call.
BORROWED = {"hpcw_vom_element.index"}

# Texts that a call fills in, and that have no argument for their size.
TEXTS = {"hpcw_linktest_reader_host.host": "HPCW_LINKTEST_READER_HOST_SIZE"}


listed = set()  # entries of these tables that were used


def is_in(table, function, name):
    entry = f"{function}.{name}"
    if entry in table:
        listed.add(entry)
    return entry in table


def check_tables():
    """Fails if a table has an entry for an argument that does not exist."""
    for entry in sorted((NULL | ARRAYS | COUNTED | BORROWED | set(TEXTS)) - listed):
        fail(f"expected an argument {entry}, which is in a table of bindings/fortran/arguments.py, got none")


def symbol_of(name):
    """Returns the symbol of the Fortran variant of a C function."""
    return name.replace("hpcw_", "hpcw_f_", 1)


def type_of(d, kind):
    """Returns the Fortran type of a C type."""
    kind = kind.removeprefix("const ")
    if kind in KINDS:
        return KINDS[kind]
    if kind in d.enums:
        return "integer(c_int)"
    if kind in d.structs:
        return f"type({kind})"
    if kind == "function" or kind in d.callbacks:
        return "type(c_funptr)"
    return fail(f"expected a type of the headers, got '{kind}'")


class Argument:
    """An argument of the function `f`. If the next argument is the length of this array, the object stands for both."""

    def __init__(self, d, f, variable, following):
        self.d, self.f = d, f.name
        kind, self.stars, self.name, self.length = variable
        self.const, self.base = kind.startswith("const "), kind.removeprefix("const ")
        # Name of the next argument if it is the size or count of this argument, otherwise None.
        self.number = following[2] if following and following[:2] == ("size_t", 0) and following[2] in ("size", "count") else None
        self.optional = ", optional" if self.name == "err" or is_in(NULL, self.f, self.name) else ""
        self.takes_next = False
        self.names = [self.name]  # in the Fortran call
        self.inner, self.outer = [], []  # declarations in the C interface, and in the Fortran call
        self.local, self.before, self.after = [], [], []  # variables of the call, statements around the C call
        self.passed = [self.name]  # arguments of the C call
        self.bind = ""  # bind(c) of the Fortran call, if it needs that
        if self.base in d.handles:
            self.handle()
        elif self.base == "char" and self.stars == 2:
            self.texts()
        elif self.base == "char" and self.const:
            self.text()
        elif self.base == "char":
            self.text_to_fill_in()
        elif self.base == "void":
            # gfortran 12 passes a text to an argument of type(*) correctly only if the procedure is bind(c), and it has
            # trouble with further text arguments of such a procedure.
            self.bytes(any(a[0].endswith("char") for a in f.args))
        elif self.base == "bool":
            self.logical()
        elif self.base in d.callbacks:
            self.by_value("type(c_funptr)")
        elif self.stars == 1:
            self.pointer()
        elif following and is_in(COUNTED, self.f, following[2]):
            self.count_of(following[2])
        elif self.stars == 0:
            self.by_value(type_of(d, self.base))
        else:
            fail(f"{self.f}: expected an argument of a known form, got {variable}")

    def by_value(self, kind, passed=None, outer=None):
        self.inner = [f"{kind}, value :: {self.name}"]
        self.outer = [f"{outer or kind + ', intent(in)'} :: {self.name}"]
        self.passed = [passed or self.name]

    def count_of(self, array):
        """Makes this argument optional: it is the length of `array`, the next argument."""
        kind = type_of(self.d, self.base)
        self.by_value(kind, "number", f"{kind}, intent(in), optional")
        self.local = [f"{kind} :: number"]
        self.before = ["number = 0", f"if (present({array})) number = size({array}, kind=kind(number))",
                       f"if (present({self.name})) number = {self.name}"]

    def with_number(self, known):
        """Makes the next argument, the length of this array, optional. `known`: expression for its default."""
        self.takes_next = True
        self.names.append(self.number)
        self.inner.append(f"integer(c_size_t), value :: {self.number}")
        self.outer.append(f"integer(c_size_t), intent(in), optional :: {self.number}")
        self.local.append("integer(c_size_t) :: number")
        if self.optional:
            self.before += ["number = 0", f"if (present({self.name})) number = {known}"]
        else:
            self.before.append(f"number = {known}")
        self.before.append(f"if (present({self.number})) number = {self.number}")
        self.passed.append("number")

    def handle(self):
        name, kind = self.name, f"type({self.base})"
        if self.stars == 1 and self.f.endswith("_free"):
            self.by_value("type(c_ptr)", f"{name}%handle", f"{kind}, intent(inout)")
            self.after = [f"{name}%handle = c_null_ptr"]
        elif self.stars == 1 and self.base == "hpcw_comm":
            self.by_value("type(c_ptr)", f"comm_of({name})", f"{kind}, intent(in), optional")
        elif self.stars == 1:
            self.by_value("type(c_ptr)", f"{name}%handle", f"{kind}, intent(in)")
        elif self.number:
            self.inner = [f"{kind}, intent(in) :: {name}(*)"]
            self.outer = [f"{kind}, intent(in) :: {name}(:)"]
            self.with_number(f"size({name}, kind=c_size_t)")
        else:
            self.inner = self.outer = [f"{kind}, intent(out){self.optional} :: {name}"]

    def texts(self):
        name = self.name
        self.inner = [f"type(c_ptr), intent(in) :: {name}(*)"]
        self.outer = [f"character(*), intent(in) :: {name}(:)"]
        self.local = [f"character(kind=c_char, len=len({name}) + 1), target :: c_texts(size({name}))",
                      f"type(c_ptr) :: c_{name}(size({name}))", "integer :: i"]
        self.before = [f"do i = 1, size({name})", f"  c_texts(i) = trim({name}(i))//c_null_char",
                       f"  c_{name}(i) = c_loc(c_texts(i))", "end do"]
        self.passed = [f"c_{name}"]
        self.with_number(f"size({name}, kind=c_size_t)")

    def text(self):
        name = self.name
        self.inner = [f"character(kind=c_char), intent(in){self.optional} :: {name}(*)"]
        self.outer = [f"character(*), intent(in){self.optional} :: {name}"]
        if self.number:
            self.takes_next = True
            self.inner.append(f"integer(c_size_t), value :: {self.number}")
            self.passed = [name, f"len({name}, kind=c_size_t)"]
        elif self.optional:
            self.local = [f"character(kind=c_char), allocatable :: c_{name}(:)"]
            self.before = [f"call end_with_nul({name}, c_{name})"]
            self.passed = [f"c_{name}"]
        else:
            self.passed = [f"trim({name})//c_null_char"]

    def text_to_fill_in(self):
        name, length = self.name, self.length
        if is_in(TEXTS, self.f, name):
            length = TEXTS[f"{self.f}.{name}"]
        self.inner = [f"character(kind=c_char), intent(out) :: {name}(*)"]
        self.outer = [f"character(*), intent(out) :: {name}"]
        self.local = [f"character(kind=c_char) :: c_{name}({length or f'len({name}) + 1'})"]
        self.before = [f"c_{name} = c_null_char"]
        self.passed = [f"c_{name}"]
        self.after = [f"call copy_to_nul(c_{name}, {name})"]
        if not length:
            self.takes_next = True
            self.inner.append(f"integer(c_size_t), value :: {self.number}")
            self.passed.append(f"size(c_{name}, kind=c_size_t)")

    def bytes(self, with_texts):
        if self.number and not with_texts:
            self.by_value("type(c_ptr)", f"c_loc({self.name})")
            self.outer = [f"type(*), intent({'in' if self.const else 'inout'}), contiguous, target :: {self.name}(..)"]
            self.with_number(f"c_bytes_of({self.name})")
            self.bind = f" bind(c, name='{symbol_of(self.f)}')"
        else:
            self.by_value("type(c_ptr)")

    def logical(self):
        name = self.name
        if self.stars == 0:
            self.by_value("logical(c_bool)", f"logical({name}, c_bool)", "logical, intent(in)")
        else:
            self.inner = [f"logical(c_bool), intent(out) :: {name}"]
            self.outer = [f"logical, intent(out) :: {name}"]
            self.local = [f"logical(c_bool) :: c_{name}"]
            self.before = [f"c_{name} = .false."]
            self.passed = [f"c_{name}"]
            self.after = [f"{name} = c_{name}"]

    def pointer(self):
        name = self.name
        intent = "in" if self.const else "inout" if self.base in self.d.structs else "out"
        target = ", target" if is_in(BORROWED, self.f, name) else ""
        many, counted = is_in(ARRAYS, self.f, name), self.number or is_in(COUNTED, self.f, name)
        if self.const and self.base in KINDS and not (many or counted or self.optional):
            fail(f"expected {self.f}.{name} in ARRAYS of bindings/fortran/arguments.py, as C would take one value by value")
        kind = f"{type_of(self.d, self.base)}, intent({intent}){self.optional}"
        self.inner = [f"{kind} :: {name}{'(*)' if many or counted else ''}"]
        self.outer = [f"{kind}{target} :: {name}{'(*)' if many else '(:)' if counted else ''}"]
        if self.number:
            self.with_number(f"size({name}, kind=c_size_t)")


def arguments(d, f):
    """Returns the arguments of a function."""
    result, taken = [], False
    for variable, following in zip(f.args, f.args[1:] + [None]):
        if not taken:
            result.append(Argument(d, f, variable, following))
        taken = not taken and result[-1].takes_next
    return result
