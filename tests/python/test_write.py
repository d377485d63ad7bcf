# SPDX-License-Identifier: BSD-3-Clause
"""`hpcgen verify` accepts what the writers write, and the objects read it again. A failure leaves no file."""
import os

import numpy as np
import pytest

import hpcw


def test_container(tmp_path):
    path = tmp_path / "x.sion"
    data = [np.arange(n, dtype="<f8") for n in (3, 100_000, 0)]
    with hpcw.sion_create(path, tasks=3, chunk_size=1 << 16, sync="none") as f:
        assert (f.tasks, f.first_task) == (3, 0)
        for task, array in enumerate(data):
            f.write(task, array[:2])
            f.write(task, array[2:].tobytes())
    assert hpcw.verify(path)["ok"]
    with hpcw.open(path) as c:
        assert len(c) == 3 and c.data_byte_order == "little"
        for task, array in enumerate(data):
            assert np.array_equal(c.read(task, "<f8"), array)
        with pytest.raises(hpcw.HpcwFormatError, match="multiple of 7 bytes"):
            c.read(0, "S7")
        with pytest.raises(hpcw.HpcwValueError, match="got 3"):
            c.read(3)
    with pytest.raises(hpcw.HpcwError) as closed:
        c.read(0)
    assert closed.value.status == hpcw.Status.ESTATE


def test_set_of_files_with_ranks_and_sizes(tmp_path):
    path = tmp_path / "set.sion"
    with hpcw.sion_create(path, ranks=[0, 1, 2, 3], chunk_size=[100, 200, 300, 400], files=2, layout="packed",
                          byte_order="big") as f:
        for task in range(4):
            f.write(task, np.full(10 * task, task, ">u2"))
    c = hpcw.open(path)
    assert c.files == 2 and c.data_byte_order == "big" and os.path.exists(f"{path}.000001")
    assert np.array_equal(c.read(3, ">u2"), np.full(30, 3))
    with pytest.raises(hpcw.HpcwValueError, match="expected 2 sizes"):
        hpcw.sion_create(path, tasks=2, chunk_size=[1])
    with pytest.raises(hpcw.HpcwValueError, match="aligned, packed"):
        hpcw.sion_create(path, layout="dense")


def test_keys(tmp_path):
    path = tmp_path / "keys.sion"
    with hpcw.sion_create(path, tasks=2, content="keys") as f:
        f.write(1, np.arange(5, dtype="i4"), key=7)
        f.write(1, b"abc", key=2**60)
        f.write(1, np.arange(5, 9, dtype="i4"), key=7)
        with pytest.raises(hpcw.HpcwValueError):
            f.write(1, b"abc")
        with pytest.raises(hpcw.HpcwValueError, match="numbers or bytes"):
            f.write(1, np.array(["text"]), key=1)
    c = hpcw.open(path)
    assert c.keys(1)[["key", "size"]].tolist() == [(7, 20), (2**60, 3), (7, 16)] and len(c.keys(0)) == 0
    assert np.array_equal(c.read(1, "i4", key=7), np.arange(9))
    assert c.read(1, key=2**60).tobytes() == b"abc"
    with pytest.raises(hpcw.HpcwValueError, match="got 5"):
        c.read(1, key=5)


def test_links(tmp_path):
    path = tmp_path / "r.sion"
    rng = np.random.default_rng(1)
    seconds = np.rint(rng.uniform(1e-6, 2e-6, (6, 6)) * 1e12) / 1e12
    np.fill_diagonal(seconds, np.nan)
    with hpcw.links_create(path, 6, messages=3, message_size=8, retests=2, start="2026-01-01T00:00:00Z",
                           end="2026-01-01T00:00:01Z") as f:
        for task in f.own:
            f.write(task, seconds[task], f"node{task // 2}", task % 2)
    assert hpcw.verify(path)["ok"]
    links = hpcw.open(path)
    assert np.array_equal(links.seconds, seconds, equal_nan=True)
    assert links.hosts.tolist() == ["node0", "node0", "node1", "node1", "node2", "node2"]
    assert links.settings["messages"] == 3 and links.totals()["max_s"] == np.nanmax(seconds)
    with pytest.raises(hpcw.HpcwValueError, match="speed"):
        hpcw.links_create(path, 6, speed=3)


def test_loads(tmp_path, dataset):
    run = hpcw.open(dataset)
    tasks, edges = run.loads.tasks(), run.loads.edges()
    folder = tmp_path / "lb"
    folder.mkdir()
    for rank in run.loads.ranks:
        name = folder / (f"data.{rank}.json" + (".br" if rank % 2 else ""))
        with hpcw.loads_create(name, int(rank), len(run.loads.ranks), sync="none") as f:
            for phase in run.loads.phases:
                t, e = (rows[(rows["rank"] == rank) & (rows["phase"] == phase)] for rows in (tasks, edges))
                f.write(int(phase), t, e)
    assert hpcw.verify(folder)["ok"]
    again = hpcw.open(folder)
    assert np.array_equal(again.tasks(), tasks) and np.array_equal(again.edges(), edges)


