# SPDX-License-Identifier: BSD-3-Clause
"""How objects show themselves, as text and in Jupyter."""
from __future__ import annotations

import html


class Shown:
    """Has a path and facts: `_facts()` gives a dictionary of them."""

    path: str

    def _facts(self) -> dict:
        raise NotImplementedError

    def __repr__(self) -> str:
        facts = ", ".join(f"{name}={value}" for name, value in self._facts().items())
        return f"<hpcw.{type(self).__name__} {self.path!r}: {facts}>"

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><th>{html.escape(name)}</th><td>{html.escape(str(value))}</td></tr>"
                       for name, value in self._facts().items())
        return f"<b>hpcw.{type(self).__name__}</b> {html.escape(self.path)}<table>{rows}</table>"

    def __enter__(self):
        return self

    def __exit__(self, *_exception) -> None:
        self.close()

    def close(self) -> None:
        """Closes the file. Calls that need it fail afterwards."""

    def info(self) -> dict:
        """All figures of the file that `hpcgen info --json` prints, with its names (doc/info.md)."""
        from . import program
        return program.info(self.path)


def size_text(size: float) -> str:
    """Bytes as a person writes them."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.3g} {unit}" if unit != "bytes" else f"{size} bytes"
        size /= 1000
    return f"{size:.3g} TB"
