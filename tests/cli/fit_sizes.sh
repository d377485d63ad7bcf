#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# `hpcgen fit` makes one program, for any number of ranks, from logs with different numbers of ranks.

failed=0
bad() { echo "$1"; failed=1; }

# refuse PATTERN ARGUMENT...: fit fails with one line that matches PATTERN, and writes nothing
refuse() {
    pattern=$1
    shift
    "$HPCGEN" fit "$@" -O no.ini >said 2>&1 && bad "fit $*: expected a failure"
    [ "$(wc -l <said)" = 1 ] || bad "fit $*: expected one line, got $(cat said)"
    # shellcheck disable=SC2254
    case $(cat said) in
    $pattern) ;;
    *) bad "fit $*: expected $pattern, got $(cat said)" ;;
    esac
    [ ! -e no.ini ] && [ ! -e no.lua ] || bad "fit $*: a refused twin was written"
}

# Neighbours on a grid with a border. With more ranks, the messages become shorter. At the border, requests have no
# partner.
cat >halo.lua <<'EOF'
parameters = { points = 960 }
function run()
  local grid = cart { 2 }
  for _ = 1, phases do
    for _ = 1, 5 do
      local sum = irecv(rank > 0 and rank - 1 or none)
      wait(isend(rank + 1 < size and rank + 1 or none, 64))
      wait(sum)
      for dimension = 1, 2 do
        for step = -1, 1, 2 do
          local other = grid:neighbour(dimension, step)
          irecv(other)
          isend(other, 8 * (parameters.points // grid:side(3 - dimension)))
        end
      end
      waitall()
      compute(0.3 / size)
      allreduce(8)
    end
    next_phase()
  end
end
EOF

make() { "$HPCGEN" --quiet --seed 3 --formats clog2 --set rank2file.checkpoints=0 "$@" || exit 1; }
for ranks in 9 36 100; do make --ranks $ranks --scale tiny --workload halo.lua --out halo$ranks; done
"$HPCGEN" fit halo36 halo9 --output twin.ini >said || bad "fit of two logs fails"

# The twin names the logs that it was made from. Its partners are steps on the grid, and its messages become shorter
# with more ranks.
head -1 twin.lua | grep -q '^-- A twin of an event log with 36 ranks and one with 9, ' || bad "no range: $(head -1 twin.lua)"
grep -q '^clog2: for any number of ranks, from logs with 9 to 36: ' said || bad "no range: $(cat said)"
grep -q '^clog2: with 9 ranks the log takes .* s and the twin .* s$' said || bad "no length with 9 ranks: $(cat said)"
grep -q '^workload.rest  *[0-9.e-]*  *1  run$' said || bad "no factor of the times in calls: $(cat said)"
grep -q '{ { beside { -1, 0 }, whole(1280 \* grows(-0.5)) } }' twin.lua || bad "no partner on the grid: $(cat twin.lua)"
grep -q 'post(none, 0)' twin.lua || bad "no receive from nobody: $(cat twin.lua)"

# With any number of ranks, the twin behaves as the program does.
for ranks in 9 36 100; do
    "$HPCGEN" --quiet --config twin.ini --seed 7 --ranks $ranks --out made || bad "$ranks ranks: no twin"
    "$HPCGEN" verify --quiet made || bad "$ranks ranks: the twin's log is damaged"
    "$HPCGEN" fit --compare halo$ranks made >said
    for row in 'length of the run' 'calls by name' messages bytes 'bytes between pairs of ranks' 'bytes of a message' \
        'compute time' 'turns of the main loop'; do
        grep -q "^clog2   *\(median \)\?$row .* alike$" said || bad "$ranks ranks: $row: $(cat said)"
    done
    rm -r made
done
# On grids of 4 x 2 and 5 x 2 ranks, each rank is at a border. On 4 x 4 ranks some are not, so the twin refuses this
# grid.
for ranks in 8 10; do make --ranks $ranks --scale tiny --workload halo.lua --out halo$ranks; done
"$HPCGEN" fit --quiet halo8 halo10 --output flat.ini || bad "fit of flat grids fails"
case $("$HPCGEN" --quiet --config flat.ini --ranks 16 --out made 2>&1) in
*'expected a grid like that of the logs, got one with a place that none of their ranks has') ;;
*) bad "a grid with an inside is not refused" ;;
esac
"$HPCGEN" --quiet --config flat.ini --ranks 14 --out made || bad "7 x 2 ranks are refused"
for threads in 1 3; do
    "$HPCGEN" --quiet --config twin.ini --seed 7 --ranks 64 --jobs $threads --out made$threads || bad "no twin"