def test_log(tmp_path, dataset):
    log = hpcw.open(dataset).log
    states, messages, events = log.states(), log.messages(), log.events()
    path = tmp_path / "again.clog2"
    with hpcw.log_create(path, log.ranks) as f:
        f.write(states, messages, events)
    assert hpcw.verify(path)["ok"]
    again = hpcw.open(path)
    for ours, theirs in ((again.states(), states), (again.events(), events)):
        names = [log.names[theirs["name"]], again.names[ours["name"]]]
        order = [np.lexsort((names[i].astype(str), *(rows[n] for n in reversed(rows.dtype.names) if n != "name")))
                 for i, rows in enumerate((theirs, ours))]
        assert np.array_equal(names[1][order[1]], names[0][order[0]])
        for name in theirs.dtype.names:
            if name != "name":
                assert np.array_equal(ours[name][order[1]], theirs[name][order[0]])
    fields = ["source", "dest", "tag", "size", "sent", "received"]
    assert np.array_equal(np.sort(again.messages()[fields], order=fields), np.sort(messages[fields], order=fields))


def test_log_of_own_rows(tmp_path):
    states = np.array([(0, 0, 0, 0, 1.0, 3.0), (0, 0, 1, 1, 1.0, 1.0), (1, 0, 0, 1, 2.0, 4.0)],
                      [("rank", "u4"), ("thread", "i4"), ("depth", "u4"), ("name", "u4"), ("begin", "f8"), ("end", "f8")])
    with hpcw.log_create(tmp_path / "own.clog2", 2) as f:
        f.write(states, names=["Step", "Wait"])
    log = hpcw.open(tmp_path / "own.clog2")
    assert sorted(log.names) == ["Step", "Wait"] and len(log.states()) == 3
    assert hpcw.verify(tmp_path / "own.clog2")["ok"]


def test_checkpoint(tmp_path):
    prefix = tmp_path / "scr"
    with hpcw.checkpoint_create(prefix, ranks=3, id=4, layout="shared", sync="none") as f:
        for rank in range(f.first_rank, f.first_rank + 3):
            f.write(rank, f"rank_{rank}.ckpt", np.full(rank + 1, rank, "f8"))
        name = f.name
    assert hpcw.verify(prefix)["ok"]
    c = hpcw.open(prefix)
    assert c.names == [name] and c.current == name and c.dataset(name)["ranks"] == 3
    os.remove(prefix / ".scr" / "index.scr")  # the index is read once
    assert c.files["size"].tolist() == [8, 16, 24]
    assert np.array_equal(np.fromfile(c.files["path"][2]), np.full(3, 2.0))
    c.check(name)
    with pytest.raises(hpcw.HpcwValueError, match="expected one of .*, got other"):
        c.check("other")
    with open(c.files["path"][0], "r+b") as file:
        file.write(b"x")
    with pytest.raises(hpcw.HpcwFormatError) as damaged:
        c.check(name)
    assert damaged.value.status == hpcw.Status.ECHECKSUM


@pytest.mark.parametrize("create", [
    lambda path: hpcw.sion_create(path), lambda path: hpcw.links_create(path, 2), lambda path: hpcw.log_create(path, 2),
    lambda path: hpcw.loads_create(path), lambda path: hpcw.checkpoint_create(path)])
def test_exceptions_leave_nothing(tmp_path, create):
    with pytest.raises(ZeroDivisionError):
        with create(tmp_path / "x"):
            1 / 0
    left = [name for _, _, names in os.walk(tmp_path) for name in names if not name.startswith("hpcw.")]
    assert left == []


def test_close_twice_and_incomplete(tmp_path):
    f = hpcw.sion_create(tmp_path / "x.sion")
    f.close()
    f.close()
    f.abandon()
    assert os.listdir(tmp_path) == ["x.sion"]
    f = hpcw.links_create(tmp_path / "y.sion", 2)
    with pytest.raises(hpcw.HpcwError):
        f.close()
    assert os.listdir(tmp_path) == ["x.sion"]


def test_log_after_close(tmp_path):
    f = hpcw.log_create(tmp_path / "x.clog2", 1)
    f.close()
    with pytest.raises(hpcw.HpcwError) as closed:
        f.write(np.array([(0, 0, 0, 0, 0.5, 1.0)], hpcw.clog2.STATES), names=["Step"])
    assert closed.value.status == hpcw.Status.ESTATE


