#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that no sentence is longer than 30 words and no paragraph longer than 120. Usage: prose.py SOURCE_ROOT

Looks at README.md, CHANGELOG.md, CONTRIBUTING.md, and all pages below doc/, examples/ and bench/. Headings, tables and blocks of
code do not count. Each item of a list is a paragraph. A code span is one word, and the target of a link is none.
"""
import glob
import os
import re
import sys

SENTENCE, PARAGRAPH = 30, 120


def paragraphs(text):
    """Yields the first line's number and the text of each paragraph."""
    lines, first, fenced = [], 0, False
    for number, line in enumerate(text.split("\n") + [""], 1):
        fence = line.startswith("```")
        fenced = fenced != fence
        item = re.match(r"\s*(?:[-*]|\d+\.) (.*)", line)
        # Without a paragraph above it, an indented line is code.
        ends = fence or fenced or not line.strip() or re.match(r"[|#!]|<!--", line) or (not lines and line.startswith("    "))
        if lines and (ends or item):
            yield first, " ".join(lines)
            lines = []
        if not ends:
            first = first if lines else number
            lines.append(item[1] if item else line.strip())


def words(text):
    return sum(bool(re.search(r"\w", word)) for word in text.split())


root = sys.argv[1]
pages = [os.path.join(root, name) for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")]
for top in ("doc", "examples", "bench"):
    pages += sorted(glob.glob(os.path.join(root, top, "**", "*.md"), recursive=True))
failed = False
seen = 0
for page in pages:
    with open(page, encoding="utf-8") as file:
        content = file.read()
    for line, paragraph in paragraphs(content):
        seen += 1
        plain = re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`]*`", "code", paragraph))
        where = f"{os.path.relpath(page, root)}:{line}"
        if words(plain) > PARAGRAPH:
            print(f"{where}: a paragraph of {words(plain)} words; expected at most {PARAGRAPH}")
            failed = True
        for sentence in re.split(r"(?<=[.!?])[)\"]?\s+", plain):
            if words(sentence) > SENTENCE:
                print(f"{where}: a sentence of {words(sentence)} words; expected at most {SENTENCE}: {sentence[:70]}...")
                failed = True
if seen == 0:
    sys.exit("prose.py: no paragraph found, so nothing was checked")
sys.exit(failed)
