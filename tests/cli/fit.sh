#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# `hpcgen fit`: data of known parameters and their twin with another seed are alike; other data differ. The
# configuration contains no measured value. Poor and damaged data are fitted or refused.
failed=0
bad() {
    echo "$*"
    failed=1
}
# Prints the number in a member of the JSON on stdin.
number() {
    sed -n "s/.*\"$1\": \([0-9]*\).*/\1/p"
}
# Checks that two data sets are alike in all rows.
alike() { # REAL TWIN
    "$HPCGEN" fit --compare "$1" "$2" --json >rows || bad "$1: the comparison failed"
    [ "$(number different <rows)" = 0 ] || bad "$1 and $2 differ: $(grep '"verdict": "different"' rows)"
}
# Checks that the value of a learned parameter lies in a range.
learned() { # KEY LOW HIGH FILE
    awk -v key="$1" -v low="$2" -v high="$3" '$1 == key && $2 == "=" {found = found || $3 >= low && $3 <= high}
        END {exit !found}' "$4" || bad "expected $1 from $2 to $3, got: $(grep "^$1 " "$4")"
}
refuse() { # MESSAGE STATUS, then the command line
    message=$1
    status=$2
    shift 2
    "$HPCGEN" fit "$@" >out 2>err
    got=$?
    [ $got = "$status" ] || bad "fit $*: expected status $status, got $got"
    # shellcheck disable=SC2254
    case $(cat err) in
    $message) ;;
    *) bad "fit $*: expected the message $message, got: $(cat err)" ;;
    esac
    [ "$(wc -l <err)" = 1 ] || bad "fit $*: expected one line, got: $(cat err)"
    [ ! -s out ] || bad "fit $*: a refused call prints a result"
}

# ---- closed loop: load data, a container, checkpoints ----

"$HPCGEN" -q -n 256 -f sion,vom,rank2file --seed 11 -o real --workload stencil --set load.course=ramp --set vom.container=plain --set load.phases=12 \
    --set load.objects=16 --set load.fill=0.7 --set load.mean_first=3 --set load.mean_last=5 --set load.skew=0.2 \
    --set load.sigma_last=0.8 --set load.persistence=0.8 --set load.persistence_first=0.4 --set load.alike=0.4 \
    --set load.correlation=0.6 \
    --set load.edge_bytes_mean=7 --set load.edge_bytes_sd=1 --set load.migration=0.05 --set load.dims=3 \
    --set sion.mean_size=20K --set sion.sigma=0.3 --set sion.files=2 --set rank2file.checkpoints=3 || exit 1
"$HPCGEN" fit real --output twin.ini >table || bad "the fit failed"
"$HPCGEN" fit real --output again.ini -q || bad "the second fit failed"
cmp twin.ini again.ini || bad "a second fit gives another configuration"
grep -q '^formats = sion,vom,rank2file$' twin.ini || bad "other formats: $(grep formats twin.ini)"
"$HPCGEN" -q --config twin.ini --seed 12 -o twin || bad "the configuration is not accepted"
"$HPCGEN" verify twin >/dev/null || bad "the twin is not sound"
alike real twin
# A format that one side lacks is named once.
"$HPCGEN" fit --compare real real/vom >said || bad "a part of a data set cannot be compared"
[ "$(head -n 1 said)" = 'different: all of sion (none in the twin), all of rank2file (none in the twin)' ] ||
    bad "formats that are missing: $(head -n 1 said)"
"$HPCGEN" fit --compare real/sion/particles.sion real >said || bad "a container cannot be compared with a data set"
[ "$(head -n 1 said)" = 'different: all of vom (none in the real data), all of rank2file (none in the real data)' ] ||
    bad "formats that are missing: $(head -n 1 said)"
"$HPCGEN" plan --config twin.ini --ranks 16384 >/dev/null 2>&1 ||
    bad "the configuration is not accepted for more ranks"
learned phases 12 12 twin.ini
learned objects 15 18 twin.ini
learned fill 0.6 0.8 twin.ini
learned mean_first 2.7 3.3 twin.ini
learned mean_last 4.5 5.5 twin.ini
learned skew 0.1 0.3 twin.ini
learned sigma_last 0.75 0.85 twin.ini
learned persistence 0.75 0.85 twin.ini
learned persistence_first 0.33 0.47 twin.ini
learned alike 0.25 0.55 twin.ini
learned correlation 0.2 0.9 twin.ini
learned edge_bytes_mean 6.9 7.1 twin.ini
learned edge_bytes_sd 0.9 1.05 twin.ini
learned migration 0.03 0.06 twin.ini
learned dims 3 3 twin.ini
learned sigma 0.27 0.33 twin.ini
learned checkpoints 3 3 twin.ini

# Control: data with the defaults differ.
"$HPCGEN" -q -n 256 -f sion,vom,rank2file --seed 12 -o other || exit 1
"$HPCGEN" fit --compare real other --json >rows || bad "the comparison failed"
[ "$(number different <rows)" -ge "$(number alike <rows | tail -n 1)" ] ||
    bad "the control differs in too few rows: $(cat rows)"

# ---- nothing leaves ----

# Prints the numbers in files that have four or more digits.
numbers() {
    grep -hoE '[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?' "$@" | awk '{d = $0; sub(/[eE].*/, "", d); gsub(/[^0-9]/, "", d)
        if (length(d) >= 4) print}' | LC_ALL=C sort -u
}
numbers real/vom/data.*.json >measured
find real/scr real/sion -type f -exec wc -c {} + >sizes
numbers sizes >>measured
LC_ALL=C sort -u -o measured measured
numbers twin.ini >told
[ -s measured ] || bad "no numbers to search for"
[ -z "$(LC_ALL=C comm -12 measured told)" ] || bad "values in the configuration: $(LC_ALL=C comm -12 measured told)"
! grep -qE 'jwb|/|real' twin.ini || bad "a name in the configuration: $(grep -E 'jwb|/|real' twin.ini)"

# ---- a distribution of task times that is written as a table, and no messages ----

"$HPCGEN" -q -n 64 -f vom --seed 3 -o two --workload stencil --set load.course=ramp --set load.phases=8 --set load.comm=none --set load.fill_spread=0.5 \
    --set load.objects=40 --set load.fill=0.4 --set load.setup=no --set load.sigma_first=0.9 \
    --set load.sigma_last=0.9 --set "load.time_table=200 -90 -85 -80 -70 60 150 160 170 180" || exit 1
