#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# hpcw-trace finds the library for the program's MPI, says where the log will be, and applies its options.
# Usage: command.sh HPCW_TRACE LIBDIR LIBRARY MPIEXEC PROGRAM OTHER_PROGRAM OTHER_LIBRARY LOADED_PROGRAM HPCGEN
#     [STATIC_PROGRAM]
# LIBDIR: relative to the directory of hpcw-trace. OTHER_...: of another MPI. LOADED_PROGRAM: its loader is ./loader.
set -eu
command=$(realpath "$1") libdir=$2 library=$(realpath "$3") mpiexec=$4 program=$(realpath "$5") other=$(realpath "$6")
other_library=$(realpath "$7") loaded=$(realpath "$8") hpcgen=$(realpath "$9")
shift 9
static=${1:+$(realpath "$1")}

scratch=$(realpath "$(mktemp -d)")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
unset HPCW_TRACE HPCW_TRACE_FILE HPCW_TRACE_DIR HPCW_TRACE_MEMORY HPCW_TRACE_ALSO HPCW_TRACE_SKIP HPCW_TRACE_WAIT
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS

fail() {
    echo "$1"
    [ $# -lt 2 ] || cat "$2"
    exit 1
}
# Usage: refused STATUS PATTERN WORDS... : nothing is started, and one line says why.
refused() {
    expected=$1 pattern=$2 got=0
    shift 2
    "$trace" "$@" >out 2>err || got=$?
    [ "$got" = "$expected" ] || fail "$*: expected status $expected, got $got" err
    [ ! -s out ] || fail "$*: expected that nothing starts" out
    [ "$(wc -l <err)" = 1 ] || fail "$*: expected one line" err
    grep -q "^hpcw-trace: $pattern" err || fail "$*: expected $pattern" err
}
# Prints the environment that a program gets.
environment() {
    "$trace" "$@" sh -c 'env' 2>/dev/null | grep -e '^HPCW_TRACE' -e '^LD_PRELOAD' | LC_ALL=C sort
}

# An installation with the library of another MPI beside it.
mkdir -p prefix/bin "prefix/bin/$libdir" "prefix/bin/$libdir/hpcw/this"
trace=$scratch/prefix/bin/hpcw-trace
installed=$(realpath "prefix/bin/$libdir")
cp "$command" "$trace"
refused 1 "$installed: expected libhpcw_trace.so, got none: name it with --library" "$program"
cp "$library" "$installed/hpcw/this/libhpcw_trace.so"
cp "$other_library" "$installed/libhpcw_trace.so"

echo "== a log of all processes, without a variable"
"$mpiexec" -n 2 "$trace" "$program" >out 2>err || fail "the program fails" err
log=$scratch/$(basename "$program").clog2
[ "$(grep hpcw err)" = "hpcw-trace: $program: the log will be $log" ] || fail "expected one line with $log" err
"$hpcgen" verify "$log"
"$hpcgen" info --json "$log" >info.json
grep -q '"ranks": 2' info.json || fail "expected a log of 2 ranks" info.json

# With HPCW_TRACE=0, hpcw-trace says that nothing is recorded unless the program switches the recording on.
HPCW_TRACE=0 "$mpiexec" -n 2 "$trace" --output off.clog2 "$program" >out 2>err || fail "the program fails" err
said="nothing is recorded unless the program calls MPI_Pcontrol(1); the log is then $scratch/off.clog2"
[ "$(grep hpcw err)" = "hpcw-trace: $program: $said" ] || fail "expected that nothing is recorded" err

echo "== from PATH, and by a link"
ln -s "$trace" link
cp "$program" prefix/bin/the_program
PATH=$scratch/prefix/bin:$PATH ./link --output "sub.clog2" the_program >out 2>err || fail "the program fails" err
grep -q "^hpcw-trace: the_program: the log will be $scratch/sub.clog2$" err || fail "another log" err
"$hpcgen" verify sub.clog2
"$trace" --output none/log.clog2 sh -c : 2>err || fail "the program fails" err
HPCW_TRACE_FILE=$(printf '%0300d' 0) "$trace" sh -c : 2>long || fail "a name that is too long stops the program" long
grep -q " the log will be $scratch/none/log.clog2, whose directory does not exist yet$" err || fail "nothing of the directory" err

echo "== options instead of variables"
preload=$(environment | sed -n 's/^LD_PRELOAD=//p')
case $preload in "$installed/libhpcw_trace.so"*) ;; *) fail "expected the first library for a shell, got $preload" ;; esac
[ "$(environment | grep -v LD_PRELOAD)" = "" ] || fail "variables without options: $(environment)"
cat >expected <<ENDE
HPCW_TRACE=0
HPCW_TRACE_ALSO=group
HPCW_TRACE_CLOCK=mpi
HPCW_TRACE_CLOCKS=1
HPCW_TRACE_DIR=/dev/shm
HPCW_TRACE_FILE=/a/b.clog2
HPCW_TRACE_MEMORY=128
HPCW_TRACE_SKIP=message,collective
HPCW_TRACE_WAIT=30
ENDE
environment --output /a/b.clog2 --dir /dev/shm --memory 128M --also group --skip message,collective --paused --wait 30 \
    --clock mpi --clocks | grep -v LD_PRELOAD | diff expected -
