#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# However a run was stopped, nothing looks finished. The next run gives the same bytes and no other files.
. "$HERE/refuse.inc"
make() {
    "$HPCGEN" --quiet --formats linktest,sion "$@" || bad "fails: $*"
}
same() { # with nothing hidden beside
    diff -r "$1" "$2" >differences 2>&1 || bad "$1 and $2 differ: $(cat differences)"
    [ "$(find "$1" | wc -l)" -eq "$(find "$2" | wc -l)" ] || bad "other files: $(find "$2")"
}
kept() { # FILES ARGS...: that many are found finished
    wanted=$1
    shift
    "$HPCGEN" --json --quiet --formats linktest,sion "$@" >result || bad "fails: $*"
    got=$(sed -n 's/.*"files_kept": \([0-9]*\).*/\1/p' result)
    [ "$got" -eq "$wanted" ] || bad "$got files kept, expected $wanted: $*"
}

make --ranks 64 --out whole

# ---- killed in the middle, at several moments
make --ranks 1024 --files 2 --out large
killed=0
for tenths in 0 0 1 2 3; do
    rm -rf cut
    "$HPCGEN" --quiet --formats linktest,sion --ranks 1024 --files 2 --jobs 1 --out cut &
    pid=$!
    # Kills the run as soon as its state exists, or some tenths of a second later.
    while [ ! -e cut/.hpcw/parameters.json ] && kill -0 $pid 2>/dev/null; do :; done
    sleep 0.$tenths
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
    # The manifest is written after all data.
    if [ ! -e cut/manifest.json ]; then
        killed=$((killed + 1))
        refuse 1 'cut: expected an empty directory, got an unfinished dataset*--resume*' \
            "$HPCGEN" --formats linktest,sion --ranks 1024 --files 2 --out cut
        refuse 1 'cut/.hpcw/parameters.json: *expected seed = 3, got 2:*' \
            "$HPCGEN" --formats linktest,sion --ranks 1024 --files 2 --out cut --seed 3 --resume
        refuse 1 'cut: expected a finished dataset*' "$HPCGEN" verify cut
    fi
    make --ranks 1024 --files 2 --out cut --resume
    same large cut
done
[ $killed -gt 0 ] || bad "no run was slow enough to be killed"

# ---- stopped by ^C or SIGTERM: the run prints which files stay and how to go on, and ends by the signal
cat >stop.py <<'PYTHON'
import os, signal, subprocess, sys, time
number, until, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
run = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
while not os.path.exists(until) and run.poll() is None:
    time.sleep(0.001)
time.sleep(0.1)
run.send_signal(number)
print(run.communicate()[1], end="")
sys.exit(run.returncode != -number)
PYTHON
for number in 2 15; do
    rm -rf cut
    python3 stop.py $number cut/.hpcw/parameters.json \
        "$HPCGEN" --formats linktest,sion --ranks 2048 --files 2 --jobs 1 --quiet --out cut >said ||
        bad "signal $number: another end: $(cat said)"
    [ "$(cat said)" = "hpcgen: stopped: cut: finished files stay: go on with the same command and --resume" ] ||
        bad "said: $(cat said)"
done
python3 stop.py 2 large "$HPCGEN" verify --deep --jobs 1 large >said || bad "^C of verify: another end: $(cat said)"
[ "$(cat said)" = "hpcgen: stopped: nothing was changed" ] || bad "said: $(cat said)"
rm -rf large cut

# ---- a run that is killed before it writes its parameters
mkdir -p early/.hpcw
: >early/.hpcw/.hpcw-0123456789abcdef-0123456789abcdef.tmp
make --ranks 64 --out early
same whole early

# ---- a finished dataset that lost a file; the format without a loss is kept
lose() { # FILE KEPT
    rm -rf lost
    cp -r whole lost
    rm "lost/$1"
    kept "$2" --ranks 64 --out lost --resume
    same whole lost
}
lose sion/particles.sion.000002 1
lose sion/particles.sion 1
lose linktest/pingpong_results_bin.sion 4
lose truth.json 0
lose CHECKSUMS.xxh128 5
cp -r whole short
truncate -s -1 short/sion/particles.sion
kept 1 --ranks 64 --out short --resume
same whole short
kept 5 --ranks 64 --out short --resume
echo changed >short/truth.json
kept 0 --ranks 64 --out short --resume
same whole short
make --ranks 64 --out bare --no-checksums
kept 5 --ranks 64 --out bare --resume
same whole bare

# ---- after --resume, truth.json is complete, also its counts that are made while files are written
"$HPCGEN" --quiet --ranks 16 --scale tiny --out counted || bad "generate fails"
cp -r counted again
rm again/linktest/* again/truth.json
"$HPCGEN" --quiet --ranks 16 --scale tiny --out again --resume || bad "resume fails"
same counted again
cp -r counted other
rm other/sion/particles.sion.000001
"$HPCGEN" --quiet --ranks 16 --scale tiny --out other --resume || bad "resume fails"
same counted other

# ---- the next run removes temporary files of a killed run; other files stay
make --ranks 64 --out rests --part 1/2
echo half >rests/sion/.hpcw-0123456789abcdef-fedcba9876543210.tmp
echo half >rests/.hpcw-00000000000000aa-00000000000000bb.tmp
echo mine >rests/sion/.hpcw-notes.tmp
make --ranks 64 --out rests --part 2/2
"$HPCGEN" join --quiet rests || bad "join fails"
[ "$(cat rests/sion/.hpcw-notes.tmp)" = mine ] || bad "a file that is not ours is gone"
rm rests/sion/.hpcw-notes.tmp
same whole rests

# ---- some parts, then --resume writes the rest
make --ranks 64 --files 3 --out ref
make --ranks 64 --files 3 --out mixed --part 1/3
make --ranks 64 --files 3 --out mixed --part 3/3
make --ranks 64 --files 3 --out mixed --resume
same ref mixed

# ---- a join that stopped after its last rename (no manifest), or after the manifest (no checksum list)
for last in manifest.json CHECKSUMS.xxh128; do
    rm -rf joined
    for part in 1 2 3; do
        make --ranks 64 --files 3 --out joined --part $part/3
    done
    cp -r joined/.hpcw state
    "$HPCGEN" join --quiet joined || bad "join fails"
    mv state joined/.hpcw
    rm -f joined/.hpcw/*.unit0 joined/CHECKSUMS.xxh128 joined/$last
    "$HPCGEN" join --quiet joined || bad "join fails after an interrupted one"
    same ref joined
done

# ---- a run that stopped when all files were finished, before or while it removed its state
cp -r ref ended
mkdir ended/.hpcw
: >ended/.hpcw/sion.0-4.jsonl
kept 7 --ranks 64 --files 3 --out ended --resume
same ref ended
exit $failed
