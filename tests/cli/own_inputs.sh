#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A command's output is never a file that it reads: an input, a file in an input directory, or another file of a set
# or map. Nor may any command overwrite the local file of a recorded run.
. "$HERE/refuse.inc"
"$HPCGEN" --ranks 4 --scale tiny --files 2 --quiet --out d || exit
sion=d/sion/particles.sion log=d/clog2/app.clog2
vom=d/vom/data.0.json
[ -f $vom ] || vom=$vom.br
scr=$(find d/scr -name 'rank2file*' | sort)
root=$(echo "$scr" | grep -E '/rank2file(\.scr)?$' | head -1)
leaf=$(echo "$scr" | grep "^${root%/*}/" | grep -vE '/rank2file(\.scr)?$' | head -1)
[ -f $sion.000001 ] && [ -f "$root" ] && [ -f "$leaf" ] || bad "another dataset than expected"
ln -s d linked
ln -s "$PWD/$log" link.clog2
ln $log d/clog2/hard

list() {
    find d -type f -print | sort | xargs ls -i
    find d -type f -print | sort | xargs cksum
}
list >before
input='expected an output that is not read, got the input *: choose another name'
part='expected an output that is not read, got a file of the input *: choose another name'

refuse 1 "$log: $input" "$HPCGEN" export --output $log $log
refuse 1 "linked/clog2/app.clog2: $input" "$HPCGEN" export --output linked/clog2/app.clog2 $log
refuse 1 "link.clog2: $input" "$HPCGEN" export --output link.clog2 $log
refuse 1 "d/clog2/hard: $input" "$HPCGEN" export --output d/clog2/hard $log
refuse 1 "$log: $input" "$HPCGEN" export --output $log link.clog2
refuse 1 "$sion: $input" "$HPCGEN" export --task 0 --output $sion $sion
refuse 1 "$sion.000001: $part" "$HPCGEN" export --task 0 --output $sion.000001 $sion
refuse 1 "$vom: $part" "$HPCGEN" export --form csv --output $vom d/vom
refuse 1 "linked/vom/${vom##*/}: $part" "$HPCGEN" export --form csv --output linked/vom/${vom##*/} d/vom
refuse 1 "$leaf: $part" "$HPCGEN" export --form csv --output "$leaf" "$root"
refuse 1 "$leaf: $part" "$HPCGEN" export --form csv --output "$leaf" d/scr
for map in $(echo "$scr" | grep -E 'scr\.dataset\.1/(\.scr/)?rank2file(\.scr)?$'); do
    for file in d/scr/scr.dataset.1/rank_*.ckpt; do
        refuse 1 "$file: $part" "$HPCGEN" export --form csv --output "$file" "$map"
    done
done
other=$(echo $vom | sed 's/data\.0/data.3/')
refuse 1 "$other: $part" "$HPCGEN" rewrite $vom "$other"
refuse 1 "$other: $part" "$HPCGEN" export --form csv --output "$other" $vom
refuse 1 "$other: $part" "$HPCGEN" fit $vom --output "$other"
refuse 1 "$sion.000001: $part" "$HPCGEN" rewrite $sion $sion.000001
refuse 1 "$sion: $input" "$HPCGEN" rewrite $sion $sion
refuse 1 "$vom: $input" "$HPCGEN" rewrite $vom $vom
refuse 1 "d/manifest.json: $part" "$HPCGEN" fit d --output d/manifest.json
refuse 1 "$log: $part" "$HPCGEN" fit --compare $vom d --output $log
refuse 1 "d/truth.json: $part" "$HPCGEN" report d --force --output d/truth.json
refuse 1 "$log: $input" "$HPCGEN" recover --output $log $log

# All files of the output are compared with the input, not only file 0.
"$HPCGEN" rewrite --quiet $sion of.000001 || bad "no container to rewrite"
cp of.000001 kept
refuse 1 "of.000001: $input" "$HPCGEN" rewrite of.000001 of --files 2
cmp -s of.000001 kept || bad "the input is another one"

# The local file of a process that died, in little-endian byte order, with records of its log.
if [ "$(printf '\1\0' | od -An -d | tr -d ' ')" = 1 ]; then
    printf '\310PCWCL2\n and more' >0.local
    cp 0.local kept
    records='expected an output, got the local file of a recorded run, with records that may be nowhere else: *'
    refuse 1 "0.local: $records" "$HPCGEN" recover --output 0.local missing
    refuse 1 "0.local: $records" "$HPCGEN" export --output 0.local $log
    refuse 1 "0.local: $records" "$HPCGEN" rewrite $vom 0.local
    refuse 1 "0.local: $records" "$HPCGEN" fit d --output 0.local
    cmp -s 0.local kept || bad "the local file is another one"
fi
list >after
cmp -s before after || bad "changed: $(diff before after | head -3)"

# An output in the input's directory is accepted if its name is new, or if it is no input.
for n in 1 2; do
    "$HPCGEN" export --quiet --output d/clog2/app.clog2.csv $log || bad "no export beside the log, the time $n"
done
"$HPCGEN" export --quiet --form csv --output d/vom/new.csv d/vom || bad "no export into the directory"
refuse 1 "d/vom/new.csv: $part" "$HPCGEN" export --form csv --output d/vom/new.csv d/vom
exit $failed
