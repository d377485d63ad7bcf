#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The example `keys` writes records under keys. The example and hpcgen must find the same record. Usage: keys.sh KEYS HPCGEN
set -eu
absolute() { (cd "$(dirname "$1")" && echo "$PWD/$(basename "$1")"); }
keys=$(absolute "$1") hpcgen=$(absolute "$2")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

"$keys" >got
echo 'step 7 of task 1' >expected
diff expected got
"$hpcgen" verify keys.sion
"$hpcgen" info --all keys.sion | grep -q '^content: *key-value$'
"$hpcgen" export keys.sion --task 1 --key 7 --quiet --output - >got
diff expected got
