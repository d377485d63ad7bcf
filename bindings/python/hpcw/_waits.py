# SPDX-License-Identifier: BSD-3-Clause
"""Wait states of an event log, as Scalasca defines them: late sender, late receiver, wait in collective calls.

Calls are recognised by the names of their states.
https://apps.fz-juelich.de/scalasca/releases/scalasca/2.4/help/scalasca_patterns-2.4.html
"""
from __future__ import annotations

import numpy as np

KINDS = ["late sender", "late receiver", "collective"]
WAITS = [("rank", "u4"), ("kind", "u4"), ("name", "u4"), ("cause", "u4"), ("begin", "f8"), ("seconds", "f8")]
# Sends that may block until the message is received.
SENDS = {"MPI_Send", "MPI_Ssend", "MPI_Rsend"}
STARTS = {"MPI_Isend", "MPI_Issend", "MPI_Irsend", "MPI_Start", "MPI_Startall"}  # sends that another call completes
EXCHANGES = {"MPI_Sendrecv", "MPI_Sendrecv_replace"}
# Calls that post a receive and wait for its message.
RECEIVES = {"MPI_Recv", "MPI_Mrecv"} | EXCHANGES
# Calls in which ranks wait for each other.
COLLECTIVES = {"MPI_" + name for name in (
    "Allgather", "Allgatherv", "Allreduce", "Alltoall", "Alltoallv", "Alltoallw", "Barrier", "Bcast", "Cart_create", "Cart_sub",
    "Comm_create", "Comm_dup", "Comm_split", "Comm_split_type", "Dist_graph_create", "Dist_graph_create_adjacent", "Exscan",
    "Gather", "Gatherv", "Graph_create", "Reduce", "Reduce_scatter", "Reduce_scatter_block", "Scan", "Scatter", "Scatterv")}


def find(states: np.ndarray, messages: np.ndarray, names: list, ranks: int, dtype: np.dtype) -> np.ndarray:
    """Returns all waits, sorted by begin. `states`: as EventLog.states, with the additional field `comm`."""
    is_call = np.array([name.startswith("MPI_") for name in names], bool)
    calls = states[is_call[states["name"]] & (states["thread"] == 0)]
    calls = calls[np.lexsort((calls["begin"], calls["rank"]))]
    members = {comm: len(np.unique(states["rank"][states["comm"] == comm])) for comm in np.unique(calls["comm"]).tolist()}
    members[0] = ranks
    found = [*_of_messages(calls, messages[messages["received"] >= messages["sent"]], names),
             *_of_collectives(calls[_has(calls, names, COLLECTIVES)], members)]
    waits = np.empty(sum(len(columns["rank"]) for columns in found), dtype)
    first = 0
    for columns in found:
        last = first + len(columns["rank"])
        for name, column in columns.items():
            waits[name][first:last] = column
        first = last
    return waits[np.lexsort((waits["rank"], waits["begin"]))]


def _has(calls: np.ndarray, names: list, wanted: set) -> np.ndarray:
    """Returns a mask of the calls that have one of the wanted names."""
    return np.array([name in wanted for name in names], bool)[calls["name"]]


def _enclosing(calls: np.ndarray, rank: np.ndarray, time: np.ndarray, begins_count: bool) -> np.ndarray:
    """Returns for each pair of `rank` and `time` the index of the call that is open on this rank at this time, or -1.
    `begins_count`: whether a call that begins exactly at this time is open. `calls` is sorted by rank and begin."""
    n = len(calls)
    later = np.repeat([not begins_count, begins_count], [n, len(rank)])  # order of calls and queries at the same time
    order = np.lexsort((later, np.concatenate((calls["begin"], time)), np.concatenate((calls["rank"], rank))))
    last = np.maximum.accumulate(np.where(order < n, order, -1))
    at = np.empty(len(rank), np.int64)
    at[order[order >= n] - n] = last[order >= n]
    good = at >= 0
    good[good] = (calls["rank"][at[good]] == rank[good]) & (calls["end"][at[good]] >= time[good])
    at[~good] = -1
    return at