# The program may leave the working directory before it calls MPI_Init.
environment --output b.clog2 --dir local | grep -v LD_PRELOAD >got
printf 'HPCW_TRACE_DIR=%s/local\nHPCW_TRACE_FILE=%s/b.clog2\n' "$scratch" "$scratch" | diff - got
environment --only message,group | grep -v LD_PRELOAD >got
cat >expected <<ENDE
HPCW_TRACE_ALSO=message,group
HPCW_TRACE_SKIP=collective,communicator,topology,datatype,attribute,environment,file,window,spawn,info
ENDE
diff expected got
"$mpiexec" -n 2 "$trace" --only collective --output few.clog2 "$program" >out 2>err || fail "the program fails" err
"$hpcgen" info --all few.clog2 | grep -q 'MPI_Send' && fail "messages are recorded"
# Words after the program are its arguments.
[ "$("$trace" sh -c 'echo "$@"' sh --output x -h 2>/dev/null)" = "--output x -h" ] || fail "the program gets other words"
got=0
"$trace" sh -c 'exit 5' 2>/dev/null || got=$?
[ $got = 5 ] || fail "expected the program's status, got $got"

# The library has an absolute path, since the program may leave the working directory.
cp "$library" named.so
case $(environment --library named.so | sed -n 's/^LD_PRELOAD=//p') in
    "$scratch/named.so"*) ;;
    *) fail "expected $scratch/named.so, got $(environment --library named.so)" ;;
esac

echo "== programs without MPI, of another one, without libraries"
"$trace" sh -c true 2>err
grep -q "^hpcw-trace: sh: not linked with a shared library of MPI: if it opens one, .* the log will be $scratch/PROGRAM.clog2$" err ||
    fail "nothing is said of a program without MPI" err
PMI_RANK=1 "$trace" sh -c true 2>err
[ ! -s err ] || fail "more than one process speaks" err
rm "$installed/libhpcw_trace.so"
refused 1 "$other: expected a program with the MPI of an installed libhpcw_trace.so (libmpi.*), got one with libmpi_other.so:.*" "$other"
refused 1 "$other: expected .* got one with libmpi_other.so:" --library "$library" "$other"
[ -z "$static" ] || refused 1 "$static: nothing can be recorded: .* statically linked one" "$static"

# The loader does not find an MPI library that a program needs.
cp "$other" alone
got=0
env -u LD_LIBRARY_PATH "$trace" --library "$library" ./alone >out 2>err || got=$?
[ $got = 127 ] || fail "expected the loader's status, got $got" err
grep -q '^hpcw-trace: \./alone: a library cannot be loaded: libmpi_other\.so.*: cannot open shared object file.*: add its directory to LD_LIBRARY_PATH$' err ||
    fail "the library is not named" err
if grep 'not linked' err; then fail "MPI is denied"; fi

