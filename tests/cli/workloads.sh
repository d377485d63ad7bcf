#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# --workload: the ranks run a Lua program from the library or from a file. Threads, parts and repair give the same
# log.
set -e
. "$HERE/refuse.inc"
make() { "$HPCGEN" --ranks 24 --scale tiny --set load.phases=6 --quiet "$@"; }

"$HPCGEN" list workloads
"$HPCGEN" list workloads --json >list.json
"$JSON_CHECK" list.json
grep -q '"planes": "of a sweep; more of them fill the pipeline better"' list.json
"$HPCGEN" list wavefront >wavefront.list
"$HPCGEN" list workloads | sed -n '1p; /^  wavefront/,$p' | cmp - wavefront.list

workloads="adaptive coupled farm fft hydro solver stencil wavefront"
for workload in $workloads; do
    make --workload $workload --formats clog2 --out $workload
    "$HPCGEN" verify --quiet --deep $workload
    [ ! -e $workload/.hpcw ]
done
if cmp -s wavefront/clog2/app.clog2 farm/clog2/app.clog2; then exit 1; fi

# The logs have the states of the programs: Sweep, from one corner of the grid to the opposite one, and Master.
"$HPCGEN" info --all wavefront/clog2/app.clog2 >facts
grep -q 'name: Sweep' facts
grep -q 'name: MPI_Recv' facts
"$HPCGEN" info --all farm/clog2/app.clog2 >facts
grep -q 'name: Master' facts

# Transposes in rows and columns of 6 x 4 ranks: one communicator for each row and column, besides the world and one
# for each rank alone.
"$HPCGEN" info --all fft/clog2/app.clog2 >facts
grep -q '^communicators: 35$' facts
grep -q 'name: MPI_Comm_split' facts
[ "$(sed -n '/^problems:/,/^profile:/p' facts | wc -l)" -eq 2 ]

# Load data are those of the simulated run: each phase has as many messages as in the log, except those before the
# first task (2 on each of the 46 ways in the tree of ranks), and the total work, with noise, is the same. They do not
# depend on the other formats.
make --workload wavefront --out formats
make --workload wavefront --formats vom --out loads
diff -r formats/vom loads/vom
make --workload wavefront --formats vom --set load.balancer=greedy --out balanced
"$HPCGEN" verify --quiet --deep balanced
"$HPCGEN" info --all loads/vom | awk '$1 == "messages:" { print $2 - (n++ == 0 ? 92 : 0) }' >loads.messages
sed -n '/"clog2"/,/^  }/s/.*"messages": \([0-9]*\).*/\1/p' formats/truth.json >log.messages
[ -s log.messages ]
cmp log.messages loads.messages
log_work() { sed -n '/"clog2"/,/^  }/s/.*"compute_ns": \([0-9]*\).*/\1/p' "$1/truth.json"; }
same_work() {
    log_work "$1" >log.work
    sed -n '/"vom"/,/^  }/s/.*"rank_load_mean_s": \([0-9.e-]*\).*/\1/p' "$1/truth.json" |
        awk '{ printf "%.0f\n", 24e9 * $1 }' >loads.work
    [ -s log.work ]
    paste log.work loads.work | awk '($1 - $2) ^ 2 > 1e-12 * $1 ^ 2 { exit 1 }'
}
same_work formats
make --workload wavefront --formats vom,clog2 --set load.noise=0.2 --out interrupted # some ranks, by the load model
same_work interrupted

# Each kind of noise makes work longer. Without noise, work takes the time in the load data of a run without noise.
calm='--set noise.processors=0 --set noise.ticks=0 --set noise.detours=0'
# shellcheck disable=SC2086 # several words
make --workload wavefront --formats vom,clog2 $calm --out calm
same_work calm
log_work calm >calm.work
for kind in processors ticks detours; do
    # shellcheck disable=SC2086 # several words
    make --workload wavefront --formats clog2 $calm --set noise.$kind=1 --out only-$kind
    log_work only-$kind | paste - calm.work | awk '$1 <= $2 || $1 > 1.14 * $2 { exit 1 }'
