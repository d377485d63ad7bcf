#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws a window of an event log as SVG: ranks from top to bottom, time to the right.

    ./draw_log.py data/clog2/app.clog2 0.1 0.2 > log.svg

Computing is blue, calls of MPI are red, files are violet, and other states are thin lines above. Messages within
the window are lines.
"""
import argparse

import hpcw

WIDTH, LEFT, ROW = 900, 40, 18
COMPUTE, CALL, FILE, STATE, MESSAGE = "#4878a8", "#d9774f", "#8a6fb0", "#b0b0b0", "#333333"
FILES = ("Checkpoint", "MPI_File_open", "MPI_File_write", "MPI_File_read", "MPI_File_close")


def colour(name):
    if name == "Compute":
        return COMPUTE
    if name in FILES:
        return FILE
    return CALL if name.startswith("MPI_") else STATE


def read(path, begin, end):
    """Returns the number of ranks, the states that touch the window as (rank, begin, end, name), and the messages
    within it as (from, to, sent, received)."""
    log = hpcw.open(path)
    states, messages = log.states(begin, end), log.messages(begin, end)
    messages = messages[(messages["sent"] >= begin) & (messages["received"] <= end)]
    return (log.ranks, list(zip(states["rank"].tolist(), states["begin"].clip(begin).tolist(),
                                states["end"].clip(max=end).tolist(), log.names[states["name"]])),
            messages[["source", "dest", "sent", "received"]].tolist())


def draw(ranks, states, messages, begin, end):
    scale = (WIDTH - LEFT) / (end - begin)

    def x(time):
        return LEFT + (time - begin) * scale

    boxes = {}  # colour -> path
    last = {}  # (rank, colour) -> end of the last box; a box narrower than half a pixel joins it
    for rank, since, until, name in sorted(states):
        fill = colour(name)
        left, right = max(x(since), last.get((rank, fill), 0)), x(until)
        if right - last.get((rank, fill), 0) < 0.5:
            continue
        last[rank, fill] = right
        top, height = (rank * ROW + 2, 2) if fill == STATE else (rank * ROW + 5, ROW - 6)
        width = max(right - left, 0.5)
        boxes.setdefault(fill, []).append(f"M{left:.1f} {top}h{width:.1f}v{height}h-{width:.1f}z")
    lines = [f"M{x(since):.1f} {source * ROW + 11}L{x(until):.1f} {to * ROW + 11}"
             for source, to, since, until in messages]
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {ranks * ROW + 30}" '
          'font-family="sans-serif" font-size="10">')
    print('<rect width="100%" height="100%" fill="#ffffff"/>')
    for rank in range(ranks):
        print(f'<text x="4" y="{rank * ROW + 14}">{rank}</text>')
    for fill, path in sorted(boxes.items()):
        print(f'<path fill="{fill}" d="{"".join(path)}"/>')
    print(f'<path stroke="{MESSAGE}" stroke-width="0.4" d="{"".join(lines)}"/>')
    y = ranks * ROW + 20
    print(f'<text x="{LEFT}" y="{y}">{begin:g} s</text>')
    print(f'<text x="{WIDTH - 4}" y="{y}" text-anchor="end">{end:g} s</text>')
    print("</svg>")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log")
    parser.add_argument("begin", type=float)
    parser.add_argument("end", type=float)
    given = parser.parse_args()
    draw(*read(given.log, given.begin, given.end), given.begin, given.end)


main()
