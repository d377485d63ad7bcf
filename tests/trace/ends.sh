#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The wrapper's messages about the log at the begin and end of a program, and that it prints nothing else.
# Usage: ends.sh LIBRARY PROGRAM OPENS PLUGIN TOOL HPCGEN
set -eu
library=$(realpath "$1") program=$(realpath "$2") opens=$(realpath "$3") plugin=$(realpath "$4")
tool=$(realpath "$5") hpcgen=$(realpath "$6")

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
mkdir local
unset OMPI_COMM_WORLD_RANK PMIX_RANK PMI_RANK SLURM_PROCID HPCW_TRACE_FILE
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
HPCW_TRACE_DIR=$scratch/local
export ASAN_OPTIONS HPCW_TRACE_DIR

fail() {
    echo "$how: $*"
    cat err
    exit 1
}

# Usage: traced [NAME=VALUE...] PROGRAM [ARGUMENT...]
traced() {
    how="$*"
    env LD_PRELOAD="$library${LD_PRELOAD:+:$LD_PRELOAD}" "$@" >out 2>err || fail "the program fails"
}

# Usage: says [PATTERN]; expects one line that starts like this, or nothing
says() {
    [ "$(wc -l <err)" -eq $# ] || fail "expected $# lines"
    [ $# -eq 0 ] || grep -q "^hpcw_trace: $1" err || fail "expected: $1"
}

# A log replaces the log of the last run. The wrapper reports the replacement if the name of the log is the default.
traced "$program"
says
"$hpcgen" verify --quiet ends.clog2
traced "$program"
says 'ends.clog2: the log of this run is going to replace this one; HPCW_TRACE_FILE'
traced HPCW_TRACE_FILE=ends.clog2 "$program"
says
traced HPCW_TRACE=0 "$program"
says
rm ends.clog2

# Without MPI_Finalize, the records are in local files.
for end in return exit quick_exit _exit; do
    traced "$program" $end
    says 'no log: the program ended without MPI_Finalize; the records are still there: hpcgen recover --output ends.clog2 /'
    # shellcheck disable=SC2046 # the command as it was printed
    "$hpcgen" $(sed 's/.*: hpcgen //' err) 2>said || { cat said; fail "the command of the message fails"; }
    "$hpcgen" verify --quiet ends.clog2
    rm ends.clog2 local/*
done

# The program calls MPI in a child.
traced HPCW_TRACE_FILE=child.clog2 "$program" "fork "
says
"$hpcgen" verify --quiet child.clog2
rm child.clog2
for end in exit _exit; do
    traced HPCW_TRACE_FILE=child.clog2 "$program" "fork $end"
    says 'no log: the program ended without MPI_Finalize; the records are still there: hpcgen recover --output child.clog2 /'
    rm local/*
done

# A name that no log can have is detected at the start, and the default is used.
mkdir sub
long=$(printf '%0300d' 0)
for name in sub/ / sub/.. "sub/$long"; do
    traced HPCW_TRACE_FILE="$name" "$program"
    says "HPCW_TRACE_FILE: expected [^,]*, got '.*; using the default"
    "$hpcgen" verify --quiet ends.clog2
    rm ends.clog2
done

# The command that makes the log can be pasted, whatever the names of log and directory are.
# If a message cannot show the name of the log, the command has the word LOG in its place, and the user chooses a name.
# shellcheck disable=SC2317 # called by eval
hpcgen() {
    "$hpcgen" "$@"
}
mkdir "a 'b"
for name in "it's \$(touch pwned).clog2" "-n;touch pwned" "$(printf 'two\nlines')"; do
    traced HPCW_TRACE_DIR="$scratch/a 'b" HPCW_TRACE_FILE="./$name" "$program" return
    says 'no log: the program ended without MPI_Finalize; the records are still there: hpcgen recover --output '
    command=$(sed 's/.*: hpcgen /hpcgen /; s/--output LOG/--output recovered/' err)
    eval "$command" 2>said || { cat said; fail "the command of the message fails"; }
    [ ! -e pwned ] || fail "a name was run as a command"
    [ -e "./$name" ] || [ -e recovered ] || fail "expected the log"
    rm -f "./$name" recovered "a 'b"/*
done

# Viewers refuse a log without records, so none is made.
traced "$program" empty
says 'no log: the program made no call that is recorded'
traced HPCW_TRACE=0 "$program"
says
[ ! -e ends.clog2 ] || fail "expected no log"

# After a call that was left by longjmp, calls are missing.
traced HPCW_TRACE_FILE=leap.clog2 "$program" leap
says 'leap.clog2: 1 process left a call of MPI by longjmp or an exception; later calls are not in the log'
"$hpcgen" verify --quiet leap.clog2

# Another tool is preloaded after the wrapper. It gets no calls of MPI, and the wrapper reports this.
traced HPCW_TRACE_FILE=tool.clog2 "$program"
says
how="a tool behind the wrapper"
env LD_PRELOAD="$library:$tool${LD_PRELOAD:+:$LD_PRELOAD}" HPCW_TRACE_FILE=tool.clog2 "$program" >out 2>err ||
    fail "the program fails"
says "$tool gets no calls of MPI: it has MPI_Finalize and comes after the wrapper"

# The program opens an MPI library by dlopen and calls its functions. The wrapper sees no call and reports this.
mpi=$(ldd "$library" | sed -n 's/.* => \(.*libmpi[a-z]*\.so\.[0-9]*\) .*/\1/p')
for of in "$mpi handle" "$plugin deep"; do
    # AddressSanitizer ends a program that opens a library with RTLD_DEEPBIND.
    if [ "${of##* }" = deep ] && [ -n "${SANITIZED-}" ]; then
        continue
    fi
    # shellcheck disable=SC2086 # two words
    traced "$opens" $of
    says 'opens: no log: no call of MPI_Init came to the wrapper: '
done
