# SPDX-License-Identifier: BSD-3-Clause
"""LinkTest results: the time of a message between every two tasks."""
from __future__ import annotations

import numbers
import os
from ctypes import Array, byref, c_int32, create_string_buffer

import numpy as np

from . import _c, _library, _show, _tables, errors
from ._library import Handle

SLOWEST = np.dtype([("source", "u4"), ("dest", "u4"), ("time", "f8"), ("retest", "f8")])


class Links(_show.Shown):
    """A LinkTest result.

    tasks: N, the number of tasks. permutations: how often all pairs were measured, at least 1. settings: the fields of the
    header, a dictionary with the names of hpcw_linktest_info.

    Each call that reads raises HpcwFormatError where the file is damaged, and HpcwError after close().
    """

    def __init__(self, path: str | os.PathLike):
        self.path = _library.absolute(path)
        self._handle = Handle.of("hpcw_linktest_reader_open", os.fsencode(self.path), Handle.OUT, free="hpcw_linktest_reader_free")
        with self._handle as reader:
            info = _library.library().hpcw_linktest_reader_info(reader).contents
            self.settings = {name: self._setting(getattr(info, name)) for name, *_ in info._fields_}
        self.tasks: int = self.settings["tasks"]
        self.permutations: int = self.settings["permutations"]

    @staticmethod
    def _setting(value):
        if isinstance(value, bytes):
            return _library.text(value)
        return tuple(value) if isinstance(value, Array) else value

    def close(self) -> None:
        self._handle.close()

    def _facts(self) -> dict:
        return {"tasks": self.tasks, "permutations": self.permutations, "mode": self.settings["mode"],
                "messages": f"{self.settings['messages']} of {_show.size_text(self.settings['message_size'])}"}

    def _head(self) -> np.ndarray:
        return self.slowest()[:5]

    @_library.cached_property
    def _places(self):
        hosts, cores = np.empty(self.tasks, object), np.empty(self.tasks, np.int32)
        host, core = create_string_buffer(_c.HPCW_LINKTEST_READER_HOST_SIZE), c_int32()
        known = {}  # one text for each host
        with self._handle as reader:
            for rank in range(self.tasks):
                _library.call("hpcw_linktest_reader_host", reader, rank, host, byref(core))
                name = _library.text(host.value)
                hosts[rank], cores[rank] = known.setdefault(name, name), core.value
        return hosts, cores

    @property
    def hosts(self) -> np.ndarray:
        """Host name of each task: N texts."""
        return self._places[0].copy()

    @property
    def cores(self) -> np.ndarray:
        """Core number of each task: N int32."""
        return self._places[1].copy()

    @_library.cached_property
    def seconds(self) -> np.ndarray:
        """N x N float64: the matrix of permutation 0. [a, b] is the time of a message between a and b, seconds, measured by
        a. NaN: not measured, as on the diagonal and, in a bisection test, between two tasks of the same half. The
        array is read-only, as the object keeps it; matrix(0) makes a new one."""
        return _tables.shared(self.matrix(0))

    def matrix(self, permutation: int) -> np.ndarray:
        """The matrix of a permutation (one measurement of all pairs), N x N float64, seconds; see `seconds`. Raises
        HpcwValueError for a permutation that is not below `permutations`, and HpcwMemoryError."""
        self._check(permutation)
        with self._handle as reader:
            out = np.empty((self.tasks, self.tasks))
            _library.call("hpcw_linktest_reader_matrix", reader, permutation, 0, self.tasks, out.ctypes.data)
        return out

    def _check(self, permutation: int) -> None:
        if not (isinstance(permutation, numbers.Integral) and 0 <= permutation < self.permutations):
            raise errors.HpcwValueError(f"{self.path}: expected a permutation below {self.permutations}, got "
                                        f"{permutation!r:.60}")

    def totals(self, permutation: int = 0) -> dict:
        """The summary of a permutation as stored, a dictionary: start, end (texts), min_s, avg_s, max_s, and the times of the
        all-to-all tests (all_to_all_min_s and so on), all in seconds."""
        self._check(permutation)
        totals = _c.hpcw_linktest_totals()
        with self._handle as reader:
            _library.call("hpcw_linktest_reader_totals", reader, permutation, byref(totals))
        return {name: _library.text(value) if isinstance(value, bytes) else value
                for name, value in ((name, getattr(totals, name)) for name, _ in totals._fields_)}

    def slowest(self, permutation: int = 0) -> np.ndarray:
        """The slowest connections of a permutation, slowest first, a structured array: source, dest (tasks), time, retest
        (of the second measurement, seconds). Its length is settings["retests"]."""
        self._check(permutation)
        count = self.settings["retests"]
        found = (_c.hpcw_linktest_connection * count)()
        with self._handle as reader:
            _library.call("hpcw_linktest_reader_slowest", reader, permutation, 0, count, found)
        return np.array([(getattr(f, "from"), f.to, f.time_s, f.retest_s) for f in found], SLOWEST)
