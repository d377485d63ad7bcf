/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/format/trace_log.h"

#include <string.h>

#include "libwriter/base/rng.h"
#include "libwriter/base/status.h"

/* When rank 0's communicator of its own was made, nanoseconds. */
enum { CREATED_NS = 1000 };

/* States in the order of their numbers: those that all readers know, those for states of users. Formats of collective calls
 * are those of the wrapper, and for MPI_Alltoall MPE's. */
#define MOVED "sent=%l, received=%l"
static const struct log_state {
    uint32_t what; /* enum model_trace_what */
    int32_t number;
    const char *name, *colour, *format;
} states[] = {
    {MODEL_TRACE_ALLGATHER, 0, "MPI_Allgather", "purple3", MOVED},
    {MODEL_TRACE_ALLREDUCE, 2, "MPI_Allreduce", "purple", MOVED},
    {MODEL_TRACE_ALLTOALL, 3, "MPI_Alltoall", "DarkViolet", "send_msg_sz/p=%d, recv_msg_sz/p=%d."},
    {MODEL_TRACE_BARRIER, 5, "MPI_Barrier", "yellow", NULL},
    {MODEL_TRACE_BCAST, 6, "MPI_Bcast", "cyan", MOVED},
    {MODEL_TRACE_GATHER, 7, "MPI_Gather", "white", MOVED},
    {MODEL_TRACE_REDUCE, 12, "MPI_Reduce", "MediumPurple", MOVED},
    {MODEL_TRACE_COMM_DUP, 21, "MPI_Comm_dup", "OliveDrab1", NULL},
    {MODEL_TRACE_COMM_FREE, 22, "MPI_Comm_free", "LightSeaGreen", NULL},
    {MODEL_TRACE_COMM_RANK, 24, "MPI_Comm_rank", "white", NULL},
    {MODEL_TRACE_COMM_SIZE, 27, "MPI_Comm_size", "white", NULL},
    {MODEL_TRACE_COMM_SPLIT, 28, "MPI_Comm_split", "DarkOliveGreen2", NULL},
    {MODEL_TRACE_GET_COUNT, 67, "MPI_Get_count", "white", NULL},
    {MODEL_TRACE_IRECV, 70, "MPI_Irecv", "PaleGreen", NULL},
    {MODEL_TRACE_ISEND, 72, "MPI_Isend", "SkyBlue", NULL},
    {MODEL_TRACE_RECV, 77, "MPI_Recv", "green", NULL},
    {MODEL_TRACE_SENDING, 80, "MPI_Send", "blue", NULL},
    {MODEL_TRACE_SENDRECV, 81, "MPI_Sendrecv", "SeaGreen", NULL},
    {MODEL_TRACE_TESTALL, 88, "MPI_Testall", "orange1", NULL},
    {MODEL_TRACE_WAIT, 105, "MPI_Wait", "red", NULL},
    {MODEL_TRACE_WAITALL, 106, "MPI_Waitall", "OrangeRed", NULL},
    {MODEL_TRACE_WAITANY, 107, "MPI_Waitany", "coral", NULL},
    {MODEL_TRACE_CART_COORDS, 109, "MPI_Cart_coords", "white", NULL},
    {MODEL_TRACE_CART_CREATE, 110, "MPI_Cart_create", "DarkOliveGreen1", NULL},
    {MODEL_TRACE_CART_GET, 111, "MPI_Cart_get", "white", NULL},
    {MODEL_TRACE_CART_SHIFT, 113, "MPI_Cart_shift", "white", NULL},
    {MODEL_TRACE_DIMS_CREATE, 115, "MPI_Dims_create", "white", NULL},
    {MODEL_TRACE_WAITED, 251, "MPE_Irecv_waited", "DarkOrange", NULL},
    {MODEL_TRACE_ITERATION, HPCW_CLOG2_USER_STATE, "Iteration", "gray40", NULL},
    {MODEL_TRACE_COMPUTE, HPCW_CLOG2_USER_STATE + 1, "Compute", "SteelBlue", NULL},
    {MODEL_TRACE_HALO, HPCW_CLOG2_USER_STATE + 2, "Halo exchange", "gold", NULL},
    {MODEL_TRACE_CHECKPOINT, HPCW_CLOG2_USER_STATE + 3, "Checkpoint", "firebrick", "bytes=%l"},
    {MODEL_TRACE_OPEN, HPCW_CLOG2_USER_STATE + 4, "Open file", "HotPink", NULL},
    {MODEL_TRACE_WRITE, HPCW_CLOG2_USER_STATE + 5, "Write file", "BlueViolet", NULL},
    {MODEL_TRACE_CLOSE, HPCW_CLOG2_USER_STATE + 6, "Close file", "pink", NULL},
};
enum {
    STATES = sizeof states / sizeof states[0],
    USER_STATES = 7,
    OF_FILES = 4,
    STEP_EVENT = HPCW_CLOG2_USER_SOLO
};
static const char *const constant_name[] = {"MPI_PROC_NULL", "MPI_ANY_SOURCE", "MPI_ANY_TAG"};
static const int32_t constant_value[] = {-2, -1, -1};
enum { CONSTANTS = 3, FIRST_RECORDS = 3 };

