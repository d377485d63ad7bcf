# SPDX-License-Identifier: BSD-3-Clause
"""Computes the figures of `hpcgen info` (doc/info.md) from the arrays of the package's objects."""
import os

import numpy as np
import pytest

import hpcw
from hpcw import _c, _library, vom


def of_container(c):
    tasks = c.tasks
    files = []
    for file in range(c.files):
        own = tasks[tasks["file"] == file]
        path = c.path if file == 0 else f"{c.path}.{file:06}"
        files.append({"tasks": len(own), "blocks": int(own["blocks"].max()), "file_size": os.path.getsize(path)})
        first = own[own["index"] == 0]
        if len(first):
            files[-1]["data_start"] = int(first["start"][0])
    return {"format_version": c.format_version, "library_version": c.library_version[0],
            "library_patch": c.library_version[1], "metadata_byte_order": c.byte_order, "data_byte_order": c.data_byte_order,
            "fs_block_size": c.block_size, "content": "key-value" if c.keys_and_values else "plain", "name": c.name,
            "tasks_of_set": len(c), "files": files,
            "tasks": [{name: int(t[column]) for name, column in (("rank", "rank"), ("bytes", "size"), ("blocks", "blocks"))}
                      for t in np.sort(tasks, order=("file", "index"))], "apparent_bytes": sum(f["file_size"] for f in files),
            "payload_bytes": int(tasks["size"].sum()), "smallest_stream": int(tasks["size"].min()),
            "largest_stream": int(tasks["size"].max())}


def of_links(links):
    s = links.settings
    kernel = "bidirectional" if s["bidirectional"] else "unidirectional" if s["unidirectional"] else "semidirectional"
    summaries = []
    for p in range(links.permutations):
        slowest = [{"from": int(r["source"]), "to": int(r["dest"]), "time_s": float(r["time"]), "retest_s": float(r["retest"])}
                   for r in links.slowest(p)]
        summaries.append({**links.totals(p), "slowest": slowest})
        assert links.matrix(p).shape == (links.tasks, links.tasks)
    container = of_container(hpcw.Container(links.path))
    return {**{name: value for name, value in s.items() if name != "version"}, "kernel": kernel,
            "version": ".".join(map(str, s["version"])), "hosts": len(set(links.hosts)), "summaries": summaries,
            "container": container, "payload_bytes": container["payload_bytes"]}


def figures(values):
    values = np.ascontiguousarray(values, np.float64)
    f = _library.library().hpcw_vom_figures_of(values.ctypes.data, len(values))
    return {name: getattr(f, name) for name, _ in _c.hpcw_vom_figures._fields_}


def of_loads(loads):
    tasks, edges = loads.tasks(), loads.edges()
    phases = []
    for phase in loads.phases:
        t, e = tasks[tasks["phase"] == phase], edges[edges["phase"] == phase]
        objects = t[vom.entities(t)]
        ranks = np.searchsorted(loads.ranks, objects["rank"])
        between = e[(e["category"] == 1) & (e["source"] != e["dest"])]
        phases.append({
            "id": int(phase), "tasks": len(t), "migratable": int(t["migratable"].sum()), "communications": len(e),
            "messages": int(e["messages"].sum()), "bytes": float(e["bytes"].sum()), "Object_load": figures(objects["time"]),
            "Rank_load": figures(np.bincount(ranks, objects["time"], len(loads.ranks))),
            "Object_comm": figures(between["bytes"]), "Rank_comm": figures(leaving(e, loads.ranks))})
    imbalance = loads.imbalance()
    of = {int(row["phase"]): row["imbalance"] for row in imbalance}
    for phase in phases:
        assert of.get(phase["id"], 0) == pytest.approx(phase["Rank_load"]["imb"], rel=1e-9, abs=1e-12)
    return {"type": "LBDatafile", "files": len(loads.ranks), "phase_count": len(phases), "phases": phases,
            "file_bytes": sum(os.path.getsize(f) for f in loads._files.values())}


def leaving(e, ranks):
    """Returns the bytes that leave each rank, as vt counts them."""
    category = e["category"]
    to_group = (category == _c.HPCW_VOM_SEND_RECV) & (e["dest"] & np.uint64(2) == 0) & (e["dest"] != 0)
    to_node = np.isin(category, (_c.HPCW_VOM_COLLECTION_TO_NODE, _c.HPCW_VOM_COLLECTION_TO_NODE_BCAST))
    chosen = to_group & (e["dest_home"] != e["rank"]) | to_node & (e["dest"] != e["rank"])
    chosen |= np.isin(category, (_c.HPCW_VOM_WRITE_SHARED, _c.HPCW_VOM_READ_ONLY_SHARED))
    return np.bincount(np.searchsorted(ranks, e["rank"][chosen]), e["bytes"][chosen], len(ranks))


def of_log(log):
    states, events, messages = log.states(), log.events(), log.messages()
    profile = []
    for rows, is_state in ((states, True), (events, False)):
        for code in np.unique(rows["name"]):
            own = rows[rows["name"] == code]
            one = {"name": log.names[code], "count": len(own), "ranks": len(np.unique(own["rank"]))}
            if is_state:
                seconds = np.bincount(own["rank"], own["end"] - own["begin"], log.ranks)
                has = np.flatnonzero(np.bincount(own["rank"], minlength=log.ranks))
                one.update(seconds=float(seconds.sum()), least_s=float(seconds[has].min()), most_s=float(seconds[has].max()))
                one["least_rank"] = int(has[seconds[has].argmin()])
                one["most_rank"] = int(has[seconds[has].argmax()])
            profile.append(one)
    pair = messages["source"].astype(np.uint64) << np.uint64(32) | messages["dest"]
    pairs, inverse = np.unique(pair, return_inverse=True)
    size = np.maximum(messages["size"], 0)
    flow = sorted(zip(-np.bincount(inverse, size).astype(np.int64) if len(pairs) else [], pairs.tolist(),
                      np.bincount(inverse).tolist() if len(pairs) else []))[:64]
    return {"ranks": log.ranks, "threads": log.threads, "communicators": log.comms, "block_size": log.block_size,
            "blocks": log.blocks, "user_states": log.user_states, "user_solo_events": log.user_events,
            "profile": profile, "messages": len(messages), "message_bytes": int(size.sum(dtype=np.int64)), "pairs": len(pairs),
            "backward_messages": int((messages["received"] < messages["sent"]).sum()),
            "largest_pairs": [{"from": p >> 32, "to": p & 0xffffffff, "messages": n, "bytes": -int(b)} for b, p, n in flow]}


def of_checkpoints(c):
    datasets = []
    for name in c.names:
        d = c.dataset(name)
        own = c.files[c.files["dataset"] == name]
        assert len(own) == d["files"] and (not own["has_size"].all() or own["size"].sum() == d["bytes"])
        assert len(np.unique(own["rank"])) == d["ranks"]
        datasets.append(d)
    return {"kind": "prefix directory", "current": c.current, "datasets": datasets}


def of_map(m):
    files = m.files
    return {"kind": "map", **m.shape, "files": len(files), "bytes": int(files["size"].sum())}


def of_tree(t):
    return {"kind": "tree", "stored_bytes": t.stored_bytes, "keys_on_top": len(t.tree), "tree": t.tree}


FACTS = {hpcw.Container: of_container, hpcw.Links: of_links, hpcw.Loads: of_loads, hpcw.EventLog: of_log,
         hpcw.Checkpoints: of_checkpoints, hpcw.Map: of_map, hpcw.Tree: of_tree}
