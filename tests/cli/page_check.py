# SPDX-License-Identifier: BSD-3-Clause
"""page_check.py PAGE HELP...: each option in the texts of --help has the same words in the manual page, and no paragraph of the
page stops in mid-sentence. Each text ends with two examples, which the page has, too."""
import re
import sys


def plain(line):
    return re.sub(r"\\f.", "", line).replace("\\-", "-").replace("\\e", "\\").replace("\\&", "")


def paragraphs(page):
    """Yields the filled paragraphs of a page, without headings, names of options, and literal lines."""
    words, literal, tagged = [], False, False
    for line in page.splitlines() + [".PP"]:
        if line.startswith("."):
            literal = line == ".nf" or (literal and line != ".fi")
            if words and not line.startswith((".nh", ".ad", ".sp")):
                yield " ".join(words)
                words = []
            tagged = line == ".TP"
            continue
        if not literal and not tagged:
            words.append(plain(line))
        tagged = False


page = open(sys.argv[1], encoding="utf-8").read()
body = page[page.index(".SH DESCRIPTION"):]
ends = [p for p in paragraphs(body) if not p.endswith((".", ":", "(1)"))]
words = " ".join(" ".join(plain(line) for line in page.splitlines() if not line.startswith(".")).split())
missing = []
for path in sys.argv[2:]:
    text = open(path, encoding="utf-8").read()
    # In a help text, an option is indented by two or six columns. Its description follows after two blanks, or in
    # the next line.
    for option in re.findall(r"^ {2,6}-.*\n(?: {8,}.*\n)*", text, re.M):
        said = " ".join(re.sub(r"^ *(-\w, )?--\S+( [^ ]+)?( {2,}|\n)", "", option).split())
        if said not in words:
            missing.append(f"{path}: {said}")
    lines = [plain(line) for line in page.splitlines()]
    examples = text.partition("\nExamples:\n")[2].splitlines()
    missing += [f"{path}: {line.strip()}" for line in examples if line.strip() not in lines]
    if len(examples) != 2:
        missing.append(f"{path}: two examples")
for line in ends:
    print(f"{sys.argv[1]}: a paragraph stops in mid-sentence: ...{line[-80:]}")
for line in missing:
    print(f"not in {sys.argv[1]}: {line}")
sys.exit(bool(ends or missing))