"$HPCGEN" fit two/vom -O two.ini -q || bad "the fit of load data alone failed"
grep -qE '^time_table = [0-9]+( -?[0-9]+)+$' two.ini || bad "no table: $(grep -A 1 time_table two.ini)"
grep -q '^setup = false' two.ini || bad "a set-up phase: $(grep setup two.ini)"
grep -q '^comm = none' two.ini || bad "messages: $(grep comm two.ini)"
learned fill_spread 0.3 0.7 two.ini
"$HPCGEN" -q -c two.ini -f vom -s 4 -o two_twin || bad "the table is not accepted"
"$HPCGEN" verify two_twin >/dev/null || bad "the twin of a table is not sound"
alike two two_twin

# ---- messages that handlers send, as in a program's run: the sum of their bytes is learned ----

for workload in wavefront fft; do
    "$HPCGEN" -q -n 64 -f vom --seed 3 -o sent --workload $workload || exit 1
    "$HPCGEN" fit sent -O sent.ini -q || bad "the fit of what $workload sends failed"
    "$HPCGEN" -q -c sent.ini -o sent_twin || bad "the twin of $workload cannot be generated"
    "$HPCGEN" fit --compare sent sent_twin >rows || bad "the comparison of what $workload sends failed"
    grep -q '^vom  *bytes of edges .* alike$' rows || bad "$workload sends other bytes: $(cat rows)"
    "$HPCGEN" -q -c sent.ini --set load.handlers=yes --set load.handler_bytes_mean=5 -o less || exit 1
    "$HPCGEN" fit --compare sent less >rows || bad "the comparison with fewer bytes failed"
    grep -q '^different: .*bytes of edges' rows || bad "$workload: another number of bytes is alike: $(cat rows)"
    rm -r sent sent_twin less
done
grep -q '^handlers = false' sent.ini || bad "handlers that send: $(grep handler sent.ini)"

# ---- broadcasts, and load data without any message ----

for every in 3 0; do
    "$HPCGEN" -q -n 64 -f vom --seed 3 -o quiet --workload stencil --set load.comm=none --set load.handlers=no \
        --set load.first_message=no --set load.broadcast_every=$every || exit 1
    "$HPCGEN" fit quiet/vom -O quiet.ini -q || bad "the fit of load data without messages failed"
    grep -q "^broadcast_every = $every " quiet.ini || bad "expected $every, got: $(grep broadcast_every quiet.ini)"
    "$HPCGEN" -q -c quiet.ini --set vom.container=plain -o quiet_twin || bad "the twin without messages cannot be generated"
    [ $every = 3 ] || ! grep -q '"communications"' quiet_twin/vom/data.*.json || bad "the twin sends messages"
    rm -r quiet quiet_twin
done

# ---- a run with bursts of load, and one with steps ----

for course in bursts steps; do
    "$HPCGEN" -q -n 64 -f vom --seed 7 -o course --workload stencil --set load.course=$course --set load.setup=no || exit 1
    "$HPCGEN" fit course -O course.ini -q || bad "the fit of $course failed"
    grep -q "^course = $course " course.ini || bad "expected $course, got: $(grep '^course' course.ini)"
    "$HPCGEN" -q -c course.ini -o course_twin || bad "the configuration of $course is not accepted"
    "$HPCGEN" fit --compare course course_twin >rows || bad "the comparison of $course failed"
    grep -q 'task time from phase 1 on .* alike$' rows || bad "$course: other task times: $(cat rows)"
    rm -r course course_twin
done

# ---- edges: whole numbers of messages, and bytes that follow the load ----

"$HPCGEN" -q -n 256 -f vom --seed 6 -o edges --workload stencil --set load.course=ramp --set load.phases=4 --set load.edge_follows=0.9 --set load.alike=0.9 \
    --set load.edge_bytes_sd=1 --set load.edge_messages_mean=0.5 --set load.edge_messages_sd=1.3 || exit 1
"$HPCGEN" fit edges -O edges.ini -q || bad "the fit of edges failed"
learned edge_follows 0.85 0.95 edges.ini
learned edge_bytes_sd 0.9 1.05 edges.ini
learned edge_messages_mean 0.42 0.58 edges.ini
learned edge_messages_sd 1.22 1.38 edges.ini

# ---- memory of objects, and the work of handlers, which cannot move ----

"$HPCGEN" -q -n 64 -f vom --seed 8 -o memory --workload stencil --set load.course=ramp --set load.phases=3 --set load.block_objects=3 --set load.block_bytes=3M \
    --set load.block_sd=0.2 --set load.footprint=9K --set load.rank_bytes=70K --set load.handler_time=2 || exit 1
"$HPCGEN" fit memory -O memory.ini -q || bad "the fit of memory failed"
learned block_objects 3 3 memory.ini
learned block_bytes 2900000 3400000 memory.ini
learned block_sd 0.16 0.24 memory.ini
learned footprint 8200 10200 memory.ini
learned rank_bytes 71600 71800 memory.ini
learned handler_time 1.5 2.6 memory.ini
learned block_objects 0 0 edges.ini

# ---- few ranks and one phase, from which persistence cannot be learned ----

"$HPCGEN" -q -n 4 -f vom --seed 9 -o few --workload stencil --set load.course=ramp --set load.phases=1 --set load.setup=no --set load.objects=16 || exit 1
"$HPCGEN" fit few -O few.ini -q || bad "the fit of few ranks failed"
learned persistence 1 1 few.ini
learned persistence_first 1 1 few.ini
# The learned seed makes a twin whose slowest rank and longest task are about those of the data, for any seed of the
# data.
maxima() { # DIR
    "$HPCGEN" export "$1" --output - -q | awk -F , '$6 == 1 {load[$1] += $11; all += $11; longest = $11 > longest ? $11 : longest}
        END {for (r in load) {n++; most = load[r] > most ? load[r] : most}; print most * n / all, longest * n / all}'
}
for seed in 10 11 12; do
    "$HPCGEN" -q -n 4 -f vom --seed $seed -o uneven --workload stencil --set load.course=ramp --set load.phases=1 --set load.setup=no \
        --set load.objects=16 --set load.sigma_first=1 || exit 1
    "$HPCGEN" fit uneven -O uneven.ini -q || bad "the fit of uneven ranks failed"
    "$HPCGEN" -q -c uneven.ini -o uneven_twin || bad "the configuration of uneven ranks is not accepted"
    echo "$(maxima uneven/vom) $(maxima uneven_twin/vom)" | awk '{for (i = 1; i <= 2; i++) {
        r = $(2 + i) / $i; if (!(r > (i == 1 ? 0.9 : 0.8) && r < (i == 1 ? 1.1 : 1.25))) {exit 1}}}' ||
        bad "maxima of uneven ranks: $(maxima uneven/vom), of their twin: $(maxima uneven_twin/vom)"
    rm -r uneven uneven_twin
