# SPDX-License-Identifier: BSD-3-Clause
"""An interrupt at any time raises KeyboardInterrupt: it is not lost, and nothing stays open."""
import gc
import os
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

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
    """Makes the timer of `interrupted` an interrupt. At the end, waits for threads that still read a file."""
    old = signal.signal(signal.SIGALRM, signal.default_int_handler)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, old)
    for thread in threading.enumerate():
        if thread is not threading.main_thread():
            thread.join()


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


def test_pool_is_not_of_the_main_thread(dataset, monkeypatch):
    """An interrupt between two steps of Python in submit() can leave a lock of the pool locked forever."""
    def submit(*args):
        assert threading.current_thread() is not threading.main_thread()
        return whole(*args)

    whole = ThreadPoolExecutor.submit
    monkeypatch.setattr(ThreadPoolExecutor, "submit", submit)
    loads = hpcw.open(dataset).loads
    assert len(loads.tasks()) and len(loads.nodes) == 32
    with pytest.raises(AssertionError):
        ThreadPoolExecutor().submit(int)


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
