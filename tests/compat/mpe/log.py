# SPDX-License-Identifier: BSD-3-Clause
"""Reads a CLOG-2 log, from doc/formats/clog2.md alone, and brings it into a form that does not depend on times, on the
order of processes, or on the numbers of communicators and threads."""
import collections
import struct

ENDLOG, ENDBLOCK, STATEDEF, EVENTDEF, CONSTDEF, BARE, CARGO, MESSAGE, COLLECTIVE, COMM, SOURCE, SHIFT = range(12)
SIZE = {ENDLOG: 24, ENDBLOCK: 24, STATEDEF: 136, EVENTDEF: 128, CONSTDEF: 64, BARE: 32, CARGO: 64, MESSAGE: 48,
        COLLECTIVE: 40, COMM: 72, SOURCE: 72, SHIFT: 32}
USER_EVENT = 600
NO_COMM = -999999999


def text(field):
    return field.split(b"\0")[0].decode("ascii")


def records(path):
    """Returns (icomm, rank, thread, kind, payload) of all records in order."""
    data = open(path, "rb").read()
    words = data[:1024].split(b"\0")
    assert words[0] == b"CLOG-02.44" and words[2].strip() == b"TRUE", f"{path}: no finished log"
    block, at, start = int(words[6]), 1024, 1024
    while True:
        _, icomm, rank, thread, kind = struct.unpack_from(">diiii", data, at)
        if kind == ENDLOG:
            return
        if kind == ENDBLOCK:
            start += block
            at = start
            continue
        yield icomm, rank, thread, kind, data[at + 24:at + SIZE[kind]]
        at += SIZE[kind]


def cargo_values(cargo, form):
    """Returns the values of a cargo by its format `form`, or all bytes if `form` has no conversion."""
    if "%" not in form:
        return (cargo,)
    values, at = [], 0
    for letter in [c for before, c in zip(form, form[1:]) if before == "%"]:
        if letter == "s":
            length = struct.unpack_from(">h", cargo, at)[0]
            values.append(cargo[at + 2:at + 2 + length])
            at += 2 + length
        else:
            code = {"h": "h", "d": "i", "l": "q", "x": "I", "X": "Q", "e": "f", "E": "d"}[letter]
            values.append(struct.unpack_from(">" + code, cargo, at)[0])
            at += struct.calcsize(code)
    return tuple(values)


class Log:
    """`definitions`: definitions of states and events, by event. `timelines`: for each process, the sorted lists of its
    threads' records. A process names a communicator by its processes, whether they are a remote group, and how
    many earlier communicators of the process have the same ones."""

    def __init__(self, path):
        self.definitions, self.constants = {}, set()
        all_records = list(records(path))
        self._name_comms(all_records)
        for _, _, _, kind, data in all_records:
            if kind == STATEDEF:
                # Nothing uses the number of a state; MPE2 numbers states by their descriptions.
                start, end = struct.unpack_from(">ii", data, 4)
                row = (text(data[40:72]), text(data[16:40]), text(data[72:112]))
                self.definitions[start] = ("begin", end, *row)
                self.definitions[end] = ("end", start, *row)
            elif kind == EVENTDEF:
                event = struct.unpack_from(">i", data)[0]
                self.definitions[event] = ("event", text(data[32:64]), text(data[8:32]), text(data[64:104]))
            elif kind == CONSTDEF:
                self.constants.add((struct.unpack_from(">i", data, 4)[0], text(data[8:40])))
        threads = collections.defaultdict(list)
        for icomm, rank, thread, kind, data in all_records:
            row = self._row(icomm, rank, kind, data)
            if row is not None:
                threads[self.world[icomm, rank], thread].append(row)
        self.timelines = collections.defaultdict(list)
        for (process, _), rows in threads.items():
            self.timelines[process].append(rows)
        for rows in self.timelines.values():
            rows.sort(key=repr)

    def _name_comms(self, all_records):
        """Maps the names of communicators, which differ between processes: each process counts those it has
        made."""
        self.world, members = {}, collections.defaultdict(set)
        made = []
        for icomm, rank, _, kind, data in all_records:
            event, number, in_it, process = struct.unpack_from(">iiii", data) if kind == COMM else (0, NO_COMM, 0, 0)
            if number == NO_COMM:
                continue
            if in_it >= 0:
                self.world[number, in_it] = process
            members[number].add(process)
            made.append((process, number, event == 102))
        self.comm, seen = {}, collections.Counter()
        for process, number, remote in made:
            who = (tuple(sorted(members[number])), remote)
            if (process, number) not in self.comm:
                self.comm[process, number] = (*who, seen[process, who])
                seen[process, who] += 1

    def _row(self, icomm, rank, kind, data):
        me = self.world.get((icomm, rank))
        where = self.comm.get((me, icomm))
        if kind == BARE:
            return ("event", where, struct.unpack_from(">i", data)[0])
        if kind == CARGO:
            event = struct.unpack_from(">i", data)[0]
            form = self.definitions.get(event, ("",))[-1]
            return ("cargo", where, event, cargo_values(data[8:40], form))
        if kind == MESSAGE:
            event, peer_comm, peer, tag, size = struct.unpack_from(">iiiii", data)
            return ("message", where, event, self.comm.get((me, peer_comm)), peer, tag, size)
        if kind == COMM:
            event, number, in_it, process = struct.unpack_from(">iiii", data)
            return ("comm", where, event, self.comm.get((me, number)), in_it, process)
        return None
