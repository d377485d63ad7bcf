# SPDX-License-Identifier: BSD-3-Clause
"""Writers: one for each format, for one process or those of a communicator of mpi4py.

A file gets its name when its writer is closed. If the `with` block of a process ends with an exception, no file gets its
name: the close of the other processes raises that exception. If a process gives wrong arguments to the call that makes the
writer, all processes raise its exception. All calls of a writer but `write` and `add` are collective.
"""
from __future__ import annotations

import contextlib
import ctypes
import os
import time
from ctypes import byref
from numbers import Integral

import numpy as np

from . import _c, _library, errors
from ._library import Handle
from .clog2 import EVENTS, MESSAGES, STATES

SYNC = {"none": _c.HPCW_SYNC_NONE, "file": _c.HPCW_SYNC_FILE, "directory": _c.HPCW_SYNC_DIRECTORY}
_CONTENTS = {"records": _c.HPCW_SION_RECORDS, "stream": _c.HPCW_SION_STREAM, "keys": _c.HPCW_SION_KEYVAL}
_LAYOUTS = {"aligned": _c.HPCW_SION_ALIGNED, "packed": _c.HPCW_SION_PACKED}
_ENDIANS = {"little": _c.HPCW_SION_LITTLE, "big": _c.HPCW_SION_BIG}
# Fields of the rows that a log takes.
_FIELDS = {"states": [name for name, _ in STATES], "events": [name for name, _ in EVENTS],
           "messages": [name for name, _ in MESSAGES if name != "comm"]}
_COLOURS = (b"SteelBlue", b"orange", b"SeaGreen", b"red", b"MediumPurple", b"brown", b"pink", b"gray", b"gold", b"cyan")


def _one_of(choices: dict, name: str, value):
    if value not in choices:
        raise errors.HpcwValueError(f"{name}: expected one of {', '.join(choices)}, got {value!r}")
    return choices[value]


def _text(what: str, value) -> bytes:
    try:
        return value.encode()
    except (AttributeError, UnicodeEncodeError):
        raise errors.HpcwValueError(f"{what}: expected a text, got {value!r:.60}") from None


def _array(what: str, values, dtype=None) -> np.ndarray:
    try:
        return np.asarray(values, dtype)
    except (TypeError, ValueError) as failure:  # for instance a text, or lists of different lengths in a list
        raise errors.HpcwValueError(f"{what}: expected an array, got {values!r:.60}: {failure}") from None


def _bytes_of(data) -> np.ndarray:
    """Returns an array, or anything with a buffer, as a contiguous array in C order."""
    if isinstance(data, (bytes, bytearray)):
        return np.frombuffer(data, np.uint8)
    data = np.ascontiguousarray(_array("data", data))
    if data.dtype.hasobject or data.dtype.kind == "U":
        raise errors.HpcwValueError(f"expected numbers or bytes, got an array of {data.dtype}")
    return data


def _whole_numbers(what: str, values, dtype) -> np.ndarray:
    """Returns a number or a list of them as an array of `dtype`. NumPy would cut numbers that do not fit."""
    given = np.atleast_1d(_array(what, values))
    if given.size and (given.dtype.kind not in "iu" or given.ndim > 1):
        raise errors.HpcwValueError(f"{what}: expected whole numbers, got {given.tolist()[0]!r:.60}")
    stored = np.ascontiguousarray(given, dtype)
    if (stored != given).any():
        wrong = given[stored != given][0]
        raise errors.HpcwValueError(f"{what}: expected numbers from 0 to {np.iinfo(dtype).max}, got {wrong}")
    return stored


