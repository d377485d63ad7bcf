# SPDX-License-Identifier: BSD-3-Clause
"""The kinds of harm, and what must hold after each:

- If a run ends with status 0, `hpcgen verify` accepts the dataset, and its bytes are those of an undisturbed run.
- After any other end, `hpcgen verify` refuses the dataset, and each file with a final name has its final bytes.
  A run that failed by itself leaves no temporary file.
- A resumed run ends with the bytes of an undisturbed run.
- No program hangs or crashes.

A kind is a function that gets a Harm and runs in an empty directory of its own. It raises runs.Broken if one of these
rules is broken. It returns the number of its tries; None means 1.
"""
import json
import os
import re
import shutil
import signal
import subprocess
import time

import runs

OUT = "out"
# Latest moment of harm, as a multiple of the duration of an undisturbed run. At the harm, no, some or all files are written.
LATEST = 1.3


def formats_of(hpcgen):
    """Returns the names of all formats."""
    return list(json.loads(runs.run(hpcgen, "list", "--json").output)["formats"])


class Dataset:
    """Arguments of hpcgen, and the result of an undisturbed run."""

    def __init__(self, given, luck, directory):
        self.directory = directory
        self.checksums = luck.random() < 0.8
        formats = formats_of(given.hpcgen)
        self.arguments = [
            "--ranks", 2 * luck.randint(4, 128), "--seed", luck.randrange(1000), "--files", luck.randint(1, 4),
            "--scale", luck.choice(("tiny", "small")),
            "--formats", ",".join(sorted(luck.sample(formats, luck.randint(1, len(formats))))),
            "--checksums" if self.checksums else "--no-checksums",
        ]
        if luck.random() < 0.2:
            self.arguments.append("--sync")
        made = runs.run(given.hpcgen, "--quiet", "--out", directory, *self.arguments)
        if made.status != 0:
            raise RuntimeError(f"an undisturbed run fails: {made}: {made.output}")
        self.seconds = made.seconds
        self.tree = runs.tree(directory)
        self.sizes = {name: os.path.getsize(os.path.join(directory, name)) for name in self.tree}


class Harm:
    """What a function of a kind uses: its random numbers, a dataset, and the checks."""

    def __init__(self, given, luck, dataset, mounts, number):
        self.given, self.luck, self.dataset, self.mounts, self.number = given, luck, dataset, mounts, number

    def hpcgen(self, *more, dataset=None):
        """The command that makes the dataset."""
        return [self.given.hpcgen, "--quiet", "--out", OUT, *(dataset or self.dataset).arguments,
                "--jobs", self.luck.randint(1, 4), *more]

    def processes(self):
        if self.given.mpiexec is None:
            raise runs.Unable("no MPI")
        return self.luck.randint(2, 8)

    def program(self, name):
        path = getattr(self.given, name)
        if path is None:
            raise runs.Unable(f"no {name}")
        return path

    def moment(self, seconds=None):
        """Returns a random time from 0 to LATEST times the duration of an undisturbed run, in seconds."""
        return self.luck.uniform(0, LATEST * (seconds or self.dataset.seconds))

    def signal(self):
        return self.luck.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGTERM))

    # ---- checks after a run

    def verify(self, path, *more):
        """Runs `hpcgen verify` on a path and returns this run. If hpcgen refuses the path, it must give one line as reason."""
        verdict = runs.run(self.given.hpcgen, "verify", "--quiet", path, *more)
        if verdict.status not in (0, 1) or (verdict.status == 1) != (verdict.output.count("hpcgen: ") == 1):
            raise runs.Broken(f"{verdict}: status {verdict.status}: {verdict.output}")
        return verdict

    def whole(self, by, dataset=None):
        """Checks the dataset after `by` ended with status 0."""
        verdict = self.verify(OUT)
        if verdict.status != 0:
            raise runs.Broken(f"{by}: status 0, but {verdict.output}")
        want, got = (dataset or self.dataset).tree, runs.tree(OUT)
        if want != got:
            differ = sorted(name for name in want.keys() | got.keys() if want.get(name) != got.get(name))
            raise runs.Broken(f"{by}: status 0, but these files differ, are missing or too many: {differ}")

    def settled(self, run, dataset=None):
        """Checks the dataset after `run` ended in any way."""
        if run.status == 0:
            return self.whole(run, dataset)
        left = runs.tree(OUT)
        want = (dataset or self.dataset).tree
        wrong = sorted(name for name in left if not runs.TEMPORARY.search(name) and left[name] != want.get(name))
        if wrong:
            raise runs.Broken(f"{run}: status {run.status}, and other bytes in {wrong}")
        rests = sorted(name for name in left if name.endswith(".tmp"))
        if not run.killed and rests:
            raise runs.Broken(f"{run}: status {run.status}, and leaves {rests}")
        if not run.killed and os.path.exists(OUT) and self.verify(OUT).status == 0:
            raise runs.Broken(f"{run}: status {run.status} ({run.output}), but hpcgen accepts {OUT}")
        return None

    def resume(self):
        again = runs.run(*self.hpcgen("--resume"))
        if again.status != 0:
            raise runs.Broken(f"cannot be resumed: {again}: status {again.status}: {again.output}")
        self.whole(again)


