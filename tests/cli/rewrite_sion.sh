#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Rewrites SION containers: the streams stay the same, in every layout and number of files.
. "$HERE/refuse.inc"
"$HPCGEN" --ranks 6 --formats sion,linktest --out set --quiet || bad "generate fails"
old=set/sion/particles.sion
again() {
    "$HPCGEN" rewrite --quiet "$@" || bad "fails: $*"
}
again $old one.sion
again $old packed.sion --as packed
again one.sion three.sion --files 3 --as aligned
again three.sion many.sion --files 6 --as packed
again set/linktest/pingpong_results_bin.sion linktest.sion --as packed --files 2
[ "$(echo ./*.sion*)" = "./linktest.sion ./linktest.sion.000001 ./many.sion ./many.sion.000001 ./many.sion.000002 \
./many.sion.000003 ./many.sion.000004 ./many.sion.000005 ./one.sion ./packed.sion ./three.sion ./three.sion.000001 \
./three.sion.000002" ] || bad "other files: $(echo ./*.sion*)"
for new in one packed three many linktest; do
    "$HPCGEN" verify $new.sion >said 2>&1 || bad "$new: $(cat said)"
done

# Bytes behind the end of the name in file 0 do not belong to the name.
mkdir odd && cp three.sion* odd/
printf '\004' | dd of=odd/three.sion bs=1 seek=1000 conv=notrunc 2>/dev/null
again odd/three.sion odd/copy.sion
"$HPCGEN" verify --quiet odd/copy.sion || bad "no sound copy"

# Two tasks with records in chunks of 32 bytes, and a task without any.
python3 - "$HERE" <<'PYTHON' || bad "other streams"
import struct, sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
from read_sion import streams
old = streams("set/sion/particles.sion")
for new in ("one", "packed", "three", "many"):
    assert streams(new + ".sion") == old, new
assert streams("linktest.sion") == streams("set/linktest/pingpong_results_bin.sion")

def words(name, at, count, kind="q"):
    return struct.unpack_from(f"<{count}{kind}", open(name, "rb").read(), at)

block, tasks = words("packed.sion", 20, 2, "i")
aligned, packed = words("one.sion", 1076 + 48, 6), words("packed.sion", 1076 + 48, 6)
assert tasks == 6 and all(c % block == 0 for c in aligned) and packed[:5] == tuple(len(old[t]) for t in range(5))
assert [words(n + ".sion", 1076 + 96, 1, "i") for n in ("one", "packed")] == [(1,), (1,)]  # blocks

first = b"".join(struct.pack("<QQ", k, len(v)) + v for k, v in ((7, b"hello"), (9, b""), (7, bytes(3 << 20)), (1, b"x")))
second = struct.pack("<QQ", 5, 3) + b"end"
blocks = -(-len(first) // 32)
b = b"sion\0\0\0\0" + struct.pack("<iiiiiiiqq", 1007, 6, 5, 16, 3, 1, 0, 51 << 32, 0)
b += b"keys.sion".ljust(1024, b"\0") + struct.pack("<6qiq", 0, 1, 2, 32, 32, 16, blocks, 1136 + blocks * 80)
parts = [(first[32 * i:32 * i + 32], second[32 * i:32 * i + 32]) for i in range(blocks)]
b += b"".join(f.ljust(32, b"\0") + s.ljust(48, b"\0") for f, s in parts)
b += struct.pack("<3q", blocks, 1, 1)
b += b"".join(struct.pack("<3q", len(f), len(s), 0) for f, s in parts)
open("keys.sion", "wb").write(b)
PYTHON
again keys.sion keys_again.sion --as packed --files 2
python3 - "$HERE" <<'PYTHON' || bad "other records"
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
from read_sion import streams
old = streams("keys.sion")
assert len(old[0]) > 3 << 20 and len(old[1]) == 19 and old[2] == b""
assert streams("keys_again.sion") == old
PYTHON
"$HPCGEN" export keys_again.sion --task 1 --key 5 --output - --quiet >said || bad "no keys are left"
[ "$(cat said)" = end ] || bad "key 5: $(cat said)"

# Containers that other programs wrote, in both byte orders.
for real in be_four_tasks be_keyval le_meta_be_data many_blocks multi8of2 unaligned_fsb1; do
    if [ -d "${HPCW_GOLDEN-}/sion" ]; then
        again "$HPCW_GOLDEN/sion/$real.sion" $real.sion --as packed
        "$HPCGEN" verify $real.sion >said 2>&1 || bad "$real: $(cat said)"
        for task in 0 1; do
            "$HPCGEN" export "$HPCW_GOLDEN/sion/$real.sion" --task $task --output old --quiet || bad "$real: export fails"
            "$HPCGEN" export $real.sion --task $task --output new --quiet || bad "$real: export fails"
            cmp old new || bad "$real: another task $task"
        done
    fi
done

# Its messages.
"$HPCGEN" rewrite $old said.sion --files 2 --sync --json >said.json 2>said || bad "rewrite --json fails"
case $(cat said) in
"hpcgen: said.sion: 2 files, 6 tasks, "*) ;;
*) bad "said: $(cat said)" ;;
esac
"$JSON_CHECK" said.json && grep -q '"tasks": *6' said.json || bad "said: $(cat said.json)"

refuse 1 'x.sion: expected at most one file per task, got 7 files for 6 tasks' "$HPCGEN" rewrite $old x.sion --files 7
refuse 1 "$old: --as: expected aligned or packed for sion, got lbaf" "$HPCGEN" rewrite $old x.sion --as lbaf
refuse 1 "$old: --first-phase: expected none for sion, got one" "$HPCGEN" rewrite $old x.sion --first-phase 1
refuse 1 'nowhere/x.sion*' "$HPCGEN" rewrite $old nowhere/x.sion
head -c 3000 one.sion >short.sion
refuse 1 'short.sion: *' "$HPCGEN" rewrite short.sion x.sion
"$HPCGEN" --ranks 2 --formats clog2,vom --set load.phases=2 --out other --quiet || bad "generate fails"
refuse 1 'other/clog2/app.clog2: rewrite: expected *sion*vom*rank2file*, got clog2; use verify, info, report, export or fit' \
    "$HPCGEN" rewrite other/clog2/app.clog2 x
refuse 1 'other/vom: --files: expected none for vom, got one' "$HPCGEN" rewrite other/vom x --files 2
refuse 1 'other/vom: --as: expected plain, brotli or lbaf for vom, got packed' "$HPCGEN" rewrite other/vom x --as packed
[ ! -e x ] && [ ! -e x.sion ] && [ -z "$(find . -name '*.tmp')" ] || bad "something is left"
exit $failed
