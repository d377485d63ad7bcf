#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Compiles a program that includes one public header twice, and no other header, and refers to every function that the
# header declares. Usage: compile.sh HEADER INCLUDE_DIR C|C++ "LIBRARIES" COMPILER [OPTION...]
#
# It must compile without a warning as strict C11 or C++11. With LIBRARIES it must also link: each declared
# function exists, is exported, and has C linkage when it is declared in C++.
set -eu
header=$1 include=$2 language=$3 libraries=$4
shift 4

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

case $language in
C) source=$scratch/alone.c std=-std=c11 ;;
C++) source=$scratch/alone.cc std=-std=c++11 ;;
esac
case $header in
*/include/hpcw/*) name=hpcw/$(basename "$header") ;;
*) name=$(basename "$header") ;;
esac

functions=$("$(dirname "$0")/declared.sh" "$header")
{
    echo "#include <$name>"
    echo "#include <$name>"
    echo "typedef void function(void);"
    # Not static: the compiler must keep every reference, used or not.
    echo "extern function *const hpcw_test_functions[];"
    echo "function *const hpcw_test_functions[] = {"
    for f in $functions; do echo "    (function *)$f,"; done
    echo "    (function *)0};"
    echo "int main(void) { return hpcw_test_functions[0] == (function *)0 ? 1 : 0; }"
} >"$source"

if [ -n "$libraries" ]; then
    # A sanitised library expects the sanitiser's run time in the program; this program is only linked, not run.
    # shellcheck disable=SC2086 # two libraries, perhaps
    "$@" "$std" -Wall -Wextra -Wpedantic -Wundef -Werror -Wno-cast-function-type -I"$include" "$source" \
        -o "$scratch/alone" $libraries -Wl,--unresolved-symbols=ignore-in-shared-libs
else
    "$@" "$std" -Wall -Wextra -Wpedantic -Wundef -Werror -Wno-cast-function-type -I"$include" -fsyntax-only "$source"
fi
