#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# scr: datasets of every version of SCR are listed, checked, dropped, pruned, and found again without their index.
. "$HERE/refuse.inc"
make() {
    "$HPCGEN" --quiet --formats rank2file --ranks 4 --set rank2file.checkpoints=4 "$@" --out set || bad "fails: $*"
}
scr() {
    "$HPCGEN" scr "$@" >said || bad "fails: scr $*"
}
limited() { # with 600 MiB and 10 s of a processor; the shadow of a sanitizer takes terabytes of addresses
    if [ -n "${SANITIZED-}" ]; then prlimit --cpu=10 "$@"; else prlimit --cpu=10 --as=629145600 "$@"; fi
}
said() { # PATTERN TIMES
    [ "$(grep -c "$1" said)" -eq "$2" ] || bad "expected $2 lines of '$1', got: $(cat said)"
}

refuse 2 'scr: expected list, check, prune, drop, reindex or current, got look' "$HPCGEN" scr look x
refuse 2 'scr: expected ACTION DIR*' "$HPCGEN" scr list
refuse 2 'scr drop: expected DIR and DATASET, got 1 of them' "$HPCGEN" scr drop x
refuse 2 'scr list: expected only DIR, got 2 of them' "$HPCGEN" scr list x y
refuse 2 'scr list: expected --keep with prune only, got --keep 2' "$HPCGEN" scr list x --keep 2
refuse 1 'none/.scr/index.scr: cannot open for reading: No such file or directory' "$HPCGEN" scr list none
refuse 1 'none*: No such file or directory' "$HPCGEN" scr reindex none

refuse 2 'scr list: expected no --all-files, which only prune and drop take, got it' "$HPCGEN" scr list x --all-files

for layout in scr-1.1 scr-1.2 scr-3 shared; do
    rm -rf set
    make --set rank2file.layout=$layout
    name=scr.dataset
    [ $layout != scr-3 ] || name=ckpt
    scr list set/scr
    said "layout: $layout" 1
    said 'name=.* state=complete' 4
    said "name=$name.4 id=4 .*current=true" 1
    scr list --json set/scr
    "$JSON_CHECK" said || bad "no JSON: $layout"
    scr check set/scr
    said 'sound=true' 4
    "$HPCGEN" info --all set/scr >said || bad "fails: info, $layout"
    said "name=$name.4 .*bytes=$(cat set/scr/$name.4/*.ckpt | wc -c)" 1

    # A file of the newest dataset is truncated. prune then keeps two intact datasets.
    truncate -s 10 set/scr/$name.4/rank_2.ckpt
    "$HPCGEN" scr check set/scr >said 2>why && bad "a truncated file passes: $layout"
    said 'sound=false' 1
    grep -q 'hpcgen: set/scr: expected 4 sound datasets, got 1 damaged' why || bad "why: $(cat why)"
    cp set/scr/.scr/index.scr index
    scr prune set/scr --keep 2 --json
    "$JSON_CHECK" said || bad "no JSON: $layout"
    scr list set/scr
    said 'name=' 3
    [ ! -e set/scr/$name.1 ] && [ ! -e set/scr/.scr/scr.dataset.1 ] || bad "something of dataset 1 is left: $layout"

    # drop removes the damaged dataset, and the next one becomes current. A file that does not belong to the dataset
    # stays.
    echo mine >set/scr/$name.4/notes
    "$HPCGEN" scr drop set/scr $name.4 --json >said 2>why || bad "fails: drop, $layout"
    "$JSON_CHECK" said || bad "no JSON: $layout"
    said '"left": *1' 1
    grep -q 'hpcgen: set/scr: 1 file not of this dataset left' why || bad "why: $(cat why)"
    [ -e set/scr/$name.4/notes ] || bad "a file of nobody is gone: $layout"
    rm -r set/scr/$name.4
    scr list set/scr
    said "name=$name.3 .*current=true" 1
    refuse 1 "set/scr/.scr/index.scr: dataset: expected one of the index, got $name.4" \
        "$HPCGEN" scr drop set/scr $name.4
    [ ! -e set/scr/$name.4 ] || bad "something of dataset 4 is left: $layout"

    # The index is lost, outdated or damaged, and is rebuilt from the summaries.
    for index in gone old damaged; do
        case $index in
        gone) rm set/scr/.scr/index.scr ;;
        old) cp index set/scr/.scr/index.scr ;;
        damaged) truncate -s 60 set/scr/.scr/index.scr ;;
        esac
        scr reindex set/scr
        said 'skipped: 0' 1
        [ $index != old ] || said 'removed: 2' 1
        "$HPCGEN" verify --quiet set/scr || bad "not sound after reindex, $index, $layout"
        scr list set/scr
        said 'name=' 2
        said "name=$name.3 .*current=true" 1
    done
