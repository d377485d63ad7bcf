# SPDX-License-Identifier: BSD-3-Clause
"""A case has a command, the files before it, and rules for what the command leaves when it dies at any point.

A case has two complete states, "old" and "new": the trees of files before the command and after an undisturbed one. Some
cases have more states. After a death:

- At once: a reader accepts only complete states. A file with a final name has the bytes of one of the states. Files that are
  the same in both states exist.
- After the next start (the same command, or another one that a user would run): the tree is exactly that of one of the
  states, without additional temporary files, markers and directories. After the same command it is the new state.

If a rule is broken, a case raises points.Broken.
"""
import json
import os
import re
import shutil

import points
import runs
from points import Broken

LAYOUTS = ("scr-1.1", "scr-1.2", "scr-3", "shared")
TASKS = 4


class Case:
    """Base of all cases. Commands run in the directory with the trees."""

    ways = ("kill", "fail", "look")
    same_output = True  # every run prints the same
    syncs = ()  # levels of durability for the model of lost writes
    may_be_none = False  # a reader may find nothing before the next start
    same_bytes = True  # every run gives the same bytes
    keeps = True  # what is the same in all states stays
    changing = ()  # files with more intermediate contents than the states

    def __init__(self, name, programs, processes=1):
        self.name, self.programs, self.processes = name, programs, processes
        self.states = {}
        self.point = None  # the call at which it was harmed
        self.power_failed = False  # the host has restarted since

    # ---- methods that cases override

    def make_old(self):
        """Makes the files before the command, in the current directory."""

    def command(self, sync=None):
        raise NotImplementedError

    def look(self):
        """Returns the state that a reader accepts and the reader's output. The state is "none" if there are no files, and None
        if the reader refuses them."""
        raise NotImplementedError

    def sees(self, name):
        """Returns the same as look(). The caller knows that the files are those of the state `name`."""
        return self.look()

    def nexts(self):
        """Returns functions by name. Each starts a next command, and returns the states that may exist afterwards."""
        return {"again": self.again}

    def undisturbed(self, calls):
        """Called with the list of system calls of an undisturbed run. By default, does nothing."""

    def more_states(self):
        """Further complete states by name, made in the directory with the old state."""
        return {}

    def promised(self, sync):
        """Returns whether, at this level of durability, the next start must find or make a complete state after a
        power failure."""
        return sync == "directory"

    def reported(self, sync):
        """Returns whether, at this level, results reported as done must survive a power failure."""
        return sync == "directory"

    # ---- methods of all cases

    def run(self, *command, status=0):
        """Runs a command that must end with this status; None: any status."""
        done = runs.run(*command)
        if status is not None and done.status != status:
            raise Broken(f"{done}: status {done.status}: {done.output[-300:]}")
        return done

    def again(self):
        self.run(*self.programs.launched(self.command(), self.processes))
        return ("new",)

    def files(self):
        return points.tree(".")

    def at_once(self):
        """Checks what must hold before the next start."""
        now = points.named(self.files())
        for name, what in now.items():
            if name not in self.changing and not any(name in state and state[name] == what for state in self.states.values()):
                raise Broken(f"at once: bytes of no state in {name}")
        states = list(self.states.values())
        for name, what in states[0].items() if self.keeps else ():
            if all(name in state and state[name] == what for state in states) and now.get(name, 0) != what:
                raise Broken(f"at once: lost {name}")
        self.accepted(now)

    def accepted(self, now):
        """Checks that a reader accepts only complete states."""
        state, why = self.look()
        if state in self.states:
            self.holds(now, state)
        elif state == "none":
            if not (self.may_be_none or not self.states["old"]):
                raise Broken(f"at once: a reader finds nothing, neither old nor new: {why}")
        elif not self.unfinished():
            raise Broken(f"at once: a reader finds neither old nor new: {why}")

    def after_loss(self, sync, then):
        """Checks what must hold after a power failure. If promised() is false, the next start may fail, but readers accept only
        complete states."""
        if self.promised(sync):
            self.accepted(points.named(self.files()))
            self.afterwards(self.nexts()[then](), strict=False)
            return
        self.refuses()
        try:
            self.nexts()[then]()
        except Broken:
            pass
        self.refuses()

    def refuses(self):
        """Checks that a reader accepts only complete states."""
        state, why = self.look()
        if state in self.states:
            self.holds(points.named(self.files()), state)
        elif state not in (None, "none"):
            raise Broken(f"a reader accepts {state}: {why}")

    def holds(self, now, state):
        """Checks the tree `now`, which a reader has accepted as `state`. By default, checks nothing."""

    def unfinished(self):
        """Returns whether a reader may refuse the files before the next start."""
        return False

    def afterwards(self, allowed, strict=True):
        """Checks what must hold after the next start. Not strict: temporary files may exist."""
        now = self.files() if strict else points.named(self.files())
        for name in allowed:
            if now == (self.states[name] if strict else points.named(self.states[name])):
                state, why = self.sees(name)
                if state not in (name, "none" if not self.states[name] else name):
                    raise Broken(f"afterwards: the files are those of the {name} state, but a reader finds {state}: {why}")
                return name
        nearest = min(allowed, key=lambda name: len(points.difference(self.states[name], now)))
        raise Broken(f"afterwards: not {' or '.join(allowed)}; from {nearest}: {points.difference(self.states[nearest], now)}")


