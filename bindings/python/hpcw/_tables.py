# SPDX-License-Identifier: BSD-3-Clause
"""Joins rows that come as blocks of columns into one structured array."""
from __future__ import annotations

import numpy as np

from . import errors

# Number of rows of a block. The columns of a block fit into the cache of a core.
BLOCK = 1 << 14


class Rows:
    """Collects blocks in one array that grows in place. Until array() is called, up to a quarter of it may be unused."""

    def __init__(self, dtype: np.dtype):
        self.rows = np.empty(BLOCK, dtype)
        self.used = 0

    def add(self, columns: dict, count: int, which=None) -> None:
        """Adds the first `count` rows of the columns. `which`: a mask of the rows to add; None: all."""
        if which is not None:
            columns = {name: column[:count][which] for name, column in columns.items()}
            count = np.count_nonzero(which)
        end = self.used + count
        if end > len(self.rows):
            self.rows.resize(max(len(self.rows) * 5 // 4, end), refcheck=False)
        for name, column in columns.items():
            self.rows[name][self.used:end] = column[:count]
        self.used = end

    def array(self) -> np.ndarray:
        """All rows."""
        self.rows.resize(self.used, refcheck=False)
        return self.rows


def shared(array: np.ndarray) -> np.ndarray:
    """Makes an array read-only that an object keeps: a change of it would also change later results."""
    array.flags.writeable = False
    return array


def chosen(path: str, what: str, given, known: np.ndarray, more=None) -> list:
    """Returns the numbers that a caller selects, sorted. `given`: one number, a range, a list, or a mask of `known`. `known`:
    numbers that exist. `more()` returns further existing numbers; it is called only if a selected number is not in `known`."""
    numbers = given if isinstance(given, range) else _listed(path, what, given, known)
    ids = set(known.tolist())
    other = next((n for n in numbers if n not in ids), None)
    if other is not None and more is not None:
        ids.update(more())
        other = next((n for n in numbers if n not in ids), None)
    if other is not None:
        there = f"some of {len(ids)} numbers from {min(ids)} to {max(ids)}" if ids else "none, as there are none"
        raise errors.HpcwValueError(f"{path}: {what}: expected {there}, got {other}")
    return sorted(set(numbers))


def _listed(path: str, what: str, given, known: np.ndarray) -> list:
    try:
        array = np.asarray(given)
    except ValueError:  # lists of different lengths in a list
        array = np.empty((), object)
        array[()] = given
    if array.dtype == bool:
        if array.shape != known.shape:
            raise errors.HpcwValueError(f"{path}: {what}: expected a mask of {len(known)} Booleans, got {array.size}")
        array = known[array]
    if array.size and array.dtype.kind not in "iu":
        raise errors.HpcwValueError(f"{path}: {what}: expected whole numbers, got {array.ravel()[:1].tolist()[0]!r:.60}")
    return array.ravel().tolist()


def window(numbers: list) -> tuple:
    """Returns (first, last, mask) of sorted numbers. mask[n - first]: whether n is in `numbers`; None if there is no gap."""
    first, last = numbers[0], numbers[-1]
    if last - first + 1 == len(numbers):
        return first, last, None
    mask = np.zeros(last - first + 1, bool)
    mask[[n - first for n in numbers]] = True
    return first, last, mask
