/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors of programs that do not end properly. The messages name ranks, calls, and lines of the program. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "gen/sim/private.h"
#include "libwriter/base/status.h"

/* NAMED: number of ranks that a message names.
 * PLACE: largest size in bytes of a position in the program, with the NUL. */
enum { NAMED = 4, PLACE = 256 };

/* Text that grows until the buffer is full. The buffer is smaller than an error message, so that the text fits
 * into one. */
struct sim_words {
    char text[900];
    size_t size;
};

HPCW_PRINTF(2, 3) static void say(struct sim_words *w, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    const int n = vsnprintf(w->text + w->size, sizeof w->text - w->size, fmt, args);
    va_end(args);
    w->size = n < 0 || (size_t)n >= sizeof w->text - w->size ? sizeof w->text - 1 : w->size + (size_t)n;
}

/* The call in which a rank waits for ever. */
struct sim_stuck {
    uint32_t rank;
    uint32_t half;     /* first message that the rank waits for; SIM_NOTHING: none, or any */
    bool for_ended;    /* the program of the rank at the other end of this message has ended */
    char place[PLACE]; /* position in the program; "": unknown */
};

static struct sim_stuck find_stuck(const struct sim *sim, uint32_t rank) {
    const struct sim_rank *r = &sim->rank[rank];
    struct sim_stuck stuck = {.rank = rank, .half = SIM_NOTHING};
    for (uint32_t i = r->waits.count; i-- > 0 && stuck.half == SIM_NOTHING;) {
        const struct sim_half *half = &sim->match.half[r->waits.of[i]];
        if (!half->matched && !half->eager) {
            stuck.half = r->waits.of[i];
            stuck.for_ended = sim->rank[half->other].state == SIM_RANK_ENDED;
        }
    }
    if (sim->program->where != NULL) {
        sim->program->where(sim->program->context, rank, stuck.place, sizeof stuck.place);
    }
    return stuck;
}

static bool is_alike(const struct sim *sim, const struct sim_stuck *a, const struct sim_stuck *b) {
    return sim->rank[a->rank].call == sim->rank[b->rank].call && strcmp(a->place, b->place) == 0 &&
           a->for_ended == b->for_ended;
}

/* Appends why the message that a rank waits for does not come: its partner has another one for it, or has ended. */
static void say_other(struct sim_words *w, const struct sim *sim, const struct sim_half *half, bool for_ended) {
    const struct sim_pair *pair = &sim->match.pair[half->pair];
    const uint32_t other = half->sends ? pair->receive.first : pair->message.first;
    if (other == SIM_NOTHING && for_ended) {
        say(w, ", but rank %" PRIu32 " has ended", half->other);
    }
    if (other == SIM_NOTHING) {
        return;
    }
    const int32_t tag = sim->match.half[other].tag;
    const char *verb = half->sends ? "receives" : "sends";
    if (tag != half->tag) {
        say(w, ", but rank %" PRIu32 " %s tag %" PRId32, half->other, verb, tag);
    } else {
        say(w, ", but rank %" PRIu32 " %s in another communicator", half->other, verb);
    }
}

/* Appends the first member that has not come to a rank's collective call. */
static void say_missing(struct sim_words *w, const struct sim *sim, uint32_t rank) {
    const struct sim_rank *r = &sim->rank[rank];
    const struct sim_comm *comm = sim->comm[r->comm];
    const uint32_t met = comm->met[sim_comm_place(comm, rank)];
    uint32_t missing = 0, first = 0;
    for (uint32_t i = comm->size; i-- > 0;) {
        missing += comm->met[i] < met;
        first = comm->met[i] < met ? sim_comm_rank(comm, i) : first;
    }
    if (missing > 0) {
        say(w, " of %" PRIu32 " ranks without rank %" PRIu32, comm->size, first);
    }
    if (missing > 1) {
        say(w, " and %" PRIu32 " more", missing - 1);
    }
    if (missing > 0 && sim->rank[first].state == SIM_RANK_ENDED) {
        say(w, ", as rank %" PRIu32 " has ended", first);
    }
}

/* Appends the call that a rank is in, and what the rank waits for. */
static void say_wait(struct sim_words *w, const struct sim *sim, const struct sim_stuck *stuck) {
    const struct sim_rank *r = &sim->rank[stuck->rank];
    say(w, "%srank %" PRIu32 " in %s", w->size == 0 ? "" : "; ", stuck->rank, sim_call_name[r->call]);
    if (r->timed == SIM_ANY_MESSAGE) {
        say(w, " from any rank with tag %" PRId32, r->any_tag);
    } else if (stuck->half != SIM_NOTHING) {
        const struct sim_half *half = &sim->match.half[stuck->half];
        say(w, " %s rank %" PRIu32 " with tag %" PRId32, half->sends ? "to" : "from", half->other, half->tag);
        say_other(w, sim, half, stuck->for_ended);
    } else if (r->call >= SIM_CALL_BARRIER) {
        say_missing(w, sim, stuck->rank);
    }
    if (stuck->place[0] != '\0') {
        say(w, " (%s)", stuck->place);
    }
}

