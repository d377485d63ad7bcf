/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/format/clog2_log.h"

#include <string.h>

#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/rng.h"
#include "libwriter/base/status.h"

/* ---- states ---- */

/* Calls in the order of their state numbers in MPE's MPI wrapper. Readers know these numbers. The cargo formats
 * are also those of the wrapper. */
#define MOVED "sent=%l, received=%l"
static const struct log_call {
    enum sim_call call;
    int32_t number;
    const char *name, *colour, *format;
} calls[] = {
    {SIM_CALL_ALLGATHER, 0, "MPI_Allgather", "purple3", MOVED},
    {SIM_CALL_ALLGATHERV, 1, "MPI_Allgatherv", "purple3", MOVED},
    {SIM_CALL_ALLREDUCE, 2, "MPI_Allreduce", "purple", MOVED},
    {SIM_CALL_ALLTOALL, 3, "MPI_Alltoall", "DarkViolet", "send_msg_sz/p=%d, recv_msg_sz/p=%d."},
    {SIM_CALL_ALLTOALLV, 4, "MPI_Alltoallv", "DarkViolet", MOVED},
    {SIM_CALL_BARRIER, 5, "MPI_Barrier", "yellow", NULL},
    {SIM_CALL_BCAST, 6, "MPI_Bcast", "cyan", MOVED},
    {SIM_CALL_GATHER, 7, "MPI_Gather", "white", MOVED},
    {SIM_CALL_GATHERV, 8, "MPI_Gatherv", "white", MOVED},
    {SIM_CALL_REDUCE, 12, "MPI_Reduce", "MediumPurple", MOVED},
    {SIM_CALL_SCATTER, 14, "MPI_Scatter", "orchid", MOVED},
    {SIM_CALL_SCATTERV, 15, "MPI_Scatterv", "orchid", MOVED},
    {SIM_CALL_DUP, 21, "MPI_Comm_dup", "OliveDrab1", NULL},
    {SIM_CALL_SPLIT, 28, "MPI_Comm_split", "DarkOliveGreen2", NULL},
    {SIM_CALL_IRECV, 70, "MPI_Irecv", "PaleGreen", NULL},
    {SIM_CALL_ISEND, 72, "MPI_Isend", "SkyBlue", NULL},
    {SIM_CALL_RECV, 77, "MPI_Recv", "green", NULL},
    {SIM_CALL_SEND, 80, "MPI_Send", "blue", NULL},
    {SIM_CALL_SENDRECV, 81, "MPI_Sendrecv", "SeaGreen", NULL},
    {SIM_CALL_WAIT, 105, "MPI_Wait", "red", NULL},
    {SIM_CALL_WAITALL, 106, "MPI_Waitall", "OrangeRed", NULL},
    {SIM_CALL_WAITANY, 107, "MPI_Waitany", "coral", NULL},
    {SIM_CALL_FILE_OPEN, 128, "MPI_File_open", "HotPink", NULL},
    {SIM_CALL_FILE_CLOSE, 129, "MPI_File_close", "pink", NULL},
    {SIM_CALL_FILE_READ, 146, "MPI_File_read", "CornflowerBlue", NULL},
    {SIM_CALL_FILE_WRITE, 148, "MPI_File_write", "LawnGreen", NULL},
    {SIM_CALL_CHECKPOINT, HPCW_CLOG2_USER_STATE + 1, "Checkpoint", "firebrick", "bytes=%l"},
};
enum {
    CALLS = sizeof calls / sizeof calls[0],
    COMPUTE = HPCW_CLOG2_USER_STATE,
    OWN_STATES = 2, /* the states Compute and Checkpoint, before those of the workload */
    FIRST_STATE = HPCW_CLOG2_USER_STATE + OWN_STATES,
    PHASE = HPCW_CLOG2_USER_SOLO
};
_Static_assert(CALLS == (int)SIM_CALLS, "a state for each call");

