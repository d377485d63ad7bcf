/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/support/sim_script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

enum script_kind {
    COMPUTE,
    SAVE,
    SEND,
    RECV,
    ANSWER,
    SENDRECV,
    ISEND,
    IRECV,
    WAITALL,
    WAITANY,
    AFTER_WAITANY,
    MEET,
    MEET_PARTS,
    SPLIT,
    AFTER_SPLIT,
    USE,
    OPEN,
    MOVE,
    CLOSE,
    CHECKPOINT,
    NEXT_PHASE,
    MARK
};

void script_begin_with(struct script *s, const struct model_machine_params *params, uint32_t ranks,
                       uint32_t phases) {
    hpcw_error err;
    *s = (struct script){.phases = phases};
    assert_int_equal(model_machine_init(&s->machine, params, ranks, 1, &err), HPCW_OK);
    model_network_init(&s->network, &s->machine);
    sim_constants_init(&s->constants);
    s->rank = calloc(ranks, sizeof *s->rank);
    assert_non_null(s->rank);
}

void script_begin_on(struct script *s, const char *preset, uint32_t ranks, uint32_t phases) {
    struct model_machine_params p;
    hpcw_error err;
    assert_int_equal(model_machine_params_init(&p, preset, &err), HPCW_OK);
    script_begin_with(s, &p, ranks, phases);
}

void script_begin(struct script *s, uint32_t ranks, uint32_t phases) {
    script_begin_on(s, model_machine_preset[0].name, ranks, phases);
}

void script_end(struct script *s) {
    for (uint32_t r = 0; r < s->machine.ranks; r++) {
        hpcw_i_free(s->rank[r].step);
    }
    free(s->rank);
    hpcw_i_free(s->event);
    sim_free(s->sim);
    model_machine_free(&s->machine);
}

/* ---- steps ---- */

static void add(struct script *s, uint32_t rank, struct script_step step) {
    struct script_rank *r = &s->rank[rank];
    r->step = hpcw_i_grow(r->step, &r->capacity, r->steps + 1, sizeof *r->step);
    assert_non_null(r->step);
    r->step[r->steps++] = step;
}

void script_compute(struct script *s, uint32_t rank, uint64_t time_ns) {
    add(s, rank, (struct script_step){.kind = COMPUTE, .amount = time_ns});
}

void script_compute_less(struct script *s, uint32_t rank, uint64_t time_ns, uint32_t clock, uint64_t saved_ns) {
    add(s, rank, (struct script_step){.kind = SAVE, .partner = clock, .amount = saved_ns});
    script_compute(s, rank, time_ns);
}

void script_send(struct script *s, uint32_t rank, uint32_t to, uint64_t bytes, int32_t tag) {
    add(s, rank, (struct script_step){.kind = SEND, .partner = to, .amount = bytes, .tag = tag});
}

void script_recv(struct script *s, uint32_t rank, uint32_t from, int32_t tag) {
    add(s, rank, (struct script_step){.kind = RECV, .partner = from, .tag = tag});
}

void script_answer(struct script *s, uint32_t rank, uint64_t bytes) {
    add(s, rank, (struct script_step){.kind = ANSWER, .amount = bytes, .tag = 5});
}

void script_sendrecv(struct script *s, uint32_t rank, uint32_t to, uint64_t bytes, uint32_t from, int32_t tag) {
    add(s, rank,
        (struct script_step){.kind = SENDRECV, .partner = to, .from = from, .amount = bytes, .tag = tag});
}

void script_isend(struct script *s, uint32_t rank, uint32_t to, uint64_t bytes, int32_t tag) {
    add(s, rank, (struct script_step){.kind = ISEND, .partner = to, .amount = bytes, .tag = tag});
}

void script_irecv(struct script *s, uint32_t rank, uint32_t from, int32_t tag) {
    add(s, rank, (struct script_step){.kind = IRECV, .partner = from, .tag = tag});
}

void script_waitall(struct script *s, uint32_t rank) {
    add(s, rank, (struct script_step){.kind = WAITALL});
}

void script_waitany(struct script *s, uint32_t rank, uint64_t index_ns) {
    add(s, rank, (struct script_step){.kind = WAITANY});
    add(s, rank, (struct script_step){.kind = AFTER_WAITANY, .amount = index_ns});
}

