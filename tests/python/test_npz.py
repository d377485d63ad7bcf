# SPDX-License-Identifier: BSD-3-Clause
"""`hpcgen export --form npz` writes the arrays that the package returns, for a dataset's formats and for small files."""
import os
import subprocess

import numpy as np
import pytest

import hpcw


def expected(file):
    """Returns the arrays of an object by their names in the file."""
    if isinstance(file, hpcw.EventLog):
        arrays = {"states": file.states(), "messages": file.messages(), "events": file.events()}
        return {**arrays, "names": file.names, "event_names": file.names}
    if isinstance(file, hpcw.Links):
        return {"seconds": file.seconds, "hosts": file.hosts, "cores": file.cores, "settings": file.settings}
    if isinstance(file, hpcw.Loads):
        return {"tasks": file.tasks(), "edges": file.edges()}
    if isinstance(file, hpcw.Container):
        return {f"task.{rank:06d}": file.read(rank, dtype=np.uint8) for rank in file.tasks["rank"].tolist()}
    return {"files": file.files}


def same_log(got, want):
    for name in ("states", "messages", "events"):
        assert got[name].dtype.names == want[name].dtype.names
        for column in want[name].dtype.names:
            assert got[name].dtype[column] == want[name].dtype[column]
            if column != "name":
                assert np.array_equal(got[name][column], want[name][column])
    for name, names in (("states", "names"), ("events", "event_names")):
        assert np.array_equal(got[names][got[name]["name"]], want[names][want[name]["name"]])


def same_files(got, want, prefix):
    """Compares the rows of a prefix's files, in any order. In `got`, paths are relative to the prefix."""
    def rows(files, root):
        return sorted((*row[:2], os.path.relpath(row[2], root) if root else row[2], *row[3:]) for row in files.tolist())
    assert got.dtype.names == want.dtype.names
    assert all(got.dtype[n] == want.dtype[n] for n in got.dtype.names if want.dtype[n] != object)
    assert rows(got, None) == rows(want, prefix)


def compare(path, tmp_path):
    """Compares the export of a file with the package's arrays. Returns False if the export refuses the file."""
    done = subprocess.run([os.environ["HPCW_HPCGEN"], "export", "--quiet", path, "--output", str(tmp_path / "x.npz")],
                          capture_output=True, text=True)
    if done.returncode:
        return False
    file = hpcw.open(path)
    want = expected(file)
    with np.load(tmp_path / "x.npz") as arrays:
        got = dict(arrays)
    assert set(got) == set(want), path
    if isinstance(file, hpcw.EventLog):
        same_log(got, want)
    elif isinstance(file, hpcw.Checkpoints):
        same_files(got["files"], want["files"], path)
    elif isinstance(file, hpcw.Map):
        assert len(got["files"]) == len(want["files"])
    else:
        if isinstance(file, hpcw.Links):
            settings = got.pop("settings")
            values = dict(zip(settings.dtype.names, settings.item()))
            values["version"] = tuple(values["version"])
            assert values == want.pop("settings")
        for name, array in want.items():
            assert array.dtype in (got[name].dtype, object) and array.shape == got[name].shape, (path, name)
            assert all(np.array_equal(got[name][c], array[c]) for c in array.dtype.names) if array.dtype.names else \
                np.array_equal(got[name], array, equal_nan=array.dtype.kind == "f"), (path, name)
    return True


@pytest.mark.parametrize("layout", ["scr-1.1", "scr-1.2", "scr-3", "shared"])
def test_checkpoints(layout, tmp_path):
    hpcw.generate(tmp_path / "set", ranks=5, formats="rank2file", set={"rank2file.layout": layout})
    assert compare(str(tmp_path / "set" / "scr"), tmp_path)


def test_dataset(tmp_path):
    run = hpcw.generate(tmp_path / "set", ranks=6)
    for file in (run.log, run.links, run.loads, run.particles):
        assert compare(file.path, tmp_path), file.path


def test_seeds(seeds, tmp_path):
    """Small files of each format in either byte order. Some are damaged and refused."""
    taken = [path for path in seeds if compare(path, tmp_path)]
    assert len(taken) > len(seeds) // 3
    assert any(isinstance(file, hpcw.EventLog) and len(file.events()) for file in map(hpcw.open, taken))
