#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Local files of a run that died give a valid log; other files are refused.
. "$HERE/refuse.inc"
refuse 2 'recover: expected *FILE*' "$HPCGEN" recover --output x
refuse 2 'recover: expected --output FILE, got none*' "$HPCGEN" recover y
refuse 2 '--output: expected a file for the event log, got standard output' "$HPCGEN" recover --output - missing
refuse 1 'missing: *: No such file or directory' "$HPCGEN" recover --output x missing
echo nothing >other
refuse 1 'other: *' "$HPCGEN" recover --output x other
[ ! -e x ] || bad "something is left"

# Local files of MPE, three ranks.
local=${HPCW_GOLDEN-}/clog2/np3_sync_local
if [ -f "${local}0.clog2" ]; then
    "$HPCGEN" recover --quiet --output log.clog2 "${local}0.clog2" "${local}1.clog2" "${local}2.clog2" ||
        bad "recover fails"
    "$HPCGEN" verify --quiet log.clog2 || bad "not sound"
    "$HPCGEN" info --all log.clog2 | grep -q '^ranks: 3$' || bad "another number of ranks"
    "$HPCGEN" recover --json --output again.clog2 "${local}2.clog2" "${local}0.clog2" "${local}1.clog2" >said ||
        bad "recover fails"
    cmp log.clog2 again.clog2 || bad "the order of the files matters"
    grep -q '^{"files":3,"records":[0-9]*,"left_out":0,"truncated":[0-9]*,"missing":0}$' said || bad "said: $(cat said)"
    refuse 1 '*' "$HPCGEN" recover --output x "${local}0.clog2" "${local}0.clog2"
    refuse 1 'x: incomplete: expected the local files of 3 ranks, got 2, without rank 1; *--partial' \
        "$HPCGEN" recover --output x "${local}0.clog2" "${local}2.clog2"
    [ ! -e x ] || bad "an incomplete log is left"
    "$HPCGEN" recover --json --partial --output x "${local}2.clog2" >said || bad "recover --partial fails"
    grep -q '"missing":2}$' said || bad "said: $(cat said)"
fi
exit $failed
