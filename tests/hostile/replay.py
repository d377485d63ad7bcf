# SPDX-License-Identifier: BSD-3-Clause
"""
Gives small hostile inputs to every command that reads files, with little memory and time:

    replay.py HPCGEN HPCW-BENCH [NAME]
    replay.py HPCGEN HPCW-BENCH [--minutes N] [--runs N] [--seed N] [--first I]

Each run must end by itself, with a documented status. One that fails says why in one line. No output has control characters.
If HPCW-BENCH is "", its inputs are left out. With NAME, only the inputs of this name are used, and the runs are shown.

With --minutes or --runs, each run has altered copies of the inputs and of sound ones: alter.py. Each command has the same
share of the runs. Run I of a seed is always the same: `--seed N --first I --runs 1` does it alone. The inputs of a run that
failed are kept, with a script that runs the command again. SANITIZED in the environment: the programs have a sanitizer, and
memory is not limited.
"""
import argparse
import collections
import math
import os
import random
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import alter  # noqa: E402
from inputs import inputs, of_results, results, sound  # noqa: E402

MEMORY = 600 << 20
SECONDS = 10
BLOCKED = 120  # seconds without processor time after which a run counts as hanging
# What a terminal may take for a command: control characters except line feed, U+0080 to U+009F, and invalid UTF-8.
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\udc80-\udcff]")
sanitized = "SANITIZED" in os.environ


def limit():
    if not sanitized:  # sanitizers' shadow memory takes terabytes of addresses
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run_limited(command, at):
    """Runs a command with limits of memory and time. Returns its result. A status of None means that it did not end."""
    try:
        return subprocess.run(command, cwd=at, stdin=subprocess.DEVNULL, capture_output=True, preexec_fn=limit, check=False,
                              timeout=BLOCKED)
    except subprocess.TimeoutExpired as run:
        return subprocess.CompletedProcess(command, None, run.stdout or b"", run.stderr or b"")


def judge(run, program):
    """Returns what is wrong with a run, or None."""
    out, err = (text.decode("utf-8", "surrogateescape") for text in (run.stdout, run.stderr))
    lines = err.splitlines()
    if run.returncode not in (0, 1, 2):
        return f"status {run.returncode}"
    if "Sanitizer" in err or "runtime error:" in err:
        return "a report of a sanitizer"
    if CONTROL.search(out) or CONTROL.search(err):
        return "control characters in the output"
    if run.returncode != 0 and not (lines and lines[-1].startswith(f"{program}: ")):
        return "no line says why"
    several = "verify" in run.args or "repair" in run.args  # one line for each damaged file
    if run.returncode != 0 and len(lines) != 1 and not several or len(lines) > 20:
        return f"{len(lines)} lines"
    return None


def replay(hpcgen, bench, only):
    runs = failed = 0
    with tempfile.TemporaryDirectory() as at:
        rows = [(hpcgen, *row) for row in inputs(at, hpcgen)]
        rows += [(bench, *row) for row in results(at, None)] if bench else []
        for program, name, command in rows:
            if only and name != only:
                continue
            run = run_limited([program, *command], at)
            runs += 1
            wrong = judge(run, os.path.basename(program))
            if wrong or only:
                print(f"{name}: {wrong}: {command}\n{run.stdout[:300]!r}\n{run.stderr[-300:]!r}")
            failed += wrong is not None
    print(f"{runs} runs, {failed} failed")
    return failed > 0


# ---- altered inputs ----


def kind_of(path):
    """Returns the kind of a file. Files of the same kind can exchange bytes in alter.splice()."""
    with open(path, "rb") as f:
        if alter.is_tree(f.read(4)):
            return "kvtree"
    return "".join(re.findall(r"\.[a-z]\w*", os.path.basename(path))[-2:])


def files_below(path):
    if os.path.isfile(path):
        return [path]
    return sorted(os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names)