done
learned alike 0 1 few.ini
# Sequence numbers (seq_id) begin at 0, as other programs write them.
mkdir sequence
task='{"entity": {"collection_id": 7, "home": 0, "migratable": true, "seq_id": %s, "type": "object"}, "node": 0,
    "resource": "cpu", "time": %s}'
{
    printf '{"metadata": {"rank": 0, "type": "LBDatafile"}, "phases": [{"id": 0, "tasks": ['
    # shellcheck disable=SC2059
    for id in 0 1 2 3 4 5; do
        [ $id = 0 ] || printf ','
        printf "$task" $id 1.$id
    done
    printf ']}], "type": "LBDatafile"}'
} >sequence/data.0.json
"$HPCGEN" fit sequence -O sequence.ini -q || bad "the fit of numbers in sequence failed"
learned objects 6 6 sequence.ini

# ---- sizes of task-local data that follow the loads, and sizes that do not ----

for follows in 0.9 0; do
    "$HPCGEN" -q -n 1024 -f sion --seed 5 -o sizes_of --set sion.mean_size=20K --set sion.follows=$follows || exit 1
    "$HPCGEN" fit sizes_of -O follows.$follows.ini -q || bad "the fit of sizes failed"
    rm -r sizes_of
done
learned follows 0.75 1 follows.0.9.ini
learned follows 0 0.3 follows.0.ini

# ---- checkpoints alone, without sizes in their maps ----

"$HPCGEN" -q -n 256 -f rank2file --seed 5 -o scr --set rank2file.layout=scr-3 --set load.objects=1 --set load.alike=0.8 \
    --set rank2file.mean_size=3K --set rank2file.sigma=0.7 || exit 1
"$HPCGEN" fit scr/scr -O scr.ini -q || bad "the fit of checkpoints alone failed"
learned objects 1 1 scr.ini
learned mean_size 2700 3500 scr.ini
learned sigma 0.63 0.77 scr.ini
learned alike 0.3 1 scr.ini
grep -q '^layout = scr-3' scr.ini || bad "another layout: $(grep layout scr.ini)"
"$HPCGEN" -q -c scr.ini --seed 6 -o scr_twin || bad "the configuration of checkpoints is not accepted"
"$HPCGEN" verify scr_twin >/dev/null || bad "the twin of checkpoints is not sound"
alike scr/scr scr_twin
# Equal file sizes stay equal in the twin. Data with more checkpoints than phases can be fitted.
"$HPCGEN" -q -n 8 -f rank2file -o equal --set rank2file.layout=scr-3 --set load.objects=1 --set rank2file.sigma=0 \
    --set rank2file.mean_size=500 --set rank2file.checkpoints=50 --set load.phases=50 || exit 1
"$HPCGEN" fit equal -O equal.ini -q || bad "the fit of equal sizes failed"
"$HPCGEN" -q -c equal.ini --seed 6 -o equal_twin || bad "the configuration of equal sizes is not accepted"
alike equal equal_twin

# ---- links: a machine is recognised, also if its links have other speeds ----

"$HPCGEN" -q -n 256 -f linktest --preset tcp-1g --seed 5 -o links --set linktest.messages=10 \
    --set linktest.permutations=2 --set machine.ppn=8 --set machine.line_3=0.5 --set machine.line_4=0.5 \
    --set machine.line_5=0.5 || exit 1
"$HPCGEN" fit links/linktest/pingpong_results_bin.sion -O links.ini -q || bad "the fit of a LinkTest result failed"
grep -q '^preset = tcp-1g$' links.ini || bad "the machine was not recognised: $(grep preset links.ini)"
learned ppn 8 8 links.ini
learned messages 10 10 links.ini
learned permutations 2 2 links.ini
learned line_3 0.45 0.55 links.ini
"$HPCGEN" -q -c links.ini -f linktest -s 6 -o links_twin || bad "the configuration of links is not accepted"
"$HPCGEN" verify links_twin >/dev/null || bad "the twin of links is not sound"
alike links links_twin
"$HPCGEN" -q -n 256 -f linktest --preset torus-tofud --seed 6 -o torus || exit 1
"$HPCGEN" fit --compare links torus --json >rows || bad "the comparison of links failed"
[ "$(number different <rows)" -ge 3 ] || bad "another machine differs in too few rows: $(cat rows)"
# machine.job decides the nodes of a job and the traffic of other jobs. `fit` chooses the number whose timings are
# like the measured ones.
"$HPCGEN" -q -n 256 -f linktest --preset dfplus-hdr200 --seed 1 -o spread || exit 1
"$HPCGEN" -q -n 256 -f linktest --preset dfplus-hdr200 --seed 1001 -o elsewhere || exit 1
"$HPCGEN" fit --compare spread elsewhere --json >rows || bad "the comparison of two jobs failed"
[ "$(number different <rows)" -ge 2 ] || bad "two jobs are alike: $(cat rows)"
"$HPCGEN" fit spread -O spread.ini -q || bad "the fit of a spread job failed"
"$HPCGEN" -q -c spread.ini -s 1001 -o spread_twin || bad "the configuration of a job is not accepted"
alike spread spread_twin
# Oversubscribed processes on one host: times scatter widely, and some messages are delayed. A tool that counts
# outliers finds as many in the twin.
"$HPCGEN" -q -n 32 -f linktest --preset dfplus-hdr200 --seed 1 -o crowded --set machine.ppn=32 --set linktest.messages=20 \
    --set linktest.s_msg=0.9 --set linktest.tail_probability=0.006 --set linktest.tail=1500 --set linktest.tail_max=3000 || exit 1
