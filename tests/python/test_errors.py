# SPDX-License-Identifier: BSD-3-Clause
"""The class of each failure: one of hpcw's, which is also Python's own where Python has one. The message names the file."""
import os
import pty
import subprocess
import sys

import pytest

import hpcw


def test_failures_of_hpcgen(dataset, tmp_path):
    none = str(tmp_path / "none")
    for call in (lambda: hpcw.info(none), lambda: hpcw.verify(none), lambda: hpcw.score([], none), lambda: hpcw.score(none, dataset),
                 lambda: hpcw.generate(f"{none}/out", ranks=4, show=False),
                 lambda: hpcw.generate(tmp_path / "out", ranks=4, workload=f"{none}.lua", show=False)):
        with pytest.raises(hpcw.HpcwNotFoundError, match=f"^{none}.*: No such file or directory$"):
            call()
    with pytest.raises(hpcw.HpcwNotFoundError, match="manifest.json/out: .*: Not a directory"):
        hpcw.generate(f"{dataset}/manifest.json/out", ranks=4, show=False)


def test_hpcgen_that_was_killed(tmp_path, monkeypatch):
    (tmp_path / "hpcgen").write_text("#!/bin/sh\necho 'hpcgen: 12 %' >&2\nkill -9 $$\n")
    (tmp_path / "hpcgen").chmod(0o755)
    monkeypatch.setenv("HPCW_HPCGEN", str(tmp_path / "hpcgen"))
    with pytest.raises(hpcw.HpcwError, match="^hpcgen info: expected it to end by itself, got signal 9$") as killed:
        hpcw.info("x")
    assert killed.value.status == hpcw.Status.EIO


def test_failures_in_a_terminal(dataset):
    """The message of hpcgen is in the exception, also where sys.stderr is a terminal."""
    ours, its = pty.openpty()
    program = f"import hpcw\ntry:\n    hpcw.generate({dataset!r}, ranks=8)\nexcept hpcw.HpcwError as e: print(type(e).__name__, e)"
    run = subprocess.run([sys.executable, "-c", program], text=True, stdout=subprocess.PIPE, stderr=its, check=True)
    os.close(its)
    os.close(ours)
    assert run.stdout.startswith(f"HpcwExistsError {dataset}/manifest.json: a dataset with other parameters exists")
