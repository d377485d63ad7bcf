#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Rewrites checkpoints from every layout to every other, with the same files, sizes and CRC-32.
. "$HERE/refuse.inc"
layouts='scr-1.1 scr-1.2 scr-3 shared'
again() {
    "$HPCGEN" rewrite --quiet "$@" || bad "fails: $*"
}
sound() {
    "$HPCGEN" verify --quiet "$1" || bad "not sound: $1"
    "$HPCGEN" scr check "$1" >said 2>&1 || bad "not sound: $1: $(cat said)"
}
map() {
    "$HPCGEN" export "$1" --output "$2" --quiet || bad "$1 fails"
}
list() {
    "$HPCGEN" scr list "$1" >said || bad "fails: scr list $1"
}
# patch FILE OLD NEW: replaces bytes in a file of the format KVTree and corrects its size and CRC-32.
patch() {
    python3 - "$@" <<'PYTHON' || bad "cannot patch $1"
import struct, sys, zlib
path, old, new = sys.argv[1], *(a.encode().decode("unicode_escape").encode("latin-1") for a in sys.argv[2:])
b = open(path, "rb").read()[:-4]
assert old in b, (path, old)
b = b.replace(old, new)
b = b[:8] + struct.pack(">Q", len(b) + 4) + b[16:]
open(path, "wb").write(b + struct.pack(">I", zlib.crc32(b)))
PYTHON
}

# Converted to another layout and back, all files are identical: data, maps, summaries, index.
for old in $layouts; do
    "$HPCGEN" --ranks 5 --formats rank2file --set rank2file.layout=$old --set rank2file.checkpoints=3 --out $old \
        --quiet || bad "generate fails"
    map $old/scr old.csv
    [ "$(wc -l <old.csv)" -eq 16 ] || bad "$old: expected 15 files, got $(cat old.csv)"
    for new in $layouts; do
        rm -rf there back
        again $old/scr there --as $new
        again there/ back --as $old
        list there
        grep -q "^layout: $new\$" said || bad "$old to $new: $(cat said)"
        sound there
        map there new.csv
        cmp old.csv new.csv || bad "$old to $new: another map"
        diff -r -x hpcw.lock $old/scr back >said || bad "$old to $new and back: $(cat said)"
    done
    rm -rf there
    again $old/scr there
    diff -r -x hpcw.lock $old/scr there >said || bad "$old again: $(cat said)"
done

# Checkpoints that SCR wrote. The maps of SCR 3 have neither sizes nor CRC-32. The files of SCR 1.2 are outside the
# dataset's directory.
for tool in scr-1.1.8 scr-1.2.2 scr-3.1.0; do
    golden=${HPCW_GOLDEN-}/rank2file/$tool-4ranks
    [ -d "$golden" ] || continue
    list "$golden"
    sed 's/^layout: .*//' said >old_list
    for new in $layouts; do
        rm -rf there
        again "$golden" there --as $new
        list there
        sed 's/^layout: .*//' said | cmp - old_list || bad "$tool to $new: other datasets"
        sound there
        map "$golden" old.csv
        map there new.csv
        python3 - "$golden" <<'PYTHON' || bad "$tool to $new: another map"
import csv, sys, zlib
old, new = (list(csv.reader(open(name))) for name in ("old.csv", "new.csv"))
assert len(old) == len(new) > 4
for o, n in zip(old[1:], new[1:]):
    inside = o[2] if o[2].startswith(o[0] + "/") else o[0] + "/" + o[2]
    assert n[:3] == o[:2] + [inside], (o, n)
    data = open(sys.argv[1] + "/" + o[2], "rb").read()
    assert data == open("there/" + n[2], "rb").read(), n
    assert n[3:] == [str(len(data)), f"0x{zlib.crc32(data):08x}"], n
PYTHON
    done
done

# A map with a data file outside the directory of its dataset.
cp -r scr-3/scr outside
mv outside/ckpt.2 outside/work_2
patch outside/.scr/scr.dataset.2/rank2file.0.0 'ckpt.2/' 'work_2/'
sound outside
rm -rf there
again outside there --as shared
sound there
diff -r outside/work_2 there/ckpt.2/work_2 || bad "other files outside"

# The current dataset stays, although another one is newer. A restart takes no dataset that failed or is incomplete.
cp -r scr-1.1/scr failed
index=failed/.scr/index.scr
patch $index 'CURRENT\0\0\0\0\1scr.dataset.3' 'CURRENT\0\0\0\0\1scr.dataset.2'
rm -rf there
"$HPCGEN" rewrite failed there --as scr-3 --sync --json >said.json 2>said || bad "rewrite --json fails"
[ "$(cat said)" = "hpcgen: there: 15 files, 3 datasets, $(sed 's/.*, //' said)" ] || bad "said: $(cat said)"
"$JSON_CHECK" said.json && grep -q '"datasets": *3' said.json && ! grep -q left_out said.json ||
    bad "said: $(cat said.json)"