"$HPCGEN" -q -n 32 -f linktest --preset dfplus-hdr200 --seed 2 -o calm --set machine.ppn=32 --set linktest.messages=20 || exit 1
"$HPCGEN" fit crowded -O crowded.ini -q || bad "the fit of a crowded host failed"
learned s_msg 0.6 2 crowded.ini
learned tail_probability 0.004 0.009 crowded.ini
"$HPCGEN" -q -c crowded.ini -s 1001 -o crowded_twin || bad "the configuration of a crowded host is not accepted"
alike crowded crowded_twin
"$HPCGEN" fit --compare crowded calm --json >rows || bad "the comparison of a calm host failed"
for row in 'spread of times in a place' 'times far out in their place'; do
    grep -q "\"$row\".*\"different\"" rows || bad "$row is not different: $(cat rows)"
done
# Differences that no finder sees do not count: a spread of 0 and one below the step of clocks, no timing far out and
# fewer than one of 100.
"$HPCGEN" -q -n 64 -f linktest --preset tcp-1g --seed 1 -o quiet --set linktest.s_msg=0 --set machine.pair_spread=0 || exit 1
"$HPCGEN" fit quiet -O quiet.ini -q || bad "the fit of a quiet machine failed"
"$HPCGEN" -q -c quiet.ini -s 101 -o quiet_twin || bad "the configuration of a quiet machine is not accepted"
"$HPCGEN" fit --compare quiet quiet_twin --json >rows || bad "the comparison of a quiet machine failed"
for row in 'spread of times in a place' 'times far out in their place'; do
    grep -q "\"$row\".*\"alike\"" rows || bad "$row is not alike: $(cat rows)"
done
# Slow nodes are found by their fastest timings, for any number of permutations.
"$HPCGEN" -q -n 512 -f linktest --preset torus-tofud --seed 1 -o sound --set machine.ppn=8 --set linktest.permutations=4 \
    --set machine.bad_node_share=0 || exit 1
"$HPCGEN" fit sound -O sound.ini -q || bad "the fit of sound nodes failed"
learned bad_node_share 0 0 sound.ini

# ---- an event log beside other formats is left out ----

"$HPCGEN" -q -n 16 -f vom,clog2 --seed 4 -o both --set load.phases=4 || exit 1
"$HPCGEN" fit both -O both.ini >table 2>err || bad "the fit of load data beside a log failed: $(cat err)"
[ ! -s err ] || bad "the fit of load data beside a log says more than its table: $(cat err)"
grep -q '^; clog2: the event log was left out: ' both.ini || bad "no remark on the log: $(cat both.ini)"
[ "$(tail -n 1 table)" = 'clog2: the event log was left out: its twin has no other format; fit it alone' ] || bad "the remark on the log is not printed: $(cat table)"
grep -q '^formats = vom$' both.ini || bad "other formats: $(grep formats both.ini)"
"$HPCGEN" fit both/vom -O again.ini -q || bad "the fit of the load data alone failed"
grep -v '^; clog2' both.ini | cmp - again.ini || bad "a log that is left out changes the configuration"
"$HPCGEN" fit --compare both both >said 2>err || bad "the comparison of load data beside a log failed"
[ ! -s err ] || bad "the comparison of load data beside a log says: $(cat err)"
grep -q '^clog2 .*alike' said || bad "no rows of a log: $(cat said)"
[ -z "$("$HPCGEN" fit both -O again.ini -q 2>&1)" ] || bad "--quiet prints something"

# ---- event logs ----

# A log with few phases, which the barriers of checkpoints interrupt. The twin has the same number of phases.
for seed in 1 2 4; do
    "$HPCGEN" -q -n 16 -f clog2 -s $seed -w wavefront --scale tiny -o brief || exit 1
    "$HPCGEN" fit brief -O brief.ini -q || bad "seed $seed: no twin of a log with few phases"
    [ "$(sed -n 's/^phases = \([0-9]*\).*/\1/p' brief.ini)" -gt 4 ] || bad "seed $seed: other phases: $(cat brief.ini)"
    rm -r brief brief.ini brief.lua
done
# Two logs of one program, whose main loop is nested. In one log fit finds the outer loop, in the other the inner
# one. The comparison counts the turns of the same loop.
for seed in 1 3; do
    "$HPCGEN" -q -n 16 -f clog2 -s $seed -w stencil --scale tiny --set load.phases=37 --set workload.residual=8 -o nest$seed || exit 1
done
"$HPCGEN" fit --compare nest1 nest3 >said || bad "two logs of one program cannot be compared"
grep -q '^clog2  *turns of the main loop .* alike$' said || bad "turns of other loops are compared: $(cat said)"
rm -r nest1 nest3
for workload in wavefront fft stencil; do
    "$HPCGEN" -q -n 16 -f clog2 -s 5 -w $workload --scale small -o log || exit 1
    "$HPCGEN" fit log -O made/../log.ini -q 2>/dev/null && bad "a folder that is not there is accepted"
    mkdir -p made
    "$HPCGEN" fit log -O made/log.ini -q || bad "the fit of a log of $workload failed"
    grep -q '^workload = log.lua$' made/log.ini || bad "$workload: no workload: $(cat made/log.ini)"
    case $workload in
    wavefront) remark='states of the program are left out: Sweep' ;;
    fft) remark='states of the program are left out: FFT, Transpose' ;;
    stencil) remark='workload\.rest is 0\.125, far from 1: ' ;;
    esac
    grep -q "^; clog2: $remark" made/log.ini || bad "$workload: no remark $remark: $(cat made/log.ini)"
    # The workload file is found beside the configuration, whatever the current directory is.
    (mkdir -p elsewhere && cd elsewhere && "$HPCGEN" -q -c ../made/log.ini -s 77 -o ../log_twin) ||
        bad "the twin of a log of $workload cannot be generated"
    alike log log_twin
    "$HPCGEN" verify log_twin >/dev/null || bad "the twin of a log of $workload is not sound"
    said=$("$HPCGEN" -q -n 8 -c made/log.ini -o smaller 2>&1) && bad "a twin of a log has another number of ranks"
    case $said in
    'hpcgen: log.lua:6: expected as many ranks as the log has, 16, got 8') ;;
    *) bad "expected a line on the number of ranks, got: $said" ;;
    esac
    rm -r log log_twin made
