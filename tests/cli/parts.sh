#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Parts in any order, also at the same time, give the dataset of one run. If something is wrong with them, join
# reports it.
. "$HERE/refuse.inc"
make() {
    "$HPCGEN" --quiet "$@" || bad "fails: $*"
}
same() {
    diff -r "$1" "$2" >differences 2>&1 || bad "$1 and $2 differ: $(cat differences)"
    [ "$(find "$1" | wc -l)" -eq "$(find "$2" | wc -l)" ] || bad "other files: $(find "$2")"
}

for files in 1 3; do
    set -- --ranks 64 --files $files --set linktest.permutations=2 --set linktest.all_to_all=yes \
        --set linktest.tail_probability=0.001 --set linktest.retests=64
    make "$@" --out whole-$files
    for part in 2 3 1; do
        make "$@" --out parts-$files --part $part/3
        [ ! -e parts-$files/manifest.json ] || bad "a part leaves a manifest"
    done
    [ $files = 1 ] || unfinished parts-$files
    refuse 1 'parts-*: expected a finished dataset*' "$HPCGEN" verify parts-$files
    "$HPCGEN" join --quiet parts-$files || bad "join fails"
    same whole-$files parts-$files
done

# All parts at the same time in a new directory; more parts than files; some parts without checksums.
for part in 1 2 3 4 5 6 7 8 9; do
    flag=$([ $((part % 2)) = 0 ] || echo --no-checksums)
    # shellcheck disable=SC2086
    "$HPCGEN" --quiet --ranks 32 --files 5 --set sion.files=6 --jobs 1 --out at-once --part $part/9 $flag &
done
wait
"$HPCGEN" join --quiet at-once || bad "join of parts that ran at once fails"
make --ranks 32 --files 5 --set sion.files=6 --out in-turn
same in-turn at-once

for part in 1 2; do
    make --ranks 32 --files 5 --out bare --part $part/2 --no-checksums
done
"$HPCGEN" join --quiet --no-checksums bare || bad "join --no-checksums fails"
make --ranks 32 --files 5 --out bare-whole --no-checksums
same bare-whole bare

for part in 1 2 1 2; do
    make --ranks 32 --files 5 --out twice --part $part/2
done
make --ranks 32 --files 5 --out once
"$HPCGEN" join --quiet twice || bad "join of parts that ran twice fails"
same once twice

# ---- refusals
parts() { # DIR: both, with the parameters of `once`
    rm -rf "$1"
    make --ranks 32 --files 5 --out "$1" --part 1/2
    make --ranks 32 --files 5 --out "$1" --part 2/2
}
make --ranks 32 --files 5 --out some --part 1/2
refuse 1 'some: linktest: expected all 5 files, files 2 to 4 are not written yet: write the parts that are missing' "$HPCGEN" join some
unfinished some
refuse 1 'some/.hpcw/parameters.json: *expected seed = 3, got 2:*' \
    "$HPCGEN" --ranks 32 --files 5 --seed 3 --out some --part 2/2
refuse 1 'some/.hpcw/parameters.json: *expected files = 3, got 5:*' \
    "$HPCGEN" --ranks 32 --files 3 --out some --part 2/2
make --ranks 32 --files 5 --out some --part 1/3
refuse 1 'some: linktest: expected every file once, file 0 was written by two runs*' "$HPCGEN" join some
unfinished some

