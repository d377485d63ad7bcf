/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a recording. It combines the clocks, definitions and communicators of all processes and writes one
 * file. */
#include <stddef.h>
#include <string.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/comm/exchange.h"
#include "libwriter/format/clog2/file/definitions.h"
#include "libwriter/format/clog2/file/file.h"
#include "libwriter/format/clog2/log/recording.h"
#include "libwriter/format/clog2/merge/comms.h"
#include "libwriter/format/clog2/merge/merge.h"

#define BIAS (UINT64_C(1) << 63) /* maps signed words to unsigned ones and keeps their order */

/* Largest plausible drift of a clock, seconds per second. A larger one means that the comparison of clocks
 * failed. */
static const double MOST_DRIFT = 1e-3;

struct ending {
    hpcw_clog2_log *log;
    struct hpcw_i_clog2_definition *definition; /* definitions of all processes */
    uint32_t definitions, states, solos;
    struct hpcw_i_clog2_events events;
    struct hpcw_i_clog2_comms comms;
    struct hpcw_i_clog2_membership *membership;
    struct hpcw_i_clog2_origin origin;
    struct hpcw_i_buf opening;
    struct hpcw_i_clog2_chunk **first;
    struct hpcw_i_clog2_stream stream;
    double drift;
    uint32_t threads; /* largest number of threads of any process */
    uint64_t stalls;  /* number of long waits for the disk, summed over all processes */
    uint64_t files;   /* number of local files that stay after a failure, summed over all processes */
    uint64_t unsaved; /* number of threads with records that are in no local file, summed over all processes */
    hpcw_clog2_log_report report;
};

static hpcw_status no_memory(const struct ending *e, hpcw_error *err) {
    return hpcw_i_fail_memory(err, e->log->path, 0, "the merge");
}

/* ------------------------------------------------------------------------------------------------------------
 *  Exchanges between all processes
 * --------------------------------------------------------------------------------------------------------- */

static void count_unsaved(struct ending *e) {
    const hpcw_clog2_log *log = e->log;
    e->files = log->local.fd >= 0 && hpcw_i_clog2_timelines_have_events(log);
    for (uint32_t i = 0; i < log->timelines; i++) {
        e->unsaved += log->timeline[i]->unsaved || log->timeline[i]->lost > 0;
    }
}

/* Combines the lists of definitions into the longest one. Every other list must be equal to the begin of the
 * longest. */
static hpcw_status unite_definitions(struct ending *e, hpcw_error *err) {
    hpcw_clog2_log *log = e->log;
    hpcw_comm *comm = log->comm;
    uint64_t word[5] = {log->local.stalls, e->files, e->unsaved,
                        (uint64_t)log->definitions << 32 | (UINT32_MAX - (uint32_t)comm->process),
                        log->timelines};
    struct hpcw_i_words words = {.sums = 3, .maxs = 2, .word = word};
    hpcw_status s = hpcw_i_comm_allreduce(comm, &words, err);
    if (s != HPCW_OK) {
        return s;
    }
    e->stalls = word[0];
    e->files = word[1];
    e->unsaved = word[2];
    e->definitions = (uint32_t)(word[3] >> 32);
    e->threads = word[4] == 0 ? 1 : (uint32_t)word[4];
    int owner = (int)(UINT32_MAX - (uint32_t)word[3]);
    e->definition = hpcw_i_calloc((size_t)e->definitions + 1, sizeof *e->definition);
    if (e->definition == NULL) {
        s = no_memory(e, err);
    } else if (comm->process == owner && e->definitions > 0) {
        memcpy(e->definition, log->definition, e->definitions * sizeof *e->definition);
    }
    s = hpcw_i_agree(comm, s, NULL, err);
    if (s == HPCW_OK && e->definitions > 0) {
        s = hpcw_i_comm_bcast(comm, e->definition, e->definitions * sizeof *e->definition, owner, err);
    }
    for (uint32_t i = 0; s == HPCW_OK && i < log->definitions; i++) {
        if (memcmp(&log->definition[i], &e->definition[i], sizeof *e->definition) != 0) {
            s = hpcw_i_fail(
                err, HPCW_EMISMATCH,
                "%s: definition %u: expected that of process %d, \"%s\" with its colour and format, got \"%s\"",
                log->path, i, owner, e->definition[i].name, log->definition[i].name);
        }
    }
    if (s == HPCW_OK && e->stalls > 0) {
        hpcw_i_clog2_define_spill(e->definition, &e->definitions);
    }
    hpcw_i_clog2_count_definitions(e->definition, s == HPCW_OK ? e->definitions : 0, &e->states, &e->solos);
    return hpcw_i_agree(comm, s, NULL, err);
}

struct collecting {
    struct ending *ending;
    uint32_t rank;
};