def test_numbers_and_names_are_not_cut(tmp_path):
    """Task 2^32 is not task 0, and a name does not end at a NUL."""
    with pytest.raises(hpcw.HpcwValueError, match="4294967296"):
        with hpcw.sion_create(tmp_path / "x.sion", 2) as f:
            f.write(1 << 32, b"of another task")
    with pytest.raises(hpcw.HpcwValueError, match="got -1"):
        with hpcw.sion_create(tmp_path / "x.sion", content="keys") as f:
            f.write(0, b"value", key=-1)
    for create in (lambda: hpcw.sion_create(tmp_path / "x.sion", (1 << 32) + 2),
                   lambda: hpcw.loads_create(tmp_path / "x.0.json", np.int64(1 << 32), 4),
                   lambda: hpcw.sion_create(tmp_path / "x.sion", ranks=[0, (1 << 32) + 2]),
                   lambda: hpcw.sion_create(tmp_path / "x.sion", ranks=np.array([0, (1 << 32) + 2])),
                   lambda: hpcw.links_create(tmp_path / "x.sion", (1 << 32) + 2)):
        with pytest.raises(hpcw.HpcwValueError, match=f"^{tmp_path}/x.*got 42949672"):
            create()
    for wrong, got in (([1.5, 2], "1.5"), ([-1, 2], "-1"), (1.5, "1.5")):
        with pytest.raises(hpcw.HpcwValueError, match=f"^{tmp_path}/x.sion: .*got {got}"):
            hpcw.sion_create(tmp_path / "x.sion", tasks=2, chunk_size=wrong)
    with pytest.raises(hpcw.HpcwValueError, match="a text without NUL"):
        with hpcw.checkpoint_create(tmp_path / "scr") as f:
            f.write(0, "name\0cut", b"data")
    with pytest.raises(hpcw.HpcwValueError, match="scr: name: .* a text without NUL"):
        hpcw.checkpoint_create(tmp_path / "scr", name="name\0cut")
    messages = [("source", "u4"), ("dest", "u4"), ("tag", "u8"), ("size", "i8"), ("sent", "f8"), ("received", "f8")]
    for tag, size in ((5, (1 << 32) + 5), ((1 << 32) + 5, 5)):
        with pytest.raises(hpcw.HpcwValueError, match="x.clog2: (tag|size): .*, got 4294967301"):
            with hpcw.log_create(tmp_path / "x.clog2", 2) as f:
                f.write(messages=np.array([(0, 1, tag, size, 0.25, 0.5)], messages))
    with pytest.raises(hpcw.HpcwValueError, match="a text without NUL"):
        with hpcw.log_create(tmp_path / "x.clog2", 2) as f:
            f.write(np.array([(0, 0, 0, 0, 0.5, 1.0)], hpcw.clog2.STATES), names=["name\0cut"])
    assert not [name for name in os.listdir(tmp_path) if name.startswith("x")]


def test_arguments_that_no_file_holds(tmp_path):
    """Arguments of other types, numbers that would be cut, and texts that no UTF-8 holds, are an HpcwValueError."""
    x = tmp_path / "x"
    for create in (lambda: hpcw.sion_create(x, ranks=1 << 32), lambda: hpcw.sion_create(x, ranks=[[0, 1], [2, 3]]),
                   lambda: hpcw.sion_create(x, ranks=[[0], [1, 2]]), lambda: hpcw.sion_create(x, chunk_size=[[1], [1, 2]]),
                   lambda: hpcw.links_create(x, 4.0), lambda: hpcw.links_create(x, 4, start=5),
                   lambda: hpcw.links_create(x, 4, mode=5), lambda: hpcw.links_create(x, 4, mode="\udcff"),
                   lambda: hpcw.links_create(x, 4, _fields_=5), lambda: hpcw.checkpoint_create(x, layout=5),
                   lambda: hpcw.checkpoint_create(x, name=5), lambda: hpcw.log_create(x, -1).close()):
        with pytest.raises(hpcw.HpcwValueError, match=f"^{x}: .*, got "):
            create()
    with hpcw.links_create(x, 4) as f:
        for seconds, host in ((["a"] * 4, "host"), ([[1], [1, 2]], "host"), (np.ones(4), b"host"), (np.ones(4), "\udcff")):
            with pytest.raises(hpcw.HpcwValueError, match=f"^{x}: .*, got "):
                f.write(0, seconds, host)
        for task in f.own:
            f.write(task, np.ones(4), "host")
    with hpcw.checkpoint_create(tmp_path / "scr") as f:
        for crc in (1 << 32, -1, 1.5, "x"):
            with pytest.raises(hpcw.HpcwValueError, match=f"^{tmp_path}/scr: crc: .*, got "):
                f.add(0, "file", 3, crc)
        f.write(0, "file", b"abc")
    kinds = [("id", "f8"), ("collection_id", "i8"), ("time", "f8")]
    with hpcw.loads_create(tmp_path / "x.0.json") as f:
        for tasks in (np.array([(1.5, 0, 1.0)], kinds), np.array([(1, -1, 1.0)], [("id", "u8"), *kinds[1:]])):
            with pytest.raises(hpcw.HpcwValueError, match=f"^{tmp_path}/x.0.json: tasks: .*id: expected .* got -?1"):
                f.write(0, tasks)
    with hpcw.log_create(tmp_path / "x.clog2", 2) as f:
        row = np.array([(0, 0, 0, 0, 0.5, 1.0)], hpcw.clog2.STATES)
        for rows, names in (([[1], [1, 2]], ["a"]), (row, ["\udcff"]),
                            (row.astype([("rank", "U1"), *hpcw.clog2.STATES[1:]]), ["a"])):
            with pytest.raises(hpcw.HpcwValueError, match=f"^{tmp_path}/x.clog2: .*, got "):
                f.write(rows, names=names)
        f.write(np.array([row, row]), names=["a"])
    assert len(hpcw.open(tmp_path / "x.clog2").states()) == 2


