#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A small sweep: its output, and no files remain. $HPCGEN is the benchmark, $MPIEXEC may be empty.
export PROGRAM=hpcw-bench
. "$HERE/refuse.inc"
mkdir data

# sweep OUTPUT ARGS...
sweep() {
    out=$1
    shift
    $launch "$HPCGEN" data --out "$out" --budget 60s --repeat 2 --ranks 6 --per-rank 30000 --verify --quiet \
        --blocksize 4K,64K --record 5000 --files 1,3 "$@" || bad "fails: $launch $*"
    "$JSON_CHECK" "$out/results.json" || bad "$out/results.json is no JSON"
    [ -z "$(ls -A data)" ] || bad "data remain: $(ls -A data)"
    grep -q '"fate": "failed"' "$out/results.json" && bad "failed points: $(grep '"reason"' "$out/results.json")"
    # A build without Chart.js makes no page.
    case $(cd "$out" && echo *) in
    'report.html results.csv results.json' | 'results.csv results.json') ;;
    *) bad "$out holds $(ls "$out")" ;;
    esac
}
count() { grep -c "$1" "$2"; }

launch=''
sweep one --layout sion-aligned,sion-packed,sion-shifted,task-local,shared-posix
# Points: 6 with fsync at two block sizes (aligned, packed, shifted), 1 in three files, 2 of plain layouts, and 5 at
# 4K in each of the modes direct and preallocated. tmpfs has no direct I/O.
least=19
grep -q '"type": "tmpfs"' one/results.json && least=14
[ "$(count '"fate": "measured"' one/results.json)" -ge $least ] || bad "points are missing: $(grep reason one/results.json)"
[ "$(count '"verified": true' one/results.json)" -eq "$(count '"fate": "measured"' one/results.json)" ] || bad "not verified"
# The CSV has a heading and 4 rows per point: two repetitions of a run and its ceiling. Lines end as in RFC 4180.
[ "$(count . one/results.csv)" -eq $((1 + 4 * $(count '"fate": "measured"' one/results.json))) ] || bad "rows are missing"
[ "$(count "$(printf '\r')\$" one/results.csv)" -eq "$(count . one/results.csv)" ] || bad "line ends"

# Points are named by the size of their records. A rank writes 30000 bytes, so records of 1M have only 30000.
grep -q '"id": "shared-posix/fsync/records-5000"' one/results.json || bad "no point of the given record size"
"$HPCGEN" data --out names --budget 60s --repeat 1 --ranks 4 --per-rank 30000 --layout shared-posix --mode fsync \
    --record 4K,1M,30000 >table 2>progress || bad "fails with large records"
[ "$(sed -n 's/.*"id": "\(.*\)",$/\1/p' names/results.json | tr '\n' ' ')" = \
    'shared-posix/fsync/records-4K shared-posix/fsync/records-30000 ' ] || bad "other names: $(grep '"id"' names/results.json)"

# The plan says which differences the sweep can detect.
grep -q '^hpcw-bench: plan: 2 points, 1 rounds of [0-9.]* [mu]*s; too little for a difference to show$' progress ||
    bad "no plan: $(cat progress)"

# Points without a result are listed, but no verdict counts them. The last line says what to do.
grep -q '^shared-posix/fsync/records-30000  *117.2 KiB .*too small' table || bad "not too small: $(cat table)"
# The budget gives a run 182 ms. A run counts if it takes a quarter of this or more, in case the disk becomes four
# times as fast.
grep -q '"least_s": 0.04,' names/results.json || bad "another least time: $(grep least_s names/results.json)"
[ "$(count '"too_small": true' names/results.json)" -eq 2 ] || bad "results.json does not say what is too small"
case $(tail -n 1 table) in
"On $PWD/data ("*", host $(uname -n), 20"*') nothing can be said: 2 points are too small (below 256.0 MiB or '*' ms); use a larger --per-rank') ;;
*) bad "last line: $(tail -n 1 table)" ;;
esac
# A point with one run has no confidence interval.
[ ! -f names/report.html ] || ! grep -q '"low": [[]*[0-9]' names/report.html || bad "an interval of one run: $(grep '"low"' names/report.html)"
# If the budget is too short for runs of 256 MiB, smaller runs count, and a line says so.
if "$HPCGEN" data --out lowered --budget 4s --layout sion-aligned,sion-shifted --mode fsync --blocksize 4K --files 1 >table 2>progress; then
    least=$(sed -n 's/^ *"least_bytes": \([0-9]*\),$/\1/p' lowered/results.json)
    lowered=0
    [ "$least" -ge 268435456 ] || lowered=1
    [ "$(count '^hpcw-bench: measured: runs of [0-9.]* [KM]iB or more count, not of 256.0 MiB, as the budget is short; ' progress)" -eq $lowered ] ||
        bad "least bytes $least: $(cat progress)"
