# SPDX-License-Identifier: BSD-3-Clause
"""Exceptions. Each is an HpcwError with a status and a message of one line; some are also one of Python's."""
from __future__ import annotations

import contextlib
import enum
import errno

from . import _c

Status = enum.IntEnum("Status", {name[5:]: value for name, value in vars(_c).items()
                                 if name == "HPCW_OK" or name.startswith("HPCW_E") and isinstance(value, int) and value < 0})
Status.__doc__ = "The status codes of the library: Status.EFORMAT is HPCW_EFORMAT."


class HpcwError(Exception):
    """What failed, in one line: `PATH: what: expected X, got Y`.

    status: the Status. sys_errno: errno of the failure, 0 if none. process: rank of the process that failed first.
    """

    def __init__(self, message: str, status: int = Status.EINVAL, sys_errno: int = 0, process: int = 0):
        super().__init__(message)
        self.status = Status(status)
        self.sys_errno = sys_errno
        self.process = process
        if isinstance(self, OSError):
            self.errno = sys_errno or _ERRNO.get(self.status)

    def __str__(self) -> str:
        return self.args[0]

    def __reduce__(self):
        return type(self), (self.args[0], int(self.status), self.sys_errno, self.process)


class HpcwValueError(HpcwError, ValueError):
    """An argument is wrong: EINVAL, ERANGE, EMISMATCH."""


class HpcwFormatError(HpcwError, ValueError):
    """A file is damaged, or is not of the format: EFORMAT, ETRUNCATED, ECHECKSUM."""


class HpcwNotFoundError(HpcwError, FileNotFoundError):
    """A file or directory does not exist: ENOENT. `errno` is set, as in each OSError of Python."""


class HpcwPermissionError(HpcwError, PermissionError):
    """The system does not allow the access: EACCES."""


class HpcwExistsError(HpcwError, FileExistsError):
    """The target exists: EEXIST."""


class HpcwMemoryError(HpcwError, MemoryError):
    """There is not enough memory: ENOMEM."""


class HpcwLibraryError(HpcwError, ImportError):
    """libhpcw, libhpcw_mpi or hpcgen was not found, or is of another version: ENOTSUP."""


_CLASSES = {
    Status.EINVAL: HpcwValueError, Status.ERANGE: HpcwValueError, Status.EMISMATCH: HpcwValueError,
    Status.EFORMAT: HpcwFormatError, Status.ETRUNCATED: HpcwFormatError, Status.ECHECKSUM: HpcwFormatError,
    Status.ENOENT: HpcwNotFoundError, Status.EACCES: HpcwPermissionError, Status.EEXIST: HpcwExistsError,
    Status.ENOMEM: HpcwMemoryError,
}


# For failures that the system did not report.
_ERRNO = {Status.ENOENT: errno.ENOENT, Status.EACCES: errno.EACCES, Status.EEXIST: errno.EEXIST}
_OF_ERRNO = {
    errno.ENOSPC: Status.ENOSPC, errno.EDQUOT: Status.ENOSPC, errno.EFBIG: Status.ENOSPC, errno.ENOMEM: Status.ENOMEM,
    errno.ENOENT: Status.ENOENT, errno.ENOTDIR: Status.ENOENT, errno.EACCES: Status.EACCES, errno.EPERM: Status.EACCES,
    errno.EROFS: Status.EACCES, errno.EEXIST: Status.EEXIST, errno.ENOTEMPTY: Status.EEXIST, errno.ENAMETOOLONG: Status.ERANGE,
}


def status_of(sys_errno: int) -> Status:
    """Returns the status that the library gives to a failure of the system."""
    return _OF_ERRNO.get(sys_errno, Status.EIO)


def of_system(path: str, what: str, failure: OSError) -> HpcwError:
    """Returns the exception for a failure of Python's own calls."""
    return of(f"{path}: {what}: {failure.strerror}", status_of(failure.errno), failure.errno)


def of(message: str, status: int, sys_errno: int = 0, process: int = 0) -> HpcwError:
    """Returns the exception for a status."""
    return _CLASSES.get(Status(status), HpcwError)(message, status, sys_errno, process)


def name(failure: HpcwError, prefix: str) -> None:
    """Puts the prefix, which names the file, before a message that does not begin with an absolute path."""
    if not failure.args[0].startswith("/"):
        failure.args = (prefix + failure.args[0],)


def pass_on(failure: BaseException | None, prefix: str) -> None:
    """Names the file in an HpcwError. A MemoryError of NumPy becomes an HpcwMemoryError."""
    if isinstance(failure, HpcwError):
        name(failure, prefix)
    elif isinstance(failure, MemoryError):
        raise HpcwMemoryError(f"{prefix}{failure}", Status.ENOMEM) from None


@contextlib.contextmanager
def naming(path: str):
    """Names the file in the errors of the `with` block."""
    try:
        yield
    except (HpcwError, MemoryError) as failure:
        pass_on(failure, f"{path}: ")
        raise
