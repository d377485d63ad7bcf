# SPDX-License-Identifier: BSD-3-Clause
"""MooseFS on the hosts: the master on the front end; a data server and a mount on each host."""
import json
import os
import shutil
import time

import plain
from hosts import HANG, Broken, Run, Unable, do, run

PLACE = "/mnt/mfs"
FILES = "MooseFS"

# The space of removed files is free again after a minute, not after hours.
MASTER = """WORKING_USER = root
WORKING_GROUP = root
DATA_PATH = {data}
EXPORTS_FILENAME = {data}/exports.cfg
LOCK_MEMORY = 0
CHUNKS_LOOP_MIN_TIME = 60
CHUNKS_SOFT_DEL_LIMIT = 200
CHUNKS_HARD_DEL_LIMIT = 500
"""
SERVER = """WORKING_USER = root
WORKING_GROUP = root
DATA_PATH = /mnt/local/mfs
HDD_CONF_FILENAME = /mnt/local/mfs/hdd.cfg
MASTER_HOST = front
LOCK_MEMORY = 0
HDD_LEAVE_SPACE_DEFAULT = 16MiB
"""


def write(path, text):
    with open(path, "w") as f:
        f.write(text)


def mounted(c):
    """Mounts MooseFS on all hosts unless it is mounted. Returns the directory."""
    if getattr(c, "mfs", False):
        return PLACE
    for tool in ("mfsmaster", "mfschunkserver", "mfsmount"):
        if shutil.which(tool, path=os.environ["PATH"] + ":/usr/sbin") is None:
            raise Unable(f"{tool}: not installed")
    if not os.path.exists("/dev/fuse"):
        raise Unable("/dev/fuse: not on this machine")
    data = "/mnt/mfsmaster"
    os.mkdir(data)
    shutil.copy("/var/lib/mfs/metadata.mfs.empty", f"{data}/metadata.mfs")
    write(f"{data}/exports.cfg", "* / rw,alldirs,admin,maproot=0:0\n")
    write(f"{data}/master.cfg", MASTER.format(data=data))
    do("/usr/sbin/mfsmaster", "-c", f"{data}/master.cfg", "start")
    write("/mnt/chunkserver.cfg", SERVER)
    for host in c.hosts:
        host.do("sh", "-c", "mkdir -p /mnt/local/mfs /mnt/local/chunks && echo /mnt/local/chunks >/mnt/local/mfs/hdd.cfg")
        host.do("/usr/sbin/mfschunkserver", "-c", "/mnt/chunkserver.cfg", "start")
    for host in c.hosts:
        host.do("mfsmount", PLACE, "-H", "front")
    do("mfsmount", PLACE, "-H", "front")
    # One copy of each byte, and no trash that keeps removed files.
    do("mfssetgoal", "-r", "1", PLACE)
    do("mfssettrashtime", "-r", "0", PLACE)
    wait_for_servers(c)
    c.mfs = True
    return PLACE


def wait_for_servers(c):
    """Waits until the servers have registered, since there is no space before."""
    began = time.monotonic()
    while time.monotonic() < began + HANG:
        try:
            for host in c.hosts:
                host.do("dd", "if=/dev/zero", f"of={PLACE}/.first", "bs=64k", "count=1", "conv=fsync")
            return
        except RuntimeError:
            time.sleep(0.2)
    raise Unable(f"{PLACE}: its servers do not come up")


# With one argument, locks a file. With two, prints what the file system lacks while another host has this lock.
PROBE = """
import ctypes, errno, fcntl, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64]
path = sys.argv[1]
fd = os.open(path, os.O_RDWR | os.O_CREAT)
lock = struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 1, 0)
if len(sys.argv) == 2:
    fcntl.fcntl(fd, 37, lock)  # F_OFD_SETLK
    print("ready", flush=True)
    sys.stdin.readline()
    sys.exit()
try:
    fcntl.fcntl(fd, 37, lock)
    print("locks between hosts")
except BlockingIOError:
    pass
if libc.fallocate(fd, 0, 0, 1 << 20) != 0:
    print("fallocate:", errno.errorcode[ctypes.get_errno()])
if libc.renameat2(-100, (path + ".a").encode() if open(path + ".a", "w") else 0, -100, (path + ".b").encode(), 1) != 0:
    print("RENAME_NOREPLACE:", errno.errorcode[ctypes.get_errno()])
try:
    os.open(path, os.O_RDWR | os.O_DIRECT)
except OSError as e:
    print("O_DIRECT:", errno.errorcode[e.errno])
try:
    os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL)
    print("O_EXCL")
except FileExistsError:
    pass
"""

# Opens the same new files as the same program on another host, at the same times.
AT_ONCE = """
import os, sys, time
begin, failed = float(sys.argv[2]), 0
for i in range(100):
    time.sleep(max(0, begin + 0.01 * i - time.time()))
    while time.time() < begin + 0.01 * i:
        pass
    try:
        os.close(os.open(f"{sys.argv[1]}.{i}", os.O_RDWR | os.O_CREAT))
    except FileExistsError:
        failed += 1
print(failed)
"""