# ---- runs that are killed -------------------------------------------------------------------------------------------

def killed(h):
    """A run dies at a random moment, and so do the first runs that resume it."""
    for attempt in range(h.luck.randint(1, 3)):
        run = runs.Run(h.hpcgen(*["--resume"][:attempt]))
        run.wait_until(h.moment())
        run.kill(h.signal())
        run.end()
        h.settled(run)
    h.resume()


def killed_mpi(h):
    """One of several processes dies, or all do, or the launcher is told to end."""
    number = h.processes()
    for attempt in range(h.luck.randint(1, 2)):
        run = runs.Run([h.given.mpiexec, "-n", number, *h.hpcgen(*["--resume"][:attempt])])
        run.wait_for(OUT)  # before it is there, the launcher is at work
        time.sleep(h.moment(h.dataset.seconds + attempt))
        all_of_them = runs.processes_of(run.process.pid)
        who = h.luck.choice(("one", "one", "all", "launcher"))
        if who == "one" and all_of_them[1:]:
            run.kill(h.signal(), [h.luck.choice(all_of_them[1:])])
        elif who == "launcher":
            run.kill(signal.SIGTERM, all_of_them[:1])
        else:
            run.kill(signal.SIGKILL, all_of_them)
        run.end()
        h.settled(run)
    h.resume()


def killed_parts(h):
    """Kills and resumes runs, each of which writes a part of a dataset. Then kills and repeats the join of the parts."""
    parts = h.luck.randint(2, 4)
    for part in range(parts):
        attempt = 0
        while attempt == 0 or run.status != 0:
            run = runs.Run(h.hpcgen("--part", f"{part + 1}/{parts}", *["--resume"][:attempt]))
            if attempt < 2 and h.luck.random() < 0.7:
                run.wait_until(h.moment(h.dataset.seconds / parts))
                run.kill(h.signal())
            if run.end() != 0:
                h.settled(run)
                if not run.killed:
                    raise runs.Broken(f"{run}: status {run.status}: {run.output}")
            attempt += 1
    join = [h.given.hpcgen, "join", "--quiet", OUT] + ([] if h.dataset.checksums else ["--no-checksums"])
    run = runs.Run(join)
    run.wait_until(h.luck.uniform(0, 0.05))
    run.kill(h.signal())
    run.end()
    h.settled(run)
    again = runs.run(*join)
    if again.status != 0:
        raise runs.Broken(f"{again}: status {again.status}: {again.output}")
    h.whole(again)


# ---- runs without disk space ----------------------------------------------------------------------------------------

def limited(h):
    """Limits the size of files."""
    run = runs.run(*h.hpcgen(), largest=h.luck.randrange(max(h.dataset.sizes.values())))
    h.settled(run)
    h.resume()