# ---- writers --------------------------------------------------------------------------------------------------------

class Writer(Case):
    """A writer of the library: tests/crash/writers.c."""

    ways = ("kill", "fail", "look", "lost")
    syncs = ("directory", "file", "none")

    def __init__(self, name, programs, what, path, new=(), old=None, processes=1, is_set=False):
        super().__init__(name, programs, processes)
        self.what, self.path, self.new, self.old = what, path, new, old
        self.may_be_none = is_set or old is None

    def writer(self, word, *more):
        return [self.programs.writers, self.what, self.path, word, f"tasks={TASKS}", *more]

    def make_old(self):
        if self.old is not None:
            self.run(*self.writer("old", *self.old))

    def command(self, sync=None):
        command = self.writer("new", *self.new, *([f"sync={sync}"] if sync else []))
        if self.processes > 1:
            command[0] = self.programs.writers_mpi
        return command

    def again(self):
        """Runs the writer again on one process, which makes the same bytes as several processes."""
        self.run(*self.writer("new", *self.new))
        return ("new",)

    def open_only(self):
        """The next program opens the same name and ends without a close."""
        self.run(*self.writer("third", *self.new, "end=open"))
        return ("old", "new")

    def nexts(self):
        return {"again": self.again, "open": self.open_only}

    def look(self):
        done = runs.run(*self.writer("-", *self.new))
        if done.status == 0:
            return done.output, done.output
        return (None if os.path.exists(self.path) else "none"), done.output

    def holds(self, now, state):
        now = points.named(self.files())  # the reader may have finished what a dead writer began
        missing = {name for name, what in self.states[state].items() if now.get(name, 0) != what}
        if missing:
            raise Broken(f"at once: a reader accepts {state}, but without {sorted(missing)}")


class LoadData(Writer):
    """A file for each rank. Readers do not finish the renames of a dead writer. So until the next open for writing, old and
    new files may exist side by side, and the file of rank 0 may be missing."""

    def look(self):
        done = runs.run(*self.writer("-", *self.new))
        if done.status != 0:
            return None, done.output
        words = set(done.output.split())
        return words.pop() if len(words) == 1 else "mixed", done.output

    def accepted(self, now):
        state, why = self.look()
        if state is None:
            raise Broken(f"at once: a reader refuses load data: {why}")
        if self.old is not None and "none" in why.split()[1:]:
            raise Broken(f"at once: the load data of a rank after the first are gone: {why}")

    def refuses(self):
        if "third" in self.look()[1]:
            raise Broken("a reader accepts what was never closed")


