# SPDX-License-Identifier: BSD-3-Clause
"""Numbers and texts that C stores whole."""
from numbers import Integral


def check(where: str, value, stored) -> None:
    """Compares a value with what ctypes made of it. ctypes cuts numbers to the type in C, and texts at a NUL, without a word:
    task 2^32 would be task 0. Raises HpcwValueError."""
    if isinstance(value, (Integral, bytes)) and stored is not None and stored != value:
        from .errors import HpcwValueError  # needs the constants of _c, which needs this module
        raise HpcwValueError(f"{where}: expected a number in the range of its C type, or a text without NUL, got {value!r:.60}")


class Whole:
    """Base of the structs."""

    def __setattr__(self, name: str, value) -> None:
        super().__setattr__(name, value)
        if isinstance(value, Integral):
            check(name, value, getattr(self, name))
