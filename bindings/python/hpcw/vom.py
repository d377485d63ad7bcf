# SPDX-License-Identifier: BSD-3-Clause
"""Load-balancing data of vt (LBDatafile): the tasks of each phase and the messages between them, in a file per rank."""
from __future__ import annotations

import functools
import os
import re
import threading
from ctypes import CFUNCTYPE, POINTER, byref, c_int, c_void_p, cast
from queue import SimpleQueue

import numpy as np

from . import _c, _library, _show, _tables, errors
from ._library import Handle

TASKS = np.dtype([("rank", "u4"), ("phase", "u8"), ("id", "u8"), ("home", "u4"), ("migratable", "?"), ("collection_id", "u8"),
                  ("objgroup_id", "u8"), ("time", "f8")])
EDGES = np.dtype([("rank", "u4"), ("phase", "u8"), ("category", "i4"), ("source", "u8"), ("dest", "u8"), ("source_home", "u4"),
                  ("dest_home", "u4"), ("bytes", "f8"), ("messages", "u8")])
IMBALANCE = np.dtype([("phase", "u8"), ("mean", "f8"), ("max", "f8"), ("rank", "u4"), ("imbalance", "f8")])
_IN_C = {"time": "time_s", "source": "from", "dest": "to", "source_home": "from_home", "dest_home": "to_home"}
_NAME = re.compile(r"(?P<stem>.+)\.(?P<rank>0|[1-9]\d{0,5})\.json(?:\.br)?")


def entities(tasks: np.ndarray) -> np.ndarray:
    """Returns a mask of the tasks that belong to an entity. A task with id 0 does not, unless it is migratable: in old files,
    ids are sequence numbers from 0 on."""
    return (tasks["id"] != 0) | tasks["migratable"]


def _in_threads(read, ranks):
    """Yields read(rank) for each rank, in order. Threads do the work, and one more thread hands it out. An interrupt raises its
    exception in the main thread only. There it could hit a callback of the library, which would lose the exception, or the
    locks of the pool, which would then wait forever. A SimpleQueue is written in C and stays whole."""
    results, stopped = SimpleQueue(), []

    def hand_out():
        try:
            from concurrent.futures import ThreadPoolExecutor
            with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as threads:
                for result in threads.map(read, ranks):
                    if stopped:
                        break
                    results.put((result, None))
        except BaseException as failure:  # of any kind: the caller waits for it
            results.put((None, failure))

    threading.Thread(target=hand_out, daemon=True).start()
    try:
        for _ in ranks:
            result, failure = results.get()
            if failure is not None:
                raise failure
            yield result
    finally:
        stopped.append(True)


def _names(directory: str) -> list:
    try:
        return sorted(os.listdir(directory))
    except OSError as failure:
        raise errors.of_system(directory, "cannot list it", failure) from None


def is_set(directory: str) -> bool:
    """Whether a directory holds data files of ranks."""
    return any(_NAME.fullmatch(name) for name in _names(directory))