else # a busy disk
    grep -q 'nothing was measured: .*: the budget of 4.00 s is too small for it$' progress || bad "fails with a short budget: $(cat progress)"
fi
"$HPCGEN" data --out verdict --budget 60s --repeat 5 --ranks 4 --per-rank 1M --layout shared-posix,task-local \
    --mode fsync --least-bytes 4M --least-time 1us >table 2>progress || bad "fails with small limits"
case $(tail -n 1 table) in
'On '*') this job writes '*' if '* | 'On '*') nothing can be said: noisy'*' use --budget 20m') ;;
*) bad "last line: $(tail -n 1 table)" ;;
esac
[ "$(count '^left out' table)" -le 1 ] || bad "more than a line of what was left out: $(cat table)"

# --read: other processes read the written data in each counted run of a layout. The data of a ceiling are not read.
reading() {
    out=$1
    shift
    $launch "$HPCGEN" data --out "$out" --budget 60s --repeat 2 --ranks 6 --per-rank 30000 --record 7000 --blocksize 4K \
        --files 1 --layout sion-shifted,task-local,shared-posix --mode fsync --read "$@" >table 2>progress || bad "--read fails"
    [ "$(count '"read": {"total_s": ' "$out/results.json")" -eq 6 ] || bad "other runs were read: $(cat "$out/results.json")"
    grep -q '^task-local/fsync/records-7000 .* [0-9.]* [kMG]B/s\(, cached\)\{0,1\}  *too small' table || bad "no rate of reading: $(cat table)"
    [ "$(head -n 1 "$out/results.csv" | grep -c ',read_s,read_disk_bytes')" -eq 1 ] || bad "not in the CSV"
}
launch=''
reading read1
[ -z "$MPIEXEC" ] || launch="timeout 100 $MPIEXEC -n 2"
reading read2
refuse 1 '--readers: expected at most the number of processes, 1, got 2' "$HPCGEN" data --out never --readers 2
if [ -n "$MPIEXEC" ]; then
    refuse 1 '--writers: expected at most the number of processes, 1, got 2' "$HPCGEN" data --out never --writers 2
    reading read3 --readers 1
    # Only one process writes, so no block is shared by two writing processes.
    reading read4 --writers 1 --verify
    grep -q '"writers": 1,' read4/results.json || bad "the number of writers is not in the results"
    grep -q '"shared": [1-9][0-9]*, "shared_by_processes": 0,' read4/results.json || bad "one process shares blocks"
    grep -q '"verified": true' read4/results.json || bad "not read back"
    grep -q '"readers": 1,' read3/results.json || bad "the number of readers is not in the results"
    grep -q '"readers": 2,' read2/results.json || bad "not all processes read"
fi
launch=''