list there
grep -q 'name=scr.dataset.2 .*current=true' said || bad "another current one: $(cat said)"
patch $index 'FLUSHED' 'FAILED'
rm -rf there
refuse 1 'failed: expected a complete dataset that did not fail, got none of 3' "$HPCGEN" rewrite failed there
cp scr-1.1/scr/.scr/index.scr $index
python3 - $index <<'PYTHON' || bad "cannot edit the index"
import struct, sys, zlib
b = bytearray(open(sys.argv[1], "rb").read())
at = b.index(b"COMPLETE\0\0\0\0\x011\0") # of the first one
b[at + 13] = ord("0")
b[-4:] = struct.pack(">I", zlib.crc32(bytes(b[:-4])))
open(sys.argv[1], "wb").write(b)
PYTHON
"$HPCGEN" rewrite failed there --json >said.json 2>said || bad "rewrite --json fails"
case $(cat said) in
'hpcgen: there: 10 files, 2 datasets, '*'; left out, as they failed or are not complete: 1') ;;
*) bad "said: $(cat said)" ;;
esac
grep -q '"left_out": *1' said.json || bad "said: $(cat said.json)"
sound there
list there
[ "$(grep -c name= said)" -eq 2 ] || bad "other datasets: $(cat said)"

# A damaged checkpoint gives one line, and no output is left.
damage() { # LAYOUT FILE PATTERN COMMAND...
    rm -rf damaged
    cp -r "$1/scr" damaged
    file=damaged/$2 pattern=$3
    shift 3
    "$@" "$file"
    refuse 1 "$pattern" "$HPCGEN" rewrite damaged x --as shared
}
flip() {
    printf '\377\376' | dd of="$1" bs=1 seek=40 conv=notrunc 2>/dev/null
}
for layout in $layouts; do
    name=scr.dataset.1 end=.scr metadata=.scr/scr.dataset.1
    [ $layout != scr-3 ] || name=ckpt.1 end=
    [ $layout != scr-1.1 ] && [ $layout != shared ] || metadata=$name/.scr
    data=$name/rank_3.ckpt
    damage $layout $data "*damaged/$data: rank 3: size: expected *, got 100" truncate -s 100
    damage $layout $data "*damaged/$data: rank 3: CRC-32: expected 0x*, got 0x*" flip
    damage $layout $data "*damaged/$data: rank 3: cannot open for reading: No such file or directory" rm
    damage $layout $metadata/rank2file$end "*damaged/$metadata/rank2file$end: *expected at most the 50 bytes*" truncate -s 50
    damage $layout $metadata/rank2file.0.0$end "*damaged/$metadata/rank2file.0.0$end: *CRC-32*" flip
    damage $layout $metadata/summary.scr "*damaged/$metadata/summary.scr: *CRC-32*" flip
    damage $layout .scr/index.scr 'damaged/.scr/index.scr: *CRC-32*' flip
done
if [ -d "${HPCW_GOLDEN-}/rank2file/scr-3.1.0-4ranks" ]; then
    mkdir golden
    cp -r "$HPCW_GOLDEN/rank2file/scr-3.1.0-4ranks" golden/scr
    chmod -R u+w golden
    damage golden ckpt.1/rank_3.ckpt '*summary.scr: expected 4 files of together 6114 bytes, got 4 and 2117' truncate -s 100
fi

refuse 1 'there: expected no file or directory of this name, got one' "$HPCGEN" rewrite scr-3/scr there
refuse 1 'scr-3/scr: --as: expected scr-1.1, scr-1.2, scr-3 or shared for rank2file, got packed' \
    "$HPCGEN" rewrite scr-3/scr x --as packed
refuse 1 'scr-3/scr: --files: expected none for rank2file, got one' "$HPCGEN" rewrite scr-3/scr x --files 2
refuse 1 'scr-3/scr: --first-rank: expected none for rank2file, got one' "$HPCGEN" rewrite scr-3/scr x --first-rank 1
refuse 1 'scr-3/scr/.scr/index.scr: expected a prefix directory, got a file' \
    "$HPCGEN" rewrite scr-3/scr/.scr/index.scr x
[ ! -e x ] && [ -z "$(find . -name '*.tmp')" ] || bad "something is left: $(find . -name '*.tmp')"
exit $failed