static hpcw_status take_known(void *context, const uint64_t *message, size_t words, hpcw_error *err) {
    struct collecting *c = context;
    size_t count = words * sizeof *message / sizeof(struct hpcw_i_clog2_known_comm);
    return hpcw_i_clog2_comms_add(&c->ending->comms, c->rank++,
                                  (const struct hpcw_i_clog2_known_comm *)(const void *)message,
                                  (uint32_t)count, err);
}

/* Sets `peers` of each communicator: messages to ranks below `peers` are kept. A process that ran out of memory
 * does not announce that it is a member. If the announced members are exactly the lowest ranks, `peers` is their
 * number; otherwise 0. */
static hpcw_status count_peers(struct ending *e, hpcw_error *err) {
    hpcw_clog2_log *log = e->log;
    uint32_t extras = e->comms.extras, first = 1 + e->comms.ranks;
    uint64_t *word = hpcw_i_calloc(2 * (size_t)extras, sizeof *word);
    hpcw_status s = hpcw_i_agree(log->comm, word == NULL ? no_memory(e, err) : HPCW_OK, NULL, err);
    for (uint32_t i = 2; s == HPCW_OK && i < log->knowns; i++) {
        struct hpcw_i_clog2_membership *p = &e->membership[i];
        if (p->index >= 0 && p->rank >= 0) {
            /* Count this process once. It may list a communicator twice: itself, and as the local half of an
             * inter-communicator that was made from it. */
            word[(uint32_t)p->index - first] += word[extras + (uint32_t)p->index - first] == 0;
            word[extras + (uint32_t)p->index - first] = (uint64_t)p->rank + 1;
        }
    }
    struct hpcw_i_words words = {.sums = extras, .maxs = extras, .word = word};
    s = s == HPCW_OK ? hpcw_i_comm_allreduce(log->comm, &words, err) : s;
    for (uint32_t i = 2; s == HPCW_OK && i < log->knowns; i++) {
        struct hpcw_i_clog2_membership *p = &e->membership[i];
        if (p->index >= 0) {
            uint64_t members = word[(uint32_t)p->index - first],
                     end = word[extras + (uint32_t)p->index - first];
            p->peers = members == end ? (int32_t)end : 0;
        }
    }
    hpcw_i_free(word);
    return s;
}

/* Combines the communicators of all processes. Process 0 collects them, then broadcasts all except the world and
 * those of single ranks. */