class Corpus:
    """Commands, grouped by program, options and kinds of files. A command's inputs are whole entries of the directory `at`: a
    file, or all files of a set."""

    def __init__(self, at, hpcgen, bench):
        self.at = at
        # Configurations are left out: a configuration may ask for a large dataset, and hpcgen makes it.
        rows = [(hpcgen, command) for _, command in inputs(at, hpcgen) if command[0] != "--config"]
        rows += [(hpcgen, command) for command in sound(at, hpcgen)]
        rows += [(bench, command) for _, command in results(at, None)] + [(bench, command) for command in of_results(at)] \
            if bench else []
        self.rows = collections.defaultdict(list)
        for program, command in rows:
            texts = ["*" + os.path.splitext(word)[1] if word.startswith(at) else word for word in command]
            self.rows[" ".join((os.path.basename(program), *texts))].append((program, command))
        self.names = sorted(self.rows)
        self.kinds = collections.defaultdict(list)
        for path in files_below(at):
            self.kinds[kind_of(path)].append(path)

    def entries(self, command):
        below = (word[len(self.at) + 1 :].split("/")[0] for word in command if word.startswith(self.at + "/"))
        return sorted({name for name in below if os.path.exists(f"{self.at}/{name}")})

    def another(self, draw, path):
        """Returns another file of the same kind, or nothing."""
        others = self.kinds.get(kind_of(path), [])
        if not others:
            return b""
        with open(draw.choice(others), "rb") as f:
            return f.read()

    def prepare(self, draw, to):
        """Makes altered inputs below `to`. Returns the program and the command that reads them."""
        program, command = draw.choice(self.rows[draw.choice(self.names)])
        entries = self.entries(command)
        for name in entries:
            copy = shutil.copytree if os.path.isdir(f"{self.at}/{name}") else shutil.copy
            copy(f"{self.at}/{name}", f"{to}/{name}")
        command = [word.replace(self.at + "/", to + "/") for word in command]
        named = [word for word in command if word.startswith(to) and os.path.isfile(word)]
        files = [path for name in entries for path in files_below(f"{to}/{name}")]
        for _ in range(draw.choice((1, 1, 1, 2))):
            path = draw.choice(named) if named and draw.random() < 0.7 else draw.choice(files) if files else None
            if path is not None and os.path.exists(path):
                new = self.alter(draw, path)
                command = [new if word == path else word for word in command]
        return program, command

    def alter(self, draw, path):
        """Alters a file. Returns the new path of the file."""
        with open(path, "rb") as f:
            data = f.read()
        new = alter.altered(draw, data, [self.another(draw, path) for _ in range(2)])
        # Python cannot decompress load data to alter them, but plain ones can be compressed.
        if path.endswith(".json") and os.path.basename(path).startswith("data.") and draw.random() < 0.2:
            os.remove(path)
            path, new = path + ".br", alter.stored(new)
        with open(path, "wb") as f:
            f.write(new)
        return path


def keep(to, prepare):
    """Makes the inputs once more, as the run may have changed them. Returns a script that runs the command in their directory."""
    os.makedirs(to)
    program, command = prepare(to)
    memory = "" if sanitized else f"ulimit -v {MEMORY >> 10}\n"
    with open(f"{to}/again.sh", "wb") as script:
        script.write(os.fsencode(f"cd {shlex.quote(to)} || exit\nulimit -t {SECONDS}\n{memory}{shlex.join((program, *command))}\n"))
    return f"{to}/again.sh"


def fuzz(hpcgen, bench, options):
    kept = None
    statuses = collections.Counter()
    failed = 0
    index = options.first
    print(f"seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory() as at:
        corpus = Corpus(at, hpcgen, bench)
        end = time.monotonic() + 60 * options.minutes
        while time.monotonic() < end and index < options.first + options.runs:
            def prepare(to, draw=f"{options.seed} {index}"):
                return corpus.prepare(random.Random(draw), to)
            with tempfile.TemporaryDirectory() as to:
                program, command = prepare(to)
                run = run_limited([program, *command], to)
            statuses[run.returncode] += 1
            wrong = judge(run, os.path.basename(program))
            if wrong:
                failed += 1
                kept = kept or tempfile.mkdtemp(prefix="hostile-")
                script = keep(f"{kept}/{index}", prepare)
                print(f"run {index}: {wrong}: {command}\n{run.stdout[:300]!r}\n{run.stderr[-300:]!r}\nagain: sh {script}",
                      flush=True)
            index += 1
    ended = ", ".join(f"{n} with status {status}" for status, n in sorted(statuses.items(), key=str))
    print(f"{index - options.first} runs of {len(corpus.names)} commands, seed {options.seed}: {ended}; {failed} failed")
    return failed > 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hpcgen", type=os.path.abspath)
    parser.add_argument("bench", type=lambda path: path and os.path.abspath(path))
    parser.add_argument("name", nargs="?")
    parser.add_argument("--minutes", type=float, default=math.inf)
    parser.add_argument("--runs", type=int, default=math.inf)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--first", type=int, default=0, metavar="I")
    options = parser.parse_args()
    if options.minutes == options.runs:  # neither option is given
        return replay(options.hpcgen, options.bench, options.name)
    return fuzz(options.hpcgen, options.bench, options)


if __name__ == "__main__":
    sys.exit(main())