/* As the wrapper, the log defines what happens in it. */
static bool uses(const struct gen_dataset *d, uint32_t what) {
    return (d->trace.used >> what / 2 & 1) != 0;
}

static uint32_t states_used(const struct gen_dataset *d) {
    uint32_t count = 0;
    for (size_t i = 0; i < STATES; i++) {
        count += uses(d, states[i].what);
    }
    return count;
}

uint64_t gen_trace_log_prologue(const struct gen_dataset *d) {
    return (uint64_t)FIRST_RECORDS * d->ranks + CONSTANTS + states_used(d) + uses(d, MODEL_TRACE_STEP);
}

uint64_t gen_trace_log_records(const struct gen_dataset *d) {
    return gen_trace_log_prologue(d) + d->trace.estimate.events;
}

static void make_id(const struct gen_dataset *d, uint32_t root, uint32_t word, hpcw_clog2_comm_id *id) {
    char host[MODEL_HOST_SIZE];
    model_machine_host(&d->machine, model_machine_node(&d->machine, root), host);
    *id = (hpcw_clog2_comm_id){.random = (int32_t)(word >> 1)};
    memcpy(id->host, host, strnlen(host, sizeof id->host));
}

void gen_trace_log_comm(void *context, uint32_t index, hpcw_clog2_comm_entry *entry) {
    const struct gen_dataset *d = context;
    const uint32_t root = index == 0 ? 0 : index - 1;
    uint32_t w[4];
    hpcw_i_draw(d->seed, HPCW_I_FOR_TRACE_COMM, index == 0 ? UINT32_MAX : root, 0, 0, w);
    *entry = (hpcw_clog2_comm_entry){.index = (int32_t)index, .kind = 1};
    make_id(d, root, w[0], &entry->id);
    /* The world comes before the ranks' own; the rank in the time makes the id unique, whatever is drawn. */
    entry->id.created = index == 0 ? 0 : (double)(CREATED_NS + index) / 1e9;
}

void gen_trace_log_further_comm(const struct gen_dataset *d, uint32_t root, uint32_t number, uint64_t time_ns,
                                hpcw_clog2_comm_id *id) {
    uint32_t w[4];
    hpcw_i_draw(d->seed, HPCW_I_FOR_TRACE_COMM, root, number + 1, 0, w);
    make_id(d, root, w[0], id);
    id->created = (double)(time_ns + MODEL_TRACE_START_NS) / 1e9;
}

hpcw_clog2_options gen_trace_log_options(const struct gen_dataset *d) {
    hpcw_clog2_options o;
    hpcw_clog2_options_init(&o);
    o.ranks = d->ranks;
    o.states = !uses(d, MODEL_TRACE_ITERATION)    ? 0
               : !uses(d, MODEL_TRACE_CHECKPOINT) ? USER_STATES - OF_FILES
                                                  : USER_STATES;
    o.solos = uses(d, MODEL_TRACE_STEP);
    o.comms = d->ranks + 1;
    o.comm_of = gen_trace_log_comm;
    o.comm_context = (void *)(uintptr_t)d;
    return o;
}

uint64_t gen_trace_log_blocks_of(double bytes, uint64_t records, uint32_t block_size) {
    const double segments = (double)records / HPCW_CLOG2_SEGMENT;
    return (uint64_t)(bytes / (block_size - 24.0 - 24.0) + 0.5 * segments) + 1;
}

uint64_t gen_trace_log_blocks(const struct gen_dataset *d, uint32_t block_size) {
    const struct model_trace_estimate *e = &d->trace.estimate;
    const double ends = 2.0 * (double)e->messages;
    const double bytes = 176.0 * d->ranks + 136.0 * states_used(d) + 32 * ((double)e->events - ends) +
                         48 * ends + 32 * (double)e->collectives + 32.0 * d->trace.iterations +
                         d->ckpt_params.checkpoints * 32.0 * d->ranks;
    return gen_trace_log_blocks_of(bytes, gen_trace_log_records(d), block_size);
}

static hpcw_status flush(struct gen_trace_log_out *o, hpcw_error *err) {
    size_t count = o->count;
    o->count = 0;
    return count == 0 ? HPCW_OK : hpcw_clog2_slice_put(o->slice, o->record, count, err);
}