done

# ---- scr removes nothing outside the prefix directory, and without --all-files nothing that no map lists
for layout in scr-1.1 scr-3; do
    rm -rf set outside
    make --set rank2file.layout=$layout
    name=scr.dataset
    [ $layout != scr-3 ] || name=ckpt
    mkdir outside
    mv set/scr/$name.1 outside/data
    ln -s ../../outside/data set/scr/$name.1
    find outside | sort >before
    scr check set/scr
    said 'sound=true' 4
    refuse 1 "set/scr/$name.1: expected no symbolic link, got one*" "$HPCGEN" scr drop set/scr $name.1
    "$HPCGEN" scr prune set/scr --keep 1 >said 2>why && bad "prune takes no notice of a link: $layout"
    said 'removed: 2' 1
    said 'skipped: 1' 1
    grep -q "set/scr/$name.1: expected no symbolic link" why || bad "why: $(cat why)"
    find outside | sort | cmp - before || bad "something outside is gone: $layout"
    scr list set/scr
    said 'name=' 2
    # The map of dataset 4 is lost.
    rm "$(find outside set -path "*$([ $layout = scr-3 ] && echo dataset.4 || echo $name.4)*" -name 'rank2file*' |
        grep -v '\.0\.')"
    files=$(find set/scr/$name.4 -name '*.ckpt' | wc -l)
    refuse 1 "set/scr/$name.4: its map cannot be read*--all-files*" "$HPCGEN" scr drop set/scr $name.4
    [ "$(find set/scr/$name.4 -name '*.ckpt' | wc -l)" -eq "$files" ] || bad "files are gone: $layout"
    "$HPCGEN" scr drop set/scr $name.4 --all-files >said 2>why || bad "fails: --all-files, $layout"
    [ "$(grep -c "hpcgen: removes set/scr/$name.4/.*ckpt" why)" -eq "$files" ] || bad "not told: $(cat why)"
    [ ! -e set/scr/$name.4 ] || bad "something is left: $layout"
done

# A directory inside a dataset on which a file system is mounted is never removed, even if it is the same file
# system.
if unshare -rm true 2>/dev/null; then
    rm -rf set victim
    make --set rank2file.layout=scr-3
    mkdir -p victim/sub set/scr/ckpt.4/mnt
    touch victim/sub/file
    rm set/scr/.scr/scr.dataset.4/rank2file
    for mnt in set/scr/ckpt.4/mnt set/scr/ckpt.4; do
        unshare -rm sh -c "mount --bind victim $mnt && exec timeout 60 '$HPCGEN' scr drop set/scr ckpt.4 --all-files" \
            >said 2>why && bad "drop takes no notice of a mount: $mnt"
        grep -q "hpcgen: $mnt: expected a directory of the dataset, got one where a file system is mounted" why ||
            bad "why: $(cat why)"
        [ -e victim/sub/file ] || bad "a file of another file system is gone: $mnt"
        [ -e set/scr/ckpt.4/rank_0.ckpt ] || bad "a part of the dataset is gone: $mnt"
    done
    "$HPCGEN" scr drop set/scr ckpt.4 --all-files >said 2>why || bad "fails: drop after umount"
