# SPDX-License-Identifier: BSD-3-Clause
"""Writers of several processes: `mpiexec -n 2 python3 together.py`. Skipped unless mpi4py is there and
uses the same MPI as libhpcw_mpi."""
import shutil
import sys
import tempfile

try:
    from mpi4py import MPI
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)
import numpy as np

import hpcw
from hpcw.clog2 import MESSAGES, STATES

comm = MPI.COMM_WORLD


def write(scratch):
    with hpcw.sion_create(f"{scratch}/x.sion", comm=comm, chunk_size=1 << 16) as f:
        assert f.tasks == comm.size
        f.write(f.first_task, np.arange(10 * (comm.rank + 1)))
    with hpcw.links_create(f"{scratch}/r.sion", 4, comm) as f:
        for task in f.own:
            f.write(task, np.full(4, 1e-6 * (task + 1)), "node", task)
    with hpcw.log_create(f"{scratch}/app.clog2", comm.size, comm) as f:
        f.write(np.array([(comm.rank, 0, 0, 0, 0.5, 1.0)], STATES), names=["Step"])
    with hpcw.checkpoint_create(f"{scratch}/scr", 1, comm) as f:
        f.write(f.first_rank, f"rank_{f.first_rank}", b"abc")
    comm.barrier()
    if comm.rank == 0:
        assert np.array_equal(hpcw.open(f"{scratch}/x.sion").read(comm.size - 1, "i8"), np.arange(10 * comm.size))
        assert len(hpcw.open(f"{scratch}/app.clog2").states()) == comm.size
        for name in ("x.sion", "r.sion", "app.clog2", "scr"):
            assert hpcw.verify(f"{scratch}/{name}")["ok"]


def fail(scratch):
    """An exception on one process is raised on all."""
    for create in (lambda path: hpcw.sion_create(path, comm=comm), lambda path: hpcw.links_create(path, 4, comm),
                   lambda path: hpcw.log_create(path, 2, comm), lambda path: hpcw.checkpoint_create(path, 1, comm, id=2)):
        try:
            with create(f"{scratch}/bad"):
                if comm.rank == comm.size - 1:
                    raise KeyError("broken")
            raise AssertionError("expected a failure, got none")
        except KeyError:
            assert comm.rank == comm.size - 1
        except hpcw.HpcwError:
            assert comm.rank < comm.size - 1


class Foreign(Exception):
    """An exception whose members are not those of hpcw, and whose text no C string holds."""
    status = 404


def give_up(scratch):
    """Whatever the exception of a process is, the others do not wait for it."""
    for create in (lambda path: hpcw.sion_create(path, comm=comm), lambda path: hpcw.log_create(path, 2, comm)):
        try:
            with create(f"{scratch}/none"):
                if comm.rank == 1:
                    raise Foreign("not UTF-8: \udcff, NUL: \0")
            raise AssertionError("expected a failure, got none")
        except Foreign:
            assert comm.rank == 1
        except hpcw.HpcwValueError as failure:
            assert comm.rank != 1 and "not UTF-8" in str(failure)


def make(scratch):
    """If one process has wrong arguments, all processes raise its exception."""
    wrong = comm.rank == 1
    for create in (lambda path: hpcw.sion_create(path, ranks=[-1 if wrong else comm.rank], comm=comm),
                   lambda path: hpcw.sion_create("\0" if wrong else path, comm=comm),
                   lambda path: hpcw.links_create(path, 4, comm, messages=-1 if wrong else 1),
                   lambda path: hpcw.log_create(path, 2, comm, sync="" if wrong else "none"),
                   lambda path: hpcw.checkpoint_create(path, 1, comm, layout="" if wrong else "scr-3")):
        try:
            create(f"{scratch}/none")
            raise AssertionError("expected a failure, got none")
        except hpcw.HpcwValueError as failure:
            assert wrong or str(failure).startswith(f"{scratch}/none: ")


def refuse(scratch):
    """If process 0 fails to write a log at the close, all processes raise the exception."""
    f = hpcw.log_create(f"{scratch}/refused.clog2", 2, comm)
    f.write(messages=np.array([(0, 1, 0, 1 << 32, 8, 0.25, 0.5)], [(name, "i8" if name == "tag" else kind)
                                                                   for name, kind in MESSAGES]))
    try:
        f.close()
        raise AssertionError("expected a failure, got none")
    except ValueError as failure:
        assert "tag: expected numbers of 32 bits" in str(failure)


scratch = comm.bcast(tempfile.mkdtemp() if comm.rank == 0 else None)
try:
    write(scratch)
    fail(scratch)
    give_up(scratch)
    make(scratch)
    refuse(scratch)
except hpcw.HpcwLibraryError as other:
    print(f"skipped: {other}")
    sys.exit(77)
finally:
    if comm.rank == 0:
        shutil.rmtree(scratch)
