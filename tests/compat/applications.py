#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs public programs that use SIONlib, unchanged, with SIONlib and with hpcw.

Usage: applications.py PAGE BUILD_ROOT HPCGEN [MPIEXEC MPICC]

HPCW_SIONLIB names a directory with SIONlib's include/ and lib/, HPCW_NEST_SOURCE, HPCW_NEST_READER_SOURCE and
HPCW_FTI_SOURCE the source trees of NEST, nest-sionlib-reader and FTI. Without all of them the test is skipped. The programs
are built with CMake and Ninja in the directory HPCW_APPLICATIONS. It is kept, so that later runs are faster. If it is not set,
a temporary directory is used.

Each program runs with both libraries. It passes with hpcw if it succeeds and prints the same as with SIONlib, and if
`hpcgen verify` accepts its files. PAGE must have the table of results between the lines "<!-- applications -->" and
"<!-- end -->". If HPCW_WRITE is set, the script writes the table there.
"""
import filecmp
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, here)
import originals  # noqa: E402

page, built, hpcgen, mpiexec, mpicc = ([os.path.abspath(p) for p in sys.argv[1:4]] + sys.argv[4:] + ["", ""])[:5]
prefix = originals.sionlib_prefix()
nest, reader, fti = (os.environ.get(f"HPCW_{name}_SOURCE") for name in ("NEST", "NEST_READER", "FTI"))
if not (prefix and nest and reader and fti and mpiexec and shutil.which("cmake")):
    print("skipped: expected HPCW_SIONLIB, HPCW_NEST_SOURCE, HPCW_NEST_READER_SOURCE and HPCW_FTI_SOURCE, MPI and CMake")
    sys.exit(77)

BOTH = ("SIONlib", "hpcw")
# All settings of FTI, since most have no default. ckpt_io=4: checkpoints are written through SIONlib.
FTI_CONFIGURATION = """
[basic]
head=0
node_size=1
ckpt_dir=./local
glbl_dir=./global
meta_dir=./meta
ckpt_l1=0
ckpt_l2=0
ckpt_l3=0
ckpt_l4=1
dcp_l4=0
inline_l2=1
inline_l3=1
inline_l4=1
keep_last_ckpt=1
keep_l4_ckpt=0
group_size=4
max_sync_intv=0
ckpt_io=4
enable_staging=0
enable_dcp=0
verbosity=3
[restart]
failure=0
exec_id=NULL
[injection]
rank=0
number=0
position=0
frequency=0
[advanced]
block_size=1024
transfer_size=16
general_tag=2612
ckpt_tag=711
stage_tag=406
final_tag=3107
local_test=1
"""


class Failed(Exception):
    pass


def run(command, where, **more):
    """Runs a command that must succeed. Returns the command's standard output."""
    ended = subprocess.run(command, cwd=where, capture_output=True, timeout=3600, check=False, **more)
    if ended.returncode != 0:
        raise Failed(f"{' '.join(command)}: {ended.returncode}\n{(ended.stdout + ended.stderr).decode(errors='replace')[-4000:]}")
    return ended.stdout.decode(errors="replace")


def install(work):
    """Installs hpcw below a directory. Returns the directory of its pkg-config files."""
    root = f"{work}/installed"
    run(["meson", "install", "-C", built, "--no-rebuild", "--quiet", "--destdir", root], work)
    for directory, _, names in os.walk(root):
        if "hpcw-sionlib.pc" in names:
            return directory
    raise Failed("meson install: expected hpcw-sionlib.pc")


