# SPDX-License-Identifier: BSD-3-Clause
"""Failures on several hosts: each gives a helpful error or a result, and no run hangs."""
import os
import re
import signal
import time

import plain
from hosts import Broken, Run, run

SHARE = "use an absolute path on a file system that all hosts share"


def node_local(c):
    """A path that names a different directory on each host."""
    c.mpirun(4, *plain.hpcgen(c, "/mnt/local/data")).refused(SHARE)
    c.mpirun(4, c.heat, "/mnt/local/heat", 60, 1).refused("/mnt/local/heat: No such file or directory")
    for host in c.hosts:
        host.do("mkdir", "-p", "/mnt/local/heat")
    c.mpirun(4, c.heat, "/mnt/local/heat", 60, 1).refused(SHARE)
    c.mpirun(4, c.bench, "/mnt/local", "--quiet", "--budget", "20s", "--out", "/mnt/shared/never").refused(SHARE)
    log = "/mnt/local/heat.clog2"
    said = c.mpirun(4, "env", f"LD_PRELOAD={c.trace}", c.heat_plain, 60, 1, HPCW_TRACE_FILE=log)
    if "nothing is recorded" not in said.ok():
        raise Broken(f"{said}: expected a message that nothing is recorded, got: {said.output}")
    # Only parameters.json may be left: hpcgen keeps the description of a dataset that it has begun.
    left = [f"{host.name}: {name}" for host in c.hosts for name in
            host.do("find", "/mnt/local", "-type", "f", "-not", "-path", "*/mfs/*", "-not", "-path", "*/chunks/*", "-not", "-name",
                    "parameters.json").split()]
    if left:
        raise Broken(f"files are left: {left}")
    return "hpcgen, the library, hpcw-bench and the wrapper refuse it on all processes"


def disappears(c):
    """A host dies while hpcgen runs, and the run is resumed on the other hosts."""
    out, one = c.fresh("lost"), plain.big_whole(c)
    results = []
    for victim in (2, 0):
        made = c.mpirun(8, *plain.big(c, out), started=True)
        made.wait_for(out + "/.hpcw")
        time.sleep(1)
        c.hosts[victim].down()
        made.end()
        results.append(f"{made.seconds:.0f} s")
        c.hosts[victim] = c.hosts[victim].again()
        if made.status == 0:
            raise Broken(f"{made}: a host died, but the status is 0")
        left = [host for host in c.hosts if host.number != victim + 1]
        c.mpirun(6, *plain.big(c, out), "--resume", "--takeover", hosts=left).ok()
        plain.same(one, out)
        out = c.fresh("lost")
    return f"ends after {' and '.join(results)}; resumed on three hosts: the files of one process"


def one_name(c):
    """Two hosts have the same name. Files that a dead process left on one host do not count as those of the other host."""
    out = c.fresh("one_name")
    first, second = c.hosts[0], c.hosts[1]
    second.do("hostname", first.name)
    try:
        first.do("sh", "-c", " ".join(map(str, plain.big(c, out))) +
                 f" & until [ -e {out}/.hpcw/lease ]; do sleep 0.01; done; sleep 0.1; kill -9 $!; wait")
        left = second.run(*plain.big(c, out), "--resume")
        left.refused("cannot know from here whether it still runs: if it does not, --takeover")
        first.run(*plain.big(c, out), "--resume").ok()
    finally:
        second.do("hostname", second.name)
    return "a lease that the other host left is refused there; its own host resumes"


# Slows a host down by stopping its processes. Delays by netem of tc would need a kernel module that many kernels lack.
SLOW = "while :; do kill -STOP -1; sleep 0.02; kill -CONT -1; sleep 0.002; done"


def slow(c):
    """One host is slow: all its processes are stopped nine tenths of the time."""
    out = c.fresh("slow")
    brake = Run(c.hosts[2].enter() + [SLOW])
    try:
        made = c.mpirun(8, *plain.hpcgen(c, out))
        made.ok()
        plain.same(plain.whole(c), out)
        heat_s = time.monotonic()
        plain.heat(c)
        heat_s = time.monotonic() - heat_s
    finally:
        os.killpg(brake.process.pid, signal.SIGKILL)
        c.hosts[2].do("sh", "-c", "kill -CONT -1")
    return f"hpcgen writes the files of one process in {made.seconds:.0f} s, the heat example takes {heat_s:.0f} s"


def full(c):
    """The directory of local files is full on one host."""
    victim = c.hosts[1]
    for host in c.hosts:
        host.do("mkdir", "-p", "/tmp/records")
    victim.do("mount", "-t", "tmpfs", "-o", "size=64k", "small", "/tmp/records")
    try:
        log = c.fresh("full") + "/heat.clog2"
        made = c.mpirun(4, "env", f"LD_PRELOAD={c.trace}", c.heat_plain, 60, 4, HPCW_TRACE_FILE=log,
                        HPCW_TRACE_DIR="/tmp/records")
        if "1 threads recorded in memory, not in local files" not in made.ok():
            raise Broken(f"{made}: expected a message of one thread, got: {made.output}")
        run(c.hpcgen, "verify", "--quiet", log).ok()
    finally:
        victim.do("umount", "/tmp/records")
    return "its process records in memory, and says so; the log is whole"


def gathered(c):
    """A program dies on all hosts. Its local files are gathered and become a log by the commands of
    doc/tracing.md."""
    here = c.fresh("gathered")
    made = c.mpirun(8, "env", f"LD_PRELOAD={c.trace}", c.heat_plain, 60, 100000, started=True,
                    HPCW_TRACE_FILE=f"{here}/heat_plain.clog2")
    time.sleep(8)
    c.hosts[3].do("sh", "-c", "kill -9 $(pgrep example_heat)")
    if made.end().status == 0 or os.listdir(here):
        raise Broken(f"{made}: killed, but it has status {made.status}, or a log: {os.listdir(here)}")
    with open("/mnt/source/doc/tracing.md", encoding="utf-8") as f:
        commands = re.findall("^    ((?:mpirun|hpcgen recover).*/shared/.*)$", f.read(), re.MULTILINE)
    if len(commands) != 2:
        raise Broken(f"doc/tracing.md: expected two commands with /shared/, got {commands}")
    with open("/mnt/hosts.mpi", "w") as f:
        f.writelines(f"{host.name} slots=2\n" for host in c.hosts)
    for command in commands:
        run("sh", "-c", f"cd {here}; PATH=$PATH:{os.path.dirname(c.hpcgen)}; " + command.replace("/shared/", here + "/"),
            OMPI_MCA_orte_default_hostfile="/mnt/hosts.mpi", **c.OPENMPI).ok()
    pieces = [name for name in os.listdir(here) if name.endswith(".local")]
    if len(pieces) != 8:
        raise Broken(f"{here}: expected 8 local files, got {pieces}")
    run(c.hpcgen, "verify", "--quiet", f"{here}/heat_plain.clog2").ok()
    for host in c.hosts:
        host.do("sh", "-c", "rm /tmp/heat_plain.clog2.*.local")
    return f"8 local files, {sum(os.path.getsize(f'{here}/{name}') for name in pieces) >> 20} MiB; the log of them is sound"


CHECKS = (
    ("node-local path", node_local, "/mnt/local of each host", "Open MPI"),
    ("host disappears", disappears, "shared directory", "Open MPI"),
    ("equal names", one_name, "shared directory", "none"),
    ("slow host", slow, "shared directory", "Open MPI"),
    ("full local disk", full, "shared directory, /tmp", "Open MPI"),
    ("died, gathered", gathered, "shared directory, /tmp", "Open MPI"),
)