echo "== a build directory"
rm -r "$installed/hpcw"
mkdir prefix/libwriter
cp "$library" prefix/libwriter/libhpcw_trace.so
[ "$(environment | sed -n 's/^LD_PRELOAD=\([^:]*\).*/\1/p')" = "$scratch/prefix/libwriter/libhpcw_trace.so" ] ||
    fail "the library of the build directory is not found: $(environment)"

echo "== refusals"
refused 127 "$scratch/none: cannot start it: " "$scratch/none"
refused 127 'no_such_program: expected a program in PATH, got none' no_such_program
refused 1 'none.so: expected a file for --library, got none' --library none.so sh
# A program of which nobody knows whether it loads MPI does not count as one without MPI.
got=0
prlimit --nofile=4 "$trace" "$program" >out 2>err || got=$?
[ $got = 1 ] || fail "expected status 1 without descriptors, got $got" err
grep -q "^hpcw-trace: $program: cannot find out which libraries it loads: Too many open files" err ||
    fail "the reason is not named" err
# Nor does one whose loader fails.
asked="$loaded: cannot find out which libraries it loads: ./loader"
rm -f loader
refused 1 "$asked: No such file or directory" "$loaded"
printf '#!/bin/sh\nprintf "\\tlibc.so.6\\n"\nkill -9 $$\n' >loader
chmod +x loader
refused 1 "$asked --list ended by signal 9" "$loaded"
# Also not if the caller ignores the ends of its children; the program then ignores them, too.
if command -v bash >found; then # other shells do not pass this on
    cat >ignoring <<ENDE
#!/usr/bin/env bash
trap '' CHLD
exec "$trace" "\$@"
ENDE
    chmod +x ignoring
    hold=$trace trace=$scratch/ignoring
    refused 1 "$asked --list ended by signal 9" "$loaded"
    trace=$hold
    ./ignoring grep SigIgn /proc/self/status >ignored 2>err
    [ $((0x$(cut -f 2 ignored) >> 16 & 1)) = 1 ] || fail "the program does not ignore SIGCHLD" ignored
fi
printf '#!/bin/sh\nexit 3\n' >loader
refused 1 "$asked --list ended with status 3" "$loaded"
cp "$other_library" alone.so
(
    unset LD_LIBRARY_PATH
    refused 1 "$scratch/alone\.so: a library of it cannot be loaded: libmpi_other\.so" --library alone.so "$program"
)
# A library that cannot be looked at does not count as missing.
ln -s loop.so loop.so
refused 1 'loop.so: cannot look at it: Too many levels of symbolic links' --library loop.so sh
mkdir -p alone_bin "alone_bin/$libdir"
cp "$command" alone_bin/hpcw-trace
alone=$(realpath "alone_bin/$libdir")
ln -s hpcw "$alone/hpcw"
trace=$scratch/alone_bin/hpcw-trace
refused 1 "$alone/hpcw: cannot look at it: Too many levels of symbolic links" sh
trace=$scratch/prefix/bin/hpcw-trace
refused 2 'mpirun: expected a program that the launcher starts: mpirun \.\.\. hpcw-trace PROGRAM' mpirun -np 2 sh
refused 2 '--only: expected neither --also nor --skip' --only message --skip file sh
refused 2 'hpcw-trace: expected PROGRAM-FILE' --output x
refused 2 '--memory: ' --memory 1 sh
refused 2 '--only: expected .* did you mean message' --only messages sh

# The local file of a process that died, in little-endian byte order. No log gets its name.
if [ "$(printf '\1\0' | od -An -d | tr -d ' ')" = 1 ]; then
    printf '\310PCWCL2\n and more' >0.local
    cp 0.local kept
    records='expected an output, got the local file of a recorded run, with records that may be nowhere else'
    refused 1 "$scratch/0.local: $records" --output 0.local sh
    HPCW_TRACE_FILE=0.local refused 1 "0.local: $records" sh
    HPCW_TRACE_FILE=0.local LD_PRELOAD=$library "$mpiexec" -n 2 "$program" >out 2>err || fail "the program fails" err
    [ "$(grep -c "nothing is recorded: 0.local: $records" err)" = 1 ] || fail "expected that nothing is recorded" err
    cmp 0.local kept || fail "the local file is another one"
fi