done

# Without noise, the cost of a scenario is the difference to the run without a scenario, except for the rounding of
# task times.
last_end() { sed -n '/"clog2"/,/^  }/s/.*"end_ns": \([0-9]*\).*/\1/p' "$1/truth.json" | tail -1; }
for scenario in spike ramp hotspot; do
    # shellcheck disable=SC2086 # several words
    make --workload wavefront --formats clog2 $calm --set load.scenario=$scenario --out $scenario
    cost=$(sed -n '/"scenario": {/,/}/s/.*"cost_s": \([0-9.e-]*\).*/\1/p' $scenario/truth.json)
    echo "$cost $(last_end $scenario) $(last_end calm)" |
        awk '{ by = ($2 - $3) / 1e9; exit !($1 > 0 && ($1 - by) ^ 2 < 1e-12 * by ^ 2) }'
done

# truth.json gives the time lost to noise, which is 0 without noise.
lost() { sed -n 's/.*"\(most_\)*lost_ns": \([0-9]*\).*/\2/p' "$1/truth.json"; }
[ "$(lost formats | grep -c '^[1-9]')" -eq 12 ]
[ "$(lost calm | grep -c '^0$')" -eq 12 ]

# A workload file outside the dataset, with a parameter. The dataset keeps a copy for join and repair.
cat >ring.lua <<'EOF'
parameters = { bytes = 64, name = "one two" }
states = { "Ring" }
function run()
  for _ = 1, phases do
    work(1)
    compute(1e-6 * (1 + rank))
    state("Ring", function() sendrecv((rank + 1) % size, parameters.bytes, (rank + size - 1) % size) end)
    checkpoint()
    next_phase()
  end
end
EOF
ring() { make --formats sion,vom,clog2 --workload ring.lua --set workload.bytes=4096 "$@"; }
ring --out one --jobs 1
ring --out many --jobs 5
diff -r one many
# The run begins at 10 us of the log's clock.
"$HPCGEN" export one/clog2/app.clog2 --form states --output states.csv --quiet
[ "$(grep -v '^rank' states.csv | cut -d , -f 4 | sort -gu | head -n 1)" = 1e-05 ]
"$HPCGEN" export one/vom/data.3.json.br --form csv --output tasks.csv --quiet
[ "$(grep -c '^3,.*,"cpu",4e-06,' tasks.csv)" -eq 0 ]
# shellcheck disable=SC2086 # several words
ring $calm --out undisturbed
"$HPCGEN" export undisturbed/vom/data.3.json.br --form csv --output tasks.csv --quiet
[ "$(grep -c '^3,.*,"cpu",4e-06,' tasks.csv)" -eq 6 ]
for part in 3 1 2; do ring --out parts --part $part/3; done
mv ring.lua elsewhere.lua
"$HPCGEN" join --quiet parts
diff -r one parts
cp one/clog2/app.clog2 before
rm one/clog2/app.clog2
"$HPCGEN" repair --quiet one
cmp before one/clog2/app.clog2
"$HPCGEN" verify --quiet --deep one
mv elsewhere.lua ring.lua

# Ranks without any work: phases and states still differ in their times, even with wrong clocks.
cat >idle.lua <<'EOF'
states = { "Outer", "Inner" }
function run()
  for _ = 1, phases do
    for _ = 1, 2 do
      state("Outer", function() state("Inner", function() end) state("Inner", function() end) end)
      state("Outer", function() end)
    end
    checkpoint()
    next_phase()
  end
end
EOF
for checkpoints in 0 1; do
    make --workload idle.lua --formats clog2 --set rank2file.checkpoints=$checkpoints --set trace.skew=100 \
        --set trace.drift=100 --out idle.$checkpoints
    "$HPCGEN" verify --quiet --deep idle.$checkpoints
done

