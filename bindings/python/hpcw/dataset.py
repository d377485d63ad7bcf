# SPDX-License-Identifier: BSD-3-Clause
"""Datasets of hpcgen, and `open`, which opens a path of any format."""
from __future__ import annotations

import builtins
import json
import os

import numpy as np

from . import _library, _show, errors
from .clog2 import EventLog
from .linktest import Links
from .rank2file import Checkpoints, Map, Tree
from .sion import PARTICLE, Container
from .vom import Loads, is_set

FAULTS = np.dtype([("kind", "O"), ("where", "O"), ("phase", "i8"), ("factor", "f8"), ("cost_s", "f8")])


def _without_waiting(path: str, flags: int) -> int:
    """Opens a path without waiting for a writer if it is a FIFO. The FIFO is then empty, and so of no known format."""
    return os.open(path, flags | os.O_NONBLOCK)


def _exists(*parts: str) -> bool:
    """Returns whether a path exists. Other failures raise OSError, while os.path.exists returns False for any failure."""
    path = os.path.join(*parts)
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as failure:
        raise errors.of_system(path, "cannot look at it", failure) from None
    return True


class Run(_show.Shown):
    """A dataset: all formats of one simulated run. Access to a format that the dataset does not have raises HpcwNotFoundError.

    ranks: number of ranks of the simulated run. manifest: dictionary of parameters and files.
    """

    def __init__(self, path: str | os.PathLike):
        self.path = _library.absolute(path)
        self.manifest: dict = self._json("manifest.json")
        try:
            self.ranks: int = self.manifest["parameters"]["ranks"]
            self._facts()
        except (KeyError, TypeError, OverflowError):
            raise errors.of(f"{self.path}/manifest.json: expected the parameters of a dataset, got none",
                            errors.Status.EFORMAT) from None

    def _json(self, name: str) -> dict:
        path = os.path.join(self.path, name)
        try:
            with builtins.open(path, encoding="utf-8", opener=_without_waiting) as file:
                return json.load(file)
        except FileNotFoundError as failure:
            raise errors.of(f"{path}: expected a file of a dataset, got none", errors.Status.ENOENT, failure.errno) from None
        except OSError as failure:
            raise errors.of_system(path, "cannot read", failure) from None
        except (ValueError, RecursionError) as failure:
            raise errors.of(f"{path}: expected JSON, got {failure}", errors.Status.EFORMAT) from None

    def _at(self, *parts: str) -> str:
        path = os.path.join(self.path, *parts)
        if not _exists(path):
            raise errors.of(f"{path}: expected the {parts[0]} data of the dataset, got none", errors.Status.ENOENT)
        return path

    @_library.cached_property
    def truth(self) -> dict:
        """What is wrong in the dataset, a dictionary of the faults that hpcgen put into it (doc/truth.md). Raises
        HpcwNotFoundError if the dataset does not have the file, and HpcwFormatError if it is damaged."""
        return self._json("truth.json")

    def faults(self) -> np.ndarray:
        """The faults in `truth`, in its order.

        Returns a structured array: kind, where (host, file, switches or rank, as a text), phase (-1: none), factor and cost_s
        (seconds that the run took longer because of the fault). NaN: the fault has no factor, or its cost was not measured.
        """
        def walk(part):
            if isinstance(part, dict) and ("visibility" in part or "cost_s" in part):
                yield part
            elif isinstance(part, (dict, list)):
                for one in part.values() if isinstance(part, dict) else part:
                    yield from walk(one)

        def where(fault):
            if "switch_a" in fault:
                return f"switches {fault['switch_a']} and {fault['switch_b']}"
            rank = f"rank {fault['rank']}" if "rank" in fault else ""
            return fault.get("host", fault.get("file", rank))

        def number(fault, name):
            value = fault.get(name)
            return np.nan if value is None else value

        try:
            return np.array([(f["kind"], where(f), f.get("phase", -1), number(f, "factor"), number(f, "cost_s"))
                             for f in walk(self.truth)], FAULTS)
        except (KeyError, TypeError, ValueError, OverflowError, RecursionError):
            raise errors.of(f"{self.path}/truth.json: expected faults with a kind and numbers, got others",
                            errors.Status.EFORMAT) from None

    @_library.cached_property
    def links(self) -> Links:
        """The LinkTest result, a Links."""
        return Links(self._at("linktest", "pingpong_results_bin.sion"))

    @_library.cached_property
    def log(self) -> EventLog:
        """The event log, an EventLog."""
        return EventLog(self._at("clog2", "app.clog2"))

    @_library.cached_property
    def loads(self) -> Loads:
        """The load data of all ranks, a Loads."""
        return Loads(self._at("vom"))

    @_library.cached_property
    def particles(self) -> Container:
        """The particles, a Container whose `read` gives arrays of PARTICLE: positions xx, yy, zz, velocities vx, vy, vz, the
        potential phi, the number pid, and mask."""
        return Container(self._at("sion", "particles.sion"), PARTICLE)

    @_library.cached_property
    def checkpoints(self) -> Checkpoints:
        """The SCR checkpoints, a Checkpoints."""
        return Checkpoints(self._at("scr"))

    def close(self) -> None:
        """Closes all files that were opened."""
        for name in ("links", "log", "loads", "particles", "checkpoints"):
            if name in self.__dict__:
                self.__dict__[name].close()

    def _facts(self) -> dict:
        parameters = self.manifest["parameters"]
        workload = {"workload": parameters["workload"]["name"]} if "workload" in parameters else {}  # only with a log
        return {"ranks": self.ranks, "seed": parameters["seed"], "machine": parameters["preset"], **workload,
                "formats": ", ".join(parameters["formats"]),
                "size": _show.size_text(sum(f["size"] for f in self.manifest["files"]))}


