# SPDX-License-Identifier: BSD-3-Clause
"""The class of each failure: one of hpcw's, which is also Python's own where Python has one. The message names the file."""
import errno
import os
import pickle
import pty
import shutil
import subprocess
import sys

import numpy as np
import pytest

import hpcw


def test_failures_of_hpcgen(dataset, tmp_path):
    none = str(tmp_path / "none")
    for call in (lambda: hpcw.info(none), lambda: hpcw.verify(none), lambda: hpcw.score([], none),
                 lambda: hpcw.score(none, dataset), lambda: hpcw.generate(f"{none}/out", ranks=4, show=False),
                 lambda: hpcw.generate(tmp_path / "out", ranks=4, workload=f"{none}.lua", show=False)):
        with pytest.raises(hpcw.HpcwNotFoundError, match=f"^{none}.*: No such file or directory$") as missing:
            call()
        assert missing.value.errno == missing.value.sys_errno == errno.ENOENT
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
    program = (f"import hpcw\ntry:\n    hpcw.generate({dataset!r}, ranks=8)\n"
               "except hpcw.HpcwError as e: print(type(e).__name__, e)")
    run = subprocess.run([sys.executable, "-c", program], text=True, stdout=subprocess.PIPE, stderr=its, check=True)
    os.close(its)
    os.close(ours)
    assert run.stdout.startswith(f"HpcwExistsError {dataset}/manifest.json: a dataset with other parameters exists")


def test_failures_of_a_dataset(dataset, tmp_path):
    with pytest.raises(hpcw.HpcwNotFoundError, match=f"^{dataset}/truth.json/manifest.json: cannot read: Not a directory"):
        hpcw.Run(f"{dataset}/truth.json")
    (tmp_path / "manifest.json").mkdir()
    with pytest.raises(hpcw.HpcwError, match=f"^{tmp_path}/manifest.json: cannot read: Is a directory"):
        hpcw.open(tmp_path)
    (tmp_path / "manifest.json").rmdir()
    with open(f"{dataset}/manifest.json", encoding="utf-8") as file:
        large = file.read()
    for text, message in (("[" * 100_000, "expected JSON, got maximum recursion"), ("{}", "expected the parameters"),
                          ("3", "expected the"), ('{"parameters": {"ranks": 4}}', "expected the parameters of a dataset"),
                          (large.replace('"size":', f'"size": {10**400}, "was":', 1), "expected the parameters of a dataset")):
        (tmp_path / "manifest.json").write_text(text)
        with pytest.raises(hpcw.HpcwFormatError, match=f"^{tmp_path}/manifest.json: {message}"):
            hpcw.open(tmp_path)
    shutil.copy(f"{dataset}/manifest.json", tmp_path)
    run = hpcw.open(tmp_path)
    for text in ('{"a": {"cost_s": 1}}', '[{"kind": "x", "cost_s": "1 s"}]', '[{"kind": "x", "switch_a": 1, "cost_s": 1}]',
                 '[{"kind": "x", "phase": %d, "cost_s": 1}]' % 2**70, '[{"kind": "x", "cost_s": %d}]' % 10**400):
        (tmp_path / "truth.json").write_text(text)
        with pytest.raises(hpcw.HpcwFormatError, match=f"^{tmp_path}/truth.json: expected faults with a kind"):
            hpcw.open(tmp_path).faults()
    with pytest.raises(hpcw.HpcwNotFoundError, match="^.*/app.clog2: expected the clog2 data") as missing:
        run.log
    assert missing.value.errno == errno.ENOENT and pickle.loads(pickle.dumps(missing.value)).errno == errno.ENOENT


