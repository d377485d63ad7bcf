#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A task of a SION container, read back by a Python reader that was written from the format page alone.
. "$HERE/refuse.inc"
"$HPCGEN" --ranks 6 --formats sion,linktest --out set --quiet || bad "generate fails"
# Each task of a container with several files, and of a LinkTest result, which is also a container.
for container in set/sion/particles.sion set/linktest/pingpong_results_bin.sion; do
    for task in 0 1 2 3 4 5; do
        "$HPCGEN" export $container --task $task --output task.$task --quiet || bad "$container: task $task fails"
    done
    python3 - $container "$HERE" <<'PYTHON' || bad "$container: other bytes"
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[2])
from read_sion import streams
s = streams(sys.argv[1])
assert len(s) == 6
assert all(len(s[t]) > 1000 or "linktest" in sys.argv[1] for t in s)
assert all(s[t] == open(f"task.{t}", "rb").read() for t in s)
PYTHON
done
"$HPCGEN" export set/sion/particles.sion --task 3 --output - --quiet >piped || bad "export to a pipe fails"
"$HPCGEN" export set/sion/particles.sion --task 3 --output task.csv --form bytes --quiet || bad "--form fails"
cmp piped task.csv || bad "other bytes with the suffix .csv"

# A container of two tasks. Task 0 has four records: key 7 "hello", key 9 "", key 7 "again", which crosses a chunk,
# and key 2^64 - 1 "x". Task 1 has none.
python3 - <<'PYTHON'
import struct
stream = b"".join(struct.pack("<QQ", k, len(v)) + v for k, v in
                  ((7, b"hello"), (9, b""), (7, b"again"), (2**64 - 1, b"x")))
chunk, blocks = (32, 16), -(-len(stream) // 32)
b = b"sion\0\0\0\0" + struct.pack("<iiiiiiiqq", 1007, 6, 5, 16, 2, 1, 0, 51 << 32, 0)
b += b"keys.sion".ljust(1024, b"\0") + struct.pack("<qqqqiq", 0, 1, *chunk, blocks, 1120 + blocks * 48)
for i in range(blocks):
    b += stream[32 * i:32 * i + 32].ljust(48, b"\0")
b += struct.pack("<qq", blocks, 1)
for i in range(blocks):
    b += struct.pack("<qq", len(stream[32 * i:32 * i + 32]), 0)
open("keys.sion", "wb").write(b)
open("keys.task", "wb").write(stream)
PYTHON
value() { # EXPECTED KEY
    "$HPCGEN" export keys.sion --task 0 --key "$2" --output - --quiet >value || bad "key $2 fails"
    [ "$(cat value)" = "$1" ] || bad "key $2: expected $1, got $(cat value)"
}
value helloagain 7
value '' 9
value x 18446744073709551615
"$HPCGEN" export keys.sion --task 0 --key 7 --output key.npz --quiet || bad "values in an array fail"
"$HPCGEN" export keys.sion --output keys.npz --quiet || bad "all tasks in arrays fail"
python3 - <<'PYTHON' || bad "other bytes in arrays"
import zipfile
assert zipfile.ZipFile("key.npz").read("task.000000.npy")[128:] == b"helloagain"
keys = zipfile.ZipFile("keys.npz")
assert [keys.read(n)[128:] for n in keys.namelist()] == [open("keys.task", "rb").read(), b""]
PYTHON
"$HPCGEN" export keys.sion --task 0 --output whole --quiet || bad "the whole stream fails"
cmp whole keys.task || bad "another stream"
"$HPCGEN" export keys.sion --task 1 --output empty --quiet || bad "an empty task fails"
[ -e empty ] && [ ! -s empty ] || bad "expected an empty file"

# The form `tasks` exports all tasks.
for container in set/sion/particles.sion keys.sion set/linktest/pingpong_results_bin.sion; do
    rm -rf all
    "$HPCGEN" export $container --form tasks --output all --json 2>said.err >said.json || bad "$container: tasks fail"
    tasks=0
    for file in all/task.*; do
        "$HPCGEN" export $container --task $((1${file#all/task.} - 1000000)) --output one --quiet || bad "$file fails"
        cmp one "$file" || bad "$container: other bytes in $file"
        tasks=$((tasks + 1))
    done
    case $(cat said.err) in "hpcgen: all: $tasks tasks, "*) ;; *) bad "said: $(cat said.err)" ;; esac
    grep -q "\"bytes\": *$(cat all/* | wc -c)" said.json || bad "said: $(cat said.json)"
    grep -q "\"tasks\": *$tasks" said.json || bad "said: $(cat said.json)"
done
[ "$(ls all)" = "$(printf 'task.%06d\n' 0 1 2 3 4 5)" ] || bad "expected a file of each task, got $(ls all)"
refuse 1 'all: expected no file or directory of this name, got one' "$HPCGEN" export keys.sion --form tasks -O all
refuse 1 '--output: expected a new directory for tasks, got standard output' \
    "$HPCGEN" export keys.sion --form tasks -O -
refuse 1 'keys.sion: expected neither --task nor --key for the form tasks, got one' \
    "$HPCGEN" export keys.sion --form tasks -O x --task 0
head -c 1200 keys.sion >cut.sion
refuse 1 'cut.sion: *' "$HPCGEN" export cut.sion --form tasks -O x

# Its messages.
"$HPCGEN" export keys.sion --task 0 --key 7 --output said --json 2>said.err >said.json || bad "export --json fails"
[ "$(cat said.err)" = "hpcgen: said: 2 values, 10 B" ] || bad "said: $(cat said.err)"
"$JSON_CHECK" said.json && grep -q '"values": *2' said.json || bad "said: $(cat said.json)"
"$HPCGEN" export keys.sion --task 0 --output - 2>said.err >said || bad "export to a pipe fails"
[ "$(cat said.err)" = "hpcgen: standard output: 1 tasks, $(wc -c <keys.task) B" ] || bad "said: $(cat said.err)"

refuse 1 'keys.sion: --task: expected the number of a task for sion, got none' "$HPCGEN" export keys.sion -O x
refuse 1 'keys.sion: expected the task with global rank 2, got none' "$HPCGEN" export keys.sion -O x --task 2
refuse 1 'keys.sion: task 1: expected a record with key 7, got none' \
    "$HPCGEN" export keys.sion -O x --task 1 --key 7
refuse 1 'set/sion/particles.sion: content: expected key-value records, got plain streams' \
    "$HPCGEN" export set/sion/particles.sion -O x --task 1 --key 7
refuse 1 'keys.sion: --form: expected bytes, tasks or npz for sion, got csv' "$HPCGEN" export keys.sion -O x --task 0 --form csv
refuse 1 'keys.sion: --first-rank: expected none for sion, got one' \
    "$HPCGEN" export keys.sion -O x --task 0 --first-rank 1
[ ! -e x ] || bad "something is left"
exit $failed
