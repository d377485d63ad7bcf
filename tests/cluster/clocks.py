# SPDX-License-Identifier: BSD-3-Clause
"""Hosts whose clocks have other zeros and other rates: recorded times are those of one clock.

The hosts' monotonic clocks begin days apart (time namespaces); some run too fast or too slow (drift.c). What is recorded is
compared with a clock that all hosts share.
"""
import re

from hosts import Broken

SECONDS = 8
SLACK_US = 2  # between the two clocks that clock.c reads, one after the other
LINE = re.compile(r"process (\d+): round trips ([\d.]+) and ([\d.]+), drift (-?[\d.]+), wrong by ([\d.]+)")


def measure(c, drifts):
    """Records with these drifts of the hosts, in millionths. Returns a sentence."""
    log = c.fresh("clocks") + "/ring.clog2"
    settings = {f"DRIFT_{host.name}": str(drift) for host, drift in zip(c.hosts, drifts)}
    made = c.mpirun(len(c.hosts), "env", f"LD_PRELOAD={c.drift}", c.clock, log, SECONDS, **settings)
    lines = [[float(figure) for figure in found] for found in LINE.findall(made.ok())]
    if len(lines) != len(c.hosts):
        raise Broken(f"{made}: expected a line for each host, got: {made.output}")
    trips, wrong = 0, 0
    for (_, begin, end, drift, error), injected in zip(lines, drifts):
        trip = max(begin, end)
        expected = drifts[0] - injected  # what to add to its clock
        if abs(drift - expected) > (begin + end) / 2 / SECONDS + 0.01:
            raise Broken(f"expected a drift of {expected:g}, got {drift:g}, round trips {begin:g} and {end:g} us")
        if error > trip / 2 + SLACK_US:
            raise Broken(f"times are wrong by {error:g} us, but the round trip is {trip:g} us")
        trips, wrong = max(trips, trip), max(wrong, error)
    messages, backwards, early = re.search(r"messages (\d+), backwards (\d+), by at most ([\d.]+)", made.output).groups()
    if int(backwards) * 10000 > int(messages) or float(early) > trips / 2:
        raise Broken(f"{backwards} of {messages} messages are received before they are sent, by {early} us, round trip {trips:g}")
    return (f"times wrong by at most {wrong:g} us, round trips up to {trips:g} us; "
            f"{backwards} of {messages} messages backwards")


def offsets(c):
    """Other zeros alone."""
    return measure(c, [0] * len(c.hosts))


def drift(c):
    """Other rates, too."""
    return measure(c, (10, 50, -30, 0))


CHECKS = (
    ("clocks: offsets", offsets, "shared directory", "Open MPI"),
    ("clocks: drift", drift, "shared directory", "Open MPI"),
)
