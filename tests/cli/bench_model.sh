#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Counting shared blocks from the command line. The program is the benchmark here.
. "$HERE/refuse.inc"

# Small enough to count by hand: ranks of 100 bytes on blocks of 64. A container has 1152 bytes of metadata before
# the data (18 blocks) and 64 after them. A rank alone takes two blocks.
"$HPCGEN" model --ranks 4 --blocksize 64 --per-rank 100 --json >small.json || bad "model failed"
"$JSON_CHECK" small.json || bad "no JSON"
grep -q '"counted_not_measured": true' small.json || bad "the JSON does not say that nothing was measured"
grep -q '"layout": "sion-packed", .*"blocks": 26, "data_blocks": 7, "shared_blocks": 3, ' small.json ||
    bad "other figures in the JSON"
[ "$(grep -c '"layout":' small.json)" -eq 7 ] || bad "expected seven layouts in the JSON"
# The same counts, printed as a table.
"$HPCGEN" model --ranks 4 --blocksize 64 --per-rank 100 || bad "model failed"

# With two ranks per host, hosts share fewer blocks than ranks: one in shared-posix, none in sion-aligned.
"$HPCGEN" model --ranks 4 --blocksize 64 --per-rank 100 --ranks-per-host 2 --layout sion-aligned,shared-posix >hosts ||
    bad "model with hosts failed"
[ "$(sed -n 's/^\(s[a-z-]*\) *64 *\([0-9]*\) *\([0-9]*\) *\([0-9]*\) .*/\1 \2 \3 \4/p' hosts | tr '\n' ' ')" = \
    'sion-aligned 27 0 0 shared-posix 7 3 1 ' ] || bad "other blocks of hosts: $(cat hosts)"
"$HPCGEN" model --ranks 4 --blocksize 64 --per-rank 100 --ranks-per-host 4 --layout shared-posix --json >hosts ||
    bad "model with one host failed"
grep -q '"shared_blocks": 3, "blocks_shared_by_hosts": 0, ' hosts || bad "one host shares blocks: $(cat hosts)"
rm hosts

# Containers with another block size than that of the file system; a list of block sizes; selected layouts.
"$HPCGEN" model -n 1000000 -b 4K:16M:x64 --container-block 1M --layout sion-aligned,task-local || bad "model failed"

# refuse_model PATTERN OPTION...
refuse_model() {
    pattern=$1
    shift
    "$HPCGEN" model "$@" >.stdout 2>.stderr
    [ $? -eq 1 ] || bad "expected status 1: $*"
    [ ! -s .stdout ] || bad "prints a table: $*"
    # shellcheck disable=SC2254
    case $(cat .stderr) in
    "hpcw-bench: "$pattern) ;;
    *) bad "stderr: $(cat .stderr), expected $pattern" ;;
    esac
}
# The help names shared-posix as the unaligned case. In sion-shifted, ranks that fill a quarter of a block share no
# block.
"$HPCGEN" model -n 64 -b 4M --per-rank 1M --json >quarter.json || bad "model fails"
for shares in sion-aligned:0 sion-shifted:0 shared-posix:16; do
    grep -q "\"layout\": \"${shares%:*}\".* \"shared_blocks\": ${shares#*:}," quarter.json || bad "other than $shares: $(cat quarter.json)"
done
"$HPCGEN" model --help | tr -s ' \n' ' ' | grep -q 'unaligned in shared-posix, aligned in sion-aligned' || bad "no unaligned case in the help"
"$HPCGEN" model -n 64 -b 4M --per-rank 1M | grep -qx '64 ranks, 1M each' || bad "another size than was typed"
rm quarter.json
refuse_model '--record: expected one value for a model, got 2' -n 4 -b 64 --record 10,20
refuse_model '*expected records that fit into a chunk of 64 bytes, got 200' -n 4 -b 64 --record 200 --chunk 4
refuse_model '*expected at most a file for each of 4 ranks, got 5 files' -n 4 -b 64 --files 5 --json
[ "$(ls)" = small.json ] || bad "files stayed: $(ls)"

exit $failed