done
# The log of another workload differs, and the first line says how.
"$HPCGEN" -q -n 16 -f clog2 -s 5 -w fft --scale tiny -o log &&
    "$HPCGEN" -q -n 16 -f clog2 -s 5 -w stencil --scale tiny -o other_log || exit 1
"$HPCGEN" fit --compare log other_log >said || bad "the comparison of logs failed"
[ "$(head -n 1 said | cut -c 1-29)" = 'different: calls by name, com' ] || bad "another workload is alike: $(cat said)"
# A log of MPE2 with its definitions at the end.
if [ -d "${HPCW_GOLDEN-}/clog2" ]; then
    "$HPCGEN" fit "$HPCW_GOLDEN/clog2/np4_comms.clog2" -O mpe.ini -q || bad "the fit of a log of MPE2 failed"
    "$HPCGEN" -q -c mpe.ini -o mpe || bad "the twin of a log of MPE2 cannot be generated"
    alike "$HPCW_GOLDEN/clog2/np4_comms.clog2" mpe
fi
# In a log with few short messages, each of them may have ended in a call that waited for longer messages. So their
# times are no measure of latency.
"$HPCGEN" -q -n 8 -f clog2 -s 2 -w stencil --scale small -o short_log || exit 1
"$HPCGEN" fit short_log -O short_log.ini -q || bad "a log with few short messages has no twin"
# A rank may be alone in a communicator. Its collective calls there are not taken for calls of all ranks.
cat >alone.lua <<'EOF'
function run()
  local own, all = split(rank > 3 and rank or 0), dup()
  for _ = 1, phases do
    own:allreduce(8)
    all:barrier()
    work(1)
    next_phase()
  end
end
EOF
"$HPCGEN" -q -n 8 -f clog2 -s 5 -w alone.lua --set rank2file.checkpoints=0 -o alone || exit 1
"$HPCGEN" fit alone -O lonely.ini -q && "$HPCGEN" -q -c lonely.ini -o lonely || bad "a rank alone in a communicator: no twin"
"$HPCGEN" fit --compare alone lonely >said || bad "a rank alone in a communicator: the twin is not whole"
grep -q '^clog2   *calls by name  .* alike$' said || bad "a rank alone in a communicator: $(cat said)"
# Calls of MPI_Waitany that complete all receives and sends of an exchange, in an order that changes from turn to turn; in a
# ring, and on a line, whose ends exchange with MPI_PROC_NULL.
for partner in 'n % size' 'n >= 0 and n < size and n or none'; do
    cat >either.lua <<EOF
function run()
  local function at(n) return $partner end
  local left, right = at(rank - 1), at(rank + 1)
  for _ = 1, phases do
    compute(0.001 * random())
    local open = { irecv(left), irecv(right), isend(left, 1 << 20), isend(right, 8) }
    while #open > 0 do table.remove(open, (waitany(open))) end
    next_phase()
  end
end
EOF
    "$HPCGEN" -q -n 4 -f clog2 -s 5 -w either.lua --set load.phases=50 --set rank2file.checkpoints=0 -o either || exit 1
    "$HPCGEN" fit either -O order.ini -q && "$HPCGEN" -q -c order.ini -o order || bad "waits for any request: no twin"
    [ "$(grep -c '^local function role_.() *$' order.lua)" = 1 ] || bad "waits for any request: the order makes roles: $(cat order.lua)"
    "$HPCGEN" fit --compare either order >said || bad "waits for any request: the twin is not whole"
    grep -q '^clog2   *calls by name  .* alike$' said || bad "waits for any request: $(cat said)"
    grep -q '^clog2   *turns of the main loop  *50  *50 .* alike$' said || bad "waits for any request: $(cat said)"
    rm -r either order
done
# Ranks on a line wait for one request after the other. Some calls of MPI_Wait at the ends of the line are for receives from
# MPI_PROC_NULL. They end all the same, so that a later message from the same rank does not end in an older Irecv.
cat >each.lua <<'EOF'
function run()
  local function at(n) return n >= 0 and n < size and n or none end
  for _ = 1, phases do
    compute(0.001 * random())
    local open = { irecv(at(rank - 3)), isend(at(rank + 3), 1 << 20), irecv(at(rank - 1)), isend(at(rank + 1), 1 << 20) }
    for i = 1, 4 do wait(open[i]) end
    sendrecv((rank + 1) % size, 1 << 16, (rank - 1) % size)
    next_phase()
  end
end
EOF
"$HPCGEN" -q -n 4 -f clog2 -s 5 -w each.lua --set load.phases=50 --set rank2file.checkpoints=0 -o each || exit 1
"$HPCGEN" fit each -O line.ini -q && "$HPCGEN" -q -c line.ini -o line || bad "waits for nobody: no twin"
"$HPCGEN" fit --compare each line >said || bad "waits for nobody: the twin is not whole"
grep -q '^13 of 13 rows are alike$' said || bad "waits for nobody: $(cat said)"
# From which size on senders wait for receivers: calls of MPI_Sendrecv show it, and a few short messages do not hide it.
cat >swap.lua <<'EOF'
function run()
  for _ = 1, phases do
    compute(0.001 * random())
    sendrecv((rank + 1) % size, 1 << 16, (rank - 1) % size)
    next_phase()
  end
  if rank > 0 then send(0, 8) end
  for from = 1, rank == 0 and size - 1 or 0 do recv(from) end
end
EOF
"$HPCGEN" -q -n 4 -f clog2 -s 5 -w swap.lua --set load.phases=50 --set rank2file.checkpoints=0 -o swap || exit 1
"$HPCGEN" fit swap -O wait.ini -q && "$HPCGEN" -q -c wait.ini -o wait || bad "MPI_Sendrecv: no twin"
grep -q '^eager_node = 65500 ' wait.ini || bad "MPI_Sendrecv does not show the eager limit: $(cat wait.ini)"
grep -q '^rest = 1 ' wait.ini || bad "MPI_Sendrecv: waits for receivers count twice: $(cat wait.ini)"
"$HPCGEN" fit --compare swap wait >said || bad "MPI_Sendrecv: the twin is not whole"
grep -q '^clog2   *time lost to late receivers  .* alike$' said || bad "MPI_Sendrecv: $(cat said)"
# Ranks that enter MPI_Sendrecv together wait for their own messages, which are short, and not for their receivers.
cat >together.lua <<'EOF'
function run()
  for _ = 1, phases do
    compute(0.0001)
    barrier()
    sendrecv((rank + 1) % size, 8, (rank - 1) % size)
    sendrecv((rank - 1) % size, 1000, (rank + 1) % size)
    next_phase()
  end
