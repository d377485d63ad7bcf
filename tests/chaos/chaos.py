#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Harms real runs at random, again and again, and checks after each that no unfinished file looks finished.

Usage: chaos.py [--minutes M] [--seed N] [--round R] [--keep] --hpcgen PROGRAM [--mpiexec PROGRAM] [--one-fails PROGRAM]
                [--heat PROGRAM] [--heat-plain PROGRAM] [--trace LIBRARY] [KIND...]

A round makes a dataset and does each KIND of harm once or several times; by default all kinds of harms.py. Rounds follow
each other until the time is up and each kind was tried at least once. Everything but the moments of harm depends only on
the seed and the number of the round: --seed N --round R does one round again. --keep keeps the files of failed tries.
CHAOS_MINUTES (60) and CHAOS_SEED (random) are defaults.

The table at the end counts tries and survivals by kind. Exit status 0: all tries survived.
"""
import argparse
import collections
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import harms  # noqa: E402
import runs  # noqa: E402

UNSHARED = "CHAOS_UNSHARED"


def with_own_mounts():
    """Restarts this program in its own mount namespace, if allowed, so that its mounts end with the program."""
    if UNSHARED not in os.environ:
        own = ["unshare", "--mount", "--propagation", "private"]
        able = os.geteuid() == 0 and shutil.which(own[0]) and subprocess.run(own + ["true"], check=False).returncode == 0
        os.environ[UNSHARED] = "1" if able else "0"
        if able:
            os.execvp(own[0], own + [sys.executable] + sys.argv)
    return os.environ[UNSHARED] == "1"


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=os.environ.get("CHAOS_MINUTES") or 60)
    parser.add_argument("--seed", type=int, default=os.environ.get("CHAOS_SEED") or random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--round", type=int)
    parser.add_argument("--keep", action="store_true")
    for program in ("hpcgen", "mpiexec", "one-fails", "heat", "heat-plain", "trace"):
        parser.add_argument("--" + program, type=lambda path: os.path.abspath(path) if os.path.exists(path) else path)
    parser.add_argument("kind", nargs="*", choices=[[]] + list(harms.KINDS), metavar="KIND")
    return parser.parse_args()


class Table:
    """Numbers of tries and survivals, by kind."""

    def __init__(self, kinds):
        self.kinds = kinds
        self.tried, self.survived, self.unable = collections.Counter(), collections.Counter(), {}

    def all_survived(self):
        return self.survived == self.tried and sum(self.tried.values()) > 0

    def print(self):
        print(f"{'kind':<20}{'tried':>8}{'survived':>10}")
        for kind in self.kinds:
            why = f"  not here: {self.unable[kind]}" if kind in self.unable else ""
            print(f"{kind:<20}{self.tried[kind]:>8}{self.survived[kind]:>10}{why}")


def once(given, harm, kind, table):
    """Runs a kind in the current directory. Returns whether its files may be removed."""
    try:
        times = harms.KINDS[kind][0](harm) or 1
        table.tried[kind] += times
        table.survived[kind] += times
        return True
    except runs.Unable as reason:
        table.unable[kind] = reason
        return True
    except runs.Broken as what:
        table.tried[kind] += what.tried
        table.survived[kind] += what.survived
        print(f"chaos: {kind}, --seed {given.seed} --round {harm.number}: {what}", flush=True)
        return not given.keep
    finally:
        runs.end_all()


def one_round(given, number, mounts, table, place, late):
    """Runs each kind as often as harms.KINDS says. Once late() is true, runs only kinds that were never tried, once."""
    os.mkdir(place)
    dataset = harms.Dataset(given, random.Random(f"{given.seed} {number}"), os.path.join(place, "whole"))
    for kind in table.kinds:
        for time_of_it in range(harms.KINDS[kind][1]):
            if kind in table.unable or (late() and (table.tried[kind] > 0 or time_of_it > 0)):
                break
            here = os.path.join(place, f"{kind}.{time_of_it}")
            os.mkdir(here)
            os.chdir(here)
            luck = random.Random(f"{given.seed} {number} {kind} {time_of_it}")
            forget = once(given, harms.Harm(given, luck, dataset, mounts, number), kind, table)
            os.chdir(place)
            if forget:
                shutil.rmtree(here)
    os.chdir("/")
    if not given.keep:
        shutil.rmtree(place)


def main():
    mounts = with_own_mounts()
    given = arguments()
    table = Table(given.kind or list(harms.KINDS))
    began = time.monotonic()
    scratch = os.environ["TMPDIR"] = tempfile.mkdtemp(prefix="hpcw-chaos.")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    print(f"chaos: seed {given.seed}, {given.minutes:g} min, in {scratch}", flush=True)

    def over():
        return time.monotonic() - began > 60 * given.minutes

    first = number = given.round or 0
    try:
        while number == first or (given.round is None and not over()):
            one_round(given, number, mounts, table, os.path.join(scratch, f"round.{number}"), over)
            number += 1
    finally:
        runs.end_all()
        os.chdir("/")
        if given.keep and not table.all_survived():
            print(f"chaos: kept {scratch}")
        else:
            shutil.rmtree(scratch, ignore_errors=True)
        table.print()
        print(f"chaos: seed {given.seed}, {number - first} rounds, {(time.monotonic() - began) / 60:.1f} min")
    return 0 if table.all_survived() else 1


if __name__ == "__main__":
    sys.exit(main())
