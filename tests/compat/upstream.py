#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""SIONlib's own test programs and examples, with SIONlib and with hpcw. Usage: upstream.py PAGE LIBRARIES [MPIEXEC MPICC]

HPCW_SIONLIB_SOURCE names SIONlib's source tree, HPCW_SIONLIB a directory with its include/ and lib/, built from it. Without
them the test is skipped. LIBRARIES is a list of directories with hpcw's, with colons.

Every program is compiled for both, unchanged, and run in a directory of its own, with 4 processes if it needs MPI. It passes
if it prints the same (lines in any order, as processes race; numbers and sizes of handles aside) and ends with the same
status. Its
files are compared, too. The table of results must be the one that PAGE has between the lines "<!-- programs -->" and
"<!-- end -->"; with HPCW_WRITE set it is put there.
"""
import filecmp
import os
import re
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

# What tests parts of SIONlib that its interface does not have (test_cache, test_file, test_fitest, test_flags, test_kmngr,
# test_ktab, test_lock), needs other machines (test_sfwd), or is not C, is left out.
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
    (PARALLEL, [mpicc], "-DSION_MPI", ["mpi", "gen", "ser"], ["hpcw_sionlib_mpi"]),
    (THREADS, ["cc", "-fopenmp"], "-DSION_OMP", ["omp", "gen", "ser"], ["hpcw_sionlib_omp"]),
    (HYBRID, [mpicc, "-fopenmp"], "-DSION_OMPI", ["ompi", "gen", "ser"], ["hpcw_sionlib_ompi"]),
]


def compile_for(hpcw, kind, program, out):
    """Whether a program compiles and links."""
    _, compiler, define, theirs, ours = kind
    # Some include headers of SIONlib's tree that are not installed; they are found last.
    command = [*compiler, "-w", "-D_GNU_SOURCE", *define.split(), "-D_SION_LINUX"]
    if hpcw:
        # A release that calls its functions lsion_... has these names in some of its programs.
        names = set(re.findall(r"\blsion_(\w+)", open(program, encoding="utf-8", errors="replace").read()))
        command += [f"-Dlsion_{name}=sion_{name}" for name in sorted(names)]
        command += [f"-I{root}/include/hpcw-sionlib", "-idirafter", f"{source}/src/lib", program, "-o", out]
        command += [f"-L{d}" for d in libraries.split(":")] + [f"-l{x}" for x in ours]
        command += ["-Wl,-rpath," + libraries, "-lm"]
    else:
        command += [f"-I{prefix}/include", "-idirafter", f"{source}/src/lib", program, "-o", out]
        command += [*originals.archives(prefix, theirs), "-lpthread", "-lm"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def run(program, directory, parallel):
    """Its status and sorted output."""
    command = [mpiexec, "-n", "4", program] if parallel else [program]
    environment = dict(os.environ, OMP_NUM_THREADS="2", LSION_DEBUG_SILENT="1")
    try:
        ended = subprocess.run(command, cwd=directory, env=environment, capture_output=True, timeout=60, check=False)
    except subprocess.TimeoutExpired:
        return "hangs", []
    text = re.sub(r"(sid|fileId) *= *-?\d+|==\d+$|(sizeof|dedup)\(\d+\)|\d+ ?bytes, \d+ ?fds", "N", ended.stdout.decode(errors="replace"), flags=re.M)
    return ended.returncode, sorted(text.split("\n"))


def judge(kind, program):
    """The row of a program: what it does with either library, and its files."""
    with tempfile.TemporaryDirectory() as scratch:
        results = {}
        for who in ("sionlib", "hpcw"):
            directory, binary = f"{scratch}/{who}", f"{scratch}/{who}.out"
            os.mkdir(directory)
            data = f"{source}/{program[:-1]}sion"
            if os.path.exists(data):
                shutil.copy(data, directory)
            if not compile_for(who == "hpcw", kind, f"{source}/{program}", binary):
                results[who] = None
                continue
            results[who] = run(binary, directory, kind[0] is not SERIAL and kind[0] is not THREADS)
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
originals.check_table(page, "programs", table)
