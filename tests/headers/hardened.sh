#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Checks that FILE shows the options an optimised build is compiled and linked with. With "linked", checks only the
# options of the linker: the modules of Fortran have too little C code for the others.
# Usage: hardened.sh READELF FILE [linked]
set -u
readelf=$1 file=$2 kind=${3-} status=0

has() { # WHAT OPTION PATTERN
    if ! "$readelf" "$2" -W "$file" | grep -q -E "$3"; then
        echo "$file: expected $1, got none"
        status=1
    fi
}
has 'a read-only table of addresses (-z relro)' -l GNU_RELRO
has 'all addresses at the start (-z now)' -d 'BIND_NOW|FLAGS_1.* NOW'
[ "$kind" != linked ] || exit $status
has 'canaries on the stack (-fstack-protector-strong)' --dyn-syms __stack_chk_fail
has 'checked copies and texts (_FORTIFY_SOURCE)' --dyn-syms '__[a-z0-9_]+_chk@'
exit $status
