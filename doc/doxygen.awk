# SPDX-License-Identifier: BSD-3-Clause
# Doxygen's input filter. The headers stay plain; this script adds the commands that make the chapters of the
# reference.
#
# - The first comment of a header describes its chapter, which holds all declarations of the header. The comment of
#   hpcw.h is the main page. Its table of headers becomes a list of links to the chapters.
# - A banner ("/* ----", a title and perhaps more, "---- */") begins a section of the chapter.
#
# The filter adds and removes no lines, so that a warning names the right line.
FNR == 1 {
    chapter = FILENAME
    sub(/.*\//, "", chapter)
    sub(/\.h$/, "", chapter)
    intro = section = braces = 0
    print "/** @file */" # without it Doxygen makes no links to what the file declares
    next
}
# Escapes text that Doxygen would take for HTML, as <hpcw/sion.h> and data.<rank>.json, or for a name to look up, as
# page.md#anchor.
!/^#/ {
    gsub(/\.md#/, ".md\\#")
    while (match($0, /<hpcw\/[a-z0-9_]+\.h>/))
        $0 = substr($0, 1, RSTART - 1) substr($0, RSTART + 1, RLENGTH - 2) substr($0, RSTART + RLENGTH)
    while (match($0, /<[a-z]+>/))
        $0 = substr($0, 1, RSTART - 1) "&lt;" substr($0, RSTART + 1, RLENGTH - 2) "&gt;" substr($0, RSTART + RLENGTH)
}

intro == 0 && /^\/\*\*$/ {
    intro = 1
    getline text
    sub(/^ \* /, "", text)
    title = text
    sub(/( \(|[:.]( |$)).*/, "", title)
    print chapter == "hpcw" ? "/** @mainpage" : "/** @defgroup " chapter " hpcw/" chapter ".h: " title
    print " * " text
    next
}
intro == 1 && / \*\/$/ {
    intro = 2
    print chapter == "hpcw" ? $0 : " * @{ */"
    next
}
intro == 1 && / \*   [a-z0-9_]+\.h / {
    name = $2
    sub(/\.h$/, "", name)
    text = $0
    sub(/^ \* +[^ ]+ +/, "", text)
    print " * - @ref " name " \"hpcw/" name ".h\": " text
    next
}
intro == 1 && / \*   (header|-----)/ { print " *"; next }

/^\/\* -+$/ {
    getline text
    sub(/^ \* +/, "", text)
    printf "%s\n/** @name %s\n", section ? "/** @} */" : "", text
    section = 1
    next
}
/^ \* -+ \*\/$/ { print " */ /** @{ */"; next }
# The chapter ends at the first blank line after the second `#ifdef __cplusplus`, which closes extern "C".
/^#ifdef __cplusplus$/ { braces++ }
/^$/ && braces == 2 && chapter != "hpcw" {
    print "/** @} */" (section ? " /** @} */" : "")
    braces = 0
    next
}
{ print }