def options_for(who, kind, modules):
    """Options for the compiler and for the linker."""
    if who == "SIONlib":
        kinds = {"ser": ["ser"]}.get(kind, [kind, "gen", "ser"])
        return [f"-I{prefix}/include", "-D_SION_LINUX"], [*originals.archives(prefix, kinds), "-lpthread"]
    module = "hpcw-sionlib" + {"ser": ""}.get(kind, "-" + kind)
    installed = re.sub(r"/lib/.*|/lib$", "", modules)
    command = ["pkg-config", f"--define-variable=prefix={installed}", module]
    environment = dict(os.environ, PKG_CONFIG_PATH=modules)
    compiler = run([*command, "--cflags"], ".", env=environment).split()
    linker = run([*command, "--libs"], ".", env=environment).split()
    return compiler, [*linker, "-Wl,--disable-new-dtags", f"-Wl,-rpath,{os.path.dirname(modules)}"]


def build(work, who, name, source, target, options):
    """Builds a program with CMake. Returns the build directory."""
    where = f"{work}/{name}-{who}"
    os.makedirs(where, exist_ok=True)
    run(["cmake", "-G", "Ninja", "-Wno-dev", source, *options], where)
    run(["ninja", target], where)
    return where


def build_nest(work, who, modules):
    compiler, linker = options_for(who, "ompi", modules)
    # NEST looks for its own scripts in its installation prefix.
    share = f"{work}/nest-prefix/share/nest"
    if not os.path.exists(share):
        os.makedirs(os.path.dirname(share))
        os.symlink(f"{nest}/lib", share)
    # NEST's CMake would ask the program sionconfig, which is there only after an installation. So all answers are given
    # here as options, and pkg-config stands in for sionconfig.
    return build(work, who, "nest", nest, "nest", [
        f"-DCMAKE_INSTALL_PREFIX={work}/nest-prefix", "-DCMAKE_CXX_FLAGS=" + " ".join(compiler), "-Dwith-sionlib=ON",
        "-DSIONLIB_INCLUDE=" + compiler[0][2:], "-DSIONLIB_LIBRARIES=" + ";".join(linker), "-DSIONLIB_DEFINES=-DSION_OMPI",
        "-DSIONLIB_CONFIG=" + shutil.which("pkg-config"), "-Dwith-mpi=ON", "-Dwith-modelset=iaf_minimal",
        *(f"-Dwith-{part}=OFF" for part in ("python", "gsl", "boost", "ltdl", "readline", "optimize", "warning"))])


def build_fti(work, who, modules):
    compiler, _ = options_for(who, "mpi", modules)
    # FTI's CMake needs a path for each of SIONlib's five libraries. hpcw has one library, so all five paths name it.
    names = ("MPI", "GEN", "SER", "COM", "COM_LOCK")
    libraries = originals.archives(prefix, ["mpi", "gen", "ser"])
    if who == "hpcw":
        libraries = [f"{os.path.dirname(modules)}/libhpcw_sionlib_mpi.so"] * len(names)
    return build(work, who, "fti", fti, "diffSizes.exe", [
        "-DCMAKE_C_FLAGS=-w " + " ".join(compiler), "-DENABLE_SIONLIB=ON", "-DENABLE_TESTS=ON", "-DENABLE_EXAMPLES=OFF",
        "-DENABLE_OPENSSL=OFF", "-DCMAKE_EXE_LINKER_FLAGS=-Wl,--disable-new-dtags",
        *(f"-DSIONLIB_{name}={library}" for name, library in zip(names, libraries))])


def build_reader(work, who, modules):
    compiler, linker = options_for(who, "ser", modules)
    program = f"{work}/reader-{who}"
    sources = [f"{reader}/src/{name}.cpp" for name in ("nest_reader", "sion_reader", "raw_memory")]
    run(["c++", "-O1", "-w", f"-I{reader}/src", *compiler, f"{here}/nest_records.cpp", *sources, "-o", program, *linker], work)
    return program


def fresh(path, *inside):
    shutil.rmtree(path, ignore_errors=True)
    for name in inside:
        os.makedirs(f"{path}/{name}")
    return path


def verified(paths):
    for path in paths:
        run([hpcgen, "verify", path], ".")
    return paths