# No write begins after the stonewall time. So fewer bytes than the planned 1 GiB are written, and rates count the
# written bytes.
wall() {
    out=$1 time=$2
    shift 2
    $launch "$HPCGEN" data --out "$out" --budget 60s --repeat 2 --ranks 8 --per-rank 128M --mode fsync --stonewall "$time" \
        --least-bytes 1 --least-time 1us --quiet "$@" || bad "--stonewall fails: $*"
    tail -n +2 "$out/results.csv" | tr -d '\r' | awk -F, -v columns="$(head -n 1 "$out/results.csv" | tr -d '\r')" '
        BEGIN { n = split(columns, name, ","); for (i = 1; i <= n; i++) at[name[i]] = i }
        { rate[$1] = $at["bytes"] / $at["total_s"] }
        $at["bytes"] <= 0 || $at["bytes"] >= 2^30 { print "other bytes: " $0 }
        $at["write_first_s"] > $at["write_q25_s"] || $at["write_q25_s"] > $at["write_median_s"] ||
        $at["write_median_s"] > $at["write_q75_s"] || $at["write_q75_s"] > $at["write_last_s"] ||
        $at["slowest_process"] !~ /^[01]$/ || $at["slowest_host"] != "" { print "other processes: " $0 }' >odd
    [ ! -s odd ] || bad "$(cat odd)"
    [ "$(count . "$out/results.csv")" -ge 5 ] || bad "no rows"
}
wall wall 20ms --layout sion-aligned,task-local --blocksize 64K --files 1
grep -q '"stonewall_s": 0.02,' wall/results.json || bad "the stonewall is not in the results"
# The stonewall time is over before the first write. Each process still makes one write.
wall late 1us --layout task-local --record 64K
[ "$(grep -c ',layout,.*,65536,134217728,8,8,65536,' late/results.csv)" -eq 2 ] || bad "more or less than a write: $(cat late/results.csv)"
refuse 1 '--stonewall: expected neither --read nor --verify, *' "$HPCGEN" data --out never --stonewall 1s --read
if [ -n "$MPIEXEC" ]; then
    launch="timeout 100 $MPIEXEC -n 2"
    wall wall2 20ms --layout shared-posix,mpiio-independent,mpiio-collective --record 64K
    grep -A 30 '"id": "mpiio-collective/' wall2/results.json | grep -q '"its processes cannot stop at --stonewall"' ||
        bad "collective writes are not left out"
    launch=''
fi

# The results have the settings of Slurm and MPI, and nothing else from the environment.
SLURM_NTASKS=7 ROMIO_HINTS=hints SECRET=word "$HPCGEN" data --out told --budget 60s --repeat 1 --ranks 4 --per-rank 5000 \
    --layout task-local --mode fsync --quiet || bad "fails with variables of Slurm"
grep -A 10 '"environment": \[' told/results.json | tr -d '\n' | grep -q '"ROMIO_HINTS=hints", *"SLURM_NTASKS=7"' ||
    bad "the environment is not in the results: $(grep -A 5 '"environment"' told/results.json)"
grep -q SECRET told/results.json && bad "all of the environment is in the results"

# Points that cannot be run are listed. This is a failure only if no point can be run.
sweep two --layout mpiio-independent,shared-posix --mode fsync
grep -q '"fate": "left out"' two/results.json || bad "MPI-IO without mpirun is not left out"
refuse 1 "data: nothing was measured: mpiio-independent/fsync/records-47K: *MPI*${MPIEXEC:+mpirun, srun}*" \
    "$HPCGEN" data --out none --layout mpiio-independent --mode fsync --quiet
refuse 1 '*/data: expected * bytes of --max-bytes for a run, got 65536 (*, got 64.0 KiB); use a smaller --per-rank or a larger --max-bytes' \
    "$HPCGEN" data --out three --ranks 6 --per-rank 30000 --record 5000 --layout shared-posix --mode fsync --max-bytes 64K --quiet
refuse 1 '*/data: expected * of --max-bytes for runs of * (--least-bytes), got 16.0 MiB; use a larger --max-bytes or a smaller --least-bytes' \
    "$HPCGEN" data --out three --layout shared-posix --mode fsync --max-bytes 16M --quiet
[ ! -e three ] || bad "results of nothing: $(ls three)"

