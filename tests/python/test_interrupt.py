# SPDX-License-Identifier: BSD-3-Clause
"""An interrupt at any time raises KeyboardInterrupt: it is not lost, and nothing stays open."""
import gc
import os

import pytest

import hpcw
from hpcw import _library


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
