#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Pages in a browser: moving and zooming the chart of a log, colours, tables, pictures, small screens, print.
. "$HERE/refuse.inc"
. "$HERE/browser.inc"

# A slow node and slow ports, so that the page has findings; a twin for the page of a comparison.
"$HPCGEN" -n 64 --scale tiny -o set -q --set machine.bad_node_share=1 --set machine.slow_node_share=1 || bad "generate fails"
"$HPCGEN" -n 64 --scale tiny -s 2 -o twin -q || bad "generate fails"
"$HPCGEN" report set -O set.html --detail 2>said || bad "report fails: $(cat said)"
"$HPCGEN" fit --compare set/vom twin/vom --output compare.html >/dev/null || bad "the comparison fails"
"$HPCGEN" report set/clog2/app.clog2 -q -O log.html || bad "report of a log fails"
"$HPCGEN" report set/linktest/*.sion -q -O links.html || bad "report of a file with a long name fails"

# --detail: single events take less than 0.3 of the log's size, and their directory is not replaced.
log=$(wc -c <set/clog2/app.clog2)
detail=$(cat set.html.detail/*.js | wc -c)
[ $((detail * 10)) -lt $((log * 3)) ] || bad "single events have $detail bytes, the log $log"
refuse 1 'set.html.detail: expected no file or directory*' "$HPCGEN" report set -q -O set.html --detail --force
refuse 1 'set: --detail: expected a file for --output*' "$HPCGEN" report set -q -O - --detail
refuse 1 'set/sion/particles.sion: --detail: expected an event log, got one of format *' \
    "$HPCGEN" report set/sion/particles.sion -q -O x --detail
[ ! -e log.html.detail ] || bad "single events that nobody wanted"
# If the page cannot be written, its single events are removed: an older page would read them.
refuse 1 'full.html: cannot write *: File too large' prlimit --fsize=300000 "$HPCGEN" report set -q -O full.html --detail
[ ! -e full.html ] && [ ! -e full.html.detail ] || bad "single events without their page"

command -v chromium >/dev/null && command -v python3 >/dev/null || {
    echo "without chromium and python3 no page is looked at" >&2
    [ "$failed" -eq 0 ] || exit "$failed"
    exit 77
}
PYTHONPATH=$HERE/../support PYTHONDONTWRITEBYTECODE=1 timeout 300 python3 "$HERE/pages.py" || failed=1
exit $failed
