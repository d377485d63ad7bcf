# SPDX-License-Identifier: BSD-3-Clause
"""Small inputs that claim large sizes, and the commands that read them: rows of (name, command). A path in a command is below
the directory `at`."""
import base64
import json
import os
import shutil
import struct
import subprocess
import zlib

MUCH = 2**31 - 1
DEEP = 100000
ESC = "\x1b[31m\x9b2J\x7f"  # colours, and an empty screen


def write(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(data if isinstance(data, bytes) else data.encode())
    return path


def read(path):
    with open(path, "rb") as f:
        return f.read()


def commands_of_file(path, extension, forms):
    """Returns commands that read a file of any format."""
    out = path + ".out"
    yield ["info", path]
    yield ["info", "--json", path]
    yield ["verify", path]
    yield ["report", path, "--force", "-O", out + ".html"]
    yield ["rewrite", path, out + extension]
    yield ["fit", path, "-O", out + ".ini"]
    yield ["fit", "--compare", path, path]
    for form in forms:
        yield ["export", path, "--form", form, "-O", out + "." + form]


# ---- binary files: in each input, one number of the header claims a large size ----

BINARY = [  # file, extension, forms, claimed words: first, end
    ("sion/particles.sion", ".sion", ("tasks",), 0, 96),
    ("linktest/pingpong_results_bin.sion", ".sion", ("csv", "npy"), 0, 96),
    ("linktest/pingpong_results_bin.sion", ".sion", ("csv", "hosts"), 4096, 4240),
    ("clog2/app.clog2", ".clog2", ("chrome", "csv", "otf2"), 1024, 1112),
]


def claims_of_words(at, base):
    for file, extension, forms, first, end in BINARY:
        sound = read(f"{base}/{file}")
        for offset in range(first, end, 4):
            data = bytearray(sound)
            data[offset : offset + 4] = struct.pack("<I", MUCH)
            if data == sound:
                continue
            name = f"{os.path.basename(file)}@{offset}"
            path = write(f"{at}/{name}/{os.path.basename(file)}", bytes(data))
            for second in (1,):  # the other file of the set
                other = f"{base}/{file}.{second:06d}"
                if os.path.exists(other):
                    shutil.copy(other, os.path.dirname(path))
            # All commands read the header by the same code. So two commands suffice, except for the first changed word.
            all_commands = list(commands_of_file(path, extension, forms))
            for command in all_commands if offset == first else all_commands[1:4:2]:
                yield name, command
            if extension == ".sion" and "tasks" in forms:
                yield name, ["export", path, "--task", "0", "--key", "1", "-O", path + ".bytes"]
            if extension == ".clog2":  # as a local file of MPE
                yield name, ["recover", "--output", path + ".recovered", path]


# ---- event logs ----


def text_field(data, key, value):
    """Replaces the number after a key of the preamble, which has texts ending in NUL, then zeros up to byte
    1024."""
    place = data.index(key) + len(key) + 1
    end = data.index(b"\0", place)
    preamble = data[:place] + str(value).encode() + data[end:1024]
    assert not preamble[1024:].strip(b"\0")
    return preamble[:1024] + data[1024:]


def logs(at, base):
    sound = read(f"{base}/clog2/app.clog2")
    forms = ("chrome", "csv", "otf2")
    for key in (b"max_comm_world_size=", b"max_thread_count=", b"block_size=", b"user_stateID_count="):
        name = f"log {key.decode()}"
        path = write(f"{at}/{name}/app.clog2", text_field(sound, key, MUCH))
        for command in commands_of_file(path, ".clog2", forms):
            yield name, command
    # A name of a state has control characters. Names are printed on terminals, in pages and in tables.
    name = "log of names"
    states = sound.replace(b"MPI_Allreduce\0\0", b"\x1b]0;owned\x07\xc2\x9bm\0")
    assert states != sound
    path = write(f"{at}/{name}/app.clog2", states)
    for command in commands_of_file(path, ".clog2", forms):
        yield name, command


def names(at, base):
    """Yields commands that read files with hostile names."""
    name = "name"
    for file, extension, forms in (("clog2/app.clog2", ".clog2", ("csv",)), ("vom/data.0.json.br", ".json", ("csv",)),
                                   ("linktest/pingpong_results_bin.sion", ".sion", ("npy",))):
        path = os.fsdecode(os.fsencode(f"{at}/{name}/{ESC}\n.") + b"\x9b" + os.fsencode(os.path.basename(file)))
        write(path, read(f"{base}/{file}"))
        for command in commands_of_file(path, extension, forms):
            yield name, command
        yield name, ["recover", "--output", path + ".recovered", path]
    prefix = f"{at}/{ESC}\nprefix"
    shutil.copytree(f"{base}/scr", prefix)
    write(f"{prefix}/scr.dataset.1/{ESC}", "")
    os.remove(f"{prefix}/scr.dataset.1/.scr/rank2file.scr")
    os.remove(f"{prefix}/.scr/scr.dataset.1/rank2file")
    for command in (["check"], ["drop", "scr.dataset.1"], ["drop", "scr.dataset.1", "--all-files"], ["list"]):
        yield name, ["scr", command[0], prefix, *command[1:]]
    dataset = f"{at}/{ESC}\ndataset"
    shutil.copytree(base, dataset)
    os.remove(f"{dataset}/vom/data.0.json.br")
    for command in (["verify"], ["repair"], ["verify"], ["info"], ["report"], ["fit", "-O", dataset + ".ini"]):
        yield name, [command[0], dataset, *command[1:]]


def local_head(ranks, block, window, rank=0):
    head = struct.pack("=QQIIII", 0x0A324C43574350C8, 1, rank, ranks, block, window)
    return head + struct.pack("=QdQqqqqQQQQQ", 0, 1.0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)


def local_files(at, base):
    del base
    cases = {
        "ranks": local_head(MUCH, 65536, 2 << 20),
        "block": local_head(1, MUCH & ~7, 2 << 20),
        "window": local_head(1, 65536, MUCH & ~7),
        "no window": local_head(2, 65536, 0),
        "short": local_head(1, 65536, 2 << 20)[:40],
        "piece": local_head(1, 65536, 0) + struct.pack("=QIIII", 0x6563656970776350, 1, MUCH, MUCH, MUCH),
        "definitions": local_head(1, 65536, 0) + struct.pack("=QIIII", 0x6563656970776350, 2, 0, MUCH, 0),
    }
    for key, data in cases.items():
        path = write(f"{at}/local {key}/0.local", data + bytes(4096))
        yield f"local {key}", ["recover", "--output", path + ".clog2", path]
        yield f"local {key}", ["recover", "--partial", "--output", path + ".clog2", path]


# ---- load data ----


def load(ranks_or_id, **more):
    task = {"entity": {"home": 0, "id": ranks_or_id, "migratable": True, "type": "object"}, "node": 0, "resource": "cpu",
            "time": 0.5, **more}
    return {"type": "LBDatafile", "phases": [{"id": 0, "tasks": [task]}]}


def load_data(at, base):
    del base
    cases = {
        "ids": json.dumps(load(2**64 - 1)),
        "ranks": json.dumps({**load(1), "metadata": {"type": "LBDatafile", "rank": MUCH, "shared_node": {"num_nodes": MUCH}}}),
        "phase": json.dumps({"type": "LBDatafile", "phases": [{"id": MUCH, "tasks": []}]}),
        "number": json.dumps(load(1)).replace("0.5", "1e999999999"),
        "digits": json.dumps(load(1)).replace("0.5", "0." + "5" * 100000),
        "deep": '{"type":"LBDatafile","phases":' + "[" * DEEP + "]" * DEEP + "}",
        "deep values": json.dumps(load(1, user_defined={"a": 1})).replace("1}", "[" * DEEP + "]" * DEEP + "}", 1),
        "names": json.dumps(load(1, user_defined={ESC + "key": ESC})),
        "resource": json.dumps(load(1)).replace("cpu", "\\u001b[31m"),
        "steps": json.dumps({**load(1), "phases": [{"id": 0, "tasks": [{**load(1)["phases"][0]["tasks"][0],
                                                                       "subphases": [{"id": MUCH, "time": 1.0}]}]}]}),
        "keys": '{"type":"LBDatafile","phases":[],' + ",".join(f'"{i}":0' for i in range(50000)) + "}",
    }
    for key, text in cases.items():
        path = write(f"{at}/load {key}/data.0.json", text)
        for command in commands_of_file(path, ".json", ("csv", "edges")):
            yield f"load {key}", command


# Load data with 200 MB of blanks, in 186 bytes of brotli.
BLANKS = (
    "z///fwAEanKk7TigxxYGFgVcVk+yyS6vybNDeKxLERU5N7JBnA1r3v8vaov///8ASADEYQHo3v/z//8fAAmAOCwA3ft//v//AyABEIcFoHv/z/"
    "//fwAkAOKwAHTv//n//w+ABEAcFoDu/T////8BkACIwwLQvf/n//8/ABIAcVgAuvf//P//B0ACIA4LQPf+n////wBIAMRhAeje//P//x8ACYA4"
    "LADd+/8EEV4HINXVV5IcFsDs3HUC"
)


def compressed(at, base):
    del base
    path = write(f"{at}/blanks/data.0.json.br", base64.b64decode(BLANKS))
    for command in commands_of_file(path, ".json", ("csv", "edges")):
        yield "blanks", command


# ---- checkpoints ----


def kvtree(data):
    """Returns a KVTree file with these bytes after the header."""
    head = struct.pack(">IHHQI", 0x951FC3F5, 1, 1, 20 + len(data) + 4, 1)
    return head + data + struct.pack(">I", zlib.crc32(head + data))


def node(entries):
    data = struct.pack(">I", len(entries))
    for key, children in entries.items():
        data += key.encode() + b"\0" + node(children)
    return data


def checkpoints(at, base):
    deep = struct.pack(">I", 0)
    for _ in range(DEEP // 4):
        deep = struct.pack(">I", 1) + b"k\0" + deep
    part = {"FILE": {".scr/rank2file.0.0.scr": {}}}
    maps = {
        "ranks": kvtree(node({"LEVEL": {"1": {}}, "RANKS": {str(MUCH): {}}, "RANK": {"0": {"OFFSET": {"0": {}}, **part}}})),
        "children": kvtree(struct.pack(">I", MUCH) + b"RANKS\0"),
        "deep": kvtree(deep),
        "names": kvtree(node({"LEVEL": {ESC: {}}, "RANKS": {ESC: {}}, ESC: {}})),
        "size": read(f"{base}/scr/scr.dataset.1/.scr/rank2file.scr")[:8] + struct.pack(">Q", 2**62) + bytes(200),
    }
    for key, data in maps.items():
        name = f"map {key}"
        prefix = f"{at}/{name}"
        shutil.copytree(f"{base}/scr", prefix)
        path = write(f"{prefix}/scr.dataset.2/.scr/rank2file.scr", data)
        write(f"{prefix}/.scr/scr.dataset.2/rank2file", data)
        for command in commands_of_file(path, ".scr", ("csv",)):
            yield name, command
        yield name, ["rewrite", prefix, prefix + ".out"]
        for command in (["list"], ["check"], ["prune", "--keep", "1", "--dry-run"], ["drop", "scr.dataset.2"], ["reindex"]):
            yield name, ["scr", command[0], prefix, *command[1:]]
    for key, data in maps.items():
        name = f"index {key}"
        prefix = f"{at}/{name}"
        shutil.copytree(f"{base}/scr", prefix)
        write(f"{prefix}/.scr/index.scr", data)
        for command in (["list"], ["check"], ["drop", "scr.dataset.2"], ["reindex"], ["list"]):
            yield name, ["scr", command[0], prefix, *command[1:]]


# ---- datasets ----


def scores(at, base):
    del base
    seen = {"visibility": [{"sd": 10}]}
    truths = {
        "ports": [{"kind": "slow_port", "first_rank": i << 20, "ranks": (1 << 20) - 1, **seen} for i in range(60)],
        "wide": [{"kind": "slow_node", "first_rank": 0, "ranks": 2**53 - 1, "node": 0, **seen}] * 1000,
        "phases": [{"kind": "overloaded", "rank": i, "first_phase": 1, "phases": 2**52, **seen} for i in range(1000)],
        "kind": [{"kind": ESC, **seen}],
    }
    for key, faults in truths.items():
        folder = f"{at}/truth {key}"
        write(f"{folder}/truth.json", json.dumps({"ranks": 4, "slow": faults}))
        path = write(f"{folder}/found.json", json.dumps({"findings": [
            {"kind": "slow_port", "rank": 5 << 20}, {"kind": "slow_node", "rank": MUCH},
            {"kind": "overloaded", "rank": 5, "phase": 2**51}, {"kind": "slow_port", "host": ESC}]}))
        yield f"truth {key}", ["score", path, folder]
    folder = f"{at}/truth ports"
    for key, found in {"kind": json.dumps({"findings": [{"kind": ESC}]}), "deep": "[" * DEEP}.items():
        yield f"findings {key}", ["score", write(f"{at}/findings {key}.json", found), folder]


def datasets(at, base):
    folder = f"{at}/unfinished"
    os.makedirs(folder)
    for key, text in {
        "ranks": f"; 0\n[hpcgen]\nranks = {MUCH}\n",
        "names": f"; {ESC}\n[hpcgen]\npreset = {ESC}\n{ESC} = {ESC}\n",
    }.items():
        name = f"configuration {key}"
        path = write(f"{at}/{name}.ini", text)
        yield name, ["plan", "--config", path]
        yield name, ["join", folder]
        if key != "ranks":
            yield name, ["--config", path, "--out", f"{at}/{name}"]
    many = read(f"{base}/manifest.json").decode().replace('"ranks": 2', f'"ranks": {MUCH}', 1)
    for key, text in {
        "ranks": many,
        "names": json.dumps({"fingerprint": ESC, "parameters": {"hpcw": ESC, "preset": ESC, ESC: ESC}}),
        "deep": "[" * DEEP + "]" * DEEP,
    }.items():
        name = f"description {key}"
        write(f"{at}/{name}/.hpcw/parameters.json", text)
        yield name, ["join", f"{at}/{name}"]
        yield name, ["report", f"{at}/{name}"]
        yield name, ["--ranks", "2", "--formats", "scr", "--resume", "--out", f"{at}/{name}"]
    manifest = json.loads(read(f"{base}/manifest.json"))
    manifest["files"] = [{"path": ESC, "size": 2**53, "xxh128": ESC}] * 1000
    for key, text in {
        "names": json.dumps(manifest),
        "deep": "[" * DEEP + "]" * DEEP,
        "ranks": many,
    }.items():
        name = f"manifest {key}"
        folder = f"{at}/{name}"
        shutil.copytree(base, folder)
        write(f"{folder}/manifest.json", text)
        for command in (["verify", folder], ["info", folder], ["report", folder, "-O", folder + ".html"], ["repair", folder]):
            yield name, command


def results(at, base):
    """Yields commands of hpcw-bench with hostile files of results."""
    del base
    cases = {
        "names": json.dumps({"magic": ESC, ESC: ESC, "machine": {"host": ESC}}),
        "deep": "[" * DEEP + "]" * DEEP,
        "numbers": json.dumps({"magic": "hpcw-bench", "version": 2**64, "points": MUCH, "rounds": 1e308}),
    }
    for key, text in cases.items():
        path = write(f"{at}/results {key}.json", text)
        yield f"results {key}", ["report", path, "-O", path + ".html"]
        yield f"results {key}", ["compare", path, path]


# ---- sound inputs, to be altered ----

CONFIGURATION = """[hpcgen]
ranks = 2
formats = clog2,vom
scale = tiny
[trace]
loop = repeat:3 { work } MPI_Irecv MPI_Isend MPI_Waitall
"""


def of_files(at, base, hpcgen):
    """Yields commands that read a valid file of each format and each form."""
    subprocess.run([hpcgen, "rewrite", "--quiet", "--as", "plain", f"{base}/vom", f"{at}/sound plain"], check=True)
    for folder in ("sion", "linktest", "clog2", "vom", "scr"):
        shutil.copytree(f"{base}/{folder}", f"{at}/sound {folder}")
    for path, extension, forms in (
            ("sion/particles.sion", ".sion", ("tasks",)),
            ("linktest/pingpong_results_bin.sion", ".sion", ("csv", "npy", "hosts")),
            ("clog2/app.clog2", ".clog2", ("chrome", "csv", "otf2")),
            ("plain/data.0.json", ".json", ("csv", "edges")),
            ("plain", "", ("csv", "edges")),
            ("vom", "", ("csv", "edges")),
            ("scr", "", ("csv",)),
            ("scr/scr.dataset.2/.scr/rank2file.scr", ".scr", ("csv",))):
        for command in commands_of_file(f"{at}/sound {path}", extension, forms):
            yield command
    path = f"{at}/sound sion/particles.sion"
    yield ["export", path, "--task", "1", "-O", path + ".bytes"]
    yield ["export", path, "--task", "1", "--key", "1", "-O", path + ".bytes"]


def of_checkpoints(at):
    prefix = f"{at}/sound scr"
    for command in (["list"], ["check"], ["prune"], ["prune", "--keep", "1"], ["reindex"], ["current", "scr.dataset.1"],
                    ["drop", "scr.dataset.2"], ["drop", "scr.dataset.2", "--all-files"]):
        yield ["scr", command[0], prefix, *command[1:]]
    for layout in ("scr-1.1", "scr-1.2", "scr-3", "shared"):
        yield ["rewrite", prefix, prefix + ".out", "--as", layout]


def of_datasets(at, base, hpcgen):
    folder = f"{at}/sound dataset"
    shutil.copytree(base, folder)
    for command in (["verify"], ["verify", "--deep"], ["repair"], ["info"], ["report", "--force"], ["fit", "-O", folder + ".ini"],
                    ["fit", "--compare", folder]):
        yield [*command, folder]
    yield ["score", write(f"{at}/sound findings.json", json.dumps({"findings": [{"kind": "slow_node", "rank": 1}]})), folder]
    for parts in (["1/2"], ["1/2", "2/2"]):
        folder = f"{at}/sound parts {len(parts)}"
        generate = ["--ranks", "2", "--scale", "tiny", "--out", folder]
        for part in parts:
            subprocess.run([hpcgen, "--quiet", *generate, "--part", part], check=True)
        yield ["join", folder]
        yield [*generate, "--resume"]
        yield [*generate, "--part", "2/2"]
    yield ["plan", "--config", write(f"{at}/sound.ini", CONFIGURATION)]


def of_local_files(at):
    events = b"".join(struct.pack("=QQ", 1000 * tick, 5 << 56 | 2 * 600 + tick % 2) for tick in range(1, 9))
    piece = struct.pack("=QIIII", 0x6563656970776350, 1, 0, len(events), 0)
    names = [write(f"{at}/sound local/{rank}.local", local_head(2, 65536, 0, rank) + piece + events) for rank in range(2)]
    yield ["recover", "--output", f"{at}/sound local/run.clog2", *names]
    yield ["recover", "--partial", "--output", f"{at}/sound local/run.clog2", names[1]]


def of_results(at):
    """Yields commands of hpcw-bench that read valid files of results."""
    shutil.copytree(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../fuzz/seeds/results"), f"{at}/sound results")
    for name in sorted(os.listdir(f"{at}/sound results")):
        path = f"{at}/sound results/{name}"
        yield ["report", path, "-O", path + ".html"]
        yield ["compare", path, path]


def sound(at, hpcgen):
    """Returns commands of hpcgen with valid inputs. inputs() must have made the dataset before."""
    base = f"{at}/base"
    return [*of_files(at, base, hpcgen), *of_checkpoints(at), *of_datasets(at, base, hpcgen), *of_local_files(at)]


def inputs(at, hpcgen):
    base = f"{at}/base"
    subprocess.run([hpcgen, "--quiet", "--ranks", "2", "--scale", "tiny", "--files", "2", "--workload", "hydro", "--out", base],
                   check=True)
    for maker in (claims_of_words, logs, names, local_files, load_data, compressed, checkpoints, scores, datasets):
        yield from maker(at, base)