/* Colours of the workload's states. They are used in turn. */
static const char *const colours[] = {"gold",   "HotPink",   "BlueViolet", "DarkOrange",
                                      "gray40", "turquoise", "tan",        "maroon"};
enum { COLOURS = sizeof colours / sizeof colours[0] };

static const char *const constant_name[] = {"MPI_PROC_NULL", "MPI_ANY_SOURCE", "MPI_ANY_TAG"};
static const int32_t constant_value[] = {-2, -1, -1};
enum { CONSTANTS = 3, FIRST_RECORDS = 3 };

/* Like the wrapper, defines only the calls that occur in the log. */
static bool is_defined(const struct gen_dataset *d, const struct log_call *c) {
    return c->call == SIM_CALL_CHECKPOINT || (d->workload->counts.calls >> c->call & 1) != 0;
}

static uint32_t definitions(const struct gen_dataset *d) {
    uint32_t count = CONSTANTS + 2 + d->workload->states; /* Compute and the end of a phase are the other two */
    for (size_t i = 0; i < CALLS; i++) {
        count += is_defined(d, &calls[i]);
    }
    return count;
}

/* ---- communicators: the world, one for each rank alone, then those that the program makes ---- */

/* The communicator with rank r alone is created at CREATED_NS + 1 + r, ns. */
enum { CREATED_NS = 1000 };

/* Returns the id of the n-th communicator of a rank. For the world, rank is UINT32_MAX and number is 0. */
static hpcw_clog2_comm_id make_id(const struct gen_dataset *d, uint32_t rank, uint32_t number,
                                  uint64_t created_ns) {
    char host[MODEL_HOST_SIZE];
    uint32_t w[4];
    const uint32_t root = rank == UINT32_MAX ? 0 : rank;
    hpcw_i_draw(d->seed, HPCW_I_FOR_LOG_COMM, rank, number, 0, w);
    model_machine_host(&d->machine, model_machine_node(&d->machine, root), host);
    hpcw_clog2_comm_id id = {.random = (int32_t)(w[0] >> 1), .created = (double)created_ns / 1e9};
    memcpy(id.host, host, strnlen(host, sizeof id.host));
    return id;
}

static void comm_of(void *context, uint32_t index, hpcw_clog2_comm_entry *entry) {
    const struct gen_dataset *d = context;
    *entry = (hpcw_clog2_comm_entry){.index = (int32_t)index, .kind = 1};
    if (index == 0) {
        entry->id = make_id(d, UINT32_MAX, 0, 0);
    } else if (index <= d->ranks) {
        /* The time contains the number of the rank, so ids differ even if equal random numbers are drawn. */
        entry->id = make_id(d, index - 1, 0, CREATED_NS + index);
    } else {
        const struct gen_workload_comm *c = &d->workload->comm[index - d->ranks - 1];
        entry->id = make_id(d, c->leader, c->count + 1, c->created_ns + d->clocks.start_ns);
    }
}

/* ---- sizes ---- */

hpcw_clog2_options gen_clog2_log_options(const struct gen_dataset *d) {
    hpcw_clog2_options o;
    hpcw_clog2_options_init(&o);
    o.ranks = d->ranks;
    o.states = OWN_STATES + d->workload->states;
    o.solos = 1;
    o.comms = d->ranks + 1 + (uint32_t)d->workload->comms;
    o.comm_of = comm_of;
    o.comm_context = (void *)(uintptr_t)d;
    return o;
}

uint64_t gen_clog2_log_records(const struct gen_dataset *d) {
    return (uint64_t)FIRST_RECORDS * d->ranks + definitions(d) + d->workload->counts.events;
}

