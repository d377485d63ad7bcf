#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Each mistake gives one line on stderr and a status that is not 0, and leaves no files.
refuse() {
    "$HPCGEN" "$@"
    echo "$?  $*" | cut -c 1-80
    left=$(ls -A)
    [ "$left" = full ] || { echo "left over: $left"; rm -rf out; }
}
mkdir full
echo mine >full/notes

refuse
refuse wibble
refuse --wibble
refuse --ranks 8
refuse --ranks 0 --out out
refuse --ranks 8x --out out
refuse --ranks 99999999999999999999 --out out
refuse --ranks 7 --out out
refuse --ranks 7 --formats linktest --out out
refuse --ranks 8 --formats sion,bogus --out out
refuse --ranks 8 --preset bogus --out out
refuse --ranks 8 --scale huge --out out
refuse --ranks 8 --set bogus=1 --out out
refuse --ranks 8 --set machine.ppn=few --out out
refuse --ranks 8 --config missing.ini --out out
refuse --ranks 8 --part 4/3 --out out
refuse --ranks 8 --part 1/2 --force --out out
refuse --ranks 8 --out full
refuse --ranks 8 --out full/notes
refuse --ranks 8 --out "$(printf '%05000d' 0)"
refuse verify missing
refuse verify full
refuse verify full/notes
refuse info missing
refuse info full/notes
# Temporary files of a container whose writer was killed.
echo data >full/.hpcw-0123456789abcdef-a.sion.tmp
refuse verify full/.hpcw-0123456789abcdef-a.sion.tmp
refuse info full/.hpcw-0123456789abcdef-a.sion.tmp
: >full/.hpcw-0123456789abcdef-a.sion.tmp
refuse report full/.hpcw-0123456789abcdef-a.sion.tmp
rm full/.hpcw-0123456789abcdef-a.sion.tmp
refuse join full
refuse join missing
cat full/notes
