# SPDX-License-Identifier: BSD-3-Clause
"""Fixtures of all tests. Their variables are set by tests/python/meson.build."""
import os

import pytest

import hpcw


@pytest.fixture(scope="session")
def source():
    """Returns the source tree."""
    return os.environ["HPCW_SOURCE"]


@pytest.fixture(scope="session")
def seeds(source, tmp_path_factory):
    """Paths of small files, from the seeds of the readers' fuzz targets. A seed has one or several files."""
    at = tmp_path_factory.mktemp("seeds")
    paths = []
    for name in ("clog2", "linktest", "rank2file", "sion", "vom"):
        folder = os.path.join(source, "tests", "fuzz", "seeds", name)
        for seed in sorted(os.listdir(folder)):
            with open(os.path.join(folder, seed), "rb") as file:
                parts = split(file.read())
            paths.append(str(at / f"{name}-{seed}"))
            for i, part in enumerate(parts):
                with open(paths[-1] + (f".{i:06}" if i else ""), "wb") as file:
                    file.write(part)
    return paths


def split(data):
    """Splits a seed into its files. tests/fuzz/images.h has the form: a byte with the number of files, and the length of each
    file except the last."""
    count, data = 1 + data[0] % 3, data[1:]
    parts = []
    for _ in range(count - 1):
        size = int.from_bytes(data[:4], "little")
        parts.append(data[4:4 + size])
        data = data[4 + size:]
    return parts + [data]


@pytest.fixture(scope="session")
def dataset(tmp_path_factory):
    """The directory of a dataset of 32 ranks."""
    path = tmp_path_factory.mktemp("dataset") / "synth"
    hpcw.generate(path, ranks=32, seed=1, scale="small", show=False)
    return str(path)