def limited_one(h):
    """Limits the size of files for one of several processes."""
    number = h.processes()
    victim = h.luck.randrange(number)
    blocks = h.luck.randrange(max(h.dataset.sizes.values()) // 512 + 1)
    command = [h.given.mpiexec]
    for process in range(number):
        small = ["sh", "-c", f'ulimit -f {blocks}; exec "$0" "$@"'] if process == victim else []
        command += [":"] * (process > 0) + ["-n", 1, *small, *h.hpcgen()]
    h.settled(runs.run(*command))
    h.resume()


def full(h):
    """Another file takes the free bytes of the disk while the run writes."""
    if not h.mounts:
        raise runs.Unable("no mounts without root")
    size = 4 * sum(h.dataset.sizes.values()) + (8 << 20)
    os.mkdir("disk")
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", "disk"], check=False).returncode != 0:
        raise runs.Unable("no mounts")
    os.chdir("disk")
    try:
        run = runs.Run(h.hpcgen())
        run.wait_until(h.moment())
        left = h.luck.choice((0, h.luck.randrange(1 << 20)))
        with open("ballast", "wb") as ballast:
            for _ in range(100):
                disk = os.statvfs(".")
                free = disk.f_bavail * disk.f_frsize - left
                try:
                    if free > 0:
                        os.posix_fallocate(ballast.fileno(), os.fstat(ballast.fileno()).st_size, free)
                except OSError:  # the run was faster
                    continue
                break
        run.end()
        h.settled(run)
        os.remove("ballast")
        h.resume()
    finally:
        os.chdir("..")
        subprocess.run(["umount", "--lazy", "disk"], check=False)


# ---- system calls, allocations and collectives that fail -------------------------------------------------------------

def one_fails(h):
    """System calls and allocations fail on one process, or collectives on all: tests/chaos/one_fails.c."""
    rounds = 100
    run = runs.run(h.given.mpiexec, "-n", h.processes(), h.program("one_fails"), h.luck.randrange(1 << 32), rounds)
    if run.status != 0:
        survived = re.search(r"^survived: (\d+)$", run.output, re.MULTILINE)
        ours = "\n".join(line for line in run.output.splitlines() if re.search(r" of process \d+: |undisturbed", line))
        raise runs.Broken(f"{run}: {ours or run.output}", rounds, int(survived.group(1)) if survived else 0)
    return rounds


# ---- damaged files --------------------------------------------------------------------------------------------------

def damage(h):
    """Changes a file of a copy of the dataset. Returns the file's name, the change, and whether the file's size changed."""
    shutil.copytree(h.dataset.directory, OUT)
    while True:
        name = h.luck.choice(sorted(h.dataset.tree))
        path, size = os.path.join(OUT, name), h.dataset.sizes[name]
        what = h.luck.choice(("bit", "zeros", "cut", "longer", "lost"))
        at = h.luck.randrange(max(size, 1))
        if what == "lost":
            os.remove(path)
        elif what == "cut":
            os.truncate(path, at)
        else:
            data = bytearray(runs.bytes_of(path))
            if what == "longer":
                data += h.luck.randbytes(h.luck.randint(1, 5000))
            elif what == "bit" and size > 0:
                data[at] ^= 1 << h.luck.randrange(8)
            elif what == "zeros":  # a page that was never written
                page = range(at & ~4095, min(size, (at | 4095) + 1))
                data[page.start:page.stop] = bytes(len(page))
            with open(path, "wb") as f:
                f.write(data)
        if runs.tree(OUT) != h.dataset.tree:
            return name, f"{name}: {what} at {at}", what in ("cut", "longer", "lost")


def damaged(h):
    """verify finds a damaged file by its size and digest. In a dataset without digests, verify may accept a damaged file
    whose structure is still valid."""
    name, what, by_size = damage(h)
    verdict = h.verify(OUT)
    if verdict.status == 0 and (h.dataset.checksums or (by_size and name != "manifest.json")):
        raise runs.Broken(f"verify accepts a damaged dataset: {what}")
    # A resumed run writes a file of the manifest again if it is missing or has another size.
    if by_size and name not in ("manifest.json", "truth.json", "CHECKSUMS.xxh128"):
        h.resume()


def repaired(h):
    """A file is damaged, and `hpcgen repair` restores the dataset."""
    if not re.search(r"^ +repair\b", runs.run(h.given.hpcgen, "--help").output, re.MULTILINE):
        raise runs.Unable("hpcgen has no repair")
    name, what, _ = damage(h)
    verdict = h.verify(OUT)
    again = runs.run(h.given.hpcgen, "repair", "--quiet", OUT)
    if name == "manifest.json" and "repair it with the options that made the dataset" in again.output:
        again = runs.run(h.given.hpcgen, "repair", "--quiet", OUT, *h.dataset.arguments)
    if again.status != 0:
        raise runs.Broken(f"{what}: {again}: status {again.status}: {again.output}")
    if verdict.status == 0 and not h.dataset.checksums:
        return  # nothing says that it was damaged
    h.whole(again)


# ---- two runs at a time ----------------------------------------------------------------------------------------------

HELD = re.compile(r"another run|process \d+|pid \d+", re.IGNORECASE)


def race(h, first, second, datasets):
    """Two runs write into one directory. If a run ends with status 0, the files at the end are those of this run."""
    one = runs.Run(first)
    time.sleep(h.moment() * h.luck.choice((0, 0.1, 1)))
    two = runs.Run(second)
    ends = [one.end(), two.end()]
    for run, status, dataset in ((one, ends[0], datasets[0]), (two, ends[1], datasets[1])):
        if status == 0 and not ("--force" in second and run is one and ends[1] == 0):
            h.whole(f"{run} (raced: {ends})", dataset)
    if 0 not in ends and not HELD.search(one.output + two.output):
        raise runs.Broken(f"raced, and both failed: {one}: {one.output}; {two}: {two.output}")


def raced_same(h):
    """Two runs with the same parameters."""
    more = h.luck.choice(([], ["--resume"]))
    race(h, h.hpcgen(*more), h.hpcgen(*h.luck.choice((more, ["--resume"]))), (h.dataset, h.dataset))
    h.resume()


def raced_other(h):
    """Two runs with different parameters; the second may use --force."""
    os.mkdir("other")
    other = Dataset(h.given, h.luck, os.path.abspath("other"))
    race(h, h.hpcgen(), h.hpcgen(*h.luck.choice(([], ["--resume"], ["--force"])), dataset=other), (h.dataset, other))


def raced_parts(h):
    """All parts of a dataset are written at the same time, which is allowed."""
    parts = h.luck.randint(2, 4)
    made = [runs.Run(h.hpcgen("--part", f"{part + 1}/{parts}")) for part in range(parts)]
    for run in made:
        if run.end() != 0:
            raise runs.Broken(f"{run}: status {run.status}: {run.output}")
    join = runs.run(h.given.hpcgen, "join", "--quiet", OUT, *([] if h.dataset.checksums else ["--no-checksums"]))
    if join.status != 0:
        raise runs.Broken(f"{join}: status {join.status}: {join.output}")
    h.whole(join)


# ---- programs that use the library -----------------------------------------------------------------------------------

def harmed_solver(h, command, **environment):
    """Runs the heat solver, and kills one of its processes after 0.2 to 3 seconds unless the run has ended."""
    run = runs.Run([h.given.mpiexec, "-n", h.luck.choice((2, 4)), *command], **environment)
    run.wait_until(h.luck.uniform(0.2, 3))
    all_of_them = runs.processes_of(run.process.pid)
    if all_of_them[1:]:
        run.kill(h.signal(), [h.luck.choice(all_of_them[1:])])
    run.end()
    return run


def solver(h):
    """A program that writes all formats dies. Files with their final name are complete."""
    h.processes()
    run = harmed_solver(h, [h.program("heat"), OUT, 60, h.luck.randint(4, 400)])
    for path, mark in (("links.sion",) * 2, ("heat.clog2",) * 2, ("plate.sion",) * 2, ("ckpt", "ckpt/.scr/index.scr")):
        if os.path.exists(os.path.join(OUT, mark)):
            verdict = h.verify(os.path.join(OUT, path))
            if verdict.status != 0:
                raise runs.Broken(f"{run}: status {run.status}, and {verdict.output}")
        elif run.status == 0:
            raise runs.Broken(f"{run}: status 0 without {path}")


def traced(h):
    """A traced program dies. It leaves no log, but `hpcgen recover` makes one of its local files."""
    h.processes()
    local = os.path.abspath("local")
    os.mkdir(local)
    wrapper, program = h.program("trace"), h.program("heat_plain")
    run = harmed_solver(h, ["env", f"LD_PRELOAD={wrapper}", program, 60, h.luck.randint(4, 400)],
                        HPCW_TRACE_DIR=local, HPCW_TRACE_FILE="run.clog2")
    pieces = sorted(os.path.join(local, name) for name in os.listdir(local))
    if os.path.exists("run.clog2"):
        verdict = h.verify("run.clog2")
        if verdict.status != 0:
            raise runs.Broken(f"{run}: status {run.status}, and {verdict.output}")
    elif run.status == 0:
        raise runs.Broken(f"{run}: status 0 without a log")
    elif pieces:
        recovered = runs.run(h.given.hpcgen, "recover", "--quiet", "--output", "recovered.clog2", *pieces)
        if recovered.status != 0 or h.verify("recovered.clog2").status != 0:
            raise runs.Broken(f"{run}: cannot be recovered: {recovered.output}")


# How often each kind runs in a round; kinds without a launcher take little time.
KINDS = {
    "killed": (killed, 3),
    "killed-mpi": (killed_mpi, 1),
    "killed-parts": (killed_parts, 2),
    "limited": (limited, 2),
    "limited-one": (limited_one, 1),
    "full-disk": (full, 2),
    "one-fails": (one_fails, 1),
    "damaged": (damaged, 10),
    "repaired": (repaired, 10),
    "raced-same": (raced_same, 3),
    "raced-other": (raced_other, 3),
    "raced-parts": (raced_parts, 2),
    "solver-killed": (solver, 1),
    "traced-killed": (traced, 1),
}
