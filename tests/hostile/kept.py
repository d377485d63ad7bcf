# SPDX-License-Identifier: BSD-3-Clause
"""
Checks that replay.py finds a program that dies of altered inputs: kept.py REPLAY HPCGEN. The program is
hpcgen, but `info` kills itself. It must die again of the inputs that replay.py keeps. The same seed must make the same inputs.
"""
import os
import re
import shlex
import subprocess
import sys
import tempfile


def contents(folder):
    """Returns the files below a directory, except scripts that contain its name."""
    found = {}
    for at, _, names in os.walk(folder):
        for name in names:
            if name != "again.sh":
                with open(os.path.join(at, name), "rb") as f:
                    found[os.path.relpath(os.path.join(at, name), folder)] = f.read()
    return found


def main():
    replay, hpcgen = sys.argv[1:]
    with tempfile.TemporaryDirectory() as at:
        program = f"{at}/hpcgen"
        with open(program, "w") as f:
            f.write(f"#!/bin/sh\n[ \"$1\" = info ] && kill -KILL $$\nexec {shlex.quote(os.path.abspath(hpcgen))} \"$@\"\n")
        os.chmod(program, 0o755)
        kept = []
        for _ in range(2):
            run = subprocess.run([sys.executable, replay, program, "", "--runs", "60", "--seed", "1"], capture_output=True,
                                 env={**os.environ, "TMPDIR": at}, text=True, check=False)
            scripts = re.findall(r"^again: sh (.*)/again.sh$", run.stdout, re.MULTILINE)
            if run.returncode != 1 or not scripts:
                sys.exit(f"expected status 1 and runs that died, got {run.returncode}: {run.stdout}{run.stderr}")
            kept.append([contents(folder) for folder in scripts])
        if kept[0] != kept[1] or not any(kept[0]):
            sys.exit("expected the same inputs twice, got others")
        again = subprocess.run(["sh", f"{scripts[0]}/again.sh"], capture_output=True, check=False)
        if again.returncode not in (-9, 128 + 9):
            sys.exit(f"{scripts[0]}/again.sh: expected a program that dies, got status {again.returncode}: {again.stderr}")


if __name__ == "__main__":
    main()
