# SPDX-License-Identifier: BSD-3-Clause
"""The Python code in doc/python.md and the README prints the output that these pages show."""
import os
import re
import subprocess
import sys


import hpcw


def text(source, page):
    with open(os.path.join(source, page), encoding="utf-8") as file:
        return file.read()


def run(source, page, folder, having="", before="", after=""):
    """Returns what the code prints. having: only blocks with this text. before, after: code around it."""
    blocks = [block for block in re.findall(r"^```python\n(.*?)^```", text(source, page), flags=re.M | re.S) if having in block]
    assert blocks
    blocks = [before, *blocks, after]
    done = subprocess.run([sys.executable, "-c", "\n".join(blocks)], cwd=folder, stdout=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 0
    return done.stdout


def test_pages(source, tmp_path):
    printed = run(source, "doc/python.md", tmp_path)
    assert "interruption precision 1.0 recall 1.0" in printed
    assert "slow hosts: none, the network is healthy" in printed
    assert re.search(r"rank \d+ is the busiest one in \d+ of \d+ phases", printed)
    assert re.search(r"scr.dataset.2: .* ms from the first begin to the last end, \d+ MB/s\n  a rank takes .*, the slowest, \d+, ", printed)
    for name in ("imbalance", "links", "timeline"):
        assert (tmp_path / f"{name}.png").stat().st_size > 5000
    assert "(64, 64)" in run(source, "README.md", tmp_path)


HEAD = """
import hpcw
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
run = hpcw.open("out")
"""


def test_slow_links(source, tmp_path):
    """The page's code finds the hosts with slow ports and no others."""
    found = []
    for share in (0, 0.004, 0.02):
        dataset = hpcw.generate(tmp_path / "out", ranks=256, seed=4, formats="linktest", show=False, force=True,
                                set={"machine.bad_node_share": share})
        slow = {port["host"] for port in dataset.truth["machine"]["slow_ports"]}
        printed = run(source, "doc/python.md", tmp_path, having="run.links.seconds", before=HEAD)
        assert set(re.findall(r"([\w.]+): [\d.]+ x the usual", printed)) == slow and ("healthy" in printed) == (not slow)
        found.append(len(slow))
    assert found[0] == 0 and found[1] == 1 and found[2] > 1


def test_no_state_hides_those_in_it(source, tmp_path):
    """The page's timeline draws nested states as lower bars. In the workload farm, rank 0 has states at other depths than
    the other ranks."""
    hpcw.generate(tmp_path / "out", ranks=16, seed=4, workload="farm", formats="clog2", show=False)
    run(source, "doc/python.md", tmp_path, having="timeline.png", before=HEAD, after="""
heights = [round(bar.get_height(), 6) for bar in plt.gca().patches]
assert len(set(heights)) > 1 and heights == sorted(heights, reverse=True)
""")


def test_packages(source):
    """Each package of the page's apt command is also in tests/setup.sh."""
    packages = re.search(r"apt install ((?:.*\\\n)*.*)", text(source, "doc/python.md"))[1].replace("\\\n", " ").split()
    assert len(packages) > 10 and set(packages) <= set(re.findall(r"[\w.+-]+", text(source, "tests/setup.sh")))