/* Names a rank for each call of the program in which ranks wait, as the cause is often the rank that waits
 * elsewhere than all others. Then names the first of the other ranks. */
hpcw_status sim_fail_deadlock(const struct sim *sim, hpcw_error *err) {
    struct sim_words w = {.size = 0};
    struct sim_stuck named[NAMED];
    uint32_t count = 0, waiting = 0;
    for (uint32_t i = 0; i < 2 * sim->ranks; i++) {
        const uint32_t rank = i % sim->ranks;
        const bool fills = i >= sim->ranks;
        if (sim->rank[rank].state != SIM_RANK_WAITS) {
            continue;
        }
        waiting += !fills;
        const struct sim_stuck stuck = find_stuck(sim, rank);
        uint32_t at = 0;
        while (at < count && (fills ? named[at].rank != rank : !is_alike(sim, &named[at], &stuck))) {
            at++;
        }
        if (at == count && count < NAMED) {
            say_wait(&w, sim, &stuck);
            named[count++] = stuck;
        }
    }
    if (waiting > count) {
        say(&w, "; and %" PRIu32 " more", waiting - count);
    }
    return hpcw_i_fail(err, HPCW_EINVAL,
                       "deadlock: expected all ranks to end, got %" PRIu32 " that wait for ever: %s", waiting,
                       w.text);
}

/* Returns the first send or receive of a rank that has one for which it has not waited. */
static const struct sim_half *first_held(const struct sim *sim, const struct sim_rank *r) {
    for (const sim_request *request = r->requests.of;; request++) {
        const struct sim_half *half = &sim->match.half[(uint32_t)*request];
        if (half->held && half->serial == *request >> 32) {
            return half;
        }
    }
}

static hpcw_status check_rank(const struct sim *sim, uint32_t rank, hpcw_error *err) {
    const struct sim_rank *r = &sim->rank[rank];
    if (r->phase != sim->options.phases) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "rank %" PRIu32 ": expected %" PRIu32 " calls of next_phase, got %" PRIu32, rank,
                           sim->options.phases, r->phase);
    }
    if (r->checkpoints != sim->options.checkpoints) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "rank %" PRIu32 ": expected a call of checkpoint in each phase, got %" PRIu32
                           " of the %" PRIu32 " that are due",
                           rank, r->checkpoints, sim->options.checkpoints);
    }
    if (r->file.open) {
        return hpcw_i_fail(
            err, HPCW_EINVAL,
            "rank %" PRIu32 ": expected a file_close for each file_open, got none for the last one", rank);
    }
    if (r->requests.held > 0) {
        const struct sim_half *first = first_held(sim, r);
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "rank %" PRIu32 ": expected a wait for each isend and irecv, got %" PRIu32
                           " without one, the first %s rank %" PRIu32 " with tag %" PRId32,
                           rank, r->requests.held, first->sends ? "an isend to" : "an irecv from", first->other,
                           first->tag);
    }
    return HPCW_OK;
}

/* Checks for a collective call that some members have left and others never make. */
static hpcw_status check_meetings(const struct sim_comm *comm, hpcw_error *err) {
    const struct sim_meeting *g = comm->meetings.oldest;
    return g == NULL ? HPCW_OK
                     : hpcw_i_fail(err, HPCW_EINVAL,
                                   "rank %" PRIu32 ": expected %s of all %" PRIu32
                                   " ranks of its communicator, got that of %" PRIu32,
                                   sim_comm_rank(comm, g->first), sim_call_name[g->call], comm->size, g->came);
}

hpcw_status sim_check_end(const struct sim *sim, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    for (uint32_t i = 0; s == HPCW_OK && i < sim->comms; i++) {
        s = check_meetings(sim->comm[i], err);
    }
    if (s != HPCW_OK) {
        return s;
    }
    for (uint32_t p = 0; p < sim->match.pairs; p++) {
        const struct sim_pair *pair = &sim->match.pair[p];
        if (pair->message.first != SIM_NOTHING) {
            const struct sim_half *half = &sim->match.half[pair->message.first];
            return hpcw_i_fail(err, HPCW_EINVAL,
                               "rank %" PRIu32
                               ": expected a receive for each message to it, got none for %" PRIu32
                               " bytes from rank %" PRIu32 " with tag %" PRId32,
                               pair->to, half->bytes, pair->from, half->tag);
        }
    }
    for (uint32_t r = 0; s == HPCW_OK && r < sim->ranks; r++) {
        s = check_rank(sim, r, err);
    }
    return s;
}
