#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Checks help, manual page and completions of both programs, and that a letter means the same in both. $HPCGEN is
# the benchmark.
. "$HERE/refuse.inc"
generator=$(dirname "$HPCGEN")/../gen/hpcgen

for program in "$HPCGEN" "$generator"; do
    rm -f text.*
    "$program" --help >whole || bad "$program: --help failed"
    sed -n '/^Commands/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p' whole >commands
    [ -s commands ] || bad "$program: no commands in $(cat whole)"
    while read -r command; do
        "$program" "$command" --help >help || bad "$program $command: --help failed"
        cp help "text.$command"
        twice=$(grep '^[A-Z].*:$' help | sort | uniq -d)
        [ -z "$twice" ] || bad "$program $command: a heading is there twice: $twice"
        # Default values are printed as people write numbers.
        grep -E 'default[^ ]* (is )?[0-9.]*(e[0-9]|[0-9]{7})' help && bad "$program $command: a default is no text for people"
    done <commands
    "$program" help | cmp - whole || bad "$program help: another text than --help"
    "$program" help report | cmp - text.report || bad "$program help report: another text than --help"
    "$program" report help | cmp - text.report || bad "$program report help: another text than --help"
    PROGRAM=$(basename "$program") refuse 2 "unknown command \`reprot\`; did you mean \`report\`?" "$program" reprot
    "$program" -V | grep -q '^built with .*MPI.*, .*HDF5.*, .*OTF2.*, Lua [0-9]' || bad "$program -V: $("$program" -V)"
    "$program" --help-man >page || bad "$program: --help-man failed"
    python3 "$HERE/page_check.py" page text.* || bad "$program: page and help differ"
    # A line for each option: its letter or "-", its name, and the word for its value or "-".
    sed -n 's/\[no\\-\]//; s/\\fR\|\\f[BI]\|\\//g; /^-/p' page | sed 's/^-\(.\), --/\1 /; s/^--/- /; s/$/ -/' |
        cut -d' ' -f1-3 >"options.$(basename "$program")"
done
# Programs without subcommands. They exist only in a build with MPI.
: >alone.none
linktest=$(dirname "$HPCGEN")/hpcw-linktest
for program in "$linktest" "$(dirname "$HPCGEN")/../trace/hpcw-trace"; do
    [ -x "$program" ] || continue
    "$program" --help >"alone.$(basename "$program")"
    "$program" --help-man >page
    python3 "$HERE/page_check.py" page "alone.$(basename "$program")" || bad "$program: page and help differ"
done
[ ! -x "$linktest" ] || "$linktest" help | cmp - alone.hpcw-linktest || bad "hpcw-linktest help: another text than --help"
# Runs the examples of the help texts as command lines, without the launchers. Status 2 means that an option is
# wrong.
mkdir -p bin examples
for program in "$HPCGEN" "$linktest" "$(dirname "$HPCGEN")/../trace/hpcw-trace"; do
    [ ! -x "$program" ] || ln -sf "$(realpath "$program")" "bin/$(basename "$program")"
done
for command in sweep metadata model report compare site; do
    "$HPCGEN" $command --help
done | cat - alone.* | sed -n '/^Examples:/,/^[^ ]/s/^  \([a-z]*run [-a-z0-9 ]*\|mpiexec -n [0-9]* \)\{0,1\}hpcw/hpcw/p' >lines
sed -i "s|/scratch/me|$PWD/nowhere|" lines
[ "$(wc -l <lines)" -ge 12 ] || bad "no examples: $(cat lines)"
while read -r line; do
    (cd examples && PATH=$PWD/../bin:$PATH timeout 60 sh -c "$line" >../said 2>&1 </dev/null)
    [ $? -ne 2 ] || bad "$line: $(cat said)"
done <lines
# An option has the same letter in both programs, and takes a value in both or in neither. A letter stands for one
# option name.
awk 'NR == FNR { name[$1] = $2; letter[$2] = $1; value[$2] = $3 != "-"; known[$2]; next }
    $1 != "-" && name[$1] != "" && name[$1] != $2 { print "-" $1 ": here --" $2 ", in hpcgen --" name[$1] }
    $2 in known && letter[$2] != $1 { print "--" $2 ": here -" $1 ", in hpcgen -" letter[$2] }
    $2 in known && value[$2] != ($3 != "-") { print "--" $2 ": takes a value in one of the programs alone" }' \
    options.hpcgen options.hpcw-bench >differ
[ ! -s differ ] || bad "$(cat differ)"
grep -qx 'n ranks N' options.hpcw-bench || bad "no options in $(cat options.hpcw-bench)"

"$HPCGEN" --help-man >page
grep -q 'WHAT A SWEEP DOES' page || bad "the manual does not tell what a sweep does"
if command -v groff >/dev/null; then
    groff -man -Tutf8 -ww -z page 2>complaints || bad "groff refuses the page"
    [ ! -s complaints ] || bad "groff on the page: $(cat complaints)"
fi

for shell in bash zsh fish; do
    "$HPCGEN" --help-completion $shell >completion.$shell || bad "--help-completion $shell failed"
    if command -v $shell >/dev/null; then
        $shell -n completion.$shell || bad "$shell refuses its completion"
    fi
done
if command -v bash >/dev/null; then
    mkdir dir
    cat >driver.bash <<'END'
source ./completion.bash
compopt() { :; }
words() {
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
    _hpcw_bench
    echo "${COMPREPLY[*]}"
}
words hpcw-bench mo
words hpcw-bench --layout task-local,sha
words hpcw-bench sweep --mode fs
words hpcw-bench d
END
    bash driver.bash >got
    printf '%s\n' model task-local,shared-posix fsync dir >expected
    diff -u expected got || bad "bash completes other words"
fi
exit $failed