def _of_messages(calls: np.ndarray, messages: np.ndarray, names: list):
    """Finds late senders and late receivers."""
    send = _enclosing(calls, messages["source"], messages["sent"], True)
    receive = _enclosing(calls, messages["dest"], messages["received"], False)
    none = receive < 0
    receive[none] = _enclosing(calls, messages["dest"][none], messages["received"][none], True)
    completer = _completers(calls, messages, send, receive, names)[receive >= 0]
    messages, send, receive = messages[receive >= 0], send[receive >= 0], receive[receive >= 0]
    enter = np.where(send >= 0, calls["begin"][send] if len(calls) else 0, messages["sent"])
    begin = calls["begin"][receive]

    late = np.flatnonzero(enter > begin)
    late = late[np.lexsort((-late, enter[late], receive[late]))]
    late = late[np.append(receive[late][1:] != receive[late][:-1], True)[:len(late)]]  # the last one of each call
    yield {"rank": messages["dest"][late], "kind": 0, "name": calls["name"][receive[late]], "cause": messages["source"][late],
           "begin": begin[late], "seconds": enter[late] - begin[late]}

    # MPI_Sendrecv first waits for the message that it receives, and then for the receiver of the message that it sends.
    until = np.zeros(len(calls) + 1)
    until[receive[late]] = enter[late]
    start = np.maximum(enter, until[send])
    posted = _posted(calls, messages, receive, names)
    blocks = (send >= 0) & (posted > start)
    blocks[blocks] = (_has(calls, names, SENDS | EXCHANGES)[send[blocks]] & (calls["end"][send[blocks]] > posted[blocks]))
    yield {"rank": messages["source"][blocks], "kind": 1, "name": calls["name"][send[blocks]],
           "cause": messages["dest"][blocks], "begin": start[blocks], "seconds": posted[blocks] - start[blocks]}

    # A wait call that completes several sends waits for the receiver that posts its receive last.
    start = np.maximum(calls["begin"][completer], until[completer]) if len(calls) else np.zeros(len(completer))
    last = np.flatnonzero((completer >= 0) & (posted > start))
    last = last[posted[last] < calls["end"][completer[last]]]
    last = last[np.lexsort((-last, posted[last], completer[last]))]
    last = last[np.append(completer[last][1:] != completer[last][:-1], True)[:len(last)]]
    yield {"rank": messages["source"][last], "kind": 1, "name": calls["name"][completer[last]],
           "cause": messages["dest"][last], "begin": start[last], "seconds": posted[last] - start[last]}


def _completers(calls: np.ndarray, messages: np.ndarray, send: np.ndarray, receive: np.ndarray, names: list) -> np.ndarray:
    """Returns for each message the index of the call that completes its non-blocking send; -1: none. A log does not say this.
    It is assumed that MPI_Waitall completes all sends started on its rank. MPI_Wait completes the oldest send, unless the log
    shows that this MPI_Wait receives a message."""
    completer = np.full(len(messages), -1)
    started = np.flatnonzero((send >= 0) & _has(calls, names, STARTS)[send]) if len(calls) else np.zeros(0, np.int64)
    ends_all = _has(calls, names, {"MPI_Waitall"})
    ends_one = _has(calls, names, {"MPI_Wait"})
    ends_one[receive[receive >= 0]] = False
    ends = np.flatnonzero(ends_all | ends_one)
    # Non-blocking sends and wait calls of each rank, sorted by time. A stretch is a part of this list that ends with a call of
    # MPI_Waitall, or with the last entry of a rank.
    rank = np.concatenate((messages["source"][started], calls["rank"][ends]))
    order = np.lexsort((np.repeat([0, 1], [len(started), len(ends)]), np.concatenate((messages["sent"][started],
                                                                                      calls["begin"][ends])), rank))
    is_send = order < len(started)
    is_all, is_one = (np.concatenate((np.zeros(len(started), bool), mask[ends]))[order] for mask in (ends_all, ends_one))
    new = np.append(True, (np.diff(rank[order].astype(np.int64)) != 0) | is_all[:-1])[:len(order)]
    stretch = np.cumsum(new) - 1
    first = np.flatnonzero(new)

    def count(mask):
        """Returns for each entry how many entries of its stretch, up to and including it, are in `mask`."""
        total = np.cumsum(mask)
        return total - (total[first] - mask[first])[stretch]

    sends, ones = count(is_send), count(is_one)
    # Do not count calls of MPI_Wait that came when no send was outstanding. `offset` restarts the maximum per stretch.
    offset = stretch * (len(order) + 1)
    ones = ones - (np.maximum.accumulate(np.maximum(ones - sends, 0) + offset) - offset)
    takes = np.flatnonzero(is_one & (np.diff(ones, prepend=0) > 0)) if len(order) else np.zeros(0, np.int64)
    takes = takes[ones[takes] > 0]
    by_number = np.full(len(order), -1)  # places of the sends of each stretch, by number
    by_number[first[stretch[is_send]] + sends[is_send] - 1] = np.flatnonzero(is_send)
    taken = by_number[first[stretch[takes]] + ones[takes] - 1]
    call = np.full(len(order), -1)
    whole = np.flatnonzero(is_all)
    of_stretch = np.full(len(first), -1)
    of_stretch[stretch[whole]] = ends[order[whole] - len(started)]
    call[is_send] = of_stretch[stretch[is_send]]
    call[taken] = ends[order[takes] - len(started)]
    completer[started[order[is_send]]] = call[is_send]
    return completer


