# SPDX-License-Identifier: BSD-3-Clause
"""Checks that C types hold numbers and texts without loss."""
from numbers import Integral


def check(where: str, value, stored) -> None:
    """Raises HpcwValueError if `stored`, the value that ctypes made of `value`, differs from `value`. ctypes silently cuts
    numbers to the size of the C type, and texts at a NUL: task 2^32 would become task 0."""
    if isinstance(value, (Integral, bytes)) and stored is not None and stored != value:
        from .errors import HpcwValueError  # needs the constants of _c, which needs this module
        raise HpcwValueError(f"{where}: expected a number in the range of its C type, or a text without NUL, got {value!r:.60}")


class Whole:
    """Base of the ctypes structs. It checks each number and each text that is assigned to a member."""

    def __setattr__(self, name: str, value) -> None:
        try:
            super().__setattr__(name, value)
        except (TypeError, ValueError) as failure:
            from .errors import HpcwValueError
            raise HpcwValueError(f"{name}: expected a value of the C type, got {value!r:.60}: {failure}") from None
        if isinstance(value, (Integral, bytes)):
            check(name, value, getattr(self, name))