done
cmp -s made1/clog2/app.clog2 made3/clog2/app.clog2 || bad "bytes depend on the number of threads"

# Requests may be waited for in two calls, and a grid may have one rank in a dimension.
cat >apart.lua <<'EOF'
function run()
  for _ = 1, phases do
    for _ = 1, 5 do
      for dimension = 1, 2 do
        local receives, sends = {}, {}
        for step = -1, 1, 2 do
          local other = dimension == 2 and none or cart { 1 }:neighbour(1, step)
          receives[#receives + 1] = irecv(other)
          sends[#sends + 1] = isend(other, 512)
        end
        waitall(sends)
        waitall(receives)
      end
      compute(1e-3)
    end
    next_phase()
  end
end
EOF
make --ranks 8 --scale tiny --workload apart.lua --out apart8
"$HPCGEN" fit --quiet apart8 --output one.ini || bad "requests that are waited for apart: fit fails"
grep -q '^    at([0-9]*) post(within(rank - 1), 512)$' one.lua || bad "no receive from the rank before: $(cat one.lua)"
"$HPCGEN" --quiet --config one.ini --seed 7 --out made8 && "$HPCGEN" fit --compare apart8 made8 >said
grep -q '^clog2  *bytes between pairs of ranks .* alike$' said || bad "requests that are waited for apart: $(cat said)"

# Programs with sweeps over the grid, or with communicators of rows and columns.
for workload in wavefront fft; do
    for ranks in 16 64; do make --ranks $ranks --scale tiny --workload $workload --out $workload$ranks; done
    "$HPCGEN" fit --quiet ${workload}16 ${workload}64 --output $workload.ini || bad "$workload: fit fails"
    "$HPCGEN" --quiet --config $workload.ini --seed 7 --ranks 36 --out made36 || bad "$workload: no twin"
    make --ranks 36 --scale tiny --workload $workload --out ${workload}36
    "$HPCGEN" fit --compare ${workload}36 made36 >said
    for row in 'length of the run' 'calls by name' messages 'bytes of messages' 'turns of the main loop'; do
        grep -q "^clog2   *\(median \)\?$row .* alike$" said || bad "$workload: $row: $(cat said)"
    done
    rm -r made36
done
grep -q 'divide(world, line(2, 1))' fft.lua || bad "no columns: $(cat fft.lua)"

# With more ranks, a loop has more turns. Some ranks send a little more than others, as in a program whose grid of
# points cannot be divided evenly.
cat >uneven.lua <<'EOF'
parameters = { spread = 50 }
function run()
  for _ = 1, phases do
    for _ = 1, size // 4 do
      sendrecv((rank + 1) % size, 1000 + rank % 2 * parameters.spread, (rank - 1) % size)
    end
    compute(1e-3)
    allreduce(8)
    next_phase()
  end
end
EOF
for ranks in 8 16; do
    make --ranks $ranks --scale tiny --workload uneven.lua --out uneven$ranks
    make --ranks $ranks --scale tiny --workload uneven.lua --set workload.spread=500 --out odd$ranks
done
"$HPCGEN" fit --quiet uneven8 uneven16 --output some.ini || bad "ranks that send a little more: fit fails"
grep -q 'for _ = 1, whole(4 \* grows(1)) do' some.lua || bad "loops do not grow: $(cat some.lua)"
grep -q 'sendrecv((rank + 1) % size, 1025, (rank - 1) % size)' some.lua || bad "no mean of the bytes: $(cat some.lua)"

# With three logs, the twin is also checked against the log in the middle.
"$HPCGEN" fit halo36 halo100 halo9 --output three.ini >said || bad "fit of three logs fails"
grep -q '^clog2: with 36 ranks the log takes ' said || bad "three logs: $(cat said)"

# ---- refusals ----

refuse 'hpcgen: halo9/clog2/app.clog2: expected another number of ranks than that of halo9/clog2/app.clog2, got 9' halo9 halo9
refuse 'hpcgen: logs: expected the same calls in the same loops on rank * of 16 and rank * of 64, got others' fft16 wavefront64
refuse 'hpcgen: logs: expected grids that both have a border and an inside, as of 9 and 36 ranks, got 8 and 36 ranks' halo8 halo36
refuse 'hpcgen: logs: expected partners that follow *, and equal bytes, got others in MPI_Sendrecv, first on rank 0' odd8 odd16
# In hydro, the partners of ranks do not depend on their places on a grid, so fit refuses the logs.
for ranks in 16 64; do make --ranks $ranks --scale tiny --workload hydro --out hydro$ranks; done
refuse 'hpcgen: logs: expected ranks that make the same calls *, got others in the log of 64 ranks, first on rank *' hydro16 hydro64
exit $failed
