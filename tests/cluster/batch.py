# SPDX-License-Identifier: BSD-3-Clause
"""Slurm on the hosts: its controller on the front end, and a daemon on each host."""
import os
import re
import shutil
import time

import plain
from hosts import HANG, Broken, Unable, do

CONFIG = """ClusterName=cluster
SlurmctldHost=front(10.77.0.254)
AuthType=auth/munge
AuthInfo=socket=/mnt/munge/socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
StateSaveLocation=/mnt/slurm
SlurmdSpoolDir=/tmp/slurmd
SlurmctldPidFile=/mnt/slurm/slurmctld.pid
SlurmdPidFile=/tmp/slurmd.pid
SlurmctldLogFile=/mnt/slurm/slurmctld.log
SlurmdLogFile=/tmp/slurmd.log
ReturnToService=2
SlurmdTimeout=10
KillWait=3
MpiDefault=none
SchedulerParameters=sched_interval=1,batch_sched_delay=0
NodeName=node[1-4] NodeAddr=10.77.0.[1-4] CPUs={cpus} State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP OverSubscribe=YES MaxTime=5
"""


def up(c):
    """Starts Slurm unless it is running."""
    if getattr(c, "slurm", False):
        return
    path = os.environ["PATH"] + ":/usr/sbin"
    for tool in ("slurmctld", "slurmd", "sbatch", "munged"):
        if shutil.which(tool, path=path) is None:
            raise Unable(f"{tool}: not installed")
    for place in ("/mnt/munge", "/mnt/slurm"):
        os.mkdir(place, 0o755)
    with open("/mnt/munge/key", "wb", opener=lambda name, flags: os.open(name, flags, 0o600)) as f:
        f.write(os.urandom(128))
    # One munge daemon serves all hosts: its socket is in a directory that all hosts see.
    do("/usr/sbin/munged", "--force", "--key-file=/mnt/munge/key", "--socket=/mnt/munge/socket",
       "--pid-file=/mnt/munge/pid", "--log-file=/mnt/munge/log", "--seed-file=/mnt/munge/seed")
    with open("/mnt/slurm/slurm.conf", "w") as f:
        f.write(CONFIG.format(cpus=os.cpu_count()))
    os.environ["SLURM_CONF"] = "/mnt/slurm/slurm.conf"
    do("/usr/sbin/slurmctld", "-c", "-f", "/mnt/slurm/slurm.conf")
    for host in c.hosts:
        start(host)
    wait_for("sinfo -h -o %T", lambda said: set(said.split()) == {"idle"})
    c.slurm = True


def start(host):
    host.do("/usr/sbin/slurmd", "-f", "/mnt/slurm/slurm.conf")


def wait_for(command, good):
    """Repeats a command until its output is as expected."""
    began = time.monotonic()
    while not good(said := do("sh", "-c", command)):
        if time.monotonic() > began + HANG:
            raise Broken(f"{command}: still {said!r}")
        time.sleep(0.3)
    return said


def job(c, script, *options):
    """Submits a script. Returns the job's number."""
    for name, value in c.OPENMPI.items():
        if name != "OMPI_MCA_plm_rsh_agent":  # Slurm starts them
            os.environ[name] = value
    said = do("sbatch", "--parsable", "--no-requeue", "--output", "/mnt/shared/job-%A-%a.out", *options,
              "--wrap", script, cwd="/mnt/shared")
    return said.strip()


def finish(number):
    """Waits for the end of a job. Returns the states of its tasks."""
    wait_for(f"squeue -h -j {number} -o %T || true", lambda said: said.split() == [])
    said = do("scontrol", "show", "job", number)
    return re.findall(r"JobState=(\S+)", said), said


def completed(number):
    states, said = finish(number)
    if set(states) != {"COMPLETED"}:
        output = do("sh", "-c", f"tail -n 20 /mnt/shared/job-{number}-*.out")
        raise Broken(f"job {number}: expected COMPLETED, got {states}: {output}")
    return said


def words(command):
    return " ".join(map(str, command))


def mpirun(c):
    """mpirun in an allocation, with Open MPI."""
    up(c)
    out = c.fresh("slurm.mpirun")
    completed(job(c, "mpirun " + words(plain.hpcgen(c, out)), "-N4", "-n8"))
    plain.same(plain.whole(c), out)
    return f"a job of 8 processes writes the files of one process, {plain.RANKS} ranks"


def srun(c):
    """srun with MPICH."""
    up(c)

    def launch(program, out):
        return c.limited("srun", "-N4", "-n8", "--mpi=pmi2", f"--export=ALL,LD_PRELOAD={c.yields}", program,
                         *plain.hpcgen(c, out)[1:])
    try:
        return plain.by_mpich(c, "slurm.srun", launch)
    finally:
        do("scancel", "--user=root")
        wait_for("squeue -h", lambda said: said == "")


def array(c):
    """An array job: each task writes its part, and a last job joins them."""
    up(c)
    out = "/mnt/shared/slurm.array"
    shutil.rmtree(out, ignore_errors=True)
    parts = job(c, words(plain.hpcgen(c, out)) + " --part $SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT", "--array=1-6")
    join = job(c, f"{c.hpcgen} join --quiet {out}", f"--dependency=afterok:{parts}")
    completed(parts)
    completed(join)
    plain.same(plain.whole(c), out)
    return "6 parts on 4 hosts, and a join after them: the files of one process"


def interrupted(c, out, harm):
    """Submits a job of a large dataset, harms it in the middle, and waits for its end."""
    number = job(c, "mpirun " + words(plain.big(c, out)), "-N4", "-n8")
    began = time.monotonic()
    while not os.path.exists(f"{out}/.hpcw") and time.monotonic() < began + HANG:
        time.sleep(0.1)
    time.sleep(1)
    harm(number)
    states, _ = finish(number)
    if "COMPLETED" in states:
        raise Unable("the job ended before it was interrupted")
    return states[0]


def cancelled(c):
    """A job is cancelled. Another job resumes the run."""
    up(c)
    out = c.fresh("slurm.cancelled")
    state = interrupted(c, out, lambda number: do("scancel", number))
    completed(job(c, "mpirun " + words(plain.big(c, out)) + " --resume", "-N4", "-n8"))
    plain.same(plain.big_whole(c), out)
    return f"{state}; the next job resumes: the files of one process"


def host_lost(c):
    """A host dies during a job. Another job resumes the run on the other hosts."""
    up(c)
    out = c.fresh("slurm.lost")
    state = interrupted(c, out, lambda _: c.hosts[2].down())
    began = time.monotonic()
    completed(job(c, "mpirun " + words(plain.big(c, out)) + " --resume --takeover", "-N3", "-n6", "-w", "node[1-2,4]"))
    plain.same(plain.big_whole(c), out)
    c.hosts[2] = c.hosts[2].again()
    start(c.hosts[2])
    wait_for("sinfo -h -o %T", lambda said: set(said.split()) == {"idle"})
    return f"{state}; the next job resumes on three hosts in {time.monotonic() - began:.0f} s: the files of one process"


FILES = "shared directory"
CHECKS = (
    ("Slurm mpirun", mpirun, FILES, "Slurm, Open MPI"),
    ("Slurm srun", srun, FILES, "Slurm, MPICH"),
    ("Slurm array", array, FILES, "Slurm"),
    ("Slurm cancelled", cancelled, FILES, "Slurm, Open MPI"),
    ("Slurm host dies", host_lost, FILES, "Slurm, Open MPI"),
)