static hpcw_status unite_comms(struct ending *e, hpcw_error *err) {
    hpcw_clog2_log *log = e->log;
    hpcw_comm *comm = log->comm;
    bool root = comm->process == 0;
    struct collecting c = {.ending = e};
    _Static_assert(sizeof *log->known % sizeof(uint64_t) == 0, "travels as words");
    e->comms.ranks = (uint32_t)comm->size;
    e->comms.leaders = true;
    hpcw_status s =
        hpcw_i_comm_collect(comm, 0, (const uint64_t *)(const void *)log->known,
                            log->knowns * sizeof *log->known / sizeof(uint64_t), take_known, &c, err);
    if (s == HPCW_OK && root) {
        s = hpcw_i_clog2_comms_settle(&e->comms, err);
    }
    uint64_t extras = root ? e->comms.extras : 0;
    struct hpcw_i_words words = {.maxs = 1, .word = &extras};
    s = hpcw_i_agree(comm, s, &words, err);
    if (s == HPCW_OK && !root) {
        e->comms.extras = (uint32_t)extras;
        e->comms.extra = hpcw_i_calloc((size_t)extras + 1, sizeof *e->comms.extra);
        s = e->comms.extra == NULL ? no_memory(e, err) : HPCW_OK;
    }
    s = hpcw_i_agree(comm, s, NULL, err);
    if (s == HPCW_OK && extras > 0) {
        s = hpcw_i_comm_bcast(comm, e->comms.extra, (size_t)extras * sizeof *e->comms.extra, 0, err);
    }
    if (s == HPCW_OK && !root) {
        s = hpcw_i_clog2_comms_settle(&e->comms, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_i_clog2_comms_memberships(&e->comms, (uint32_t)comm->process, log->known, log->knowns,
                                           &e->membership, err);
    }
    s = hpcw_i_agree(comm, s, NULL, err);
    return s == HPCW_OK && e->comms.extras > 0 ? count_peers(e, err) : s;
}

/* ------------------------------------------------------------------------------------------------------------
 *  Time
 * --------------------------------------------------------------------------------------------------------- */

static hpcw_status compare_clocks(struct ending *e, hpcw_error *err) {
    struct hpcw_i_clog2_ticks *t = &e->log->clocks.ticks;
    return hpcw_i_clog2_sync(e->log, &t->end_at, &t->end_offset, &t->end_round_trip, err);
}

/* Returns the true length, in seconds, of a second of this process's clock. The tick length measured at the begin
 * is only rough. */
static double clock_factor(const hpcw_clog2_log *log) {
    const struct hpcw_i_clog2_ticks *t = &log->clocks.ticks;
    if (log->clocks.kind != HPCW_CLOG2_CLOCK_COUNTER) {
        return 1;
    }
    struct hpcw_i_clog2_reading now = hpcw_i_clog2_read_both(log);
    double factor = (double)(now.system_ns - t->system_base_ns) / ((double)(now.ticks - t->base) * t->ns);
    return factor > 0.9 && factor < 1.1 ? factor : 1;
}

/* Sets the correction of the clock: at local time t, process 0's clock shows t + begin_offset + drift * (t -
 * begin_at). Time zero is a microsecond before the first process was ready, so that all records come after the
 * opening records, which have time 0. */
static hpcw_status correct_clock(struct ending *e, hpcw_error *err) {
    hpcw_clog2_log *log = e->log;
    struct hpcw_i_clog2_ticks *t = &log->clocks.ticks;
    double span = (double)(t->end_at - t->begin_at);
    double offset = (double)t->begin_offset;
    e->drift = span > 0 ? (double)(t->end_offset - t->begin_offset) / span : 0;
    if (!(e->drift > -MOST_DRIFT && e->drift < MOST_DRIFT)) {
        e->drift = 0;
        offset = ((double)t->begin_offset + (double)t->end_offset) / 2;
    }
    double start = offset - e->drift * (double)t->begin_at;
    double factor = clock_factor(log);
    uint64_t zero = (uint64_t)((int64_t)start - 1000) ^ BIAS;
    struct hpcw_i_words words = {.mins = 1, .word = &zero};
    hpcw_status s = hpcw_i_comm_allreduce(log->comm, &words, err);
    if (s == HPCW_OK) {
        s = hpcw_i_comm_bcast(log->comm, &factor, sizeof factor, 0, err);
    }
    double shift = start - (double)(int64_t)(zero ^ BIAS);
    e->origin.base = t->base;
    e->origin.scale = t->ns * (1 + e->drift) * factor * 1e-9;
    e->origin.shift = shift * factor * 1e-9;
    double now = (double)(hpcw_i_clog2_clock_ticks(log) - t->base) * e->origin.scale + e->origin.shift;
    if (s == HPCW_OK && !(now < HPCW_CLOG2_LAST)) {
        s = hpcw_i_fail(err, HPCW_ERANGE, "%s: expected a recording of less than 1e8 s, got %g", log->path,
                        now);
    }
    return hpcw_i_agree(log->comm, s, NULL, err);
}

/* ------------------------------------------------------------------------------------------------------------
 *  Records
 * --------------------------------------------------------------------------------------------------------- */

static hpcw_status gather_records(struct ending *e, hpcw_error *err) {
    hpcw_clog2_log *log = e->log;
    struct hpcw_i_clog2_origin *o = &e->origin;
    uint32_t rank = (uint32_t)log->comm->process;
    o->rank = rank;
    o->membership = e->membership;
    o->memberships = log->knowns;
    o->fd = log->local.fd;
    o->local = log->local.path == NULL ? log->path : log->local.path;
    e->events.ranks = (uint32_t)log->comm->size;
    e->first = hpcw_i_calloc((size_t)log->timelines + 1, sizeof *e->first);
    hpcw_status s = e->first == NULL ? no_memory(e, err)
                                     : hpcw_i_clog2_events_make(&e->events, e->definition, e->definitions, err);
    for (uint32_t i = 0; s == HPCW_OK && i < log->timelines; i++) {
        e->first[i] = log->timeline[i]->first;
    }
    if (s == HPCW_OK && !hpcw_i_clog2_opening_records(&e->opening, rank, rank == 0, o->shift, &log->known[0].id,
                                                      &log->known[1].id, e->definition, e->definitions)) {
        s = no_memory(e, err);
    }
    o->first = e->first;
    o->timelines = s == HPCW_OK ? log->timelines : 0;
    o->encoded = e->opening.data;
    o->encoded_size = e->opening.size;
    return s == HPCW_OK ? hpcw_i_clog2_stream_begin(&e->stream, &e->events, o, 1, err) : s;
}

static hpcw_status write_log(struct ending *e, hpcw_error *err) {
    hpcw_clog2_log *log = e->log;
    hpcw_clog2_options o;
    hpcw_clog2_options_init(&o);
    o.ranks = (uint32_t)log->comm->size;
    o.threads = e->threads;
    o.states = e->states;
    o.solos = e->solos;
    o.block_size = log->options.block_size;
    o.comms = 1 + e->comms.ranks + e->comms.extras;
    o.comm_of = hpcw_i_clog2_comms_entry;
    o.comm_context = &e->comms;
    o.durability = log->options.durability;
    o.sink_source = log->options.sink_source;
    hpcw_status s = hpcw_i_agree(log->comm, gather_records(e, err), NULL, err);
    hpcw_clog2 *file = NULL;
    if (s == HPCW_OK) {
        struct hpcw_i_clog2_place late = {0};
        if (log->start != NULL) {
            /* if this fails, the open below fails, too, and reports why */
            (void)hpcw_i_dir_hold_from(log->start, log->path, &late.dir);
        }
        s = hpcw_i_clog2_open_at(log->start == NULL ? &log->place : &late, log->path, log->comm, &o, &file,
                                 err);
        hpcw_i_dir_release(late.dir);
    }
    if (s == HPCW_OK) {
        uint64_t blocks = 0;
        s = hpcw_i_clog2_merge(file, log->comm, &e->stream, &blocks, err);
        if (s != HPCW_OK) {
            hpcw_clog2_abandon(file, err);
        }
        s = hpcw_clog2_close(file, blocks, err);
    }
    hpcw_clog2_free(file);
    return s;
}

/* ------------------------------------------------------------------------------------------------------------
 *  The whole finish
 * --------------------------------------------------------------------------------------------------------- */

static hpcw_status fill_report(struct ending *e, hpcw_error *err) {
    hpcw_clog2_log_report *report = &e->report;
    const hpcw_clog2_log *log = e->log;
    const struct hpcw_i_clog2_ticks *t = &log->clocks.ticks;
    *report = (hpcw_clog2_log_report){
        .records = e->stream.records,
        .undefined = e->stream.undefined,
        .end_alone = e->stream.end_alone,
        .start_alone = e->stream.start_alone,
        .bad_cargo = e->stream.bad_cargo,
        .spilled = log->local.spilled,
        .stalls = log->local.stalls,
        .disk = log->local.disk,
        .begin_offset_ns = t->begin_offset,
        .end_offset_ns = t->end_offset,
        .begin_round_trip_ns = t->begin_round_trip,
        .end_round_trip_ns = t->end_round_trip,
        .drift = e->drift,
        .same_clock = log->clocks.own == 0,
        .clock = log->clocks.kind,
        .tick_ns = t->ns,
    };
    for (uint32_t i = 0; i < log->timelines; i++) {
        report->lost += log->timeline[i]->lost;
        report->unsaved += log->timeline[i]->unsaved;
    }
    /* Gives all processes the first failure of a local file. It is only reported: the log itself is complete. */
    (void)hpcw_i_agree(log->comm, report->disk.code, NULL, &report->disk);
    /* The first fields of the report, up to `disk`, are numbers. Add them up over all processes. */
    struct hpcw_i_words words = {.sums = offsetof(hpcw_clog2_log_report, disk) / sizeof(uint64_t),
                                 .word = (uint64_t *)(void *)report};
    return hpcw_i_comm_allreduce(log->comm, &words, err);
}

hpcw_status hpcw_clog2_log_finish(hpcw_clog2_log *log, hpcw_clog2_log_report *report, hpcw_error *err) {
    hpcw_error local;
    err = err == NULL ? &local : err;
    if (log == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "clog2 log: expected a recording, got NULL");
    }
    static hpcw_status (*const step[])(struct ending *, hpcw_error *) = {
        compare_clocks, unite_definitions, unite_comms, correct_clock, write_log, fill_report};
    struct ending e = {.log = log};
    hpcw_status s = hpcw_i_agree(
        log->comm,
        log->finished ? hpcw_i_fail(err, HPCW_ESTATE, "%s: the recording has ended", log->path) : HPCW_OK, NULL,
        err);
    if (s != HPCW_OK) {
        return s;
    }
    hpcw_i_clog2_timelines_stop(log);
    count_unsaved(&e);
    for (size_t i = 0; s == HPCW_OK && i < sizeof step / sizeof step[0]; i++) {
        s = step[i](&e, err);
    }
    if (s == HPCW_OK) {
        hpcw_i_clog2_local_close(log, true);
    } else {
        hpcw_i_clog2_local_hint(log, e.files, e.unsaved, err);
    }
    if (s == HPCW_OK && report != NULL) {
        *report = e.report;
    }
    hpcw_i_clog2_stream_free(&e.stream);
    hpcw_i_clog2_events_free(&e.events);
    hpcw_i_clog2_comms_free(&e.comms);
    hpcw_i_buf_free(&e.opening);
    hpcw_i_free(e.first);
    hpcw_i_free(e.membership);
    hpcw_i_free(e.definition);
    return s;
}