uint64_t gen_clog2_log_blocks(const struct gen_dataset *d, uint32_t block_size) {
    const struct gen_workload_counts *c = &d->workload->counts;
    const double bytes = 176.0 * d->ranks + 136.0 * definitions(d) + 32.0 * (double)c->events +
                         16.0 * (double)c->messages + 32.0 * (double)c->cargos + 40.0 * (double)c->members;
    /* Includes the mean loss at the ends of blocks and segments. */
    const double segments = (double)gen_clog2_log_records(d) / HPCW_CLOG2_SEGMENT;
    return (uint64_t)(bytes / (block_size - 24.0 - 24.0) + 0.5 * segments) + 1;
}

/* ---- the prologue ---- */

static hpcw_status put_rank(hpcw_clog2_slice *slice, const struct gen_dataset *d, uint32_t rank,
                            hpcw_error *err) {
    hpcw_clog2_comm_entry entry[2];
    hpcw_clog2_record record[FIRST_RECORDS] = {
        {.rank = (int32_t)rank, .kind = HPCW_CLOG2_TIME_SHIFT, .as.shift = -0.0}};
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t comm = i == 0 ? 0 : rank + 1;
        comm_of((void *)(uintptr_t)d, comm, &entry[i]);
        hpcw_clog2_record *r = &record[1 + i];
        r->rank = (int32_t)rank;
        r->kind = HPCW_CLOG2_COMM_EVENT;
        r->as.comm.event = i == 0 ? HPCW_CLOG2_WORLD_CREATE : HPCW_CLOG2_SELF_CREATE;
        r->as.comm.comm = (int32_t)comm;
        r->as.comm.rank = i == 0 ? (int32_t)rank : 0;
        r->as.comm.world_rank = (int32_t)rank;
        r->as.comm.id = &entry[i].id;
    }
    return hpcw_clog2_slice_put(slice, record, FIRST_RECORDS, err);
}

static hpcw_status put_state(hpcw_clog2_slice *slice, int32_t number, const char *name, const char *colour,
                             const char *format, hpcw_error *err) {
    const hpcw_clog2_record r = {.kind = HPCW_CLOG2_STATE_DEF,
                                 .as.state = {.state = number,
                                              .start = 2 * number,
                                              .end = 2 * number + 1,
                                              .colour = colour,
                                              .name = name,
                                              .format = format}};
    return hpcw_clog2_slice_put(slice, &r, 1, err);
}

static hpcw_status put_definitions(hpcw_clog2_slice *slice, const struct gen_dataset *d, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    for (size_t i = 0; s == HPCW_OK && i < CONSTANTS; i++) {
        const hpcw_clog2_record r = {.kind = HPCW_CLOG2_CONST_DEF,
                                     .as.constant = {.value = constant_value[i], .name = constant_name[i]}};
        s = hpcw_clog2_slice_put(slice, &r, 1, err);
    }
    for (size_t i = 0; s == HPCW_OK && i < CALLS; i++) {
        const struct log_call *c = &calls[i];
        if (c->call == SIM_CALL_CHECKPOINT) {
            s = put_state(slice, COMPUTE, "Compute", "SteelBlue", NULL, err);
        }
        if (s == HPCW_OK && is_defined(d, c)) {
            s = put_state(slice, c->number, c->name, c->colour, c->format, err);
        }
    }
    for (uint32_t i = 0; s == HPCW_OK && i < d->workload->states; i++) {
        s = put_state(slice, FIRST_STATE + (int32_t)i, d->workload->state[i], colours[i % COLOURS], NULL, err);
    }
    if (s == HPCW_OK) {
        const hpcw_clog2_record r = {
            .kind = HPCW_CLOG2_EVENT_DEF,
            .as.solo = {.event = PHASE, .colour = "white", .name = "Phase done", .format = "phase=%d"}};
        s = hpcw_clog2_slice_put(slice, &r, 1, err);
    }
    return s;
}

hpcw_status gen_clog2_log_put_prologue(hpcw_clog2_slice *slice, const struct gen_dataset *d, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    for (uint32_t r = 0; s == HPCW_OK && r < d->ranks; r++) {
        s = put_rank(slice, d, r, err);
        s = s == HPCW_OK && r == 0 ? put_definitions(slice, d, err) : s;
    }
    return s;
}

