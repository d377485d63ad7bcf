#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Directories that cannot be created or written, and too little space: found before the first byte, or in the middle
# of a run.
. "$HERE/refuse.inc"

refuse 1 'nowhere/out: cannot create the directory: No such file or directory' "$HPCGEN" --ranks 8 --out nowhere/out
: >file
refuse 1 'file: cannot open the directory: Not a directory' "$HPCGEN" --ranks 8 --out file
refuse 1 'file/out: cannot *: Not a directory' "$HPCGEN" --ranks 8 --out file/out
refuse 1 'file/out: cannot *: Not a directory' "$HPCGEN" --ranks 8 --out file/out --force
refuse 1 '0*: cannot *: File name too long' "$HPCGEN" --ranks 8 --out "$(printf '%0300d' 0)"
refuse 2 '--out: expected at most 4095 characters, got 5000' "$HPCGEN" --ranks 8 --out "$(printf '%05000d' 0)"
# Near PATH_MAX: the directory's path is short enough, but not those of its files.
deep=$PWD
while [ ${#deep} -lt 3900 ]; do
    deep=$deep/$(printf '%0100d' 0)
done
if mkdir -p "$deep" 2>/dev/null; then
    rest=$((4095 - ${#deep} - 2))
    long=$deep/$(printf "%0${rest}d" 0)
    refuse 1 '/*' "$HPCGEN" --ranks 8 --out "$long"
    [ ! -e "$long/manifest.json" ] || bad "a path that is too long is written to"
fi
rm -r "$PWD"/0*

# A directory without write permission; for root, a read-only file system.
if [ "$(id -u)" -ne 0 ]; then
    mkdir closed
    chmod a-w closed
    refuse 1 'closed/out: cannot create the directory: Permission denied' "$HPCGEN" --ranks 8 --out closed/out
    "$HPCGEN" --ranks 8 --quiet --out half --part 1/2
    chmod -R a-w half
    refuse 1 'half/*: Permission denied' "$HPCGEN" --ranks 8 --out half --part 2/2
    chmod -R u+w half
elif [ -d /proc/self ]; then
    refuse 1 '/proc/out: cannot create the directory: *' "$HPCGEN" --ranks 8 --out /proc/out
fi

mkdir -p odd/sion/particles.sion
: >odd/sion/particles.sion/inside
refuse 2 '*odd/sion/particles.sion: expected a regular file to replace, got a directory' \
    "$HPCGEN" --ranks 8 --out odd --force
[ ! -e odd/manifest.json ] || bad "odd looks finished"

# The dataset needs more space than any disk has, so it is refused before anything is created.
refuse 1 'out: expected [0-9]* bytes of free space, got [0-9]* ([0-9]*B, got [0-9]*B)' \
    "$HPCGEN" --ranks 65536 --formats linktest --out out \
    --set linktest.permutations=1000
refuse 1 'deep/out: expected * bytes of free space, got *' sh -c 'mkdir deep && "$0" "$@"' "$HPCGEN" --ranks 65536 \
    --formats linktest --out deep/out --set linktest.permutations=1000
[ ! -e out ] && [ -z "$(ls -A deep)" ] || bad "a refused run leaves its directory"

# The limit of open files is too low, or is high enough after the run raises it.
refuse 1 'out: expected a limit of at least * open files, got one of 40: *' \
    prlimit --nofile=40 "$HPCGEN" --ranks 64 --formats sion --set sion.files=64 --out out
[ ! -e out ] || bad "a refused run leaves its directory"
prlimit --nofile=40:200 "$HPCGEN" --quiet --ranks 64 --formats sion --set sion.files=64 --out many ||
    bad "fails where the limit of open files may be raised"

# A file size limit stops a run in the middle, like a full disk.
limited() { # BLOCKS ARGS...
    # shellcheck disable=SC3045
    (ulimit -f "$1" && shift && exec "$HPCGEN" "$@")
}
for blocks in 1 100 2000; do
    rm -rf out
    next=": finished files stay: go on with the same command and --resume"
    [ $blocks -gt 1 ] || next= # the first file cannot be written
    refuse 1 "out*: cannot *: File too large$next" \
        limited $blocks --ranks 512 --scale small --out out
    [ ! -d out ] || unfinished out
done
# --resume keeps what was written before the failure.
"$HPCGEN" --ranks 512 --scale small --out out --resume --quiet || bad "resume fails after a failure"
"$HPCGEN" verify --quiet out || bad "not sound after a failure"

# A small file system: too small from the begin, or full in the middle.
mkdir small
if [ "$(id -u)" -eq 0 ] && mount -t tmpfs -o size=8m none small 2>/dev/null; then
    refuse 1 'small/out: expected * bytes of free space, got *' "$HPCGEN" --ranks 512 --scale small --out small/out
    [ -z "$(ls -A small)" ] || bad "a refused run leaves $(ls -A small)"
    # Another file takes the free space. It is filled with data, since a hole takes no space.
    "$HPCGEN" --ranks 256 --scale small --out small/out --part 1/2 --quiet
    head -c 6300000 /dev/zero >small/ballast 2>/dev/null
    refuse 1 'small/out*: No space left on device: finished files stay: go on with the same command and --resume' \
        "$HPCGEN" --ranks 256 --scale small --out small/out --part 2/2
    [ ! -e small/out/manifest.json ] || bad "looks finished on a full disk"
    # An export to a full disk leaves nothing.
    "$HPCGEN" --ranks 64 --formats clog2 --workload solver --out log --quiet || bad "fails: log"
    rm -rf small/out
    refuse 1 'small/x.json: cannot *: No space left on device' \
        "$HPCGEN" export --quiet log/clog2/app.clog2 --output small/x.json
    [ -z "$(find small -name '*x.json*')" ] || bad "a failed export leaves $(ls -A small)"
    umount small
    # A failed write names the new directory as the user gave it, not as the writer's path below /proc.
    "$HPCGEN" --ranks 4 --scale tiny --out source --quiet || bad "fails: source"
    mount -t tmpfs -o size=40k none small || bad "cannot mount again"
    "$HPCGEN" rewrite source/scr small/new 2>said && bad "checkpoints of more than 40 KiB in 40 KiB"
    case $(cat said) in
    */proc/*) bad "a descriptor in the message: $(cat said)" ;;
    'hpcgen: small/new'*': No space left on device') ;;
    *) bad "said: $(cat said)" ;;
    esac
    umount small
    mount -t tmpfs -o size=1m,nr_inodes=9 none small || bad "cannot mount again"
    "$HPCGEN" export source/clog2/app.clog2 --form otf2 --output small/new 2>said && bad "10 files in 9 inodes"
    ! grep /proc/ said || bad "a descriptor in the message"
    [ -z "$(ls -A small)" ] || bad "failed commands leave $(ls -A small)"
    umount small
fi
exit $failed
