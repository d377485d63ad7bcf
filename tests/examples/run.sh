#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs an example in an empty directory. The file that it leaves must be complete.
# Usage: run.sh HPCGEN FILE COMMAND...
set -eu
# Meson names programs relative to where it started.
absolute() {
    case $1 in
    /*) echo "$1" ;;
    *) echo "$PWD/$1" ;;
    esac
}
hpcgen=$(absolute "$1") file=$2
shift 2
# The command is a program, or a launcher with options and then the program.
n=$#
while [ "$n" -gt 0 ]; do
    if [ -f "$1" ]; then
        set -- "$@" "$(absolute "$1")"
    else
        set -- "$@" "$1"
    fi
    shift
    n=$((n - 1))
done

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

"$@"
left=$(ls -A)
if [ "$left" != "$file" ]; then
    echo "the example should leave $file and nothing else, but there is: $left"
    exit 1
fi
"$hpcgen" verify "$file"
