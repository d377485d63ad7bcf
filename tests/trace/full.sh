#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The directory of local files is full, becomes full, or is missing. The program ends as without the wrapper, its
# log is complete, and a message says that its records were not safe.
# Usage: full.sh MPIEXEC PROCESSES LIBRARY PROGRAM HPCGEN
if [ -z "${INSIDE_NAMESPACE-}" ]; then
    unshare -m true 2>/dev/null || { echo "needs root, to mount a small tmpfs"; exit 77; }
    INSIDE_NAMESPACE=1 exec unshare -m sh "$0" "$@"
fi
. "$(dirname "$0")/dies.inc"
trap 'umount -l "$scratch/local" 2>/dev/null || true; rm -rf "$scratch"' EXIT

# Usage: small KIB; mounts a tmpfs of this size.
small() {
    umount -l local 2>/dev/null || true
    mount -t tmpfs -o "size=${1}k" tmpfs local || { echo "cannot mount a small tmpfs"; exit 77; }
}

# Usage: finishes WHY; checks that the program and its log are complete, and that a message says why records were
# not safe.
finishes() {
    rm -f run.clog2
    run finish 1500 >out 2>err || fail "the program fails" err
    [ "$(grep -c 'has finished$' out)" -eq "$processes" ] || fail "expected the program's results, got:" out
    [ "$(wc -l <err)" -eq 1 ] || fail "expected one message, got:" err
    grep -q "hpcw_trace: .* threads recorded in memory, not in local files: .*$1; HPCW_TRACE_DIR" err ||
        fail "expected '$1', got:" err
    compare run.clog2 0
}

# The program ends normally, but its log cannot be written.
unwritten() {
    HPCW_TRACE_FILE=$scratch/nowhere/run.clog2 run finish 1500 >out 2>err || fail "the program fails" err
    grep -q 'hpcw_trace: no log: ' err || fail "expected no log, got:" err
    [ "$(wc -l <err)" -eq 1 ] || fail "expected one message, got:" err
}

echo "== full from the start"
small 64
head -c 128K /dev/zero >local/filler 2>/dev/null || true
finishes 'No space left on device'
[ "$(ls local)" = filler ] || fail "expected no local file, got: $(ls local)"

echo "== it has space for definitions alone"
small $((processes * 64 + 128))
finishes 'No space left on device'

echo "== it has space for definitions alone, and the log cannot be written"
unwritten
! grep -q 'still there' err || fail "expected no word of records that are still there, got:" err

echo "== it becomes full"
small 8192
finishes 'No space left on device'
[ -z "$(ls local)" ] || fail "expected no local file, got: $(ls local)"

# If the log cannot be written, records in memory are lost, and the message says so.
echo "== it becomes full, and the log cannot be written"
small 8192
unwritten
grep -q 'the records are still there, except those of [1-9][0-9]* threads*, which were in memory: hpcgen recover' err ||
    fail "expected which records are lost, got:" err

echo "== somebody else fills it while the program runs"
small 65536
rm -f counts.* ready
touch hold
(
    until [ -e ready ]; do
        sleep 0.001
    done
    head -c 128M /dev/zero >local/filler 2>/dev/null || true
    rm hold
) &
finishes 'No space left on device'
wait

# Usage: image NAME MKFS...; mounts an image of 300 MiB, or says what is missing.
image() {
    name=$1
    shift
    umount -l local 2>/dev/null || true
    echo "== $name"
    if ! command -v "$1" >/dev/null; then
        echo "not tried: there is no $1"
        return 1
    fi
    rm -f image
    truncate -s 300M image
    "$@" image >/dev/null 2>&1 || fail "$*: fails"
    mount -o loop image local 2>/dev/null || { echo "not tried: cannot mount it"; return 1; }
}

if image "it cannot allocate space: ext3" mkfs.ext3 -q; then
    finishes 'Operation not supported'
fi

# btrfs copies pages on write. Once the disk is full, a second store to a mapped page would raise SIGBUS.
if image "it copies on write: btrfs" mkfs.btrfs -q; then
    rm -f counts.* ready
    touch hold
    (
        until [ -e ready ]; do
            sleep 0.001
        done
        sync
        head -c 1G /dev/urandom >local/filler 2>/dev/null || true
        sync
        rm hold
    ) &
    finishes '(tmpfs, ext4 or xfs), got btrfs'
    wait
fi
umount -l local 2>/dev/null || true

echo "== it is not known"
mount -t ramfs ramfs local
finishes '(tmpfs, ext4 or xfs), got ramfs'
[ -z "$(ls local)" ] || fail "expected no local file, got: $(ls local)"

echo "== it is missing"
umount -l local
rmdir local
finishes 'No such file or directory'