def test_any_exception_gives_up(tmp_path):
    """The exception of the program comes through, whatever its members and its text are."""
    class Foreign(Exception):
        status = 404

    for create in (lambda: hpcw.sion_create(tmp_path / os.fsdecode(b"x\xff.sion")),
                   lambda: hpcw.log_create(tmp_path / "x.clog2", 2)):
        for reason in (Foreign("x"), KeyError("\0"), KeyError("\udcff")):
            with pytest.raises(type(reason)), create():
                raise reason
    assert not os.listdir(tmp_path)


def test_rows_that_no_log_can_have(tmp_path):
    """Such rows are refused, and not written as something else: a state that ends before it begins was lost."""
    states = np.array([(0, 0, 0, 1, 0.5, 1.0)], hpcw.clog2.STATES)
    backward = np.array([(0, 0, 0, 0, 0.5, 1.0), (0, 0, 0, 0, 2.0, 1.0)], hpcw.clog2.STATES)
    for rows, names, message in ((backward, ["a"], "states: expected end >= begin, got 2.0 to 1.0 s"),
                                 (states, ["a"], "states: expected indices of 1 names, got 1"),
                                 (states, [], "states: expected indices of 0 names, got 1"),
                                 (states[["rank", "name"]], ["a"], "states: .* got one without thread, depth, begin, end"),
                                 (np.zeros(3), ["a"], "states: .* got one without rank"),
                                 ([(0, 0, 0, 0, 0, 1)], ["a"], "states: .* got one without rank")):
        with hpcw.log_create(tmp_path / "x.clog2", 2) as f, \
                pytest.raises(hpcw.HpcwValueError, match=f"^{tmp_path}/x.clog2: {message}"):
            f.write(rows, names=names)
    none = np.zeros(0, hpcw.vom.TASKS)
    for tasks, edges, message in ((states, None, "tasks: .* got one without id"), (none, none, "edges: .* without category")):
        with hpcw.loads_create(tmp_path / "x.0.json") as f, pytest.raises(hpcw.HpcwValueError, match=f"x.0.json: {message}"):
            f.write(0, tasks, edges)
    negative = np.array([(0, 0, 0, -1, 0.5, 1.0)], [(name, kind.replace("u", "i")) for name, kind in hpcw.clog2.STATES])
    texts = np.array([(0, 0, 0, "a", 0.5, 1.0)], [(name, "U1" if name == "name" else kind) for name, kind in hpcw.clog2.STATES])
    for rows, got in ((negative, "-1"), (texts, "'a'")):
        with hpcw.log_create(tmp_path / "x.clog2", 2) as f, pytest.raises(hpcw.HpcwValueError, match=f"of 1 names, got {got}"):
            f.write(rows, names=["a"])


def test_data_of_any_form(tmp_path):
    data = np.arange(12, dtype="<i4").reshape(3, 4)
    with hpcw.sion_create(tmp_path / "x.sion") as f:
        for part in (data[:, ::2], memoryview(data), memoryview(data.tobytes())[::4], data.T, bytearray(b"ab")):
            f.write(0, part)
        with pytest.raises(hpcw.HpcwValueError, match="x.sion: expected numbers or bytes, got an array of object"):
            f.write(0, None)
    name = os.fsdecode(b"not\xffutf8")
    with hpcw.checkpoint_create(tmp_path / "scr") as f:
        f.write(0, name, data)
    assert np.array_equal(np.fromfile(hpcw.open(tmp_path / "scr").files["path"][0], "<i4"), data.ravel())
    assert hpcw.open(tmp_path / "x.sion").read(0).tobytes() == (
        data[:, ::2].tobytes() + data.tobytes() + data.tobytes()[::4] + data.T.tobytes() + b"ab")
