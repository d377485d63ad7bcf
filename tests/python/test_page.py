# SPDX-License-Identifier: BSD-3-Clause
"""The code of doc/python.md and of the README, as printed."""
import os
import re
import subprocess
import sys


def run(source, page, folder):
    with open(os.path.join(source, page), encoding="utf-8") as file:
        blocks = re.findall(r"^```python\n(.*?)^```", file.read(), flags=re.M | re.S)
    assert blocks
    done = subprocess.run([sys.executable, "-c", "\n".join(blocks)], cwd=folder, stdout=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 0
    return done.stdout


def test_pages(source, tmp_path):
    printed = run(source, "doc/python.md", tmp_path)
    assert "interruption precision 1.0 recall 1.0" in printed
    for name in ("imbalance", "links", "timeline"):
        assert (tmp_path / f"{name}.png").stat().st_size > 5000
    assert "(64, 64)" in run(source, "README.md", tmp_path)
