#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Checks the links of README.md and of the pages in bench/, doc/ and examples/, and the citations of pages in code and
# tests. Usage: links.sh SOURCE_ROOT
#
# - [text](other.md#anchor), [text](other.md), [text](#anchor): the file and the anchor exist. An anchor is a heading
#   as GitHub spells it, or <a id="..."></a>.
# - doc/formats/sion.md, "Header" and doc/formats/sion.md#sion-7 in a source file: the page has that heading or anchor.
#   Files of tests/template cite pages of the template, by the paths that these pages would have in the tree.
set -eu
cd "$1"

anchors=$(mktemp)
links=$(mktemp)
trap 'rm -f "$anchors" "$links"' EXIT

# Lists PAGE#ANCHOR of all headings and ids, and PAGE "HEADING" for citations. Fenced blocks are skipped.
find . -name '*.md' -not -path './build*' -not -path './.*' | sed 's|^\./||' | LC_ALL=C sort | xargs awk '
    FNR == 1 { print FILENAME; fenced = 0 }
    /^```/ { fenced = !fenced }
    fenced { next }
    /^#+ / {
        text = $0
        sub(/^#+ /, "", text)
        print FILENAME " \"" text "\""
        anchor = tolower(text)
        gsub(/[^a-z0-9 _-]/, "", anchor)
        gsub(/ /, "-", anchor)
        print FILENAME "#" anchor
    }
    {
        line = $0
        while (match(line, /<a id="[^"]*">/)) {
            print FILENAME "#" substr(line, RSTART + 7, RLENGTH - 9)
            line = substr(line, RSTART + RLENGTH)
        }
    }' >"$anchors"

# Prints for each link its place, and the page or section that must exist.
{
    find README.md bench doc examples tests/template -name '*.md' | LC_ALL=C sort | xargs awk '
        FNR == 1 { fenced = 0 }
        /^```/ { fenced = !fenced }
        fenced { next }
        {
            line = $0
            while (match(line, /\]\([^)]*\)/)) {
                target = substr(line, RSTART + 2, RLENGTH - 3)
                line = substr(line, RSTART + RLENGTH)
                if (target ~ /^[a-z]+:/) continue
                folder = FILENAME
                sub(/[^\/]*$/, "", folder)
                path = target ~ /^#/ ? FILENAME target : folder target
                while (match(path, /[^\/.]+\/\.\.\//)) path = substr(path, 1, RSTART - 1) substr(path, RSTART + RLENGTH)
                print FILENAME ":" FNR "\t" path
            }
        }'
    # A section name must not be broken over two lines, since only text on one line is checked.
    find include libwriter libreader gen trace bench tests -name '*.[ch]' 2>/dev/null | LC_ALL=C sort | xargs awk '
        {
            line = $0
            while (match(line, /doc\/[a-z0-9_\/-]*\.md(#[a-z0-9-]+|, "[^"]*")?/)) {
                target = substr(line, RSTART, RLENGTH)
                line = substr(line, RSTART + RLENGTH)
                sub(/, "/, " \"", target)
                if (FILENAME ~ /^tests\/template\//) target = "tests/template/" target
                print FILENAME ":" FNR "\t" target
            }
        }'
} >"$links"

# A target that is neither a page nor a section may be another file or a directory.
awk -F '\t' '
    NR == FNR { known[$0] = 1; next }
    !($2 in known) && ($2 ~ /["#]/ || system("test -e \"" $2 "\"") != 0) {
        print $1 ": no such page or section: " $2
        failed = 1
    }
    END { exit failed }' "$anchors" "$links"