end
EOF
"$HPCGEN" -q -n 8 -f clog2 -s 2 -w together.lua --set load.phases=100 --set rank2file.checkpoints=0 -o together || exit 1
"$HPCGEN" fit together -O short.ini -q || bad "short MPI_Sendrecv: no twin"
grep -q '^eager_node = 2150000000 ' short.ini || bad "short messages wait for their receivers: $(cat short.ini)"
# Many long messages end in one call. Each of them takes as long as all of them, but the machine is not that slow.
cat >window.lua <<'EOF'
function run()
  for _ = 1, phases do
    for _ = 1, 32 do
      if rank == 0 then isend(1, 1 << 20) else irecv(0) end
    end
    waitall()
    if rank == 0 then recv(1) else send(0, 4) end
    next_phase()
  end
end
EOF
"$HPCGEN" -q -n 2 -f clog2 -s 5 -w window.lua --set load.phases=20 --set rank2file.checkpoints=0 -o window || exit 1
"$HPCGEN" fit window -O wide.ini -q && "$HPCGEN" -q -c wide.ini -o wide || bad "many messages at once: no twin"
"$HPCGEN" fit --compare window wide >said || bad "many messages at once: the twin is not whole"
grep -q '^clog2   *length of the run  .* alike$' said || bad "many messages at once: $(cat said)"
# A communicator that is made anew in each turn is the same one, so that the turns are a loop.
cat >remade.lua <<'EOF'
function run()
  for _ = 1, phases do
    local half = split(rank % 2)
    half:allreduce(8)
    work(1)
    half:bcast(64)
    next_phase()
  end
end
EOF
"$HPCGEN" -q -n 4 -f clog2 -s 5 -w remade.lua --set load.phases=20 --set rank2file.checkpoints=0 -o remade || exit 1
"$HPCGEN" fit remade -O halves.ini -q && "$HPCGEN" -q -c halves.ini -o halves || bad "communicators made anew: no twin"
grep -q '^  for _ = 1, 20 do$' halves.lua || bad "communicators made anew: no loop: $(cat halves.lua)"
"$HPCGEN" fit --compare remade halves >said || bad "communicators made anew: the twin is not whole"
grep -q '^clog2   *turns of the main loop  *20  *20 .* alike$' said || bad "communicators made anew: $(cat said)"
# The first text of a large run is too long, most of it tables. With fewer lists of messages it is short enough.
"$HPCGEN" -q -n 256 -f clog2 -s 1 --scale small -w hydro -o large || exit 1
"$HPCGEN" fit large -O shorter.ini -q || bad "a large run has no twin"
rm -r large
# In each turn, another rank has almost nothing to do.
cat >idle.lua <<'EOF'
function run()
  for turn = 1, phases do
    compute(turn % 4 == rank and 2e-7 or 0.001)
    allreduce(8)
    next_phase()
  end
end
EOF
"$HPCGEN" -q -n 4 -f clog2 -s 5 -w idle.lua --set load.phases=12 --set rank2file.checkpoints=0 -o idle || exit 1
"$HPCGEN" fit idle -O rest.ini -q && "$HPCGEN" -q -c rest.ini -o rest || bad "ranks without work in some turns: no twin"
"$HPCGEN" fit --compare idle rest >said || bad "ranks without work in some turns: the twin is not whole"
grep -q '^clog2   *time lost in collective calls  .* alike$' said || bad "ranks without work in some turns: $(cat said)"
# Calls in an order that never repeats have no twin. The message names the log, and says how long the text would be.
cat >chaos.lua <<'EOF'
function run()
  local x = 1
  for _ = 1, 6000 do
    x = x * 6364136223846793005 + 1442695040888963407
    if x < 0 then barrier() else allreduce(8) end
  end
  next_phase()
end
EOF
"$HPCGEN" -q -n 2 -f clog2 -s 5 -w chaos.lua --set load.phases=1 --set rank2file.checkpoints=0 -o chaos || exit 1
refuse 'hpcgen: chaos/clog2/app.clog2: expected calls that repeat, for a text of at most 2000 lines and 960 KiB, got at least [2-9]??? lines and * KiB' 1 chaos -O no.ini
# A program that gives tasks to the first free rank has no twin, unless a partial one is requested.
"$HPCGEN" -q -n 16 -f clog2 -s 5 -w farm --scale tiny -o farm || exit 1
refuse 'hpcgen: farm/clog2/app.clog2: expected a twin that takes * s, got * s: * the main loop differ ([1-9]* found); --partial makes a twin *' 1 farm -O no.ini
[ ! -e no.lua ] || bad "a refused twin has a workload"
"$HPCGEN" fit farm -O farm.ini -q --partial || bad "--partial makes no twin"
grep -q '^; clog2: partial: expected a twin that takes ' farm.ini || bad "a partial twin does not say so: $(cat farm.ini)"
"$HPCGEN" -q -c farm.ini -o farm_twin || bad "a partial twin cannot be generated"
grep -q '"lacks": *"expected a twin that takes ' farm_twin/truth.json || bad "the truth of a partial twin does not say so"
"$HPCGEN" fit --compare farm farm_twin -O farm.html >said || bad "a partial twin cannot be compared"
[ "$(head -n 1 said | cut -c 1-42)" = 'a partial twin: expected a twin that takes' ] || bad "a comparison hides that the twin is partial: $(cat said)"
grep -q 'A partial twin: expected a twin that takes' farm.html || bad "the page of a comparison hides that the twin is partial"
"$HPCGEN" fit --compare farm farm_twin --json | grep -q '"lacks": *"expected a twin' || bad "--json hides that the twin is partial"
refuse 'hpcgen: --output: expected a file, as the workload is written beside it, got standard output' 1 log -O -
# A workload file that the user wrote is not replaced; one that fit wrote is replaced.
echo '-- my own' >own.lua
refuse 'hpcgen: own.lua: expected no file, or a workload that fit wrote, *: choose another --output' 1 log -O own.ini
[ "$(cat own.lua)" = '-- my own' ] && [ ! -e own.ini ] || bad "a workload of the user's own was replaced"
"$HPCGEN" fit log -O twice.ini -q && "$HPCGEN" fit log -O twice.ini -q || bad "a twin is not replaced by another one"
for target in twice.lua nowhere; do
    ln -s $target link.lua
    refuse 'hpcgen: link.lua: expected no file, or a workload that fit wrote, *: choose another --output' 1 log -O link.ini
    rm link.lua
