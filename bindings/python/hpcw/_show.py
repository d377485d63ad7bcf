# SPDX-License-Identifier: BSD-3-Clause
"""The display of objects, as text and in Jupyter."""
from __future__ import annotations

import html


class Shown:
    """Base of objects with a path and facts. `_facts()` returns the facts as a dictionary."""

    path: str

    def _facts(self) -> dict:
        raise NotImplementedError

    def _head(self):
        """The first rows of the object's largest table, or None."""
        return None

    def __repr__(self) -> str:
        facts = ", ".join(f"{name}={value}" for name, value in self._facts().items())
        return f"<hpcw.{type(self).__name__} {self.path!r}: {facts}>"

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><th>{html.escape(name)}</th><td>{html.escape(str(value))}</td></tr>"
                       for name, value in self._facts().items())
        path = self.path.encode(errors="replace").decode()  # a notebook stores UTF-8
        return f"<b>hpcw.{type(self).__name__}</b> {html.escape(path)}<table>{rows}</table>{table(self._head())}"

    def __enter__(self):
        return self

    def __exit__(self, *_exception) -> None:
        self.close()

    def __reduce__(self):
        """Pickles the path. Whoever unpickles it, for instance a process of a pool, opens the file again."""
        return type(self), (self.path,)

    def close(self) -> None:
        """Closes the file. Later calls that need it raise HpcwError. Loads opens its files in each call, and goes on."""

    def info(self) -> dict:
        """The figures that `hpcgen info --json` prints for the file, under the same names (doc/info.md)."""
        from . import program
        return program.info(self.path)


def table(rows) -> str:
    """Returns a structured array as an HTML table, with names of states and events in place of their indices."""
    if rows is None or len(rows) == 0:
        return ""
    columns = []
    for name in rows.dtype.names:
        names = (rows.dtype[name].metadata or {}).get("names")
        columns.append([str(value) if names is None else names[value] for value in rows[name].tolist()])
    head = "".join(f"<th>{html.escape(name)}</th>" for name in rows.dtype.names)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(value)}</td>" for value in row) + "</tr>" for row in zip(*columns))
    return f"<table><tr>{head}</tr>{body}</table>"


def size_text(size: float) -> str:
    """Returns a number of bytes with a unit, such as 1.5 MB."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.3g} {unit}" if unit != "bytes" else f"{size} bytes"
        size /= 1000
    return f"{size:.3g} TB"