/* ---- events, sorted by time ---- */

/* LEAST_DUE: fewest stored events that are sorted, since each sort reads all of them, even those that stay
 * stored. BATCH: records put at once. AHEAD: prefetch distance. DIGIT_BITS, DIGITS: radix sort. */
enum { LEAST_DUE = 1 << 16, BATCH = 256, AHEAD = 16, DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

/* Key by which an event is sorted, and index of the event. */
struct log_key {
    uint64_t time_ns;
    uint32_t rank, index;
};

struct gen_clog2_log {
    const struct gen_dataset *d;
    hpcw_clog2_slice *slice;
    struct sim_event *event; /* [events] events not yet in the log; those of one rank are in order */
    size_t events, capacity;
    struct log_key *key, *other; /* [key_capacity] */
    size_t key_capacity;
    int32_t number[SIM_CALLS]; /* state number of each call */
    uint32_t *comm;            /* [comms] index in workload->comm of communicator i + 1 */
    size_t comms;
    /* rank's place in a communicator, for the key `communicator number << 32 | rank` */
    struct hpcw_i_table place;
    hpcw_clog2_comm_entry *entry; /* [comms] */
    hpcw_clog2_record record[BATCH];
};

hpcw_status gen_clog2_log_new(const struct gen_dataset *d, hpcw_clog2_slice *slice, struct gen_clog2_log **out,
                              hpcw_error *err) {
    struct gen_clog2_log *log = hpcw_i_calloc(1, sizeof *log);
    *out = log;
    if (log == NULL) {
        return hpcw_i_fail_memory(err, "clog2", 0, NULL);
    }
    log->d = d;
    log->slice = slice;
    log->comms = d->workload->comms;
    log->place = (struct hpcw_i_table){.key_words = 1, .value_size = sizeof(uint64_t)};
    log->comm = hpcw_i_calloc(log->comms + 1, sizeof *log->comm);
    log->entry = hpcw_i_calloc(log->comms + 1, sizeof *log->entry);
    if (log->comm == NULL || log->entry == NULL) {
        return hpcw_i_fail_memory(err, "clog2", log->comms, "communicators");
    }
    for (size_t i = 0; i < log->comms; i++) {
        comm_of((void *)(uintptr_t)d, (uint32_t)i + d->ranks + 1, &log->entry[i]);
    }
    for (size_t i = 0; i < CALLS; i++) {
        log->number[calls[i].call] = calls[i].number;
    }
    return HPCW_OK;
}

void gen_clog2_log_free(struct gen_clog2_log *log) {
    if (log != NULL) {
        hpcw_i_free(log->event);
        hpcw_i_free(log->key);
        hpcw_i_free(log->other);
        hpcw_i_free(log->comm);
        hpcw_i_free(log->entry);
        hpcw_i_table_free(&log->place);
        hpcw_i_free(log);
    }
}

/* Adds an event with the time that its rank's clock shows. */
static hpcw_status add(struct gen_clog2_log *log, const struct sim_event *event, uint64_t time_ns,
                       hpcw_error *err) {
    const struct gen_clocks *c = &log->d->clocks;
    if (log->events == log->capacity) {
        struct sim_event *grown = hpcw_i_grow(log->event, &log->capacity, log->events + 1, sizeof *grown);
        if (grown == NULL) {
            return hpcw_i_fail_memory(err, "clog2", log->events, "events");
        }
        log->event = grown;
    }
    log->event[log->events] = *event;
    log->event[log->events++].time_ns =
        time_ns + c->start_ns +
        (c->clock == NULL
             ? 0
             : (uint64_t)gen_clock_error(c, model_machine_node(&log->d->machine, event->rank), time_ns));
    return HPCW_OK;
}

/* Stores a rank's place in a communicator that it obtained. */
static hpcw_status learn_place(struct gen_clog2_log *log, const struct sim_event *event, hpcw_error *err) {
    const uint32_t number = (uint32_t)event->tag;
    const uint64_t key = (uint64_t)number << 32 | event->rank;
    uint64_t *place = hpcw_i_table_add(&log->place, &key, NULL);
    if (place == NULL) {
        return hpcw_i_fail_memory(err, "clog2", log->place.count, "members of communicators");
    }
    *place = event->peer;
    log->comm[number - 1] =
        gen_workload_find_comm(log->d->workload, (uint32_t)(event->bytes >> 32), (uint32_t)event->bytes);
    return HPCW_OK;
}

static uint32_t place_in(const struct gen_clog2_log *log, uint32_t comm, uint32_t rank) {
    const uint64_t key = (uint64_t)comm << 32 | rank;
    const uint64_t *place = comm == SIM_WORLD ? NULL : hpcw_i_table_find(&log->place, &key);
    return place == NULL ? rank : (uint32_t)*place;
}

/* Returns the entry of a communicator in the log's table. */
static int32_t entry_of(const struct gen_clog2_log *log, uint32_t comm) {
    return comm == SIM_WORLD ? 0 : (int32_t)(log->d->ranks + 1 + log->comm[comm - 1]);
}

hpcw_status gen_clog2_log_event(void *context, const struct sim_event *event, hpcw_error *err) {
    struct gen_clog2_log *log = context;
    if (event->what == SIM_LOSES) {
        return HPCW_OK;
    }
    hpcw_status s = event->what == SIM_MADE ? learn_place(log, event, err) : HPCW_OK;
    s = s == HPCW_OK ? add(log, event, event->time_ns, err) : s;
    if (s == HPCW_OK && event->what == SIM_COMPUTES) {
        /* The end of computing is an event of its own. */
        struct sim_event end = *event;
        end.tag = 1;
        s = add(log, &end, event->time_ns + event->bytes, err);
    }
    return s;
}

/* One pass of a stable radix sort: by the 11 bits from `shift` on, of the time or of the rank. */
static void sort_digit(struct gen_clog2_log *log, size_t count, bool by_time, uint32_t shift) {
    size_t first[DIGITS] = {0};
    for (size_t i = 0; i < count; i++) {
        const uint64_t value = by_time ? log->key[i].time_ns : log->key[i].rank;
        first[value >> shift & (DIGITS - 1)]++;
    }
    size_t next = 0;
    for (size_t i = 0; i < DIGITS; i++) {
        const size_t here = first[i];
        first[i] = next;
        next += here;
    }
    for (size_t i = 0; i < count; i++) {
        const uint64_t value = by_time ? log->key[i].time_ns : log->key[i].rank;
        log->other[first[value >> shift & (DIGITS - 1)]++] = log->key[i];
    }
    struct log_key *sorted = log->other;
    log->other = log->key;
    log->key = sorted;
}

/* Sorts the keys of all events before `before_ns` by time, rank and the order in which the events were added.
 * Times in keys are relative to the earliest time. */
static hpcw_status sort_due(struct gen_clog2_log *log, uint64_t before_ns, size_t *due, hpcw_error *err) {
    if (log->events > log->key_capacity) {
        hpcw_i_free(log->key);
        hpcw_i_free(log->other);
        log->key = hpcw_i_malloc(log->capacity * sizeof *log->key);
        log->other = hpcw_i_malloc(log->capacity * sizeof *log->other);
        log->key_capacity = log->key != NULL && log->other != NULL ? log->capacity : 0;
        if (log->key_capacity == 0) {
            return hpcw_i_fail_memory(err, "clog2", log->events, "events");
        }
    }
    uint64_t first_ns = UINT64_MAX;
    uint64_t last_ns = 0;
    size_t count = 0;
    for (size_t i = 0; i < log->events; i++) {
        const struct sim_event *e = &log->event[i];
        if (e->time_ns < before_ns) {
            log->key[count++] = (struct log_key){e->time_ns, e->rank, (uint32_t)i};
            first_ns = e->time_ns < first_ns ? e->time_ns : first_ns;
            last_ns = e->time_ns > last_ns ? e->time_ns : last_ns;
        }
    }
    for (size_t i = 0; i < count; i++) {
        log->key[i].time_ns -= first_ns;
    }
    for (uint32_t shift = 0; count > 0 && shift < 32 && (log->d->ranks - 1) >> shift > 0; shift += DIGIT_BITS) {
        sort_digit(log, count, false, shift);
    }
    for (uint32_t shift = 0; count > 0 && shift < 64 && (last_ns - first_ns) >> shift > 0;
         shift += DIGIT_BITS) {
        sort_digit(log, count, true, shift);
    }
    *due = count;
    return HPCW_OK;
}

/* ---- records ---- */

/* Returns the bytes that a rank sends from its buffer in a collective call. */
static int64_t sent_by(const struct sim_event *e, bool root, int64_t ranks) {
    const int64_t bytes = (int64_t)e->bytes;
    switch (e->number) {
    case SIM_CALL_BCAST:
        return root ? bytes : 0;
    case SIM_CALL_SCATTER:
        return root ? bytes * ranks : 0;
    default:
        return bytes;
    }
}

/* Returns the bytes that a rank receives into its buffer in a collective call. */
static int64_t received_by(const struct sim_event *e, bool root, int64_t ranks) {
    const int64_t bytes = (int64_t)e->bytes;
    switch (e->number) {
    case SIM_CALL_BCAST:
        return root ? 0 : bytes;
    case SIM_CALL_REDUCE:
        return root ? bytes : 0;
    case SIM_CALL_GATHER:
        return root ? bytes * ranks : 0;
    case SIM_CALL_ALLGATHER:
        return bytes * ranks;
    case SIM_CALL_GATHERV:
    case SIM_CALL_SCATTERV:
    case SIM_CALL_ALLGATHERV:
    case SIM_CALL_ALLTOALLV:
        return (int64_t)sim_event_received(e);
    default:
        return bytes;
    }
}

static void put_cargo(hpcw_clog2_record *r, int32_t event, const hpcw_clog2_cargo *c) {
    r->kind = HPCW_CLOG2_WITH_CARGO;
    r->as.cargo.event = event;
    r->as.cargo.size = c->size;
    memcpy(r->as.cargo.bytes, c->bytes, sizeof c->bytes);
}

/* Packs the bytes that a rank sends and receives in a collective call, or writes in a checkpoint. */
static void pack(const struct gen_clog2_log *log, hpcw_clog2_record *r, const struct sim_event *e) {
    hpcw_clog2_cargo c = {0};
    const bool root = (uint32_t)r->rank == e->peer;
    const uint32_t ranks =
        e->comm == SIM_WORLD ? log->d->ranks : log->d->workload->comm[log->comm[e->comm - 1]].size;
    const int32_t event = 2 * log->number[e->number] + 1;
    if (e->number == SIM_CALL_CHECKPOINT) {
        hpcw_clog2_cargo_i64(&c, (int64_t)e->bytes);
    } else if (e->number == SIM_CALL_ALLTOALL) {
        const int32_t all = (int32_t)(e->bytes * ranks < INT32_MAX ? e->bytes * ranks : INT32_MAX);
        hpcw_clog2_cargo_i32(&c, all);
        hpcw_clog2_cargo_i32(&c, all);
    } else {
        hpcw_clog2_cargo_i64(&c, sent_by(e, root, ranks));
        hpcw_clog2_cargo_i64(&c, received_by(e, root, ranks));
    }
    put_cargo(r, event, &c);
}

static void fill(const struct gen_clog2_log *log, hpcw_clog2_record *r, const struct sim_event *e) {
    r->time = (double)e->time_ns / 1e9;
    r->comm = entry_of(log, e->comm);
    r->rank = (int32_t)place_in(log, e->comm, e->rank);
    r->thread = 0;
    r->kind = HPCW_CLOG2_BARE;
    switch ((enum sim_what)e->what) {
    case SIM_SENT:
    case SIM_RECEIVED:
        r->kind = HPCW_CLOG2_MESSAGE;
        r->as.message.event = e->what == SIM_SENT ? HPCW_CLOG2_SEND : HPCW_CLOG2_RECEIVE;
        r->as.message.peer_comm = r->comm;
        r->as.message.peer_rank = (int32_t)place_in(log, e->comm, e->peer);
        r->as.message.tag = e->tag;
        r->as.message.size = (int32_t)e->bytes;
        break;
    case SIM_BEGINS:
        r->as.event = 2 * log->number[e->number];
        break;
    case SIM_RETURNS:
        r->as.event = 2 * log->number[e->number] + 1;
        if (gen_workload_moves(e->number)) {
            pack(log, r, e);
        }
        break;
    case SIM_MADE:
        r->kind = HPCW_CLOG2_COMM_EVENT;
        r->as.comm.event = HPCW_CLOG2_INTRA_CREATE;
        r->as.comm.comm = entry_of(log, (uint32_t)e->tag);
        r->as.comm.rank = (int32_t)e->peer;
        r->as.comm.world_rank = (int32_t)e->rank;
        r->as.comm.id = &log->entry[log->comm[e->tag - 1]].id;
        break;
    case SIM_COMPUTES:
        r->as.event = 2 * COMPUTE + e->tag;
        break;
    case SIM_PHASE: {
        hpcw_clog2_cargo c = {0};
        hpcw_clog2_cargo_i32(&c, (int32_t)e->bytes);
        put_cargo(r, PHASE, &c);
        break;
    }
    default:
        r->as.event = 2 * (FIRST_STATE + e->number) + (e->what == SIM_STATE_ENDS);
        break;
    }
}

static hpcw_status put_due(struct gen_clog2_log *log, size_t due, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    for (size_t i = 0; s == HPCW_OK && i < due;) {
        size_t n = 0;
        for (; n < BATCH && i < due; n++, i++) {
            /* Events are visited by time but are stored by rank, so this prefetches. */
            __builtin_prefetch(&log->event[log->key[i + AHEAD < due ? i + AHEAD : i].index]);
            fill(log, &log->record[n], &log->event[log->key[i].index]);
        }
        s = hpcw_clog2_slice_put(log->slice, log->record, n, err);
    }
    return s;
}

static hpcw_status put_before(struct gen_clog2_log *log, uint64_t before_ns, hpcw_error *err) {
    size_t due = 0;
    hpcw_status s = sort_due(log, before_ns, &due, err);
    s = s == HPCW_OK ? put_due(log, due, err) : s;
    size_t kept = 0;
    for (size_t i = 0; i < log->events; i++) {
        if (log->event[i].time_ns >= before_ns) {
            log->event[kept++] = log->event[i];
        }
    }
    log->events = kept;
    return s;
}

hpcw_status gen_clog2_log_passed(void *context, uint64_t time_ns, hpcw_error *err) {
    struct gen_clog2_log *log = context;
    const struct gen_clocks *c = &log->d->clocks;
    if (log->events < LEAST_DUE) {
        return HPCW_OK;
    }
    /* From now on, no clock shows an earlier time than time_ns + least. */
    int64_t least = 0;
    for (uint32_t n = 0; c->clock != NULL && n < log->d->machine.nodes; n++) {
        const int64_t error = gen_clock_error(c, n, time_ns);
        least = error < least ? error : least;
    }
    return put_before(log, time_ns + c->start_ns + (uint64_t)least, err);
}

hpcw_status gen_clog2_log_finish(struct gen_clog2_log *log, hpcw_error *err) {
    return put_before(log, UINT64_MAX, err);
}