done
[ ! -e nowhere ] || bad "a workload is written through a link"
# If the configuration cannot be written, the old workload file stays, since both files belong to one twin.
cp twice.lua kept.lua
rm twice.ini
mkdir twice.ini
refuse 'hpcgen: twice.ini: expected a regular file to replace, got a directory' 1 alone -O twice.ini -q
cmp twice.lua kept.lua || bad "half of a twin is replaced"
refuse 'hpcgen: --output: expected a name like twin.ini, got log.lua: the workload gets the name in .lua' 1 log -O log.lua

# ---- settings ----

# All settings of a LinkTest run, and a last node with fewer ranks than the others.
"$HPCGEN" -q -n 22 -f linktest --preset dfplus-ndr200 --seed 5 -o settings --set linktest.gpu_memory=yes \
    --set linktest.kernel=bidirectional --set linktest.all_to_all=yes --set linktest.serial=yes || exit 1
"$HPCGEN" fit settings -O settings.ini -q || bad "the fit of other settings failed"
"$HPCGEN" -q -c settings.ini -f linktest -s 6 -o settings_twin || bad "other settings are not accepted"
for line in 'kernel = bidirectional' 'all_to_all = true' 'serial = true' 'gpu_memory = true' 'ppn = 4'; do
    grep -q "^$line" settings.ini || bad "expected $line, got: $(cat settings.ini)"
done
"$HPCGEN" -q -n 2 -f linktest -o pair || exit 1
"$HPCGEN" fit pair -O pair.ini -q || bad "the fit of two ranks failed"
! grep -q latency pair.ini || bad "a single timing is told: $(grep latency pair.ini)"
"$HPCGEN" -q -c pair.ini -f linktest -o pair_twin || bad "the configuration of two ranks is not accepted"

# ---- output ----

"$HPCGEN" fit real -O json.ini --json >said.json || bad "--json of a fit failed"
"$JSON_CHECK" said.json || bad "--json of a fit is no JSON"
"$JSON_CHECK" rows || bad "--json of a comparison is no JSON"
cmp twin.ini json.ini || bad "--json changes the configuration"
[ -z "$("$HPCGEN" fit real -O quiet.ini -q 2>&1)" ] || bad "--quiet prints something"
if "$HPCGEN" fit --compare real twin --output page.html >/dev/null 2>err; then
    "$HTML_CHECK" page.html >/dev/null || bad "the page of a comparison is not sound"
    grep -q 'task time from phase 1 on' page.html || bad "a distribution is not on the page"
    # Order of the page: what it is, the answer with links to the largest differences, the evidence, and the method.
    order=$(grep -o '<div class="about">\|[0-9]* of [0-9]* statistics are alike\|>How alike they are</h2>\|>How it was measured</h2>' page.html |
        sed 's/[0-9]* of [0-9]*/N of N/' | tr '\n' ' ')
    [ "$order" = '<div class="about"> N of N statistics are alike >How alike they are</h2> >How it was measured</h2> ' ] ||
        bad "the page of a comparison has another order: $order"
    grep -q '<p>Real data, real, and a data set that should be like them, twin\.' page.html || bad "the page does not say of what it is"
    ! grep -q '<td>different</td>' page.html || grep -q '<p>Different: [^<]*<a href="#row-[0-9]*">' page.html ||
        bad "the answer does not name what differs"
else
    grep -q 'libjs-chart.js' err || bad "no page: $(cat err)"
fi

# Standard output has only the configuration or the page. Text for people then goes to stderr.
for output in - ./-; do
    mkdir standard && cd standard || exit 1
    "$HPCGEN" fit ../real --output $output >out 2>err || bad "fit to $output failed: $(cat err)"
    case $output in
    -) [ ! -e - ] && cmp ../twin.ini out || bad "another configuration on standard output" ;;
    *) cmp ../twin.ini ./- || bad "another configuration in a file called -" ;;
    esac
    cd .. && rm -r standard
done
"$HPCGEN" fit real --output - >out 2>err || bad "fit to standard output failed"
grep -q '^parameter' err || bad "no table on stderr: $(cat err)"
[ -z "$("$HPCGEN" fit real -O - -q 2>&1 >out)" ] || bad "--quiet prints something"
if [ -e page.html ]; then
    "$HPCGEN" fit --compare real twin --output - >out 2>err || bad "a comparison to standard output failed"
    cmp page.html out || bad "another page on standard output"
    grep -q ' rows are alike$' err || bad "no rows on stderr: $(cat err)"
    [ ! -e - ] || bad "a comparison leaves a file called -"
fi

# ---- poor data: the configuration is usable, and a remark tells what is missing ----

# Writes load data in vt's old form: the type is at the end, and the stem is `old`. Each line of standard input has
# the task times of a phase.
old() { # DIRECTORY
    mkdir -p "$1"
    awk '{
        printf "%s{\"id\":%d,\"tasks\":[", (NR == 1 ? "{\"phases\":[" : ","), NR - 1
        for (i = 1; i <= NF; i++) {
            id = 262144 * i + 3
            printf "%s{\"entity\":{\"collection_id\":7,\"home\":0,\"id\":%d,\"index\":[%d],", (i > 1 ? "," : ""), id, i
            printf "\"migratable\":true,\"type\":\"object\"},\"node\":0,\"resource\":\"cpu\",\"time\":%s}", $i
        }
        printf "]}"
    }
    END {print "],\"type\":\"LBDatafile\"}"}' >"$1/old.0.json"
}
poor() { # DIRECTORY PHASES TASKS TIME REMARK
    awk -v phases="$2" -v tasks="$3" -v time="$4" 'BEGIN {
        for (p = 0; p < phases; p++) {
            for (t = 0; t < tasks; t++) printf "%s ", time
            print ""
        }
    }' | old "$1"
    "$HPCGEN" verify "$1" >/dev/null || bad "$1: old load data are not accepted"
    "$HPCGEN" fit "$1" -O poor.ini >table || bad "$1: the fit failed"
    "$HPCGEN" plan -c poor.ini -f sion,vom,clog2,rank2file --ranks 64 >/dev/null 2>&1 ||
        bad "$1: the configuration is not accepted for all formats"
    "$HPCGEN" -q -c poor.ini -f vom -o "$1.twin" || bad "$1: the configuration is not accepted"
    "$HPCGEN" fit --compare "$1" "$1.twin" >/dev/null || bad "$1: the comparison failed"
    grep -q "^; $5" poor.ini || bad "$1: expected a remark '$5', got: $(grep '^;' poor.ini)"
    grep -q "^$5" table || bad "$1: the remark is not printed: $(cat table)"
}
poor one 1 1 1.5 'fewer than 5 migratable tasks'
poor idle 2 0 1.5 'fewer than 5 migratable tasks'
poor equal 3 20 0.125 'the task times of a phase are all the same'
poor rank 1 300 0.25 'one rank'
poor crowd 1 6000 0.25 'more objects on a rank than the model can have'
poor zeros 2 6 0.0 'the task times of a phase are all the same'

