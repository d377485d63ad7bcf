# SPDX-License-Identifier: BSD-3-Clause
"""The package finds the same waits of each rank as the generator's own analysis."""
import os
import subprocess

import numpy as np
import pytest

import hpcw


def theirs(log):
    """Returns an array of [ranks] rows from the generator's C library: count and ns of
    each kind of wait, and ns caused on other ranks."""
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


def test_started_sends(tmp_path):
    """Programs in which each rank starts sends and completes them by MPI_Wait and MPI_Waitall, in any order."""
    rng = np.random.default_rng(5)
    names = ["MPI_Isend", "MPI_Irecv", "MPI_Wait", "MPI_Waitall", "MPI_Recv"]
    ranks, kinds = 4, np.zeros(3)
    for _ in range(30):
        time, states, calls = np.zeros(ranks), [], [[] for _ in range(ranks)]
        for rank in rng.integers(ranks, size=300):
            begin = time[rank] + rng.uniform(0, 0.5)
            time[rank] = begin + rng.uniform(0.1, 4)
            states.append((rank, 0, 0, rng.integers(len(names)), begin, time[rank]))
            calls[rank].append(states[-1])
        messages = []
        for rank in range(ranks):
            for state in calls[rank]:
                to = int(rng.integers(ranks - 1))
                to += to >= rank
                ends = [c[5] for c in calls[to] if names[c[3]] in ("MPI_Wait", "MPI_Waitall", "MPI_Recv") and c[5] > state[5]]
                if names[state[3]] == "MPI_Isend" and ends:
                    end = ends[int(rng.integers(min(3, len(ends))))]
                    messages.append((rank, to, 0, len(messages), 8, (state[4] + state[5]) / 2, end - 0.01))
        messages = [m for m in messages if m[6] >= m[5]]
        with hpcw.log_create(tmp_path / "x.clog2", ranks) as f:
            f.write(np.array(states, hpcw.clog2.STATES), np.array(messages, hpcw.clog2.MESSAGES), names=names)
        log = hpcw.open(tmp_path / "x.clog2")
        waits, expected = log.waits(), theirs(log)
        for kind in range(3):
            own = waits[waits["kind"] == kind]
            assert np.array_equal(np.bincount(own["rank"], minlength=ranks), expected[:, 2 * kind])
            assert np.bincount(own["rank"], own["seconds"], ranks) == pytest.approx(expected[:, 2 * kind + 1] / 1e9, abs=1e-6)
            kinds[kind] += len(own)
    assert (kinds[:2] > 50).all()


def test_no_waits(tmp_path):
    with hpcw.log_create(tmp_path / "x.clog2", 2) as f:
        f.write(np.array([(0, 0, 0, 0, 1.0, 2.0)], hpcw.clog2.STATES), names=["Step"])
    assert len(hpcw.open(tmp_path / "x.clog2").waits()) == 0
    with hpcw.log_create(tmp_path / "y.clog2", 2) as f:
        f.write()
    assert len(hpcw.open(tmp_path / "y.clog2").waits()) == 0
