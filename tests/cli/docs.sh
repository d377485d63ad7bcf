#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Tools accept the manual page and the completions that the program prints.
status=0
bad() {
    echo "$*"
    status=1
}

"$HPCGEN" --help-man >page || bad "--help-man failed"
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
"$HPCGEN" --help | grep -q '^Usage: ' || bad "--help without usage"

# The bash completion completes the last word of the command line.
if command -v bash >/dev/null; then
    mkdir dir
    : >file
    cat >driver.bash <<'END'
source ./completion.bash
compopt() { :; }
words() {
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
    _hpcgen
    echo "${COMPREPLY[*]}"
}
words hpcgen ver
words hpcgen plan --scale ''
words hpcgen --scale = t
words hpcgen --no-c
words hpcgen -f linktest,si
words hpcgen -o ''
words hpcgen join d
words hpcgen info --j
words hpcgen list w
words hpcgen list ''
END
    bash driver.bash >got
    topics=$("$HPCGEN" list | sed -n '/^topics/,/^$/p' | tail -n +2 | tr -d ',\n' | xargs)
    cat >wanted <<END
verify
tiny small medium large
tiny
--no-checksums
linktest,sion
dir
dir
--json
workloads
$topics
END
    diff -u wanted got || bad "bash completes other words"
fi

# doc/truth.md has every member of truth.json, for a run with faults and for one with a workload.
"$HPCGEN" --ranks 64 --scale tiny --quiet --out faults --set machine.nodes_per_switch=4 --set machine.nodes_per_group=8 \
    --set machine.bad_node_share=0.2 --set machine.bad_cable_share=0.3 --set machine.slow_node_share=0.2 \
    --set linktest.tail_probability=1e-3 --set trace.skew=1 --set load.scenario=spike --set rank2file.missing_files=1 \
    --set rank2file.stale_index=yes
"$HPCGEN" --ranks 8 --scale tiny --quiet --formats clog2 --workload farm --out workload
grep -ho '"[a-z0-9_]*":' faults/truth.json workload/truth.json | tr -d '":' | sort -u >members
[ "$(wc -l <members)" -gt 80 ] || bad "few members in truth.json"
while read -r member; do
    grep -q "\`$member\`" "$HERE/../../doc/truth.md" || bad "doc/truth.md lacks $member"
done <members

exit $status
