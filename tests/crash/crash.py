#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Lets programs die at every call that changes the file system, and checks what they leave and what the next start makes of it.

Usage: crash.py --build DIR [--mpiexec PROGRAM] [--minutes M] [--seed N] [--case NAME]... [--point POINT]... [--keep]

A case is a writer of the library or a command of hpcgen: cases.py, which also has the rules. It is harmed in three ways:

    kill:N:WHEN:NEXT        it is killed before or after its call N; NEXT is what is started then
    fail:N:ERRNO:NEXT       its call N fails
    lost:SYNC:K:WHAT:NEXT   the power fails after call K, and of what was not synced, only WHAT survives: lost.py

Of several processes one is harmed: kill:N:WHEN:NEXT@PROCESS. All points of all cases are tried, in an order that the seed
decides, each case getting the same time; when the time is up, the rest is left out. CRASH_MINUTES (60) and CRASH_SEED
(random) are defaults. --case and --point do some again; --keep keeps the files of what was found.

The table at the end has the points that were tried of those that there are, how often the process died or was otherwise
harmed as it should, and what survived. A point at which nothing happened to the process is a failure of this driver. Exit
status 0: all points survived; 1: findings; 2: the driver failed.
"""
import argparse
import collections
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

# Findings that stay, at most five: a name, a pattern of "CASE POINT: text", and why it stays.
KINDS = ()
TOLD = 5  # findings of a case and way that are printed
TRIES = 3  # of several processes, the number of calls of one may differ from run to run

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


class Missed(Exception):
    """Nothing happened to the process where something should have."""


class Trial:
    """A case in directories of its own: what there is before it, what it makes, its points, and how they went."""

    def __init__(self, case, place, luck):
        self.case, self.place, self.luck = case, place, luck
        self.old, self.work, self.log = (os.path.join(place, name) for name in ("old", "work", "log"))
        self.calls = {}  # of each process that is harmed, in a run that nobody harms
        self.counts = {}  # how many they are in two runs
        self.recorded = {}  # runs for the model of lost writes
        self.spent = 0
        self.tried, self.harmed, self.survived, self.told = (collections.Counter() for _ in range(4))
        self.explained = collections.Counter()

    # ---- before

    def begin(self):
        points.empty(self.old)
        os.chdir(self.old)
        self.case.make_old()
        self.again()
        self.case.states["old"] = self.case.files()
        self.victims = [None] if self.case.processes == 1 else [0, self.luck.randrange(1, self.case.processes)]
        for victim in self.victims:
            for _ in range(2):
                self.again()
                done = self.undisturbed(victim=victim)
                self.calls[victim] = done.calls
                self.case.recordable = done.calls_before_map()
                self.counts.setdefault(victim, set()).add(len(done.calls))
                made = self.case.files()
                if self.case.same_bytes and self.case.states.setdefault("new", made) != made:
                    raise RuntimeError(f"{self.case.name}: two runs differ: {points.difference(self.case.states['new'], made)}")
                self.case.states["new"] = made
        self.again()
        self.case.states.update(self.case.more_states())
        self.points = self.all_points()
        self.there = collections.Counter(point.split(":")[0] for point in self.points)

    def again(self):
        """A fresh copy of what is there before the command, to work in."""
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

    def record(self, sync):
        """A run for the model of lost writes; of several processes all are traced."""
        if sync not in self.recorded:
            copies = os.path.join(self.place, f"copies.{sync}")
            points.empty(copies)
            self.again()
            before = lost.identities(self.work)
            done = self.undisturbed(order=["--copies", copies], sync=None if sync == "default" else sync)
            self.recorded[sync] = (before, copies, done.calls)
        return self.recorded[sync]

    def model(self, sync, last=0):
        """The model after so many calls."""
        before, copies, calls = self.record(sync)
        model = lost.Model(before, self.old, copies)
        for call in calls[:last]:
            model.apply(call)
        return model

    def all_points(self):
        found = []
        nexts = sorted(self.case.nexts())
        for victim in self.victims:
            at = "" if victim is None else f"@{victim}"
            for n in range(1, min(self.counts[victim]) + 1):
                errors = ERRORS.get(self.calls[victim][n - 1]["call"], ("EIO",))
                found += [f"kill:{n}:{when}:{then}{at}" for when in ("before", "after") for then in nexts]
                if "fail" in self.case.ways:
                    found += [f"fail:{n}:{error}:{self.luck.choice(nexts)}{at}" for error in errors]
        if "lost" in self.case.ways:
            for sync in self.case.syncs:
                found += [f"lost:{sync}:{k}:{what}:{then}" for k, what in self.survivals(sync) for then in nexts]
        self.luck.shuffle(found)
        return found

    def survivals(self, sync):
        """Each different state that the model gives."""
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

    # ---- a point

    def kill(self, victim, n, when, then):
        for _ in range(1 if victim is None else TRIES):
            self.again()
            done = self.traced(victim, ["--kill", f"{n}:{when}"])
            if done.died():
                break
        else:
            raise Missed(f"expected a death, got {done.end}, status {done.status}")
        self.harmed["kill"] += 1
        self.case.point = int(n)
        self.case.at_once()
        self.case.afterwards(self.case.nexts()[then]())

    def fail(self, victim, n, error, then):
        for _ in range(1 if victim is None else TRIES):
            self.again()
            done = self.traced(victim, ["--fail", f"{n}:{error}"])
            if any(call["n"] == int(n) for call in done.calls):
                break
        else:
            raise Missed(f"expected a failure, got {done.end}, status {done.status}")
        self.harmed["fail"] += 1
        self.case.point = int(n)
        removes = self.calls[victim][int(n) - 1]["call"] in ("unlink", "rmdir")
        if done.status == 0:
            self.case.afterwards(("new",), strict=not removes)
        else:
            self.case.at_once()
            left = sorted(name for name in self.case.files() if name.endswith(".tmp"))
            if left and not removes and victim is None:
                raise points.Broken(f"failed with status {done.status}, and left {', '.join(left)}: {done.output[-200:]}")
        self.case.afterwards(self.case.nexts()[then]())

    def lose(self, sync, k, what, then):
        calls = self.record(sync)[2]
        left = self.model(sync, int(k)).left(what)
        points.empty(self.work)
        os.chdir(self.work)
        lost.build(left, self.work)
        self.harmed["lost"] += 1
        self.case.point = None
        if int(k) == len(calls) and self.case.reported(sync):
            self.case.afterwards(("new",), strict=False)
        self.case.after_loss(sync, then)

    def try_point(self, point):
        """Whether it survived; a text of what did not."""
        way = point.split(":")[0]
        self.tried[way] += 1
        words, _, victim = point.partition("@")
        arguments = words.split(":")[1:]
        try:
            if way == "lost":
                sync, k, *what, then = arguments
                self.lose(sync, k, ":".join(what), then)
            else:
                (self.kill if way == "kill" else self.fail)(int(victim) if victim else None, *arguments)
            self.survived[way] += 1
            return None
        except points.Broken as what:
            return " / ".join(str(what).split("\n"))
        finally:
            runs.end_all()

    def call_at(self, point):
        """The call of a point, for people."""
        words, _, victim = point.partition("@")
        way, first, second = words.split(":")[:3]
        if way == "lost":
            n, calls = int(second), self.record(first)[2]
        else:
            n, calls = int(first), self.calls[int(victim) if victim else None]
        return f"call {n} of {len(calls)}" + (f", {points.name_of(calls[n - 1], self.work)}" if 0 < n <= len(calls) else "")


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--mpiexec", default=shutil.which("mpiexec"))
    parser.add_argument("--minutes", type=float, default=os.environ.get("CRASH_MINUTES") or 60)
    parser.add_argument("--seed", type=int, default=os.environ.get("CRASH_SEED") or random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--case", action="append", default=[], help="a name, or the start of several with * at the end")
    parser.add_argument("--point", action="append", default=[], help="a point, or the start of several with * at the end")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--list", action="store_true", help="print the cases and the calls of each")
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
              f"       again: crash.py --build {given.build} --seed {given.seed} --case {trial.case.name} --point {point}", flush=True)
    elif trial.told[way] == TOLD + 1:
        print(f"crash: {trial.case.name}: more findings of {way} are only counted", flush=True)
    if given.keep:
        points.copy(trial.work, os.path.join(trial.place, "found." + re.sub(r"[^\w.-]", "_", point)))


def table(trials, missed):
    """Prints how it went. Whether all survived."""
    print(f"{'case':<24}{'way':<6}{'calls':>8}{'points':>8}{'tried':>8}{'died':>8}{'survived':>10}{'explained':>10}{'findings':>10}")
    total = collections.Counter()
    for trial in trials:
        counts = sorted(set().union(*trial.counts.values()))
        calls = "-".join(str(number) for number in dict.fromkeys((counts[0], counts[-1])))
        for way in trial.case.ways:
            row = (trial.there[way], trial.tried[way], trial.harmed[way], trial.survived[way],
                   sum(number for (w, _), number in trial.explained.items() if w == way), trial.told[way])
            print(f"{trial.case.name:<24}{way:<6}{calls:>8}{row[0]:>8}{row[1]:>8}{row[2]:>8}{row[3]:>10}{row[4]:>10}{row[5]:>10}")
            total.update(dict(enumerate(row)))
    print(f"{'all':<38}{total[0]:>8}{total[1]:>8}{total[2]:>8}{total[3]:>10}{total[4]:>10}{total[5]:>10}")
    for name, _, why in KINDS:
        print(f"explained, {name}: {sum(t.explained[way, name] for t in trials for way in t.case.ways)}: {why}")
    print("died: killed at the point; of fail: the call failed there; of lost: states that were built. "
          "calls: of one run, or the fewest and the most of several")
    if missed:
        print(f"crash: at {missed} points nothing happened to the process")
    return total[1] > 0 and total[3] + total[4] == total[1]


def main():
    given = arguments()
    programs = points.Programs(given.build, given.mpiexec)
    given.build = os.path.abspath(given.build)
    chosen = [case for case in cases.all_cases(programs) if not given.case or matches(case.name, given.case)]
    if not chosen:
        raise SystemExit(f"crash: expected a case, got {given.case}")
    began = time.monotonic()
    scratch = os.environ["TMPDIR"] = tempfile.mkdtemp(prefix="hpcw-crash.")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    print(f"crash: seed {given.seed}, {given.minutes:g} min, {len(chosen)} cases, in {scratch}", flush=True)
    trials, missed = [], 0
    try:
        for case in chosen:
            trial = Trial(case, os.path.join(scratch, case.name), random.Random(f"{given.seed} {case.name}"))
            trial.begin()
            trials.append(trial)
            if given.list:
                for victim, calls in trial.calls.items():
                    for call in calls:
                        print(f"{case.name} {victim or 0} {call['n']}: {points.name_of(call, trial.work)}")
            if given.point:
                trial.points = [point for point in trial.points if matches(point, given.point)]
        waiting = [] if given.list else [trial for trial in trials if trial.points]
        # Each case at least once, then that which had the least time.
        while waiting:
            trial = min(waiting, key=lambda one: (sum(one.tried.values()) > 0, one.spent))
            if time.monotonic() - began > 60 * given.minutes and sum(trial.tried.values()) > 0:
                break
            point, start = trial.points.pop(), time.monotonic()
            try:
                text = trial.try_point(point)
            except Missed as what:
                missed += 1
                print(f"crash: {trial.case.name} {point}: THE DRIVER FAILED: {what}", flush=True)
                text = None
            if text is not None:
                tell(given, trial, point, text)
            trial.spent += time.monotonic() - start
            if not trial.points:
                waiting.remove(trial)
    finally:
        runs.end_all()
        os.chdir("/")
        survived = table(trials, missed) if trials else False
        if given.keep and not survived:
            print(f"crash: kept {scratch}")
        else:
            shutil.rmtree(scratch, ignore_errors=True)
        print(f"crash: seed {given.seed}, {(time.monotonic() - began) / 60:.1f} min")
    return 2 if missed else 0 if survived or given.list else 1


if __name__ == "__main__":
    sys.exit(main())
