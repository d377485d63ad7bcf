# SPDX-License-Identifier: BSD-3-Clause
"""Tests recordings on hosts whose clocks differ in zeros and rates. Recorded times must be as if read from one clock.

The hosts' monotonic clocks begin days apart (time namespaces); some run too fast or too slow (drift.c). Recorded times are
compared with a clock that all hosts share.
"""
import re

from hosts import Broken

SECONDS = 8
DRIFTS = (10, 50, -30, 0)  # of the hosts
SLACK_US = 2  # between the two clocks that clock.c reads one after the other
OF_PROCESS = re.compile(r"process (\d+): round trips ([\d.]+) and ([\d.]+), drift (-?[\d.]+)")
OF_WRAPPER = re.compile(r"clocks: system clock; 1 of \d+ processes .* drift ([\d.]+) us per s, round trip ([\d.]+) us and ([\d.]+)")
ERROR = re.compile(r"process (\d+): wrong by ([\d.]+)")
MESSAGES = re.compile(r"messages (\d+), backwards (\d+), by at most ([\d.]+)")


def record(c, drifts, *command, **environment):
    """Makes a recording. `drifts`: drift of each host's clock, in millionths. Returns the output of the program."""
    settings = {f"DRIFT_{host.name}": str(drift) for host, drift in zip(c.hosts, drifts)}
    log = c.fresh("clocks") + "/ring.clog2"
    made = c.mpirun(len(c.hosts), "env", *(word.format(log=log) for word in command), c.clock, log, SECONDS, **settings,
                    **environment)
    return made.ok()


def check_drift(measured, injected, trips):
    if abs(measured - injected) > sum(trips) / 2 / SECONDS + 0.01:
        raise Broken(f"expected a drift of {injected:g}, got {measured:g}, round trips {trips[0]:g} and {trips[1]:g} us")


def check_log(c, output, trips):
    """Checks that no time in the log is wrong by more than half a round trip. Returns the result as a sentence."""
    errors = [float(error) for _, error in ERROR.findall(output)]
    found = MESSAGES.search(output)
    if len(errors) != len(c.hosts) or not found:
        raise Broken(f"expected a line for each host and one for the messages, got: {output}")
    for error, trip in zip(errors, trips):
        if error > trip / 2 + SLACK_US:
            raise Broken(f"times are wrong by {error:g} us, but the round trip is {trip:g} us")
    messages, backwards, early = found.groups()
    if int(backwards) * 10000 > int(messages) or float(early) > max(trips) / 2:
        raise Broken(f"{backwards} of {messages} messages are received before they are sent, by {early} us, "
                     f"round trip {max(trips):g}")
    return (f"times wrong by at most {max(errors):g} us, round trips up to {max(trips):g} us; "
            f"{backwards} of {messages} messages backwards")


def measure(c, drifts):
    """Records with the library, without the wrapper, and checks the clocks' drifts and the log."""
    output = record(c, drifts, f"LD_PRELOAD={c.drift}")
    lines = [[float(figure) for figure in found] for found in OF_PROCESS.findall(output)]
    for (_, begin, end, drift), injected in zip(lines, drifts):
        check_drift(drift, drifts[0] - injected, (begin, end))  # correction of the process's clock
    return check_log(c, output, [max(begin, end) for _, begin, end, _ in lines])


def offsets(c):
    """The clocks differ only in their zeros."""
    return measure(c, [0] * len(c.hosts))


def drift(c):
    """The clocks also differ in their rates."""
    return measure(c, DRIFTS)


def wrapper(c):
    """The wrapper records, and reports the largest drift and round trips. The clocks differ in zeros and rates."""
    output = record(c, DRIFTS, f"LD_PRELOAD={c.drift}:{c.trace}", "HPCW_TRACE_FILE={log}", HPCW_TRACE_CLOCK="system",
                    HPCW_TRACE_CLOCKS="1")
    found = OF_WRAPPER.search(output)
    if not found:
        raise Broken(f"expected what the wrapper says of the clocks, got: {output}")
    largest, *trips = [float(figure) for figure in found.groups()]
    check_drift(largest, max(abs(DRIFTS[0] - injected) for injected in DRIFTS), trips)
    return check_log(c, output, [max(trips)] * len(c.hosts))


CHECKS = (
    ("clocks: offsets", offsets, "shared directory", "Open MPI"),
    ("clocks: drift", drift, "shared directory", "Open MPI"),
    ("clocks: wrapper", wrapper, "shared directory", "Open MPI"),
)