/* The next record in the buffer, with its head. */
static hpcw_clog2_record *add(struct gen_trace_log_out *o, double time, int32_t rank, hpcw_clog2_kind kind) {
    hpcw_clog2_record *r = &o->record[o->count++];
    r->time = time;
    r->comm = 0;
    r->rank = rank;
    r->thread = 0;
    r->kind = kind;
    return r;
}

/* As `add`; NULL if the record is not one of [begin, end). */
static hpcw_clog2_record *next(struct gen_trace_log_out *o, double time, int32_t rank, hpcw_clog2_kind kind) {
    uint64_t number = o->number++;
    return number < o->begin || number >= o->end ? NULL : add(o, time, rank, kind);
}

static hpcw_status flush_if_full(struct gen_trace_log_out *o, hpcw_error *err) {
    return o->count == sizeof o->record / sizeof o->record[0] ? flush(o, err) : HPCW_OK;
}

static hpcw_status put_shift(struct gen_trace_log_out *o, int32_t rank, hpcw_error *err) {
    hpcw_clog2_record *r = next(o, 0, rank, HPCW_CLOG2_TIME_SHIFT);
    if (r != NULL) {
        r->as.shift = -0.0;
    }
    return flush_if_full(o, err);
}

static hpcw_status put_comm(struct gen_trace_log_out *o, const struct gen_dataset *d, int32_t event,
                            int32_t rank, int32_t comm, hpcw_error *err) {
    hpcw_clog2_record *r = next(o, 0, rank, HPCW_CLOG2_COMM_EVENT);
    if (r != NULL) {
        hpcw_clog2_comm_entry entry;
        gen_trace_log_comm((void *)(uintptr_t)d, (uint32_t)comm, &entry);
        r->as.comm.event = event;
        r->as.comm.comm = comm;
        r->as.comm.rank = comm == 0 ? rank : 0;
        r->as.comm.world_rank = rank;
        r->as.comm.id = &entry.id;
        return flush(o, err); /* the id is a local variable */
    }
    return HPCW_OK;
}

static hpcw_status put_definitions(struct gen_trace_log_out *o, const struct gen_dataset *d, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    for (size_t i = 0; s == HPCW_OK && i < CONSTANTS; i++) {
        hpcw_clog2_record *r = next(o, 0, 0, HPCW_CLOG2_CONST_DEF);
        if (r != NULL) {
            r->as.constant.value = constant_value[i];
            r->as.constant.name = constant_name[i];
        }
        s = flush_if_full(o, err);
    }
    for (size_t i = 0; s == HPCW_OK && i < STATES; i++) {
        if (!uses(d, states[i].what)) {
            continue;
        }
        hpcw_clog2_record *r = next(o, 0, 0, HPCW_CLOG2_STATE_DEF);
        if (r != NULL) {
            r->as.state.state = states[i].number;
            r->as.state.start = 2 * states[i].number;
            r->as.state.end = 2 * states[i].number + 1;
            r->as.state.colour = states[i].colour;
            r->as.state.name = states[i].name;
            r->as.state.format = states[i].format;
        }
        s = flush_if_full(o, err);
    }
    hpcw_clog2_record *r =
        s == HPCW_OK && uses(d, MODEL_TRACE_STEP) ? next(o, 0, 0, HPCW_CLOG2_EVENT_DEF) : NULL;
    if (r != NULL) {
        r->as.solo.event = STEP_EVENT;
        r->as.solo.colour = "white";
        r->as.solo.name = "Step done";
        r->as.solo.format = "step=%d";
    }
    return s == HPCW_OK ? flush_if_full(o, err) : s;
}

hpcw_status gen_trace_log_put_prologue(struct gen_trace_log_out *o, const struct gen_dataset *d,
                                       hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    for (uint32_t r = 0; s == HPCW_OK && r < d->ranks; r++) {
        s = put_shift(o, (int32_t)r, err);
        s = s == HPCW_OK ? put_comm(o, d, HPCW_CLOG2_WORLD_CREATE, (int32_t)r, 0, err) : s;
        s = s == HPCW_OK ? put_comm(o, d, HPCW_CLOG2_SELF_CREATE, (int32_t)r, (int32_t)r + 1, err) : s;
        s = s == HPCW_OK && r == 0 ? put_definitions(o, d, err) : s;
    }
    return s == HPCW_OK ? flush(o, err) : s;
}

/* The number of an event: even for the beginning of a state, odd for its end. */
static int32_t event_number(uint32_t what) {
    for (size_t i = 0; i < STATES; i++) {
        if (states[i].what == (what & ~1u)) {
            return 2 * states[i].number + (int32_t)(what & 1);
        }
    }
    return STEP_EVENT;
}

