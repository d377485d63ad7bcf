#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Symbolic links in a dataset's directory: nothing is created, changed or removed through them. A directory that is
# a link is refused, and a file that is one is replaced. The dataset itself may be behind a link, and reading may
# follow links.
. "$HERE/refuse.inc"
options='--ranks 8 --scale tiny --files 2 --quiet --set load.balancer=tempered'

generate() { # DIR ARGUMENTS...
    out=$1
    shift
    # shellcheck disable=SC2086
    "$HPCGEN" $options --out "$out" "$@"
}
generate whole || exit
generate half --part 1/2 || exit
generate parts --part 1/2 && generate parts --part 2/2 || exit
link='got a symbolic link: nothing is written through links there'

# fresh WHICH: makes `d`, a copy of the dataset WHICH, and `outside`, to which links will lead.
fresh() {
    chmod -R u+w d outside 2>/dev/null
    rm -rf d outside
    cp -r "$1" d
    cp -r whole outside
    cp -r "$1" outside/copy
    echo outside >outside/file
    list >before
}
# Prints names, inode numbers and checksums of all files outside. A replaced file has another inode number.
list() {
    (cd outside && ls -RiA . && find . -type f | sort | xargs cksum)
}
unchanged() { # WHAT
    list >after
    cmp -s before after || bad "changed outside: $(diff before after | head -3): $*"
}

# ---- a directory that is a link ----
for folder in vom sion linktest clog2 scr; do
    fresh whole
    rm -r d/$folder
    ln -s ../outside/$folder d/$folder
    refuse 1 "d/$folder: expected a directory, $link" generate d --force
    unchanged "--force, $folder"
    [ -L d/$folder ] || bad "--force replaces the link to a directory $folder"
    fresh half
    rm -r d/$folder
    ln -s ../outside/$folder d/$folder
    refuse 1 "d/$folder: expected a directory, $link" generate d --part 2/2
    unchanged "--part, $folder"
    fresh parts
    rm -r d/$folder
    ln -s ../outside/copy/$folder d/$folder
    case $folder in
    vom | clog2) "$HPCGEN" join d --quiet --sync || bad "join fails with $folder, which it reads only" ;;
    *) refuse 1 "d/$folder/*: cannot rename the finished file to this name: *" "$HPCGEN" join d --quiet --sync ;;
    esac
    unchanged "join, $folder"
done
# Directories below the directory of a format.
for folder in scr/.scr scr/ckpt.1 scr/ckpt.1/.scr; do
    fresh whole
    [ -d d/$folder ] || continue
    found=yes
    rm -r d/$folder
    ln -s "$PWD/outside/$folder" d/$folder
    refuse 1 "d/$folder: expected a directory, $link" generate d --force
    unchanged "--force, $folder"
done
[ "${found-}" = yes ] || bad "no directory below scr was tried"
# part 2/2 creates the directory of the balancer's files, if it is missing.
fresh half
rm -rf d/vom_balance
ln -s ../outside d/vom_balance
refuse 1 "d/vom_balance: expected a directory, $link" generate d --part 2/2
unchanged "vom_balance"
# The state.
for command in "generate d --part 2/2" "generate d --force" "generate d --resume" "$HPCGEN join d --quiet"; do
    fresh half
    mv d/.hpcw outside/state
    list >before
    ln -s ../outside/state d/.hpcw
    refuse 1 "d/.hpcw: expected a directory, $link" $command
    unchanged ".hpcw, $command"
done
# --force does not remove files through a link that does not belong to the dataset, and keeps the link.
fresh whole
ln -s ../outside d/mine
generate d --force || bad "--force fails with a link of the user"
unchanged "--force, mine"
[ -L d/mine ] || bad "--force removes a link of the user"

# ---- a file that is a link ----
for file in vom/data.0.json.br sion/particles.sion linktest/pingpong_results_bin.sion manifest.json truth.json \
    CHECKSUMS.xxh128; do
    fresh whole
    ln -sf "$PWD/outside/file" d/$file
    generate d --force || bad "--force fails with a link at $file"
    unchanged "--force, $file"
    diff -r whole d || bad "other files after --force with a link at $file"
    fresh whole
    ln -sf "$PWD/outside/file" d/$file
    "$HPCGEN" repair --quiet d --ranks 8 --scale tiny --files 2 --set load.balancer=tempered ||
        bad "repair fails with a link at $file"
    unchanged "repair, $file"
    diff -r whole d || bad "other files after a repair with a link at $file"
done
for name in manifest.json truth.json CHECKSUMS.xxh128 vom/data.7.json.br vom/.hpcw-0000000000000001-x.tmp; do
    fresh half
    ln -s "$PWD/outside/file" d/$name
    generate d --part 2/2 && "$HPCGEN" join d --quiet || bad "a run of two parts fails with a link at $name"
    unchanged "parts, $name"
    diff -r whole d || bad "other files of two parts with a link at $name"
done
# join reads the state through links and removes them at the end. A link in place of file 0 of a set is refused,
# since join would rename the link.
fresh parts
for file in d/.hpcw/parameters.json d/.hpcw/sion.*.jsonl; do
    mv "$file" outside/
    ln -s "../../outside/$(basename "$file")" "$file"
done
list >before
"$HPCGEN" join d --quiet || bad "join fails with a state behind links"
unchanged "the state"
diff -r whole d || bad "other files after a join with a state behind links"
for file in .hpcw/sion.unit0 .hpcw/linktest.unit0 .hpcw/rank2file.unit0; do
    fresh parts
    mv d/$file outside/unit0
    list >before
    ln -s "$PWD/outside/unit0" d/$file
    refuse 1 "d/.hpcw/*: *$file: expected *" "$HPCGEN" join d --quiet
    unchanged "$file"
done
for name in lease part.0000000000000001; do
    for command in "generate d --force" "$HPCGEN join d --quiet --takeover" \
        "$HPCGEN repair d --quiet --takeover"; do
        case $command in *repair*) fresh whole ;; *) fresh parts ;; esac
        mkdir -p d/.hpcw
        ln -s ../../outside/file d/.hpcw/$name
        refuse 1 "d/.hpcw/$name: expected the file of a run, got a symbolic link: remove it" $command
        unchanged "$name, $command"
        [ -L d/.hpcw/$name ] || bad "$command removes what is no lease"
    done
done

# ---- repair refuses a directory that was replaced by a link ----
fresh whole
rm -r d/vom
echo >outside/vom/data.3.json.br
list >before
ln -s ../outside/vom d/vom
refuse 1 "*d/vom: expected a directory, $link" "$HPCGEN" repair d --quiet
unchanged "repair"

# ---- what may be a link ----
fresh whole
mv d behind
ln -s behind d
generate d --force || bad "--out: a link to a directory fails"
[ -L d ] && diff -r whole behind || bad "other files behind --out"
mv behind/vom outside/moved
ln -s ../outside/moved behind/vom
"$HPCGEN" verify d --quiet || bad "does not verify through links"
generate d --resume || bad "a finished dataset with a directory behind a link is not finished"

# ---- a path that cannot be examined is not taken for a missing file ----
fresh whole
rm d/sion/particles.sion
ln -s loop d/sion/loop
refuse 1 'd/sion/loop: cannot look at it: *' "$HPCGEN" report d --output page.html
refuse 1 'd/sion/loop: cannot look at it: *' "$HPCGEN" info d/sion/loop
refuse 1 'd/sion/loop: cannot look at it: *' "$HPCGEN" fit d --quiet --output twin.ini
rm -rf behind
exit $failed
