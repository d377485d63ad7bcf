# SPDX-License-Identifier: BSD-3-Clause
"""Hosts that are namespaces of this machine, and programs that run on them.

The front end is this script in namespaces of its own: processes, mounts, network, host name. The kernel removes all of them
when the script ends in any way, so no clean-up is needed. A host is a child process of the front end with its own namespaces,
also for clocks and shared memory. A bridge connects the hosts; no packet leaves the front end.

All hosts see below /mnt: shared/ (one directory), build/ (the programs), source/. Each host has its own /tmp, /dev/shm and
/mnt/local.
"""
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import time

INSIDE = "CLUSTER_INSIDE"
ROOT = "/mnt"
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HANG = 60  # seconds, after which a run hangs
LIMIT = 1800  # seconds, after which the kernel ends it all
MPICH_HANG = 20  # seconds
CRASH = re.compile(r"[Ss]ignal:? (4|6|7|8|11|31)\b|Segmentation fault|Assertion .* failed")
FRONT = "front"


class Broken(Exception):
    """A check failed."""


class Hangs(Broken):
    """A run that does not end."""

    def __init__(self, made, output):
        super().__init__(f"hangs: {made}: {output[-2000:]}")
        self.output = output


class Unable(Exception):
    """This machine cannot run the check."""


def do(*command, **how):
    """Runs a command that must succeed. Returns its output."""
    made = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False, timeout=HANG, **how)
    if made.returncode != 0:
        raise RuntimeError(f"{shlex.join(map(str, command))}: status {made.returncode}: {made.stdout.strip()}")
    return made.stdout


def in_own_namespaces(command):
    """Runs this command again as the front end. Returns its exit status, and leaves no file."""
    scratch = tempfile.mkdtemp(prefix="hpcw-cluster.")
    own = ["setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "--propagation", "private", "--net", "--uts", "--ipc",
           "--pid", "--fork", "--kill-child", "--mount-proc"]
    front = subprocess.Popen(own + command, env=dict(os.environ, **{INSIDE: scratch}))
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: front.kill())
    try:
        return front.wait(LIMIT)
    except subprocess.TimeoutExpired:
        front.kill()
        print(f"cluster: FAILED: not done after {LIMIT} s")
        return 1
    finally:
        front.wait()
        os.rmdir(scratch)


class Run:
    """A program, possibly with many processes. It starts at once. `talks`: its standard input is open."""

    def __init__(self, command, talks=False, **environment):
        self.command = [str(word) for word in command]
        self.began = time.monotonic()
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE if talks else subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, start_new_session=True, errors="replace", text=True,
                                        cwd="/mnt/shared", env=dict(os.environ, **environment))

    def wait_for(self, path):
        """Waits until a file exists, or to the end of the run."""
        while not os.path.exists(path) and self.process.poll() is None and time.monotonic() < self.began + HANG:
            time.sleep(0.005)

    def end(self, seconds=HANG):
        """Waits for the end of the run. Returns the run."""
        try:
            self.output = self.process.communicate(timeout=seconds)[0].strip()
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            raise Hangs(self, self.process.communicate()[0].strip()) from None
        self.seconds = time.monotonic() - self.began
        self.status = self.process.returncode
        if CRASH.search(self.output):
            raise Broken(f"crashes: {self}: status {self.status}: {self.output[-2000:]}")
        return self

    def ok(self):
        """Checks that the run ended with status 0. Returns the output of the run."""
        if self.status != 0:
            raise Broken(f"{self}: status {self.status}: {self.output[-3000:]}")
        return self.output

    def refused(self, what):
        """Checks that the run failed with a message that matches `what`. Returns the output of the run."""
        if self.status == 0 or not re.search(what, self.output):
            raise Broken(f"{self}: status {self.status}, expected a failure and {what!r}, got: {self.output[-3000:]}")
        return self.output

    def __str__(self):
        return shlex.join(self.command)


