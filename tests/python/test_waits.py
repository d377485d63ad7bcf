# SPDX-License-Identifier: BSD-3-Clause
"""Waits equal those of the generator's own analysis for each rank."""
import os
import subprocess

import numpy as np
import pytest

import hpcw


def theirs(log):
    """[rank] (count, ns) of each kind, and caused ns."""
    printed = subprocess.run([os.environ["HPCW_WAITS"], log.path], check=True, stdout=subprocess.PIPE, text=True).stdout
    return np.array([line.split() for line in printed.splitlines()], np.int64)


@pytest.mark.parametrize("workload", ["wavefront", "farm", "fft", "hydro", "solver", "coupled", "adaptive", "stencil"])
def test_workloads(tmp_path, workload):
    log = hpcw.generate(tmp_path / "out", ranks=24, seed=2, scale="small", workload=workload, formats="clog2", show=False).log
    waits, expected = log.waits(), theirs(log)
    assert len(waits) == expected[:, 0:6:2].sum() > 0 and (np.diff(waits["begin"]) >= 0).all()
    for kind in range(3):
        own = waits[waits["kind"] == kind]
        assert np.array_equal(np.bincount(own["rank"], minlength=24), expected[:, 2 * kind])
        assert np.bincount(own["rank"], own["seconds"], 24) == pytest.approx(expected[:, 2 * kind + 1] / 1e9, abs=1e-7)
    assert np.bincount(waits["cause"], waits["seconds"], 24) == pytest.approx(expected[:, 6] / 1e9, abs=1e-7)


def test_no_waits(tmp_path):
    with hpcw.log_create(tmp_path / "x.clog2", 2) as f:
        f.write(np.array([(0, 0, 0, 0, 1.0, 2.0)], hpcw.clog2.STATES), names=["Step"])
    assert len(hpcw.open(tmp_path / "x.clog2").waits()) == 0
    with hpcw.log_create(tmp_path / "y.clog2", 2) as f:
        f.write()
    assert len(hpcw.open(tmp_path / "y.clog2").waits()) == 0