class Recording(Writer):
    """A log that a program records. Its local files stay when it dies. They are data, which `hpcgen recover`
    reads."""

    ways = ("kill", "fail")

    def __init__(self, name, programs, processes=1):
        super().__init__(name, programs, "log", "run.clog2", ("local=local",), None, processes)

    def writer(self, word, *more):
        command = super().writer(word, *more)
        command[4] = f"tasks={self.processes}"
        return command

    def make_old(self):
        os.mkdir("local")

    def files(self):
        return {name: what for name, what in super().files().items() if not name.startswith("local/")}

    def look(self):
        state, why = super().look()
        short = state is not None and re.fullmatch(r"(new|empty)\nmissing \d+", state)
        return "short" if short else state if state in ("new", "none") else None, why

    same_bytes = False  # the times differ
    recordable = 0  # the last call before the first record

    def undisturbed(self, calls):
        """Finds the last call before the log is written. All calls up to this one are on local files."""
        self.recordable = next(call["n"] for call in calls if "/local/" not in call["path"]) - 1

    def at_once(self):
        state, why = self.look()
        if state not in ("none", "new"):
            raise Broken(f"at once: a log that is not whole: {why}")

    def again(self):
        return Case.again(self)

    def all_recorded(self):
        """Returns whether the program died after its last record. One of several processes may die while others record."""
        return self.processes == 1 and self.point > self.recordable

    def recover(self):
        """Merges the local files, then starts again."""
        local = sorted(os.path.join("local", name) for name in os.listdir("local"))
        if self.look()[0] == "none" and local:
            done = self.run(self.programs.hpcgen, "recover", "--quiet", "--output", "run.clog2", *local, status=None)
            if done.status == 0:
                state, why = self.look()
                if state != "new" and (state != "short" or self.all_recorded()):
                    raise Broken(f"recovered: {why}")
                os.remove("run.clog2")
            elif self.all_recorded():
                raise Broken(f"{done}: status {done.status}: {done.output}")
        return self.again()

    def nexts(self):
        return {"recover": self.recover}

    def afterwards(self, allowed, strict=True):
        state, why = self.look()
        left = self.files().keys() - {"run.clog2"}
        if state != "new" or left:
            raise Broken(f"afterwards: {state}, {why}; left: {sorted(left)}")
        return state


# ---- checkpoints ----------------------------------------------------------------------------------------------------

class Checkpoints(Case):
    """Datasets of a prefix directory. Their index is compared by its content, not by its bytes."""

    prefix = "scr"
    changing = ("scr/.scr/index.scr",)  # datasets are added and dropped one by one

    def dataset(self, number, word, layout):
        self.run(self.programs.writers, "rank2file", self.prefix, word, f"id={number}", f"layout={layout}", f"tasks={TASKS}")

    def scr(self, action, *more, status=0):
        return self.run(self.programs.hpcgen, "scr", action, self.prefix, *more, status=status)

    def listed(self):
        """Returns the names in the index."""
        if not os.path.exists(f"{self.prefix}/.scr/index.scr"):
            return set()
        return {dataset["name"] for dataset in json.loads(self.scr("list", "--json").output)["datasets"]}

    def files(self):
        now = points.tree(".")
        index = f"{self.prefix}/.scr/index.scr"
        if index in now:
            now[index] = self.scr("list", "--json", status=None).output
        return now

    def look(self):
        """Checks that every listed dataset is intact."""
        if not os.path.exists(f"{self.prefix}/.scr/index.scr"):
            return "none", "no index"
        done = self.scr("check", status=None)
        return ("sound" if done.status == 0 else None), done.output

    def accepted(self, now):
        state, why = self.look()
        if state is None:
            raise Broken(f"at once: a dataset that is listed is not sound: {why[-300:]}")

    def sees(self, name):
        state, why = self.look()
        return (name if state is not None else None), why[-300:]

    def refuses(self):
        """Checks that an intact dataset has exactly the files of one of the states."""
        if not os.path.exists(f"{self.prefix}/.scr/index.scr"):
            return
        said = re.search(r"^\{.*^\}", self.scr("check", "--json", status=None).output, re.DOTALL | re.MULTILINE)
        now = points.named(points.tree("."))
        for dataset in json.loads(said[0])["datasets"] if said else ():
            if dataset.get("sound") and not any(self.part(now, dataset["name"]) == self.part(state, dataset["name"])
                                                for state in self.states.values()):
                raise Broken(f"{dataset['name']} is taken for sound, with files of no state")

    def part(self, files, name):
        """Returns the data files of a dataset."""
        start = f"{self.prefix}/{name}/"
        return {path: what for path, what in files.items() if path.startswith(start) and not path.startswith(start + ".scr/")}

    def prune(self):
        self.scr("prune")
        return tuple(self.states)

    def reindex(self):
        """Checks that datasets no longer in the index do not come back from their remains."""
        before = self.listed()
        self.scr("reindex", status=0 if before else None)
        state, why = self.look()
        if state is None:
            raise Broken(f"after reindex: not sound: {why[-300:]}")
        gone = self.names("old") - before
        back = sorted(name for name in self.listed() & gone if self.is_old(name))
        if back:
            raise Broken(f"reindex brings back {', '.join(back)}, which had left the index")
        self.scr("prune")
        return tuple(self.states)

    def is_old(self, name):
        """Returns whether a listed dataset is that of the old state, not one that the command wrote."""
        return True

    def names(self, state):
        """Returns the names of the datasets in the index of a state."""
        text = self.states[state].get(f"{self.prefix}/.scr/index.scr")
        return {dataset["name"] for dataset in json.loads(text)["datasets"]} if text else set()


