#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# --sync flushes every file of the dataset, also files that existed before, all directories, and the parent
# directory.
. "$HERE/refuse.inc"
if ! command -v strace >/dev/null || ! strace -o trace true 2>/dev/null; then
    echo "needs strace" >&2
    exit 77
fi
# Leaks cannot be detected under strace.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
PWD=$(pwd -P)
options='--ranks 16 --scale tiny --quiet'
# flushes DIR LISTS ARGUMENTS...: runs hpcgen and checks that all files and directory entries in DIR are flushed.
# LISTS: number of files about the whole dataset that are flushed under temporary names.
flushes() {
    dir=$1 lists=$2
    shift 2
    strace -f -y -qq -o trace -e trace=fsync "$HPCGEN" "$@" || bad "fails: $*"
    sed -n "s|.*fsync([0-9]*<$PWD/\\([^>]*\\)>.*|\\1|p; s|.*fsync([0-9]*<$PWD>.*|.|p" trace | sort -u >flushed
    {
        find "$dir" -type f ! -name manifest.json ! -name truth.json ! -name CHECKSUMS.xxh128 ! -name '*.jsonl' \
            ! -name parameters.json
        find "$dir" -type d ! -empty
        echo .
    } | LC_ALL=C sort >wanted
    LC_ALL=C comm -13 flushed wanted >missing
    [ ! -s missing ] || bad "not flushed: $(cat missing): $*"
    [ "$(grep -c "fsync([0-9]*<$PWD/$dir/.hpcw-[^/]*.tmp>" trace)" -eq "$lists" ] || bad "the lists are not flushed: $*"
}
# Files that were kept from an earlier run are flushed.
# shellcheck disable=SC2086
"$HPCGEN" $options --out kept || exit
rm kept/vom/data.3.json.br
# shellcheck disable=SC2086
flushes kept 3 $options --out kept --resume --sync
# The dataset is finished: nothing is written, but everything is flushed.
# shellcheck disable=SC2086
flushes kept 0 $options --out kept --resume --sync
for list in manifest.json truth.json CHECKSUMS.xxh128; do
    grep -q "fsync([0-9]*<$PWD/kept/$list>" trace || bad "$list of a finished dataset is not flushed"
done
# shellcheck disable=SC2086
flushes new 3 $options --out new --sync
# join flushes the files of the parts, and file 0 of each set, which it renames.
for part in 1 2 3; do
    # shellcheck disable=SC2086
    "$HPCGEN" $options --files 3 --out parts --part $part/3 || exit
done
flushes parts 3 join --quiet parts --sync
diff -r new kept || bad "other bytes"
flushes parts 0 join --quiet parts --sync
# A part flushes what it wrote.
# shellcheck disable=SC2086
flushes first 0 $options --files 3 --out first --part 1/3 --sync
grep -q "fsync([0-9]*<$PWD/first/.hpcw/.hpcw-[^/]*.tmp>" trace || bad "the state of a part is not flushed"
# repair flushes the repaired file and its directory.
rm new/sion/particles.sion.000001
strace -f -y -qq -o trace -e trace=fsync "$HPCGEN" repair --quiet --sync new || bad "repair fails"
grep -q "fsync([0-9]*<$PWD/new/sion/.hpcw-[^/]*.tmp>" trace || bad "a repaired file is not flushed"
grep -q "fsync([0-9]*<$PWD/new/sion>" trace || bad "the directory of a repaired file is not flushed"
# repair flushes all new directories and their parent.
rm -r new/scr new/vom
strace -f -y -qq -o trace -e trace=fsync "$HPCGEN" repair --quiet --sync new || bad "repair fails"
for dir in $(find new/scr new/vom -type d) new; do
    grep -q "fsync([0-9]*<$PWD/$dir>" trace || bad "$dir, made or changed by repair, is not flushed"
done
# Without --sync, nothing is flushed.
# shellcheck disable=SC2086
strace -f -qq -o trace -e trace=fsync "$HPCGEN" $options --out fast || bad "fails"
! grep -q fsync trace || bad "flushes without --sync"
# A command dies while it renames the files of a set. The next command that reads the set finishes the renames.
# shellcheck disable=SC2086
"$HPCGEN" $options --formats sion --out set || bad "fails"
strace -f -qq -o trace -e trace=rename,renameat,renameat2 -e inject=rename,renameat,renameat2:signal=SIGKILL:when=2 \
    "$HPCGEN" rewrite --quiet set/sion/particles.sion two.sion --files 3 2>/dev/null
[ -e two.sion.000001 ] && [ ! -e two.sion ] || bad "the command did not die between two names"
"$HPCGEN" verify two.sion >/dev/null || bad "a set that was not finished"
exit $failed
