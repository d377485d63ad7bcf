#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The maps of checkpoints as CSV, read by Python: they name the existing files, with size and CRC-32.
. "$HERE/refuse.inc"
for layout in scr-1.1 scr-1.2 scr-3 shared; do
    "$HPCGEN" --ranks 5 --formats rank2file --set rank2file.layout=$layout --out $layout --quiet || bad "generate fails"
    "$HPCGEN" export $layout/scr --output $layout.csv --quiet || bad "$layout fails"
done
"$HPCGEN" export ./scr-3/scr/ --output slashes.csv --quiet || bad "a path with slashes fails"
cmp slashes.csv scr-3.csv || bad "other lines for a path with slashes"
"$HPCGEN" export shared/scr --output some.csv --quiet --first-rank 1 --last-rank 2 || bad "two ranks fail"
root=scr-1.1/scr/scr.dataset.2/.scr/rank2file.scr
"$HPCGEN" export $root --output root.csv --quiet || bad "a root fails"
"$HPCGEN" export shared/scr --output - --quiet | cmp - shared.csv || bad "other bytes in a pipe"
python3 - <<'PYTHON' || bad "other files than there are"
import csv, glob, os, zlib
for layout in ("scr-1.1", "scr-1.2", "scr-3", "shared"):
    rows = list(csv.reader(open(layout + ".csv")))
    assert rows[0] == ["dataset", "rank", "file", "bytes", "crc32"], rows[0]
    # At least two checkpoints of five ranks, the newest first.
    names = [r[0] for r in rows[1:]]
    assert len(set(names)) >= 2 and names == sorted(names, reverse=True), names
    assert [int(r[1]) for r in rows[1:]] == list(range(5)) * len(set(names))
    there = glob.glob(f"{layout}/scr/*/*.ckpt")
    assert sorted(f"{layout}/scr/" + r[2] for r in rows[1:]) == sorted(there), (layout, there)
    for r in rows[1:]:
        data = open(f"{layout}/scr/{r[2]}", "rb").read()
        assert int(r[3]) == len(data) and r[4] == f"0x{zlib.crc32(data):08x}", r
shared = list(csv.reader(open("shared.csv")))
assert list(csv.reader(open("some.csv"))) == shared[:1] + [r for r in shared[1:] if r[1] in "12"]
whole = [r for r in csv.reader(open("scr-1.1.csv")) if r[0] == "scr.dataset.2"]
assert list(csv.reader(open("root.csv")))[1:] == [["", r[1], os.path.basename(r[2])] + r[3:] for r in whole]
PYTHON

# The map that SCR 3 writes itself has neither sizes nor CRCs.
golden=${HPCW_GOLDEN-}/rank2file/scr-3.1.0-4ranks
if [ -d "$golden" ]; then
    "$HPCGEN" export "$golden" --output golden.csv --quiet || bad "the files of SCR 3 fail"
    [ "$(sed -n 2p golden.csv)" = '"ckpt.1",0,"ckpt.1/rank_0.ckpt",,' ] || bad "of SCR 3: $(sed -n 2p golden.csv)"
fi

"$HPCGEN" export scr-3/scr --output said.csv 2>said || bad "export fails"
[ "$(cat said)" = "hpcgen: said.csv: $(sed 1d scr-3.csv | wc -l) files, $(wc -c <scr-3.csv) B" ] ||
    bad "said: $(cat said)"
refuse 1 'scr-3/scr: window of ranks: expected last >= first, got 3 to 2' "$HPCGEN" export scr-3/scr -O x --first-rank 3 --last-rank 2
refuse 1 'scr-3/scr: --task: expected none for rank2file, got one' "$HPCGEN" export scr-3/scr -O x --task 3
refuse 1 "${root%.scr}.0.0.scr: expected a prefix directory or the root of a map, *" \
    "$HPCGEN" export "${root%.scr}.0.0.scr" -O x
head -c 100 $root >short && cp short $root
refuse 1 "$root: *expected at most the 100 bytes*" "$HPCGEN" export scr-1.1/scr -O x
[ ! -e x ] || bad "something is left"
exit $failed
