# SPDX-License-Identifier: BSD-3-Clause
"""CLOG-2 event logs: states, messages and solo events."""
from __future__ import annotations

import os
from ctypes import byref, c_bool, c_size_t

import numpy as np

from . import _c, _library, _show, _tables, _waits, errors
from ._library import Handle

STATES = [("rank", "u4"), ("thread", "i4"), ("depth", "u4"), ("name", "u4"), ("begin", "f8"), ("end", "f8")]
MESSAGES = [("source", "u4"), ("dest", "u4"), ("comm", "i4"), ("tag", "i4"), ("size", "i4"), ("sent", "f8"), ("received", "f8")]
EVENTS = [("rank", "u4"), ("thread", "i4"), ("name", "u4"), ("time", "f8")]
# Columns that have a different name in C.
_IN_C = {"name": "definition", "begin": "from", "end": "to", "source": "from", "dest": "to"}


class EventLog(_show.Shown):
    """An event log of MPE2 or hpcw.

    ranks: number of ranks of the world. threads: largest number of threads of a rank. comms: length of the table of
    communicators. block_size: bytes of a block of the file. blocks: number of blocks. user_states, user_events: numbers of
    the program's own states and solo events.

    Each call that reads raises HpcwFormatError where the file is damaged, and HpcwError after close().
    """

    def __init__(self, path: str | os.PathLike):
        self.path = _library.absolute(path)
        self._handle = Handle.of("hpcw_clog2_reader_open", os.fsencode(self.path), Handle.OUT, free="hpcw_clog2_reader_free")
        with self._handle as reader:
            info = _library.library().hpcw_clog2_reader_info(reader).contents
            self.ranks: int = info.ranks
            self.threads: int = info.threads
            self.comms: int = info.comms
            self.block_size: int = info.block_size
            self.blocks: int = info.blocks
            self.user_states: int = info.states
            self.user_events: int = info.solos
        self._names = []  # the columns "name" of this log hold indices in this list
        self._index = {}  # (is a state, number): index

    def close(self) -> None:
        self._handle.close()

    def _facts(self) -> dict:
        return {"ranks": self.ranks, "threads": self.threads,
                "size": _show.size_text(self.blocks * self.block_size)}

    @_library.cached_property
    def begin_s(self) -> float:
        """Time of the first record, seconds. NaN: the log has no record."""
        record, more = _c.hpcw_clog2_record(), c_bool()
        with self._handle as reader:
            _library.library().hpcw_clog2_reader_rewind(reader)
            _library.call("hpcw_clog2_reader_next", reader, byref(record), byref(more))
        return record.time if more else float("nan")

    @_library.cached_property
    def end_s(self) -> float:
        """Time at which the last state, message or event ends, seconds. NaN: the log has none. The first use reads the log."""
        rows = [self._select("states", _c.HPCW_CLOG2_TABLE_STATES, [("end", "f8")], None, None, None)["end"],
                self._select("messages", _c.HPCW_CLOG2_TABLE_MESSAGES, [("received", "f8")], None, None, None)["received"],
                self._select("solos", _c.HPCW_CLOG2_TABLE_SOLOS, [("time", "f8")], None, None, None)["time"]]
        return max((float(times.max()) for times in rows if len(times)), default=float("nan"))

    @property
    def names(self) -> np.ndarray:
        """Names of states and events, an array of texts. The column `name` of rows has indices in this array:
        `log.names[states["name"]]`. If no call has read rows so far, the log is read."""
        if not self._names:
            self.states(ranks=range(min(self.ranks, 1)))
            self.events(ranks=range(min(self.ranks, 1)))
        return np.array(self._names, dtype=object)

    def _dtype(self, fields: list) -> np.dtype:
        """Returns a dtype. Columns with indices of names have the names as metadata, for to_df()."""
        names = {"name": self._names, "kind": _waits.KINDS}
        return np.dtype([(name, np.dtype(kind, metadata={"names": names[name]}) if name in names else kind)
                         for name, kind in fields])

    def _definitions(self, reader: int, known: np.ndarray) -> np.ndarray:
        """Returns an array that maps the reader's indices of definitions to indices in `names`."""
        lib = _library.library()
        found = _c.hpcw_clog2_definition()
        while lib.hpcw_clog2_reader_definition(reader, len(known), byref(found)):
            key = (found.state, found.number)
            if key not in self._index:
                self._index[key] = len(self._names)
                self._names.append(_library.text(found.name) or f"{'state' if found.state else 'event'} {found.number}")
            known = np.append(known, np.uint32(self._index[key]))
        return known

    def _head(self) -> np.ndarray:
        return self._select("states", _c.HPCW_CLOG2_TABLE_STATES, STATES, None, None, None, head=5)

    def _select(self, what: str, table: int, fields: list, begin, end, ranks, head: int | None = None) -> np.ndarray:
        """Selects rows of a table. `head`: the largest number of rows, from the first on."""
        dtype = self._dtype(fields)
        window = _c.hpcw_clog2_window()
        _library.library().hpcw_clog2_window_init(byref(window))
        mask = None
        if ranks is not None:
            ranks = _tables.chosen(self.path, "ranks", ranks, np.arange(self.ranks))
            if not ranks:
                return np.empty(0, dtype)
            window.first_rank, window.last_rank, mask = _tables.window(ranks)
        with errors.naming(self.path):
            if begin is not None:
                setattr(window, "from", begin)
            if end is not None:
                window.to = end
        columns = {name: np.empty(head or _tables.BLOCK, kind) for name, kind in fields}
        c = getattr(_c, f"hpcw_clog2_{what}")()
        for name, column in columns.items():
            setattr(c, _IN_C.get(name, name), column.ctypes.data)
        return self._read(what, table, window, columns, c, mask, dtype, head)

    def _read(self, what, table, window, columns, c, mask, dtype, head) -> np.ndarray:
        rows = _tables.Rows(dtype)
        count, error = c_size_t(1), _c.hpcw_error()
        fill = getattr(_library.library(), f"hpcw_clog2_reader_{what}")
        known = np.empty(0, np.uint32)
        with self._handle as reader:
            _library.call("hpcw_clog2_reader_select", reader, table, byref(window))
            while count.value > 0:
                status = fill(reader, byref(c), head or _tables.BLOCK, byref(count), byref(error))
                if status != _c.HPCW_OK:
                    _library.raise_of(error, status)
                n = count.value
                if n and "name" in columns:
                    name = columns["name"]
                    if name[:n].max() >= len(known):
                        known = self._definitions(reader, known)
                    np.take(known, name[:n], out=name[:n])
                if n:
                    rows.add(columns, n, None if mask is None else self._of_ranks(columns, n, mask, window.first_rank))
                if head:
                    break
        return rows.array()

    @staticmethod
    def _of_ranks(columns: dict, count: int, mask: np.ndarray, first: int) -> np.ndarray:
        def of(name):
            rank = columns[name][:count].astype(np.int64) - first
            inside = (rank >= 0) & (rank < len(mask))
            return inside & mask[np.where(inside, rank, 0)]
        return of("rank") if "rank" in columns else of("source") | of("dest")

    def states(self, begin: float | None = None, end: float | None = None, ranks=None) -> np.ndarray:
        """States that overlap [begin, end), seconds. `ranks` selects all ranks, one, a range, a list, or a mask of all ranks.

        Returns a structured array in the order in which states end: rank, thread, depth (number of states around it), name
        (index in `names`), begin, end (seconds). States are whole: for sums over a window, clip begin and end. Raises
        HpcwValueError for a window without time in it, or a rank that the log does not have.
        """
        return self._select("states", _c.HPCW_CLOG2_TABLE_STATES, STATES, begin, end, ranks)

    def messages(self, begin: float | None = None, end: float | None = None, ranks=None) -> np.ndarray:
        """Messages that are in flight at any time in [begin, end), from or to some ranks, and whose two ends are in the log.
        The arguments, and the errors, are those of `states`.

        Returns a structured array in the order of the later of `sent` and `received`: source, dest (ranks), comm, tag, size
        (bytes), sent, received (seconds).
        """
        return self._select("messages", _c.HPCW_CLOG2_TABLE_MESSAGES, MESSAGES, begin, end, ranks)

    def events(self, begin: float | None = None, end: float | None = None, ranks=None) -> np.ndarray:
        """Solo events in [begin, end) of some ranks. The arguments, and the errors, are those of `states`.

        Returns a structured array in the order of the log: rank, thread, name (index in `names`), time (seconds).
        """
        return self._select("solos", _c.HPCW_CLOG2_TABLE_SOLOS, EVENTS, begin, end, ranks)

    def waits(self) -> np.ndarray:
        """How long the main threads of ranks wait in MPI calls for other ranks. The kinds of waits are Scalasca's.

        Returns a structured array by time: rank (that waits), kind (0: late sender, 1: late receiver, 2: collective), name
        (of the call, an index in `names`), cause (the rank that it waits for), begin, seconds (its length). The array has
        the waits of the whole log: collective calls are matched by counting from its start. To get a window, select by `begin`.
        """
        states = self._select("states", _c.HPCW_CLOG2_TABLE_STATES, [*STATES, ("comm", "i4")], None, None, None)
        with errors.naming(self.path):
            return _waits.find(states, self.messages(), self._names, self.ranks, self._dtype(_waits.WAITS))