def test_arguments_of_other_types(dataset, tmp_path):
    run = hpcw.open(dataset)
    with hpcw.sion_create(tmp_path / "keys.sion", content="keys") as f:
        f.write(0, b"abc", key=1)
        for wrong in (lambda: f.write(0, b"abc", key=1.5), lambda: f.write("0", b"abc", key=1),
                      lambda: f.write(1 << 32, b"abc", key=1)):
            with pytest.raises(hpcw.HpcwValueError, match=f"^{tmp_path}/keys.sion: .* expected a .*number.*, got "):
                wrong()
    for wrong in ([1], {}, None):
        with pytest.raises(hpcw.HpcwValueError, match=f"^{run.checkpoints.path}: expected one of .*, got "):
            run.checkpoints.dataset(wrong)
    for wrong in (1.5, "x", b"x", 1 << 64, -1):
        with pytest.raises(hpcw.HpcwValueError, match=f"^{tmp_path}/keys.sion: .*, got {wrong!r}$"):
            hpcw.open(tmp_path / "keys.sion").read(0, key=wrong)
    for window in ({"begin": "x"}, {"end": (1 << 53) + 1}):
        with pytest.raises(hpcw.HpcwValueError, match=f"^{run.log.path}: (from|to): expected .*, got "):
            run.log.states(**window)
    for wrong in (0.0, "x", None, -1, 1):
        for call in (run.links.matrix, run.links.totals, run.links.slowest):
            with pytest.raises(hpcw.HpcwValueError, match=f"^{run.links.path}: expected a permutation below 1, got {wrong!r}$"):
                call(wrong)
    for wrong in ("S", "V0", "O", [("x", "O")], "none", 5, "\udcff", ("u1", 2)):
        with pytest.raises(hpcw.HpcwValueError, match=f"^{run.particles.path}: expected a dtype of elements with a size"):
            run.particles.read(0, wrong)
        with pytest.raises(hpcw.HpcwValueError, match=f"^{run.particles.path}: expected a dtype of elements with a size"):
            hpcw.Container(run.particles.path, wrong)
    with hpcw.links_create(tmp_path / "x.sion", 4) as f:
        for task in f.own:
            for wrong in (1.5, 99, -1):
                with pytest.raises(hpcw.HpcwValueError, match=f"^{tmp_path}/x.sion: .*, got {wrong}$"):
                    f.write(wrong, np.ones(4), "host")
            f.write(task, np.ones(4), "host")


def test_no_memory(dataset, monkeypatch):
    def empty(shape, *_):
        raise MemoryError(f"Unable to allocate {shape}")

    def add(*_):
        raise MemoryError("Unable to allocate")

    run = hpcw.open(dataset)
    with monkeypatch.context() as patch:
        patch.setattr(hpcw._tables.Rows, "add", add)
        for of, call in (run.log, run.log.states), (run.loads, run.loads.tasks), (run.loads, run.loads.edges):
            with pytest.raises(hpcw.HpcwMemoryError, match=f"^{of.path}: Unable to allocate"):
                call()
    with monkeypatch.context() as patch:
        patch.setattr(hpcw._waits, "find", add)
        with pytest.raises(hpcw.HpcwMemoryError, match=f"^{run.log.path}: Unable to allocate"):
            run.log.waits()
    calls = (run.links, lambda: run.links.seconds), (run.particles, lambda: run.particles.read(0))
    monkeypatch.setattr(np, "empty", empty)
    for of, call in calls:
        with pytest.raises(hpcw.HpcwMemoryError, match=f"^{of.path}: Unable to allocate") as none:
            call()
        assert none.value.status == hpcw.Status.ENOMEM


def test_pickled_errors():
    """A pool of processes passes on the class of an error."""
    for kind in hpcw.HpcwError, hpcw.HpcwLibraryError, hpcw.HpcwMemoryError:
        copy = pickle.loads(pickle.dumps(kind("a: b", hpcw.Status.ENOTSUP, 5, 1)))
        assert (type(copy), str(copy), copy.status, copy.sys_errno, copy.process) == (kind, "a: b", hpcw.Status.ENOTSUP, 5, 1)


def test_load_data_that_went(dataset, tmp_path):
    shutil.copytree(f"{dataset}/vom", tmp_path / "vom")
    loads = hpcw.open(tmp_path / "vom")
    os.remove(tmp_path / "vom" / "data.0.json.br")
    assert "size=No such file or directory" in repr(loads)
    with pytest.raises(hpcw.HpcwNotFoundError, match="data.0.json.br: cannot open for reading"):
        loads.tasks()
