#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Lets programs die at every call that changes the file system, and checks what they leave and what the next start makes of it.

Usage: crash.py --build DIR [--mpiexec PROGRAM] [--minutes M] [--seed N] [--case NAME]... [--point POINT]...

A case is a writer of the library or a command of hpcgen: cases.py, which also has the rules. The program of a case is harmed
in four ways:

    kill:N:WHEN:NEXT        it is killed before or after its call N; NEXT names the command that is started afterwards
    fail:N:ERRNO:NEXT       its call N fails
    look:N:ERRNO:NEXT       its call N fails, counting only calls that examine files: open, stat, read, list
    lost:SYNC:K:WHAT:NEXT   the power fails after call K, and of the data that were not synced, only WHAT survives: lost.py

If a case has several processes, one is harmed: kill:N:WHEN:NEXT@PROCESS. The seed decides the order of all points of all
cases. Each case gets the same time; when the time is up, the other points are left out. CRASH_MINUTES (60) and CRASH_SEED
(random) are defaults. --case and --point repeat some points; --keep keeps the files of findings; --help has more options.

The table at the end has the number of points, how many of them were tried, at how many the process was harmed as planned,
and how many survived. A point at which nothing happened to the process is a failure of this driver. Exit status 0: all
points survived; 1: findings; 2: the driver failed; 77: no point was tried.
"""
import argparse
import collections
import errno
import multiprocessing
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import cases  # noqa: E402
import lost  # noqa: E402
import points  # noqa: E402
import runs  # noqa: E402

# Known findings, at most five: a name, a pattern of "CASE POINT: text", and why it stays.
KINDS = (
    ("cleaning", r" look:\S+: .*status 0, .*from \w+: left: ((\S+/)?(\.hpcw-\S+\.tmp|hpcw\.\d+\.(unfinished|dropped)(\.\d+)?|\S+/\.hpcw/(lease)?)(, )?)+$",
     "all was done, but a marker or lock that is of no use any more could not be looked at; it stays until the next time"),
    ("directory", r"(prune|drop|keep)\S* (fail|look):\d+:EACCES:\S+: .*status 0, .*left: (\S+/(, )?)+$",
     "an empty directory that may not be removed stays"),
)
TOLD = 5  # findings to print for a case and way
TRIES = 3  # with several processes, the number of calls may differ between runs

ERRORS = {
    "open": ("EIO", "ENOSPC", "EACCES", "EMFILE"),
    "mkdir": ("ENOSPC", "EACCES"),
    "write": ("EIO", "ENOSPC"),
    "allocate": ("EIO", "ENOSPC"),
    "fsync": ("EIO", "ENOSPC"),
    "rename": ("EIO", "ENOSPC", "EACCES"),
    "unlink": ("EIO", "EACCES"),
    "rmdir": ("EIO", "EACCES"),
}
LOOK_ERRORS = {
    "open": ("EIO", "EMFILE", "ENOMEM", "EACCES"),
    "stat": ("EIO", "EACCES", "ENOMEM"),
    "list": ("EIO", "ENOMEM"),
    "map": ("ENOMEM",),
}


class Missed(Exception):
    """A process was not harmed although it should have been."""


class Trial:
    """A case in its own directories: the files before it, its results, its points, and their outcomes."""

    def __init__(self, case, place, luck, quick):
        self.case, self.place, self.luck, self.quick = case, place, luck, quick
        self.old, self.work, self.log = (os.path.join(place, name) for name in ("old", "work", "log"))
        self.calls = {}  # by harmed process, in an undisturbed run
        self.counts = {}  # numbers of calls in two runs
        self.recorded = {}  # runs for the model of lost writes
        self.looking = None  # an undisturbed run with the calls that only look
        # Of several processes one is harmed, but not in the way "look": they examine the same files as a single process.
        self.ways = case.ways[:1] if quick and case.processes > 1 else [way for way in case.ways if way != "look" or case.processes == 1]
        self.points, self.there, self.spent = {}, {}, dict.fromkeys(self.ways, 0)
        self.tried, self.harmed, self.survived, self.told = (collections.Counter() for _ in range(4))
        self.explained = collections.Counter()

    # ---- preparation

    def begin(self):
        points.empty(self.old)
        os.chdir(self.old)
        self.case.make_old()
        self.again()
        self.case.states["old"] = self.case.files()
        self.victims = [None] if self.case.processes == 1 else [0, self.luck.randrange(1, self.case.processes)]
        if self.quick:
            self.victims = [self.luck.choice(self.victims)]
        for victim in self.victims:
            for _ in range(1 if self.quick else 2):
                self.again()
                done = self.undisturbed(victim=victim)
                self.calls[victim] = done.calls
                self.case.undisturbed(done.calls)
                self.counts.setdefault(victim, set()).add(len(done.calls))
                made = self.case.files()
                if self.case.same_bytes and self.case.states.setdefault("new", made) != made:
                    raise RuntimeError(f"{self.case.name}: two runs differ: {points.difference(self.case.states['new'], made)}")
                self.case.states["new"] = made
        self.again()
        self.case.states.update(self.case.more_states())

    def again(self):
        """Makes a fresh copy of the files before the command, to work in."""
        os.chdir(self.place)
        shutil.rmtree(self.work, ignore_errors=True)
        points.copy(self.old, self.work)
        os.chdir(self.work)

    def traced(self, victim=None, order=(), sync=None):
        return points.Traced(self.case.programs, self.case.command(sync), self.work, self.log, self.case.processes, victim, order)

    def undisturbed(self, **how):
        done = self.traced(**how)
        if done.status != 0 or done.end != "exit":
            raise RuntimeError(f"{self.case.name}: undisturbed: {done.run}: {done.end} {done.status}: {done.output}")
        return done

    def looks(self):
        """Returns an undisturbed run in which the calls that only examine files were counted."""
        if self.looking is None:
            self.again()
            self.looking = self.undisturbed(order=["--count", "looks"])
        return self.looking

    def record(self, sync):
        """Returns a run for the model of lost writes, in which all processes are traced."""
        if sync not in self.recorded:
            copies = os.path.join(self.place, f"copies.{sync}")
            points.empty(copies)
            self.again()
            before = lost.identities(self.work)
            done = self.undisturbed(order=["--copies", copies], sync=None if sync == "default" else sync)
            self.recorded[sync] = (before, copies, done.calls)
        return self.recorded[sync]

    def model(self, sync, last=0):
        """Returns the model after this many calls."""
        before, copies, calls = self.record(sync)
        model = lost.Model(before, self.old, copies)
        for call in calls[:last]:
            model.apply(call)
        return model

    def survivals(self, sync):
        """Yields each different state of the model."""
        calls = self.record(sync)[2]
        model = self.model(sync)
        seen = set()
        for k in range(len(calls) + 1):
            if k > 0:
                model.apply(calls[k - 1])
            for what in model.survivals():
                state = (k == len(calls), tuple(sorted(model.left(what).items())))
                if state not in seen:
                    seen.add(state)
                    yield k, what

    def points_of(self, way):
        """Returns the points of a way that were not tried yet."""
        if way not in self.points:
            luck = random.Random(f"{self.luck.random()}")
            nexts = sorted(self.case.nexts())
            found = []
            if way == "lost":
                syncs = [luck.choice(self.case.syncs)] if self.quick else self.case.syncs
                found = [f"lost:{sync}:{k}:{what}:{then}" for sync in syncs for k, what in self.survivals(sync) for then in nexts]
            if way == "look":
                found = [f"look:{call['n']}:{error}:{then}" for call in self.looks().calls
                         for error in LOOK_ERRORS.get(call["call"], ("EIO",)) for then in nexts]
            for victim in self.victims if way in ("kill", "fail") else ():
                at = "" if victim is None else f"@{victim}"
                for n in range(1, min(self.counts[victim]) + 1):
                    errors = ERRORS.get(self.calls[victim][n - 1]["call"], ("EIO",))
                    if way == "kill":
                        found += [f"kill:{n}:{when}:{then}{at}" for when in ("before", "after") for then in nexts]
                    else:
                        found += [f"fail:{n}:{error}:{then}{at}" for error in errors for then in nexts]
            luck.shuffle(found)
            self.points[way], self.there[way] = found, len(found)
        return self.points[way]

    # ---- trying a point

    def kill(self, victim, n, when, then):
        for _ in range(1 if victim is None else TRIES):
            self.again()
            done = self.traced(victim, ["--kill", f"{n}:{when}"])
            if done.died():
                break
        else:
            raise Missed(f"expected a death, got {done.end}, status {done.status}")
        self.harmed["kill"] += 1
        self.case.point, self.case.power_failed = int(n), False
        self.case.at_once()
        self.case.afterwards(self.case.nexts()[then]())

    def fail(self, victim, n, error, then):
        for _ in range(1 if victim is None else TRIES):
            self.again()
            before = set(self.case.files())  # also those of the run that died before a resume
            done = self.traced(victim, ["--fail", f"{n}:{error}"])
            if any(call["n"] == int(n) for call in done.calls):
                break
        else:
            raise Missed(f"expected a failure, got {done.end}, status {done.status}")
        self.harmed["fail"] += 1
        self.case.point, self.case.power_failed = int(n), False
        removes = self.calls[victim][int(n) - 1]["call"] in ("unlink", "rmdir")
        if done.status == 0:
            try:
                self.case.afterwards(("new",), strict=not removes)
            except points.Broken as what:
                raise points.Broken(f"status 0, but {what}") from None
        else:
            self.case.at_once()
            left = sorted(name for name in self.case.files() if name.endswith(".tmp") and name not in before)
            finished_later = "the next open of" in done.output  # a set of which some files are renamed
            if left and not removes and victim is None and not finished_later:
                raise points.Broken(f"failed with status {done.status}, and left {', '.join(left)}: {done.output[-200:]}")
        self.case.afterwards(self.case.nexts()[then](), strict=not (removes and done.status == 0))

    def look(self, victim, n, error, then):
        """Checks that a failed call is reported as an error, is not taken for a missing file, and does not change the
        result."""
        usual = self.looks()
        self.again()
        done = self.traced(victim, ["--count", "looks", "--fail", f"{n}:{error}"])
        if not any(call["n"] == int(n) for call in done.calls):
            raise Missed(f"expected a failure, got {done.end}, status {done.status}")
        self.harmed["look"] += 1
        self.case.point, self.case.power_failed = int(n), False
        if done.status != 0:
            reasons = (os.strerror(getattr(errno, error)), "out of memory" if error == "ENOMEM" else error)
            if not any(reason in done.output for reason in reasons):
                raise points.Broken(f"status {done.status} without the reason: {done.output[-300:]}")
            self.case.at_once()
        elif done.output != usual.output and self.case.same_output:
            raise points.Broken(f"status 0, but it says: {done.output[-300:]}")
        else:
            try:
                self.case.afterwards(("new",))
            except points.Broken as what:
                raise points.Broken(f"status 0, but {what}") from None
        self.case.afterwards(self.case.nexts()[then]())

    def lose(self, sync, k, what, then):
        calls = self.record(sync)[2]
        left = self.model(sync, int(k)).left(what)
        points.empty(self.work)
        os.chdir(self.work)
        lost.build(left, self.work)
        self.harmed["lost"] += 1
        self.case.point, self.case.power_failed = None, True
        if int(k) == len(calls) and self.case.reported(sync):
            try:
                self.case.afterwards(("new",), strict=False)
            except points.Broken as what:
                raise points.Broken(f"reported as done, but {what}") from None
        self.case.after_loss(sync, then)

    def try_point(self, point):
        """Tries a point. Returns whether the case survived; if not, a text says why."""
        way = point.split(":")[0]
        self.tried[way] += 1
        words, _, victim = point.partition("@")
        arguments = words.split(":")[1:]
        try:
            if way == "lost":
                sync, k, *what, then = arguments
                self.lose(sync, k, ":".join(what), then)
            else:
                {"kill": self.kill, "fail": self.fail, "look": self.look}[way](int(victim) if victim else None, *arguments)
            self.survived[way] += 1
            return None
        except points.Broken as what:
            return " / ".join(str(what).split("\n"))
        finally:
            runs.end_all()

    def call_at(self, point):
        """Describes the call of a point for people."""
        words, _, victim = point.partition("@")
        way, first, second = words.split(":")[:3]
        if way == "look":
            n, calls = int(first), self.looks().calls
        elif way == "lost":
            n, calls = int(second), self.record(first)[2]
        else:
            n, calls = int(first), self.calls[int(victim) if victim else None]
        return f"call {n} of {len(calls)}" + (f", {points.name_of(calls[n - 1], self.work)}" if 0 < n <= len(calls) else "")


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, type=os.path.abspath)
    parser.add_argument("--mpiexec", default=shutil.which("mpiexec"))
    parser.add_argument("--minutes", type=float, default=os.environ.get("CRASH_MINUTES") or 60)
    parser.add_argument("--seed", type=int, default=os.environ.get("CRASH_SEED") or random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="cases at the same time")
    parser.add_argument("--case", action="append", default=[], help="a name, or the start of several with * at the end")
    parser.add_argument("--point", action="append", default=[], help="a point, or the start of several with * at the end")
    parser.add_argument("--quick", action="store_true", help="of several processes only kill one; one level of durability")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--list", action="store_true", help="print the calls of each case")
    return parser.parse_args()


def matches(name, patterns):
    return any(name == pattern or (pattern.endswith("*") and name.startswith(pattern[:-1])) for pattern in patterns)


def tell(given, trial, point, text):
    """Prints a finding, or counts it with its kind."""
    way = point.split(":")[0]
    for name, pattern, _ in KINDS:
        if re.search(pattern, f"{trial.case.name} {point}: {text}"):
            trial.explained[way, name] += 1
            return
    trial.told[way] += 1
    if trial.told[way] <= TOLD or given.point:
        print(f"crash: {trial.case.name} {point}: {trial.call_at(point)}: {text}\n"
              f"       again: {sys.argv[0]} --build {given.build} --seed {given.seed} --case {trial.case.name} --point {point}", flush=True)
    elif trial.told[way] == TOLD + 1:
        print(f"crash: {trial.case.name}: more findings of {way} are only counted", flush=True)
    if given.keep:
        points.copy(trial.work, os.path.join(trial.place, "found." + re.sub(r"[^\w.-]", "_", point)))


class Result:
    """The data of a trial for the table."""

    def __init__(self, trial):
        self.name, self.ways = trial.case.name, trial.ways
        self.calls = ",".join("-".join(str(number) for number in sorted(numbers)) for numbers in trial.counts.values())
        self.rows = {way: (trial.there.get(way, 0), trial.tried[way], trial.harmed[way], trial.survived[way],
                           sum(number for (w, _), number in trial.explained.items() if w == way), trial.told[way])
                     for way in trial.ways}
        self.explained = {name: sum(n for (_, which), n in trial.explained.items() if which == name) for name, _, _ in KINDS}
        self.missed = sum(trial.tried.values()) - sum(trial.harmed.values())


def share(work):
    """Runs the trials of some cases until the time is up. Runs in its own process."""
    given, names, scratch, until = work
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    programs = points.Programs(given.build, given.mpiexec)
    trials = []
    try:
        for case in cases.all_cases(programs):
            if case.name not in names:
                continue
            trial = Trial(case, os.path.join(scratch, case.name), random.Random(f"{given.seed} {case.name}"), given.quick)
            trial.begin()
            trials.append(trial)
            for victim, calls in trial.calls.items() if given.list else ():
                for call in calls:
                    print(f"{case.name} {victim or 0} {call['n']}: {points.name_of(call, trial.work)}")
            for way in trial.ways if given.point else ():
                trial.points[way] = [point for point in trial.points_of(way) if matches(point, given.point)]
        waiting = [] if given.list else [(trial, way) for trial in trials for way in trial.ways]
        # Runs each way of each case once, then always the one with the least time so far.
        while waiting:
            trial, way = min(waiting, key=lambda one: (one[0].tried[one[1]] > 0, one[0].spent[one[1]]))
            if time.monotonic() > until and trial.tried[way] > 0:
                break
            start = time.monotonic()
            if not trial.points_of(way):
                waiting.remove((trial, way))
                continue
            point = trial.points[way].pop()
            try:
                text = trial.try_point(point)
            except Missed as what:
                print(f"crash: {trial.case.name} {point}: THE DRIVER FAILED: {what}", flush=True)
                text = None
            if text is not None:
                tell(given, trial, point, text)
            trial.spent[way] += time.monotonic() - start
    finally:
        runs.end_all()
        os.chdir("/")
    return [Result(trial) for trial in trials]


def table(results):
    """Prints the outcome. Returns whether all survived, and at how many points nothing happened."""
    print(f"{'case':<24}{'way':<6}{'calls':>10}{'points':>8}{'tried':>8}{'died':>8}{'survived':>10}{'explained':>10}{'findings':>10}")
    total = [0] * 6
    for result in results:
        for way in result.ways:
            row = result.rows[way]
            print(f"{result.name:<24}{way:<6}{result.calls:>10}{row[0]:>8}{row[1]:>8}{row[2]:>8}{row[3]:>10}{row[4]:>10}{row[5]:>10}")
            total = [a + b for a, b in zip(total, row)]
    print(f"{'all':<40}{total[0]:>8}{total[1]:>8}{total[2]:>8}{total[3]:>10}{total[4]:>10}{total[5]:>10}")
    for name, _, why in KINDS:
        print(f"explained, {name}: {sum(result.explained[name] for result in results)}: {why}")
    print("calls: of each process that was harmed; A-B if they differ from run to run. died: was killed there; of fail and look: "
          "the call failed; of lost: states that were built")
    missed = sum(result.missed for result in results)
    if missed:
        print(f"crash: at {missed} points nothing happened to the process")
    return total[1] > 0 and total[3] + total[4] == total[1], missed


def main():
    given = arguments()
    programs = points.Programs(given.build, given.mpiexec)
    names = [case.name for case in cases.all_cases(programs) if not given.case or matches(case.name, given.case)]
    if not names:
        raise SystemExit(f"crash: expected a case, got {given.case}")
    if not points.can_trace(programs):
        print("crash: this machine lets no process trace another")
        return 77
    began = time.monotonic()
    scratch = os.environ["TMPDIR"] = tempfile.mkdtemp(prefix="hpcw-crash.")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    print(f"crash: seed {given.seed}, {given.minutes:g} min, {len(names)} cases, in {scratch}", flush=True)
    survived = False
    try:
        jobs = max(1, min(given.jobs, len(names)))
        work = [(given, names[job::jobs], scratch, began + 60 * given.minutes) for job in range(jobs)]
        with multiprocessing.Pool(jobs) as pool:
            done = [result for part in pool.map(share, work, chunksize=1) for result in part]
        survived, missed = table(sorted(done, key=lambda result: names.index(result.name)))
    finally:
        if given.keep and not survived:
            print(f"crash: kept {scratch}")
        else:
            shutil.rmtree(scratch, ignore_errors=True)
        print(f"crash: seed {given.seed}, {(time.monotonic() - began) / 60:.1f} min")
    return 0 if given.list else 2 if missed else 0 if survived else 1


if __name__ == "__main__":
    sys.exit(main())