def lacks(c):
    """Returns which services of a file system MooseFS lacks. These are no faults of the product."""
    here = c.fresh("probe", below=mounted(c))
    write("/mnt/probe.py", PROBE)
    write("/mnt/at_once.py", AT_ONCE)
    holder = Run(c.hosts[0].enter() + [f"exec python3 /mnt/probe.py {here}/file"], talks=True)
    if holder.process.stdout.readline() != "ready\n":
        raise Broken(f"{holder}: {holder.end().output}")
    found = c.hosts[1].run("python3", "/mnt/probe.py", f"{here}/file", "other").ok().splitlines()
    holder.process.stdin.close()
    begin = time.time() + 0.5
    racing = [Run(host.enter() + [f"python3 /mnt/at_once.py {here}/new {begin}"]) for host in c.hosts[:2]]
    failed = sum(int(one.end().ok()) for one in racing)
    found += [f"O_CREAT by two hosts at once: EEXIST ({failed} of 200)"] if failed else []
    return "lacks: " + ("; ".join(found) or "nothing that was tried")


def generate(c):
    """hpcgen on eight processes."""
    out = c.fresh("eight", below=mounted(c))
    c.mpirun(8, *plain.hpcgen(c, out)).ok()
    plain.same(plain.whole(c), out)
    c.mpirun(4, c.hpcgen, "verify", "--quiet", out).ok()
    return f"the files of one process, {plain.RANKS} ranks in all formats; each host verifies a part"


def lease(c):
    """Only one run at a time may use a directory, even if the other is on another host."""
    out = c.fresh("lease", below=mounted(c))
    one, other = c.hosts[:2]
    first = Run(one.enter() + ["exec " + " ".join(map(str, plain.hpcgen(c, out)))])
    first.wait_for(f"{out}/.hpcw/lease")
    other.run(*plain.hpcgen(c, out), "--resume").refused(f"got one that writes here: process [0-9]+ on {one.name}")
    first.process.kill()
    one.do("sh", "-c", "kill -9 $(pgrep hpcgen) || true")
    first.end()
    other.run(*plain.hpcgen(c, out), "--resume").refused("cannot know from here whether it still runs")
    other.run(*plain.hpcgen(c, out), "--resume", "--takeover").ok()
    plain.same(plain.whole(c), out)
    return "refused while the first runs, and after it died, until --takeover; then the files of one process"


def heat(c):
    """Runs the example that writes all formats on MooseFS."""
    return plain.heat(c, mounted(c))


def restart(c):
    """A program restarts from its checkpoints on other numbers of hosts."""
    return plain.restart(c, mounted(c))


def trace_there(c):
    """If HPCW_TRACE_DIR is on the distributed file system, the wrapper records in memory and says so."""
    here = c.fresh("traced", below=mounted(c))
    said = c.mpirun(4, "env", f"LD_PRELOAD={c.trace}", c.heat_plain, 60, 4, HPCW_TRACE_FILE=f"{here}/heat.clog2",
                    HPCW_TRACE_DIR=here)
    if "recorded in memory" not in said.ok():
        raise Broken(f"{said}: expected a message that records were in memory, got: {said.output}")
    run(c.hpcgen, "verify", "--quiet", f"{here}/heat.clog2").ok()
    return said.output[said.output.index("4 threads"):].splitlines()[0]


def bench(c):
    """hpcw-bench on four processes: every layout and mode, all data read back. With SION's blocks of
    4K, the four hosts share a block of the file system at each of their 3 boundaries."""
    here, out = c.fresh("bench", below=mounted(c)), "/mnt/shared/bench"
    shutil.rmtree(out, ignore_errors=True)
    c.mpirun(4, c.bench, here, "--quiet", "--verify", "--ranks", 16, "--blocksize", "4K,64K", "--record", "64K", "--per-rank",
             "64K", "--repeat", 1, "--budget", "50s", "--out", out, "--mode", "fsync,direct,preallocated").ok()
    with open(f"{out}/results.json", encoding="utf-8") as f:
        points = json.load(f)["points"]
    fates = [point["fate"] for point in points]
    shared = {point["id"]: point["file_system_blocks"]["shared_by_hosts"] for point in points if point["fate"] == "measured"}
    borders = shared["sion-aligned/fsync/4K"], shared["sion-aligned/fsync/64K"]
    if borders != (3, 0):
        raise Broken(f"blocks that hosts share, with SION's blocks of 4K and 64K: expected 3 and 0, got {borders}")
    return (f"{len(points)} points: " + ", ".join(f"{fates.count(fate)} {fate}" for fate in sorted(set(fates))) +
            "; with SION's blocks of 4K, hosts share 3 blocks, with 64K none")


CHECKS = (
    ("MooseFS", lacks, FILES, "-"),
    ("MooseFS generator", generate, FILES, "Open MPI"),
    ("MooseFS lease", lease, FILES, "none"),
    ("MooseFS heat", heat, FILES, "Open MPI"),
    ("MooseFS restart", restart, FILES, "Open MPI"),
    ("MooseFS trace", trace_there, FILES, "Open MPI"),
    ("MooseFS bench", bench, FILES, "Open MPI"),
)
