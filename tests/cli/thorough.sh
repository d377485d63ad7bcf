#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# verify --all reports each wrong file, and a fault in the structure of each format. --json gives JSON even after a
# failure. --deep finds changes that leave the structure valid, and writes nothing.
. "$HERE/refuse.inc"
link=linktest/pingpong_results_bin.sion
put() { # FILE OFFSET BYTES
    # shellcheck disable=SC2059
    printf "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}
fresh() { # FROM
    rm -rf set
    cp -r "$1" set
}
set -- --ranks 16 --scale tiny --quiet
"$HPCGEN" "$@" --out whole || exit
"$HPCGEN" "$@" --files 2 --no-checksums --out bare || exit

# ---- all
faults() { # NUMBER: on stderr, and as JSON
    "$HPCGEN" verify --all set 2>lines >stdout && bad "accepted"
    [ ! -s stdout ] || bad "stdout: $(cat stdout)"
    [ "$(wc -l <lines)" -eq $(($1 + 1)) ] || bad "expected $1 faults: $(cat lines)"
    [ "$(tail -n 1 lines)" = "hpcgen: set: expected no fault, got $1" ] || bad "the last line: $(cat lines)"
    "$HPCGEN" verify --all --json set >json 2>/dev/null && bad "accepted with --json"
    "$JSON_CHECK" json || bad "no JSON: $(cat json)"
    [ "$(grep -c '"message"' json)" -eq "$1" ] || bad "expected $1 faults: $(cat json)"
}
fresh whole
put set/sion/particles.sion.000002 30000 '\377'
rm set/vom/data.3.json.br set/vom/data.4.json.br
truncate -s -1 set/$link
faults 4
for file in $link sion/particles.sion.000002 vom/data.3.json.br vom/data.4.json.br; do
    grep -q "^hpcgen: set/$file: " lines || bad "no line about $file: $(cat lines)"
    grep -q "{\"path\": \"$file\", \"message\": \"set/$file: " json || bad "$file is not in the JSON: $(cat json)"
done
fresh whole
sed -i 's/particles.sion.000001$/particles.sion.000009/' set/CHECKSUMS.xxh128
rm set/truth.json
faults 2
fresh bare
put set/$link 4104 '\377' # LinkTest's version
put set/vom/data.5.json.br 0 '\377\377'
faults 2
# Checkpoints are read together.
"$HPCGEN" "$@" --formats rank2file --set rank2file.checkpoints=2 --set rank2file.missing_files=3 \
    --set rank2file.wrong_crcs=3 --out damaged || exit
fresh damaged
faults 1
"$HPCGEN" scr check set/scr >checked 2>/dev/null && bad "damaged checkpoints pass"
[ "$(grep -c 'sound=false why=set/scr/scr.dataset.[12]/' checked)" -eq 2 ] || bad "scr check: $(cat checked)"
fresh whole
"$HPCGEN" verify --all --quiet set || bad "--all refuses a whole dataset"

# ---- JSON after a failure
json() { # PATTERN ARGUMENTS...
    pattern=$1
    shift
    "$HPCGEN" verify --json "$@" >json 2>line && bad "accepted: $*"
    [ "$(wc -l <line)" -eq 1 ] || bad "not one line: $(cat line)"
    "$JSON_CHECK" json || bad "no JSON: $*: $(cat json)"
    grep -q '"ok": false' json || bad "not said to be bad: $(cat json)"
    grep -q "$pattern" json || bad "expected $pattern: $(cat json)"
}
rm set/vom/data.3.json.br set/sion/particles.sion.000001
json '"path": "sion/particles.sion.000001"' set
put set/$link 4104 '\377'
json '"kind": "linktest"' set/$link
rm set/manifest.json
json 'expected a finished dataset' set

json '"kind": "unknown"' nowhere

# ---- deep
deep() { # PATTERN
    "$HPCGEN" verify --quiet set || bad "structure finds it already: $1"
    refuse 1 "$1" "$HPCGEN" verify --deep set
}
for dir in whole bare; do
    find $dir -exec stat -c '%n %i %s %Y %Z' {} + | sort >before
    "$HPCGEN" verify --deep --quiet $dir || bad "--deep refuses a whole dataset"
    find $dir -exec stat -c '%n %i %s %Y %Z' {} + | sort >after
    diff before after || bad "--deep changes $dir"
done
fresh bare
put set/sion/particles.sion.000001 9000 '\377'
deep 'set/sion/particles.sion.000001: offset 9000: expected the byte that the parameters give, got 0xff'
fresh bare
put set/$link.000001 6001 '\001'
"$HPCGEN" verify --deep set >/dev/null 2>&1 && bad "a timing of LinkTest is accepted"
fresh bare
data=$(find set/scr -name 'rank_3.ckpt' | sort | head -n 1)
put "$data" 100 'xyz'
"$HPCGEN" verify --deep set >/dev/null 2>line && bad "a checkpoint is accepted"
fresh bare
sed 's/"seed": 2,/"seed": 2 ,/' set/truth.json >changed && mv changed set/truth.json
sed "s/\(\"truth.json\", \"size\": \)[0-9]*/\1$(stat -c %s set/truth.json)/" set/manifest.json >changed
mv changed set/manifest.json
deep 'set/truth.json: size: expected * bytes, got *'
fresh bare
sed 's/"seed": 2,/"seed": 3,/' set/manifest.json >changed && mv changed set/manifest.json
deep 'set/manifest.json: expected parameters with the fingerprint beside them, got others'
fresh bare
sed 's/"hpcw": "[^"]*"/"hpcw": "0.0.0"/' set/manifest.json >changed && mv changed set/manifest.json
deep 'set/manifest.json: expected a dataset of hpcw *, which this program is, got one of 0.0.0'
refuse 1 'bare/clog2/app.clog2: --deep: expected the directory of a dataset*' "$HPCGEN" verify --deep bare/clog2/app.clog2
# A seed can have more digits than a double holds.
"$HPCGEN" --ranks 4 --formats sion --scale tiny --seed 18446744073709551557 --set machine.bad_node_share=0.1 \
    --quiet --out seed || exit
"$HPCGEN" verify --deep --quiet seed || bad "--deep refuses a large seed"
# Bytes that are never written are zero: here, the padding between tables and data.
fresh seed
rm set/CHECKSUMS.xxh128
sed 's/, "xxh128": "[0-9a-f]*"//' set/manifest.json >changed && mv changed set/manifest.json
put set/sion/particles.sion 2000 'x'
refuse 1 'set/sion/particles.sion: *' "$HPCGEN" verify set

# ---- damage to the header of a container, of LinkTest and of SION
for file in $link sion/particles.sion; do
    for offset in 4 8 12 16 20 24 28 36 44 54 60 1079 1300 2000; do
        fresh bare
        put set/$file $offset 'A'
        refuse 1 "set/$file*: *" "$HPCGEN" verify set
    done
done

# ---- a path of any characters
odd=$(printf 'od\033[31md')
cp -r bare "$odd"
"$HPCGEN" verify "$odd" >line || bad "an odd path is refused"
"$HPCGEN" repair "$odd" 2>lines || bad "an odd path is not repaired"
"$HPCGEN" --ranks 16 --scale tiny --formats sion --out "$odd.new" 2>>lines || bad "an odd path is not written"
! grep -q "$(printf '\033')" lines || bad "an odd path is printed as it is"
[ "$(cat line)" = "od?[31md: ok (dataset, $(($(grep -c '"path"' bare/manifest.json) - 1)) data files)" ] || bad "the line: $(cat line)"
exit $failed
