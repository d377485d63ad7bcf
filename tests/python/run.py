#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the tests of one file by pytest, or says what is missing. Usage: run.py FILE [PACKAGE...]"""
import importlib.util
import sys

missing = [name for name in ("numpy", "pytest", *sys.argv[2:]) if importlib.util.find_spec(name) is None]
if missing:
    print(f"skipped: expected the Python packages {', '.join(missing)}, got none")
    sys.exit(77)
import pytest  # noqa: E402

sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", sys.argv[1]]))
