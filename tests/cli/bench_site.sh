#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs the batch scripts for a cluster with our own srun, which starts one process. $HPCGEN is the benchmark.
# shellcheck disable=SC2034 # of refuse.inc
PROGRAM=hpcw-bench
. "$HERE/refuse.inc"
dir="$PWD/it's data"
mkdir bin "$dir"
cat >bin/srun <<'END'
#!/bin/sh
[ "$1" = --mpi=none ] || exit
shift
exec "$@"
END
# Substitutes for IOR, mdtest and lfs write their arguments to $LOG.
cat >bin/ior <<'END'
#!/bin/sh
echo "${0##*/} $*" >>"$LOG"
END
cp bin/ior bin/mdtest
cat >bin/lfs <<'END'
#!/bin/sh
echo "lfs $*" >>"$LOG"
END
chmod +x bin/*

# site KIND OPTION...
site() {
    kind=$1
    shift
    "$HPCGEN" site "$dir" --nodes 1 --ntasks-per-node 2 --per-rank 4M --budget 20s --file-system "$kind" "$@" >"$kind.sh" ||
        bad "no script for $kind"
    bash -n "$kind.sh" || bad "bash refuses the script for $kind"
    if command -v shellcheck >/dev/null; then
        shellcheck "$kind.sh" || bad "shellcheck complains of the script for $kind"
    fi
    grep -qx '#SBATCH --nodes=1' "$kind.sh" && grep -qx '#SBATCH --ntasks-per-node=2' "$kind.sh" || bad "other nodes"
    # Reduces the script to the least work: one layout, and runs of any size.
    sed 's/--layout "$layouts"/--layout shared-posix --repeat 1 --least-bytes 1 --least-time 1us/
        s/--budget 20s --tasks 2,128/--repeat 1 --tasks 2/' "$kind.sh" >small.sh
    : >log
    LAUNCHER='srun --mpi=none' SLURM_JOB_ID=$kind HPCW_BENCH=$HPCGEN IOR=$PWD/bin/ior LOG=$PWD/log PATH=$PWD/bin:$PATH bash small.sh >said 2>&1
    status=$?
}
site other
[ $status -eq 0 ] || bad "the job fails: $(cat said)"
[ "$(grep -c -e '--budget 20s ' other.sh)" -eq 2 ] || bad "another budget: $(grep budget other.sh)"
# Job time: 20 s for a sweep, 20 s for metadata rates, the same for IOR and mdtest, and 15 minutes.
grep -qx '#SBATCH --time=00:17:00' other.sh || bad "another time: $(grep time= other.sh)"
for file in blocks/results.json metadata/results.json; do
    "$JSON_CHECK" hpcw-bench-other/$file || bad "no results: $file of $(find hpcw-bench-other)"
done
# IOR's ceiling transfers five writes at a time. The two tasks share a block of each size from 4 KiB to 1 MiB.
[ "$(grep -c '^ior .* -t 818K -b 12270K -i 5 -o .*/it.s data/ior.other/data$' log)" -eq 4 ] || bad "other work for IOR: $(cat log)"
[ "$(grep -c '^ior -a POSIX -w -e -t 4090K -b 12270K -i 5' log)" -eq 1 ] || bad "other ceiling of IOR: $(cat log)"
grep -q '"shared": 1, ' hpcw-bench-other/blocks/results.json || bad "ranks end where a block does"
[ "$(grep -c '^mdtest ' log)" -eq 1 ] || bad "no work for mdtest: $(cat log)"
grep -q HDF5 log && bad "HDF5 runs although nobody asks for it: $(cat log)"
grep -q 'NOT RUN' other.sh && bad "what was run is said not to be"
[ -z "$(ls -A "$dir")" ] || bad "data remain: $(ls -A "$dir")"

# A directory with the name of one of the job's directories belongs to somebody else: it stays, and the job fails.
mkdir "$dir/ior.other" "$dir/mdtest.other"
touch "$dir/ior.other/theirs" "$dir/mdtest.other/theirs"
rm -r hpcw-bench-other
site other
[ $status -eq 1 ] || bad "status $status, expected 1: $(cat said)"
[ -e "$dir/ior.other/theirs" ] && [ -e "$dir/mdtest.other/theirs" ] || bad "the job removes somebody else's directory"
! grep -q . log || bad "the job works in somebody else's directory: $(cat log)"
rm -r "$dir/ior.other" "$dir/mdtest.other"