# Communicators, edges of the load data, and all files are the same with many threads and in parts.
for workload in fft adaptive; do
    make --workload $workload --formats vom,clog2,rank2file --out whole.$workload --jobs 1
    for part in 2 3 1; do make --workload $workload --formats vom,clog2,rank2file --out split.$workload --part $part/3; done
    "$HPCGEN" join --quiet split.$workload
    diff -r whole.$workload split.$workload
    "$HPCGEN" verify --quiet --deep whole.$workload
done

# Checkpoints have the times that rank 0 has in the log.
make --formats clog2,rank2file --workload ring.lua --set run.start=1714557600 --out both
make --formats rank2file --workload ring.lua --set run.start=1714557600 --out alone
diff -r both/scr alone/scr
for part in 2 1; do make --formats rank2file --workload ring.lua --set run.start=1714557600 --out apart --part $part/2; done
"$HPCGEN" join --quiet apart
diff -r alone apart
"$HPCGEN" verify --quiet --deep both
"$HPCGEN" export both/clog2/app.clog2 --form csv --last-rank 0 --output log.csv --quiet
awk -F, '/begin,"Checkpoint"/ { printf "%d\n", $1 * 1e6 }' log.csv >log.times
"$HPCGEN" scr list both/scr | sed -n 's/.* created_us=\([0-9]*\) .*/\1/p' | sort -n |
    while read -r at; do echo $((at - 1714557600000000)); done >scr.times
[ -s scr.times ]
cmp log.times scr.times

# In a checkpoint, ranks wait for each other in a barrier.
awk -F, '/begin,"Checkpoint"/ { inside = 1 } inside && /begin,"MPI_Barrier"/ { barriers++; inside = 0 } END { print barriers }' \
    log.csv >log.barriers
wc -l <log.times | cmp - log.barriers

# The log has the names of collective calls, and the bytes that each rank sends and receives.
cat >all.lua <<'EOF'
function run()
  for _ = 1, phases do
    gather(1000, 1) scatter(2000, 1) allgather(3000) alltoall(4000)
    waitany { isend(none, 8) }
    checkpoint()
    next_phase()
  end
end
EOF
make --formats clog2 --workload all.lua --out all
"$HPCGEN" verify --quiet --deep all
"$HPCGEN" info --all all/clog2/app.clog2 >facts
for call in Gather Scatter Allgather Alltoall Waitany; do grep -q "name: MPI_$call\$" facts; done
od -An -v -tx1 all/clog2/app.clog2 | tr -d ' \n' >hex
for moved in '1000 0' '1000 24000' '0 2000' '48000 2000' '3000 72000'; do
    # shellcheck disable=SC2086 # two numbers
    grep -q "$(printf '%016x%016x' $moved)" hex
done
grep -q "$(printf '%08x%08x' 96000 96000)" hex

# Parameters of a workload change the log. A configuration has them in the section [workload].
make --formats clog2 --workload ring.lua --out plain
if cmp -s plain/clog2/app.clog2 before; then exit 1; fi
printf '[hpcgen]\nworkload = ring.lua\nformats = sion,vom,clog2\n[workload]\nbytes = 4096\n' >ring.ini
make --config ring.ini --out configured
cmp configured/clog2/app.clog2 before

# More phases than 16 bits can count: truth.json has the end of each phase.
printf 'function run()\n  for _ = 1, phases do work(1) next_phase() end\nend\n' >long.lua
"$HPCGEN" --ranks 1 --quiet --formats clog2 --workload long.lua --set load.phases=66000 --set rank2file.checkpoints=0 \
    --out long
[ "$(grep -c '"end_ns": [1-9]' long/truth.json)" -eq 66000 ]

# 2,048 ranks have memory for a number for each other rank.
cat >sizes.lua <<'EOF'
function run()
  for _ = 1, phases do
    local sizes = {}
    for r = 1, size do sizes[r] = (rank + r) % 7 * 1000 end
    alltoallv(sizes)
    next_phase()
  end
end
EOF
"$HPCGEN" --ranks 2048 --quiet --formats clog2 --workload sizes.lua --set load.phases=2 --set rank2file.checkpoints=0 --out sizes

