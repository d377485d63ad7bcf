#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# repair makes damaged and lost files again, checks the result, and changes no other files.
. "$HERE/refuse.inc"
link=linktest/pingpong_results_bin.sion
put() { # FILE OFFSET BYTES
    # shellcheck disable=SC2059
    printf "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}
fresh() { # FROM
    rm -rf set
    cp -rp "$1" set
}
# Properties that change when a file is written or replaced.
state() { (cd set && find . -type f -exec stat -c '%n %i %s %Y %Z' {} + | sort); }
same() { # FROM
    diff -r "$1" set >differences 2>&1 || bad "$1 and set differ: $(cat differences)"
    [ "$(find "$1" | wc -l)" -eq "$(find set | wc -l)" ] || bad "other files: $(find set)"
}
# repaired FROM FILE... -- ARGUMENTS...: exactly these files are written again.
repaired() {
    from=$1
    shift
    : >expected
    while [ "$1" != -- ]; do
        echo "hpcgen: repaired $1" >>expected
        shift
    done
    shift
    state >before
    "$HPCGEN" repair set "$@" 2>lines || bad "repair fails: $(cat lines)"
    state >after
    sed '$d' lines | sort >got
    sort expected | diff - got || bad "other files are repaired"
    # Every file that is new or changed was reported.
    diff before after | sed -n 's/^> \.\/\([^ ]*\) .*/hpcgen: repaired \1/p' | sort | diff - got ||
        bad "files are written that are not named, or the other way round"
    same "$from"
}
refused() { # PATTERN ARGUMENTS...: and nothing changes
    pattern=$1
    shift
    state >before
    refuse 1 "$pattern" "$HPCGEN" repair set "$@"
    state >after
    diff before after || bad "a refused repair changes something: $pattern"
}
options='--ranks 16 --scale tiny --files 3 --set sion.files=3 --set rank2file.checkpoints=2'
# shellcheck disable=SC2086
"$HPCGEN" $options --quiet --out whole || exit
# shellcheck disable=SC2086
"$HPCGEN" $options --quiet --no-checksums --out bare || exit

# ---- nothing to do
for dir in whole bare; do
    fresh $dir
    repaired $dir --
done

# ---- an invalid digest in the manifest: other digests, or the checksum list, show that the dataset has digests
for list in kept lost; do
    fresh whole
    sed -i '0,/"xxh128": *"./s//"xxh128":"g/' set/manifest.json
    if [ $list = lost ]; then
        rm set/CHECKSUMS.xxh128
        repaired whole CHECKSUMS.xxh128 manifest.json --
    else
        repaired whole manifest.json --
    fi
done

# ---- files of each format in turn: damaged, truncated, lost, replaced by a link
data=$(cd whole && find scr -name 'rank_3.ckpt' | sort | head -n 1)
map=$(cd whole && find scr -name 'rank2file*' | sort | head -n 1)
for file in $link $link.000002 sion/particles.sion sion/particles.sion.000001 vom/data.0.json.br vom/data.9.json.br \
    clog2/app.clog2 scr/.scr/index.scr "$data" "$map" truth.json; do
    fresh whole
    put set/"$file" $(($(stat -c %s set/"$file") / 2)) '\001\377\001'
    repaired whole "$file" --
    fresh whole
    rm set/"$file"
    repaired whole "$file" --
done
# Without checksums, repair compares files with what the parameters give.
for file in $link sion/particles.sion.000001 vom/data.9.json.br "$data" truth.json; do
    fresh bare
    put set/"$file" $(($(stat -c %s set/"$file") / 2)) '\001\377\001'
    repaired bare "$file" --
done
fresh whole
truncate -s -1 set/$link.000002
repaired whole $link.000002 --
fresh whole
rm set/truth.json
ln -s /dev/null set/truth.json
repaired whole truth.json --

# ---- many damaged and lost files at once
fresh whole
rm -r set/vom set/scr set/$link set/sion/particles.sion.000002
put set/clog2/app.clog2 5000 '\377'
state >before
"$HPCGEN" repair --quiet set || bad "repair of much fails"
same whole
fresh whole
rm set/vom/data.2.json.br set/vom/data.3.json.br set/vom/data.7.json.br
repaired whole vom/data.2.json.br vom/data.3.json.br vom/data.7.json.br --
fresh whole
rm set/vom/data.2.json.br
"$HPCGEN" repair --json --quiet set >json || bad "repair --json fails"
"$JSON_CHECK" json || bad "no JSON: $(cat json)"
grep -q '"files_repaired": 1' json && grep -q '"vom/data.2.json.br"' json || bad "JSON: $(cat json)"

# ---- the lists
fresh whole
rm set/CHECKSUMS.xxh128
repaired whole CHECKSUMS.xxh128 --
fresh whole
sed 's/^[0-9a-f]/x/' set/CHECKSUMS.xxh128 >changed && mv changed set/CHECKSUMS.xxh128
repaired whole CHECKSUMS.xxh128 --
fresh whole
sed '/vom.data.3.json/s/"xxh128": "./"xxh128": "x/;/vom.data.4.json/s/"size": ./"size": 9/' set/manifest.json >changed
mv changed set/manifest.json
repaired whole manifest.json --
fresh whole
awk '/vom.data.3.json/ { $1 = "00000000000000000000000000000000 " } { print }' set/CHECKSUMS.xxh128 >changed
mv changed set/CHECKSUMS.xxh128
rm set/vom/data.3.json.br
repaired whole vom/data.3.json.br CHECKSUMS.xxh128 --

# ---- a manifest that is no JSON: the options make it again, and the reason is told
fresh whole
echo '{' >set/manifest.json
# shellcheck disable=SC2086
"$HPCGEN" repair set $options 2>lines || bad "repair fails: $(cat lines)"
grep -q '^hpcgen: set/manifest.json: ' lines || bad "no reason: $(cat lines)"
grep -qx 'hpcgen: repaired manifest.json' lines || bad "it is not said to be repaired: $(cat lines)"
same whole

# ---- a lost manifest
fresh whole
rm set/manifest.json
refused 'set/manifest.json: *: repair it with the options that made the dataset, as in: hpcgen repair set --ranks N'
# shellcheck disable=SC2086
repaired whole manifest.json -- $options
fresh whole
rm set/manifest.json set/$link.000001 set/truth.json
# shellcheck disable=SC2086
repaired whole manifest.json $link.000001 truth.json -- $options
# The checksum list has the digest of a file that is damaged but valid.
fresh whole
rm set/manifest.json
put set/sion/particles.sion.000001 $(($(stat -c %s set/sion/particles.sion.000001) / 2)) '\377'
# shellcheck disable=SC2086
repaired whole manifest.json sion/particles.sion.000001 -- $options
fresh whole
rm set/manifest.json set/CHECKSUMS.xxh128
# shellcheck disable=SC2086
repaired whole manifest.json CHECKSUMS.xxh128 -- $options
fresh whole
rm set/manifest.json
: >set/CHECKSUMS.xxh128
# shellcheck disable=SC2086
repaired whole manifest.json CHECKSUMS.xxh128 -- $options
fresh bare
rm set/manifest.json
# shellcheck disable=SC2086
repaired bare manifest.json -- $options --no-checksums
# Without manifest and checksum list, only the files can prove the options right, and one is lost.
fresh whole
rm set/manifest.json set/CHECKSUMS.xxh128 set/vom/data.3.json.br
# shellcheck disable=SC2086
refused 'set/vom/data.3.json.br: expected what these parameters give, got something else, and neither *' $options
fresh whole
rm set/manifest.json
# shellcheck disable=SC2086
refused 'set/*: made again: expected the size and digest that are listed for it, got others: *' $options --seed 3 \
    --quiet
fresh bare
rm set/manifest.json
# shellcheck disable=SC2086
refused 'set/*: expected what these parameters give, got something else, and neither *' $options --seed 3

# ---- sparse files of 8 TB: repair must decide by sizes, since reading them would take hours
huge() { # FILE... : repaired with a minute of the processor
    fresh whole
    for file; do
        truncate -s 8T set/"$file" 2>/dev/null || return # not on this file system
    done
    # shellcheck disable=SC2086
    prlimit --cpu=60 "$HPCGEN" repair --quiet set $options || bad "repair of huge $*: status $?"
    same whole
}
huge "$data" truth.json CHECKSUMS.xxh128 sion/particles.sion.000001
huge manifest.json

# ---- a private dataset stays private, and so do the files of another user and group that root repairs
rights() { (cd set && find . -type f -exec stat -c '%n %a %u %g' {} + | sort); }
fresh whole
find set -type f -exec chmod 640 {} +
chmod 600 set/truth.json
if [ "$(id -u)" -eq 0 ]; then
    chown -R 65534:65533 set
fi
rights >expected_rights
for file in $link.000001 sion/particles.sion clog2/app.clog2 vom/data.1.json.br "$map" truth.json CHECKSUMS.xxh128; do
    echo more >>set/"$file"
done
echo >>set/manifest.json
"$HPCGEN" repair --quiet set || bad "repair of a private dataset fails"
same whole
rights | diff expected_rights - || bad "repaired files have other rights"

# ---- datasets that repair refuses
# A manifest or checksum list of another dataset: the other list shows that the files are right, so they stay.
# shellcheck disable=SC2086
"$HPCGEN" $options --seed 77 --quiet --out other || exit
for list in manifest.json CHECKSUMS.xxh128; do
    fresh whole
    cp other/$list set/
    refused 'set: expected manifest.json and CHECKSUMS.xxh128 of one dataset, got * other digests of *: remove the one of another dataset'
    cp whole/$list set/
    same whole
done
rm -r other
fresh whole
sed 's/"hpcw": "[^"]*"/"hpcw": "0.0.0"/' set/manifest.json >changed && mv changed set/manifest.json
refused 'set/manifest.json: expected a dataset of hpcw *, got one of 0.0.0'
rm -rf set
# shellcheck disable=SC2086
"$HPCGEN" $options --quiet --out set --part 1/2 || exit
refused 'set: expected a finished dataset, got an unfinished one: *'
refuse 1 'nowhere: expected the directory of a dataset, got none' "$HPCGEN" repair nowhere
refuse 1 'expected: expected the directory of a dataset, got none' "$HPCGEN" repair expected

# ---- a repair that is killed or stopped by a full disk: repaired files stay, and the next repair does the rest
"$HPCGEN" --ranks 512 --formats linktest,sion --quiet --out large || exit
for tenths in 0 1 2; do
    fresh large
    rm set/$link set/sion/particles.sion.000001
    "$HPCGEN" repair --quiet --jobs 1 set &
    pid=$!
    while [ ! -e set/.hpcw/lease ] && kill -0 $pid 2>/dev/null; do :; done
    sleep 0.$tenths
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
    "$HPCGEN" repair --quiet set || bad "repair fails after a killed one"
    same large
done
fresh large
rm set/$link
# shellcheck disable=SC3045
refuse 1 "set/*: cannot write * bytes at offset *: File too large" \
    sh -c 'ulimit -f 2000 && exec "$@"' sh "$HPCGEN" repair set
[ ! -e set/$link ] || bad "half a file is put in place"
[ -z "$(find set -name '*.tmp')" ] || bad "a failed repair leaves files"
"$HPCGEN" repair --quiet set || bad "repair fails after a full disk"
same large
exit $failed
