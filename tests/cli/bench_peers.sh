#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bench/beside-peers.sh with our own programs in place of fio and IOR, which report known rates. $HPCGEN is the
# benchmark.
. "$HERE/refuse.inc"
mkdir data
export HPCW_BENCH="$HPCGEN"
# fio: 1000000 KiB/s written, 500000 KiB/s read.
cat >fio <<'END'
#!/bin/sh
for option; do
    case $option in
    --filename=*) : >"${option#*=}" ;;
    --rw=write) at=48 rate=1000000 ;;
    --rw=read) at=7 rate=500000 ;;
    esac
done
awk -v at=$at -v rate=$rate 'BEGIN { for (i = 1; i <= 60; i++) printf "%s;", i == at ? rate : 1; print "" }'
END
# IOR: 2000 MiB/s written, 1000 MiB/s read. Its output has a second table, which must not be read.
cat >ior <<'END'
#!/bin/sh
case "$*" in
*' -w '*) printf 'access bw(MiB/s)\nwrite 2000.00 1\nwrite 1 2\n' ;;
*) printf 'read 1000.00 1\nread 1 2\n' ;;
esac
END
chmod +x fio ior
FIO=$PWD/fio IOR=$PWD/ior "$HERE/../../bench/beside-peers.sh" data 4 3 >said || bad "it fails"
for row in 'write *fio *1024' 'write *ior *2097' 'read *fio *512' 'read *ior *1049'; do
    grep -q "^$row  *0 %  *[0-9.]* ([0-9.]* to [0-9.]*)$" said || bad "no row $row: $(cat said)"
done
# Each ratio is the rate of hpcw divided by that of fio or IOR.
awk '$2 == "hpcw" { rate[$1] = $3 } $2 == "fio" || $2 == "ior" { r = rate[$1] / $3 / $6
    if ($6 > 0.05 && (r < 0.8 || r > 1.2)) print "other ratio: " $0 }' said >odd
[ ! -s odd ] || bad "$(cat odd said)"
FIO=$PWD/missing "$HERE/../../bench/beside-peers.sh" data 4 1 >said || bad "it fails without fio and IOR"
grep -qx 'fio: skipped, since it is not installed' said && grep -qx 'IOR: skipped, since the variable IOR is not set' said ||
    bad "what is missing is not said: $(cat said)"
[ "$(grep -c '^\(write\|read\) ' said)" -eq 2 ] || bad "other rows: $(cat said)"
[ -z "$(ls -A data)" ] || bad "data remain: $(ls -A data)"
FIO=/bin/false "$HERE/../../bench/beside-peers.sh" data 4 1 >said 2>&1 && bad "a program that says nothing is no failure"
exit $failed
