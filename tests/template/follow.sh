#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Does what doc/new-format.md says, to the letter, in a copy of the tree: runs the commands of its blocks, which add a
# format, build it and test it. Usage: follow.sh SOURCE_ROOT
set -eu
cd "$1"
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$copy"
awk '/^```sh$/ { on = 1; next } /^```/ { on = 0 } on' doc/new-format.md >"$copy/commands"
[ -s "$copy/commands" ] || { echo "doc/new-format.md has no commands"; exit 1; }
cd "$copy"
# The commands ask git which files are new.
git init -q . && git add . && git reset -q commands
sh -eu ./commands
