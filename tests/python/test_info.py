# SPDX-License-Identifier: BSD-3-Clause
"""The figures of `hpcgen info --json` are those of the package's objects. The files are from the original tools or from this
project, some big-endian or damaged.

The figures in ONLY_INFO need bytes that no object shows: layouts, numbers of records, and records that viewers cannot draw.
"""
import os
import random

import numpy as np
import pytest
from facts import FACTS

import hpcw

ONLY_INFO = set("""
    file format
    files[].file_number files[].block_stride files[].meta2_start files[].mapping
    version records drawables begin_s end_s problems nesting_errors profile[].format profile[].colour profile[].state
    profile[].event
    compressed_files text_bytes
    index_version datasets[].layout layout files bytes
    """.split())


def same(info, ours, path=""):
    """Compares the figures that `info` and `ours` have. Fails for a figure that only `info` has, unless ONLY_INFO lists it."""
    if isinstance(info, dict):
        for name, value in info.items():
            at = f"{path}.{name}".lstrip(".")
            if name in ours:
                same(value, ours[name], at)
            else:
                assert at.replace("container.", "") in ONLY_INFO or name == "by_rank", at
    elif isinstance(info, list):
        assert len(info) == len(ours), path
        for one, other in zip(info, ours):
            same(one, other, path + "[]")
    elif isinstance(info, float) or isinstance(ours, float):
        assert ours == pytest.approx(np.nan if info is None else info, rel=1e-6, abs=1e-9, nan_ok=True), path
    else:
        assert info == ours, path


def compare(path):
    """Compares the figures of a file. Returns False if hpcgen info or the objects refuse the file."""
    try:
        info = hpcw.info(path)
        thing = hpcw.open(path)
        ours = FACTS[type(thing)](thing)
    except hpcw.HpcwError as refused:
        assert str(refused)
        return False
    for profile in (info.get("profile", ()), ours.get("profile", ())):
        profile and profile.sort(key=lambda p: ("seconds" not in p, p["name"], p["count"]))
    if "_BUDDY_" in os.path.basename(path):
        return False  # the file also has copies of tasks of other containers
    if "lbaf_ccm" in path:
        for phase in info["phases"]:
            del phase["Rank_comm"]  # it has ids without bits, which the columns do not show
    same(info, ours)
    return True


def files_below(top):
    for at, folders, names in os.walk(top):
        folders.sort()
        yield at
        for name in sorted(names):
            yield os.path.join(at, name)


def test_dataset(dataset):
    run = hpcw.open(dataset)
    for part in ("linktest/pingpong_results_bin.sion", "sion/particles.sion", "vom", "vom/data.1.json.br", "clog2/app.clog2",
                 "scr", "scr/scr.dataset.1/.scr/rank2file.scr", "scr/.scr/index.scr"):
        assert compare(os.path.join(run.path, part)), part


def test_links_agree_with_their_summary(dataset):
    links = hpcw.open(dataset).links
    for name, figure in (("min_s", np.nanmin), ("avg_s", np.nanmean), ("max_s", np.nanmax)):
        assert figure(links.seconds) == pytest.approx(links.totals()[name], rel=1e-9)


def test_altered_files(seeds, dataset, tmp_path):
    """Files with a changed bit have the same figures in hpcgen info and in the objects, or are refused."""
    random_ = random.Random(1)
    compared = 0
    for path in [*seeds, os.path.join(dataset, "clog2/app.clog2"), os.path.join(dataset, "linktest/pingpong_results_bin.sion")]:
        with open(path, "rb") as file:
            data = bytearray(file.read())
        for _ in range(6):
            other = bytearray(data)
            other[random_.randrange(len(data))] ^= 1 << random_.randrange(8)
            target = tmp_path / os.path.basename(path)
            target.write_bytes(other)
            compared += compare(str(target))
    assert compared > 20


def test_original_tools():
    golden = os.environ.get("HPCW_GOLDEN")
    if not golden:
        pytest.skip("HPCW_GOLDEN is not set")
    compared = [path for path in files_below(golden) if compare(path)]
    assert len(compared) > 60
    assert any("be_" in os.path.basename(path) for path in compared)


def test_seeds(seeds):
    compared = [os.path.basename(path) for path in seeds if compare(path)]
    assert len(compared) > 10 and "sion-parallel_big" in compared and "linktest-bisection_big" in compared
