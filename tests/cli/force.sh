#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# --force removes all of an older dataset, finished or not, and no other file.
. "$HERE/refuse.inc"
make() {
    "$HPCGEN" --quiet "$@" || bad "fails: $*"
}
same() {
    diff -r "$1" "$2" >differences 2>&1 || bad "$1 and $2 differ: $(cat differences)"
    [ "$(find "$1" | wc -l)" -eq "$(find "$2" | wc -l)" ] || bad "other files: $(find "$2")"
}
make --ranks 16 --out fresh
make --ranks 16 --formats sion --set sion.files=2 --out less

# Both sets have more files.
make --ranks 64 --files 9 --set sion.files=11 --out finished
make --ranks 16 --out finished --force
same fresh finished

# One format less.
make --ranks 64 --files 9 --out format
make --ranks 16 --formats sion --set sion.files=2 --out format --force
same less format

# Never finished, with and without its state.
make --ranks 64 --files 9 --set sion.files=11 --out parts --part 2/3
make --ranks 16 --out parts --force
same fresh parts
make --ranks 64 --files 9 --set sion.files=11 --out stateless --part 2/3
rm -r stateless/.hpcw
echo half >stateless/linktest/.hpcw-0123456789abcdef-fedcba9876543210.tmp
refuse 1 'stateless: expected an empty directory*got other files*' "$HPCGEN" --ranks 16 --out stateless
make --ranks 16 --out stateless --force
same fresh stateless

# A directory with files of others.
mkdir -p mine/sion/src mine/.git
for file in mine/notes mine/sion/src/sion.c mine/sion/particles.sion.bak mine/sion/particles.sion.1 mine/.git/HEAD; do
    echo keep >$file
done
cat >mine/manifest.json <<'END'
{"files": [{"path": "notes", "size": 5}, {"path": "../fresh/truth.json", "size": 5}, {"path": "/etc/passwd"}]}
END
ln -s ../fresh mine/linktest
make --ranks 16 --formats sion --set sion.files=2 --out mine --force
for file in mine/notes mine/sion/src/sion.c mine/sion/particles.sion.bak mine/sion/particles.sion.1 mine/.git/HEAD; do
    [ "$(cat $file)" = keep ] || bad "$file is gone"
    rm $file
done
[ -e fresh/truth.json ] || bad "a file outside the directory is gone"
[ -L mine/linktest ] || bad "a link is gone"
rm -r mine/linktest mine/sion/src mine/.git
same less mine

refuse 2 '--resume and --force: *' "$HPCGEN" --ranks 16 --out fresh --resume --force
exit $failed
