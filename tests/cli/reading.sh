#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Commands that read for long show their progress, on a terminal only. They clear the progress line before they
# print anything.
. "$HERE/refuse.inc"
[ -r /proc/self/io ] || { echo "no system that says what a process has read" >&2; exit 77; }
"$HPCGEN" -n 128 -f clog2,vom --workload stencil -o set -q || bad "generate fails"
echo '{"findings": []}' >findings.json
cat >terminal.py <<'PYTHON'
"""Runs a command with a terminal of 80 columns as its standard error; prints what that got."""
import fcntl, os, pty, struct, subprocess, sys, termios, time
ours, theirs = pty.openpty()
fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
start = time.monotonic()
with open("stdout", "wb") as out:
    child = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=out, stderr=theirs,
                             env=dict(os.environ, TERM="xterm"))
os.close(theirs)
text = b""
while True:
    try:
        piece = os.read(ours, 65536)
    except OSError:
        break
    if not piece:
        break
    text += piece
sys.stdout.buffer.write(text)
status = child.wait()
# Progress is first shown after a tenth of a second.
open("slow", "w").write("yes" if time.monotonic() - start > 0.4 else "no")
sys.exit(status)
PYTHON
seen=0
shows() { # COMMAND...
    python3 terminal.py "$HPCGEN" "$@" >shown || bad "fails: $*: $(cat shown)"
    [ "$(cat slow)" = no ] || grep -q "$(printf '\r[0-9.]* [kMG]*B .*s  read')" shown || bad "no progress of $*: $(cat shown)"
    seen=$((seen + $(grep -c 'B/s.* read' shown)))
    # Without the cleared lines, the terminal shows the same text as a pipe gets.
    python3 - shown <<'PYTHON' >left
import re, sys
print(re.sub(r"(\r[^\r\n]*)*\r\x1b\[K", "", open(sys.argv[1], newline="").read()).replace("\r\n", "\n"), end="")
PYTHON
    ! grep -q 'read' left || bad "progress stays on the terminal: $(cat left)"
    "$HPCGEN" "$@" 2>plain >/dev/null
    cmp -s plain left || bad "$*: another text than in a pipe: $(cat left) instead of $(cat plain)"
}
shows verify set
shows info set/vom
shows export set/clog2/app.clog2 --output x.csv
shows report set --force --output x.html
shows fit set/vom --output x.ini
[ "$seen" -gt 0 ] || bad "no command was slow enough for progress"
python3 terminal.py "$HPCGEN" verify set --quiet >shown
[ ! -s shown ] || bad "progress with --quiet: $(cat shown)"
exit $failed
