# SPDX-License-Identifier: BSD-3-Clause
"""
Gives small hostile inputs to every command that reads files, with little memory and time:

    replay.py HPCGEN HPCW-BENCH [NAME]

Each run must end by itself, with a documented status. One that fails says why in one line. No output has control characters.
"" for HPCW-BENCH leaves its inputs out. With NAME, only the inputs of this name are used, and the runs are shown.
"""
import os
import re
import resource
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from inputs import inputs, results  # noqa: E402

MEMORY = 600 << 20
SECONDS = 10
# What a terminal may take for a command: controls but the line feed, U+0080 to U+009F, and what is not UTF-8.
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\udc80-\udcff]")
sanitized = "SANITIZED" in os.environ


def limit():
    if not sanitized:  # their shadow takes terabytes of addresses
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def judge(run, program):
    """What is wrong with a run, or None."""
    out, err = (text.decode("utf-8", "surrogateescape") for text in (run.stdout, run.stderr))
    lines = err.splitlines()
    if run.returncode not in (0, 1, 2):
        return f"status {run.returncode}"
    if CONTROL.search(out) or CONTROL.search(err):
        return "control characters in the output"
    if run.returncode != 0 and not (lines and lines[-1].startswith(f"{program}: ")):
        return "no line says why"
    several = "verify" in run.args or "repair" in run.args  # a line for each damaged file
    if run.returncode != 0 and len(lines) != 1 and not several or len(lines) > 20:
        return f"{len(lines)} lines"
    return None


def main():
    hpcgen, bench, only = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3:4]
    runs = failed = 0
    with tempfile.TemporaryDirectory() as at:
        rows = [(hpcgen, *row) for row in inputs(at, hpcgen)]
        rows += [(os.path.abspath(bench), *row) for row in results(at, None)] if bench else []
        for program, name, command in rows:
            if only and name not in only:
                continue
            run = subprocess.run([program, *command], cwd=at, stdin=subprocess.DEVNULL, capture_output=True,
                                 preexec_fn=limit, check=False)
            runs += 1
            wrong = judge(run, os.path.basename(program))
            if wrong or only:
                print(f"{name}: {wrong}: {command}\n{run.stdout[:300]!r}\n{run.stderr[-300:]!r}")
            failed += wrong is not None
    print(f"{runs} runs, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
