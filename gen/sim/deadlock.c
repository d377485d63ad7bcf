/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors of programs that do not end properly. The messages name ranks, calls, and lines of the program. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

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

static void say_place(const struct sim *sim, struct sim_words *w, uint32_t rank) {
    char place[PLACE] = "";
    if (sim->program->where != NULL) {
        sim->program->where(sim->program->context, rank, place, sizeof place);
    }
    if (place[0] != '\0') {
        say(w, " (%s)", place);
    }
}

/* Appends the call that a rank is in, and the first message that the rank waits for. */
static void say_wait(const struct sim *sim, struct sim_words *w, uint32_t rank) {
    const struct sim_rank *r = &sim->rank[rank];
    say(w, "rank %" PRIu32 " in %s", rank, sim_call_name[r->call]);
    if (r->timed == SIM_ANY_MESSAGE) {
        say(w, " from any rank with tag %" PRId32, r->any_tag);
    }
    for (uint32_t i = r->waits.count; i-- > 0;) {
        const struct sim_half *half = &sim->match.half[r->waits.of[i]];
        if (!half->matched && !half->eager) {
            say(w, " %s rank %" PRIu32 " with tag %" PRId32, half->sends ? "to" : "from", half->other,
                half->tag);
            break;
        }
    }
    say_place(sim, w, rank);
}

hpcw_status sim_fail_deadlock(const struct sim *sim, hpcw_error *err) {
    struct sim_words w = {.size = 0};
    uint32_t named = 0;
    uint32_t waiting = 0;
    for (uint32_t r = 0; r < sim->ranks; r++) {
        if (sim->rank[r].state != SIM_RANK_WAITS) {
            continue;
        }
        if (named < NAMED) {
            say(&w, named == 0 ? "" : "; ");
            say_wait(sim, &w, r);
            named++;
        }
        waiting++;
    }
    if (waiting > named) {
        say(&w, "; and %" PRIu32 " more", waiting - named);
    }
    return hpcw_i_fail(err, HPCW_EINVAL,
                       "deadlock: expected all ranks to end, got %" PRIu32 " that wait for ever: %s", waiting,
                       w.text);
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
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "rank %" PRIu32 ": expected a wait for each isend and irecv, got %" PRIu32
                           " without one",
                           rank, r->requests.held);
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
