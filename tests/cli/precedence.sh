#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Settings in this order replace earlier ones: preset, scale, configuration file, command line. All ways to set a
# value have the same effect.
failed=0
bad() {
    echo "$*"
    failed=1
}
make() {
    "$HPCGEN" --quiet "$@" || bad "fails: $*"
}
same() {
    diff -r "$1" "$2" >differences || bad "$1 and $2 differ: $(cat differences)"
}
value() { # FILE KEY: as the manifest has it
    sed -n "s/^ *\"$2\": \(.*[^,]\),*\$/\1/p" "$1/manifest.json"
}

make --ranks 16 --seed 7 --preset tcp-1g --scale tiny --set machine.ppn=2 --set sion.sigma=0.25 --out line

cat >all.ini <<'END'
; all of it in a file
[hpcgen]
ranks = 16
seed = 7
preset = tcp-1g
scale = tiny
out = file
quiet = yes
[machine]
ppn = 2
[sion]
sigma = 0.25
END
make --config all.ini
same line file

# Options of the command line win over values of the file, one by one.
make --config all.ini --out both --seed 8 --set machine.ppn=4
[ "$(value both seed)" = 8 ] || bad "seed is $(value both seed), expected that of the command line"
[ "$(value both machine.ppn)" = 4 ] || bad "ppn is $(value both machine.ppn), expected that of the command line"
[ "$(value both sion.sigma)" = 0.25 ] || bad "sigma is $(value both sion.sigma), expected that of the file"
[ "$(value both preset)" = '"tcp-1g"' ] || bad "preset is $(value both preset), expected that of the file"
make --config all.ini --out order --set machine.ppn=3 --set machine.ppn=2
same line order
make --set machine.ppn=2 --set sion.sigma=0.25 --out first --config all.ini
same line first

# Values of the file win over those of preset and scale.
make --config all.ini --out large --scale large --set sion.mean_size=5K
[ "$(value large sion.mean_size)" = 5120 ] || bad "mean_size is $(value large sion.mean_size), expected what was set"

# Numbers can be written in several ways.
make --ranks 8 --blocksize 4K --out k
make --ranks=8 -b 4096 -o bytes
same k bytes

# --blocksize auto records the block size that it finds, so that the run can be repeated on another file system.
make --ranks 8 --blocksize auto --out auto
size=$(value auto blocksize)
[ "$size" -gt 0 ] || bad "no block size was recorded: $size"
make --ranks 8 --blocksize "$size" --out said
same auto said

for odd in 1 512 1000 4097 1M; do
    make --ranks 8 --blocksize $odd --out odd-$odd
    "$HPCGEN" verify --quiet odd-$odd || bad "block size $odd: not sound"
done

# --no-checksums changes no data.
make --ranks 8 --no-checksums --out bare
[ ! -e bare/CHECKSUMS.xxh128 ] || bad "--no-checksums writes them"
! grep -q xxh128 bare/manifest.json || bad "--no-checksums leaves digests in the manifest"
"$HPCGEN" verify --quiet bare || bad "no checksums: not sound"
cmp k/sion/particles.sion bare/sion/particles.sion || bad "--no-checksums changes data"
exit $failed