class CheckpointWriter(Checkpoints):
    """A dataset is written over an older dataset of the same name. Complete states have the old dataset, the new dataset or
    neither of them."""

    ways = ("kill", "fail", "look", "lost")
    syncs = ("directory", "file", "none")

    def __init__(self, name, programs, layout, processes=1, fresh=False):
        super().__init__(name, programs, processes)
        self.layout, self.fresh = layout, fresh

    def make_old(self):
        if not self.fresh:
            self.dataset(1, "old", self.layout)
            self.dataset(2, "third", self.layout)

    def command(self, sync=None):
        program = self.programs.writers_mpi if self.processes > 1 else self.programs.writers
        return [program, "rank2file", self.prefix, "new", "id=1", f"layout={self.layout}", f"tasks={TASKS}", "replace=1",
                *([f"sync={sync}"] if sync else [])]

    def more_states(self):
        """In the state "without", neither the old nor the new dataset exists."""
        if not self.fresh:
            self.scr("drop", "ckpt.1")
            return {"without": self.files()}
        return {}

    def again(self):
        command = self.command()
        command[0] = self.programs.writers
        self.run(*command)
        return ("new",)

    def is_old(self, name):
        command = self.command()
        command[0], command[3] = self.programs.writers, "-"
        return self.run(*command).output == "old"

    def prune(self):
        """prune keeps a complete checkpoint whose writer died before it changed the index; reindex adds it to the index."""
        allowed = super().prune()
        index = f"{self.prefix}/.scr/index.scr"
        now, new = points.tree("."), self.states["new"]
        if "ckpt.1" not in self.listed() and all(now.get(path) == what for path, what in new.items() if path != index):
            self.scr("reindex")
            self.scr("prune")
            return ("new",)
        return allowed

    def pruned_fresh(self):
        """A prefix without an index: prune has nothing to read, so repeating the command cleans up."""
        self.scr("prune", status=None)
        return self.again()

    def nexts(self):
        if self.fresh:
            return {"again": self.again, "prune": self.pruned_fresh}
        return {"again": self.again, "prune": self.prune, "reindex": self.reindex}


class Maintenance(Checkpoints):
    """drop, prune, prune --keep, reindex and current, for three complete datasets and one that a dead writer left."""

    ways = ("kill", "fail", "look", "lost")
    syncs = ("default",)

    def __init__(self, name, programs, layout, action, *arguments):
        super().__init__(name, programs)
        self.layout, self.action, self.arguments = layout, action, arguments

    def make_old(self):
        for number in (1, 2, 3):
            self.dataset(number, "old", self.layout)
        if self.action == "prune":
            # Lets a writer die after it has renamed its files and before it renames the summary.
            log = os.path.abspath("log")
            fourth = [self.programs.writers, "rank2file", self.prefix, "old", "id=4", f"layout={self.layout}", f"tasks={TASKS}"]
            order = ["--kill", "30:after"]
            if not points.Traced(self.programs, fourth, self.prefix, log, order=order).died():
                raise RuntimeError("the writer before prune did not die")
            os.remove(log)
        if self.action == "reindex":
            os.remove(f"{self.prefix}/.scr/index.scr")

    def command(self, sync=None):
        return [self.programs.hpcgen, "scr", self.action, "--quiet", self.prefix, *self.arguments]

    def again(self):
        """The same command; after a finished drop there is nothing left to drop."""
        self.run(*self.command(), status=None if self.action == "drop" else 0)
        return ("new",)

    def nexts(self):
        if self.action == "reindex":
            return {"again": self.again}
        return {"again": self.again, "prune": self.prune, "reindex": self.reindex, "write": self.write}

    def write(self):
        """Writes another checkpoint and drops it. The command that died may be finished or undone afterwards."""
        self.dataset(9, "new", self.layout)
        self.scr("drop", "ckpt.9")
        return self.prune()

    def more_states(self):
        """prune --keep drops datasets one by one and may die in between. Any prune removes the dead writer's
        leftovers."""
        found = {}
        if "--keep" in self.arguments:
            self.scr("prune")
            found["pruned"] = self.files()
            for name in ("ckpt.1", "ckpt.2"):
                points.copy(self.prefix, "../kept")
                self.scr("drop", name)
                found[f"without {name}"] = self.files()
                shutil.rmtree(self.prefix)
                os.rename("../kept", self.prefix)
        return found

    def promised(self, sync):
        return True

    def reported(self, sync):
        return False


