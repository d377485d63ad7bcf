#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""SIONlib's own test programs and examples, with SIONlib and with hpcw. Usage: upstream.py PAGE LIBRARIES [MPIEXEC MPICC]

HPCW_SIONLIB_SOURCE names SIONlib's source tree, HPCW_SIONLIB a directory with its include/ and lib/, built from it. Without
them the test is skipped. LIBRARIES is a list of the directories of hpcw's libraries, separated by colons.

Every program is compiled for both libraries, unchanged, and run in a directory of its own, with 4 processes if it needs MPI.
It passes if it prints the same (numbers and sizes of handles aside; lines in any order if processes or threads race) and ends
with the same status. Its files are compared, too. PAGE must have the table of results between the lines "<!-- programs -->"
and "<!-- end -->". It must have the table of the other C sources below test/ and examples/ after "<!-- others -->". If
HPCW_WRITE is set, the script writes both tables there. Each source is in one of the two tables.
"""
import filecmp
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import originals  # noqa: E402

page, libraries, mpiexec, mpicc = (sys.argv[1:] + ["", ""])[:4]
root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
source, prefix = os.environ.get("HPCW_SIONLIB_SOURCE"), originals.sionlib_prefix()
if not source or not prefix or not mpiexec:
    print("skipped: expected HPCW_SIONLIB_SOURCE and HPCW_SIONLIB to name SIONlib, and MPI")
    sys.exit(77)

SERIAL = [
    "test/serial/test_2read__1.c",
    "test/serial/test_keyval_1.c",
    "test/serial/test_mandel_1.c",
    "test/serial/test_seek___1.c",
    "test/serial/test_seropn_1.c",
    "test/serial/test_swap___1.c",
    "examples/simple/sionser.c",
]
PARALLEL = [
    "test/parallel/test_buddy__1.c",
    "test/parallel/test_buddy__2.c",
    "test/parallel/test_buffer_1.c",
    "test/parallel/test_cache__1.c",
    "test/parallel/test_coll___1.c",
    "test/parallel/test_dup____1.c",
    "test/parallel/test_genapi_1.c",
    "test/parallel/test_genapi_2.c",
    "test/parallel/test_genapi_3.c",
    "test/parallel/test_genapi_4.c",
    "test/parallel/test_get_info.c",
    "test/parallel/test_hints__1.c",
    "test/parallel/test_keyval_1.c",
    "test/parallel/test_keyval_2.c",
    "test/parallel/test_mapped_1.c",
    "test/parallel/test_multi__1.c",
    "test/parallel/test_multi__2.c",
    "test/parallel/test_multi__3.c",
    "test/parallel/test_param__1.c",
    "test/parallel/test_reinit_1.c",
    "test/parallel/test_seek___1.c",
    "test/parallel/test_simple_1.c",
    "test/parallel/test_simple_2.c",
    "examples/simple/sionpar.c",
    "examples/par_mandel/mandelmpi.c",
    "examples/par_mandel/mandelseq.c",
]
GENERIC = [
    "test/serial/test_genapi_1.c",
]
THREADS = [
    "test/parallel/test_omp____1.c",
    "test/parallel/test_ompcol_1.c",
]
HYBRID = [
    "test/parallel/test_ompi___1.c",
    "test/parallel/test_ompicol1.c",
    "test/parallel/test_ompicol2.c",
    "test/parallel/test_ompimrg1.c",
]
KINDS = [
    (SERIAL, ["cc"], "", ["ser"], ["hpcw_sionlib"]),
    (GENERIC, ["cc"], "", ["gen", "ser"], ["hpcw_sionlib"]),
    (PARALLEL, [mpicc], "-DSION_MPI", ["mpi", "gen", "ser"], ["hpcw_sionlib_mpi"]),
    (THREADS, ["cc", "-fopenmp"], "-DSION_OMP", ["omp", "gen", "ser"], ["hpcw_sionlib_omp"]),
    (HYBRID, [mpicc, "-fopenmp"], "-DSION_OMPI", ["ompi", "gen", "ser"], ["hpcw_sionlib_ompi"]),
]
# Additional sources of a program.
PARTS = {
    "examples/par_mandel/mandelmpi.c": ["mandelsion.c"],
    "examples/par_mandel/mandelseq.c": ["mandelsion.c", "ppmwrite.c"],
}
# Arguments of a program.
ARGUMENTS = {"examples/par_mandel/mandelmpi.c": "-t 1 -w 256 -h 256 -x -.59 -.54 -.58 -.53 -i 256 -b 64"}
# Reader: the program that writes the files that it reads.
AFTER = {"examples/par_mandel/mandelseq.c": "examples/par_mandel/mandelmpi.c"}
# Serial programs, although they are compiled with MPI.
ALONE = {"examples/par_mandel/mandelseq.c"}
# Sources that have no row, and why.
INTERNAL = "calls functions of SIONlib that are not in its interface: "
OTHERS = {
    "examples/par_mandel/mandelsion.c": "a part of `mandelmpi` and `mandelseq`",
    "examples/par_mandel/mandelsion_template.c": "an exercise: `mandelsion` without its calls",
    "examples/par_mandel/ppmwrite.c": "a part of `mandelseq`",
    "examples/par_mandel_fortran/ppmwrite.c": "a part of a Fortran program",
    "examples/pepc/sionpepc.c": "converts particles of PEPC, of which there are none with it",
    "test/parallel/test_fitest_1.c": "buddy checkpointing",
    "test/parallel/test_fitest_2.c": "buddy checkpointing",
    "test/parallel/test_genapi_INC_MPI_api.c": "a part of `test_genapi_1` to `test_genapi_4`",
    "test/parallel/test_lock___1.c": "counts how often SIONlib locks by callbacks, for which there is no call here",
    "test/parallel/test_sfwd___1.c": "needs SIONfwd, which forwards calls to another machine",
    "test/parallel/test_sfwd___2.c": "needs SIONfwd, which forwards calls to another machine",
    "test/serial/test_cache__1.c": INTERNAL + "its cache",
    "test/serial/test_file___1.c": INTERNAL + "its files",
    "test/serial/test_file___2.c": INTERNAL + "its files",
    "test/serial/test_file___3.c": INTERNAL + "its files",
    "test/serial/test_file___4.c": INTERNAL + "its files",
    "test/serial/test_flags__1.c": INTERNAL + "its modes",
    "test/serial/test_kmngr__1.c": INTERNAL + "its keys",
    "test/serial/test_ktab___1.c": INTERNAL + "its keys",
    "test/serial/test_ktab___2.c": INTERNAL + "its keys",
}


def compile_for(hpcw, kind, program, out):
    """Returns whether a program compiles and links."""
    _, compiler, define, theirs, ours = kind
    parts = [f"{source}/{program}", *(f"{source}/{os.path.dirname(program)}/{part}" for part in PARTS.get(program, []))]
    # Some programs include headers of SIONlib's tree that are not installed. Their directory is searched last.
    command = [*compiler, "-w", "-D_GNU_SOURCE", *define.split(), "-D_SION_LINUX"]
    if hpcw:
        # Some programs use the prefix lsion_, which functions of some SIONlib releases have.
        names = set()
        for part in parts:
            with open(part, encoding="utf-8", errors="replace") as file:
                names |= set(re.findall(r"\blsion_(\w+)", file.read()))
        command += [f"-Dlsion_{name}=sion_{name}" for name in sorted(names)]
        command += [f"-I{root}/include/hpcw-sionlib", "-idirafter", f"{source}/src/lib", *parts, "-o", out]
        command += [f"-L{d}" for d in libraries.split(":")] + [f"-l{x}" for x in ours]
        command += ["-Wl,-rpath," + libraries, "-lm"]
    else:
        command += [f"-I{prefix}/include", "-idirafter", f"{source}/src/lib", *parts, "-o", out]
        command += [*originals.archives(prefix, theirs), "-lpthread", "-lm"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def run(kind, program, binary, directory):
    """Runs a program. Returns its status and the lines that it prints, sorted if processes or threads race."""
    parallel = kind[1][0] == mpicc and program not in ALONE
    environment = dict(os.environ, OMP_NUM_THREADS="2", LSION_DEBUG_SILENT="1")
    with tempfile.TemporaryDirectory() as output:
        # Each process prints to a file of its own: mpiexec may put a line of one process into a line of another.
        apart = [mpiexec, "-n", "4", "sh", "-c", f'exec "$0" "$@" >{shlex.quote(output)}/$$'] if parallel else []
        command = [*apart, binary, *ARGUMENTS.get(program, "").split()]
        try:
            ended = subprocess.run(command, cwd=directory, env=environment, capture_output=True, timeout=60, check=False)
        except subprocess.TimeoutExpired:
            return "hangs", []
        printed = ended.stdout
        for name in originals.files_of(output):
            with open(f"{output}/{name}", "rb") as file:
                printed += file.read()
    text = re.sub(r"(sid|fileId) *= *-?\d+|==\d+$|(sizeof|dedup)\(\d+\)|\d+ ?bytes, \d+ ?fds|\d+\.\d+(?=, | \(ms\))", "N", printed.decode(errors="replace"), flags=re.M)
    lines = text.split("\n")
    return ended.returncode, sorted(lines) if parallel or "-fopenmp" in kind[1] else lines


def judge(kind, program):
    """Returns the row of a program: its results with each library, and its files."""
    with tempfile.TemporaryDirectory() as scratch:
        results = {}
        for who in ("sionlib", "hpcw"):
            directory, binary, before = f"{scratch}/{who}", f"{scratch}/{who}.out", AFTER.get(program)
            os.mkdir(directory)
            data = f"{source}/{program[:-1]}sion"
            if os.path.exists(data):
                shutil.copy(data, directory)
            if before is not None and compile_for(who == "hpcw", kind, before, binary):
                run(kind, before, binary, directory)
            compiles = compile_for(who == "hpcw", kind, program, binary)
            results[who] = run(kind, program, binary, directory) if compiles else None
        theirs, ours = results["sionlib"], results["hpcw"]
        if theirs is None or theirs[0] != 0:
            return "fails" if theirs else "does not compile", "", ""
        if ours is None:
            return "passes", "does not compile", ""
        if ours != theirs:
            return "passes", "differs", ""
        names = originals.files_of(f"{scratch}/sionlib")
        same = sum(os.path.exists(f"{scratch}/hpcw/{n}") and
                   filecmp.cmp(f"{scratch}/sionlib/{n}", f"{scratch}/hpcw/{n}", shallow=False) for n in names)
        return "passes", "passes", f"{same} of {len(names)}" if names else "none"


rows, passed, possible = [], 0, 0
for kind in KINDS:
    for program in kind[0]:
        theirs, ours, files = judge(kind, program)
        possible += theirs == "passes"
        passed += ours == "passes"
        rows.append(f"| {program} | {theirs} | {ours} | {files} |")
table = ["| program | with SIONlib | with hpcw | same files |", "|---|---|---|---|", *rows, "",
         f"Of {possible} programs that pass with SIONlib, {passed} pass with hpcw."]
listed = {program for kind in KINDS for program in kind[0]}
there = {name for d in ("test", "examples") for name in (f"{d}/{n}" for n in originals.files_of(f"{source}/{d}"))
         if name.endswith(".c")}
for name in sorted((there - listed - set(OTHERS)) | (set(OTHERS) - there) | (listed & set(OTHERS))):
    print(f"{name}: expected each C source of SIONlib's tests and examples in one of the two tables, and no others")
    sys.exit(1)
others = ["| source | why not |", "|---|---|", *(f"| {name} | {why} |" for name, why in sorted(OTHERS.items()))]
same = [originals.check_table(page, "programs", table), originals.check_table(page, "others", others)]
print(table[-1])
sys.exit(0 if all(same) else 1)