fi

# prune does not wait for a FIFO in place of a marker (hpcw.ID.unfinished).
mkfifo set/scr/.scr/hpcw.9.unfinished
timeout 20 "$HPCGEN" scr prune set/scr >said 2>why
[ $? -eq 1 ] || bad "prune with a FIFO: $(cat said why)"
grep -q 'hpcw.9.unfinished: expected a file of this user, got another' why || bad "why: $(cat why)"

# ---- prune keeps only what check finds sound: not files of the right size with other bytes
for layout in scr-1.1 scr-1.2 shared; do
    rm -rf set
    make --set rank2file.layout=$layout
    newest=set/scr/scr.dataset.4/rank_2.ckpt
    head -c "$(wc -c <$newest)" /dev/zero >zeros
    cp zeros $newest
    "$HPCGEN" scr check set/scr >said 2>/dev/null && bad "zeros pass: $layout"
    said 'sound=false' 1
    scr prune set/scr --keep 1
    said 'removed: 2' 1
    "$HPCGEN" scr check set/scr >said 2>/dev/null
    said 'sound=true' 1
    said 'name=scr.dataset.3 .*sound=true' 1
done

# ---- CURRENT names a dataset from which no restart should begin; scr current chooses another dataset
index() { # OLD NEW: replaces a text in the index as another program may write it
    python3 - "$1" "$2" <<'EOF'
import sys, zlib
old, new = (text.encode().decode("unicode_escape").encode() for text in sys.argv[1:])
with open("set/scr/.scr/index.scr", "r+b") as f:
    text = f.read()[:-4].replace(old, new)
    text = text[:8] + (len(text) + 4).to_bytes(8, "big") + text[16:]
    f.seek(0)
    f.write(text + zlib.crc32(text).to_bytes(4, "big"))
    f.truncate()
EOF
}
unsound() { # DATASETS DAMAGED CURRENT
    "$HPCGEN" scr check set/scr --json >said 2>why
    [ $? -eq 1 ] || bad "a CURRENT passes: $3"
    "$JSON_CHECK" said || bad "no JSON: $3"
    grep -q "set/scr: expected $1 sound datasets, got $2 damaged; CURRENT names $3: to choose another: hpcgen scr current" why ||
        bad "why: $(cat why)"
}
refuse 2 'scr current: expected DIR and DATASET, got 1 of them' "$HPCGEN" scr current x
for layout in scr-1.1 scr-1.2 scr-3 shared; do
    rm -rf set
    make --set rank2file.layout=$layout
    name=scr.dataset
    [ $layout != scr-3 ] || name=ckpt
    scr check set/scr
    said "^current: $name.4" 1
    said 'current_fault' 0
    scr current set/scr $name.2
    said "^current: $name.2" 1
    scr list set/scr
    said "name=$name.2 .*current=true" 1
    scr check set/scr --json
    "$JSON_CHECK" said || bad "no JSON: $layout"
    said "^ *\"current\": \"$name.2\"" 1
    truncate -s 10 set/scr/$name.3/rank_2.ckpt
    cp set/scr/.scr/index.scr before
    refuse 1 "set/scr/$name.3/*" "$HPCGEN" scr current set/scr $name.3
    refuse 1 "*$name.7*" "$HPCGEN" scr current set/scr $name.7
    cmp before set/scr/.scr/index.scr || bad "a refused choice changes the index: $layout"
    truncate -s 10 set/scr/$name.2/rank_2.ckpt
    unsound 4 2 "$name.2, which is damaged"
    scr drop set/scr $name.2
    scr drop set/scr $name.3
    command -v python3 >/dev/null || continue
    index 'CURRENT\0\0\0\0\1'$name.4 'CURRENT\0\0\0\0\1'$name.9
    unsound 2 0 "$name.9, which is missing in the index"
    said '"current_fault": "missing in the index"' 1
    scr current set/scr $name.1
    index FLUSHED FAILED
    unsound 2 0 "$name.1, which is marked as failed"
    scr current set/scr $name.1
    scr check set/scr
    said 'state=failed' 1
