#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws a window of an event log, for doc/realism.md.

    hpcgen export LOG --form csv --from SECONDS --to SECONDS --output window.csv
    timeline.py window.csv > window.svg

A row for each rank; states are rectangles, those inside others are narrower, messages are lines from send to receive.
"""
import csv
import sys

WIDTH, ROW, LEFT, TOP = 900, 34, 40, 10
COLOURS = ("#4878a8", "#e8a33d", "#6aa56a", "#b85c5c", "#8c7ab8", "#7f7f7f", "#c98bb0", "#5bb0b0", "#b3b34d", "#a67c52")


def read(path):
    """States as (rank, begin, end, depth, name), messages as (from, to, sent, received), and the time span."""
    states, messages, pending, waiting = [], [], {}, {}
    last = 0.0
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            time, rank, name = float(row["time_s"]), int(row["rank"]), row["name"]
            last = max(last, time)
            stack = pending.setdefault(rank, [])
            if row["what"] == "begin":
                stack.append((time, name))
            elif row["what"] == "end" and stack:
                begin, name = stack.pop()
                states.append((rank, begin, time, len(stack), name))
            elif row["what"] == "send":
                waiting.setdefault((rank, int(row["peer"]), row["tag"]), []).append(time)
            elif row["what"] == "receive" and waiting.get((int(row["peer"]), rank, row["tag"])):
                messages.append((int(row["peer"]), rank, waiting[(int(row["peer"]), rank, row["tag"])].pop(0), time))
    for rank, stack in pending.items():
        states += [(rank, begin, last, depth, name) for depth, (begin, name) in enumerate(stack)]
    return states, messages, min(s[1] for s in states), last


def main():
    states, messages, first, last = read(sys.argv[1])
    ranks = max(s[0] for s in states) + 1
    time_of = {}
    for _, begin, end, _, name in states:
        time_of[name] = time_of.get(name, 0) + end - begin
    names = sorted(time_of, key=time_of.get, reverse=True)[:len(COLOURS)]
    colour = dict(zip(names, COLOURS))
    bottom = TOP + ranks * ROW

    def x(time):
        return LEFT + (time - first) / (last - first) * WIDTH

    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 10} {bottom + 50}" '
          'font-family="sans-serif" font-size="11">')
    print(f'<rect width="{LEFT + WIDTH + 10}" height="{bottom + 50}" fill="#ffffff"/>')
    for rank in range(ranks):
        print(f'<text x="4" y="{TOP + rank * ROW + ROW / 2 + 3}">{rank}</text>')
    for rank, begin, end, depth, name in sorted(states, key=lambda s: s[3]):
        wide = max(x(end) - x(begin), 0.3)
        inset = 2 + 4 * min(depth, 3)
        print(f'<rect x="{x(begin):.2f}" y="{TOP + rank * ROW + inset}" width="{wide:.2f}" '
              f'height="{ROW - 2 * inset}" fill="{colour.get(name, "#dddddd")}"/>')
    for sender, receiver, sent, received in messages:
        print(f'<line x1="{x(sent):.2f}" y1="{TOP + sender * ROW + ROW / 2}" x2="{x(received):.2f}" '
              f'y2="{TOP + receiver * ROW + ROW / 2}" stroke="#222222" stroke-width="0.6"/>')
    at = LEFT
    for name in names:
        print(f'<rect x="{at}" y="{bottom + 8}" width="10" height="10" fill="{colour[name]}"/>')
        print(f'<text x="{at + 13}" y="{bottom + 17}">{name}</text>')
        at += 26 + 6.2 * len(name)
    print(f'<text x="{LEFT}" y="{bottom + 40}">{first:.6f} s</text>')
    print(f'<text x="{LEFT + WIDTH}" y="{bottom + 40}" text-anchor="end">{last:.6f} s: '
          f'{1e3 * (last - first):.3g} ms</text>')
    print("</svg>")


main()
