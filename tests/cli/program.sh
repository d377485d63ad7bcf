#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The example of doc/hpcgen.md, "The calls of a program", does what the page says.
. "$HERE/refuse.inc"
sed -n '/^### The calls of a program/,/^An indented line/p' "$HERE/../../doc/hpcgen.md" | sed -n 's/^    //p' |
    tail -n +2 >cg.ini
"$HPCGEN" --ranks 2 --formats clog2 --out cg/ --config cg.ini --quiet || bad "hpcgen refuses the example"
grep -q '"application": "program"' cg/truth.json || bad "truth.json: $(grep '"application"' cg/truth.json)"
"$HPCGEN" verify cg/ --quiet || bad "verify refuses it"
"$HPCGEN" export cg/clog2/app.clog2 --form csv -O log.csv --quiet || bad "export fails"

# The calls of rank 0, each with what it sends.
awk -F, '$2 == 0 && $4 == "begin" && $5 !~ /waited/ { printf "%s%s", n++ ? " " : "", substr($5, 6, length($5) - 6) }
    $2 == 0 && $4 == "send" { printf ":%d:%d", $8, $7 } END { print "" }' log.csv >calls
{
    printf 'Comm_size Comm_rank Irecv Send:8:99 Wait Irecv Send:3360:101 Wait'
    i=0
    while [ $((i += 1)) -le 150 ]; do
        printf ' Irecv Send:6736:99 Wait Allreduce Allreduce'
    done
    echo ' Allreduce Reduce'
} >wanted
cmp calls wanted || bad "other calls: $(cut -c 1-500 calls)"

"$HPCGEN" --ranks 2 --formats clog2 --out again/ --config cg.ini --quiet --jobs 3 || bad "--jobs 3 fails"
cmp cg/clog2/app.clog2 again/clog2/app.clog2 || bad "the bytes depend on --jobs"
refuse 2 'trace.loop: expected a statement, as work or MPI_Allreduce, got "MPI_Foo"' \
    "$HPCGEN" --ranks 2 --formats clog2 --out never --set trace.loop='work MPI_Foo'
exit $failed
