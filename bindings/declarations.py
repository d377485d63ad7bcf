# SPDX-License-Identifier: BSD-3-Clause
"""Parses the declarations of the public headers. A declaration of an unknown form is an error, so that nothing
is left out silently. Only parts that the headers call "Private" are left out."""
import re
import sys

# Macros that are no constants of the interface: they are for the compiler, or depend on it.
NOT_CONSTANTS = r"HPCW_(API|MUST_CHECK|PRINTF|CLOG2_HAVE_COUNTER)\b"


FUNCTION = r"(HPCW_API(?: HPCW_MUST_CHECK)?|static inline) ((?:const )?\w+ \**)(\w+)\(([^)]*)\) ?(;|\{)"
STRUCT = r"(?:typedef )?struct (\w+) \{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\} ?(\w*);"
VARIABLE = (r"(?P<type>(?:const )?(?:unsigned char|\w+))(?P<stars>(?: ?\*(?:const)? ?)*) ?(?P<name>\w+)"
            r"(?:\[(?P<length>[^]]+)\])?")


class Declared:
    """The declarations of the headers, in their order. A variable is (type, number of stars, name, length)."""

    def __init__(self):
        self.constants = {}  # name: value
        self.enums = set()
        self.handles = []  # structs that are not defined
        self.callbacks = set()  # types of functions
        self.structs = {}  # name: members as from members_of
        self.functions = []


class Function:
    """A function. `text`: for an inline function the argument list as C text, otherwise None."""

    def __init__(self, header, name, result, args, text):
        self.header, self.name, self.result, self.args, self.text = header, name, result, args, text


def fail(what):
    sys.exit(f"bindings/declarations.py: {what}")


def value_of(text, constants):
    """Returns the value of a constant expression."""
    if text.startswith('"'):
        return text.strip('"')
    text = re.sub(r"UINT\d+_C\((\d+)\)", r"\1", text.replace("SIZE_MAX", "-1"))
    text = re.sub(r"\b(0x[0-9a-f]+|\d+)u\b", r"\1", text)
    text = re.sub(r"\bHPCW_\w+", lambda m: repr(constants[m.group()]), text)
    if not re.fullmatch(r"[-+*/()<.\w ]+", text):
        fail(f"expected a constant expression, got '{text}'")
    return eval(text, {"__builtins__": {}})


def variable_of(text):
    """Parses a variable such as `const char *name[4]`. A pointer to a function has the type "function"."""
    text = " ".join(text.split())
    if re.match(r"[\w ]+\(\*\w+\)\(", text):
        return ("function", 1, re.search(r"\(\*(\w+)\)", text).group(1), None)
    m = re.fullmatch(VARIABLE, text)
    if not m:
        fail(f"expected a declaration of a variable, got '{text}'")
    return (m["type"], m["stars"].count("*"), m["name"], m["length"])


def members_of(body):
    """Parses the members of a struct into variables. A union becomes a variable with the type "union", and
    has a dictionary in place of the length. The dictionary has the type of each member of the union; for a struct, it
    has the list of its members."""
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
    """Adds the declarations of a header to `d`."""
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
        elif m := re.match(STRUCT, text):
            if not private:
                d.structs[m.group(1)] = members_of(m.group(2))
        elif m := re.match(r"typedef [\w ]+?(\w+)\([^)]*\);", text):
            d.callbacks.add(m.group(1))
        elif m := re.match(FUNCTION, text):
            inline = m.group(1) == "static inline"
            if not private and not m.group(3).startswith("hpcw_clog2_timeline_"):
                args = [] if m.group(4) == "void" else [variable_of(a) for a in m.group(4).split(",")]
                d.functions.append(Function(header, m.group(3), m.group(2).strip(), args, m.group(4) if inline else None))
            if inline:  # skip its body
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


def declared(paths):
    """Parses headers. Each header comes after those that it includes."""
    paths = {re.search(r"hpcw/\w+\.h$", p).group(): p for p in paths}
    done, d = set(), Declared()

    def read_after_others(name):
        if name not in done:
            done.add(name)
            for other in re.findall(r"#include <(hpcw/\w+\.h)>", open(paths[name], encoding="utf-8").read()):
                read_after_others(other)
            read(paths[name], d)

    for name in paths:
        read_after_others(name)
    d.handles = [h for h in dict.fromkeys(d.handles) if h not in d.structs]
    return d
