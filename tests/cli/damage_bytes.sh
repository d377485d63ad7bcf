#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Flipped bytes and truncated files: verify finds each by its digest. Without digests a reader accepts the file or gives
# a reason, and never crashes.
. "$HERE/refuse.inc"
"$HPCGEN" --ranks 8 --files 2 --out whole --quiet || exit
"$HPCGEN" --ranks 8 --files 2 --out bare --quiet --no-checksums || exit

# Either the status is 0 and stderr is empty, or the status is 1 and stderr has one line.
read_it() {
    for command in "verify $1" "info --json $1"; do
        # shellcheck disable=SC2086
        "$HPCGEN" $command >.stdout 2>.stderr
        status=$?
        case $status in
        0) [ ! -s .stderr ] || bad "$2: $command: good, but: $(cat .stderr)" ;;
        1) [ "$(wc -l <.stderr)" -eq 1 ] || bad "$2: $command: not one line: $(cat .stderr)" ;;
        *) bad "$2: $command: status $status: $(cat .stderr)" ;;
        esac
    done
    [ $status -ne 0 ] || "$JSON_CHECK" .stdout || bad "$2: info --json prints no JSON"
}
flip() { # FILE OFFSET VALUE
    printf "\\$3" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>.stderr
}

for file in linktest/pingpong_results_bin.sion linktest/pingpong_results_bin.sion.000001 sion/particles.sion \
    sion/particles.sion.000001; do
    size=$(stat -c %s whole/$file)
    cp whole/$file saved
    # Offsets: header, chunk sizes, first chunk, middle, second metadata block, last byte.
    for offset in 0 5 13 17 21 25 37 45 64 1095 1152 4096 4200 4608 $((size / 2)) $((size - 300)) $((size - 9)) \
        $((size - 1)); do
        [ $offset -lt "$size" ] && [ $offset -ge 0 ] || continue
        cp saved whole/$file
        cp saved bare/$file
        flip whole/$file $offset 377
        if ! cmp -s whole/$file saved; then
            refuse 1 "whole/$file: XXH3-128: expected *, got *" "$HPCGEN" verify whole
            flip bare/$file $offset 377
            read_it bare/$file "$file at $offset"
        fi
    done
    for cut in 0 20 1088 1200 $((size / 2)) $((size - 8)) $((size - 1)); do
        cp saved whole/$file
        cp saved bare/$file
        truncate -s $cut whole/$file
        truncate -s $cut bare/$file
        refuse 1 "whole/$file: size: expected $size bytes, got $cut" "$HPCGEN" verify whole
        read_it bare/$file "$file cut to $cut"
    done
    cp saved whole/$file
    cp saved bare/$file
    echo more >>whole/$file
    refuse 1 "whole/$file: size: expected $size bytes, got $((size + 5))" "$HPCGEN" verify whole
    cp saved whole/$file
done
"$HPCGEN" verify --quiet whole || bad "verify refuses the undamaged dataset"
exit $failed