# ---- hpcgen ---------------------------------------------------------------------------------------------------------

class Dataset(Case):
    """A directory that hpcgen writes. verify refuses it until it is complete."""

    ways = ("kill", "fail", "look", "lost")
    syncs = ("directory", "none")
    out = "out"

    def __init__(self, name, programs, old=None, arguments=(), processes=1):
        super().__init__(name, programs, processes)
        self.old, self.arguments = old, list(arguments)

    def hpcgen(self, *more):
        return [self.programs.hpcgen, "--quiet", "--ranks", 4, "--scale", "tiny", "--out", self.out, "--jobs", 1, *more]

    def make_old(self):
        if self.old is not None:
            self.old(self)

    def command(self, sync=None):
        return self.hpcgen("--seed", 5, *self.arguments, *self.more(sync))

    def more(self, sync):
        """Returns the options of the next run. After a power failure the user knows that no other run lives: --takeover."""
        return ["--sync"] * (sync == "directory") + ["--takeover"] * self.power_failed

    def look(self):
        if not os.path.exists(self.out):
            return "none", f"no {self.out}"
        done = self.run(self.programs.hpcgen, "verify", "--quiet", self.out, status=None)
        if done.status not in (0, 1):
            raise Broken(f"{done}: status {done.status}: {done.output}")
        if done.status == 1:
            return None, done.output
        now = points.named(self.files())
        for name, state in self.states.items():
            if now == points.named(state):
                return name, "accepted"
        raise Broken(f"verify accepts what is neither old nor new: {points.difference(points.named(self.states['new']), now)}")

    def accepted(self, now):
        state, _ = self.look()
        if state == "none" and self.states["old"]:
            raise Broken("at once: the old dataset is gone")

    def resume(self):
        self.run(*self.command(), "--resume")
        return ("new",)

    def nexts(self):
        return {"resume": self.resume}

    def sees(self, name):
        """verify refuses an old state that is damaged or unfinished."""
        state, why = self.look()
        return (name if state is None and name == "old" else state), why


class Forced(Dataset):
    """hpcgen --force replaces an older dataset of another seed. The older dataset is removed first."""

    keeps = False

    def make_old(self):
        self.run(*self.hpcgen("--seed", 4))

    def command(self, sync=None):
        return super().command(sync) + ["--force"]

    def nexts(self):
        return {"again": self.again, "resume": self.resume}

    def resume(self):
        """Resumes the run. If this is refused, starts the run again with --force."""
        done = self.run(*super().command(), "--resume", status=None)
        return ("new",) if done.status == 0 else self.again()


class Joined(Dataset):
    """Joins a dataset whose two parts are complete."""

    ways = ("kill", "fail", "look", "lost")

    def make_old(self):
        for part in ("1/2", "2/2"):
            self.run(*self.hpcgen("--seed", 5, "--files", 2, "--part", part))

    def command(self, sync=None):
        return [self.programs.hpcgen, "join", "--quiet", self.out, *self.more(sync)]

    def nexts(self):
        return {"again": self.again}


class Repaired(Dataset):
    """A dataset with lost, truncated and changed files, and lost directories."""

    def make_old(self):
        self.run(*self.hpcgen("--seed", 5))
        os.remove("out/clog2/app.clog2")
        os.rmdir("out/clog2")
        shutil.rmtree("out/scr/scr.dataset.1")
        os.truncate("out/vom/data.1.json.br", 10)
        with open("out/sion/particles.sion.000001", "r+b") as changed:
            changed.seek(5000)
            changed.write(b"changed")

    def command(self, sync=None):
        return [self.programs.hpcgen, "repair", "--quiet", self.out, "--jobs", 1, *self.more(sync)]

    def nexts(self):
        return {"again": self.again}