record=.hpcw/linktest.0-2.jsonl
# Gives changed partial results a matching digest, so that their content is checked.
sign() {
    if command -v xxh128sum >/dev/null && grep -q '^{"partial":.*,"xxh128":"' "$1"; then
        digest=$(sed -n 's/^{"partial":\(.*\),"xxh128":"[0-9a-f]*"}$/\1/p' "$1" | head -n 1 | tr -d '\n' | xxh128sum | cut -d ' ' -f 1)
        sed -i 's/^\({"partial":.*,"xxh128":"\)[0-9a-f]*"}$/\1'"$digest"'"}/' "$1"
    fi
}
spoil() { # WANTED SED-SCRIPT [what is done to the record then]
    parts spoilt
    sed "$2" spoilt/$record >changed
    cmp -s changed spoilt/$record && bad "the script changes nothing: $2"
    mv changed spoilt/$record
    ${3-sign} spoilt/$record
    refuse 1 "$1" "$HPCGEN" join spoilt
    unfinished spoilt
}
spoil 'spoilt/.hpcw/linktest.0-2.jsonl: not of this dataset, or damaged: line 1: expected JSON, got something else:*' '1s/}$//'
spoil '*line 3: expected JSON, got something else:*' '3s/}$//'
spoil '*file 1: *' 3d
spoil '*line 4: expected JSON, got the end of the file*' '$d'
spoil '*expected nothing after the partial results, got line 5*' '$p'
spoil '*not of this dataset, or damaged: expected format linktest and fingerprint *' 's/"linktest"/"sion"/'
spoil '*expected format linktest and fingerprint *' 's/"fingerprint":"../"fingerprint":"zz/'
spoil '*expected a range of the 5 files, got 0 to 18446744073709551615*' 's/"end":"2"/"end":"18446744073709551615"/'
spoil '*end: *' 's/"end":"2"/"end":"99999999999999999999999"/'
spoil '*expected the partial results with their digest, got none*' 's/"end":"2"/"end":1/'
spoil '*expected a whole number, got something else*' 's/"end":"2"/"end":1.5/'
spoil '*expected a whole number, got something else*' 's/"end":"2"/"end":1e300/'
spoil '*expected a whole number, got something else*' 's/"begin":"0"/"begin":[]/'
spoil '*file 0: expected linktest/pingpong_results_bin.sion, got another path*' 's|"path":"linktest/pingpong|"path":"../../pingpong|'
spoil '*file 0: expected *, got another path*' 's|"path":"[^"]*"|"path":"/etc/passwd"|'
spoil '*file 1: expected *.000001, got another path*' 's|"path":"\([^"]*000001\)"|"path":"linktest/../\1"|'
spoil '*expected the partial results with their digest, got none*' 's/"partial"/"partiel"/'
spoil '*expected partial results with this digest, got others: they are damaged*' 's/"partial":{/"partial":{ /' :
spoil '*slow connections*' 's/"slowest":\[[^]]*\]/"slowest":[]/'
spoil '*time_ps: expected a whole number*' 's/"time_ps":"[0-9]*"/"time_ps":null/'
spoil '*slowest: expected two of the 32 ranks, got 4294967296 and *' 's/"from":"[0-9]*"/"from":"4294967296"/'
spoil '*count: *' 's/"times":{"count":"/"times":{"count":"x/'
spoil 'spoilt: partial results: expected 992 timings, got *' 's/"times":{"count":"../"times":{"count":"9/'
spoil 'spoilt: partial result: *' 's/"permutations":\[/"permutations":[],"other":[/'
parts spoilt
: >spoilt/$record
refuse 1 '*line 1: expected JSON, got the end of the file*' "$HPCGEN" join spoilt
unfinished spoilt
parts spoilt
truncate -s -1 spoilt/$record
refuse 1 '*line 4: expected * of text and a newline, got something else*' "$HPCGEN" join spoilt
unfinished spoilt
parts spoilt
rm spoilt/linktest/pingpong_results_bin.sion.000001
refuse 1 '*linktest.0-2.jsonl: *expected a file of * bytes, got none: write its part again' "$HPCGEN" join spoilt
parts spoilt
truncate -s -1 spoilt/.hpcw/linktest.unit0
refuse 1 '*expected a file of * bytes, got one of *: write its part again' "$HPCGEN" join spoilt
parts spoilt
echo '{' >spoilt/.hpcw/parameters.json
refuse 1 'spoilt/.hpcw/parameters.json: expected JSON, got something else *' "$HPCGEN" join spoilt
parts spoilt
sed 's/"seed": [0-9]*/"seed": 5/' spoilt/.hpcw/parameters.json >changed
mv changed spoilt/.hpcw/parameters.json
refuse 1 'spoilt/.hpcw/parameters.json: expected parameters with the fingerprint beside them, got others' \
    "$HPCGEN" join spoilt
rm spoilt/.hpcw -r
refuse 1 'spoilt: expected a dataset with all parts written*' "$HPCGEN" join spoilt

# A second join has nothing to do.
"$HPCGEN" join once 2>stderr || bad "join of a complete dataset fails"
[ "$(cat stderr)" = "hpcgen: once was already complete" ] || bad "join of a complete dataset: $(cat stderr)"
"$HPCGEN" join --quiet --json once >stdout 2>stderr || bad "join --json of a complete dataset fails"
grep -q '"complete":true' stdout || bad "join --json of a complete dataset: $(cat stdout)"
[ ! -s stderr ] || bad "stderr with --quiet: $(cat stderr)"
rm stdout stderr
# A second join removes the state that was left by a join killed at its end.
mkdir once/.hpcw
: >once/.hpcw/sion.0-1.jsonl
"$HPCGEN" join --quiet once || bad "join fails beside the rest of a killed one"
[ ! -e once/.hpcw ] || bad "join leaves the state of a killed one"
exit $failed
