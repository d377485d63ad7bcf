/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/fit/log/program/meetings.h"

#include <inttypes.h>
#include <math.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

uint32_t fit_comm_of(const struct fit_history *h, uint32_t rank, const struct fit_step *step, uint32_t *place) {
    if (step->comm == 0) {
        *place = rank;
        return 0;
    }
    const struct fit_made *made = &h->rank[rank].made[step->comm - 1];
    *place = made->place;
    return made->comm;
}

/* Returns the latest arrival that a member waits for in a binomial tree. down: true, the member waits for those
 * on its path to the root; false, for those below it. */
static double wait_in_tree(const double *begin, uint32_t size, uint32_t root, uint32_t place, bool down) {
    const uint32_t slot = (place + size - root) % size;
    double last = begin[place];
    if (down) {
        for (uint32_t s = slot; s > 0;) {
            s &= s - 1;
            last = fmax(last, begin[(s + root) % size]);
        }
        return last;
    }
    const uint32_t reach = slot == 0 ? size : slot & (~slot + 1);
    for (uint32_t s = slot; s < size && s - slot < reach; s++) {
        last = fmax(last, begin[(s + root) % size]);
    }
    return last;
}

double fit_meetings_wait(const struct fit_meetings *m, uint32_t serial, uint32_t place, enum sim_call call) {
    const double *begin = m->begin + (size_t)serial * m->size;
    switch (call) {
    case SIM_CALL_BCAST:
    case SIM_CALL_SCATTER:
        return wait_in_tree(begin, m->size, m->root[serial], place, true);
    case SIM_CALL_REDUCE:
    case SIM_CALL_GATHER:
        return wait_in_tree(begin, m->size, m->root[serial], place, false);
    default:
        return m->last[serial];
    }
}

/* ---- finding them ---- */

static void find_last(struct fit_meetings *m) {
    for (uint32_t serial = 0; serial < m->calls; serial++) {
        const double *begin = m->begin + (size_t)serial * m->size;
        m->last[serial] = begin[0];
        for (uint32_t i = 1; i < m->size; i++) {
            m->last[serial] = fmax(m->last[serial], begin[i]);
        }
    }
}

static bool is_meeting(const struct fit_step *step) {
    return step->verb == FIT_MEET || step->verb == FIT_SPLIT;
}

void fit_serial_clear(const struct fit_history *h, uint32_t rank, const struct fit_steps *steps,
                      uint32_t *serial) {
    for (size_t i = 0; i < steps->count; i++) {
        uint32_t place;
        if (is_meeting(&steps->step[i])) {
            serial[fit_comm_of(h, rank, &steps->step[i], &place)] = 0;
        }
    }
}

struct finding {
    const struct fit_history *h;
    struct fit_steps *steps;
    struct fit_meetings *meetings;
    uint32_t
        *serial; /* [comms] calls of one rank; zeros between two ranks, which have few of all communicators */
    uint32_t *members; /* [comms] number of ranks whose calls have been counted */
};

static hpcw_status count_calls(struct finding *f, hpcw_error *err) {
    for (uint32_t rank = 0; rank < f->h->ranks; rank++) {
        uint32_t place;
        for (size_t i = 0; i < f->steps[rank].count; i++) {
            const struct fit_step *step = &f->steps[rank].step[i];
            if (is_meeting(step)) {
                f->serial[fit_comm_of(f->h, rank, step, &place)]++;
            }
        }
        for (size_t i = 0; i < f->steps[rank].count; i++) {
            const struct fit_step *step = &f->steps[rank].step[i];
            const uint32_t c = is_meeting(step) ? fit_comm_of(f->h, rank, step, &place) : 0;
            struct fit_meetings *m = &f->meetings[c];
            if (!is_meeting(step) || f->serial[c] == 0) {
                continue;
            }
            if (f->members[c]++ > 0 && f->serial[c] != m->calls) {
                return hpcw_i_fail(
                    err, HPCW_EINVAL,
                    "%s: expected as many collective calls of each rank of a communicator, got %" PRIu32
                    " of rank %" PRIu32 " beside %" PRIu32 ": it is not whole",
                    f->h->path, f->serial[c], rank, m->calls);
            }
            m->calls = f->serial[c];
            f->serial[c] = 0;
            m->size = f->h->comm[c].size;
        }
    }
    for (uint32_t c = 0; c < f->h->comms; c++) {
        const struct fit_meetings *m = &f->meetings[c];
        if (m->calls > 0 && f->members[c] != m->size) {
            return hpcw_i_fail(err, HPCW_EINVAL,
                               "%s: expected collective calls of all %" PRIu32
                               " ranks of a communicator, got some of %" PRIu32 ": it is not whole",
                               f->h->path, m->size, f->members[c]);
        }
    }
    return HPCW_OK;
}