class Product(Case):
    """A file or a new directory that export, rewrite or recover makes from a dataset."""

    ways = ("kill", "fail", "look", "lost")
    syncs = ("directory", "none")

    def __init__(self, name, programs, arguments, older=False, sync=True):
        super().__init__(name, programs)
        self.arguments, self.older = arguments, older
        self.syncs = self.syncs if sync else ()

    def make_old(self):
        self.run(self.programs.hpcgen, "--quiet", "--ranks", 4, "--scale", "tiny", "--out", "out", "--seed", 5, "--jobs", 1)
        if self.older:
            self.run(*self.command())
            with open(self.output(), "ab") as changed:
                changed.write(b"older")

    def output(self):
        return self.arguments[self.arguments.index("--output") + 1] if "--output" in self.arguments else self.arguments[2]

    def command(self, sync=None):
        return [self.programs.hpcgen, *self.arguments, "--quiet", *(["--sync"] if sync == "directory" else [])]

    def unfinished(self):
        return not os.path.exists(self.output())  # the first file of a set is renamed last

    def again(self):
        """Runs the command again. It replaces a file. If the directory already exists, the command may fail."""
        there = os.path.isdir(self.output())
        self.run(*self.command(), status=None if there else 0)
        return ("new",)

    def files(self):
        """Returns the tree without the bytes of the anchor file of an OTF2 trace, which has a random number."""
        return {name: "any" if name.endswith("/traces.otf2") else what for name, what in super().files().items()}

    def look(self):
        now = points.named(self.files())
        for name, state in self.states.items():
            if now == points.named(state):
                return name, "accepted"
        return None, points.difference(points.named(self.states["old"]), now)


class Fitted(Product):
    """The configuration of a twin of a log, with the workload beside it. A reader takes them for one twin."""

    ways = ("kill", "fail", "look")

    def __init__(self, name, programs):
        super().__init__(name, programs, ["fit", "out/clog2/app.clog2", "--partial", "--output", "log.ini"], older=True, sync=False)

    def make_old(self):
        super().make_old()
        with open("log.lua", "ab") as changed:
            changed.write(b"-- older")


class Recovered(Product):
    """A log from the local file of a program that died."""

    ways = ("kill", "fail", "look")

    def __init__(self, name, programs):
        super().__init__(name, programs, ["recover", "--output", "run.clog2", "dead.local"], sync=False)

    def make_old(self):
        os.mkdir("local")
        writer = [self.programs.writers, "log", "app.clog2", "new", "tasks=1", "local=local"]
        log = os.path.abspath("log")
        calls = len(points.Traced(self.programs, writer, ".", log).calls)
        if not points.Traced(self.programs, writer, ".", log, order=["--kill", f"{calls - 2}:before"]).died():
            raise RuntimeError("the recording did not die")
        os.rename(os.path.join("local", os.listdir("local")[0]), "dead.local")
        os.rmdir("local")
        for path in ["log"] + [name for name in os.listdir(".") if name.startswith((".hpcw", "app"))]:
            os.remove(path)


class Reader(Case):
    """A command that changes nothing in a dataset, its checkpoints or one of its files."""

    ways = ("look",)

    def __init__(self, name, programs, arguments):
        super().__init__(name, programs)
        self.arguments = arguments

    def make_old(self):
        self.run(self.programs.hpcgen, "--quiet", "--ranks", 4, "--scale", "tiny", "--out", "out", "--seed", 5, "--jobs", 1)
        with open("findings.json", "w") as findings:
            findings.write('{"findings": []}')

    def command(self, sync=None):
        return [self.programs.hpcgen, *self.arguments]

    def look(self):
        now = self.files()
        return ("new" if now == self.states["old"] else None), points.difference(self.states["old"], now)

    def sees(self, name):
        return name, "the files are the same"


# ---- list of all cases ----------------------------------------------------------------------------------------------

def unfinished(case):
    """A dataset whose run died half-way."""
    log = os.path.abspath("log")
    calls = len(points.Traced(case.programs, case.hpcgen("--seed", 5), ".", log).calls)
    shutil.rmtree(case.out)
    if not points.Traced(case.programs, case.hpcgen("--seed", 5), ".", log, order=["--kill", f"{calls // 2}:before"]).died():
        raise RuntimeError("the run before resume did not die")
    os.remove(log)