def run(*command, **environment):
    """Runs a program to its end."""
    return Run(command, **environment).end()


class Host:
    """A host: its namespaces, held by its first process."""

    def __init__(self, cluster, number, clock_s=0):
        self.cluster, self.number, self.clock_s = cluster, number, clock_s
        self.name = f"node{number}"
        self.address = f"10.77.0.{number}"
        self.first = None

    # A host has its own boot ID, by which the product tells hosts apart.
    SCRIPT = """
set -eu
hostname "$1"
mount -t tmpfs -o size=2g tmp /tmp
mount -t tmpfs -o size=2g shm /dev/shm
mount -t tmpfs -o size=2g local /mnt/local
cat /proc/sys/kernel/random/uuid >/tmp/.boot_id
mount --bind /tmp/.boot_id /proc/sys/kernel/random/boot_id
ip link set lo up
echo up
exec sleep infinity
"""

    def up(self):
        """Makes the namespaces and a link to the bridge."""
        own = ["unshare", "--net", "--uts", "--ipc", "--mount", "--pid", "--time", "--fork", "--kill-child", "--mount-proc",
               "--monotonic", str(self.clock_s), "--boottime", str(self.clock_s)]
        holder = subprocess.Popen(own + ["sh", "-c", self.SCRIPT, "host", self.name], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
        said = holder.stdout.readline().strip()
        if said != "up":
            raise Unable(f"{self.name} cannot be made: {said}")
        with open(f"/proc/{holder.pid}/task/{holder.pid}/children") as f:
            self.first = int(f.read().split()[0])
        with open(f"/mnt/hosts/{self.name}", "w") as f:
            f.write(str(self.first))
        self.holder = holder
        link = f"to-{self.name}"
        do("ip", "link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", self.first)
        do("ip", "link", "set", link, "master", "bridge", "up")
        self.do("ip", "address", "add", f"{self.address}/24", "dev", "eth0")
        self.do("ip", "link", "set", "eth0", "up")

    def down(self):
        """The host disappears at once with all its processes, without a message."""
        self.holder.kill()
        self.holder.wait()
        subprocess.run(["ip", "link", "delete", f"to-{self.name}"], check=False, stderr=subprocess.DEVNULL)

    def again(self):
        """Makes a host of this name after this one is down. It is another host: its boot ID is new and its disks
        are empty."""
        new = Host(self.cluster, self.number, self.clock_s)
        new.up()
        return new

    def enter(self):
        return ["/mnt/agent", self.name]

    def do(self, *command):
        return do(*self.enter(), shlex.join(map(str, command)))

    def run(self, *command, **environment):
        words = ["env", *(f"{key}={value}" for key, value in environment.items()), *map(str, command)]
        return run(*self.enter(), shlex.join(words))


# Does what ssh would do for the launchers of MPICH and Open MPI. MPICH's launcher passes options of ssh. Both launchers
# pass the command as several words, which a shell has to parse.
AGENT = """#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
first=$(cat "/mnt/hosts/$1") || exit 255
shift
exec nsenter --target "$first" --mount --uts --ipc --net --pid --time -- sh -c "cd ${PWD:-/}; $*"
"""


class Cluster:
    """The front end and its hosts."""

    def __init__(self, build, mpich, count=4):
        # The clocks begin 10^2 to 10^8 seconds (3 years) after the boot.
        self.hosts = [Host(self, number, clock_s=10 ** (2 * number)) for number in range(1, count + 1)]
        self.seen_below_mnt = {"build": build, "mpich": mpich, "source": SOURCE}
        self.hpcgen, self.bench = "/mnt/build/gen/hpcgen", "/mnt/build/bench/hpcw-bench"
        self.yields = "/mnt/build/tests/libyield.so"
        self.trace = "/mnt/build/libwriter/libhpcw_trace.so"
        self.heat, self.heat_plain, self.restart = (f"/mnt/build/tests/examples/example_{name}"
                                                    for name in ("heat", "heat_plain", "restart"))
        self.seen, self.clock, self.drift = (f"/mnt/build/tests/cluster/{name}" for name in ("seen", "clock", "libdrift.so"))

    def up(self):
        scratch = os.environ[INSIDE]
        do("mount", "-t", "tmpfs", "-o", "size=8g", "cluster", scratch)
        for name in ("shared", "local", "hosts", "mfs"):
            os.mkdir(os.path.join(scratch, name))
        for name, path in self.seen_below_mnt.items():
            os.mkdir(os.path.join(scratch, name))
            if path:
                do("mount", "--rbind", path, os.path.join(scratch, name))
        do("mount", "--rbind", scratch, ROOT)
        with open("/mnt/agent", "w") as f:
            f.write(AGENT)
        os.chmod("/mnt/agent", 0o755)
        with open("/mnt/hosts.txt", "w") as f:
            f.write("127.0.0.1 localhost\n10.77.0.254 front\n")
            f.writelines(f"{host.address} {host.name}\n" for host in self.hosts)
        do("mount", "--bind", "/mnt/hosts.txt", "/etc/hosts")
        for place in ("/tmp", "/dev/shm"):
            do("mount", "-t", "tmpfs", "-o", "size=2g", "front", place)
        os.environ["TMPDIR"] = "/tmp"
        os.chdir("/mnt/shared")
        do("hostname", FRONT)
        do("ip", "link", "set", "lo", "up")
        do("ip", "link", "add", "bridge", "type", "bridge")
        do("ip", "address", "add", "10.77.0.254/24", "dev", "bridge")
        do("ip", "link", "set", "bridge", "up")
        for host in self.hosts:
            host.up()

    # ---- programs on several hosts

    OPENMPI = {
        "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_plm_rsh_agent": "/mnt/agent",
        "OMPI_MCA_hwloc_base_binding_policy": "none",
        "OMPI_MCA_mpi_yield_when_idle": "1",
    }

    def mpirun(self, processes, *command, hosts=None, mpi=(), started=False, **environment):
        """Runs a program with this many processes, equally many on each of these hosts. `started`: does not wait
        for it."""
        hosts = hosts or self.hosts
        slots = -(-processes // len(hosts))
        exported = [word for name in environment for word in ("-x", name)]
        words = ["mpirun", "-np", processes, "--host", ",".join(f"{host.name}:{slots}" for host in hosts), *mpi, *exported,
                 *command]
        made = Run(words, **self.OPENMPI, **environment)
        return made if started else made.end()

    def limited(self, *command):
        """Runs a program of MPICH. MPICH 4.0.2 with UCX often hangs in MPI_Finalize if there are several hosts, even in a
        program that only calls MPI_Barrier. A run that hangs is ended, and gets the status None."""
        made = Run(command)
        try:
            made.end(MPICH_HANG)
        except Hangs as what:
            made.status, made.output = None, what.output
            for host in self.hosts:
                host.do("sh", "-c", "kill -9 $(pgrep hydra_pmi) $(pgrep -f '^/mnt/(mpich|seen)') 2>/dev/null || true")
        return made

    def mpich(self, processes, *command):
        """Runs a program with this many processes on all hosts, by MPICH's own launcher."""
        # MPICH's processes wait without yielding the processor, and there are more processes than processors.
        return self.limited("mpiexec.hydra", "-launcher", "ssh", "-launcher-exec", "/mnt/agent", "-n", processes,
                            "-genv", "LD_PRELOAD", self.yields, "-hosts", ",".join(host.name for host in self.hosts),
                            *command)

    def fresh(self, name, below="/mnt/shared"):
        """Returns the path of an empty directory."""
        path = os.path.join(below, name)
        shutil.rmtree(path, ignore_errors=True)
        os.mkdir(path)
        return path
