#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# hpcw-linktest: every kernel and order on 2 to 5 processes. The strict reader accepts the results, which say what
# was measured. $HPCGEN is the program.
export PROGRAM=hpcw-linktest
. "$HERE/refuse.inc"
generator=$(dirname "$HPCGEN")/../gen/hpcgen

# measure PROCESSES OPTION...  Writes r.sion and its facts to `facts`.
measure() {
    processes=$1
    shift
    rm -f r.sion
    "$MPIEXEC" -n "$processes" "$HPCGEN" --oversubscribe --output r.sion -w 2 -n 5 "$@" >said 2>errors ||
        bad "$processes processes, $*: $(cat errors)"
    "$generator" verify --quiet r.sion || bad "$processes processes, $*: the result is not sound"
    "$generator" info --all r.sion >facts || bad "$processes processes, $*: no facts"
    holds "tasks: $processes"
}
holds() { # LINE...: of the facts
    for line in "$@"; do
        grep -qx -e " *$line" facts || bad "expected $line, got: $(cat facts)"
    done
}

# ---- the facts in a result
measure 2 -s 8
holds 'kernel: semidirectional' 'messages: 5' 'message_size: 8' 'warmup_messages: 2' 'retests: 2' 'permutations: 1' \
    'steps: 1' 'mode: mpi' 'hosts: 1' 'serial: false' 'bisection: false' 'all_to_all: false' 'randomize_steps: false'
grep -aq "$(uname -n)" r.sion || bad "the result does not name the host"
grep -Eq '^git_hash: [0-9a-f]{40}$' facts || bad "no hash: $(cat facts)"
grep -qx '2 processes on 1 host, ping-pong, 5 messages after 2 to warm up' said || bad "it says: $(cat said)"
[ "$(grep -Ec '^ +8 ( +[0-9.]+ (ns|us|ms|s)){3} +[0-9.]+ .?i?B/s +[01] to [01] +[0-9.]+ (ns|us|ms|s)$' said)" -eq 1 ] ||
    bad "the table: $(cat said)"
[ ! -s errors ] || bad "on stderr: $(cat errors)"

# --json prints one object for all message sizes, and nothing else on standard output.
"$MPIEXEC" -n 2 "$HPCGEN" --oversubscribe --output r.sion -w 2 -n 5 -s 8,1K --all-to-all --json >links.json 2>errors ||
    bad "--json fails: $(cat errors)"
"$JSON_CHECK" links.json || bad "no JSON: $(cat links.json)"
for member in '"format": "hpcw-linktest"' '"processes": 2' '"kernel": "ping-pong"' '"file": "r.8.sion"' '"file": "r.1K.sion"' \
    '"bytes": 1024' '"mean_s": [0-9.e-]*' '"bytes_per_s": [0-9.e+]*' '{"from": [01], "to": [01], "time_s": .*, "again_s": .*}' \
    '"all_to_all": {'; do
    grep -q "$member" links.json || bad "JSON has no $member"
done

# Simulates two hosts, if this user may set host names.
if unshare -u true 2>/dev/null; then
    # shellcheck disable=SC2016
    "$MPIEXEC" -n 2 unshare -u sh -c 'hostname "node$$"; exec "$0" "$@"' "$HPCGEN" --oversubscribe -q -n 2 -o hosts.sion ||
        bad "a run on two hosts fails"
    "$generator" info --all hosts.sion >facts || bad "two hosts: no facts"
    holds 'hosts: 2'
    [ "$(grep -ao 'node[0-9]*' hosts.sion | sort -u | wc -l)" -eq 2 ] || bad "expected two names of hosts"
fi

# ---- kernels, orders and numbers of processes
for processes in 2 4; do
    for kernel in semidirectional bidirectional unidirectional; do
        flag=--$kernel
        [ $kernel != semidirectional ] || flag=--no-bidirectional
        # 150 messages are more than the 64 that may be under way at a time. 64 messages of 30000 bytes also exceed
        # the receive buffers of 64 KiB.
        measure $processes $flag -n 150 -s 30000
        holds "kernel: $kernel" "steps: $((processes - 1))"
        measure $processes $flag --bisection --serial-tests -s 0
        holds "kernel: $kernel" "steps: $((processes / 2))" 'bisection: true' 'serial: true' 'message_size: 0'
    done
done
measure 4 --randomize --num-randomize-tasks 3 --seed 7 --all-to-all --num-slowest 3 -w 0 -s 2M
holds 'randomize_steps: true' 'permutations: 3' 'task_seed: 7' 'all_to_all: true' 'retests: 3' 'warmup_messages: 0'
[ "$(grep -c ' all_to_all_min_s: ' facts)" -eq 3 ] || bad "expected all-to-all times of 3 permutations, got: $(cat facts)"
[ "$(grep -Ec '^ +all ( +[0-9.]+ (ns|us|ms|s)){3}$' said)" -eq 3 ] || bad "the table: $(cat said)"
measure 4 --num-slowest 0 --quiet -s 1K
holds 'retests: 0'
[ ! -s said ] || bad "--quiet prints: $(cat said)"

# ---- one result for each size
"$MPIEXEC" -n 2 "$HPCGEN" --oversubscribe -q -n 5 -s 0,1K:4K:x2,1M -o many.sizes.sion || bad "several sizes fail"
[ "$(echo many*)" = 'many.sizes.0.sion many.sizes.1K.sion many.sizes.1M.sion many.sizes.2K.sion many.sizes.4K.sion' ] ||
    bad "several sizes give: $(echo many*)"
for size in 0 1K 2K 4K 1M; do
    "$generator" verify --quiet many.sizes.$size.sion || bad "the result of $size is not sound"
done
mkdir with.dot
"$MPIEXEC" -n 2 "$HPCGEN" --oversubscribe -q -n 5 -s 1,2 -o with.dot/plain || bad "a name without a dot fails"
[ "$(echo with.dot/*)" = 'with.dot/plain.1 with.dot/plain.2' ] || bad "a name without a dot gives: $(echo with.dot/*)"
"$MPIEXEC" -n 2 "$HPCGEN" --oversubscribe -q -n 5 || bad "the default name fails"
"$generator" verify --quiet pingpong_results_bin.sion || bad "the default name is another one"

# ---- a report shows the result, and fit makes a synthetic twin
"$generator" fit --quiet pingpong_results_bin.sion --output twin.ini || bad "the result has no twin"
if "$generator" report pingpong_results_bin.sion --output page.html 2>report.err; then
    got=$("$HTML_CHECK" page.html) || bad "the report is no sound page: $got"
else
    grep -q 'got one without' report.err || bad "no report: $(cat report.err)"
fi

# ---- help, manual and completions
"$HPCGEN" --help >help || bad "--help fails"
grep -q -e '-s, --size-messages SIZES' help || bad "--help says: $(cat help)"
"$HPCGEN" --help-man >page || bad "--help-man fails"
if command -v groff >/dev/null; then
    groff -man -Tutf8 -ww -z page 2>complaints || bad "groff refuses the page"
    [ ! -s complaints ] || bad "groff on the page: $(cat complaints)"
fi
for shell in bash zsh fish; do
    "$HPCGEN" --help-completion $shell >completion.$shell || bad "--help-completion $shell fails"
    if command -v $shell >/dev/null; then
        $shell -n completion.$shell || bad "$shell refuses its completion"
    fi
done
exit $failed