void script_meet(struct script *s, uint32_t rank, enum sim_call call, uint32_t root, uint64_t bytes) {
    add(s, rank, (struct script_step){.kind = MEET, .call = call, .partner = root, .amount = bytes});
}

void script_meet_parts(struct script *s, uint32_t rank, enum sim_call call, uint32_t root,
                       const struct sim_parts *parts) {
    add(s, rank, (struct script_step){.kind = MEET_PARTS, .call = call, .partner = root, .parts = *parts});
}

void script_split(struct script *s, uint32_t rank, enum sim_call call, uint32_t colour, int32_t key) {
    add(s, rank, (struct script_step){.kind = SPLIT, .call = call, .partner = colour, .tag = key});
    add(s, rank, (struct script_step){.kind = AFTER_SPLIT});
}

void script_use(struct script *s, uint32_t rank, uint32_t made) {
    add(s, rank, (struct script_step){.kind = USE, .amount = made});
}

void script_open(struct script *s, uint32_t rank) {
    add(s, rank, (struct script_step){.kind = OPEN});
}

void script_move(struct script *s, uint32_t rank, enum sim_call call, uint64_t bytes) {
    add(s, rank, (struct script_step){.kind = MOVE, .call = call, .amount = bytes});
}

void script_close(struct script *s, uint32_t rank) {
    add(s, rank, (struct script_step){.kind = CLOSE});
}

void script_checkpoint(struct script *s, uint32_t rank, uint64_t bytes) {
    add(s, rank, (struct script_step){.kind = CHECKPOINT, .amount = bytes});
}

void script_next_phase(struct script *s, uint32_t rank) {
    add(s, rank, (struct script_step){.kind = NEXT_PHASE});
}

void script_mark(struct script *s, uint32_t rank) {
    assert_true(s->marks < SCRIPT_MOST_MARKS);
    add(s, rank, (struct script_step){.kind = MARK, .amount = s->marks++});
}

/* ---- running ---- */

static enum sim_answer take_step(struct script *s, uint32_t rank, const struct script_step *step) {
    struct script_rank *r = &s->rank[rank];
    uint32_t requests = r->requests;
    switch (step->kind) {
    case COMPUTE:
        return sim_compute(s->sim, rank, SIM_WORK_OBJECTS, step->amount);
    case SAVE:
        sim_save(s->sim, rank, step->partner, step->amount);
        return SIM_GOES_ON;
    case SEND:
        return sim_send(s->sim, rank, r->comm, step->partner, step->amount, step->tag);
    case RECV:
        return sim_recv(s->sim, rank, r->comm, step->partner, step->tag);
    case ANSWER:
        return sim_send(s->sim, rank, r->comm, sim_received(s->sim, rank).from, step->amount, step->tag);
    case SENDRECV:
        return sim_sendrecv(s->sim, rank, r->comm, step->partner, step->amount, step->from, step->tag);
    case ISEND:
        return sim_isend(s->sim, rank, r->comm, step->partner, step->amount, step->tag,
                         &r->request[r->requests++]);
    case IRECV:
        return sim_irecv(s->sim, rank, r->comm, step->partner, step->tag, &r->request[r->requests++]);
    case WAITALL:
        r->requests = 0;
        return sim_wait(s->sim, rank, SIM_CALL_WAITALL, r->request, requests);
    case WAITANY:
        return sim_waitany(s->sim, rank, r->request, requests);
    case AFTER_WAITANY:
        requests = sim_waited(s->sim, rank);
        memmove(&r->request[requests], &r->request[requests + 1],
                (--r->requests - requests) * sizeof *r->request);
        return sim_compute(s->sim, rank, SIM_WORK_OBJECTS, step->amount * (requests + 1));
    case MEET:
        return sim_meet(s->sim, rank, r->comm, step->call, step->partner, step->amount);
    case MEET_PARTS:
        return sim_meet_parts(s->sim, rank, r->comm, step->call, step->partner, &step->parts);
    case SPLIT:
        return sim_split(s->sim, rank, r->comm, step->call, step->partner, step->tag);
    case AFTER_SPLIT:
        r->made[r->mades++ % SCRIPT_MOST_COMMS] = sim_made(s->sim, rank);
        return SIM_GOES_ON;
    case OPEN:
        return sim_file_open(s->sim, rank);
    case MOVE:
        return sim_file_move(s->sim, rank, step->call, step->amount);
    case CLOSE:
        return sim_file_close(s->sim, rank);
    case CHECKPOINT:
        return sim_checkpoint(s->sim, rank, step->amount);
    case NEXT_PHASE:
        return sim_next_phase(s->sim, rank);
    case USE:
        r->comm = step->amount == 0 ? SIM_WORLD : r->made[step->amount - 1].comm;
        return SIM_GOES_ON;
    default:
        s->mark[step->amount] = sim_clock_ns(s->sim, rank);
        return SIM_GOES_ON;
    }
}