done

# ---- a FIFO, device or directory in place of a data file is damage: check and prune go on with the other datasets
for layout in scr-1.1 scr-3; do
    for other in fifo device directory; do
        rm -rf set
        make --set rank2file.layout=$layout
        newest=$(echo set/scr/*.4)
        file=$newest/rank_2.ckpt
        rm "$file"
        case $other in
        fifo) mkfifo "$file" ;;
        device) ln -s /dev/zero "$file" ;;
        directory) mkdir "$file" ;;
        esac
        timeout 20 "$HPCGEN" scr check set/scr >said 2>why
        [ $? -eq 1 ] || bad "check of a $other: $(cat said why)"
        said 'sound=true' 3
        said "rank_2.ckpt: rank 2: expected a regular file, got a" 1
        timeout 20 "$HPCGEN" scr prune set/scr --keep 1 >said 2>why || bad "prune with a $other: $(cat why)"
        said 'removed: 2' 1
        "$HPCGEN" scr drop set/scr "${newest##*/}" >said 2>why || bad "drop with a $other: $(cat why)"
    done
done

# ---- damage to the second summary of a dataset in the shared layout
rm -rf set
make --set rank2file.layout=shared --ranks 5
cp set/scr/.scr/scr.dataset.2/summary.scr other
rm -rf set
make --set rank2file.layout=shared
second=set/scr/.scr/scr.dataset.2/summary.scr
cp $second kept
rm $second
refuse 1 "$second: cannot open for reading: No such file or directory" "$HPCGEN" verify set/scr
"$HPCGEN" scr check set/scr >said 2>why && bad "check: a lost summary of SCR 3 passes"
said 'sound=false' 1
: >$second
refuse 1 "$second: *expected at least 24 bytes, got 0" "$HPCGEN" verify set/scr
cp kept $second
printf 'x' | dd of=$second bs=1 seek=40 conv=notrunc 2>/dev/null
refuse 1 "$second: *CRC-32*" "$HPCGEN" verify set/scr
cp set/scr/.scr/scr.dataset.3/summary.scr $second
refuse 1 "$second: DSET: expected dataset scr.dataset.2 with id 2, got scr.dataset.3 with 3" "$HPCGEN" verify set/scr
cp other $second
refuse 1 "$second: expected the content of the dataset's other summary, got another" "$HPCGEN" verify set/scr
cp kept $second
"$HPCGEN" verify --quiet set/scr || bad "not sound"

# ---- a map of 137 bytes that claims 2147483647 ranks: refused before anything is allocated for them
mkdir bomb
printf '\225\037\303\365\000\001\000\001\000\000\000\000\000\000\000\211\000\000\000\001\000\000\000\003LEVEL\000\000\000\000\0011\000\000\000\000\000RANKS\000\000\000\000\0012147483647\000\000\000\000\000RANK\000\000\000\000\0010\000\000\000\000\002OFFSET\000\000\000\000\0010\000\000\000\000\000FILE\000\000\000\000\001.scr/rank2file.0.0.scr\000\000\000\000\000uK\335\355' >bomb/rank2file.scr
for what in info verify 'export --output bomb.csv'; do
    # shellcheck disable=SC2086 # words of a command
    limited "$HPCGEN" $what bomb/rank2file.scr >said 2>why && bad "takes 2147483647 ranks: $what"
    grep -q 'rank2file.0.0.scr: cannot open for reading: No such file' why || bad "$what, why: $(cat why)"
done
head -c 100 /dev/zero >bomb/rank2file.0.0.scr
limited "$HPCGEN" verify bomb/rank2file.scr >said 2>why && bad 'takes 2147483647 ranks'
grep -q 'rank2file.0.0.scr: expected at least 12884901882 bytes at offset 0 for the ranks 0 to 2147483646, got a file of 100' \
    why || bad "why: $(cat why)"

