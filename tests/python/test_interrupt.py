# SPDX-License-Identifier: BSD-3-Clause
"""An interrupt at any time raises KeyboardInterrupt: it is not lost, and nothing stays open."""
import gc
import os
import signal
import sys

import numpy as np
import pytest

import hpcw
from hpcw import _library


def interrupted(call, after):
    """Calls, with an interrupt after some seconds. Returns the result; None if the interrupt came first."""
    try:
        signal.setitimer(signal.ITIMER_REAL, after)
        result = call()
        signal.setitimer(signal.ITIMER_REAL, 0)
        return result
    except KeyboardInterrupt:
        return None


@pytest.fixture
def timer():
    """Makes the timer of `interrupted` an interrupt."""
    old = signal.signal(signal.SIGALRM, signal.default_int_handler)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, old)


def test_interrupts_of_reads(dataset, timer, monkeypatch):
    lost = []
    monkeypatch.setattr(sys, "unraisablehook", lost.append)
    run = hpcw.open(dataset)
    calls = (run.log.states, run.loads.tasks, lambda: hpcw.Loads(run.loads.path).nodes,
             lambda: hpcw.Loads(run.loads.path).phases)
    for call in calls:
        whole, results = call(), []
        for after in np.linspace(1e-4, 0.02, 60):
            results.append(interrupted(call, after))
            assert results[-1] is None or np.array_equal(results[-1], whole)
        assert any(result is None for result in results)
    assert not [one for one in lost if "callback" in (one.err_msg or "")]


def test_interrupt_of_an_open(dataset, monkeypatch):
    """The interrupt comes while the library opens the file: Python then raises its exception right after the call."""
    def call(*args):
        whole(*args)
        raise KeyboardInterrupt

    path = hpcw.open(dataset).log.path
    gc.collect()
    before = os.listdir("/proc/self/fd")
    whole = _library.call
    monkeypatch.setattr(_library, "call", call)
    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            hpcw.EventLog(path)
    gc.collect()
    assert os.listdir("/proc/self/fd") == before
