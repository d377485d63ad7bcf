#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Parts are not a dataset until all of them exist.
"$HPCGEN" --ranks 8 --out set --part 1/3 --quiet || exit
"$HPCGEN" --ranks 8 --out set --part 3/3 --quiet || exit
"$HPCGEN" join --quiet set
echo "join: $?"
"$HPCGEN" verify --quiet set
echo "verify: $?"
for file in manifest.json truth.json CHECKSUMS.xxh128; do
    [ ! -e set/$file ] || echo "$file looks finished"
done