def run_nest(work, directories):
    """Runs a simulation with both libraries. Returns the verified output files."""
    files = []
    for who in BOTH:
        where = fresh(f"{work}/run/nest-{who}", "data")
        run([mpiexec, "-n", "2", f"{directories[who]}/nest/nest", f"{here}/nest.sli"], where)
        files += verified([f"{where}/data/output.sion"])
    return files


def checkpoint_of(where):
    """Returns the last checkpoint, and the run's number, which differs each time."""
    found = [p for p in originals.files_of(f"{where}/global") if p.endswith("-sionlib.fti")]
    if len(found) != 1:
        raise Failed(f"{where}: expected one checkpoint, got {found}")
    with open(f"{where}/global/{found[0]}", "rb") as file:
        data = file.read()
    verified([f"{where}/global/{found[0]}"])
    number = found[0].split("/")[0].encode()
    return os.path.basename(found[0]), data.replace(number, b"-" * len(number))


def run_fti(work, directories, first, second):
    """Writes checkpoints with one library, stops, and continues with another one. Returns the last checkpoint of
    each."""
    where = fresh(f"{work}/run/fti-{first}-{second}", "local", "global", "meta")
    with open(f"{where}/configuration", "w", encoding="utf-8") as file:
        file.write(FTI_CONFIGURATION)
    found = []
    for who, stops in ((first, "1"), (second, "0")):
        program = f"{directories[who]}/testing/suites/core/ckptDiffSizes/diffSizes.exe"
        said = run([mpiexec, "-n", "4", program, "configuration", "4", stops, "1"], where)
        if stops == "0" and "Success." not in said:
            raise Failed(f"{program}: expected \"Success.\", got {said[-4000:]}")
        found.append(checkpoint_of(where))
    return found


def commit_of(source):
    return run(["git", "-C", source, "rev-parse", "--short=7", "HEAD"], ".").strip()


def judge(work):
    modules = install(work)
    nests = {who: build_nest(work, who, modules) for who in BOTH}
    ftis = {who: build_fti(work, who, modules) for who in BOTH}
    readers = {who: build_reader(work, who, modules) for who in BOTH}
    rows = []

    def row(name, source, what, result, same, files):
        rows.append(f"| {name} | {commit_of(source)} | {what} | {result} | {f'{same} of {files}' if files else 'none'} |")

    theirs, ours = run_nest(work, nests)
    row("NEST 3.9, SIONlib backend", nest, "2 processes of 2 threads record potentials and spikes", "passes",
        int(filecmp.cmp(theirs, ours, shallow=False)), 1)
    said = [run([readers[who], file], work) for who in BOTH for file in (theirs, ours)]
    row("nest-sionlib-reader", reader, "reads the records of both files", "passes" if len(set(said)) == 1 else "differs",
        0, 0)
    alone = [run_fti(work, ftis, who, who) for who in BOTH]
    row("FTI, test of checkpoints", fti, "4 processes write checkpoints, stop, read the last one and go on", "passes",
        sum(a == b for a, b in zip(*alone)), len(alone[0]))
    mixed = run_fti(work, ftis, "SIONlib", "hpcw"), run_fti(work, ftis, "hpcw", "SIONlib")
    row("the same", fti, "go on with the other library", "passes", sum(a == b for m in mixed for a, b in zip(m, alone[0])), 4)
    return rows


keep = os.environ.get("HPCW_APPLICATIONS")
scratch = os.path.abspath(keep) if keep else tempfile.mkdtemp()
os.makedirs(scratch, exist_ok=True)
try:
    table = ["| program | commit | what it does | with hpcw | same files |", "|---|---|---|---|---|", *judge(scratch)]
except Failed as failed:
    print(failed)
    sys.exit(1)
finally:
    if not keep:
        shutil.rmtree(scratch)
found = originals.check_table(page, "applications", table)
print(table[-1])
sys.exit(0 if found else 1)