class Loads(_show.Shown):
    """Load data: the file of one rank, or a directory with the files of all, STEM.RANK.json or STEM.RANK.json.br.

    ranks: array of the ranks that have a file, R uint32. The arrays that the object keeps, ranks, phases and nodes, are
    read-only.

    Each call opens the files that it reads. It raises HpcwFormatError for a damaged file, and HpcwNotFoundError for one that
    was removed.
    """

    def __init__(self, path: str | os.PathLike):
        self.path = _library.absolute(path)
        self._files = self._list(self.path)
        self.ranks = _tables.shared(np.array(sorted(self._files), np.uint32))

    def _list(self, path: str) -> dict:
        """Returns a dictionary from ranks to the paths of their files."""
        if not os.path.isdir(path):
            handle = Handle.of("hpcw_vom_reader_open", os.fsencode(path), Handle.OUT, free="hpcw_vom_reader_free")
            with handle as reader:
                rows = _c.hpcw_vom_rows()
                _library.call("hpcw_vom_reader_load", reader, 1, 0, byref(rows))
                info = _library.library().hpcw_vom_reader_info(reader).contents
                rank = info.rank if info.has_rank else int((_NAME.fullmatch(os.path.basename(path)) or {"rank": 0})["rank"])
            handle.close()
            return {rank: path}
        files, stems = {}, set()
        for name in _names(path):
            m = _NAME.fullmatch(name)
            if m:
                if int(m["rank"]) in files:
                    raise errors.HpcwFormatError(f"{path}: expected one file for rank {m['rank']}, got two",
                                                 errors.Status.EFORMAT)
                files[int(m["rank"])] = os.path.join(path, name)
                stems.add(m["stem"])
        if len(stems) != 1:
            raise errors.HpcwFormatError(f"{path}: expected files named STEM.RANK.json or STEM.RANK.json.br of one stem, got "
                                         f"{len(stems)} stems", errors.Status.EFORMAT)
        return files

    def _facts(self) -> dict:
        try:
            size = _show.size_text(sum(os.path.getsize(f) for f in self._files.values()))
        except OSError as failure:  # a display must not fail
            size = failure.strerror
        return {"ranks": len(self.ranks), "size": size}

    def _head(self) -> np.ndarray:
        return self.tasks(ranks=self.ranks[:1])[:5]

    def tasks(self, phases=None, ranks=None) -> np.ndarray:
        """Tasks of some phases (their ids) and ranks: all, one, a range, a list, or a mask of the object's `phases` or
        `ranks`. Raises HpcwValueError for a phase or a rank that is not there.

        Returns a structured array, by rank and then in the order of the file: rank, phase (its id), id, home (rank in the id),
        migratable, collection_id, objgroup_id, time (seconds). A member that the file does not have is 0. Rows with id 0 that
        are not migratable are no entities: vt neither moves nor counts them.
        """
        return self._table("tasks", TASKS, phases, ranks)

    def edges(self, phases=None, ranks=None) -> np.ndarray:
        """Edges of some phases and ranks. An edge stands for all messages of one category between two ends. The arguments,
        and the errors, are those of `tasks`.

        Returns a structured array, by rank of the file and then in its order: rank, phase (its id), category, source, dest
        (ids, ranks or shared blocks, depending on the category), source_home, dest_home (ranks in the ids), bytes, messages
        (their number). Categories are 1: object to object, 2: object to node, 3: node to object, 4: broadcast from object to
        object, 5: broadcast from object to node, 6: broadcast from node to object, 9: write to a shared block, 10: read of a
        shared block. A node is a rank.
        """
        return self._table("edges", EDGES, phases, ranks)

    def _table(self, what: str, dtype: np.dtype, phases, ranks) -> np.ndarray:
        ranks = self.ranks.tolist() if ranks is None else _tables.chosen(self.path, "ranks", ranks, self.ranks)
        phase = (0, (1 << 64) - 1, None)
        if phases is not None:
            phases = _tables.chosen(self.path, "phases", phases, self.phases,
                                    lambda: (n for ids in _in_threads(self._phases_of, ranks) for n in ids.tolist()))
            if not phases:
                return np.empty(0, dtype)
            phase = (phases[0], phases[-1], np.array(phases, np.uint64))
        with errors.naming(self.path):
            rows = _tables.Rows(dtype)
            for columns, count, which in _in_threads(functools.partial(self._read, what, dtype, phase), ranks):
                rows.add(columns, count, which)
            return rows.array()

    def _read(self, what: str, dtype: np.dtype, phase: tuple, rank: int) -> tuple:
        """Reads the file of a rank. Returns columns, number of rows, and a mask of the wanted rows."""
        handle = Handle.of("hpcw_vom_reader_open", os.fsencode(self._files[rank]), Handle.OUT, free="hpcw_vom_reader_free")
        with handle as reader:
            loaded = _c.hpcw_vom_rows()
            _library.call("hpcw_vom_reader_load", reader, phase[0], phase[1], byref(loaded))
            count = getattr(loaded, what)
            c = getattr(_c, f"hpcw_vom_{what}")()
            columns = {name: np.empty(count, dtype[name]) for name in dtype.names}
            columns["rank"].fill(rank)
            for name, column in columns.items():
                if name != "rank":
                    setattr(c, _IN_C.get(name, name), column.ctypes.data)
            _library.call(f"hpcw_vom_reader_{what}", reader, 0, count, byref(c))
        handle.close()
        return columns, count, None if phase[2] is None else np.isin(columns["phase"], phase[2])

    @_library.cached_property
    def phases(self) -> np.ndarray:
        """The ids of the phases in the file of the first rank, an array of uint64."""
        return _tables.shared(next(_in_threads(self._phases_of, self.ranks[:1].tolist())))

    def _phases_of(self, rank: int) -> np.ndarray:
        ids = []

        @CFUNCTYPE(c_int, c_void_p, POINTER(_c.hpcw_vom_section))
        def end_phase(_context, section):
            ids.append(section.contents.id)
            return _c.HPCW_OK

        watch = _c.hpcw_vom_watch(end_phase=cast(end_phase, c_void_p).value)
        self._watch(rank, (1 << 64) - 1, watch)
        return np.array(ids, np.uint64)

    @_library.cached_property
    def nodes(self) -> np.ndarray:
        """Node number of each rank of `ranks`, from the metadata, R int64; -1: the file has no node number."""
        return _tables.shared(np.array(list(_in_threads(self._node_of, self.ranks.tolist())), np.int64))

    def _node_of(self, rank: int) -> int:
        found = -1

        @CFUNCTYPE(c_int, c_void_p, POINTER(_c.hpcw_vom_metadata))
        def take(_context, metadata):
            nonlocal found
            node = metadata.contents.node
            found = node.id if node.size else -1
            return _c.HPCW_OK

        watch = _c.hpcw_vom_watch(metadata=cast(take, c_void_p).value)
        self._watch(rank, 1, watch)  # the metadata come before all phases
        return found

    def _watch(self, rank: int, phases: int, watch) -> None:
        handle = Handle.of("hpcw_vom_reader_open", os.fsencode(self._files[rank]), Handle.OUT, free="hpcw_vom_reader_free")
        with handle as reader:
            _library.call("hpcw_vom_reader_watch", reader, phases, byref(watch))
        handle.close()

    def rank_loads(self, phases=None) -> tuple:
        """Returns (ids, loads): P uint64, and P x R float64. `loads[p, r]` is the time of all tasks together, in phase `ids[p]`
        on rank `ranks[r]`, seconds. As in vt, tasks with id 0, which are no entities, do not count. A phase without tasks is
        left out."""
        tasks = self.tasks(phases)
        tasks = tasks[entities(tasks)]
        ids, phase = np.unique(tasks["phase"], return_inverse=True)
        rank = np.searchsorted(self.ranks, tasks["rank"])
        seconds = np.bincount(phase * len(self.ranks) + rank, tasks["time"], len(ids) * len(self.ranks))
        return ids, seconds.reshape(len(ids), len(self.ranks))

    def imbalance(self, phases=None) -> np.ndarray:
        """How unequal the loads of the ranks are, by phase: a structured array with phase (its id), mean, max (seconds of a
        rank), rank (that has the most), imbalance (max / mean - 1; 0 if the mean is 0). A phase without tasks is left out."""
        ids, seconds = self.rank_loads(phases)
        rows = np.zeros(len(ids), IMBALANCE)
        if len(ids):
            rows["phase"], rows["mean"], rows["max"] = ids, seconds.mean(axis=1), seconds.max(axis=1)
            rows["rank"] = self.ranks[seconds.argmax(axis=1)]
            np.divide(rows["max"], rows["mean"], out=rows["imbalance"], where=rows["mean"] > 0)
            rows["imbalance"] -= rows["mean"] > 0
        return rows