def _structured(what: str, rows, fields: list) -> np.ndarray:
    """Returns the rows. Raises an exception if they do not have all of the fields, or if a field has no numbers."""
    rows = _array(what, rows).ravel()
    missing = [name for name in fields if name not in (rows.dtype.names or ())]
    if missing:
        raise errors.HpcwValueError(f"{what}: expected a structured array with the fields {', '.join(fields)}, got one "
                                    f"without {', '.join(missing)}")
    for name in fields:
        if name != "name" and rows.dtype[name].kind not in "iuf":
            raise errors.HpcwValueError(f"{what}: {name}: expected numbers, got {rows[name][:1].tolist()}")
    return rows


def _create(kind, path, *args):
    """Makes a writer. Messages get the name of the file."""
    try:
        return kind(path, *args)
    except errors.HpcwValueError as failure:
        errors.name(failure, f"{_library.absolute(path)}: ")
        raise


def _status_of(reason) -> errors.Status:
    """Returns the status of an exception or a text. The `status` of other packages' exceptions is not a Status."""
    return reason.status if isinstance(reason, errors.HpcwError) else errors.Status.EINVAL


def _options(name: str):
    """Returns an options struct with the default values."""
    options = getattr(_c, f"hpcw_{name}_options")()
    getattr(_library.library(), f"hpcw_{name}_options_fill")(byref(options), ctypes.sizeof(options))
    return options


class Writer:
    """Base of the writers. path: the final name."""

    _calls: str  # prefix of the C functions

    @contextlib.contextmanager
    def _prepared(self, comm):
        """In the body, each process prepares the open. If one fails, all raise its exception, and none waits in the open."""
        failure = None
        try:
            yield
        except Exception as raised:  # of any kind: the other processes wait for it
            failure = raised
        if comm is not None:
            failure = next((one for one in comm.allgather(failure) if one is not None), None)
        if failure is not None:
            raise failure

    def _set_path(self, path) -> None:
        self.path = _library.absolute(path)
        self._path = os.fsencode(self.path)

    def _pointer_of(self, comm) -> int | None:
        """Makes the library's communicator and returns its address."""
        from . import _mpi
        self._comm = None if comm is None else _mpi.Communicator(comm)
        return None if self._comm is None else self._comm.pointer

    def _make(self, *args) -> None:
        self._handle = Handle.of(f"{self._calls}_open", *args, free=f"{self._calls}_free")

    def __enter__(self):
        return self

    def __exit__(self, kind, value, _traceback) -> None:
        if kind is None:
            self.close()
        else:
            self.abandon(value)

    def close(self) -> None:
        """Writes what is left and gives the file its name. Raises the first failure of any process."""
        if self._handle.pointer is not None:
            try:
                self._finish()
            finally:
                self._free()

    def _finish(self) -> None:
        with self._handle as handle:
            _library.call(f"{self._calls}_close", handle)

    def abandon(self, reason: BaseException | str = "given up") -> None:
        """Gives the file up: it does not get its name, and the close of the other processes raises the reason."""
        if self._handle.pointer is None:
            return
        try:
            text = f"{self.path}: {reason}".encode(errors="replace").replace(b"\0", b"?")
            error = _c.hpcw_error(code=_status_of(reason), message=text[:1000])
            with self._handle as handle:
                getattr(_library.library(), f"{self._calls}_abandon")(handle, byref(error))
            self._finish()
        except errors.HpcwError:
            pass  # the error is the reason itself
        finally:
            self._free()

    def _free(self) -> None:
        self._handle.close()
        if self._comm is not None:
            self._comm.close()


