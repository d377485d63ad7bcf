/* SPDX-License-Identifier: BSD-3-Clause */
/* Definitions that a program makes while it records: states, events, communicators. */
#include "libwriter/format/clog2/log/recording.h"

#include <string.h>
#include <unistd.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/format/clog2/file/records.h"
#include "libwriter/io/sink.h"

/* ------------------------------------------------------------------------------------------------------------
 *  Definitions
 * --------------------------------------------------------------------------------------------------------- */

static bool is_same(const struct hpcw_i_clog2_definition *a, const struct hpcw_i_clog2_definition *b) {
    return memcmp(a, b, sizeof *a) == 0;
}

/* Stores a definition. The caller holds the lock. */
static hpcw_status store(hpcw_clog2_log *log, const struct hpcw_i_clog2_definition *d, hpcw_error *err) {
    struct hpcw_i_clog2_definition *grown =
        hpcw_i_realloc(log->definition, ((size_t)log->definitions + 1) * sizeof *grown);
    if (grown == NULL) {
        return hpcw_i_fail_memory(err, log->path, 0, "a definition");
    }
    log->definition = grown;
    grown[log->definitions++] = *d;
    hpcw_i_clog2_local_note(log);
    return HPCW_OK;
}

static hpcw_status prepare(const hpcw_clog2_log *log, const char *name, const char *colour, const char *format,
                           struct hpcw_i_clog2_definition *d, hpcw_error *err) {
    if (log == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "clog2 log: expected a recording, got NULL");
    }
    hpcw_status s = hpcw_i_clog2_labels_check(colour, name, format, err);
    if (s != HPCW_OK) {
        hpcw_i_fail_about(err, log->path);
        return s;
    }
    memset(d, 0, sizeof *d);
    memcpy(d->colour, colour, strlen(colour));
    memcpy(d->name, name, strlen(name));
    memcpy(d->format, format == NULL ? "" : format, format == NULL ? 0 : strlen(format));
    return HPCW_OK;
}

/* Defines a state or solo event of the user, which gets the next number of its kind. */
static hpcw_status define(hpcw_clog2_log *log, bool state, const char *name, const char *colour,
                          const char *format, int32_t *number, hpcw_error *err) {
    const char *what = state ? "states" : "solo events";
    uint32_t most = state ? HPCW_CLOG2_STATES : HPCW_CLOG2_SOLOS;
    struct hpcw_i_clog2_definition d;
    hpcw_status s = prepare(log, name, colour, format, &d, err);
    if (s == HPCW_OK && number == NULL) {
        s = hpcw_i_fail(err, HPCW_EINVAL, "%s: %s: expected a pointer for the number, got NULL", log->path,
                        what);
    }
    if (s != HPCW_OK) {
        return s;
    }
    (void)pthread_mutex_lock(&log->lock);
    uint32_t *count = state ? &log->states : &log->solos;
    d.kind = state ? HPCW_CLOG2_STATE_DEF : HPCW_CLOG2_EVENT_DEF;
    d.number = (state ? HPCW_CLOG2_USER_STATE : HPCW_CLOG2_USER_SOLO) + (int32_t)*count;
    s = *count == most ? hpcw_i_fail(err, HPCW_ERANGE, "%s: expected at most %u %s, got one more, \"%s\"",
                                     log->path, most, what, name)
                       : store(log, &d, err);
    if (s == HPCW_OK) {
        ++*count;
        *number = d.number;
    }
    (void)pthread_mutex_unlock(&log->lock);
    return s;
}

hpcw_status hpcw_clog2_log_state(hpcw_clog2_log *log, const char *name, const char *colour, const char *format,
                                 int32_t *state, hpcw_error *err) {
    return define(log, true, name, colour, format, state, err);
}