/* The states that carry something at their end. */
static const uint64_t with_cargo =
    UINT64_C(1) << (MODEL_TRACE_ALLREDUCE + 1) | UINT64_C(1) << (MODEL_TRACE_BCAST + 1) |
    UINT64_C(1) << (MODEL_TRACE_REDUCE + 1) | UINT64_C(1) << (MODEL_TRACE_GATHER + 1) |
    UINT64_C(1) << (MODEL_TRACE_ALLGATHER + 1) | UINT64_C(1) << (MODEL_TRACE_ALLTOALL + 1) |
    UINT64_C(1) << (MODEL_TRACE_CHECKPOINT + 1);

static bool has_cargo(uint32_t what) {
    return what == MODEL_TRACE_STEP || (what < 64 && (with_cargo >> what & 1) != 0);
}

/* What a rank sends and receives in a collective call, or to and from each rank; the bytes of a checkpoint; the number of an
 * iteration. */
static void pack(hpcw_clog2_cargo *c, const struct gen_dataset *d, const struct model_trace_event *e,
                 uint32_t iteration) {
    const uint32_t part = model_trace_message_of(e);
    const uint32_t after = iteration - 1 + part;
    const int64_t bytes = part, all = (int64_t)part * d->ranks;
    const bool root = e->rank == 0;
    int64_t sent = bytes, received = bytes;
    switch (model_trace_what_of(e)) {
    case MODEL_TRACE_STEP:
        hpcw_clog2_cargo_i32(c, (int32_t)after);
        return;
    case MODEL_TRACE_CHECKPOINT + 1: {
        const uint64_t first = (uint64_t)model_checkpoint_after(&d->checkpoint, after) * d->ranks;
        hpcw_clog2_cargo_i64(c, (int64_t)model_checkpoint_size(&d->checkpoint, first + e->rank));
        return;
    }
    case MODEL_TRACE_BCAST + 1:
        sent = root ? bytes : 0;
        received = root ? 0 : bytes;
        break;
    case MODEL_TRACE_REDUCE + 1:
        received = root ? bytes : 0;
        break;
    case MODEL_TRACE_GATHER + 1:
        received = root ? all : 0;
        break;
    case MODEL_TRACE_ALLGATHER + 1:
        received = all;
        break;
    case MODEL_TRACE_ALLTOALL + 1:
        hpcw_clog2_cargo_i32(c, (int32_t)part);
        hpcw_clog2_cargo_i32(c, (int32_t)part);
        return;
    default:
        break;
    }
    hpcw_clog2_cargo_i64(c, sent);
    hpcw_clog2_cargo_i64(c, received);
}

double gen_trace_log_time(const struct gen_trace_log_part *part, uint64_t index) {
    return model_trace_seconds(part->run->model, model_trace_cycles(part->run->model, part->start_ns),
                               model_trace_event(part->run, index));
}

hpcw_status gen_trace_log_put_events(struct gen_trace_log_out *o, hpcw_clog2_slice *slice,
                                     const struct gen_dataset *d, const struct gen_trace_log_part *part,
                                     uint64_t from, uint64_t to, hpcw_error *err) {
    const struct model_trace_run *run = part->run;
    int32_t number[MODEL_TRACE_WHATS];
    for (uint32_t what = 0; what < MODEL_TRACE_WHATS; what++) {
        number[what] = event_number(what);
    }
    o->slice = slice;
    const uint64_t start = model_trace_cycles(part->run->model, part->start_ns);
    hpcw_status s = HPCW_OK;
    for (uint64_t i = from; s == HPCW_OK && i < to; i++) {
        const struct model_trace_event *e = model_trace_event(run, i);
        const uint32_t what = model_trace_what_of(e);
        const bool message = what == MODEL_TRACE_SEND || what == MODEL_TRACE_RECEIVE;
        const bool cargo = has_cargo(what);
        hpcw_clog2_record *r = add(o, model_trace_seconds(run->model, start, e), (int32_t)e->rank,
                                   message ? HPCW_CLOG2_MESSAGE
                                   : cargo ? HPCW_CLOG2_WITH_CARGO
                                           : HPCW_CLOG2_BARE);
        if (message) {
            const struct model_trace_message *m = &run->message[model_trace_message_of(e)];
            const bool sends = what == MODEL_TRACE_SEND;
            r->as.message.event = sends ? HPCW_CLOG2_SEND : HPCW_CLOG2_RECEIVE;
            r->as.message.peer_comm = 0;
            r->as.message.peer_rank = (int32_t)(sends ? m->to : m->from);
            r->as.message.tag = (int32_t)m->tag;
            r->as.message.size = (int32_t)m->bytes;
        } else if (cargo) {
            hpcw_clog2_cargo c = {0};
            pack(&c, d, e, part->iteration);
            r->as.cargo.event = number[what];
            r->as.cargo.size = c.size;
            memcpy(r->as.cargo.bytes, c.bytes, sizeof c.bytes);
        } else {
            r->as.event = number[what];
        }
        s = flush_if_full(o, err);
    }
    return s == HPCW_OK ? flush(o, err) : s;
}
