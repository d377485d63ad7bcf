# SPDX-License-Identifier: BSD-3-Clause
"""Damaged files are refused or read. Only HpcwError is raised, and the interpreter survives."""
import os
import random

from facts import FACTS

import hpcw


def altered(data, random_):
    """Returns a copy with a few changed bytes, truncated, or with a part repeated."""
    data = bytearray(data)
    for _ in range(random_.randint(1, 4)):
        if data:
            at = random_.randrange(len(data))
            way = random_.randrange(4)
            if way == 0:
                data[at] = random_.randrange(256)
            elif way == 1:
                data[at:at + 4] = random_.choice((b"\0\0\0\0", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff"))
            elif way == 2:
                del data[at:]
            else:
                data[at:at] = data[at:at + random_.randrange(64)]
    return bytes(data)


def read(path):
    """Reads everything."""
    try:
        with hpcw.open(path) as thing:
            assert repr(thing) and thing._repr_html_()
            FACTS[type(thing)](thing)
            if isinstance(thing, hpcw.Container):
                for task in thing.tasks["rank"]:
                    thing.read(task)
                    thing.keys(task)
    except hpcw.HpcwError as refused:
        assert str(refused) and refused.status < 0
        return False
    except (AssertionError, IndexError, ValueError, OverflowError):
        pass  # raised by the sums in facts.py
    return True


def test_altered_files(seeds, dataset, tmp_path):
    paths = seeds + [os.path.join(dataset, name) for name in (
        "linktest/pingpong_results_bin.sion", "sion/particles.sion.000001", "vom/data.1.json.br", "clog2/app.clog2",
        "scr/scr.dataset.1/.scr/rank2file.0.0.scr")]
    random_ = random.Random(1)
    refused = 0
    for path in paths:
        with open(path, "rb") as file:
            data = file.read()
        for _ in range(30):
            target = tmp_path / os.path.basename(path)
            target.write_bytes(altered(data, random_))
            refused += not read(target)
    assert 0 < refused < 30 * len(paths)


def test_whole_seeds(seeds):
    assert sum(map(read, seeds)) > 10
