#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# --force removes all of an older dataset, finished or not, and no other file.
. "$HERE/refuse.inc"
make() {
    "$HPCGEN" --quiet "$@" || bad "fails: $*"
}
same() {
    diff -r "$1" "$2" >differences 2>&1 || bad "$1 and $2 differ: $(cat differences)"
    [ "$(find "$1" | wc -l)" -eq "$(find "$2" | wc -l)" ] || bad "other files: $(find "$2")"
}
contents() { # DIR
    find "$1" -type f -exec cksum {} + | sort -k 3
}
unchanged() { # DIR: as in the file `before`
    contents "$1" >after
    cmp -s before after || bad "a refused run changes $1: $(diff before after | head -3)"
}
make --ranks 16 --out fresh
make --ranks 16 --formats sion --set sion.files=2 --out less

# The older dataset has more LinkTest and SION files.
make --ranks 64 --files 9 --set sion.files=11 --out finished
make --ranks 16 --out finished --force
same fresh finished

# The new dataset has fewer formats.
make --ranks 64 --files 9 --out format
make --ranks 16 --formats sion --set sion.files=2 --out format --force
same less format

# The older dataset is unfinished: its state tells which files may exist, also for a format that is not requested.
make --ranks 64 --files 9 --set sion.files=11 --out parts --part 2/3
rm parts/.hpcw/*.jsonl
make --ranks 16 --formats sion --set sion.files=2 --out parts --force
same less parts

# Without the state directory, it is unknown who wrote the files. Only files that a reader would take for files of
# the new dataset stop the run.
make --ranks 64 --files 9 --set sion.files=11 --out stateless --part 2/3
rm -r stateless/.hpcw
echo half >stateless/linktest/.hpcw-0123456789abcdef-fedcba9876543210.tmp
contents stateless >before
refuse 1 'stateless: expected an empty directory*got other files*' "$HPCGEN" --ranks 16 --out stateless
refuse 1 'stateless/vom/data.*: expected only files of the dataset, *' "$HPCGEN" --ranks 16 --out stateless --force
unchanged stateless
rm stateless/vom/*
make --ranks 16 --out stateless --force
"$HPCGEN" verify --quiet stateless || bad "does not verify with older files of SION and SCR"
(cd stateless && contents . | cut -d ' ' -f 3- | sort) >after
(cd fresh && contents . | cut -d ' ' -f 3- | sort) >expected
[ -z "$(comm -13 after expected)" ] || bad "missing: $(comm -13 after expected)"
[ -e stateless/sion/particles.sion.000005 ] || bad "a file of nobody's dataset is gone"

# A directory that never was a dataset: foreign files stay, whatever their names and formats are.
mkdir -p never/vom/empty never/sion never/scr/scr.dataset.5/.scr never/linktest
for file in vom/data.0.json vom/data.007.json vom/.hpcw-0123456789abcdef-data.1.json.tmp sion/particles.sion.000005 \
    scr/scr.dataset.5/rank_0.ckpt scr/scr.dataset.5/.scr/summary.scr; do
    echo measured >never/$file
done
contents never >before
find never | sort >names
make --ranks 2 --formats clog2 --scale tiny --out never --force
find never | sort | comm -23 names - >gone
[ ! -s gone ] || bad "removed from a directory that was no dataset: $(cat gone)"
"$HPCGEN" verify --quiet never || bad "does not verify among files of others"
make --ranks 2 --formats sion,rank2file --scale tiny --out never --force
find never | sort | comm -23 names - >gone
[ ! -s gone ] || bad "removed with the next dataset: $(cat gone)"
"$HPCGEN" verify --quiet never || bad "does not verify among files of others of the same formats"
[ ! -e never/clog2 ] || bad "the log of the older dataset stays"
# Foreign load data would be taken for load data of the new dataset, so the run is refused.
contents never >before
for name in data.0.json data.007.json empty; do
    refuse 1 "never/vom/*: expected only files of the dataset, *" \
        "$HPCGEN" --ranks 2 --formats vom --scale tiny --out never --force
    unchanged never
    rm -r never/vom/$name
    contents never >before
done
make --ranks 2 --formats vom --scale tiny --out never --force
"$HPCGEN" verify --quiet never || bad "does not verify when others are moved away"

# --force keeps foreign files in the directory, even if its manifest lists them.
mkdir -p mine/sion/src mine/.git
for file in mine/notes mine/sion/src/sion.c mine/sion/particles.sion.bak mine/sion/particles.sion.1 mine/.git/HEAD; do
    echo keep >$file
done
cat >mine/manifest.json <<'END'
{"fingerprint": "0", "files": [{"path": "notes", "size": 5}, {"path": "sion/particles.sion.bak"}, {"path": "sion/src/sion.c"},
 {"path": ".git/HEAD"}, {"path": "notes", "size": 5}, {"path": "../fresh/truth.json", "size": 5}, {"path": "/etc/passwd"}]}
END
ln -s ../fresh mine/linktest
make --ranks 16 --formats sion --set sion.files=2 --out mine --force
for file in mine/notes mine/sion/src/sion.c mine/sion/particles.sion.bak mine/sion/particles.sion.1 mine/.git/HEAD; do
    [ "$(cat $file)" = keep ] || bad "$file is gone"
    rm $file
done
[ -e fresh/truth.json ] || bad "a file outside the directory is gone"
[ -L mine/linktest ] || bad "a link is gone"
rm -r mine/linktest mine/sion/src mine/.git
same less mine

# Runs that are refused before they remove the first old file: too little space, directories or links in place of
# files.
make --ranks 16 --out kept
keeps() { # STATUS PATTERN ARGUMENTS...
    status=$1 pattern=$2
    shift 2
    contents kept >before
    refuse "$status" "$pattern" "$HPCGEN" --out kept --force "$@"
    unchanged kept
}
keeps 1 'kept: expected * bytes of free space, got *' --ranks 65536 --formats linktest --set linktest.permutations=1000
keeps 1 'kept: expected * bytes of free space, got *' --ranks 65536 --formats linktest --set linktest.permutations=1000 \
    --seed 7
# Process limits that are too low: the size of a file, of a format or of the manifest; the number of open files of a
# set.
limited() { # LIMIT PATTERN ARGUMENTS...
    limit=$1 pattern=$2
    shift 2
    contents kept >before
    refuse 1 "kept: expected $pattern" prlimit "$limit" "$HPCGEN" --out kept --force "$@"
    unchanged kept
}
limited --fsize=100000 'to write a file of * bytes, got a limit of 100000 for the size of a file: raise it (ulimit -f)' \
    --ranks 32
limited --fsize=20000 'to write a file of * bytes, got a limit of 20000 for the size of a file: *' \
    --ranks 512 --formats vom --scale tiny
for files in 9 11; do
    limited --nofile=$files "a limit of at least * open files, got one of $files: raise it (ulimit -n)" --ranks 32
done
limited --nofile=40 'a limit of at least * open files, got one of 40: *' --ranks 64 --formats sion --set sion.files=40
for name in truth.json CHECKSUMS.xxh128 sion/particles.sion.000001 vom/data.17.json.br; do
    mv kept/$name . 2>/dev/null
    mkdir kept/$name
    keeps 2 "kept/$name: expected a regular file to replace, got a directory" --ranks 32
    rmdir kept/$name
    [ ! -e "${name##*/}" ] || mv "${name##*/}" kept/$name
done
for name in vom scr/scr.dataset.1; do
    mv kept/$name moved
    ln -s "$PWD/moved" kept/$name
    keeps 1 "kept/$name: expected a directory, got a symbolic link: *" --ranks 32
    rm kept/$name
    mv moved kept/$name
done
mv kept/vom moved
: >kept/vom
keeps 1 'kept/vom: expected a directory, got a file: *' --ranks 32
rm kept/vom
mv moved kept/vom
# Another user runs hpcgen in a directory that everybody may write, and in one in which only owners may remove
# files.
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
    nobody='setpriv --reuid 65534 --regid 65534 --clear-groups'
else
    nobody=
fi
# shellcheck disable=SC2086
if [ -n "$nobody" ] && $nobody "$HPCGEN" --version >/dev/null 2>&1 && chmod 0777 kept && $nobody test -w kept; then
    for mode in 0777 1777; do
        chmod $mode kept
        contents kept >before
        refuse 1 'kept/*: cannot *: *' $nobody "$HPCGEN" --out kept --force --ranks 32
        unchanged kept
    done
    find kept -type d -exec chmod 1777 {} +
    refuse 1 'kept/*: cannot *: Operation not permitted' $nobody "$HPCGEN" --out kept --force --ranks 8 --formats vom
    unchanged kept
    find kept -type d -exec chmod 0755 {} +
fi
# Files that not even root can remove, on file systems that support them.
for name in truth.json manifest.json CHECKSUMS.xxh128 sion/particles.sion.000001 vom/data.7.json.br; do
    if chattr +i kept/$name 2>/dev/null; then
        keeps 1 "kept/$name: cannot *: Operation not permitted" --ranks 32
        chattr -i kept/$name
    fi
    : >over
    if mount --bind over kept/$name 2>/dev/null; then
        keeps 1 "kept/$name: cannot *: Device or resource busy" --ranks 32
        umount kept/$name
    fi
done
for name in . sion; do
    if chattr +a kept/$name 2>/dev/null; then
        keeps 1 'kept/*: cannot *: Operation not permitted' --ranks 32
        chattr -a kept/$name
    fi
done
make --ranks 32 --out kept --force
"$HPCGEN" verify --quiet kept || bad "does not verify when nothing is in the way"

# Too few free inodes. Inodes of the files to be removed count as free.
mkdir small
if [ "$(id -u)" -eq 0 ] && mount -t tmpfs -o size=30m,nr_inodes=96 none small 2>/dev/null; then
    make --ranks 4 --out small/out
    contents small/out >before
    refuse 1 'small/out: expected * free inodes, got *' "$HPCGEN" --ranks 32 --out small/out --force
    unchanged small/out
    make --ranks 8 --out small/out --force
    umount small
fi

refuse 2 '--resume and --force: *' "$HPCGEN" --ranks 16 --out fresh --resume --force
exit $failed
