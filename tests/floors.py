#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that folders use only lower folders, as floors of a house. Usage: floors.py SOURCE_ROOT [NM BUILD_ROOT LIBRARY.a...]

A line of FLOORS is a folder and the folders that its files may include and call. All of these are in earlier lines, so
there is no cycle of folders. A folder may always use itself. "a/*" stands for all folders below a; as the first word of a
line, it stands for the folders in a that have no line of their own. In addition:

- There is no cycle of files that include each other, or that call each other (by the libraries' symbols).
- The lower folders include only the public headers that PUBLIC lists. gen, bench and libreader include only public headers
  of the formats' writers, and call only their public functions. bindings uses only public parts of the library.
- Only the MPI communicator, the tracing wrapper, and the programs' own launchers include mpi.h.
- Each struct of options with a size has a row in the test of sizes.
- No name is global in two objects, and no struct, union or enum tag is defined twice.
- Only libwriter/io makes system calls with a path (by the symbols of all objects, also those of programs). Calls that start
  a program or load a library do not count.
- No two purposes of random numbers (HPCW_I_FOR_*) have the same number. The simulator draws for each at one place.
- 64-bit integers are printed with PRIu64 and the like, not cast to long long.
- A folder has at most 15 modules, C files with their headers. A struct has at most 30 members; larger ones have named parts.
"""
import collections
import os
import re
import subprocess
import sys

FLOORS = """
libwriter/base
libwriter/fields
libwriter/io                 libwriter/base
libwriter/comm               libwriter/base
libwriter/format/kvtree      libwriter/base libwriter/io
libwriter/format/rank2file/map libwriter/base libwriter/io libwriter/comm libwriter/format/kvtree
libwriter/format/rank2file/prefix libwriter/base libwriter/io libwriter/format/kvtree libwriter/format/rank2file/map
libwriter/format/rank2file/restart libwriter/base libwriter/io libwriter/comm libwriter/format/kvtree libwriter/format/rank2file/map libwriter/format/rank2file/prefix
libwriter/format/rank2file/upkeep libwriter/base libwriter/io libwriter/comm libwriter/format/kvtree libwriter/format/rank2file/map libwriter/format/rank2file/prefix libwriter/format/rank2file/restart
libwriter/format/rank2file   libwriter/base libwriter/io libwriter/comm libwriter/format/kvtree libwriter/format/rank2file/*
libwriter/format/sion/placement libwriter/base libwriter/comm
libwriter/format/sion/handle libwriter/base libwriter/io libwriter/comm libwriter/format/sion/placement
libwriter/format/sion/data   libwriter/base libwriter/io libwriter/format/sion/placement libwriter/format/sion/handle
libwriter/format/sion/meta   libwriter/base libwriter/io libwriter/comm libwriter/format/sion/placement libwriter/format/sion/handle
libwriter/format/sion        libwriter/base libwriter/io libwriter/comm libwriter/format/sion/*
libwriter/format/linktest    libwriter/base libwriter/io libwriter/comm libwriter/fields
libwriter/format/*           libwriter/base libwriter/io libwriter/comm
libwriter/format/clog2/file  libwriter/base libwriter/io libwriter/comm
libwriter/format/clog2/merge libwriter/base libwriter/io libwriter/comm libwriter/format/clog2/file
libwriter/format/clog2/log   libwriter/base libwriter/io libwriter/comm libwriter/format/clog2/file libwriter/format/clog2/merge
libwriter/format/clog2/recover libwriter/base libwriter/io libwriter/comm libwriter/format/clog2/file libwriter/format/clog2/merge libwriter/format/clog2/log
libwriter/trace              libwriter/base libwriter/io libwriter/format/clog2/log
libwriter/trace/mpi          libwriter/base libwriter/io libwriter/comm libwriter/format/clog2/log libwriter/trace
libreader                    libwriter/base libwriter/io
libreader/sion               libwriter/base libwriter/io libreader
libreader/sion/streams       libwriter/base libwriter/io libwriter/comm libreader libreader/sion
libreader/linktest           libwriter/base libwriter/io libreader libreader/sion
libreader/*                  libwriter/base libwriter/io libreader
libreader/vom/json           libwriter/base libwriter/io libreader
libreader/vom                libwriter/base libwriter/io libreader libreader/vom/json
libreader/vom/rules          libwriter/base libwriter/io libreader libreader/vom libreader/vom/json
libreader/vom/set            libwriter/base libwriter/io libreader libreader/vom libreader/vom/json libreader/vom/rules
bindings/mpe
bindings/sionlib/handles
bindings/sionlib             bindings/sionlib/handles
bindings/sionlib/mpi         bindings/sionlib bindings/sionlib/handles
bindings/sionlib/omp         bindings/sionlib bindings/sionlib/handles
bindings/sionlib/ompi        bindings/sionlib bindings/sionlib/handles bindings/sionlib/mpi bindings/sionlib/omp
ui/param                     libwriter/base libwriter/io
ui/cli                       libwriter/base libwriter/io ui/param
ui/page                      libwriter/base libwriter/io
trace                        libwriter/base libwriter/io libwriter/format/clog2/file libwriter/trace ui/cli
gen/model/*                  libwriter/base ui/param
gen/model/draw               libwriter/base
gen/model/machine            libwriter/base ui/param
gen/model/network            libwriter/base gen/model/machine
gen/model/linktest           libwriter/base libwriter/fields ui/param gen/model/draw gen/model/machine gen/model/network
gen/model/particles          libwriter/base ui/param gen/model/draw
gen/model/load               libwriter/base ui/param gen/model/draw gen/model/machine
gen/model/checkpoint         libwriter/base ui/param gen/model/load
gen/sim/timing               libwriter/base gen/model/machine gen/model/network
gen/sim                      libwriter/base gen/model/machine gen/model/network gen/sim/timing
gen/sim/lua                  libwriter/base ui/cli gen/model/draw gen/sim gen/sim/timing
gen/workloads
gen/spec                     libwriter/base libwriter/io ui/param gen/model/* gen/sim gen/sim/* gen/workloads
gen/export                   libwriter/base libwriter/io libwriter/fields libreader/* gen/spec
gen/export/rewrite           libwriter/base libwriter/io libreader/* gen/spec gen/export
gen/waits                    libwriter/base gen/export
gen/report                   libwriter/base libwriter/io libreader/* ui/page gen/spec gen/export gen/waits
gen/fit                      libwriter/base ui/param ui/page gen/model/load gen/model/machine gen/spec
gen/fit/links                libwriter/base libwriter/fields libreader/linktest libreader/sion gen/model/* gen/spec gen/fit
gen/fit/loads                libwriter/base libreader libreader/vom libreader/vom/set gen/model/* gen/spec gen/fit
gen/fit/log/program          libwriter/base libreader gen/model/draw gen/sim gen/fit
gen/fit/log/text             libwriter/base gen/sim gen/sim/lua gen/fit gen/fit/log/program
gen/fit/log                  libwriter/base gen/spec gen/waits gen/fit gen/fit/log/program gen/fit/log/text
gen/fit/sizes                libwriter/base libwriter/io libreader/rank2file libreader/sion gen/model/draw gen/spec gen/fit
gen/format                   libwriter/base libwriter/io libwriter/comm libwriter/fields libreader/* ui/page ui/param gen/model/* gen/sim gen/sim/timing gen/spec gen/report
gen/format/rows              libwriter/base libwriter/io libwriter/comm libwriter/fields libreader/* ui/page ui/param gen/model/* gen/sim gen/sim/timing gen/spec gen/report gen/export gen/export/rewrite gen/fit gen/fit/* gen/format
gen/dataset/directory        libwriter/base libwriter/io libwriter/comm libreader ui/param gen/model/* gen/sim/lua gen/spec gen/format gen/format/rows
gen/dataset                  libwriter/base libwriter/io libwriter/comm libreader ui/param gen/model/* gen/spec gen/format gen/format/rows gen/dataset/directory
gen/cli/common               libwriter/base libwriter/io libwriter/comm libwriter/format/clog2/file libreader libreader/rank2file ui/* gen/model/* gen/sim/lua gen/workloads gen/spec gen/format gen/format/rows gen/export gen/export/rewrite gen/fit gen/dataset gen/dataset/directory gen/report
gen/cli                      libwriter/base libwriter/io libwriter/comm libreader libreader/rank2file ui/* gen/model/* gen/sim/lua gen/workloads gen/spec gen/format gen/format/rows gen/export gen/export/rewrite gen/fit gen/dataset gen/dataset/directory gen/report gen/cli/common
bench/measure                libwriter/base libwriter/io libwriter/comm ui/cli
bench/linktest               libwriter/base libwriter/io libwriter/comm ui/* bench/measure
bench/report                 libwriter/base libwriter/io ui/* bench/measure
bench/count                  libwriter/base libwriter/io ui/cli bench/measure bench/report
bench/site                   libwriter/base libwriter/io ui/cli bench/measure bench/report
bench/layout                 libwriter/base libwriter/io libwriter/comm gen/dataset bench/measure bench/report
bench/sweep                  libwriter/base libwriter/io libwriter/comm ui/* bench/measure bench/report bench/count bench/layout
bench/kernels                libwriter/base libwriter/io libwriter/comm libreader/* ui/cli gen/model/* gen/sim gen/sim/* gen/workloads bench/measure
bench                        libwriter/base libwriter/io libwriter/comm ui/* bench/measure bench/report bench/site bench/count bench/layout bench/sweep
bindings/fortran
"""

# Folders that may include only these public headers; every other folder may include all.
PUBLIC = {
    "libwriter/base": {"status", "version"},
    "libwriter/io": {"status", "version", "sink"},
    "libwriter/comm": {"status", "version", "comm", "mpi"},
}
# Folders that may include mpi.h or hpcw/mpi.h.
MPI = re.compile(r"libwriter/comm/comm_mpi\.c$|libwriter/trace/|include/hpcw/(mpi|trace)\.h$|include/hpcw-|bindings/(mpe|sionlib)/|gen/cli/common/launch\.c$|bench/|bindings/fortran/comm\.c$")
# The test that passes option structs of smaller and larger sizes to the library.
SIZES = "tests/unit/base/test_options_size.c"
# The only header of the generator that bench may include, except for its kernels.
BENCH_GEN = "gen/dataset/sample.h"

# Functions that take a path or list a directory, without the prefixes and suffixes that systems add.
PATH_CALLS = set(
    """
    access canonicalize_file_name chdir chmod chown chroot creat eaccess euidaccess faccessat fchmodat fchownat fdopendir
    fopen freopen fstatat fts_open ftw futimesat get_current_dir_name getcwd getwd getxattr glob ini_parse
    inotify_add_watch lchmod lchown lgetxattr link linkat listxattr llistxattr lremovexattr lsetxattr lstat luaL_loadfilex
    lutimes mkdir mkdirat mkdtemp mkfifo mkfifoat mknod mknodat mkostemp mkostemps mkstemp mkstemps mktemp
    name_to_handle_at nftw open openat opendir pathconf popen readdir readdir_r readlink readlinkat realpath remove
    removexattr rename renameat renameat2 rmdir scandir scandirat setmntent setxattr stat statfs statvfs statx symlink symlinkat
    syscall system tempnam tmpfile tmpnam truncate unlink unlinkat utime utimensat utimes
    """.split()
)
# Files outside of libwriter/io that may call a function of PATH_CALLS, with the reason.
PATH_CALLERS = {
    "bindings/sionlib/handles/report.c": "open: appends to the file of HPCW_SIONLIB_ERRORS, and has the public headers alone",
    "libwriter/trace/program.c": "syscall: ends the process, in the place of _exit",
    "ui/page/embed.c": "fopen: runs while the project is built, and is linked with nothing of it",
}

root, nm, build, libraries = sys.argv[1], (sys.argv[2:3] or [None])[0], (sys.argv[3:4] or [None])[0], sys.argv[4:]
failed = False


def bad(where, why):
    global failed
    print(f"{where}: {why}")
    failed = True


def folder(path):
    return os.path.dirname(path)


sources = []
for top in ("include", "libwriter", "libreader", "ui", "gen", "trace", "bench", "bindings"):
    for directory, folders, names in os.walk(os.path.join(root, top)):
        sources += [os.path.relpath(os.path.join(directory, n), root) for n in names if re.search(r"\.[ch]$", n)]
sources.sort()
allowed, order = {}, []
lines = [line.split() for line in FLOORS.split("\n") if line.strip()]
folders = {folder(path) for path in sources} - {line[0] for line in lines}
for line, *others in lines:
    for name in sorted(f for f in folders if folder(f) + "/*" == line) if line.endswith("/*") else [line]:
        below = set()
        for other in others:
            known = [f for f in order if f == other or (other.endswith("/*") and (f + "/").startswith(other[:-1]))]
            if not known:
                bad("floors.py", f"{name} is to use {other}, which does not stand above it")
            below.update(known)
        order.append(name)
        allowed[name] = below

known = set(sources)
text = {path: open(os.path.join(root, path), encoding="utf-8").read() for path in sources}

for path in sources:
    for cast in re.finditer(r'\(unsigned long long\)|"[^"\n]*%[-+ #0-9.*]*ll[diouxX]', text[path]):
        bad(f"{path}:{text[path].count(chr(10), 0, cast.start()) + 1}", "print it with a macro of <inttypes.h>")

# ---- modules in a folder, and members of a struct
MOST_MODULES, MOST_MEMBERS = 15, 30


def structs_of(code):
    """Yields the name and the number of members of each named struct of a file. A nested struct counts as one member."""
    code = re.sub(r"/\*.*?\*/|//[^\n]*|^#.*?(?<!\\)$", "", code, flags=re.S | re.M)
    for found in re.finditer(r"\bstruct (\w+)\s*\{", code):
        depth, members, begin, at = 1, 0, found.end(), found.end()
        while depth > 0:
            depth += (code[at] == "{") - (code[at] == "}")
            if code[at] == ";" and depth == 1:
                member = re.sub(r"\{.*\}", "", code[begin:at], flags=re.S)
                members += re.sub(r"\([^()]*\)", "", re.sub(r"\([^()]*\)", "", member)).count(",") + 1
                begin = at + 1
            at += 1
        yield found.group(1), members


modules = collections.Counter(folder(path) for path in sources if path.endswith(".c"))
for name, count in sorted(modules.items()):
    if count > MOST_MODULES:
        bad(name, f"has {count} modules, more than {MOST_MODULES}: give some of them a room")
for path in sources:
    # A public struct may have more members: named parts would break programs that set its members.
    for tag, count in [] if path.startswith("include/") else structs_of(text[path]):
        if count > MOST_MEMBERS:
            bad(path, f"struct {tag} has {count} members, more than {MOST_MEMBERS}: give it named parts")


def circle(edges):
    """Returns a cycle of a graph as a list, or None."""
    state, path = {}, []

    def visit(node):
        state[node] = "open"
        path.append(node)
        for other in sorted(edges.get(node, ())):
            if state.get(other) == "open":
                return path[path.index(other):] + [other]
            if other not in state:
                found = visit(other)
                if found:
                    return found
        state[node] = "done"
        path.pop()
        return None

    for node in sorted(edges):
        if node not in state:
            found = visit(node)
            if found:
                return found
    return None


# ---- includes
includes = collections.defaultdict(set)
for path in sources:
    here = folder(path)
    if not path.startswith("include/") and here not in allowed:
        bad(path, f"folder {here} has no line in tests/floors.py")
        continue
    for number, line in enumerate(text[path].split("\n"), 1):
        found = re.match(r'\s*#\s*include\s*([<"])([^">]+)[">]', line)
        if not found:
            continue
        where, quoted, name = f"{path}:{number}", found.group(1) == '"', found.group(2)
        if name in ("mpi.h", "hpcw/mpi.h", "hpcw/trace.h") and not MPI.match(path):
            bad(where, f"only the MPI communicator and programs may include {name}")
        if name.startswith("hpcw/") and not quoted:
            includes[path].add("include/" + name)
            if here in PUBLIC and name[5:-2] not in PUBLIC[here]:
                bad(where, f"{here} may not know {name}")
        elif quoted:
            if name not in known:
                bad(where, f"expected the path of a header from the top of the tree, got {name}")
                continue
            there = folder(name)
            includes[path].add(name)
            if path.startswith("include/"):
                bad(where, f"a public header includes {name}, which is not installed")
            elif there != here and there not in allowed[here]:
                bad(where, f"{here} may not include {name}: its line in FLOORS of tests/floors.py lacks {there}")
            elif path.startswith("bench/") and here != "bench/kernels" and name.startswith("gen/") and name != BENCH_GEN:
                bad(where, f"bench includes {name}: of the generator it needs {BENCH_GEN} alone")
found = circle(includes)
if found:
    bad("include circle", " -> ".join(found))
if not sources:
    bad("floors.py", "no file found, so nothing was checked")

# ---- tags
tags = collections.defaultdict(list)
for path in sources:
    for found in re.finditer(r"^(?:typedef )?(struct|union|enum) (\w+) \{", text[path], re.M):
        tags[found.group(2)].append(path)
for tag, paths in sorted(tags.items()):
    if len(paths) > 1:
        bad(paths[1], f"tag {tag} is defined in {paths[0]}, too")

# ---- structs of options
with open(os.path.join(root, SIZES), encoding="utf-8") as f:
    rows = set(re.findall(r'\{"(hpcw_\w+_options)", ', f.read()))
for path in sources:
    for name in re.findall(r"\b(hpcw_\w+_options)_fill\(hpcw_", text[path]) if path.startswith("include/") else []:
        if name not in rows:
            bad(path, f"{SIZES}: every_open_looks_at_the_size has no row for {name}")

# ---- purposes of random numbers
purposes = collections.Counter(re.findall(r"^ +HPCW_I_FOR_\w+ =\s*(\d+)", text["libwriter/base/rng.h"], re.M))
for number, times in purposes.items():
    if times > 1:
        bad("libwriter/base/rng.h", f"the purpose {number} occurs {times} times")
# The simulator draws only by hpcw_i_draw, each purpose at one place. So no two quantities share coordinates.
drawn = collections.Counter()
for path in text:
    if path.startswith("gen/sim/"):
        for function, purpose in re.findall(r"\b(hpcw_i_(?:draw|philox|below|shuffle))\([^,;]*,\s*([^,]*),", text[path]):
            drawn[purpose] += 1
            if function != "hpcw_i_draw" or not purpose.startswith("HPCW_I_FOR_"):
                bad(path, f"expected hpcw_i_draw with a purpose of the list, got {function} with {purpose}")
for purpose, times in drawn.items():
    if times > 1:
        bad("gen/sim", f"{purpose} is drawn at {times} places, expected one")
if len(drawn) < 4:
    bad("gen/sim", f"expected the purposes of the simulator, got {len(drawn)} of them")
if len(purposes) < 20:
    bad("libwriter/base/rng.h", f"expected the list of purposes, got {len(purposes)} of them")

# ---- symbols
defined, functions, undefined = {}, set(), collections.defaultdict(set)


# Meson names an object by the path of its source, below the folder of meson.build, with underscores in place of slashes.
joined = collections.defaultdict(list)
for path in sources:
    joined[path.replace("/", "_")].append(path)


def source_of_object(top, name):
    fits = joined.get(top.replace("/", "_") + "_" + re.sub(r"\.o$", "", name), [])
    return fits[0] if len(fits) == 1 else None


def source_of(member):
    """Returns the source file of an object in a library."""
    top = re.search(r"((?:bindings/)?[a-z]+)/lib[^/]*\.a", member)
    return source_of_object(top.group(1), os.path.basename(member)) if top else None


for library in libraries:
    for line in subprocess.check_output([nm, "-A", library], text=True).split("\n"):
        found = re.match(r"(.*?):\s*[0-9a-f]*\s+([A-Za-z]) (\S+)$", line)
        if not found:
            continue
        member, kind, name = found.groups()
        source = source_of(member.rstrip(":"))
        if source is None or name.startswith("__"):
            continue
        if kind in "TDBRCV":
            if name in defined and defined[name] != source:
                bad(source, f"{name} is global in {defined[name]}, too")
            defined[name] = source
            if kind == "T":
                functions.add(name)
        elif kind == "U":
            undefined[source].add(name)
calls = collections.defaultdict(set)
for path, names in undefined.items():
    for name in names:
        there = defined.get(name)
        # The wrapper also defines functions of MPI. Calls of these functions count as calls of MPI, not of the wrapper.
        if there is None or there == path or name.startswith(("MPI_", "PMPI_")):
            continue
        if name in functions:  # a table of rows names them but calls nothing
            calls[path].add(there)
        here, target = folder(path), folder(there)
        if re.match(r"hpcw_(?!i_)", name) and (not here.startswith("libwriter/") or target.startswith("libwriter/format")):
            continue  # the public library, for folders that may include its headers
        if target != here and target not in allowed.get(here, ()):
            bad(path, f"{here} may not call {name} of {there}: its line in FLOORS of tests/floors.py lacks {target}")
found = circle(calls)
if found:
    bad("call circle", " -> ".join(found))
if libraries and not calls:
    bad("floors.py", "no call found in the libraries, so none was checked")

# ---- calls with paths


def plain(name):
    """Returns the name by which programs call a function: open for __open64_2, stat for __xstat64, fopen for
    fopen64@GLIBC_2.2."""
    name = re.sub(r"@.*$", "", name).lstrip("_")
    name = re.sub(r"(_chk|_2|_time64)+$", "", name)
    name = re.sub(r"64(_r)?$", r"\1", name)
    return re.sub(r"^(l|f)?x(stat|statat|mknod|mknodat)$", lambda m: (m.group(1) or "") + m.group(2), name)


objects = []
for top in ("libwriter", "libreader", "ui", "gen", "trace", "bench", "bindings/fortran", "bindings/mpe", "bindings/sionlib") if build else ():
    for directory, folders, names in os.walk(os.path.join(build, top)):
        objects += [(top, os.path.join(directory, n)) for n in names if n.endswith(".o")]
callers = collections.defaultdict(set)
checked = set()
for first in range(0, len(objects), 200):
    some = objects[first : first + 200]
    tops = {path: top for top, path in some}
    for line in subprocess.check_output([nm, "-A", "-u", *tops], text=True).split("\n"):
        found = re.match(r"(.*?\.o):\s+[Uwv] (\S+)$", line)
        source = source_of_object(tops[found.group(1)], os.path.basename(found.group(1))) if found else None
        if source is not None:
            checked.add(source)
            if plain(found.group(2)) in PATH_CALLS:
                callers[source].add(plain(found.group(2)))
for path, names in sorted(callers.items()):
    if folder(path) != "libwriter/io" and path not in PATH_CALLERS:
        bad(path, f"calls the system with a path ({', '.join(sorted(names))}): take what libwriter/io has for it")
for path in PATH_CALLERS:
    if path in checked and path not in callers:
        bad("floors.py", f"{path} makes no call with a path: it needs no line in PATH_CALLERS")
if build and not callers.get("libwriter/io/sys_path.c"):
    bad("floors.py", "no call with a path found, so none was checked")
sys.exit(failed)
