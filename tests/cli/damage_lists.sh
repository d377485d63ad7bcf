#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Manifests and checksum lists that do not fit the files, or name files outside the directory.
. "$HERE/refuse.inc"
"$HPCGEN" --ranks 8 --formats linktest,sion --out whole --quiet || exit
"$HPCGEN" --ranks 8 --formats linktest,sion --out bare --quiet --no-checksums || exit

# edit PATTERN FROM FILE SED-SCRIPT: verify refuses a changed copy of FROM with a message that matches PATTERN
edit() {
    rm -rf set
    cp -r "$2" set
    sed "$4" "$2/$3" >set/"$3"
    cmp -s "$2/$3" "set/$3" && bad "the script changes nothing: $4"
    refuse 1 "$1" "$HPCGEN" verify set
}
digest=0123456789abcdef0123456789abcdef

# Changes to the checksum list that verify refuses.
sums=CHECKSUMS.xxh128
edit 'set/CHECKSUMS.xxh128: line 1: expected "*  linktest/*", got "0*' whole $sums "1s/^.\{32\}/$digest/"
edit 'set/CHECKSUMS.xxh128: line 2: expected *' whole $sums '2d'
edit 'set/CHECKSUMS.xxh128: line 2: expected *' whole $sums '2s/  / */'
edit 'set/CHECKSUMS.xxh128: line 6: expected *' whole $sums '6s/truth/trust/'
edit 'set/CHECKSUMS.xxh128: line 3: expected *' whole $sums '2p'
edit 'set/manifest.json: XXH3-128: expected 0*, got *' whole $sums "7s/^.\{32\}/$digest/"
edit 'set/CHECKSUMS.xxh128: expected a digest of manifest.json, got none' whole $sums '7d'
edit 'set/CHECKSUMS.xxh128: expected 7 lines, got more' whole $sums "\$a $digest  more"
rm -rf set && cp -r whole set && rm set/$sums
refuse 1 'set/CHECKSUMS.xxh128: cannot open for reading*' "$HPCGEN" verify set
rm -rf set && cp -r bare set && echo "$digest  manifest.json" >set/$sums
refuse 1 'set/manifest.json: XXH3-128: expected *' "$HPCGEN" verify set

# Changes to the manifest that verify refuses, with and without a checksum list.
edit 'set/manifest.json: XXH3-128: expected *, got *' whole manifest.json 's/"seed": 2/"seed": 3/'
edit 'set/sion/particles.sion: size: expected 5 bytes, got *' bare manifest.json \
    's|\(particles.sion", "size": \)[0-9]*|\15|'
edit 'set/sion/particles.sion: size: expected *' bare manifest.json 's|\(particles.sion", "size": \)[0-9]*|\1"x"|'
edit 'set/sion/particles.sion: size: expected *' bare manifest.json 's|\(particles.sion", "size": \)[0-9]*|\1-1e99|'
for path in ../whole/truth.json /etc/passwd sion/../../whole/truth.json .. '' sion//particles.sion; do
    edit 'set/manifest.json: file 4: expected a path below the directory, got *' bare manifest.json \
        "s|sion/particles.sion.000003|$path|"
done
edit 'set/manifest.json: file 0: expected a path below the directory, got xxxx*' bare manifest.json \
    "s|linktest/pingpong|$(printf '%05000d' 0 | tr 0 x)|"
edit 'set/manifest.json: file 4: expected a path below the directory, got none' bare manifest.json \
    's|"sion/particles.sion.000003"|7|'
edit 'set/missing: expected a file, as the manifest lists it, got none' bare manifest.json 's|truth.json|missing|'
edit 'set/sion: *' bare manifest.json 's|truth.json|sion|'
edit 'set/manifest.json: expected a list of files, got none' bare manifest.json 's/"files": \[/"fils": [/'
edit 'set/manifest.json: expected JSON, got something else at offset *' bare manifest.json '$d'
edit 'set/manifest.json: expected JSON, got something else at offset *' bare manifest.json 's/{/[/'
: >set/manifest.json
refuse 1 'set/manifest.json: expected JSON*' "$HPCGEN" verify set
head -c 100000 /dev/zero | tr '\0' '[' >set/manifest.json
refuse 1 'set/manifest.json: expected JSON*' "$HPCGEN" verify set
rm set/manifest.json
mkdir set/manifest.json
refuse 1 'set/manifest.json: expected a regular file*' "$HPCGEN" verify set
rm -r set/manifest.json
mkfifo set/manifest.json
refuse 1 'set/manifest.json: expected a regular file*' "$HPCGEN" verify set

# Other kinds of damage: FIFOs, unknown or missing files, paths that are too long.
rm -rf set && cp -r bare set
rm set/truth.json && mkfifo set/truth.json
refuse 1 'set/truth.json: *' "$HPCGEN" verify set
for command in verify info; do
    refuse 1 'set/truth.json: expected a file of a known format*' "$HPCGEN" $command set/truth.json
    refuse 1 'set/linktest/none: expected a file or directory: No such file or directory' \
        "$HPCGEN" $command set/linktest/none
done
refuse 1 "*: File name too long" "$HPCGEN" verify "$(printf '%05000d' 0)"
refuse 1 "*: File name too long" "$HPCGEN" join "$(printf '%05000d' 0)"
exit $failed
