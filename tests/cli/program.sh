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
# A long one is in the manifest as a whole, and in what parts of a dataset are joined by.
{
    printf '[trace]\nloop ='
    i=0
    while [ $((i += 1)) -le 12 ]; do
        printf ' work:%d MPI_Irecv MPI_Isend:%d:7 MPI_Waitall MPI_Waitall\n   ' $((1000 + i)) $i
    done
    echo ' silent'
} >long.ini
long() {
    "$HPCGEN" --ranks 6 --formats clog2,vom --config long.ini --set load.phases=20 --quiet "$@"
}
long --out long/ || bad "a long program is refused"
"$HPCGEN" verify long/ --deep --quiet || bad "verify --deep refuses a long program"
cp -R long lost && : >lost/clog2/app.clog2
"$HPCGEN" repair lost/ --quiet && cmp long/clog2/app.clog2 lost/clog2/app.clog2 || bad "repair fails"
long --out joined/ --part 1/2 && long --out joined/ --part 2/2 && "$HPCGEN" join joined/ --quiet &&
    cmp long/clog2/app.clog2 joined/clog2/app.clog2 && cmp long/manifest.json joined/manifest.json || bad "join fails"
if grep -q 'MPI_Allreduce' long/clog2/app.clog2; then
    bad "a silent loop reduces"
fi
refuse 2 'trace.loop: expected a statement, as work or MPI_Allreduce, got "MPI_Foo"' \
    "$HPCGEN" --ranks 2 --formats clog2 --out never --set trace.loop='work MPI_Foo'
exit $failed