static hpcw_status prepare_known(const hpcw_clog2_log *log, int32_t state, const char *name, const char *colour,
                                 const char *format, struct hpcw_i_clog2_definition *d, hpcw_error *err) {
    hpcw_status s = prepare(log, name, colour, format, d, err);
    if (s != HPCW_OK) {
        return s;
    }
    if (state < 0 || state >= HPCW_CLOG2_USER_STATE) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: known state: expected 0 to %d, got %d", log->path,
                           HPCW_CLOG2_USER_STATE - 1, (int)state);
    }
    d->kind = HPCW_CLOG2_STATE_DEF;
    d->number = state;
    return HPCW_OK;
}

hpcw_status hpcw_clog2_log_known_state(hpcw_clog2_log *log, int32_t state, const char *name, const char *colour,
                                       const char *format, hpcw_error *err) {
    struct hpcw_i_clog2_definition d;
    hpcw_status s = prepare_known(log, state, name, colour, format, &d, err);
    if (s != HPCW_OK) {
        return s;
    }
    (void)pthread_mutex_lock(&log->lock);
    bool there = false;
    for (uint32_t i = 0; s == HPCW_OK && !there && i < log->definitions; i++) {
        const struct hpcw_i_clog2_definition *other = &log->definition[i];
        there = other->kind == d.kind && other->number == state;
        if (there && !is_same(other, &d)) {
            s = hpcw_i_fail(err, HPCW_EINVAL,
                            "%s: known state %d: expected the same definition as before, \"%s\", got \"%s\"",
                            log->path, (int)state, other->name, name);
        }
    }
    if (!there) {
        s = store(log, &d, err);
    }
    (void)pthread_mutex_unlock(&log->lock);
    return s;
}

hpcw_status hpcw_clog2_log_offer_state(hpcw_clog2_log *log, int32_t state, const char *name, const char *colour,
                                       const char *format, hpcw_error *err) {
    struct hpcw_i_clog2_definition d;
    hpcw_status s = prepare_known(log, state, name, colour, format, &d, err);
    if (s == HPCW_OK) {
        (void)pthread_mutex_lock(&log->lock);
        hpcw_i_clog2_local_offer(log, &d);
        (void)pthread_mutex_unlock(&log->lock);
    }
    return s;
}

hpcw_status hpcw_clog2_log_solo(hpcw_clog2_log *log, const char *name, const char *colour, const char *format,
                                int32_t *event, hpcw_error *err) {
    return define(log, false, name, colour, format, event, err);
}

/* ------------------------------------------------------------------------------------------------------------
 *  Communicators
 * --------------------------------------------------------------------------------------------------------- */

bool hpcw_i_clog2_add_known(hpcw_clog2_log *log, const hpcw_clog2_comm_id *id, hpcw_clog2_comm_kind kind,
                            uint32_t rank) {
    struct hpcw_i_clog2_known_comm *grown =
        hpcw_i_realloc(log->known, ((size_t)log->knowns + 1) * sizeof *log->known);
    if (grown == NULL) {
        return false;
    }
    log->known = grown;
    struct hpcw_i_clog2_known_comm *k = &grown[log->knowns++];
    memset(k, 0, sizeof *k); /* the padding is written to a file, and an assignment may leave it undefined */
    k->id.random = id->random;
    k->id.created = id->created;
    memcpy(k->id.host, id->host, sizeof k->id.host);
    k->kind = (int32_t)kind;
    k->rank = rank;
    return true;
}

void hpcw_clog2_log_comm_id(hpcw_clog2_log *log, hpcw_clog2_comm_id *id) {
    memset(id, 0, sizeof *id);
    uint64_t tag = hpcw_i_sink_random();
    (void)pthread_mutex_lock(&log->lock);
    log->ids_made++;
    /* `random` is never 0, as 0 means no communicator. `created` differs for any two identities that one process
     * makes. */
    id->random = (int32_t)((uint32_t)(tag >> 33) | 1u);
    id->created = (double)log->ids_made + (double)(tag & 0xffff) / 65536;
    (void)pthread_mutex_unlock(&log->lock);
    char host[256] = "";
    (void)gethostname(host, sizeof host - 1);
    memcpy(id->host, host, sizeof id->host);
}