export HDF5=yes
site gpfs --fs-block 8M
unset HDF5
[ "$(grep -c '^ior -a HDF5 --hdf5.setAlignment=16m --hdf5.noFill \(-c \)\{0,1\}-w -e -t 818K -b 8180K ' log)" -eq 2 ] ||
    bad "no work for IOR with HDF5: $(cat log)"
# shellcheck disable=SC2016
grep -qxF 'layouts=$layouts${hdf5:+,hdf5-independent,hdf5-collective}' gpfs.sh || bad "no layouts of HDF5"
grep -q 'NOT RUN ON SUCH A MACHINE' gpfs.sh || bad "what was not run is not said to be"
grep -qx 'sweep blocks --fs-block 8M --blocksize 2M,8M,16M' gpfs.sh || bad "other blocks: $(grep '^sweep' gpfs.sh)"
[ $status -eq 0 ] || bad "the job for GPFS fails: $(cat said)"

# The file system here has no stripes, so the sweeps are refused. The job goes on and fails at the end.
site lustre
grep -q '^# stripes, edit the two lists[.] ' lustre.sh || bad "it is not said how to choose stripes"
# The largest stripe decides --max-bytes, and --fs-block does not change it: each task needs two blocks of 16 MiB
# besides its data.
space=$(sed -n 's/.* --max-bytes \([^ ]*\) .*/\1/p' lustre.sh)
"$HPCGEN" site "$dir" --nodes 1 --ntasks-per-node 2 --per-rank 4M --file-system lustre --fs-block 4M |
    grep -q -e "--max-bytes $space " || bad "--fs-block changes --max-bytes $space"
[ "$space" = $((2 * 2 * ($(sed -n 's/.* --per-rank \([0-9]*\)K .*/\1/p' lustre.sh) + 2 * 16384)))K ] || bad "other space: $space"
grep -q 'NOT RUN ON SUCH A MACHINE' lustre.sh || bad "what was not run is not said to be"
[ $status -eq 1 ] || bad "status $status, expected 1: $(cat said)"
[ "$(grep -c '^lfs setstripe -c \(1\|4\|-1\) -S \(1\|4\|16\)M ' log)" -eq 9 ] || bad "other stripes: $(cat log)"
"$JSON_CHECK" hpcw-bench-lustre/metadata/results.json || bad "the job stops at the first failure"

refuse 1 'here: expected an absolute path*' "$HPCGEN" site here --nodes 1
refuse 1 '/no/where: *; where it is not mounted, use --file-system' "$HPCGEN" site /no/where --nodes 1
refuse 1 '--fs-block: expected a power of two, as that of the file system, got 837632' "$HPCGEN" site "$dir" --nodes 1 --fs-block 818K
# Without --per-rank, all tasks together write at least 1 GiB in a run. A sweep of five minutes has time for enough
# such runs.
"$HPCGEN" site "$dir" --nodes 4 >usual.sh || bad "no script without --per-rank"
grep -q ' --ranks 64 --per-rank 20450K --record 818K ' usual.sh || bad "other bytes: $(grep -e --per-rank usual.sh)"
"$HPCGEN" site "$dir" --nodes 1000 >usual.sh || bad "no script for many nodes"
grep -q ' --ranks 16000 --per-rank 4090K --record 818K ' usual.sh || bad "other bytes: $(grep -e --per-rank usual.sh)"
# The shifted twin and the shared file are unaligned at all measured block sizes.
for row in lustre:1M,4M,16M gpfs:2M,8M,16M; do
    size=$(sed -n 's/.* --per-rank \([0-9]*K\) .*/\1/p' "${row%:*}.sh")
    "$HPCGEN" model --ranks 4 -b "${row#*:}" --per-rank "$size" --layout sion-shifted,shared-posix --json >shared || bad "no model"
    [ "$(grep -c '"shared_blocks": [1-9]' shared)" -eq 6 ] || bad "nothing is shared with $size: $(cat shared)"
done
# Each variable that the script reads has a comment with its name.
for variable in $(sed -n 's/.*\${\([A-Z0-9_]*\)-.*/\1/p' usual.sh); do
    [ "$variable" = HPCW_BENCH ] || grep -q "^# To .*$variable=.* sbatch THIS-SCRIPT" usual.sh || bad "no comment: $variable"
done
# The help names the variables that the script reads.
"$HPCGEN" site --help >help || bad "no help"
for variable in $(sed -n 's/.*\${\([A-Z0-9_]*\)-.*/\1/p' usual.sh); do
    grep -qw "$variable" help || bad "not in the help: $variable"
done
refuse 2 'site: expected --nodes N*' "$HPCGEN" site "$dir"
exit $failed
