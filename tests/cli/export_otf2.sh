#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Event logs as OTF2, read by otf2-print: the events are those of the CSV. Skipped without OTF2 or its tools.
. "$HERE/refuse.inc"
log=set/clog2/app.clog2
"$HPCGEN" --ranks 6 --formats clog2 --workload hydro --set load.phases=4 --out set --quiet || bad "generate fails"
"$HPCGEN" export $log --output run.otf2 2>said || {
    [ "$(cat said)" = "hpcgen: $log: --form otf2: expected a build with OTF2 (libotf2-trace-dev), got one without" ] ||
        bad "said: $(cat said)"
    [ "$failed" -eq 0 ] && exit 77
}
command -v otf2-print >/dev/null || exit 77
[ "$(find run.otf2 | sort | head -n 5 | tr '\n' ' ')" = \
    "run.otf2 run.otf2/traces run.otf2/traces.def run.otf2/traces.marker run.otf2/traces.otf2 " ] ||
    bad "other files: $(find run.otf2)"
events=$("$HPCGEN" export $log --output - --form csv --quiet | sed 1d | wc -l)
case $(cat said) in
"hpcgen: run.otf2: $events events, "*) ;;
*) bad "said: $(cat said)" ;;
esac

cat >compare.py <<'PYTHON'
import csv, re, subprocess, sys

# Compares an archive with a CSV. Usage: compare.py CSV DIR
def lines(*options):
    text = subprocess.run([*options, sys.argv[2] + "/traces.otf2"], check=True, capture_output=True, text=True)
    assert not text.stderr, text.stderr
    return text.stdout.splitlines()

def field(line, name):
    return re.search(rf'\b{name}: ("[^"]*"|[\w]+)', line).group(1).strip('"')

members, group_of, comm_name, owner, counted = {}, {}, {}, {}, {}
clock = None
for line in lines("otf2-print", "-Werror", "-G"):
    word = line.split()
    if line.startswith("CLOCK_PROPERTIES"):
        clock = int(field(line, "Ticks per Seconds")), int(field(line, "Global Offset")), int(field(line, "Length"))
    elif line.startswith("GROUP "):
        members[word[1]] = re.findall(r"(\d+) \(", line.split("Members:")[1])
    elif line.startswith("COMM "):
        group_of[word[1]] = re.search(r'Group: "" <(\d+)>', line).group(1)
        comm_name[word[1]] = field(line, "Name")
    elif line.startswith("LOCATION "):
        owner[word[1]] = re.search(r'Group: "rank (\d+)"', line).group(1), re.search(r'"thread (\d+)"', line).group(1)
        counted[word[1]] = int(re.search(r"# Events: (\d+)", line).group(1))

rows, collectives, events = [], [], dict.fromkeys(counted, 0)
for line in lines("otf2-print", "-Werror"):
    word = line.split()
    if len(word) < 3 or not word[1].isdigit():
        continue
    rank, thread = owner[word[1]]
    events[word[1]] += 1
    at = int(word[2]), rank, thread
    if word[0] in ("ENTER", "LEAVE"):
        rows.append((*at, {"ENTER": "begin", "LEAVE": "end"}[word[0]], field(line, "Region"), "", "", ""))
    elif word[0] in ("MPI_SEND", "MPI_RECV"):
        comm = re.search(r'Communicator: "[^"]*" <(\d+)>', line).group(1)
        peer = field(line, "Receiver" if word[0] == "MPI_SEND" else "Sender")
        peer = members[group_of[comm]][int(peer)]
        rows.append((*at, {"MPI_SEND": "send", "MPI_RECV": "receive"}[word[0]], "message", peer, field(line, "Tag"),
                     field(line, "Length")))
    elif word[0] == "MPI_COLLECTIVE_END":
        collectives.append((*at, field(line, "Operation"), field(line, "Communicator"), field(line, "Sent"),
                            field(line, "Received")))
assert events == counted, (events, counted)
for line in lines("otf2-marker"):
    if line.startswith("MARKER "):
        rank, thread = owner[re.search(r"Scope: LOCATION:(\d+)", line).group(1)]
        rows.append((int(field(line, "Time")), rank, thread, "event", field(line, "Text"), "", "", ""))

