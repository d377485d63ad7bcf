# SPDX-License-Identifier: BSD-3-Clause
"""SION containers: a stream of bytes, or of records with keys, for each of many tasks."""
from __future__ import annotations

import numbers
import os
from ctypes import byref, c_bool, c_size_t

import numpy as np

from . import _c, _library, _show, errors
from ._library import Handle

# The particles that hpcgen writes, 38 bytes each.
PARTICLE = np.dtype([("xx", "<f4"), ("yy", "<f4"), ("zz", "<f4"), ("vx", "<f4"), ("vy", "<f4"), ("vz", "<f4"),
                     ("phi", "<f4"), ("pid", "<i8"), ("mask", "<u2")])
TASKS = np.dtype([("rank", "u4"), ("file", "u4"), ("index", "u4"), ("blocks", "u4"), ("chunk_size", "u8"), ("start", "u8"),
                  ("size", "u8")])
KEYS = np.dtype([("key", "u8"), ("size", "u8"), ("offset", "u8")])
_ENDIAN = ("little", "big")


class Container(_show.Shown):
    """A SION container: one file, or a set of physical files.

    dtype: default type of the elements for `read`. keys_and_values: whether the streams are records with keys. byte_order: byte
    order of the metadata. data_byte_order: byte order that the container states for the data; no reader converts data.
    block_size: bytes of a block of the file system. files: number of physical files. format_version, library_version, name: as
    stored. len() is the number of tasks.

    Each call that reads raises HpcwFormatError where the file is damaged, and HpcwError after close().
    """

    def __init__(self, path: str | os.PathLike, dtype=np.uint8):
        self.path = _library.absolute(path)
        self.dtype = self._dtype_of(dtype)
        self._handle = Handle.of("hpcw_sion_reader_open", os.fsencode(self.path), None, 0, None, Handle.OUT,
                              free="hpcw_sion_reader_free")
        with self._handle as reader:
            info = _library.library().hpcw_sion_reader_info(reader).contents
            self.files: int = info.files
            self.keys_and_values: bool = info.keys
            self.byte_order: str = _ENDIAN[info.endian]
            self.data_byte_order: str = _ENDIAN[info.data_endian]
            self.block_size: int = info.fs_block_size
            self.format_version: int = info.format
            self.library_version = (info.library_version, info.library_patch)
            self.name: str = _library.text(info.name)
            self._tasks = self._read_tasks(reader)

    def _dtype_of(self, given) -> np.dtype:
        try:
            dtype = np.dtype(given)
            if dtype.itemsize > 0 and not dtype.hasobject and dtype.subdtype is None:
                return dtype
        except (TypeError, ValueError):  # no dtype
            pass
        raise errors.HpcwValueError(f"{self.path}: expected a dtype of elements with a size, got {given!r:.60}")

    def close(self) -> None:
        self._handle.close()

    def __reduce__(self):
        return type(self), (self.path, self.dtype)

    def _facts(self) -> dict:
        return {"tasks": len(self), "files": self.files, "bytes": _show.size_text(int(self._tasks["size"].sum())),
                "content": "key-value" if self.keys_and_values else "plain"}

    def _head(self) -> np.ndarray:
        return self._tasks[:5]

    @staticmethod
    def _read_tasks(reader: int) -> np.ndarray:
        lib = _library.library()
        tasks = np.empty(lib.hpcw_sion_reader_count(reader), TASKS)
        for i in range(len(tasks)):
            task = lib.hpcw_sion_reader_task(reader, i).contents
            tasks[i] = (task.rank, task.file, task.index, task.blocks, task.chunk_size, task.start, task.size)
        return tasks

    def __len__(self) -> int:
        """Number of tasks."""
        return len(self._tasks)

    @property
    def tasks(self) -> np.ndarray:
        """The tasks by rank, a structured array: rank, file (its number), index (in the file), blocks (how many chunks the task
        has), chunk_size (bytes), start (offset in the file), size (bytes of the stream)."""
        return self._tasks.copy()

    def _own(self, reader: int, task: int) -> _c.hpcw_sion_task:
        whole = isinstance(task, numbers.Integral) and not isinstance(task, bool)
        found = _library.library().hpcw_sion_reader_find(reader, task) if whole and 0 <= task < 1 << 32 else None
        if not found:
            raise errors.HpcwValueError(f"{self.path}: expected a task of the container, got {task!r:.60}")
        return found.contents

    def _read_into(self, reader: int, task: int, data: np.ndarray) -> None:
        got = c_size_t()
        _library.call("hpcw_sion_reader_read", reader, task, data.ctypes.data, data.nbytes, byref(got))
        if got.value != data.nbytes:
            raise errors.HpcwFormatError(f"{self.path}: task {task}: expected {data.nbytes} bytes, got {got.value}",
                                         errors.Status.ETRUNCATED)

    def read(self, task: int, dtype=None, key: int | None = None) -> np.ndarray:
        """Reads the stream of a task as an array of `dtype` (default: `dtype` of this object). With a key, reads the
        values of the key, one after the other. The byte order is that of `dtype`.

        Raises HpcwValueError for a task or a key that does not exist, or a dtype of objects. Raises HpcwFormatError if the
        bytes are not a whole number of elements, or the file is damaged. Raises HpcwError for a key in a container without.
        """
        dtype = self.dtype if dtype is None else self._dtype_of(dtype)
        with self._handle as reader:
            size = self._own(reader, task).size
            if key is None:
                _library.call("hpcw_sion_reader_seek", reader, task, 0)
                data = np.empty(size, np.uint8)
                self._read_into(reader, task, data)
            else:
                data = self._values(reader, task, key)
        if data.nbytes % dtype.itemsize:
            raise errors.HpcwFormatError(f"{self.path}: task {task}: expected a multiple of {dtype.itemsize} bytes, got "
                                         f"{data.nbytes}", errors.Status.EFORMAT)
        return data.view(dtype)

    def starts_with(self, task: int, start: bytes) -> bool:
        """Whether the stream of a task begins with some bytes. Raises HpcwValueError for a task that does not exist."""
        with self._handle as reader:
            data = np.empty(min(self._own(reader, task).size, len(start)), np.uint8)
            _library.call("hpcw_sion_reader_seek", reader, task, 0)
            self._read_into(reader, task, data)
        return data.tobytes() == start

    def _values(self, reader: int, task: int, key: int) -> np.ndarray:
        values = []
        record, found = _c.hpcw_sion_record(), c_bool(True)
        _library.call("hpcw_sion_reader_seek", reader, task, 0)
        while found.value:
            _library.call("hpcw_sion_reader_find_key", reader, task, key, byref(record), byref(found))
            if found.value:
                values.append(np.empty(record.size, np.uint8))
                self._read_into(reader, task, values[-1])
        if not values:
            raise errors.HpcwValueError(f"{self.path}: task {task}: expected a key of the task, got {key}")
        return values[0] if len(values) == 1 else np.concatenate(values)

    def keys(self, task: int) -> np.ndarray:
        """The records of a task of a container with keys, in the order of the stream: key, size (bytes of the value),
        offset (in the stream), a structured array. A key may occur more than once. Raises HpcwValueError for a task that does
        not exist, and HpcwError in a container without keys."""
        records = []
        record, more = _c.hpcw_sion_record(), c_bool(True)
        with self._handle as reader:
            self._own(reader, task)
            _library.call("hpcw_sion_reader_seek", reader, task, 0)
            while more.value:
                _library.call("hpcw_sion_reader_next_key", reader, task, byref(record), byref(more))
                if more.value:
                    records.append((record.key, record.size, record.offset))
        return np.array(records, KEYS)
