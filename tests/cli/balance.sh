#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The balancer's files (vom_balance/): parts write the same files as one run, verify and repair handle them, --force
# removes them.
. "$HERE/refuse.inc"
make() {
    "$HPCGEN" --quiet --ranks 24 --scale tiny --formats vom,clog2 --set load.balancer=tempered \
        --set vom.iterations=yes --set vom.longest_first=yes "$@" || bad "fails: $*"
}
statistics=vom_balance/vt_lb_statistics.json.br
list=vom_balance/longest_first.csv

make --out whole
# plan lists the files with their approximate sizes.
"$HPCGEN" plan --json --ranks 24 --scale tiny --formats vom,clog2 --set load.balancer=tempered \
    --set vom.iterations=yes --set vom.longest_first=yes |
    sed -n 's/^ *{"path": "\([^"]*\)", "apparent_bytes": \([0-9]*\),.*/\2 \1/p' >plan
for folder in vom/ vom_balance/ clog2/; do
    planned=$(grep " $folder" plan | awk '{ sum += $1 } END { print sum }')
    really=$(cat whole/$folder* | wc -c)
    [ "$(grep -c " $folder" plan)" -eq "$(find whole/$folder -type f | wc -l)" ] || bad "$folder: other files"
    [ "$planned" -ge $((really * 2 / 3)) ] && [ "$planned" -le $((really * 2)) ] ||
        bad "$folder: $really bytes, planned $planned"
done
for part in 3 1 2; do
    make --out parts --part $part/3
done
"$HPCGEN" join --quiet parts || bad "join fails"
diff -r whole parts >differences 2>&1 || bad "parts differ: $(cat differences)"
[ "$(find whole/vom_balance -type f | sort | tr '\n' ' ')" = "whole/$list whole/$statistics " ] ||
    bad "other files: $(find whole/vom_balance)"
"$HPCGEN" verify --deep whole >stdout 2>&1 || bad "verify --deep fails: $(cat stdout)"
"$HPCGEN" info whole/$statistics >stdout || bad "info fails"
grep -q 'LBStatsfile' stdout || bad "info of the statistics: $(cat stdout)"

# The number of migrations is the same in the statistics and in truth.json.
"$HPCGEN" info --json whole/$statistics | sed -n 's/^ *"migration count": *\([0-9]*\).*/\1/p' >moved
sed -n 's/^ *"migrations": \([1-9][0-9]*\).*/\1/p' whole/truth.json | diff - moved >differences ||
    bad "other migrations: $(cat differences)"

cp -r whole damaged
printf 'x' | dd of=damaged/$statistics bs=1 seek=50 conv=notrunc 2>/dev/null
sed '7s/,.*,/,oops,/' whole/$list >damaged/$list
refuse 1 "*damaged/$statistics: XXH3-128: *" "$HPCGEN" verify damaged
"$HPCGEN" repair --quiet damaged || bad "repair fails"
diff -r whole damaged >differences 2>&1 || bad "repair leaves: $(cat differences)"
rm -r damaged/vom_balance
"$HPCGEN" repair --quiet damaged || bad "repair of lost files fails"
diff -r whole damaged >differences 2>&1 || bad "repair of lost files leaves: $(cat differences)"

# Without checksums, verify checks the structure of longest_first.csv.
make --out bare --no-checksums
for change in '7s/,.*,/,oops,/' '7s/^/1/' '1s/id/ID/'; do
    sed "$change" whole/$list >bare/$list
    truncate -s "$(stat -c %s whole/$list)" bare/$list
    refuse 1 "*bare/$list: *line*: expected *" "$HPCGEN" verify bare
done

"$HPCGEN" --quiet --ranks 4 --scale tiny --formats vom --out whole --force || bad "--force fails"
[ ! -e whole/vom_balance ] || bad "--force leaves $(find whole/vom_balance)"
exit $failed
