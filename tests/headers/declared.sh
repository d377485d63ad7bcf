#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Prints the names of the functions that public headers declare, sorted. Usage: declared.sh HEADER...
{
    cat "$@" | tr '\n' ' ' | grep -o -E '(HPCW|SION)_API [^;]*;' | grep -o -E '(hpcw|sion)_[a-z0-9_]*\('
    cat "$@" | grep -E '^(int|const char) ' | grep -o 'MPE_[A-Za-z_]*('
} | tr -d '(' | LC_ALL=C sort -u
