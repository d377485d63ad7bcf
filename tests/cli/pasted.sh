#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Commands in messages work when pasted into a shell, whatever the directory's name is.
. "$HERE/refuse.inc"
mkdir bin
ln -s "$HPCGEN" bin/hpcgen
PATH=$PWD/bin:$PATH

# paste TEXT: runs the command that follows this text in the message.
paste() {
    command=$(sed -n "s/.*$1//p" said | sed 's/ --ranks N$/ --ranks 2 --formats vom --scale tiny/')
    [ -n "$command" ] || bad "no command in: $(cat said)"
    sh -c "$command" >out 2>&1 || bad "status $?: $command: $(cat out)"
}
for name in "a b;touch pwned" "it's \$(touch pwned)" "-n"; do
    hpcgen --ranks 2 --formats vom --scale tiny --out "$name" 2>said || bad "no dataset $name"
    paste 'check it with: '
    rm "./$name/manifest.json"
    hpcgen repair "./$name" 2>said && bad "repaired without parameters"
    paste 'as in: '
    rm -rf "./$name"
done
hpcgen --ranks 2 --formats vom --scale tiny --out "a 'b" --part 1/2 2>said || bad "no first part"
hpcgen --ranks 2 --formats vom --scale tiny --out "a 'b" --part 2/2 --quiet || bad "no second part"
paste 'after the last one: '
[ ! -e pwned ] || bad "a name was run as a command"
exit $failed
