# SPDX-License-Identifier: BSD-3-Clause
"""Arrays as data frames of pandas."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from . import errors

if TYPE_CHECKING:
    import pandas


def to_df(rows: np.ndarray) -> pandas.DataFrame:
    """A data frame of a structured array, with a column for each field. The names of states and events are a categorical.

    A matrix, as Links.seconds, becomes a frame with its rows and columns. Raises HpcwValueError for anything else, and
    ImportError without pandas.
    """
    import pandas
    rows = np.asarray(rows)
    if rows.dtype.names is None:
        if rows.ndim != 2:
            raise errors.HpcwValueError(f"expected a structured array or a matrix, got an array of {rows.dtype}")
        return pandas.DataFrame(rows, copy=not rows.flags.writeable)
    columns = {}
    for name in rows.dtype.names:
        names = (rows.dtype[name].metadata or {}).get("names")
        columns[name] = np.ascontiguousarray(rows[name])
        if names is not None:
            columns[name] = _categorical(columns[name], names)
    return pandas.DataFrame(columns, copy=False)


def _categorical(codes: np.ndarray, names: list) -> pandas.Categorical:
    """Returns a categorical of `names`. States with equal names become one category."""
    import pandas
    unique = list(dict.fromkeys(names))
    place = np.array([unique.index(name) for name in names], np.int32)
    return pandas.Categorical.from_codes(place[codes] if len(names) else codes.astype(np.int32), unique)