_KVTREE = b"\x95\x1f\xc3\xf5"


def open(path: str | os.PathLike) -> Run | EventLog | Links | Loads | Container | Checkpoints | Map | Tree:
    """Opens a dataset (Run), a file, or a directory of a format by its content.

    Returns Run, EventLog, Links, Loads, Container, Checkpoints, Map or Tree. Raises HpcwNotFoundError, or HpcwFormatError for
    a file of another format or a damaged one. A dataset that hpcgen has not finished raises HpcwError.
    """
    name = _library.absolute(path)
    if os.path.isdir(name):
        if _exists(name, "manifest.json"):
            return Run(path)
        _check_finished(name)
        _check_finished(os.path.dirname(name))
        if _exists(name, ".scr", "index.scr"):
            return Checkpoints(path)
        if is_set(name):
            return Loads(path)
        raise errors.of(f"{name}: expected a dataset, load data or checkpoints, got another directory", errors.Status.EFORMAT)
    try:
        with builtins.open(name, "rb", opener=_without_waiting) as file:
            start = file.read(8)
    except OSError as failure:
        raise errors.of_system(name, "cannot open", failure) from None
    if start.startswith(b"CLOG-"):
        return EventLog(path)
    if start.startswith(b"sion"):
        return _container(path)
    if start.startswith(_KVTREE):
        return _checkpoint_file(path, name)
    try:
        return Loads(path)
    except errors.HpcwFormatError as error:
        if "expected '{' or a brotli stream at the start" not in str(error) or name.endswith((".json", ".br")):
            raise
        raise errors.of(f"{name}: expected an event log, a SION container, load data or a checkpoint, got another file",
                        errors.Status.EFORMAT) from None


def _check_finished(directory: str) -> None:
    if _exists(directory, ".hpcw", "parameters.json"):
        raise errors.of(f"{directory}: expected a finished dataset, got an unfinished one: `hpcgen --resume` or `hpcgen join` "
                        "finishes it", errors.Status.ESTATE)


def _checkpoint_file(path, name: str):
    """Opens a file of a checkpoint. As in hpcgen, its name decides: index.scr opens the prefix directory, the root of a map
    opens the map, and any other file is a Tree."""
    if name.endswith(os.path.join(".scr", "index.scr")):
        return Checkpoints(os.path.dirname(os.path.dirname(name)))
    return Map(path) if name.endswith(("rank2file", "rank2file.scr")) else Tree(path)


def _container(path):
    """Opens a container as Links if the stream of task 0 begins as a LinkTest result, otherwise as Container."""
    container = Container(path)
    if len(container) and container.tasks["rank"][0] == 0 and container.starts_with(0, b"LinkTest"):
        container.close()
        return Links(path)
    return container
