#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Options for stripes: refused without Lustre before anything is created or removed. With an imitation of Lustre,
# stripes are set, and the bytes stay the same.
. "$HERE/refuse.inc"

[ "$(stat -f -c %T .)" != lustre ] || exit 77
common="--ranks 8 --formats sion,rank2file,linktest --scale tiny --quiet"
refuse 1 '*: cannot set stripes: expected a lustre file system, got *' \
    "$HPCGEN" $common --out none --stripe-count 4
refuse 1 '.: cannot set stripes: expected a lustre file system, got *' \
    "$HPCGEN" $common --out ./none// --stripe-size 1M
refuse 2 '*: expected stripes of a multiple of 65536 bytes below 4 GiB, got 65537' \
    "$HPCGEN" $common --out none --stripe-size 65537
refuse 2 '*: expected at most 2000 stripes, got 2001' "$HPCGEN" $common --out none --stripe-count 2001
[ ! -e none ] || bad "a refused run left its directory"
"$HPCGEN" plan $common --stripe-count 4 >plan || bad "plan refuses options of generate"

"$HPCGEN" $common --out plain || bad "plain run failed"
# The run is refused before --force removes the older dataset.
refuse 1 '*: cannot set stripes: *' "$HPCGEN" $common --out plain --force --stripe-count 4
"$HPCGEN" verify --quiet plain || bad "a refused run changed the older dataset"

if [ -n "${FAKE_LUSTRE-}" ]; then
    FAKE_LUSTRE_LOG=$PWD/log LD_PRELOAD=$FAKE_LUSTRE "$HPCGEN" $common --out striped --stripe-count 4 --stripe-size 1M ||
        bad "run on the imitation failed"
    sort log >sorted
    cat >wanted <<'END'
striped/linktest 4 1048576 empty
striped/scr 4 1048576 empty
striped/sion 4 1048576 empty
END
    cmp sorted wanted || bad "$(cat log)"
    diff -r plain striped || bad "stripes changed the dataset"
fi
exit $failed
