#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The arrays of every format in an .npz, read by Python's zipfile, and by NumPy if available. The values are the
# same as in the other forms.
. "$HERE/refuse.inc"
"$HPCGEN" --ranks 6 --formats all --out set --quiet || bad "generate fails"
log=set/clog2/app.clog2 links=set/linktest/pingpong_results_bin.sion
make() {
    "$HPCGEN" export --quiet "$@" || bad "fails: $*"
}
npz() { # OUTPUT FROM OPTIONS...
    output=$1
    shift
    make "$@" --output "$output"
    "$HPCGEN" export --quiet "$@" --output - --form npz | cmp - "$output" || bad "$output: other bytes in a pipe"
    said=$("$HPCGEN" export --quiet --json "$@" --output "$output" | sed -n 's/.*"bytes": *\([0-9]*\).*/\1/p')
    [ "$said" = "$(wc -c <"$output")" ] || bad "$output: said $said bytes"
}
for form in states messages; do
    make $log --output $form.csv --form $form
    make $log --output part.$form.csv --form $form --from 0.01 --to 0.1 --first-rank 2 --last-rank 3
done
npz log.npz $log
npz part.npz $log --from 0.01 --to 0.1 --first-rank 2 --last-rank 3
npz links.npz $links
"$HPCGEN" info --json $links >links.json || bad "info failed"
npz some.npz $links --first-rank 2 --last-rank 3
make $links --output links.csv
npz loads.npz set/vom
npz rank.npz "$(echo set/vom/data.1.json*)"
npz ranks.npz set/vom --first-rank 1 --last-rank 1
cmp rank.npz ranks.npz || bad "other bytes of one rank than of its file"
make set/vom --output tasks.csv
make set/vom --output edges.csv --form edges
npz tasks.npz set/sion/particles.sion
npz task.npz $links --task 4
make set/sion/particles.sion --output tasks --form tasks
make $links --output task.000004 --task 4
npz scr.npz set/scr
make set/scr --output scr.csv
refuse 1 "*--task: expected the number of a task*" "$HPCGEN" export set/sion/particles.sion --key 7 --output x.npz
refuse 1 "$log: window of time: expected end > begin, got 2 to 1 s" "$HPCGEN" export $log --from 2 --to 1 --output x.npz
[ ! -e x.npz ] || bad "something is left"

cat >check.py <<'PYTHON'
import ast, csv, json, math, struct, sys, zipfile

try:
    import numpy
except ImportError:
    numpy = None
CODE = {"b1": "?", "u1": "B", "i4": "i", "u4": "I", "u8": "Q", "f8": "d"}

def code(kind, shape=(1,)):
    return f"{4 * int(kind[2:])}s" if kind[1] == "U" else f"{math.prod(shape)}{CODE[kind[1:]]}"

def array(file):
    """Shape, names and values, row after row."""
    data = file.read()
    assert data[:8] == b"\x93NUMPY\1\0", data[:8]
    size = struct.unpack_from("<H", data, 8)[0]
    assert (10 + size) % 64 == 0 and data[9 + size:10 + size] == b"\n"
    heading = ast.literal_eval(data[10:10 + size].decode())
    fields = heading["descr"]
    row = "<" + ("".join(code(*f[1:]) for f in fields) if isinstance(fields, list) else code(fields))
    values = [tuple(v.decode("utf-32-le").rstrip("\0") if isinstance(v, bytes) else v for v in r)
              for r in struct.iter_unpack(row, data[10 + size:])]
    return heading["shape"], [f[0] for f in fields] if isinstance(fields, list) else [], values

def load(name):
    with zipfile.ZipFile(name) as z:
        assert z.testzip() is None
        arrays = {n[:-4]: array(z.open(n)) for n in z.namelist()}
    if numpy is not None:
        with numpy.load(name) as z:
            assert z.files == list(arrays)
            for n, (shape, names, values) in arrays.items():
                got = z[n]
                assert got.shape == shape and list(got.dtype.names or []) == names, (n, got.shape, got.dtype)
                if names:
                    flat = [tuple(x for v in r for x in (v if isinstance(v, (list, numpy.ndarray)) else [v]))
                            for r in got.reshape(-1).tolist()]
                else:
                    flat = [(v,) for v in got.reshape(-1).tolist()]
                assert [repr(r) for r in flat] == [repr(r) for r in values], n
    return arrays