"$HPCGEN" plan --ranks 24 --scale tiny --workload ring.lua --formats clog2 --json >plan.json
"$JSON_CHECK" plan.json

set +e

# If the workload is wrong, nothing is written.
wrong() {
    pattern=$1
    shift
    refuse 2 "$pattern" make --formats clog2 --out bad "$@"
    [ ! -e bad ] || bad "written: $*"
}
wrong 'workload: expected adaptive, coupled, farm, fft, hydro, solver, stencil, wavefront or a file as NAME.lua, got "wave"' --workload wave
refuse 1 './no.lua: cannot read the workload: *' make --formats clog2 --out bad --workload ./no.lua
printf 'function run()\n  local a, b = split(rank), split(rank)\n  for _ = 1, phases do next_phase() end\nend\n' >many.lua
wrong 'many.lua: expected communicators x ranks below 2^31, as readers of logs number them, got 98305 x 32768' \
    --workload many.lua --ranks 32768 --set rank2file.checkpoints=0
wrong '*workload.planez: unknown parameter: expected one of bytes, planes; did you mean planes?' --workload wavefront --set workload.planez=1
sed 's/parameters\.bytes/parameters.byts/' ring.lua >typo.lua
wrong 'typo.lua:*: rank *: parameters.byts: unknown parameter: expected *; did you mean bytes?' --workload typo.lua
wrong '*workload.bytes: expected --workload, got none' --set workload.bytes=1
wrong 'coupled:*: rank *: workload.sea: expected 0 to 1, got 1e+300' --workload coupled --set workload.sea=1e300
wrong 'stencil:*: rank *: workload.inner: expected 0 to 1, got 1.5' --workload stencil --set workload.inner=1.5
# 2^21 points would have 16 x 2^63 bytes, which is 0 as a number of 64 bits.
wrong 'fft:*: rank *: workload.points: expected 0 to 65536, got 2097152' --workload fft --set workload.points=2097152
for parameter in adaptive.regrid coupled.every farm.tasks farm.task_bytes solver.iterations stencil.residual wavefront.planes; do
    wrong "${parameter%.*}:*: rank *: workload.${parameter#*.}: expected at least 1, got 0" --workload "${parameter%.*}" \
        --set "workload.${parameter#*.}=0"
done
printf 'function run()\n  for _ = 1, phases do compute(16e6) checkpoint() next_phase() end\nend\n' >years.lua
# shellcheck disable=SC2086 # several words
"$HPCGEN" plan --ranks 24 --scale tiny --set load.phases=6 --formats clog2 --workload years.lua $calm >plan || bad "a run of three years"
# shellcheck disable=SC2086 # several words
wrong 'years.lua: expected a run of less than 1e+08 s, as the times of logs are, got 1.001e+08 s: *' --workload years.lua $calm \
    --set trace.drift=400000
wrong '*noise.ticks: expected a number from 0 to 100, got "101"' --workload farm --set noise.ticks=101
printf 'states = { "a\\nb" }\nfunction run() end\n' >control.lua
wrong 'control.lua: states: expected names without control characters, got 10 in number 1' --workload control.lua
wrong 'sizes.lua:4: rank *: expected at most 128 MiB of memory for all ranks, got more' \
    --workload sizes.lua --ranks 4096 --set rank2file.checkpoints=0
echo 'function run() bcast(8, none) end' >root.lua
wrong 'root.lua:1: rank 0: bcast: expected a root from 0 to 23, got none' --workload root.lua
echo 'function run() recv(1) end' >wait.lua
wrong 'wait.lua: deadlock: expected all ranks to end, got 24 that wait for ever: rank 0 in recv from rank 1 with tag 0 (wait.lua:1)*' \
    --workload wait.lua
printf 'function run()\n  send(24, 8)\nend\n' >far.lua
wrong 'far.lua:2: rank 0: send: expected a rank from 0 to 23 or none, got 24' --workload far.lua
echo 'function run() end' >short.lua
wrong 'short.lua: rank 0: expected 6 calls of next_phase, got 0' --workload short.lua

exit $failed