static enum sim_stop resume(void *context, uint32_t rank, hpcw_error *err) {
    struct script *s = context;
    struct script_rank *r = &s->rank[rank];
    while (r->next <= r->steps) { /* after the last step, the rank ends its phase */
        const size_t at = r->next++;
        switch (at < r->steps ? take_step(s, rank, &r->step[at]) : sim_next_phase(s->sim, rank)) {
        case SIM_WAITS:
            return SIM_STOPPED;
        case SIM_REFUSED:
            (void)hpcw_i_fail(err, HPCW_EINVAL, "%s", sim_error(s->sim));
            return SIM_FAILED;
        default:
            break;
        }
    }
    return SIM_ENDED;
}

static void where(void *context, uint32_t rank, char *text, size_t size) {
    const struct script *s = context;
    (void)snprintf(text, size, "step %zu", s->rank[rank].next - 1);
}

static hpcw_status remember(void *context, const struct sim_event *event, hpcw_error *err) {
    struct script *s = context;
    (void)err;
    s->before_passed += event->time_ns < s->passed_ns;
    s->event = hpcw_i_grow(s->event, &s->event_capacity, s->events + 1, sizeof *s->event);
    assert_non_null(s->event);
    s->event[s->events++] = *event;
    return HPCW_OK;
}

static hpcw_status pass(void *context, uint64_t time_ns, hpcw_error *err) {
    struct script *s = context;
    (void)err;
    s->passed_ns = time_ns;
    s->passes++;
    return HPCW_OK;
}

hpcw_status script_try(struct script *s) {
    const struct sim_options options = {.network = &s->network,
                                        .constants = s->constants,
                                        .noise = s->noise,
                                        .seed = s->seed,
                                        .phases = s->phases,
                                        .checkpoints = s->checkpoints,
                                        .observer = {s, remember, pass},
                                        .order = s->order,
                                        .horizon_ns = s->horizon_ns,
                                        .repair = s->repair,
                                        .clocks = s->clocks};
    const struct sim_program program = {s, resume, where, NULL};
    hpcw_status status = sim_new(&options, &program, &s->sim, &s->err);
    return status == HPCW_OK ? sim_run(s->sim, &s->err) : status;
}

void script_run(struct script *s) {
    if (script_try(s) != HPCW_OK) {
        fail_msg("%s", s->err.message);
    }
}

/* ---- the events ---- */

static void merge(const struct sim_event *from, struct sim_event *to, size_t first, size_t middle, size_t end) {
    size_t a = first;
    size_t b = middle;
    for (size_t i = first; i < end; i++) {
        const bool second =
            a == middle || (b < end && (from[b].time_ns < from[a].time_ns ||
                                        (from[b].time_ns == from[a].time_ns && from[b].rank < from[a].rank)));
        to[i] = second ? from[b++] : from[a++];
    }
}

void script_sort(struct script *s) {
    struct sim_event *other = hpcw_i_malloc((s->events + 1) * sizeof *other);
    assert_non_null(other);
    for (size_t width = 1; width < s->events; width *= 2) {
        for (size_t first = 0; first < s->events; first += 2 * width) {
            const size_t middle = first + width < s->events ? first + width : s->events;
            const size_t end = middle + width < s->events ? middle + width : s->events;
            merge(s->event, other, first, middle, end);
        }
        struct sim_event *sorted = other;
        other = s->event;
        s->event = sorted;
    }
    hpcw_i_free(other);
}