static void fill(struct finding *f, bool roots) {
    for (uint32_t rank = 0; rank < f->h->ranks; rank++) {
        for (size_t i = 0; i < f->steps[rank].count; i++) {
            struct fit_step *step = &f->steps[rank].step[i];
            uint32_t place;
            if (!is_meeting(step)) {
                continue;
            }
            const uint32_t comm = fit_comm_of(f->h, rank, step, &place);
            struct fit_meetings *m = &f->meetings[comm];
            const uint32_t serial = f->serial[comm]++;
            struct fit_item *item = &f->steps[rank].item[step->first];
            if (place >= m->size) {
                continue;
            }
            if (!roots) {
                m->begin[(size_t)serial * m->size + place] = f->h->rank[rank].call[step->call_index].begin;
                m->root[serial] =
                    step->verb == FIT_MEET && item->peer != FIT_NOBODY ? item->peer : m->root[serial];
            } else if (step->verb == FIT_MEET) {
                item->peer = m->root[serial];
            }
        }
        fit_serial_clear(f->h, rank, &f->steps[rank], f->serial);
    }
}

hpcw_status fit_meetings_find(const struct fit_history *h, struct fit_steps *steps, struct fit_meetings **out,
                              hpcw_error *err) {
    struct finding f = {.h = h, .steps = steps};
    f.meetings = *out = hpcw_i_calloc(h->comms, sizeof **out);
    f.serial = hpcw_i_calloc(h->comms, sizeof *f.serial);
    f.members = hpcw_i_calloc(h->comms, sizeof *f.members);
    bool good = *out != NULL && f.serial != NULL && f.members != NULL;
    hpcw_status s = good ? count_calls(&f, err) : HPCW_OK;
    for (uint32_t c = 0; good && s == HPCW_OK && c < h->comms; c++) {
        struct fit_meetings *m = &f.meetings[c];
        m->begin = hpcw_i_calloc((size_t)m->calls * m->size + 1, sizeof *m->begin);
        m->last = hpcw_i_calloc(m->calls + (size_t)1, sizeof *m->last);
        m->root = hpcw_i_calloc(m->calls + (size_t)1, sizeof *m->root);
        good = m->begin != NULL && m->last != NULL && m->root != NULL;
    }
    if (good && s == HPCW_OK) {
        fill(&f, false);
        fill(&f, true);
        for (uint32_t c = 0; c < h->comms; c++) {
            find_last(&f.meetings[c]);
        }
    }
    hpcw_i_free(f.serial);
    hpcw_i_free(f.members);
    return good ? s : hpcw_i_fail_memory(err, "fit", h->comms, "communicators");
}

void fit_meetings_free(struct fit_meetings *meetings, uint32_t comms) {
    for (uint32_t c = 0; meetings != NULL && c < comms; c++) {
        hpcw_i_free(meetings[c].begin);
        hpcw_i_free(meetings[c].last);
        hpcw_i_free(meetings[c].root);
    }
    hpcw_i_free(meetings);
}