def _posted(calls: np.ndarray, messages: np.ndarray, receive: np.ndarray, names: list) -> np.ndarray:
    """Returns the time at which the receive of each message was posted; -1: unknown. A log does not say which MPI_Irecv a wait
    call completes. It is assumed to be the oldest MPI_Irecv, so the computed waits are rather too short. If a program also
    receives through persistent requests, the assumed MPI_Irecv may be a later one, and the computed waits too long."""
    posted = calls["begin"][receive].astype(float)
    posts = calls[_has(calls, names, {"MPI_Irecv"})]
    others = np.flatnonzero(~_has(calls, names, RECEIVES)[receive])
    others = others[np.argsort(messages["dest"][others], kind="stable")]
    rank = messages["dest"][others]
    number = np.arange(len(others)) - np.searchsorted(rank, rank)
    at = np.searchsorted(posts["rank"], rank) + number
    known = at < np.searchsorted(posts["rank"], rank, side="right")
    posted[others] = -1
    known[known] = posts["begin"][at[known]] <= messages["received"][others[known]]
    posted[others[known]] = posts["begin"][at[known]]
    return posted


def _of_collectives(calls: np.ndarray, members: dict):
    """Finds waits for the last rank that enters a collective call. The n-th call of each rank on a communicator belongs to the
    n-th collective operation of the communicator. `members`: number of ranks of each communicator."""
    calls = calls[np.lexsort((calls["begin"], calls["rank"], calls["comm"]))]
    new = np.append(True, (calls["rank"][1:] != calls["rank"][:-1]) | (calls["comm"][1:] != calls["comm"][:-1]))[:len(calls)]
    place = np.arange(len(calls))
    serial = place - np.maximum.accumulate(np.where(new, place, 0))
    order = np.lexsort((calls["rank"], calls["begin"], serial, calls["comm"]))
    calls, serial = calls[order], serial[order]
    ends = np.append((serial[1:] != serial[:-1]) | (calls["comm"][1:] != calls["comm"][:-1]), True)[:len(calls)]
    last = np.flatnonzero(ends)
    count = np.diff(last, prepend=-1)
    meeting = np.repeat(np.arange(len(last)), count)
    size = np.array([members[comm] for comm in calls["comm"][last].tolist()], np.int64)
    all_came, last = (count == size)[meeting], last[meeting]
    until = calls["begin"][last]
    waits = all_came & (calls["begin"] < until) & (calls["end"] >= until)
    yield {"rank": calls["rank"][waits], "kind": 2, "name": calls["name"][waits], "cause": calls["rank"][last[waits]],
           "begin": calls["begin"][waits], "seconds": until[waits] - calls["begin"][waits]}
