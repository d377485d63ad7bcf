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

# Complete as bash does: the words so far, of which the last one is incomplete.
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
END
    bash driver.bash >got
    cat >wanted <<'END'
verify
tiny small medium large
tiny
--no-checksums
linktest,sion
dir
dir
--json
END
    diff -u wanted got || bad "bash completes other words"
fi
exit $status