class SionWriter(Writer):
    """See sion_create. tasks: number of tasks of the container. first_task: the lowest task of this process."""

    _calls = "hpcw_sion"

    def __init__(self, path, tasks, comm, chunk_size, ranks, content, files, layout, block_size, byte_order, sync):
        with self._prepared(comm):
            self._set_path(path)
            options = _options("sion")
            own = None if ranks is None else _whole_numbers("ranks", ranks, np.uint32)
            options.count = tasks if own is None else len(own)
            options.ranks = None if own is None else own.ctypes.data
            sizes = None if isinstance(chunk_size, Integral) else _whole_numbers("chunk_size", chunk_size, np.uint64)
            if sizes is None:
                options.chunk_size = chunk_size
            elif len(sizes) != options.count:
                raise errors.HpcwValueError(f"{self.path}: expected {options.count} sizes of chunks, got {len(sizes)}")
            else:
                options.sizes = sizes.ctypes.data
            options.content = _one_of(_CONTENTS, "content", content)
            options.layout = _one_of(_LAYOUTS, "layout", layout)
            options.endian = options.data_endian = _one_of(_ENDIANS, "byte_order", byte_order)
            options.files, options.fs_block_size = files, block_size
            options.durability = _one_of(SYNC, "sync", sync)
        self._make(self._path, self._pointer_of(comm), byref(options), Handle.OUT)
        with self._handle as handle:
            self.tasks: int = _library.library().hpcw_sion_tasks(handle)
            self.first_task: int = _library.library().hpcw_sion_first_rank(handle)

    def write(self, task: int, data, key: int | None = None) -> None:
        """Appends an array, or bytes, to the stream of a task of this process. With a key, appends a record."""
        with self._handle as handle:
            data = _bytes_of(data)
            if key is None:
                _library.call("hpcw_sion_write", handle, task, data.ctypes.data, data.nbytes)
            else:
                _library.call("hpcw_sion_write_key", handle, task, key, data.ctypes.data, data.nbytes)


def sion_create(path: str | os.PathLike, tasks: int = 1, comm=None, chunk_size=1 << 20, *, ranks=None, content: str = "stream",
                files: int = 1, layout: str = "aligned", block_size: int = 0, byte_order: str = "little",
                sync: str = "file") -> SionWriter:
    """Creates a SION container: `with sion_create(...) as f: f.write(task, array)`. Collective over `comm`.

    tasks: number of tasks of this process, whose numbers follow those of the previous process. ranks: list of the task
    numbers of this process, in place of `tasks`. chunk_size: bytes of a task's chunk, or a list with a size for each task.
    content: "stream"; "records", each of which SIONlib keeps in one chunk; "keys". files: number of physical files. layout:
    "aligned" or "packed". block_size: bytes of a block of the file system, 0: as the file system reports. byte_order: byte
    order of the metadata, and the one that the container states for the data. sync: what the close flushes to stable
    storage, "none", "file" or "directory".

    Returns a SionWriter. Raises HpcwValueError for arguments that no container has, and HpcwNotFoundError or
    HpcwPermissionError if its directory does not exist or cannot be written. A write or close raises what failed.
    """
    return _create(SionWriter, path, tasks, comm, chunk_size, ranks, content, files, layout, block_size, byte_order, sync)