class Resumed(Dataset):
    """hpcgen --resume continues an unfinished dataset."""

    def command(self, sync=None):
        return super().command(sync) + ["--resume"]

    def resume(self):
        self.run(*self.command())
        return ("new",)

    def accepted(self, now):
        self.look()


READERS = (
    ("verify", "verify", "out"),
    ("verify-deep", "verify", "--deep", "out"),
    ("info-sion", "info", "out/sion/particles.sion"),
    ("info-linktest", "info", "out/linktest/pingpong_results_bin.sion"),
    ("info-vom", "info", "out/vom"),
    ("info-clog2", "info", "out/clog2/app.clog2"),
    ("info-scr", "info", "out/scr"),
    ("scr-list", "scr", "list", "out/scr"),
    ("scr-check", "scr", "check", "out/scr"),
    ("score", "score", "findings.json", "out"),
    ("compare", "fit", "--compare", "out", "out"),
)


def all_cases(programs):
    """Returns every case, in the order of the table."""
    cases = []

    def writer(name, *arguments, kind=Writer, **more):
        cases.append(kind(name, programs, *arguments, **more))
        if programs.mpiexec:
            cases.append(kind(name + "-np4", programs, *arguments, processes=4, **more))

    writer("sion", "sion", "s.sion", old=())
    writer("sion-set-new", "sion", "s.sion", ["files=2"], is_set=True)
    writer("sion-set", "sion", "s.sion", ["files=2"], old=["files=2"], is_set=True)
    writer("sion-set-more", "sion", "s.sion", ["files=4"], old=["files=2"], is_set=True)
    writer("sion-set-less", "sion", "s.sion", ["files=2"], old=["files=3"], is_set=True)
    writer("sion-set-one", "sion", "s.sion", [], old=["files=3"], is_set=True)
    writer("linktest", "linktest", "l.sion", old=())
    writer("linktest-set", "linktest", "l.sion", ["files=2"], old=["files=2"], is_set=True)
    writer("vom", "vom", "lb", kind=LoadData, old=())
    writer("vom-br", "vom", "lb", ["br=1"], kind=LoadData, old=["br=1"])
    writer("clog2", "clog2", "run.clog2", old=())
    writer("recording", kind=Recording)
    for layout in LAYOUTS:
        writer(f"rank2file-{layout}", layout, kind=CheckpointWriter)
    writer("rank2file-first", "shared", kind=CheckpointWriter, fresh=True)
    for layout in LAYOUTS:
        cases.append(Maintenance(f"drop-{layout}", programs, layout, "drop", "ckpt.1"))
        cases.append(Maintenance(f"prune-{layout}", programs, layout, "prune"))
        cases.append(Maintenance(f"keep-{layout}", programs, layout, "prune", "--keep", 1))
        cases.append(Maintenance(f"reindex-{layout}", programs, layout, "reindex"))
        cases.append(Maintenance(f"current-{layout}", programs, layout, "current", "ckpt.1"))
    cases.append(Dataset("generate", programs))
    if programs.mpiexec:
        cases.append(Dataset("generate-np4", programs, processes=4))
    cases.append(Resumed("resume", programs, old=unfinished))
    cases.append(Forced("force", programs))
    cases.append(Joined("join", programs))
    cases.append(Repaired("repair", programs))
    cases.append(Product("export-file", programs, ["export", "out/vom", "--output", "tasks.csv"], older=True))
    cases.append(Product("export-tasks", programs, ["export", "out/sion/particles.sion", "--output", "tasks", "--form", "tasks"]))
    cases.append(Product("export-otf2", programs, ["export", "out/clog2/app.clog2", "--output", "log", "--form", "otf2"]))
    cases.append(Product("rewrite-sion", programs, ["rewrite", "out/sion/particles.sion", "two.sion", "--files", "2"]))
    cases.append(Product("rewrite-vom", programs, ["rewrite", "out/vom", "lbaf", "--as", "lbaf"]))
    cases.append(Product("rewrite-scr", programs, ["rewrite", "out/scr", "run", "--as", "scr-3"]))
    cases.append(Fitted("fit", programs))
    cases.append(Recovered("recover", programs))
    for name, *words in READERS:
        cases.append(Reader(name, programs, words))
    return cases
