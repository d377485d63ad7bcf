#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The same work by hpcw-bench, fio and IOR: one process writes one file in writes of 4 MiB and calls fsync, then reads it
# again after its pages were dropped from the page cache.
#
# Usage: bench/beside-peers.sh DIR [MIB [ROUNDS]]
#
# In each round the programs follow each other in random order. Prints the median rate of each and the median of
# the ratios within the rounds. Programs: HPCW_BENCH (hpcw-bench), FIO (fio), IOR (no default); what is missing is skipped.
set -u
[ $# -ge 1 ] || { sed -n 's/^# Usage/usage/p' "$0" >&2; exit 2; }
dir=$1 mib=${2-512} rounds=${3-5}
bench=${HPCW_BENCH-hpcw-bench} fio=${FIO-fio} ior=${IOR-}
work=$(mktemp -d "$dir/.beside-peers.XXXXXX") || exit
trap 'rm -rf "$work"' EXIT
file=$work/file
export LC_ALL=C

drop() { dd of="$1" oflag=nocache conv=notrunc,fdatasync count=0 status=none; }
# Touches as much memory as a run needs, in huge pages, because a hypervisor may have reclaimed the free memory of this
# machine. hpcw-bench does the same before each run.
warm() {
    python3 -c '
import mmap, sys
size = int(sys.argv[1]) << 20
memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
memory.madvise(mmap.MADV_HUGEPAGE)
for page in range(0, size, 4096):
    memory[page] = 1
' "$mib"
}

# The functions run_* print two lines, "write RATE" and "read RATE", in MB/s. In each round, a program first makes warm-up
# runs, whose rates are dropped.
run_hpcw() {
    rm -rf "$work/out"
    "$bench" "$work" --out "$work/out" --quiet --layout shared-posix --mode fsync --record 4M --ranks 1 \
        --per-rank "${mib}M" --max-bytes "$((3 * mib))M" --repeat 1 --budget 1h --read || return
    tr -d '\r' <"$work/out/results.csv" | awk -F, '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
        $at["side"] == "layout" {
            print "write", $at["bytes"] / $at["total_s"] / 1e6
            print "read", $at["bytes"] / $at["read_s"] / 1e6
        }'
}
# Fields of fio's terse output: 7 and 48 are the rates in KiB/s.
fio_once() {
    "$fio" --name=beside --filename="$file" --rw="$1" --bs=4M --size="${mib}M" --ioengine=psync --fallocate=none \
        --end_fsync=1 --output-format=terse --terse-version=3 |
        awk -F';' -v field="$2" -v name="$1" '{ print name, $field * 1024 / 1e6 }'
}
run_fio() {
    rm -f "$file"
    fio_once write 48 >"$work/warm-up"
    rm -f "$file"
    warm
    fio_once write 48
    drop "$file"
    warm
    fio_once read 7
    rm -f "$file"
}
ior_once() {
    "$ior" -a POSIX "$1" -e -k -E -t 4m -b "${mib}m" -o "$file" |
        awk '/^(write|read) / && !done { print $1, $2 * 1048576 / 1e6; done = 1 }'
}
run_ior() {
    : >"$file"
    ior_once -w >"$work/warm-up"
    : >"$file"
    warm
    ior_once -w
    drop "$file"
    warm
    ior_once -r
    rm -f "$file"
}

programs=(hpcw)
if command -v "$fio" >/dev/null; then programs+=(fio); else echo "fio: skipped, since it is not installed"; fi
if [ -n "$ior" ]; then programs+=(ior); else echo "IOR: skipped, since the variable IOR is not set"; fi
for ((round = 1; round <= rounds; round++)); do
    for program in $(shuf -e "${programs[@]}"); do
        "run_$program" >"$work/said" || { echo "$program failed" >&2; exit 1; }
        [ "$(wc -l <"$work/said")" -eq 2 ] || { echo "$program: expected two rates, got: $(cat "$work/said")" >&2; exit 1; }
        sed "s/^/$round $program /" "$work/said" >>"$work/rates"
    done
done

awk -v programs="${programs[*]}" -v rounds="$rounds" -v mib="$mib" '
    function quantile(x, n, q,    i, k, v, at, low) {
        for (i = 2; i <= n; i++) {
            v = x[i]
            for (k = i - 1; k > 0 && x[k] > v; k--) x[k + 1] = x[k]
            x[k + 1] = v
        }
        at = 1 + q * (n - 1)
        low = int(at)
        return low >= n ? x[n] : x[low] + (at - low) * (x[low + 1] - x[low])
    }
    { rate[$3, $2, $1] = $4 }
    END {
        n = split(programs, name, " ")
        printf "%d rounds, %d MiB in one file, writes of 4 MiB, fsync\n\n", rounds, mib
        printf "%-6s %-5s %10s %18s %22s\n", "", "", "MB/s", "quartiles apart", "hpcw / this"
        for (o = 1; o <= 2; o++) {
            op = o == 1 ? "write" : "read"
            for (p = 1; p <= n; p++) {
                for (r = 1; r <= rounds; r++) {
                    x[r] = rate[op, name[p], r]
                    y[r] = rate[op, "hpcw", r] / x[r]
                }
                spread = (quantile(x, rounds, 0.75) - quantile(x, rounds, 0.25)) / quantile(x, rounds, 0.5)
                widest = spread > widest ? spread : widest
                printf "%-6s %-5s %10.0f %16.0f %%", op, name[p], quantile(x, rounds, 0.5), 100 * spread
                if (p > 1)
                    printf "   %.2f (%.2f to %.2f)", quantile(y, rounds, 0.5), quantile(y, rounds, 0), quantile(y, rounds, 1)
                printf "\n"
            }
        }
        if (widest > 0.25)
            printf "\nThe machine is not quiet, so these figures say little: quartiles of a program are %.0f %% apart.\n", 100 * widest
    }' "$work/rates"
