#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The developers' benchmark kernels, one of each kind with minimal work. The program is hpcw-kernels here.
. "$HERE/refuse.inc"

kernels=task-after-task,read-large,read-small,read-in-turn,linktest-parts,linktest-run,integers,json-records,vom-plain,clog2-file,map-4096,simulate-farm
"$HPCGEN" list >list || bad "list failed"
for name in $(echo $kernels | tr , ' '); do
    grep -q "^$name  *one  " list || bad "$name is not in the list"
done
"$HPCGEN" --repeat 1 --scale 0.001 --only $kernels >table || bad "a kernel failed"
for name in $(echo $kernels | tr , ' '); do
    grep -q "^$name: " table || bad "$name has no table"
done
grep -q '^  hpcw  .*  this library$' table || bad "no sides in the table: $(cat table)"
# The kernel linktest-run finds hpcgen in the same build, so no kernel is skipped.
grep 'skipped' table && bad "a kernel was skipped"
[ "$(ls)" = "$(printf 'list\ntable')" ] || bad "files stayed: $(ls -a)"

"$HPCGEN" --only integers,checkpoint --scale 0.001 --repeat 1 >alone || bad "failed where a kernel needs several processes"
grep -q 'needs several processes: mpirun -n 2 hpcw-kernels --only checkpoint' alone || bad "does not say how: $(cat alone)"

exit $failed