if [ -n "$MPIEXEC" ]; then
    for n in 2 4; do
        launch="timeout 100 $MPIEXEC -n $n"
        sweep np$n
        grep -q '"id": "mpiio-collective/fsync/records-5000"' np$n/results.json || bad "no MPI-IO with $n processes"
        # Ranks share five blocks at their boundaries. Some of these are also boundaries of processes, and none is
        # of hosts.
        grep -q "\"shared\": 5, \"shared_by_processes\": $((n - 1)), \"shared_by_hosts\": 0}" np$n/results.json ||
            bad "other shared blocks with $n processes: $(grep '"shared"' np$n/results.json)"
        grep -q 'needs processes' np$n/results.json && bad "MPI-IO left out with $n processes"
    done
    # HDF5 datasets: H5Dread reads them back. Ranks share the same blocks as in a shared file.
    for n in 1 2 4; do
        launch="timeout 100 $MPIEXEC -n $n"
        sweep hdf5.$n --layout hdf5-independent,hdf5-collective,shared-posix --mode fsync --read
        if grep -q '"reason": "this build has no parallel HDF5"' hdf5.$n/results.json; then
            [ "$(count '"fate": "left out"' hdf5.$n/results.json)" -eq 2 ] || bad "other points are left out"
            continue
        fi
        [ "$(count "\"touched\": 44, \"shared\": 5, \"shared_by_processes\": $((n - 1)), " hdf5.$n/results.json)" -eq 3 ] ||
            bad "HDF5 shares other blocks with $n processes: $(grep '"shared"' hdf5.$n/results.json)"
        [ "$(count '"read": {"total_s": ' hdf5.$n/results.json)" -eq $((2 * $(count '"fate": "measured"' hdf5.$n/results.json))) ] ||
            bad "HDF5 was not read with $n processes"
    done
    launch=''
fi

# Two hosts, if a namespace can set its own host name: the blocks that hosts share, and the slowest host.
cat >on_host <<'END'
#!/bin/sh
hostname "node$((${OMPI_COMM_WORLD_RANK-${PMI_RANK}} / 2))" || exit
exec "$@"
END
chmod +x on_host
if [ -n "$MPIEXEC" ] && unshare -r -u hostname here 2>/dev/null; then
    launch="timeout 100 $MPIEXEC -n 4 unshare -r -u ./on_host"
    sweep hosts --layout shared-posix --mode fsync 2>/dev/null
    grep -q '"hosts": 2,' hosts/results.json || bad "the hosts are not counted"
    grep -q '"shared": 5, "shared_by_processes": 3, "shared_by_hosts": 1}' hosts/results.json ||
        bad "hosts share other blocks: $(grep '"shared"' hosts/results.json)"
    [ "$(count '"slowest_process": [01], "slowest_host": "node0"\|"slowest_process": [23], "slowest_host": "node1"' \
        hosts/results.json)" -eq 4 ] || bad "other slowest hosts: $(grep slowest_host hosts/results.json)"
    launch=''
fi

# Without --out, the results' directory has the current time as its name.
"$HPCGEN" data --budget 60s --repeat 1 --ranks 2 --per-rank 5000 --layout sion-aligned,sion-shifted --mode fsync \
    --blocksize 4K >table 2>progress || bad "fails without --out"
grep -q '^sion-shifted/fsync/4K ' table || bad "no table: $(cat table)"
set -- hpcw-bench-*Z
[ -f "$1/results.json" ] || bad "no directory named after the time: $(ls)"

refuse 1 'one: expected the name of a new directory*' "$HPCGEN" data --out one
refuse 1 'nowhere: cannot*' "$HPCGEN" nowhere --out four
refuse 2 'sweep: expected at most 1 argument*' "$HPCGEN" data more
refuse 2 '--blocksize: *' "$HPCGEN" data --blocksize 4K:1K:x2
refuse 1 'data: *' "$HPCGEN" data --out five --stripe-count 2 # no Lustre here
refuse 2 '--files: expected 1 to * files, got "0"' "$HPCGEN" data --out five --files 0
refuse 2 '--tasks: expected a number of tasks such as *, got "many"' "$HPCGEN" metadata data --tasks many
refuse 1 '--files: *' "$HPCGEN" data --out five --ranks 2 --files 3
[ ! -e four ] && [ ! -e five ] || bad "a refused sweep leaves its directory"
[ -z "$(ls -A data)" ] || bad "a refused sweep leaves data"
exit $failed
