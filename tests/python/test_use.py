# SPDX-License-Identifier: BSD-3-Clause
"""The package as people use it: hpcgen, frames, what objects show, errors, threads and processes."""
import inspect
import json
import multiprocessing
import os
import pickle
import pydoc
import re
import shutil
import signal
import subprocess
import sys
import threading
from copy import deepcopy as copy_of

import numpy as np
import pytest

import hpcw
from hpcw import _waits


def test_generate_verify_and_score(tmp_path, capfd):
    run = hpcw.generate(tmp_path / "out", ranks=16, seed=3, workload="wavefront", formats=["clog2", "linktest"],
                        set={"linktest.bisection": True}, sync=False)
    assert "is complete" in capfd.readouterr().err
    assert run.ranks == 16 and run.manifest["parameters"]["seed"] == 3 and hpcw.verify(run) == hpcw.verify(run.path)
    assert hpcw.verify(run, deep=True, jobs=1)["ok"]
    assert np.isnan(run.links.seconds[:8, :8]).all() and (run.links.seconds[:8, 8:] > 0).all()
    with pytest.raises(FileNotFoundError, match="expected the vom data of the dataset"):
        run.loads
    score = hpcw.score([{"kind": "outlier", "rank": np.int64(1), "partner": 2}], run)
    assert score == hpcw.score({"findings": [{"kind": "outlier", "rank": 1, "partner": 2}]}, tmp_path / "out")
    for wrong in ({1}, np.arange(2), object):
        with pytest.raises(hpcw.HpcwValueError, match="^findings: expected numbers and texts, got "):
            hpcw.score([{"kind": "outlier", "rank": wrong}], run)
    findings = tmp_path / "findings.json"
    findings.write_text(json.dumps({"findings": []}))
    assert hpcw.score(findings, run) != score
    assert hpcw.score(os.fsencode(findings), os.fsencode(run.path)) == hpcw.score(findings, run)
    for call in (hpcw.info, hpcw.verify, hpcw.generate):
        with pytest.raises(hpcw.HpcwValueError, match="expected arguments without NUL"):
            call("a\0b")
    with pytest.raises(hpcw.HpcwValueError, match="--speed"):
        hpcw.generate(tmp_path / "other", ranks=4, speed=3)
    for target in (run.path, findings.parent):
        with pytest.raises(hpcw.HpcwExistsError, match="choose another directory, or force=True to") as exists:
            hpcw.generate(target, ranks=8, formats="linktest", show=False)
        assert exists.value.status == hpcw.Status.EEXIST and isinstance(exists.value, FileExistsError)
    run = hpcw.generate(run.path, ranks=8, formats="linktest", force=True, show=False)
    assert run.ranks == 8
    with pytest.raises(hpcw.HpcwExistsError, match="got the finished dataset of the same parameters: .*, force=True writes it"):
        hpcw.generate(run.path, ranks=8, formats="linktest", show=False)
    assert hpcw.generate(run.path, ranks=8, formats="linktest", resume=True, show=False).ranks == 8
    assert "workload" not in repr(hpcw.open(run.path))
    run = hpcw.generate(run.path, ranks=16, formats="clog2", force=True, show=False)
    with pytest.raises(hpcw.HpcwError, match="kind"):
        hpcw.score([{"kind": "nonsense"}], run)
    with pytest.raises(hpcw.HpcwFormatError, match="^findings.0.: slow_node: expected host, node or rank, got none$"):
        hpcw.score([{"kind": "slow_node"}], run)
    with open(run.log.path, "r+b") as file:
        file.truncate(1000)
    with pytest.raises(hpcw.HpcwFormatError, match="app.clog2"):
        hpcw.verify(run)


