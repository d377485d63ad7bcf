#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Pipes without a writer in place of files. No command waits for them, and each reports the problem in one line.
. "$HERE/refuse.inc"
command -v mkfifo >/dev/null && command -v timeout >/dev/null || {
    echo "needs mkfifo and timeout" >&2
    exit 77
}
options='--ranks 8 --scale tiny --files 2 --quiet'
generate() { # DIR ARGUMENTS...
    out=$1
    shift
    # shellcheck disable=SC2086
    run --out "$out" $options "$@"
}
run() {
    timeout -k 5 60 "$HPCGEN" "$@"
}
generate whole || exit
generate half --part 1/2 || exit
generate parts --part 1/2 && generate parts --part 2/2 || exit
echo '{"findings":[]}' >findings.json

# ends WHAT COMMAND...: the command must end within a minute, with one line if it fails.
ends() {
    what=$1
    shift
    "$@" >.stdout 2>.stderr
    got=$?
    case $got in
    0) ;;
    1 | 2) [ "$(wc -l <.stderr)" -eq 1 ] || bad "$(wc -l <.stderr) lines, expected one: $what: $*: $(cat .stderr)" ;;
    *) bad "status $got: $what: $*" ;;
    esac
}

# ---- pipes in the dataset ----
for name in manifest.json truth.json CHECKSUMS.xxh128 .hpcw/lease .hpcw/part.0000000000000001 .hpcw/parameters.json \
    .hpcw/sion.0-1.jsonl .hpcw/linktest.unit0 .hpcw/.hpcw-0000000000000001-x.tmp vom/data.0.json.br \
    sion/particles.sion scr/.scr/index.scr sion/.hpcw-0000000000000001-particles.sion.tmp; do
    for which in whole parts half; do
        for command in "generate d --force" "generate d --resume" "generate d --part 2/2" "run join d --quiet --sync" \
            "run repair d --quiet"; do
            case $which:$command in
            whole:*join* | whole:*force* | whole:*repair* | whole:*resume*) ;;
            parts:*join* | parts:*resume*) ;;
            half:*part*) ;;
            *) continue ;;
            esac
            rm -rf d
            cp -r $which d
            mkdir -p d/.hpcw
            rm -f d/$name
            mkfifo d/$name
            ends "$which with $name" $command
        done
    done
    # Commands that only read, with pipes in place of files other than state and temporary files.
    case $name in *.hpcw*) continue ;; esac
    rm -rf d
    cp -r whole d
    mkdir -p d/.hpcw
    rm -f d/$name
    mkfifo d/$name
    ends "$name" run verify d --quiet
    [ -p d/$name ] || bad "reading removes a pipe"
    ends "$name" run info d/"$name"
    ends "$name" run report d --output page.html --force --quiet
    ends "$name" run fit d --output twin.ini --quiet
    ends "$name" run score findings.json d
done
rm -rf d
cp -r parts d
rm d/.hpcw/parameters.json
mkfifo d/.hpcw/parameters.json
refuse 1 'd/.hpcw/parameters.json: expected a regular file, *' run join d
# A pipe that somebody holds open but never writes to.
sleep 1000 <>d/.hpcw/parameters.json &
holder=$!
refuse 1 'd/.hpcw/parameters.json: expected a regular file, *' run join d
kill $holder
mkdir -p d2/.hpcw
mkfifo d2/.hpcw/lease
refuse 1 'd2/.hpcw/lease: expected the file of a run, got something else: remove it' generate d2
[ -p d2/.hpcw/lease ] || bad "a pipe is removed"

# ---- arguments ----
mkfifo pipe
for command in "recover --output log" join verify info "report --force --output page.html" "fit --output twin.ini" \
    "export --output file" repair; do
    # shellcheck disable=SC2086
    refuse 1 'pipe: *' run $command pipe
done
refuse 1 'pipe: *' run rewrite pipe written
refuse 1 'pipe: *' run score pipe whole
refuse 1 'pipe: *' run verify pipe --deep
refuse 1 'pipe: expected a regular file to replace, got a special file' run fit whole --output pipe --quiet
# A configuration may come from a pipe, but not from one without a writer.
# shellcheck disable=SC2086
refuse 2 'pipe: cannot read this configuration file: *' run $options --out new --config pipe
[ ! -e new ] || bad "something is written without its configuration"
printf '[hpcgen]\nranks = 8\nscale = tiny\nfiles = 2\n' | run --config /dev/stdin --out piped --quiet ||
    bad "no configuration from a pipe"
diff -r whole piped || bad "other files with the configuration from a pipe"
[ -p pipe ] || bad "a pipe is replaced"
exit $failed
