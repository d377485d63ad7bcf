# SPDX-License-Identifier: BSD-3-Clause
"""SCR checkpoints: which files each rank wrote."""
from __future__ import annotations

import os
from ctypes import addressof, byref, c_char_p, c_uint32

import numpy as np

from . import _c, _library, _show, errors
from ._library import Handle

FILES = np.dtype([("dataset", "O"), ("rank", "u4"), ("path", "O"), ("size", "u8"), ("crc", "u4"), ("has_size", "?"),
                  ("has_crc", "?")])


def _files(handle: Handle, name: str) -> np.ndarray:
    """Returns the files of an open dataset as an array of dtype FILES. `name`: name of the dataset."""
    lib = _library.library()
    with handle as restart:
        _library.call("hpcw_rank2file_restart_load", restart, 0, None)
        count = lib.hpcw_rank2file_restart_files(restart)
        names = (c_char_p * count)()
        columns = {column: np.empty(count, FILES[column]) for column in FILES.names if FILES[column] != "O"}
        _library.call("hpcw_rank2file_restart_fill", restart, 0, count, byref(_c.hpcw_rank2file_files(
            name=addressof(names), **{column: array.ctypes.data for column, array in columns.items()})))
        base = os.fsdecode(lib.hpcw_rank2file_restart_base(restart))
        files = np.empty(count, FILES)
        files["dataset"] = name
        files["path"] = [f"{base}/{os.fsdecode(file)}" for file in names]
        for column, array in columns.items():
            files[column] = array
    return files


def _shape(handle: Handle) -> dict:
    lib = _library.library()
    leaves, inner, levels = c_uint32(), c_uint32(), c_uint32()
    with handle as restart:
        lib.hpcw_rank2file_restart_shape(restart, byref(leaves), byref(inner), byref(levels))
        return {"ranks": lib.hpcw_rank2file_restart_ranks(restart), "leaves": leaves.value, "inner_nodes": inner.value,
                "levels": levels.value}


class Checkpoints(_show.Shown):
    """The checkpoints in a prefix directory of SCR.

    names: names of the datasets in the index, by id. current: the dataset to restart from, or None. layout: layout of the maps.
    The index is read once, when the object is made. Other files are opened in each call. Each call raises HpcwValueError for a
    dataset that is not in the index, and HpcwError after close().
    """

    def __init__(self, path: str | os.PathLike):
        self.path = _library.absolute(path)
        lib = _library.library()
        self._list = Handle.of("hpcw_rank2file_list_open", os.fsencode(self.path), None, Handle.OUT,
                               free="hpcw_rank2file_list_free")
        with self._list as listed:
            entries = [lib.hpcw_rank2file_list_get(listed, i).contents for i in range(lib.hpcw_rank2file_list_count(listed))]
            self._at = {_library.text(e.name): i for i, e in enumerate(entries)}
            self._listed = {_library.text(e.name): {
                "id": e.id, "complete": e.complete, "failed": _library.text(e.failed), "created_us": e.created_us,
                "files": e.files, "bytes": e.size} for e in sorted(entries, key=lambda e: e.id)}
            self.current: str | None = _library.text(lib.hpcw_rank2file_list_current(listed))
            self.layout: str = _library.text(lib.hpcw_rank2file_layout_name(lib.hpcw_rank2file_list_layout(listed)))
        self.names = list(self._listed)

    def close(self) -> None:
        self._list.close()

    def _facts(self) -> dict:
        return {"datasets": len(self.names), "current": self.current, "layout": self.layout}

    def _index(self, name: str) -> int:
        if not isinstance(name, str) or name not in self._at:
            raise errors.HpcwValueError(f"{self.path}: expected one of {', '.join(self.names)}, got {name}")
        return self._at[name]

    def _open(self, name: str) -> Handle:
        with self._list as listed:
            return Handle.of("hpcw_rank2file_restart_open_listed", listed, self._index(name), None, Handle.OUT,
                             free="hpcw_rank2file_restart_free")

    def dataset(self, name: str) -> dict:
        """Facts about a dataset, a dictionary. From index and summary: name, id, checkpoint (its number), created_us (time
        since 1970 in microseconds), user, job_id, job_name (texts or None), files (their number), bytes (of all files),
        complete, failed (when it was marked as failed, a text, or None). From its map: ranks, leaves, inner_nodes, levels."""
        handle = self._open(name)
        with handle as restart:
            d = _library.library().hpcw_rank2file_restart_dataset(restart).contents
            told = {"name": name, **self._listed[name], "checkpoint": d.checkpoint, "user": _library.text(d.user),
                    "job_id": _library.text(d.job_id), "job_name": _library.text(d.job_name), **_shape(handle)}
        handle.close()
        return told

    @property
    def files(self) -> np.ndarray:
        """All files of all datasets of the index, by dataset and rank, a structured array: dataset (its name), rank, path
        (absolute), size (bytes), crc (CRC-32 of the content), has_size, has_crc (SCR 3 stores neither). Raises
        HpcwFormatError for a damaged map, and HpcwNotFoundError for a missing one."""
        return np.concatenate([np.empty(0, FILES), *(_files(self._open(name), name) for name in self.names)])

    def check(self, name: str, files: bool = True) -> None:
        """Checks the summaries and the map of a dataset and, if `files`, sizes and CRC-32 of its files. Raises the first
        fault: HpcwFormatError, or HpcwNotFoundError for a file that is missing. Only one thread at a time checks; another
        object for the same directory checks at the same time."""
        with self._list as listed:
            _library.call("hpcw_rank2file_check_listed", listed, self._index(name), files)


class Map(_show.Shown):
    """The map of one dataset. `path`: file of the map's root. shape: a dictionary with the numbers of ranks, leaves,
    inner_nodes and levels."""

    def __init__(self, path: str | os.PathLike):
        self.path = _library.absolute(path)
        self._handle = Handle.of("hpcw_rank2file_restart_open_root", os.fsencode(self.path), None, Handle.OUT,
                              free="hpcw_rank2file_restart_free")
        self.shape = _shape(self._handle)

    def close(self) -> None:
        self._handle.close()

    def _facts(self) -> dict:
        return self.shape

    @property
    def files(self) -> np.ndarray:
        """The files in the map, in the form of Checkpoints.files: dataset (always ""), rank, path, size, crc, has_size,
        has_crc."""
        return _files(self._handle, "")


class Tree(_show.Shown):
    """A KVTree file that is neither index nor map. tree: its keys as nested dictionaries, with values as texts. stored_bytes:
    bytes of the tree in the file."""

    def __init__(self, path: str | os.PathLike):
        self.path = _library.absolute(path)
        handle = Handle.of("hpcw_kvtree_read_file", os.fsencode(self.path), Handle.OUT, free="hpcw_kvtree_free")
        with handle as root:
            self.stored_bytes: int = _library.library().hpcw_kvtree_size(root)
            self.tree = self._children(root)
        handle.close()

    @classmethod
    def _children(cls, node: int) -> dict:
        lib, children = _library.library(), {}
        child = lib.hpcw_kvtree_first(node)
        while child:
            key = lib.hpcw_kvtree_key(child)
            value = lib.hpcw_kvtree_value(node, key)
            children[_library.text(key)] = cls._children(child) if value is None else _library.text(value)
            child = lib.hpcw_kvtree_next(child)
        return children

    def _facts(self) -> dict:
        return {"bytes": self.stored_bytes, "keys on top": len(self.tree)}