want = [(round(float(r[0]) * 1e9), *r[1:]) for r in list(csv.reader(open(sys.argv[1])))[1:]]
assert sorted(rows) == sorted(want), set(rows) ^ set(want)
# On each location (a thread of a rank), events are in the order of the log.
def places(table):
    by = {}
    for r in table:
        if r[3] != "event":
            by.setdefault(r[1:3], []).append(r)
    return by
assert places(rows) == places(want)
assert clock[0] == 10**9 and clock[1] == min(r[0] for r in want)
assert clock[1] + clock[2] == max(r[0] for r in want), clock

# Each collective call ends together with the state of the MPI function.
names = {"MPI_" + n for n in ("Barrier", "Bcast", "Gather", "Reduce", "Allreduce", "Allgather", "Alltoall")}
ends = [(*r[:3], r[4][4:].upper()) for r in want if r[3] == "end" and r[4] in names]
assert sorted(c[:4] for c in collectives) == sorted(ends), (collectives, ends)
for c in collectives:
    print(c[1], *c[3:])
for c in sorted(comm_name):
    print(comm_name[c], *members[group_of[c]])
PYTHON
compare() { # CSV DIR
    python3 compare.py "$1" "$2" >compared || bad "$2: other events than in the log"
}

# Exports the whole log and a part of it.
"$HPCGEN" export $log --output run.csv --quiet || bad "csv fails"
compare run.csv run.otf2
grep -q ' ALLREDUCE MPI_COMM_WORLD ' compared || bad "no collective: $(head compared)"
"$HPCGEN" export $log --output part.csv --quiet --from 0.1 --to 0.4 --first-rank 2 --last-rank 4 || bad "csv fails"
"$HPCGEN" export $log --output part --form otf2 --sync --json --from 0.1 --to 0.4 --first-rank 2 --last-rank 4 \
    >said.json 2>said || bad "a part fails"
compare part.csv part
"$JSON_CHECK" said.json || bad "no JSON: $(cat said.json)"
grep -q "\"events\": *$(sed 1d part.csv | wc -l)" said.json || bad "said: $(cat said.json)"
grep -q "\"bytes\": *$(cat part/traces.* part/traces/* | wc -c)" said.json || bad "said: $(cat said.json)"

# With 260 ranks, the export writes the ranks in more than one group.
"$HPCGEN" --ranks 260 --formats clog2 --set load.phases=2 --out many --quiet || bad "generate fails"
"$HPCGEN" export many/clog2/app.clog2 --output many.csv --quiet || bad "csv fails"
"$HPCGEN" export many/clog2/app.clog2 --output many.otf2 --quiet || bad "many ranks fail"
compare many.csv many.otf2

# comms.clog2: a communicator whose ranks 0 and 1 are ranks 3 and 1 of the world; the cargo of an event has byte
# counts. crossed.clog2: states that do not nest.
cat >make.py <<'PYTHON'
import struct, sys

def text(value, size):
    return value.encode().ljust(size, b"\0")

def record(time, comm, rank, kind, payload, thread=0):
    return struct.pack(">d4i", time, comm, rank, thread, kind) + payload

def state(number, name, form):
    return record(0, 0, 0, 2, struct.pack(">4i", number, 2 * number, 2 * number + 1, 0) + text("red", 24) +
                  text(name, 32) + text(form, 40))

def bare(time, comm, rank, event, thread=0):
    return record(time, comm, rank, 5, struct.pack(">ii", event, 0), thread)