hpcw_status hpcw_clog2_log_comm(hpcw_clog2_timeline *timeline, uint32_t parent, hpcw_clog2_comm_kind kind,
                                const hpcw_clog2_comm_id *id, uint32_t rank, uint32_t *comm, hpcw_error *err) {
    if (timeline == NULL || id == NULL || comm == NULL || (unsigned)kind > HPCW_CLOG2_REMOTE_HALF) {
        return hpcw_i_fail(
            err, HPCW_EINVAL,
            "clog2 log: expected a timeline, a known kind, an identity and a pointer for the number");
    }
    hpcw_clog2_log *log = hpcw_i_clog2_inner(timeline)->log;
    hpcw_status s = HPCW_OK;
    (void)pthread_mutex_lock(&log->lock);
    if (parent >= log->knowns || rank >= log->ranks) {
        s = hpcw_i_fail(err, HPCW_EINVAL,
                        "%s: communicator: expected a known parent and a rank below %u, got %u and %u",
                        log->path, log->ranks, parent, rank);
    } else if (log->knowns == HPCW_I_CLOG2_MOST_COMMS) {
        s = hpcw_i_fail(err, HPCW_ERANGE, "%s: expected at most %d communicators, got one more", log->path,
                        HPCW_I_CLOG2_MOST_COMMS);
    } else if (!hpcw_i_clog2_add_known(log, id, kind, rank)) {
        s = hpcw_i_fail_memory(err, log->path, 0, "a communicator");
    } else {
        *comm = log->knowns - 1;
        hpcw_i_clog2_local_note(log);
    }
    (void)pthread_mutex_unlock(&log->lock);
    if (s == HPCW_OK) {
        hpcw_clog2_timeline_put(timeline, hpcw_clog2_timeline_clock(timeline),
                                hpcw_clog2_timeline_word(HPCW_CLOG2_COMM_EVENT, parent, (int32_t)*comm));
    }
    return s;
}

hpcw_status hpcw_clog2_log_comm_identity(hpcw_clog2_timeline *timeline, uint32_t comm, hpcw_clog2_comm_id *id,
                                         hpcw_error *err) {
    if (timeline == NULL || id == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "clog2 log: expected a timeline and a pointer for the identity");
    }
    hpcw_clog2_log *log = hpcw_i_clog2_inner(timeline)->log;
    hpcw_status s = HPCW_OK;
    (void)pthread_mutex_lock(&log->lock);
    if (comm < log->knowns) {
        *id = log->known[comm].id;
    } else {
        s = hpcw_i_fail(err, HPCW_EINVAL, "%s: expected a communicator below %u, got %u", log->path,
                        log->knowns, comm);
    }
    (void)pthread_mutex_unlock(&log->lock);
    return s;
}

hpcw_status hpcw_clog2_log_comm_of(hpcw_clog2_timeline *timeline, uint32_t parent, hpcw_comm *members,
                                   uint32_t *comm, hpcw_error *err) {
    hpcw_error local;
    err = err == NULL ? &local : err;
    members = hpcw_i_comm_or_self(members);
    hpcw_clog2_comm_id id = {0};
    hpcw_status s =
        timeline == NULL ? hpcw_i_fail(err, HPCW_EINVAL, "clog2 log: expected a timeline, got NULL") : HPCW_OK;
    if (s == HPCW_OK) {
        hpcw_clog2_log_comm_id(hpcw_i_clog2_inner(timeline)->log, &id);
    }
    s = hpcw_i_agree(members, s, NULL, err);
    if (s == HPCW_OK) {
        s = hpcw_i_comm_bcast(members, &id, sizeof id, 0, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_clog2_log_comm(timeline, parent, HPCW_CLOG2_INTRA, &id, (uint32_t)members->process, comm, err);
    }
    return hpcw_i_agree(members, s, NULL, err);
}
