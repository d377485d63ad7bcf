#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs one command line test. Usage: run.sh NAME.sh HPCGEN [MPIEXEC]
#
# The script runs under `sh -u` in an empty directory of its own. Set are $HPCGEN, the program; $MPIEXEC, empty
# without MPI; $HERE, the directory of the script. Files beside the script have the expected results:
#
#   NAME.stdout   exactly this; without the file the output does not matter
#   NAME.stderr   one shell pattern a line, matched against the lines of stderr; without the file stderr is empty
#   NAME.exit     the exit status; without the file 0
#
# Exit status 77 skips the test.
set -u
script=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
HERE=$(dirname "$script") HPCGEN=$2 MPIEXEC=${3-}
case $HPCGEN in
/*) ;;
*) HPCGEN=$PWD/$HPCGEN ;; # Meson names programs relative to where it started
esac
export HERE HPCGEN MPIEXEC
expected=${script%.sh}

scratch=$(mktemp -d)
# Scripts may remove permissions, without which rm would fail.
trap 'chmod -R u+rwX "$scratch"; rm -rf "$scratch"' EXIT
mkdir "$scratch/in"

(cd "$scratch/in" && sh -u "$script") >"$scratch/stdout" 2>"$scratch/stderr" </dev/null
got=$?
[ "$got" -ne 77 ] || { cat "$scratch/stderr" >&2; exit 77; }

failed=0
complain() {
    echo "$(basename "$script"): $*"
    failed=1
}

wanted=0
[ ! -f "$expected.exit" ] || wanted=$(cat "$expected.exit")
[ "$got" -eq "$wanted" ] || complain "exit status $got, expected $wanted"

if [ -f "$expected.stdout" ] && ! diff -u "$expected.stdout" "$scratch/stdout"; then
    complain "stdout differs from $(basename "$expected.stdout"), see above"
fi

patterns=/dev/null
[ ! -f "$expected.stderr" ] || patterns=$expected.stderr
lines=$(wc -l <"$scratch/stderr")
[ "$lines" -eq "$(wc -l <"$patterns")" ] || complain "$lines lines on stderr, expected $(wc -l <"$patterns")"
exec 3<"$patterns" 4<"$scratch/stderr"
while IFS= read -r pattern <&3 && IFS= read -r line <&4; do
    # shellcheck disable=SC2254
    case $line in
    $pattern) ;;
    *) complain "stderr has the line '$line', expected '$pattern'" ;;
    esac
done

if [ "$failed" -ne 0 ]; then
    echo "---- stdout"
    head -c 4000 "$scratch/stdout"
    echo "---- stderr"
    head -c 4000 "$scratch/stderr"
fi
exit $failed