class LinksWriter(Writer):
    """See links_create. tasks: N, the number of tasks. own: range of the tasks of this process."""

    _calls = "hpcw_linktest"

    def __init__(self, path, tasks, comm, start, end, settings):
        self._params = p = _c.hpcw_linktest_params()
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        now = now if comm is None else comm.bcast(now)
        with self._prepared(comm):
            self._set_path(path)
            _library.library().hpcw_linktest_params_init(byref(p))
            kinds = dict(p._fields_)
            for name, value in settings.items():
                if name not in kinds or name in ("tasks", "count", "ranks", "permutations", "sink_source"):
                    raise errors.HpcwValueError(f"{self.path}: expected a setting of hpcw_linktest_params, got {name}")
                setattr(p, name, _text(name, value) if kinds[name] is ctypes.c_char_p else value)
            p.tasks = self.tasks = tasks
            process, processes = (0, 1) if comm is None else (comm.rank, comm.size)
            self.own = range(tasks * process // processes, tasks * (process + 1) // processes)
            p.count = len(self.own)
            self._times = _text("start", start or now), _text("end", end or start or now)
        self._make(self._path, self._pointer_of(comm), byref(p), Handle.OUT)
        self._schedule = Handle.of("hpcw_linktest_schedule_new", byref(p), 0, Handle.OUT, free="hpcw_linktest_schedule_free")

    def write(self, task: int, seconds, host: str, core: int = 0) -> None:
        """Stores the measurements of a task of this process, and the host and core where it ran. `seconds` [N] is the time of
        a message to each other task. Times are rounded to picoseconds. Raises HpcwValueError for a task of another process,
        and for a time below 1 ps or of 2^52 ps or more."""
        seconds = _array(f"{self.path}: seconds", seconds, np.float64)
        if seconds.shape != (self.tasks,):
            raise errors.HpcwValueError(f"{self.path}: expected the times of {self.tasks} tasks, got shape {seconds.shape}")
        partner = np.empty(_library.library().hpcw_linktest_steps(byref(self._params)), np.uint32)
        with self._handle as handle, self._schedule as schedule:
            _library.call("hpcw_linktest_task", handle, task, _text("host", host), core)
            _library.library().hpcw_linktest_partners(schedule, task, partner.ctypes.data)
            with np.errstate(invalid="ignore"):
                time_ps = np.rint(seconds[partner] * 1e12).astype(np.uint64)
            _library.call("hpcw_linktest_timings", handle, task, time_ps.ctypes.data, None, 0)

    def _finish(self) -> None:
        with self._handle as handle:
            _library.call("hpcw_linktest_end_permutation", handle, *self._times, None)
            _library.call("hpcw_linktest_close", handle)

    def _free(self) -> None:
        self._schedule.close()
        super()._free()


def links_create(path: str | os.PathLike, tasks: int, comm=None, *, start: str | None = None, end: str | None = None,
                 **settings) -> LinksWriter:
    """Creates a LinkTest result: `with links_create(path, N) as f: f.write(task, seconds, host, core)` for each task in
    `f.own`. Collective over `comm`; the tasks are divided among the processes in ascending order.

    tasks: N, even. start, end: texts like 2026-01-31T12:00:00Z; default: now. settings: members of hpcw_linktest_params, for
    instance messages=25, message_size=1 << 20 (bytes), retests=10, kernel, mode="mpi".

    Returns a LinksWriter. The errors are those of sion_create. The close fails if a task has no times.
    """
    return _create(LinksWriter, path, tasks, comm, start, end, settings)


class LoadsWriter(Writer):
    """See loads_create. rank: the rank whose file it writes."""

    _calls = "hpcw_vom"

    def __init__(self, path, rank, ranks, allow_gaps, sync):
        self._comm = None
        self._set_path(path)
        options = _options("vom")
        options.rank, options.ranks = rank, ranks
        options.allow = _c.HPCW_VOM_ALLOW_GAPS if allow_gaps else 0
        options.durability = _one_of(SYNC, "sync", sync)
        self.rank = rank
        self._make(self._path, byref(options), Handle.OUT)

    @staticmethod
    def _entity(id_: int, collection: int, whole: bool):
        """Returns the entity with an id, and its index array, which must live as long as the entity. `whole`: the entity has
        all members that a task needs; otherwise only those that the id contains."""
        lib, parts = _library.library(), _c.hpcw_vom_id()
        _library.call("hpcw_vom_id_parts", id_, byref(parts))
        if parts.kind == _c.HPCW_VOM_NOBODY:
            return lib.hpcw_vom_nobody(), None
        if not whole:
            return lib.hpcw_vom_far(id_), None
        if parts.kind == _c.HPCW_VOM_ELEMENT:
            index = np.array([parts.home, parts.number], np.uint64)
            return lib.hpcw_vom_element(parts.home, parts.number, collection, index.ctypes.data, 2), index
        if parts.kind == _c.HPCW_VOM_GROUP:
            return lib.hpcw_vom_group(parts.number, parts.home, parts.collective), None
        return lib.hpcw_vom_handler(parts.home), None

    def write(self, phase: int, tasks: np.ndarray, edges: np.ndarray | None = None) -> None:
        """Writes a phase; phases come in ascending order. Tasks and edges are structured arrays with the fields of Loads.tasks
        and Loads.edges. Of a task, the fields id, collection_id and time are used; of an edge, category, source, dest, bytes
        and messages. The index of an element in its collection is (home, number)."""
        tasks = _structured(f"{self.path}: tasks", tasks, ["id", "collection_id", "time"])
        if edges is not None:
            edges = _structured(f"{self.path}: edges", edges, ["category", "source", "dest", "bytes", "messages"])
        for what, rows, names in (("tasks", tasks, ("id", "collection_id")), ("edges", edges, ("source", "dest"))):
            for name in names if rows is not None else ():
                _whole_numbers(f"{self.path}: {what}: {name}", rows[name], np.uint64)
        own = {int(task["id"]): int(task["collection_id"]) for task in tasks}
        with self._handle as handle:
            _library.call("hpcw_vom_begin_phase", handle, phase)
            for edge in () if edges is None else edges:
                self._edge(handle, edge, own)
            for task in tasks:
                entity, _index = self._entity(int(task["id"]), int(task["collection_id"]), True)
                record = _c.hpcw_vom_task(entity=entity, time_s=task["time"])
                _library.call("hpcw_vom_task_add", handle, byref(record))
            _library.call("hpcw_vom_end_phase", handle, None, 0)

    def _edge(self, handle: int, edge, own: dict) -> None:
        record = _c.hpcw_vom_edge(category=edge["category"], bytes=edge["bytes"], messages=edge["messages"])
        kept = []
        objects = {_c.HPCW_VOM_SEND_RECV: ("source", "dest"), _c.HPCW_VOM_BROADCAST: ("source", "dest"),
                   _c.HPCW_VOM_COLLECTION_TO_NODE: ("source",), _c.HPCW_VOM_COLLECTION_TO_NODE_BCAST: ("source",),
                   _c.HPCW_VOM_NODE_TO_COLLECTION: ("dest",), _c.HPCW_VOM_NODE_TO_COLLECTION_BCAST: ("dest",)}
        chosen = objects.get(int(edge["category"]))
        if chosen is None:
            raise errors.HpcwValueError(f"{self.path}: expected an edge of objects or nodes, got category {edge['category']}")
        for name, member in (("source", "from"), ("dest", "to")):
            id_ = int(edge[name])
            if name in chosen:
                entity, index = self._entity(id_, own.get(id_, 0), id_ in own)
                kept.append(index)
                setattr(record, member, entity)
            else:
                record.node = id_
        _library.call("hpcw_vom_edge_add", handle, byref(record))

    def abandon(self, reason: BaseException | str = "given up") -> None:
        self._free()


def loads_create(path: str | os.PathLike, rank: int = 0, ranks: int = 1, *, allow_gaps: bool = False,
                 sync: str = "file") -> LoadsWriter:
    """Creates the load data of one rank: `with loads_create("lb/data.3.json.br", 3, 16) as f: f.write(phase, tasks, edges)`.
    Compressed if the name ends in ".br". Not collective: every rank of a job needs a file.

    ranks: number of ranks of the job. allow_gaps: phases may be missing. sync: "none", "file" or "directory".

    Returns a LoadsWriter. The errors are those of sion_create.
    """
    return _create(LoadsWriter, path, rank, ranks, allow_gaps, sync)


class LogWriter(Writer):
    """See log_create."""

    _calls = "hpcw_clog2"

    def __init__(self, path, ranks, comm, threads, sync):
        with self._prepared(comm):
            self._set_path(path)
            self._mpi, self.ranks, self._threads, self._sync = comm, ranks, threads, _one_of(SYNC, "sync", sync)
        self._rows = {"states": [], "events": [], "messages": []}
        self._open_ = True

    def write(self, states=None, messages=None, events=None, names=()) -> None:
        """Adds rows: structured arrays with the fields of EventLog.states, messages and events. The field `name` is an index
        in `names` or, if `names` is empty, in the names of the EventLog that made the array; np.concatenate makes an array
        that no longer knows them. Ranks are ranks of the world.
        The field `comm` of messages is not used."""
        if not self._open_:
            raise errors.HpcwError(f"{self.path}: expected a log that is open, got one that was closed", errors.Status.ESTATE)
        for what, rows in (("states", states), ("messages", messages), ("events", events)):
            if rows is not None:
                rows = _structured(f"{self.path}: {what}", rows, _FIELDS[what])
                known = names
                if "name" in rows.dtype.names and not len(known):
                    known = (rows.dtype["name"].metadata or {}).get("names", ())
                self._check(what, rows, len(known))
                known = [str(name) for name in known]
                for name in known:
                    _text(f"{self.path}: names", name)
                self._rows[what].append((rows.copy(), known))

    def _check(self, what: str, rows: np.ndarray, names: int) -> None:
        if "name" in _FIELDS[what]:
            name = rows["name"]
            wrong = name[(name < 0) | (name >= names)] if name.dtype.kind in "iu" else name
            if len(wrong):
                raise errors.HpcwValueError(f"{self.path}: {what}: expected indices of {names} names, got {wrong[0]!r:.60}")
        if what == "states" and (rows["end"] < rows["begin"]).any():
            begin, end = rows[rows["end"] < rows["begin"]][["begin", "end"]][0]
            raise errors.HpcwValueError(f"{self.path}: states: expected end >= begin, got {begin} to {end} s")

    def close(self) -> None:
        """Writes the log on process 0. If the write fails, all processes raise its exception."""
        if not self._open_:
            return
        self._open_ = False
        failure = None
        gathered = [self._rows] if self._mpi is None else self._mpi.gather(self._rows)
        if gathered is not None:
            try:
                self._write(gathered)
            except Exception as raised:  # of any kind: the other processes wait for it
                failure = raised
                if isinstance(raised, errors.HpcwError):
                    errors.name(raised, f"{self.path}: ")
        if self._mpi is not None:
            failure = self._mpi.bcast(failure)
        if failure is not None:
            raise failure

    def abandon(self, reason: BaseException | str = "given up") -> None:
        """Gives the log up, in place of close: the close of the other processes raises the reason."""
        if self._open_ and self._mpi is not None:
            self._open_ = False
            gathered = self._mpi.gather(errors.of(f"{self.path}: {reason}", _status_of(reason)))
            self._mpi.bcast(None if gathered is None else next(g for g in gathered if isinstance(g, Exception)))
        self._open_ = False

    def _write(self, gathered: list) -> None:
        for part in gathered:
            if isinstance(part, Exception):
                raise part
        states, events, messages = ([rows for part in gathered for rows in part[what]] for what in self._rows)
        numbers = _numbers(states, _c.HPCW_CLOG2_USER_STATE)
        solos = _numbers(events, _c.HPCW_CLOG2_USER_SOLO)
        members = _members(states, numbers, events, solos, messages)
        first = len(numbers) + len(solos)
        records = (_c.hpcw_clog2_record * (first + len(members["time"])))()
        for i, (name, number) in enumerate(numbers.items()):
            records[i].kind = _c.HPCW_CLOG2_STATE_DEF
            getattr(records[i], "as").state = _c.hpcw_clog2_record_state(
                number, 2 * number, 2 * number + 1, _COLOURS[i % len(_COLOURS)], name.encode(), None)
        for i, (name, number) in enumerate(solos.items(), len(numbers)):
            records[i].kind = _c.HPCW_CLOG2_EVENT_DEF
            getattr(records[i], "as").solo = _c.hpcw_clog2_record_solo(number, _COLOURS[i % len(_COLOURS)], name.encode(), None)
        rows = np.frombuffer(records, _record_dtype())[first:]
        for name, values in members.items():
            rows[name] = values
            if name != "time" and (rows[name] != values).any():
                raise errors.HpcwValueError(f"{self.path}: {name}: expected numbers of 32 bits with a sign, got "
                                            f"{values[rows[name] != values][0]}")
        options = _options("clog2")
        options.ranks, options.threads, options.durability = self.ranks, self._threads, self._sync
        options.states, options.solos = len(numbers), len(solos)
        _library.call("hpcw_clog2_write", self._path, byref(options), records, len(records))


def _numbers(parts: list, first: int) -> dict:
    """Returns a dictionary that numbers the names in `parts`, from `first` on."""
    used = (names[i] for rows, names in parts for i in np.unique(rows["name"]))
    return {name: first + i for i, name in enumerate(dict.fromkeys(used))}


def _record_dtype() -> np.dtype:
    """A dtype with those members of hpcw_clog2_record that events and messages use."""
    record, message = _c.hpcw_clog2_record, _c.hpcw_clog2_record_message
    fields = {name: (getattr(record, name).offset, kind)
              for name, kind in (("time", "f8"), ("rank", "i4"), ("thread", "i4"), ("kind", "i4"))}
    fields.update({name: (getattr(record, "as").offset + getattr(message, name).offset, "i4")
                   for name in ("event", "peer_rank", "tag", "size")})
    return np.dtype({"names": list(fields), "offsets": [o for o, _ in fields.values()],
                     "formats": [k for _, k in fields.values()], "itemsize": ctypes.sizeof(record)})


def _members(states: list, numbers: dict, events: list, solos: dict, messages: list) -> dict:
    """Returns the columns of the records for states, events and messages. Records are sorted by time, rank and thread. Equal
    ones are in the order in which they happened."""
    members = {name: [] for name in _record_dtype().names}

    def add(count: int, **given) -> None:
        for name, column in members.items():
            column.append(np.broadcast_to(np.asarray(given.get(name, 0)), count))

    def coded(rows, names, known):
        return np.array([known.get(name, 0) for name in names] or [0])[rows["name"]]

    for rows, names in states:
        time, which, end = _begins_and_ends(rows)
        add(len(time), time=time, rank=rows["rank"][which], thread=rows["thread"][which], kind=_c.HPCW_CLOG2_BARE,
            event=2 * coded(rows, names, numbers)[which] + end)
    for rows, names in events:
        add(len(rows), time=rows["time"], rank=rows["rank"], thread=rows["thread"], kind=_c.HPCW_CLOG2_BARE,
            event=coded(rows, names, solos))
    for rows, _ in messages:
        for time, own, peer, event in (("sent", "source", "dest", _c.HPCW_CLOG2_SEND),
                                       ("received", "dest", "source", _c.HPCW_CLOG2_RECEIVE)):
            add(len(rows), time=rows[time], rank=rows[own], kind=_c.HPCW_CLOG2_MESSAGE, event=event, peer_rank=rows[peer],
                tag=rows["tag"], size=rows["size"])
    joined = {name: np.concatenate(column) if column else np.zeros(0) for name, column in members.items()}
    order = np.lexsort((joined["thread"], joined["rank"], joined["time"]))
    return {name: column[order] for name, column in joined.items()}


def _begins_and_ends(rows: np.ndarray) -> tuple:
    """Returns the begins and ends of states as (time, row, 0: begin or 1: end), timeline by timeline. `depth` of the rows
    decides how states at the same time are nested."""
    order = np.lexsort((rows["end"], rows["depth"], rows["begin"], rows["thread"], rows["rank"]))
    which, ends, stack, last = [], [], [], None
    depth, rank, thread = rows["depth"], rows["rank"], rows["thread"]
    for i in order.tolist():
        line = (rank[i], thread[i])
        while stack and (line != last or depth[stack[-1]] >= depth[i]):
            which.append(stack.pop())
            ends.append(1)
        which.append(i)
        ends.append(0)
        stack.append(i)
        last = line
    while stack:
        which.append(stack.pop())
        ends.append(1)
    which, ends = np.array(which, np.int64), np.array(ends, np.int64)
    return np.where(ends == 1, rows["end"][which], rows["begin"][which]), which, ends


def log_create(path: str | os.PathLike, ranks: int, comm=None, *, threads: int = 1, sync: str = "file") -> LogWriter:
    """Creates an event log of states, messages and solo events that are in memory: `with log_create(path, ranks) as f:
    f.write(states, messages, names=names)`. Collective over `comm`: each process adds rows of any ranks, and process 0 writes
    them all at the close.

    ranks: number of ranks of the world. threads: largest number of threads of a rank. sync: "none", "file" or "directory".

    Returns a LogWriter. The errors are those of sion_create; those of the directory come with the close.
    """
    return _create(LogWriter, path, ranks, comm, threads, sync)


class CheckpointWriter(Writer):
    """See checkpoint_create. ranks: number of ranks of the job. first_rank: the lowest rank of this process. name: name of the
    dataset."""

    _calls = "hpcw_rank2file"

    def __init__(self, prefix, ranks, comm, id_, name, layout, replace, sync):
        with self._prepared(comm):
            self._set_path(prefix)
            options = _options("rank2file")
            _library.call("hpcw_rank2file_layout_of", _text("layout", layout),
                          ctypes.addressof(options) + type(options).layout.offset)
            options.dataset.id, options.count, options.replace = id_, ranks, replace
            options.dataset.name = None if name is None else _text("name", name)
            options.durability = _one_of(SYNC, "sync", sync)
        self._make(self._path, self._pointer_of(comm), byref(options), Handle.OUT)
        with self._handle as handle:
            lib = _library.library()
            self.ranks: int = lib.hpcw_rank2file_ranks(handle)
            self.first_rank: int = lib.hpcw_rank2file_first_rank(handle)
            self.name: str = _library.text(lib.hpcw_rank2file_dataset_of(handle).contents.name)

    def write(self, rank: int, name: str, data) -> None:
        """Writes a file of a rank of this process. `name` is relative to the directory of the dataset."""
        with self._handle as handle:
            data = _bytes_of(data)
            file = Handle.of("hpcw_rank2file_create", handle, rank, os.fsencode(name), Handle.OUT, free="hpcw_rank2file_file_free")
            with file as pointer:
                _library.call("hpcw_rank2file_file_write", pointer, data.ctypes.data, data.nbytes)
                _library.call("hpcw_rank2file_file_close", pointer)
            file.close()

    def add(self, rank: int, name: str, size: int, crc: int | None = None) -> None:
        """Adds a file that the program writes itself. The close fails if it is missing or has another size."""
        with self._handle as handle:
            crc = None if crc is None else _whole_numbers("crc", crc, np.uint32)
            _library.call("hpcw_rank2file_add", handle, rank, os.fsencode(name), size, None if crc is None else crc.ctypes.data)


def checkpoint_create(prefix: str | os.PathLike, ranks: int = 1, comm=None, *, id: int = 1, name: str | None = None,
                      layout: str = "scr-1.1", replace: bool = False, sync: str = "file") -> CheckpointWriter:
    """Creates a checkpoint in a prefix directory of SCR: `with checkpoint_create("scr", 4) as f: f.write(rank, name, array)`.
    Collective over `comm`.

    ranks: number of ranks of this process, whose numbers follow those of the previous process. id, name: id and name of the
    dataset; the default name is SCR's. layout: "scr-1.1", "scr-1.2", "scr-3" or "shared". replace: removes an older dataset
    with this id. sync: "none", "file" or "directory".

    Returns a CheckpointWriter. The errors are those of sion_create. Raises HpcwExistsError for an id or a name that the index
    has, unless `replace`.
    """
    return _create(CheckpointWriter, prefix, ranks, comm, id, name, layout, replace, sync)