def test_options_of_generate(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = dict(ranks=8, scale="tiny", formats="linktest", show=False, force=False, resume=False, takeover=False,
                   dry_run=False, sync=False, checksums=False, quiet=False)
    assert hpcw.verify(hpcw.generate(b"of_bytes", **options), deep=False)["ok"] and os.listdir() == ["of_bytes"]
    name = os.fsdecode(b"not\xffutf8")
    run = hpcw.generate(name, **options)
    assert run.links.tasks == 8 and hpcw.info(run.path)["ranks"] == 8 and "not?utf8" in run._repr_html_()
    with pytest.raises(hpcw.HpcwError, match="got an unfinished one: `hpcgen --resume` or `hpcgen join` finishes it"):
        hpcw.generate("part", part="1/2", **options)
    with pytest.raises(hpcw.HpcwValueError, match="^plan: dry_run: expected a dataset to make"):
        hpcw.generate("plan", ranks=4096, dry_run=True, json=True)


def test_names_like_options(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for call in hpcw.verify, hpcw.info, lambda path: hpcw.score(path, path):
        with pytest.raises(hpcw.HpcwError, match="^--help"):
            call("--help")


def test_other_files(tmp_path):
    for name, message in ("notes.txt", "notes.txt: expected an event log, .* or a checkpoint, got another file$"), \
            ("data.0.json.br", "data.0.json.br: expected '{' or a brotli stream at the start"):
        (tmp_path / name).write_text("# a text of somebody\n")
        with pytest.raises(hpcw.HpcwFormatError, match=message):
            hpcw.open(tmp_path / name)


def test_unfinished(tmp_path):
    out = tmp_path / "out"
    subprocess.run([os.environ["HPCW_HPCGEN"], "--quiet", "--ranks", "16", "--scale", "tiny", "--out", out, "--part", "1/2"],
                   check=True)
    for path in (out, out / "vom", out / "scr", out / "sion"):
        with pytest.raises(hpcw.HpcwError, match="got an unfinished one: `hpcgen --resume` or `hpcgen join` finishes it") as unfinished:
            hpcw.open(path)
        assert unfinished.value.status == hpcw.Status.ESTATE
    assert hpcw.info(out)["state"] == "unfinished"
    # A state directory that cannot be examined is an error, not a missing directory. Here it is a link to itself.
    shutil.rmtree(out / ".hpcw")
    (out / ".hpcw").symlink_to(".hpcw")
    with pytest.raises(hpcw.HpcwError, match="cannot look at it: Too many levels of symbolic links"):
        hpcw.open(out / "vom")


def test_windows(dataset):
    run = hpcw.open(dataset)
    assert (run.log.begin_s, run.log.end_s) == (run.log.info()["begin_s"], run.log.info()["end_s"])
    log, loads = run.log, run.loads
    states, messages, events = log.states(), log.messages(), log.events()
    middle = float(np.median(states["begin"]))
    for ranks in (range(4, 9), [1, 7, 8], 3, np.array([30, 2])):
        some = np.atleast_1d(list(ranks) if isinstance(ranks, range) else ranks)
        part = log.states(begin=middle, ranks=ranks)
        assert np.array_equal(part, states[(states["end"] > middle) & np.isin(states["rank"], some)
                                           | (states["begin"] == middle) & np.isin(states["rank"], some)])
        ends = np.isin(messages["source"], some) | np.isin(messages["dest"], some)
        assert np.array_equal(log.messages(ranks=ranks), messages[ends])
        assert np.array_equal(log.events(end=middle, ranks=ranks),
                              events[(events["time"] < middle) & np.isin(events["rank"], some)])
        tasks = loads.tasks()
        assert np.array_equal(loads.tasks(ranks=ranks), tasks[np.isin(tasks["rank"], some)])
        assert np.array_equal(loads.tasks(phases=[0, 3]), tasks[np.isin(tasks["phase"], [0, 3])])
        assert np.array_equal(loads.edges(phases=2), loads.edges()[loads.edges()["phase"] == 2])
    assert len(log.states(ranks=[])) == len(loads.tasks(phases=range(0))) == 0
    per_node = run.manifest["parameters"]["set"]["machine.ppn"]
    assert np.array_equal(loads.nodes, loads.ranks // per_node)
    for begin, end in ((0.5, 0.5), (2, 1)):
        with pytest.raises(hpcw.HpcwValueError, match=f"app.clog2: window of time: expected end > begin, got {begin} to {end} s"):
            log.states(begin, end)
    fresh = hpcw.open(dataset).log
    assert set(fresh.names) == set(log.names) and "Compute" in fresh.names


def test_masks(dataset):
    log, loads = hpcw.open(dataset).log, hpcw.open(dataset).loads
    for mask in (np.arange(32) < 3, np.arange(32) % 5 == 1, np.zeros(32, bool)):
        some = np.flatnonzero(mask)
        for wanted in (mask, mask.tolist()):
            for call in (log.states, log.messages, log.events, loads.tasks, loads.edges):
                assert np.array_equal(call(ranks=wanted), call(ranks=some))
    late = loads.phases > 3
    assert set(loads.tasks(phases=late)["phase"].tolist()) == set(loads.phases[late].tolist())
    for call in (log.states, log.messages, log.events, loads.tasks, loads.edges):
        for wrong in (np.ones(31, bool), [True] * 33, True, np.ones((32, 1), bool)):
            with pytest.raises(hpcw.HpcwValueError, match="ranks: expected a mask of 32 Booleans, got"):
                call(ranks=wrong)
    with pytest.raises(hpcw.HpcwValueError, match=f"phases: expected a mask of {len(loads.phases)} Booleans, got 1"):
        loads.tasks(phases=[True])


def test_numbers_that_are_not_there(dataset):
    run = hpcw.open(dataset)
    log, loads = run.log, run.loads
    phases = len(loads.phases)
    for call in (log.states, log.messages, log.events, loads.tasks, loads.edges):
        for wrong, got in ((1.5, "1.5"), ("12", "'12'"), ("x", "'x'"), ([0.5, 1], "0.5"), ([1, None], "1"), ({1}, "{1}"),
                           ([[1], [2, 3]], "")):
            with pytest.raises(hpcw.HpcwValueError, match=f"ranks: expected whole numbers, got {got}"):
                call(ranks=wrong)
        for wrong, got in ((32, 32), (-1, -1), ([1, 999], 999), (range(30, 300), 32), (range(10 ** 12), 32),
                           (range(-1, 3), -1), (np.uint64(2 ** 64 - 1), 2 ** 64 - 1)):
            with pytest.raises(hpcw.HpcwValueError, match=f"ranks: expected some of 32 numbers from 0 to 31, got {got}$"):
                call(ranks=wrong)
    for call in (loads.tasks, loads.edges, loads.rank_loads, loads.imbalance):
        with pytest.raises(hpcw.HpcwValueError, match=f"vom: phases: expected some of {phases} numbers from 0 to "
                                                      f"{phases - 1}, got 99"):
            call(phases=99)
    for wrong in (1.5, True, np.True_, "x", -1, 32):
        with pytest.raises(hpcw.HpcwValueError, match="expected a task of the container, got"):
            run.particles.read(wrong)
    assert len(run.particles.read(np.uint32(3)))


def test_phases_of_some_files(tmp_path):
    far = 1 << 50  # a mask of all numbers up to it would not fit into memory
    for rank, phases in ((0, [0]), (1, [0, 5, far])):
        with hpcw.loads_create(tmp_path / f"data.{rank}.json", rank, ranks=2, allow_gaps=True) as f:
            for phase in phases:
                f.write(phase, np.array([(rank, phase, rank << 2 | 1, rank, True, 0, 0, 1.0)], hpcw.vom.TASKS))
    loads = hpcw.open(tmp_path)
    assert loads.tasks(phases=5)["rank"].tolist() == [1] and len(loads.tasks(phases=range(0, 1))) == 2
    assert loads.tasks(phases=[0, far])["phase"].tolist() == [0, 0, far]
    for wanted in ({"phases": [0, 3]}, {"phases": 5, "ranks": 0}):
        with pytest.raises(hpcw.HpcwValueError, match="phases: expected some of"):
            loads.tasks(**wanted)


def test_truth(dataset):
    run = hpcw.open(dataset)
    imbalance = run.loads.imbalance()
    assert [p["imbalance"] for p in run.truth["vom"]["phases"]] == pytest.approx(imbalance["imbalance"].tolist())
    assert [p["rank_of_max"] for p in run.truth["vom"]["phases"]] == imbalance["rank"].tolist()
    sizes = [len(run.particles.read(rank)) for rank in range(run.ranks)]
    assert sum(sizes) == run.truth["sion"]["particles"] and max(sizes) == run.truth["sion"]["most_particles"]
    assert run.particles.read(5).dtype == hpcw.PARTICLE


def test_faults(tmp_path):
    run = hpcw.generate(tmp_path / "out", ranks=32, seed=1, scale="tiny", formats=["clog2", "rank2file"], show=False,
                        set={"load.noise": 0.05, "machine.bad_cable_share": 1, "machine.nodes_per_switch": 2,
                             "rank2file.missing_files": 1})
    faults, listed = run.faults(), run.info()["faults"]
    assert faults["kind"].tolist() == [f["kind"] for f in listed] and faults["where"].tolist() == [f["where"] for f in listed]
    assert {"interruption", "slow_cable", "missing_file"} <= set(faults["kind"])
    for name, none in (("phase", -1), ("factor", np.nan), ("cost_s", np.nan)):
        assert np.array_equal(faults[name], [none if f[name] is None else f[name] for f in listed], equal_nan=True)
    assert np.isnan(faults["cost_s"]).any() and not np.isnan(faults["cost_s"]).all()


def test_frames(dataset):
    pandas = pytest.importorskip("pandas")
    log = hpcw.open(dataset).log
    states = hpcw.to_df(log.states())
    assert isinstance(states, pandas.DataFrame) and states["name"].dtype == "category"
    assert states["name"].astype(str).tolist() == log.names[log.states()["name"]].tolist()
    assert len(hpcw.to_df(log.states()[:0])) == 0 and len(hpcw.to_df(log.messages())) == len(log.messages())
    assert hpcw.to_df(hpcw.open(dataset).links.seconds).shape == (32, 32)
    assert hpcw.to_df(hpcw.open(dataset).checkpoints.files)["rank"].max() == 31
    with pytest.raises(hpcw.HpcwValueError):
        hpcw.to_df(np.arange(3))


def test_what_objects_show(dataset):
    with hpcw.open(dataset) as run:
        for thing in (run, run.log, run.links, run.loads, run.particles, run.checkpoints):
            assert type(thing).__name__ in repr(thing) and "<table>" in thing._repr_html_()
        assert str(run.log.states()["end"][4]) in run.log._repr_html_() and "MPI_" in run.log._repr_html_()
        assert str(run.loads.tasks()["id"][4]) in run.loads._repr_html_()
        assert f"workload={run.manifest['parameters']['workload']['name']}" in repr(run)
    for call, name in ((run.log.states, "app.clog2"), (run.links.slowest, "pingpong_results_bin.sion"),
                       (lambda: run.particles.read(0), "particles.sion"), (lambda: run.checkpoints.files, "scr"),
                       (lambda: run.checkpoints.check(run.checkpoints.names[0]), "scr")):
        with pytest.raises(hpcw.HpcwError, match=f"^{dataset}/.*{name}: expected an object that is open, got one that was closed"):
            call()


def test_arrays_that_are_kept(dataset):
    """No change of an array changes what the object returns later."""
    run = hpcw.open(dataset)
    for array in (run.links.seconds, run.loads.ranks, run.loads.phases, run.loads.nodes):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    for array in (run.links.hosts, run.links.cores, run.log.names, run.particles.tasks, run.checkpoints.files,
                  run.links.matrix(0)):
        array[:] = array[::-1]
    assert len(run.loads.tasks(phases=run.loads.phases > 2)) and run.links.hosts[0] < run.links.hosts[-1]
    pytest.importorskip("pandas")
    frame = hpcw.to_df(run.links.seconds)
    frame.iloc[1, 2] = 0
    assert run.links.seconds[1, 2] > 0


def test_help():
    page = pydoc.plain(pydoc.render_doc(hpcw.Run))
    for kind in ("EventLog", "Links", "Loads", "Container", "Checkpoints"):
        assert f", a {kind}" in page or f", an {kind}" in page
    assert "What is wrong in the dataset, a dictionary" in page
    for call, columns in ((hpcw.EventLog.states, hpcw.clog2.STATES), (hpcw.EventLog.messages, hpcw.clog2.MESSAGES),
                          (hpcw.EventLog.events, hpcw.clog2.EVENTS), (hpcw.EventLog.waits, _waits.WAITS),
                          (hpcw.Links.slowest, hpcw.linktest.SLOWEST), (hpcw.Loads.tasks, hpcw.vom.TASKS),
                          (hpcw.Loads.edges, hpcw.vom.EDGES), (hpcw.Loads.imbalance, hpcw.vom.IMBALANCE),
                          (hpcw.Container.tasks, hpcw.sion.TASKS), (hpcw.Container.keys, hpcw.sion.KEYS),
                          (hpcw.Checkpoints.files, hpcw.rank2file.FILES), (hpcw.Map.files, hpcw.rank2file.FILES),
                          (hpcw.Run.faults, hpcw.dataset.FAULTS), (hpcw.Run.particles, hpcw.PARTICLE)):
        words = set(re.findall(r"\w+", call.__doc__))
        assert words.issuperset(np.dtype(columns).names), call
    numbered = re.findall(r"(\d): ([\w ]+)", hpcw.EventLog.waits.__doc__)
    assert [name for _, name in numbered] == _waits.KINDS and [int(number) for number, _ in numbered] == [0, 1, 2]
    for name in hpcw.__all__:
        thing = getattr(hpcw, name)
        for one in [thing, *(v for n, v in vars(thing).items() if n[0] != "_")] if isinstance(thing, type) else [thing]:
            assert not callable(one) or inspect.getdoc(one), (name, one)
    assert pydoc.plain(pydoc.render_doc(hpcw.open)).split("\n")[2].startswith("open(path")


def test_errors(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError) as missing:
        hpcw.open(tmp_path / "none")
    assert isinstance(missing.value, hpcw.HpcwError) and missing.value.status == hpcw.Status.ENOENT
    copy = pickle.loads(pickle.dumps(missing.value))
    assert (str(copy), copy.status, type(copy)) == (str(missing.value), missing.value.status, type(missing.value))
    with pytest.raises(hpcw.HpcwValueError, match="NUL"):
        hpcw.open("x\0y")
    (tmp_path / "x").write_bytes(b"nothing known")
    for path in (tmp_path, tmp_path / "x"):
        with pytest.raises(hpcw.HpcwFormatError):
            hpcw.open(path)
    # A pipe without a writer in place of a file: the open fails and does not wait. Then a manifest without parameters.
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "dataset").mkdir()
    (tmp_path / "dataset" / "manifest.json").symlink_to(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path / "dataset"):
        with pytest.raises(hpcw.HpcwError, match="expected a regular file|expected JSON"):
            hpcw.open(path)
    (tmp_path / "dataset" / "manifest.json").unlink()
    (tmp_path / "dataset" / "manifest.json").write_text("{}")
    with pytest.raises(hpcw.HpcwFormatError, match="manifest.json: expected the parameters of a dataset"):
        hpcw.open(tmp_path / "dataset")
    monkeypatch.setenv("HPCW_HPCGEN", str(tmp_path / "none"))
    with pytest.raises(hpcw.HpcwLibraryError, match="hpcgen"):
        hpcw.generate(tmp_path / "out", ranks=2)
    with pytest.raises(hpcw.HpcwLibraryError, match="hpcgen"):
        hpcw.score([], tmp_path / "dataset")


@pytest.mark.parametrize("where, message", [
    ("no/such.so", "expected the shared library libhpcw"), ("libc.so.6", "without hpcw_")])
def test_library_is_not_ours(where, message):
    run = subprocess.run([sys.executable, "-c", "import hpcw\nhpcw.sion_create('x')"], text=True, check=False,
                         env={**os.environ, "HPCW_LIBRARY": where}, stderr=subprocess.PIPE)
    assert run.returncode == 1 and f"HpcwLibraryError: {where}: expected" in run.stderr and message in run.stderr


def test_other_version(monkeypatch):
    from hpcw import _library, _where
    monkeypatch.setattr(_where, "VERSION", "9.9.9")
    with pytest.raises(hpcw.HpcwLibraryError, match="expected version 9.9.9, got"):
        _library.library.__wrapped__()


def test_threads_share_an_object(dataset):
    log = hpcw.open(dataset).log
    expected = log.states()
    results = []
    threads = [threading.Thread(target=lambda: results.append(np.array_equal(log.states(), expected))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 8


def test_child_of_fork(dataset, tmp_path):
    log = hpcw.open(dataset).log
    writer = hpcw.sion_create(tmp_path / "x.sion")
    writer.write(0, b"abc")
    expected = len(log.states())
    with log._handle:  # like another thread during a call
        child = os.fork()
        if child == 0:
            writer = None
            os._exit(0 if len(log.states()) == expected else 1)
    assert os.waitpid(child, 0)[1] == 0
    writer.close()
    assert hpcw.open(tmp_path / "x.sion").read(0).tobytes() == b"abc" and len(log.states()) == expected


def test_child_of_fork_during_a_read(dataset, monkeypatch):
    """Another thread reads the matrix of another object at the time of the fork."""
    begun, end = threading.Event(), threading.Event()
    other = hpcw.Links(hpcw.open(dataset).links.path)

    def matrix(links, permutation):
        if links is other:
            begun.set()
            end.wait()
        return whole(links, permutation)

    whole = hpcw.Links.matrix
    monkeypatch.setattr(hpcw.Links, "matrix", matrix)
    thread = threading.Thread(target=lambda: other.seconds)
    thread.start()
    begun.wait()
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        os._exit(0 if hpcw.open(dataset).links.seconds.shape == (32, 32) else 1)
    status = os.waitpid(child, 0)[1]
    end.set()
    thread.join()
    assert status == 0


def test_pickled_objects(dataset):
    """Each kind of object can go to another process, also after it was used."""
    run = hpcw.open(dataset)
    root = hpcw.open(os.path.join(dataset, "scr/scr.dataset.1/.scr/rank2file.scr"))
    tree = hpcw.open(os.path.join(dataset, "scr/scr.dataset.1/.scr/summary.scr"))
    for thing in (run.log, run.links, run.loads, run.particles, run.checkpoints, run, root, tree):
        repr(thing), thing._repr_html_()
        for copy in (pickle.loads(pickle.dumps(thing)), copy_of(thing)):
            assert type(copy) is type(thing) and repr(copy) == repr(thing) and copy._repr_html_() == thing._repr_html_()
            copy.close()
    assert len(run.log.states()) and tree.tree
    with multiprocessing.get_context("fork").Pool(2) as pool:
        for data, expected in zip(pool.map(run.particles.read, range(4)), map(run.particles.read, range(4))):
            assert np.array_equal(data, expected) and data.dtype == hpcw.PARTICLE


def test_paths_hold(dataset, monkeypatch):
    monkeypatch.chdir(os.path.dirname(dataset))
    run = hpcw.open(os.path.basename(dataset))
    loads = hpcw.open(os.path.join(os.path.basename(dataset), "vom"))
    monkeypatch.chdir("/")
    assert len(run.log.states()) and len(loads.tasks(ranks=0)) and run.truth["ranks"] == 32
    assert run.links.seconds.shape == (32, 32) and run.log.info()["ranks"] == 32 and hpcw.verify(run)["ok"]
