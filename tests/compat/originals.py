# SPDX-License-Identifier: BSD-3-Clause
"""Functions for scripts that run programs with SIONlib and with hpcw."""
import os
import re


def sionlib_prefix():
    """Returns the directory with SIONlib's include/ and lib/, or None."""
    return os.environ.get("HPCW_SIONLIB")


def library_name(prefix):
    """Handles releases whose libraries are named lsion..."""
    return "sion" if os.path.exists(f"{prefix}/lib/libsioncom_64.a") else "lsion"


def archives(prefix, kinds):
    """Returns SIONlib's static libraries of these kinds, in link order."""
    return [f"{prefix}/lib/lib{library_name(prefix)}{kind}_64.a" for kind in [*kinds, "com"]] + \
        [f"{prefix}/lib/lib{library_name(prefix)}com_64_lock_none.a"]


def files_of(directory):
    return sorted(os.path.relpath(os.path.join(d, n), directory) for d, _, names in os.walk(directory) for n in names)


def check_table(page, mark, table):
    """Returns whether the page has the table between the lines "<!-- MARK -->" and "<!-- end -->". If not, prints the table. If
    HPCW_WRITE is set, writes the table there."""
    with open(page, encoding="utf-8") as file:
        text = file.read()
    found = re.search(rf"<!-- {mark} -->\n(.*?)\n<!-- end -->", text, re.S)
    if os.environ.get("HPCW_WRITE"):
        with open(page, "w", encoding="utf-8") as file:
            file.write(text[:found.start(1)] + "\n".join(table) + text[found.end(1):])
    elif found.group(1).split("\n") != table:
        print(f"{page}: expected this table:")
        print("\n".join(table))
        return False
    return True