# ---- few values: no single value gets into the configuration ----

# The set-up phase has one task, each later phase 20 tasks.
awk 'BEGIN {print "7.77"; for (p = 0; p < 6; p++) {for (t = 0; t < 20; t++) printf "0.%d ", 100 + (t * 37 + p * 11) % 97; print ""}}' |
    old single
"$HPCGEN" fit single -O single.ini -q || bad "the fit of a single set-up task failed"
grep -q '^mean_first' single.ini || bad "no times of the run: $(cat single.ini)"
! grep -qE '^setup_(factor|table)' single.ini || bad "a single time is told: $(grep setup single.ini)"
grep -q '^; fewer than 5 tasks in phase 0' single.ini || bad "no remark on the set-up: $(cat single.ini)"
# One task in each phase: its first time would become the level at the begin of the run.
printf '%s\n' 0.51 1.23 4.56 4.57 4.51 4.63 4.55 4.53 | old phases
"$HPCGEN" fit phases -O phases.ini -q || bad "the fit of one task in a phase failed"
! grep -q '123' phases.ini || bad "a single time is told: $(grep 123 phases.ini)"
[ "$(sed -n 's/^mean_first = //p' phases.ini)" = "$(sed -n 's/^mean_last = //p' phases.ini)" ] ||
    bad "a course of single values: $(grep mean phases.ini)"
# 40 tasks with constant times: the ends of a table would be the times of single tasks, so no table is written.
awk 'BEGIN {for (p = 0; p < 20; p++) {for (t = 0; t < 40; t++) printf "%.3f ", 0.1 * exp(0.1 * t); print ""}}' | old same
"$HPCGEN" fit same -O same.ini -q || bad "the fit of constant tasks failed"
grep -q '^time_table = none' same.ini || bad "a table of 40 tasks: $(grep table same.ini)"
# The smallest size in the configuration follows from mean and deviation, not from the smallest measured size.
"$HPCGEN" -q -n 5 -f sion --seed 9 -o five --set sion.mean_size=6K --set sion.sigma=0.6 --set sion.min_particles=1 || exit 1
"$HPCGEN" fit five -O five.ini -q || bad "the fit of 5 tasks failed"
awk '$1 == "mean_size" {mean = $3} $1 == "sigma" {sigma = $3} $1 == "min_particles" {least = $3}
    END {by_form = mean * exp(-0.5 * sigma * sigma - 2.05 * sigma) / 38; exit !(least > 0.97 * by_form - 1 && least < 1.03 * by_form)}' \
    five.ini || bad "the least size is not that of the distribution: $(cat five.ini)"

# Two ranks with different tasks. The tolerance comes from two halves of the data, here one rank each, so it accepts
# any distribution.
"$HPCGEN" -q -n 2 -f vom -o ranks --set load.phases=2 --set load.alike=1 --set load.sigma_first=2 --set load.sigma_last=2 \
    --set load.persistence=1 --set load.persistence_first=1 --set load.skew=0 || exit 1
"$HPCGEN" fit --compare ranks single --json >rows || bad "the comparison of two ranks failed"
[ "$(number unknown <rows)" -ge 1 ] || bad "two ranks tell all: $(cat rows)"
"$HPCGEN" fit --compare ranks single | grep -q '^[0-9]* rows: too few ranks to tell$' || bad "no word on what is not known"

# ---- refusals ----

cp -r real/vom cut
head -c 1000 real/vom/data.7.json >cut/data.7.json
refuse 'hpcgen: cut/data.7.json: *the end of the text*' 1 cut -O no.ini
rm cut/data.7.json
refuse 'hpcgen: cut: expected a file for each of the ranks 0 to 255, got none for rank 7' 1 cut -O no.ini
head -c 600 real/sion/particles.sion >cut.sion
refuse 'hpcgen: cut.sion: *' 1 cut.sion -O no.ini
refuse 'hpcgen: nothing: expected a file or directory: *' 1 nothing -O no.ini
mkdir empty nothing_ran
echo '{"phases":[],"type":"LBDatafile"}' >nothing_ran/data.0.json
refuse 'hpcgen: nothing_ran: expected at least one phase, got none' 1 nothing_ran -O no.ini
refuse 'hpcgen: empty: fit: expected *linktest*sion*vom*clog2*rank2file*, or a dataset with one of them, got none' 1 empty -O no.ini
# If a dataset cannot be fitted, stderr has only the error, without the remark that its log is left out.
"$HPCGEN" -q -n 4 -f sion,clog2 -o cut_both || exit 1
cp cut.sion cut_both/sion/particles.sion
refuse 'hpcgen: cut_both/sion/particles.sion: *' 1 cut_both -O no.ini
refuse 'hpcgen: twin.ini: expected a file of a known format *' 1 twin.ini -O no.ini
refuse 'hpcgen: --output: expected the file for the configuration, got none' 2 real
refuse 'hpcgen: --json and --output -: expected one of them, got both' 2 real -O - --json
refuse 'hpcgen: two/vom: expected one data set of each format, got two of vom' 1 both two -O no.ini
refuse 'hpcgen: --compare: expected two data sets, REAL and TWIN, got 1' 2 --compare real
refuse 'hpcgen: nowhere/no.ini: *' 1 real/vom -O nowhere/no.ini
[ ! -e no.ini ] || bad "a failed fit left a configuration"
exit $failed
