# SPDX-License-Identifier: BSD-3-Clause
"""Rows that come as columns, a block at a time, as one structured array."""
from __future__ import annotations

import numpy as np

# Rows of a block: its columns stay in the cache of a core.
BLOCK = 1 << 14


class Rows:
    """Collects blocks in one array, which grows in its place: a quarter of it may be unused meanwhile."""

    def __init__(self, dtype: np.dtype):
        self.rows = np.empty(BLOCK, dtype)
        self.used = 0

    def add(self, columns: dict, count: int, which=None) -> None:
        """Takes the first `count` rows of arrays by their names; of these only `which`, a mask, if it is given."""
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


def wanted(numbers, most: int):
    """(first, last, mask or None) of numbers that a caller wants: None, one number, a range or a list. The mask is by
    number less `first`, and None if all from first to last are wanted. None if there are none."""
    if numbers is None:
        return 0, most, None
    if isinstance(numbers, range) and numbers.step == 1:
        return (numbers.start, numbers.stop - 1, None) if len(numbers) else None
    numbers = np.unique(np.atleast_1d(np.asarray(numbers, dtype=np.int64)))
    if len(numbers) == 0:
        return None
    first, last = int(numbers[0]), int(numbers[-1])
    if last - first + 1 == len(numbers):
        return first, last, None
    mask = np.zeros(last - first + 1, bool)
    mask[numbers - first] = True
    return first, last, mask