def rows(name):
    return list(csv.DictReader(open(name, encoding="ascii")))

def check_log(name, prefix):
    arrays = load(name)
    assert list(arrays) == ["states", "names", "messages", "events", "event_names"]
    names = [n for n, in arrays["names"][2]]
    got = [(r, t, names[n], b, e, d) for r, t, d, n, b, e in arrays["states"][2]]
    assert got == [(int(s["rank"]), int(s["thread"]), s["name"], float(s["begin"]), float(s["end"]), int(s["depth"]))
                   for s in rows(prefix + "states.csv")] and got
    got = [(f, t, tag, size, sent, received) for f, t, _, tag, size, sent, received in arrays["messages"][2]]
    assert got == [(*(int(m[k]) for k in ("from", "to", "tag", "bytes")), float(m["sent"]), float(m["received"]))
                   for m in rows(prefix + "messages.csv")] and got

def number(text):
    return int(text) if text else 0

check_log("log.npz", "")
check_log("part.npz", "part.")

links, told = load("links.npz"), rows("links.csv")
assert list(links) == ["seconds", "hosts", "cores", "settings"] and links["seconds"][0] == (6, 6)
values = [float(r[str(k)] or "nan") for r in told for k in range(6)]
assert repr([v for v, in links["seconds"][2]]) == repr(values)
assert [h for h, in links["hosts"][2]] == [r["host"] for r in told]
assert [c for c, in links["cores"][2]] == [int(r["core"]) for r in told]
shape, names, values = links["settings"]
assert shape == () and values[0][:5] == (6, 5, 2, 1, 17) and names[:4] == ["tasks", "steps", "version", "git_hash"]
with open("links.json") as f:  # all fields of the header that info shows
    shown = {k for k, v in json.load(f).items() if not isinstance(v, (list, dict))}
assert shown - set(names) == {"file", "format", "kernel", "hosts", "payload_bytes"}, shown - set(names)
some = load("some.npz")
assert some["seconds"][0] == (2, 6) and some["hosts"][2] == links["hosts"][2][2:4]
assert repr(some["seconds"][2]) == repr(links["seconds"][2][12:24])

loads = load("loads.npz")
assert list(loads) == ["tasks", "edges"]
assert loads["tasks"][2] == [(*(int(t[k]) for k in ("rank", "phase", "id", "home")), t["migratable"] == "1",
                              number(t["collection_id"]), number(t["objgroup_id"]), float(t["time_s"]))
                             for t in rows("tasks.csv")]
edges = rows("edges.csv")
assert [(e[0], e[1], e[3], e[4], e[7], e[8]) for e in loads["edges"][2]] == [
    (*(int(e[k]) for k in ("rank", "phase", "from", "to")), float(e["bytes"]), int(e["messages"])) for e in edges]
category = dict(zip((e["category"] for e in edges), (e[2] for e in loads["edges"][2])))
assert [category[e["category"]] for e in edges] == [e[2] for e in loads["edges"][2]] and len(category) > 1
home = {t[2]: t[3] for t in loads["tasks"][2]}
assert all((e[5], e[6]) == (home[e[3]], home[e[4]]) for e in loads["edges"][2] if e[3] in home and e[4] in home)
ranks = load("rank.npz")
assert ranks["tasks"][2] == [t for t in loads["tasks"][2] if t[0] == 1]

tasks = load("tasks.npz")
assert list(tasks) == [f"task.{r:06d}" for r in range(6)]
assert all(bytes(v for v, in tasks[n][2]) == open(f"tasks/{n}", "rb").read() for n in tasks)
task = load("task.npz")
assert list(task) == ["task.000004"] and bytes(v for v, in task["task.000004"][2]) == open("task.000004", "rb").read()

files = load("scr.npz")
assert files["files"][2] == [(f["dataset"], int(f["rank"]), f["file"], int(f["bytes"]), int(f["crc32"], 16), True, True)
                             for f in rows("scr.csv")]
PYTHON
# The system's Python may have NumPy where another one on the path has not.
python3 check.py || bad "other values than in other forms"
! /usr/bin/python3 -c 'import numpy' 2>/dev/null || /usr/bin/python3 check.py || bad "NumPy reads other values"
exit $failed
