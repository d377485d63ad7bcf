# SPDX-License-Identifier: BSD-3-Clause
"""Checks on four hosts with one shared directory: programs write the same files as on one host."""
import hashlib
import os
import re
import shutil

from hosts import Broken, Unable, do, run

RANKS = 256


def tree(directory):
    """Returns the digest of every file below a directory, by its relative path."""
    found = {}
    for folder, _, names in os.walk(directory):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as f:
                found[os.path.relpath(path, directory)] = hashlib.blake2b(f.read()).hexdigest()
    return found


def same(one, other):
    """Checks that both directories have the same files."""
    want, got = tree(one), tree(other)
    if want != got or not want:
        differ = sorted(name for name in want.keys() | got.keys() if want.get(name) != got.get(name))
        raise Broken(f"{other}: these files differ from those of one process, are missing or too many: {differ}")


def hpcgen(c, out):
    return [c.hpcgen, "--quiet", "--ranks", RANKS, "--scale", "small", "--out", out]


def whole(c):
    """Makes the dataset with one process, as reference for runs on several hosts. Returns its path."""
    path = "/mnt/shared/whole"
    if not os.path.exists(path):
        run(*hpcgen(c, path)).ok()
    return path


def big(c, out):
    """Arguments of a dataset that takes seconds."""
    return [c.hpcgen, "--quiet", "--ranks", 4 * RANKS, "--scale", "small", "--out", out]


def big_whole(c):
    """Makes the large dataset with one process. Returns its path."""
    path = "/mnt/shared/whole.big"
    if not os.path.exists(path):
        run(*big(c, path)).ok()
    return path


def seen(made):
    """Checks that the program saw eight processes, two on each host."""
    said = (made.output.splitlines() or [""])[-1]
    if said != "8 on 4, 2 to 2 on each":
        raise Broken(f"{made}: expected 8 processes on 4 hosts, got: {said}")
    return "8 processes, 2 on each; no memory is shared between hosts"


def four(c):
    """Open MPI sees four hosts."""
    made = c.mpirun(8, c.seen)
    made.ok()
    return seen(made)


def four_mpich(c):
    """MPICH sees four hosts."""
    if shutil.which("mpicc.mpich") is None:
        raise Unable("no MPICH")
    do("mpicc.mpich", "-o", "/mnt/seen.mpich", "/mnt/source/tests/cluster/seen.c")
    return seen(c.mpich(8, "/mnt/seen.mpich"))


def generate(c):
    """hpcgen on eight processes."""
    out = c.fresh("eight")
    c.mpirun(8, *hpcgen(c, out)).ok()
    same(whole(c), out)
    c.mpirun(4, c.hpcgen, "verify", "--quiet", out).ok()
    return f"the files of one process, {RANKS} ranks in all formats"


def by_mpich(c, name, launch):
    """hpcgen with MPICH. `launch` gets the program and the directory."""
    program, out = "/mnt/mpich/gen/hpcgen", f"/mnt/shared/{name}"
    if not os.path.exists(program):
        raise Unable("no build with MPICH")
    made = launch(program, out)
    if made.status is not None:
        made.ok()
    same(whole(c), out)
    hangs = "; then MPICH hangs in MPI_Finalize" if made.status is None else ""
    return f"the files of one process, {RANKS} ranks in all formats{hangs}"


def generate_mpich(c):
    """hpcgen on eight processes with MPICH."""
    return by_mpich(c, "mpich", lambda program, out: c.mpich(8, program, *hpcgen(c, out)[1:]))


def heat(c, shared="/mnt/shared"):
    """Runs the example that writes all formats, and verifies its files."""
    out = os.path.join(c.fresh("heat", below=shared), "out")
    c.mpirun(8, c.heat, out, 60, 4).ok()
    for name in ("links.sion", "plate.sion", "lb_data", "ckpt", "heat.clog2"):
        run(c.hpcgen, "verify", "--quiet", os.path.join(out, name)).ok()
    return "8 processes write all formats; hpcgen accepts them"


def restart(c, shared="/mnt/shared"):
    """A program restarts from its checkpoints on other numbers of hosts."""
    here = c.fresh("restart", below=shared)
    counts = ((8, 4), (6, 3), (2, 1), (4, 4))
    for step, (processes, hosts) in enumerate(counts, 1):
        said = c.mpirun(processes, c.restart, hosts=c.hosts[:hosts], mpi=("-wdir", here)).ok().splitlines()[-1]
        expected = f"step {10 * step}, {processes} processes, sum {499500 + 10000 * step}"
        if said != expected:
            raise Broken(f"{here}: expected {expected}, got {said}")
    return "written and read on 4, 3, 1 and 4 hosts"


def trace(c):
    """The wrapper records a program on all hosts."""
    log = os.path.join(c.fresh("traced"), "heat.clog2")
    c.mpirun(8, "env", f"LD_PRELOAD={c.trace}", c.heat_plain, 60, 4, HPCW_TRACE_FILE=log, HPCW_TRACE_DIR="/dev/shm").ok()
    run(c.hpcgen, "verify", "--quiet", log).ok()
    said = run(c.hpcgen, "info", log).ok()
    ranks = re.search(r"^ranks: +(\d+)", said, re.MULTILINE)
    if ranks is None or ranks[1] != "8":
        raise Broken(f"{log}: expected 8 ranks, got: {said}")
    left = [name for host in c.hosts for name in host.do("ls", "/dev/shm").split() if name.endswith(".local")]
    if left:
        raise Broken(f"local files stay after the log is written: {left}")
    return "8 timelines; no local file stays"


CHECKS = (
    ("hosts", four, "-", "Open MPI"),
    ("hosts, MPICH", four_mpich, "-", "MPICH"),
    ("generator", generate, "shared directory", "Open MPI"),
    ("generator, MPICH", generate_mpich, "shared directory", "MPICH"),
    ("heat", heat, "shared directory", "Open MPI"),
    ("restart", restart, "shared directory", "Open MPI"),
    ("trace", trace, "shared directory, /dev/shm", "Open MPI"),
)
