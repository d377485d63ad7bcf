#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Checks who includes whom. Usage: floors.sh SOURCE_ROOT
#
#   F0 libwriter/base    F1 libwriter/io    F2 libwriter/comm    F3 the rest of libwriter (formats)
#   F4 the rest of gen   F5 gen/tool        F6 programs: gen/hpcgen*, bench
#
# - A file includes its own floor and lower ones; public headers stand on the floor of what they declare.
# - gen and bench reach F3 through public headers only.
# - mpi.h is seen by the MPI communicator, the programs, and the header that is made for it.
# - Includes form no cycle, neither of files nor of the folders of one floor (a folder and one in it count as one).
set -eu
cd "$1"

edges=$(mktemp)
trap 'rm -f "$edges"' EXIT

find include libwriter gen bench -name '*.[ch]' | LC_ALL=C sort | xargs awk -v edges="$edges" '
    function floor_of(path) {
        if (path ~ /^libwriter\/base\// || path ~ /^include\/hpcw\/(status|version)\.h$/) return 0
        if (path ~ /^libwriter\/io\// || path == "include/hpcw/sink.h") return 1
        if (path ~ /^libwriter\/comm\// || path ~ /^include\/hpcw\/(comm|mpi)\.h$/) return 2
        if (path ~ /^(libwriter|include)\//) return 3
        if (path ~ /^(bench\/|gen\/hpcgen)/) return 6
        if (path ~ /^gen\/tool\//) return 5
        return 4
    }
    # The file that an include names, as the compiler would find it; "" for the system and generated ones.
    function resolve(from, name, quoted,    i, n, path, roots) {
        if (!quoted) return name ~ /^hpcw\// ? "include/" name : ""
        n = split(folder(from) " libwriter/ gen/ bench/ include/ ./", roots, " ")
        for (i = 1; i <= n; i++) {
            path = roots[i] name
            sub(/^\.\//, "", path)
            while (match(path, /[^\/.]+\/\.\.\//)) path = substr(path, 1, RSTART - 1) substr(path, RSTART + RLENGTH)
            if (path in known) return path
        }
        return ""
    }
    function folder(path) { sub(/[^\/]*$/, "", path); return path }
    function bad(where, why) { print where ": " why; failed = 1 }

    FNR == 1 { known[FILENAME] = 1 }
    /^[ \t]*#[ \t]*include[ \t]*[<"]/ {
        quoted = $0 ~ /include[ \t]*"/
        name = $0
        sub(/^[^<"]*[<"]/, "", name)
        sub(/[>"].*/, "", name)
        count++
        from[count] = FILENAME; line[count] = FNR; target[count] = name; local[count] = quoted
    }
    END {
        for (i = 1; i <= count; i++) {
            where = from[i] ":" line[i]
            own = floor_of(from[i])
            if (target[i] == "mpi.h" || target[i] == "hpcw/mpi.h")
                if (from[i] !~ /^libwriter\/comm\/comm_mpi\.[ch]$/ && from[i] != "include/hpcw/mpi.h" &&
                    from[i] !~ /^libwriter\/trace\// && own < 6)
                    bad(where, "only the MPI communicator and programs may include " target[i])
            path = resolve(from[i], target[i], local[i])
            if (path == "") continue
            if (!(path in known)) { bad(where, "there is no " path); continue }
            if (local[i] && path ~ /^include\//) bad(where, "spell it <" target[i] ">: it is a public header")
            theirs = floor_of(path)
            if (theirs > own) bad(where, "floor F" own " includes " path " of floor F" theirs)
            if (from[i] ~ /^(gen|bench)\// && path ~ /^libwriter\// && theirs >= 3)
                bad(where, "gen and bench reach formats through <hpcw/...> only, not " path)
            if (from[i] ~ /^libwriter\// && path !~ /^(libwriter|include)\//)
                bad(where, "the library includes " path " of a program")
            if (from[i] ~ /^gen\// && path ~ /^bench\//) bad(where, "gen includes " path " of bench")
            if (from[i] ~ /^include\// && path !~ /^include\//)
                bad(where, "a public header includes " path ", which is not installed")
            print from[i], path > edges
            a = folder(from[i])
            b = folder(path)
            if (own == theirs && index(a, b) != 1 && index(b, a) != 1) print a, b > edges
        }
        if (count == 0) bad("floors.sh", "no file found, so nothing was checked")
        exit failed
    }'

# tsort fails on a cycle and names its members on stderr.
if ! cycle=$(tsort "$edges" 2>&1 >/dev/null); then
    echo "these include each other in a circle; split off what both need:"
    echo "$cycle" | sed -n 's/^tsort: \([^:]*\)$/  \1/p'
    exit 1
fi
