# SPDX-License-Identifier: BSD-3-Clause
"""The steps of doc/tutorial.md do what the page says.

Programs are stored under the name in their first line, and all commands run in one shell. The commands of a block must print
each line of the output that the page shows, in the same order. They may print more lines. Times of runs may differ.
"""
import os
import re
import subprocess
import sys

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", flags=re.M | re.S)


def masked(text):
    return re.sub(r"\b[\d.]+ (ms|s)\b", "TIME", text).splitlines()


def program(path, words):
    path.write_text(f"#!/bin/sh\nexec {words} \"$@\"\n")
    path.chmod(0o755)


def test_tutorial(source, tmp_path):
    with open(os.path.join(source, "doc/tutorial.md"), encoding="utf-8") as file:
        blocks = BLOCK.findall(file.read())
    clone, first, programs = (tmp_path / name for name in ("clone", "first", "programs"))
    for folder in (clone, first, programs):
        folder.mkdir()
    (clone / "build").symlink_to(os.environ["HPCW_BUILD"])
    (clone / "examples").symlink_to(os.path.join(source, "examples"))
    program(programs / "python3", sys.executable)
    program(programs / "mpicc", os.environ["HPCW_MPICC"])
    program(programs / "mpirun", os.environ["HPCW_MPIEXEC"])

    script, expected = [], []
    for language, text in blocks:
        if language == "sh":
            expected.append([])
            script.append(f"{text}echo '== end of block'\n")
        elif language == "text":
            expected[-1] += masked(text)
        else:
            name = re.match(r"(?:#|/\*) (\S+)", text)[1]
            (first / name).write_text(text)
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    done = subprocess.run(["sh", "-euc", "\n".join(script)], cwd=clone, env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    assert done.returncode == 0, done.stdout
    printed = done.stdout.split("== end of block\n")[:-1]
    assert len(printed) == len(expected) > 8 and sum(map(len, expected)) > 15
    for lines, output in zip(expected, printed):
        found = iter(masked(output))
        for line in lines:
            assert line in found, f"doc/tutorial.md: expected its line {line!r} in:\n{output}"
    for page in ("synth", "steps.clog2", "own.clog2"):
        assert (first / f"{page}.report.html").stat().st_size > 50000
