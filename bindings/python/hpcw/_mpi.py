# SPDX-License-Identifier: BSD-3-Clause
"""Communicators of mpi4py for the library."""
from __future__ import annotations

import ctypes
from ctypes import POINTER, byref, c_int, c_void_p

from . import _c, _library, errors


class Communicator(_library.Handle):
    """An hpcw_comm made from a communicator of mpi4py. None stands for this process alone. Collective."""

    def __init__(self, comm):
        from mpi4py import MPI
        lib = _library.load("libhpcw_mpi")
        self._same_mpi(lib, MPI)
        kind = c_int if MPI._sizeof(MPI.Comm) == ctypes.sizeof(c_int) else c_void_p
        make = lib.hpcw_comm_from_mpi
        make.restype, make.argtypes = c_int, (kind, c_void_p, POINTER(_c.hpcw_error))
        super().__init__(free="hpcw_comm_free")
        error = _c.hpcw_error()
        status = make(kind.from_address(MPI._addressof(comm)), byref(self._out), byref(error))
        if status != _c.HPCW_OK:
            _library.raise_of(error, status)

    @staticmethod
    def _same_mpi(lib: ctypes.CDLL, MPI) -> None:
        """Raises an exception if libhpcw_mpi and mpi4py use different MPI libraries, which would crash."""
        text, length = ctypes.create_string_buffer(16384), c_int()
        lib.MPI_Get_library_version(text, byref(length))
        ours, theirs = text.value.decode(errors="replace"), MPI.Get_library_version().rstrip("\0")
        if ours != theirs:
            ours, theirs = (" ".join(name.splitlines()[0].split(",")[0].split()) for name in (ours, theirs))
            raise errors.HpcwLibraryError(f"{lib._name}: expected the MPI of mpi4py, {theirs}, got {ours}", errors.Status.ENOTSUP)
