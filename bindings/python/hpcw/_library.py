# SPDX-License-Identifier: BSD-3-Clause
"""The shared library: finds it, calls it, and keeps its handles."""
from __future__ import annotations

import ctypes
import functools
import os
import threading
import weakref
from ctypes import byref
from numbers import Integral

from . import _c, _whole, _where, errors

_HERE = os.path.dirname(os.path.abspath(__file__))


def _paths(name: str) -> list:
    """Returns candidate paths of a library: the path in HPCW_LIBRARY; otherwise paths beside the package, in the wheel's
    folder, in the installed prefix, and in the system's search path."""
    given = os.environ.get("HPCW_LIBRARY")
    if given and name == "libhpcw" and not os.path.isdir(given):
        return [given]
    wheel = os.path.join(os.path.dirname(_HERE), ".hpcw.mesonpy.libs")
    folders = [given if os.path.isdir(given) else os.path.dirname(given)] if given else [_HERE, wheel, _where.LIBDIR]
    # In a wheel the file has the full version in its name: a wheel cannot have the symbolic link NAME.so.ABI.
    files = [f"{name}.so.{_where.ABI}", f"{name}.so.{_where.VERSION}"]
    paths = [os.path.join(folder, file) for folder in folders for file in files]
    return [path for path in paths if os.path.exists(path)] + files[:1]


def load(name: str) -> ctypes.CDLL:
    """Loads a library by its name without ending."""
    paths = _paths(name)
    try:
        return ctypes.CDLL(paths[0])
    except OSError as failure:
        raise errors.HpcwLibraryError(
            f"{paths[0]}: expected the shared library {name} of hpcw {_where.VERSION}, got: {failure}; HPCW_LIBRARY names its "
            "path", errors.Status.ENOTSUP) from None


@functools.lru_cache(maxsize=None)
def library() -> ctypes.CDLL:
    """Returns libhpcw, with the argument and result types of its calls set."""
    lib = load("libhpcw")
    try:
        for name, (result, *args) in _c.CALLS.items():
            call = getattr(lib, name)
            call.restype, call.argtypes = result, args
        version = lib.hpcw_version().decode()
    except AttributeError as failure:
        raise errors.HpcwLibraryError(f"{lib._name}: expected version {_where.VERSION}, got one without {name}",
                                      errors.Status.ENOTSUP) from failure
    if version.split(".")[:2] != _where.VERSION.split(".")[:2]:
        raise errors.HpcwLibraryError(f"{lib._name}: expected version {_where.VERSION}, got {version}", errors.Status.ENOTSUP)
    return lib


def raise_of(error: _c.hpcw_error, status: int) -> None:
    raise errors.of(error.message.decode(errors="replace") or f"status {status}", status, error.sys_errno, error.process)


_NUMBERS = {ctypes.c_int32, ctypes.c_uint32, ctypes.c_uint64, ctypes.c_size_t}


def call(name: str, *args) -> None:
    """Calls a function that returns a status and takes an hpcw_error as its last argument. Raises an exception on failure."""
    error = _c.hpcw_error()
    for kind, value in zip(_c.CALLS[name][1:], args):
        if kind in _NUMBERS and not isinstance(value, Integral):
            raise errors.HpcwValueError(f"{name}: expected a whole number, got {value!r:.60}")
        if isinstance(value, (Integral, bytes)) and kind is not ctypes.c_void_p:
            _whole.check(name, value, kind(value).value)
    status = getattr(library(), name)(*args, byref(error))
    if status != _c.HPCW_OK:
        raise_of(error, status)


def absolute(path: str | os.PathLike) -> str:
    """Makes a path absolute, so that it stays valid when the working directory changes."""
    name = os.fsdecode(path)
    if "\0" in name:
        raise errors.HpcwValueError(f"{name!r}: expected a path, got one with a NUL")
    return os.path.abspath(name)


def text(value) -> str | None:
    """Converts a C text to a str; NULL to None."""
    return None if value is None else value.decode(errors="replace")


class cached_property(functools.cached_property):
    """Without the lock of Python 3.11 and earlier. All objects share that lock, and a child of fork() would wait forever if a
    thread of its parent had it."""

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        if self.attrname not in instance.__dict__:
            instance.__dict__.setdefault(self.attrname, self.func(instance))
        return instance.__dict__[self.attrname]


_handles = weakref.WeakSet()


def _after_fork() -> None:
    """Renews all locks in a child of fork(): a thread that held a lock does not exist in the child."""
    for handle in _handles:
        handle._lock = threading.RLock()


os.register_at_fork(after_in_child=_after_fork)


class Handle:
    """A handle of the library. `with handle as pointer:` reserves the handle for the calling thread."""

    OUT = object()  # stands for the address of the handle among the arguments of `of`

    def __init__(self, free: str, name: str = ""):
        self._name = name  # its file, for errors
        self._free = getattr(library(), free)
        # The call that opens the handle writes the pointer here. So an interrupt right after the call loses no open handle.
        self._out = ctypes.c_void_p()
        self._lock = threading.RLock()
        _handles.add(self)

    @classmethod
    def of(cls, name: str, *args, free: str) -> Handle:
        """Calls a function that opens a handle, and returns the handle. `free`: name of the function that frees it."""
        handle = cls(free, f"{os.fsdecode(args[0])}: " if isinstance(args[0], bytes) else "")
        call(name, *(byref(handle._out) if a is Handle.OUT else a for a in args))
        return handle

    @property
    def pointer(self) -> int | None:
        return self._out.value

    def __enter__(self) -> int:
        self._lock.acquire()
        if self.pointer is None:
            self._lock.release()
            raise errors.HpcwError(f"{self._name}expected an object that is open, got one that was closed", errors.Status.ESTATE)
        return self.pointer

    def __exit__(self, _kind, failure, _traceback) -> None:
        self._lock.release()
        errors.pass_on(failure, self._name)

    def close(self) -> None:
        with self._lock:
            pointer, self._out.value = self.pointer, None
            if pointer is not None:
                self._free(pointer)

    def __del__(self):
        if hasattr(self, "_lock"):  # otherwise the constructor failed
            self.close()
