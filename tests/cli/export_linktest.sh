#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A LinkTest result as CSV, read back by Python: the values are those in the container.
. "$HERE/refuse.inc"
result=pingpong_results_bin.sion
"$HPCGEN" --ranks 6 --formats linktest --set linktest.permutations=2 --out set --quiet || bad "generate fails"
"$HPCGEN" --ranks 4 --formats linktest --set linktest.bisection=yes --out halves --quiet || bad "generate fails"
make() {
    "$HPCGEN" export --quiet "$@" || bad "fails: $*"
}
make set/linktest/$result --output first.csv
make set/linktest/$result --output second.csv --permutation 1
make set/linktest/$result --output hosts.csv --form hosts
make set/linktest/$result --output some.csv --first-rank 2 --last-rank 3
make halves/linktest/$result --output halves.csv
for task in 0 1 2 3 4 5; do
    make set/linktest/$result --output task.$task --task $task
done
python3 - <<'PYTHON' || bad "other values than in the container"
import csv, struct
n = 6
first, second, hosts = (list(csv.reader(open(f + ".csv"))) for f in ("first", "second", "hosts"))
assert hosts[0] == ["rank", "host", "core"]
assert first[0] == second[0] == hosts[0] + [str(k) for k in range(n)], first[0]
assert len(first) == len(second) == len(hosts) == n + 1
assert len({r[1] for r in hosts[1:]}) == 2
for rank in range(n):
    # A task: host name and core, then for each permutation N - 1 times and N - 1 partners
    # (doc/formats/linktest.md).
    b = open(f"task.{rank}", "rb").read()
    for permutation, table in enumerate((first, second)):
        row = table[1 + rank]
        assert row[:3] == hosts[1 + rank] and row[0] == str(rank)
        assert row[1].encode() in b
        assert row[3 + rank] == ""
        times = {k: float(t) for k, t in enumerate(row[3:]) if t}
        assert len(times) == n - 1 and all(0 < t < 1 for t in times.values())
        found = 0
        for at in range(len(b) - 16 * (n - 1) + 1):
            got = struct.unpack_from(f"<{n - 1}d", b, at)
            partner = struct.unpack_from(f"<{n - 1}Q", b, at + 8 * (n - 1))
            found += dict(zip(partner, got)) == times
        assert found == 1, (rank, permutation, found)
assert first[1:] != second[1:]
assert list(csv.reader(open("some.csv"))) == first[:1] + first[3:5]
halves = list(csv.reader(open("halves.csv")))[1:]
assert [[t != "" for t in r[3:]] for r in halves] == [[0, 0, 1, 1]] * 2 + [[1, 1, 0, 0]] * 2, halves
PYTHON

# Without a suffix, the default form is csv. A pipe gets the same bytes.
make set/linktest/$result --output piped
cmp piped first.csv || bad "expected csv by default"
"$HPCGEN" export set/linktest/$result --output - --quiet >piped || bad "export to a pipe fails"
cmp piped first.csv || bad "other bytes in a pipe"
[ -z "$(find . -name '*.tmp')" ] && [ ! -e ./- ] || bad "a file with the name -"
"$HPCGEN" export set/linktest/$result --output said.csv 2>said || bad "export fails"
[ "$(cat said)" = "hpcgen: said.csv: 6 rows, $(wc -c <first.csv) B" ] || bad "said: $(cat said)"

refuse 1 "set/linktest/$result: --permutation: expected one below 2, got 2" \
    "$HPCGEN" export set/linktest/$result -O x --permutation 2
refuse 1 "set/linktest/$result: expected ranks of 0 to 5, got 6 to 7" \
    "$HPCGEN" export set/linktest/$result -O x --first-rank 6 --last-rank 7
refuse 1 "set/linktest/$result: --form: expected csv, npy, hosts or npz for linktest, got chrome" \
    "$HPCGEN" export set/linktest/$result -O x --form chrome
refuse 1 "set/linktest/$result: --from: expected none for linktest, got one" \
    "$HPCGEN" export set/linktest/$result -O x --from 1
refuse 2 '--json and --output -: expected one of them, got both' \
    "$HPCGEN" export set/linktest/$result -O - --json

# The export needs memory for one row, not for the matrix of 8 MB. Not checked with sanitizers, which need more.
"$HPCGEN" --ranks 1000 --formats linktest --out large --quiet || bad "generate fails"
grep -q '__[at]san_init' "$HPCGEN" || python3 - "$HPCGEN" <<'PYTHON' || bad "too much memory"
import os, sys
def peak(data, form):
    child = os.posix_spawn(sys.argv[1], [sys.argv[1], "export", f"{data}/linktest/pingpong_results_bin.sion",
                                         "--quiet", "--form", form, "--output", "out"], os.environ)
    _, status, used = os.wait4(child, 0)
    assert status == 0
    return used.ru_maxrss
for form in ("npy", "csv"):
    more = peak("large", form) - peak("set", form)
    assert more < 2048, (form, more)
PYTHON

if [ -c /dev/full ]; then
    "$HPCGEN" export set/linktest/$result -O - -q >/dev/full 2>said && bad "expected a full disk to be seen"
    [ "$(cat said)" = "hpcgen: standard output: cannot write" ] || bad "said: $(cat said)"
fi
[ ! -e x ] || bad "something is left"
exit $failed