def log(name, events):
    ids = [bytes([i + 1]) * 32 for i in range(6)]
    members = [(0, 0, r, r) for r in range(4)] + [(1, 1 + r, 0, r) for r in range(4)]
    members += [(100, 5, 0, 3), (100, 5, 1, 1)]
    b = b"".join(record(0, 0, w, 9, struct.pack(">4i", e, c, r, w) + ids[c]) for e, c, r, w in members)
    b += state(300, "Work", "") + state(301, "MPI_Allreduce", "sent %d, received %l") + events
    b = (b + record(100000000.0, 0, 0, 0, b"")).ljust(65536, b"\0")
    table = 1024 + len(b)
    preamble = ["CLOG-02.44"]
    for title, value in (("is_big_endian=", "TRUE "), ("is_finalzed=", "TRUE "), ("block_size=", len(b)),
                         ("num_buffered_blocks=", 128), ("max_comm_world_size=", 4), ("max_thread_count=", 2),
                         ("known_eventID_start=", 0), ("user_eventID_start=", 600),
                         ("known_solo_eventID_start=", -10), ("user_solo_eventID_start=", 5000),
                         ("known_stateID_count=", 300), ("user_stateID_count=", 2),
                         ("known_solo_eventID_count=", 0), ("user_solo_eventID_count=", 0),
                         ("commtable_fptr=", table >> 30)):
        preamble += [title, str(value)]
    preamble += ["1073741824", str(table % 2**30)]
    head = "".join(p + "\0" for p in preamble).encode().ljust(1024, b"\0")
    b += struct.pack(">i", 6) + b"".join(ids[i] + struct.pack(">ii", i, 1) for i in range(6))
    open(name, "wb").write(head + b)

def message(time, comm, rank, event, peer, tag, size):
    return record(time, comm, rank, 7, struct.pack(">6i", event, comm, peer, tag, size, 0))

cargo = struct.pack(">iiiq", 603, 0, 40, 80).ljust(40, b"\0")
log("comms.clog2", bare(0.5, 5, 0, 602) + bare(0.75, 0, 2, 600, 1) + message(1.0, 5, 0, -101, 1, 7, 99) +
    record(1.5, 5, 0, 6, cargo) + message(2.0, 5, 1, -102, 0, 7, 99) + bare(2.5, 0, 2, 601, 1))
log("crossed.clog2", bare(0.5, 0, 1, 600) + bare(1.0, 0, 1, 602) + bare(1.5, 0, 1, 601) + bare(2.0, 0, 1, 603))
log("back.clog2", bare(1.5, 0, 1, 600) + bare(1.0, 0, 1, 601))
PYTHON
python3 make.py || bad "no log"
"$HPCGEN" info comms.clog2 >info || bad "no log: $(cat info)"
"$HPCGEN" export comms.clog2 --output comms.csv --quiet || bad "csv fails"
"$HPCGEN" export comms.clog2 --output comms.otf2 --quiet || bad "communicators fail"
compare comms.csv comms.otf2
[ "$(cat compared)" = "3 ALLREDUCE communicator 5 40 80
MPI_COMM_WORLD 0 1 2 3
communicator 5 3 1" ] || bad "communicators: $(cat compared)"
if [ -d "${HPCW_GOLDEN-}/clog2" ]; then
    for real in np2_threads np3_sync np4_cargo_msgs np4_comms; do
        "$HPCGEN" export "$HPCW_GOLDEN/clog2/$real.clog2" --output $real.csv --quiet || bad "$real: csv fails"
        "$HPCGEN" export "$HPCW_GOLDEN/clog2/$real.clog2" --output $real.otf2 --quiet || bad "$real fails"
        compare $real.csv $real.otf2
    done
fi

refuse 1 'export: rank 1 at 1.500000000 s: expected the end of MPI_Allreduce, the innermost state, got that of Work' \
    "$HPCGEN" export crossed.clog2 -O x.otf2
refuse 1 'export: rank 1: expected events in the order of time, got 1.000000000 s after 1.500000000 s' \
    "$HPCGEN" export back.clog2 -O x.otf2
refuse 1 'run.otf2: expected no file or directory of this name, got one' "$HPCGEN" export $log -O run.otf2
refuse 1 'nowhere/x.otf2: cannot create the directory: *' "$HPCGEN" export $log -O nowhere/x.otf2
refuse 1 '--output: expected a new directory for otf2, got standard output' "$HPCGEN" export $log -O - --form otf2
refuse 1 "$log: window of time: expected end > begin, got 2 to 1 s" \
    "$HPCGEN" export $log -O x.otf2 --from 2 --to 1
# OTF2 leaks memory when it cannot close a file.
refuse 1 'x.otf2: OTF2: *' sh -c 'ulimit -f 1; exec "$@"' sh env ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" \
    "$HPCGEN" export many/clog2/app.clog2 -O x.otf2
[ ! -e x.otf2 ] && [ -z "$(find . -name '*.tmp')" ] || bad "something is left: $(find . -name '*.tmp')"
exit $failed