# ---- a file that cannot be read is not reported as damaged
nobody=
[ "$(id -u)" -ne 0 ] || nobody='setpriv --reuid 65534 --regid 65534 --clear-groups'
"$HPCGEN" --quiet --ranks 4 --scale tiny --formats rank2file --out unread || bad "generate fails"
chmod -R a+rX . unread
chmod 000 "$(find unread/scr -name 'rank_0.ckpt' | head -n 1)"
# shellcheck disable=SC2086 # words of a command, where the other user reaches it
if $nobody "$HPCGEN" --version >/dev/null 2>&1 && $nobody test -r unread/scr/.scr/index.scr; then
    $nobody "$HPCGEN" scr check unread/scr >said 2>why && bad "a file that cannot be read passes"
    grep -q 'got 0 damaged and 1 that could not be read$' why || bad "why: $(cat why)"
    ! grep -q 'sound=false' said || bad "a verdict on what cannot be read: $(cat said)"
    grep -q 'why=.*Permission denied' said || bad "no reason: $(cat said)"
fi

# ---- an index with other totals than the summaries: check reports this; a restart does not need the totals
for layout in scr-1.1 scr-1.2 scr-3 shared; do
    rm -rf set
    make --set rank2file.layout=$layout --seed 5
    cp set/scr/.scr/index.scr other
    rm -rf set
    make --set rank2file.layout=$layout
    cp other set/scr/.scr/index.scr
    "$HPCGEN" scr check set/scr >said 2>why && bad "the index of another run passes: $layout"
    said 'sound=false why=.*index.scr: dataset .*: expected [0-9]* as in its summary, got [0-9]*: remove the index' 4
    refuse 1 'set/scr/.scr/index.scr: dataset *: expected * as in its summary, got *' "$HPCGEN" verify set/scr
    scr prune set/scr --keep 3
    said 'removed: 1' 1
    rm set/scr/.scr/index.scr
    scr reindex set/scr
    scr check set/scr
    said 'sound=true' 3
done

# ---- many datasets: the index is read once, not once for each of them, which took more than a second
rm -rf set
"$HPCGEN" --quiet --formats rank2file --ranks 1 --set load.phases=1000 --set rank2file.checkpoints=1000 \
    --set rank2file.mean_size=100 --out set || bad 'fails: many datasets'
for what in 'scr check' verify 'info --all' 'scr prune --keep 1000'; do
    # shellcheck disable=SC2086 # words of a command
    prlimit --cpu="$([ -n "${SANITIZED-}" ] && echo 60 || echo 1)" "$HPCGEN" $what set/scr >said 2>why ||
        bad "many datasets take long: $what: $(cat why)"
done

# ---- checkpoints that SCR wrote
for tool in scr-1.1.8 scr-1.2.2 scr-3.1.0; do
    golden=${HPCW_GOLDEN-}/rank2file/$tool-4ranks
    [ -d "$golden" ] || continue
    rm -rf real
    cp -r "$golden" real
    chmod -R u+w real
    scr check real
    said 'sound=true' 1
    rm real/.scr/index.scr
    scr reindex real
    scr check real
    said 'sound=true' 1
    "$HPCGEN" verify --quiet real || bad "not sound: $tool"
    truncate -s 100 "$(find real -name rank_3.ckpt)"
    "$HPCGEN" verify --quiet real 2>why && bad "a truncated file passes: $tool"
    grep -q 'expected 4097 bytes, got 100\|summary.scr: expected 4 files of together 6114 bytes, got 4 and 2117' why ||
        bad "why: $(cat why)"
    "$HPCGEN" scr check real >said 2>why && bad "a truncated file passes: $tool"
    scr drop real "$(sed -n 's/.*name=\([^ ]*\) .*/\1/p' said)"
    [ -z "$(find real -name '*.ckpt' -o -name 'rank2file*' -o -name summary.scr)" ] || bad "left: $(find real)"
done
exit $failed
