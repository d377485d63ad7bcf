#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Checkpoints: layouts, maps without data, trees of maps, faults; the same bytes for any number of threads and
# parts.
. "$HERE/refuse.inc"
make() {
    "$HPCGEN" --quiet --formats rank2file "$@" || bad "fails: $*"
}
same() {
    diff -r "$1" "$2" >differences 2>&1 || bad "$1 and $2 differ: $(cat differences)"
    [ "$(find "$1" | wc -l)" -eq "$(find "$2" | wc -l)" ] || bad "other files: $(find "$2")"
}

# ---- layouts and depths: the files exist and verify accepts them
for layout in scr-1.1 scr-1.2 scr-3 shared; do
    for leaf in 2 8192; do
        rm -rf set
        make --ranks 12 --set rank2file.layout=$layout --set rank2file.leaf_ranks=$leaf --set rank2file.sigma=0.5 \
            --set rank2file.checkpoints=3 --out set
        "$HPCGEN" verify --quiet set || bad "not sound: $layout, $leaf"
        "$HPCGEN" info --json set/scr >info || bad "no info: $layout, $leaf"
        "$JSON_CHECK" info || bad "no JSON: $layout"
        grep -q "\"layout\": \"$layout\"" info || bad "another layout than $layout: $(cat info)"
        name=$([ $layout = scr-3 ] && echo ckpt || echo scr.dataset)
        [ "$(ls set/scr/$name.3 | wc -l)" -eq 12 ] || bad "no data in $name.3"
        find set/scr -name '*rank2file*' -o -name '*.scr' -type f >trees
        while read -r tree; do
            "$HPCGEN" verify --quiet "$tree" || bad "not sound: $tree"
            "$HPCGEN" info --json "$tree" >info || bad "no info: $tree"
            "$JSON_CHECK" info || bad "no JSON of $tree"
        done <trees
    done
done

# ---- maps are the same without data files
set -- --ranks 100 --set rank2file.leaf_ranks=7 --set rank2file.sigma=0.3
make "$@" --out whole
make "$@" --out maps --set rank2file.payload=none
"$HPCGEN" verify --quiet maps || bad "maps alone are not sound"
[ "$(find maps -name '*.ckpt' | wc -l)" -eq 0 ] || bad "maps alone with data"
rm -r whole/scr/scr.dataset.?/rank_*
diff -r whole/scr maps/scr >differences 2>&1 || bad "maps alone differ: $(head -5 differences)"
rm -rf whole maps

# ---- the same bytes with many threads, in parts, and after a resume
set -- --ranks 50 --set rank2file.leaf_ranks=4 --set rank2file.content=compressible --set rank2file.missing_files=2 \
    --set rank2file.truncated_files=2
make "$@" --out one --jobs 1
make "$@" --out many --jobs 5
same one many
for part in 3 1 2; do
    make "$@" --out parts --part $part/3
    [ ! -e parts/scr/.scr/index.scr ] || bad "part $part/3 leaves an index"
done
"$HPCGEN" join --quiet parts || bad "join fails"
same one parts
rm parts/scr/.scr/scr.dataset.1/rank2file.0.8 parts/scr/scr.dataset.2/rank_*
make "$@" --out parts --resume
same one parts
make --ranks 90 --set rank2file.layout=scr-3 --set rank2file.checkpoints=4 --out old
make "$@" --out old --force
same one old
"$HPCGEN" --quiet --formats rank2file,sion --ranks 50 --out both
make --ranks 50 --out alone
diff -r both/scr alone/scr >differences || bad "other formats change the checkpoints"
if command -v gzip >/dev/null; then
    dense=$(cat alone/scr/scr.dataset.1/rank_* | gzip | wc -c)
    loose=$(cat one/scr/scr.dataset.1/rank_* | gzip | wc -c)
    [ $((2 * loose)) -lt "$dense" ] || bad "compressible content is $loose bytes, random $dense"
fi
rm -rf one many parts old both alone

# ---- faults: verify finds each, and truth.json lists it
fault() { # SETTING PATTERN TRUTH
    rm -rf bad
    make --ranks 20 --set "rank2file.$1" --out bad
    refuse 1 "$2" "$HPCGEN" verify bad
    grep -q "$3" bad/truth.json || bad "truth.json does not list: $1"
}
fault missing_files=1 'bad/scr/scr.dataset.?/rank_*.ckpt: rank *: cannot open for reading: No such file or directory' \
    '"kind": "missing_file", "checkpoint": [12], "rank": [0-9]*, "file": "scr/scr.dataset.[12]/rank_[0-9]*.ckpt"'
fault truncated_files=3 'bad/scr/scr.dataset.?/rank_*.ckpt: rank *: size: expected * bytes, got *' \
    '"kind": "truncated_file".*"size": [0-9]*, "left": [0-9]*'
fault wrong_crcs=1 'bad/scr/scr.dataset.?/rank_*.ckpt: rank *: CRC-32: expected 0x*, got 0x*' \
    '"kind": "wrong_crc".*"certain": true, "readers": {"SCR 1.1.8": "refuses", "SCR 3.1.0": "accepts"}'
fault missing_ranks=1 'bad/scr/scr.dataset.?/.scr/rank2file.0.0.scr: *expected an entry of rank *, got none' \
    '"kind": "missing_rank"'
fault stale_index=yes 'bad/scr/scr.dataset.3/.scr/summary.scr: cannot open*' '"stale_index": {"kind": "stale_index", "dataset": "scr.dataset.3"'
refuse 2 'rank2file.missing_files + truncated_files + wrong_crcs + missing_ranks: expected at most half of the 40 files and 65536, got 21' \
    "$HPCGEN" --ranks 20 --formats rank2file --out none --set rank2file.missing_ranks=21
for parameter in missing_files truncated_files wrong_crcs; do
    refuse 2 'rank2file.missing_files + truncated_files + wrong_crcs: expected 0 with rank2file.payload = none, got 3' \
        "$HPCGEN" --ranks 20 --formats rank2file --out none --set rank2file.payload=none --set rank2file.missing_ranks=1 \
        --set rank2file.$parameter=3
done
refuse 2 'rank2file.checkpoints: expected at least 1 with format rank2file, got 0: set it, or leave rank2file out of --formats' \
    "$HPCGEN" --ranks 20 --formats rank2file,clog2 --out none --set rank2file.checkpoints=0
[ ! -e none ] || bad "a refused run leaves its directory"
"$HPCGEN" --quiet --ranks 20 --formats clog2 --out without --set rank2file.checkpoints=0 || bad "a log without checkpoints fails"
"$HPCGEN" verify --quiet without || bad "a log without checkpoints is not sound"
"$HPCGEN" export --quiet --form csv --output without.csv without/clog2/app.clog2
grep -q '"MPI_Allreduce"' without.csv || bad "no log: $(head without.csv)"
! grep -q Checkpoint without.csv || bad "a checkpoint: $(grep Checkpoint without.csv)"

# ---- damage
make --ranks 20 --out bad --force
echo more >>bad/scr/scr.dataset.1/.scr/rank2file.scr
refuse 1 'bad/scr/scr.dataset.1/.scr/rank2file.scr: *expected the end of the file, got 5 more bytes' \
    "$HPCGEN" verify bad/scr
exit $failed
