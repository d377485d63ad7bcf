/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The times of one iteration. Each stage goes over all ranks and adds the events of each to the rank's own run of events;
 * between two stages, all ranks know when the others sent or arrived.
 */
#include <assert.h>
#include <string.h>

#include "gen/model/load/system.h"
#include "gen/model/trace/track.h"
#include "libwriter/base/array.h"
#include "libwriter/base/detmath.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/rng.h"
#include "libwriter/base/status.h"

/* Medians of calls and of a tracer, nanoseconds. */
enum {
    IRECV_NS = 190,
    ISEND_NS = 400,
    WAIT_NS = 300,
    WAITED_NS = 50,
    CONNECT_NS = 9000, /* the first message between two ranks */
    COPY_BYTES = 8     /* that an eager send copies in a nanosecond */
};

/* Factors: the first calls of a run, and after a rank has computed. */
enum { FIRST_CALL = 400, AFTER_COMPUTE = 5 };

/* Of a transfer, what one message takes longer than another. */
static const double transfer_late = 0.2;

static size_t ranks_words(const struct model_trace *m) {
    return (size_t)m->ranks + 1;
}

uint64_t model_trace_scratch_size(const struct model_trace *m) {
    const struct model_trace_estimate e = model_trace_estimate(m);
    return 32 * (e.events + e.checkpoint_events) + 40 * e.edges + 8 * (uint64_t)m->load->objects +
           72 * (uint64_t)m->ranks;
}

hpcw_status model_trace_scratch_new(const struct model_trace *m, struct model_trace_scratch **out,
                                    hpcw_error *err) {
    struct model_trace_scratch *s = hpcw_i_calloc(1, sizeof *s);
    *out = NULL;
    if (s != NULL) {
        s->object = hpcw_i_malloc(m->load->objects * sizeof *s->object);
        s->where = hpcw_i_malloc(m->load->objects * sizeof *s->where);
        s->slowness = hpcw_i_malloc(m->ranks * sizeof *s->slowness);
        s->compute = hpcw_i_malloc(m->ranks * sizeof *s->compute);
        s->now = hpcw_i_malloc(m->ranks * sizeof *s->now);
        s->ready = hpcw_i_malloc(m->ranks * sizeof *s->ready);
        s->cursor = hpcw_i_malloc(m->ranks * sizeof *s->cursor);
        s->pace = hpcw_i_malloc(m->ranks * sizeof *s->pace);
        s->first_in = hpcw_i_malloc(ranks_words(m) * sizeof *s->first_in);
        s->first_out = hpcw_i_malloc(ranks_words(m) * sizeof *s->first_out);
    }
    if (s == NULL || s->object == NULL || s->where == NULL || s->slowness == NULL || s->compute == NULL ||
        s->now == NULL || s->ready == NULL || s->cursor == NULL || s->pace == NULL || s->first_in == NULL ||
        s->first_out == NULL) {
        model_trace_scratch_free(s);
        return hpcw_i_fail_memory(err, "trace", m->ranks, "ranks");
    }
    s->phase = UINT32_MAX; /* before the first one */
    *out = s;
    return HPCW_OK;
}

void model_trace_scratch_free(struct model_trace_scratch *s) {
    if (s != NULL) {
        hpcw_i_free(s->object);
        hpcw_i_free(s->where);
        hpcw_i_free(s->slowness);
        hpcw_i_free(s->compute);
        hpcw_i_free(s->now);
        hpcw_i_free(s->ready);
        hpcw_i_free(s->cursor);
        hpcw_i_free(s->pace);
        hpcw_i_free(s->first_in);
        hpcw_i_free(s->first_out);
        model_trace_free_messages(s);
        hpcw_i_free(s->event);
        hpcw_i_free(s->entry < s->other ? s->entry : s->other);
        hpcw_i_buf_free(&s->noise);
        hpcw_i_buf_free(&s->backward);
        hpcw_i_free(s);
    }
}

/* ---- stages ---- */

/* After the last arrival at the reduction of an iteration: the ranks leave it, and may write a checkpoint. */
static void finish(const struct model_trace *m, struct model_trace_scratch *s, uint32_t iteration,
                   uint32_t of_this, uint64_t last, struct model_trace_facts *facts) {
    const uint32_t number =
        m->checkpoint == NULL ? UINT32_MAX : model_checkpoint_after(m->checkpoint, iteration);
    model_trace_leave(m, HPCW_I_FOR_TRACE_EXIT, iteration, last, s->now);
    for (uint32_t r = 0; r < m->ranks; r++) {
        struct track t = track_of(m, s, r);
        happens(&t, MODEL_TRACE_ALLREDUCE + 1, 0);
        if (r == 0) {
            after_pause(&t, MODEL_TRACE_STEP, of_this);
        }
        after_pause(&t, MODEL_TRACE_ITERATION + 1, 0);
        end_track(&t);
    }
    if (number != UINT32_MAX) {
        facts->checkpoint_ns[facts->checkpoint_ns[0] != UINT64_MAX] = s->now[0];
        model_trace_write_files(m, s, iteration, number, of_this);
    }
}

/* Whether a message starts only when the receiver is in MPI, too (rendezvous). */
static inline bool waits_for_receiver(const struct model_trace *m, const struct model_trace_message *one) {
    const struct model_machine *machine = m->load->machine;
    const bool near = model_machine_node(machine, one->from) == model_machine_node(machine, one->to);
    return one->bytes > (near ? machine->params.eager_node : machine->params.eager_net);
}

/* The ranks post their receives, compute, and send. */
static void compute(const struct model_trace *m, struct model_trace_scratch *s) {
    for (uint32_t r = 0; r < m->ranks; r++) {
        struct track t = track_of(m, s, r);
        if (s->phase == 0) {
            model_trace_chill(t.pace, FIRST_CALL);
        }
        after_pause(&t, MODEL_TRACE_ITERATION, 0);
        for (uint32_t i = s->first_in[r]; i < s->first_in[r + 1]; i++) {
            after_pause(&t, MODEL_TRACE_IRECV, 0);
            takes(&t, IRECV_NS);
            happens(&t, MODEL_TRACE_IRECV + 1, 0);
        }
        after_pause(&t, MODEL_TRACE_COMPUTE, 0);
        t.now += s->compute[r];
        happens(&t, MODEL_TRACE_COMPUTE + 1, 0);
        model_trace_chill(t.pace, s->phase == 0 ? FIRST_CALL : AFTER_COMPUTE);
        after_pause(&t, MODEL_TRACE_HALO, 0);
        s->ready[r] = t.now;
        for (uint32_t k = s->first_out[r]; k < s->first_out[r + 1]; k++) {
            const uint32_t i = s->out[k];
            const uint32_t copied =
                waits_for_receiver(m, &s->message[i]) ? 0 : s->message[i].bytes / COPY_BYTES;
            after_pause(&t, MODEL_TRACE_ISEND, 0);
            after_pause(&t, MODEL_TRACE_SEND, i);
            s->sent[i] = t.now;
            t.now += copied;
            takes(&t, ISEND_NS);
            happens(&t, MODEL_TRACE_ISEND + 1, 0);
        }
        end_track(&t);
    }
}

/* When the messages arrive. */
static void transfer(const struct model_trace *m, struct model_trace_scratch *s) {
    const struct model_network *net = &m->network;
    const uint32_t window = m->window[s->phase];
    const double background = model_network_background(net, window);
    for (uint32_t i = 0; i < s->messages; i++) {
        const struct model_trace_message *one = &s->message[i];
        const struct model_way way = model_network_way(net, one->from, one->to, one->bytes, &m->contention);
        const uint64_t start =
            way.rendezvous && s->ready[one->to] > s->sent[i] ? s->ready[one->to] : s->sent[i];
        /* Links matter only where there is contention. */
        const double link = way.wait_ps > 0 ? model_network_link(net, one->from, one->to, window) : 0;
        const double slow = model_trace_late(m->delays->call, s->word[i]);
        const double late = transfer_late * ((slow < MODEL_TRACE_MOST_LATE ? slow : MODEL_TRACE_MOST_LATE) -
                                             m->delays->call[0]);
        s->sent[i] = start + 1 + (s->phase == 0 ? (uint64_t)(CONNECT_NS * (1 + late)) : 0) +
                     (uint64_t)(1e-3 * model_network_time(&way, model_network_congestion(net, background, link),
                                                          model_network_pair(net, one->from, one->to), late));
    }
}

/* The ranks wait for what they receive, and for what they send by rendezvous, and enter the reduction. */
static void wait_for_all(const struct model_trace *m, struct model_trace_scratch *s) {
    for (uint32_t r = 0; r < m->ranks; r++) {
        struct track t = track_of(m, s, r);
        after_pause(&t, MODEL_TRACE_WAITALL, 0);
        uint64_t done = t.now + WAIT_NS;
        for (uint32_t i = s->first_in[r]; i < s->first_in[r + 1]; i++) {
            done = s->sent[i] > done ? s->sent[i] : done;
        }
        for (uint32_t k = s->first_out[r]; k < s->first_out[r + 1]; k++) {
            const uint32_t i = s->out[k];
            if (waits_for_receiver(m, &s->message[i])) {
                done = s->sent[i] > done ? s->sent[i] : done;
            }
        }
        t.now = done + model_load_absence(m->load, model_trace_pace_word(t.pace));
        for (uint32_t i = s->first_in[r]; i < s->first_in[r + 1]; i++) {
            after_pause(&t, MODEL_TRACE_WAITED, 0);
            takes(&t, WAITED_NS);
            happens(&t, MODEL_TRACE_RECEIVE, i);
            after_pause(&t, MODEL_TRACE_WAITED + 1, 0);
        }
        after_pause(&t, MODEL_TRACE_WAITALL + 1, 0);
        after_pause(&t, MODEL_TRACE_HALO + 1, 0);
        after_pause(&t, MODEL_TRACE_ALLREDUCE, 0);
        end_track(&t);
    }
}

/* ---- the iteration ---- */

static void draw_calls(const struct model_trace *m, struct model_trace_scratch *s) {
    for (uint32_t i = 0, count; i < s->messages; i += count) {
        count = batch_of(i, s->messages);
        model_trace_draw(m, HPCW_I_FOR_TRACE_CALL, i, count, s->phase, 0, 1, s->word + i);
    }
    for (uint32_t r = 0, count; r < m->ranks; r += count) {
        uint32_t word[4 * MODEL_TRACE_AT_ONCE];
        count = batch_of(r, m->ranks);
        model_trace_draw(m, HPCW_I_FOR_TRACE_CALL, r, count, s->phase, 1, 4, word);
        for (uint32_t i = 0; i < count; i++) {
            model_trace_pace_begin(
                &s->pace[r + i],
                (const uint32_t[]){word[i], word[count + i], word[2 * count + i], word[3 * count + i]});
        }
    }
}

/* Gives each rank a run of events: `each` that every rank has, `steps` of rank 0, and those of its messages. */
static void divide(const struct model_trace *m, struct model_trace_scratch *s, uint64_t each, uint32_t steps) {
    uint64_t next = 0;
    for (uint32_t r = 0; r < m->ranks; r++) {
        s->cursor[r] = next;
        next += each + (r == 0 ? steps : 0) + 5 * (uint64_t)(s->first_in[r + 1] - s->first_in[r]) +
                3 * (uint64_t)(s->first_out[r + 1] - s->first_out[r]);
    }
}

static hpcw_status reserve_events(struct model_trace_scratch *s, uint64_t count, hpcw_error *err) {
    if (count > s->event_capacity) {
        const size_t capacity = (size_t)(count + count / 8);
        hpcw_i_free(s->event);
        hpcw_i_free(s->entry < s->other ? s->entry : s->other);
        s->event = hpcw_i_malloc_large(capacity * sizeof *s->event);
        s->entry = hpcw_i_malloc_large(2 * capacity * sizeof *s->entry);
        s->other = s->entry + (s->entry != NULL ? capacity : 0);
        s->event_capacity = s->event != NULL && s->entry != NULL ? capacity : 0;
    }
    return count <= s->event_capacity && count <= UINT32_MAX
               ? HPCW_OK
               : hpcw_i_fail_memory(err, "trace", (size_t)count, "events of an iteration");
}

hpcw_status model_trace_count(const struct model_trace *m, struct model_trace_scratch *s, uint32_t iteration,
                              uint64_t *events, hpcw_error *err) {
    model_trace_place(m, s, iteration);
    hpcw_status status = model_trace_list_messages(m, s, err);
    *events = status == HPCW_OK ? model_trace_events(m, iteration, s->messages) : 0;
    return status;
}

hpcw_status model_trace_iteration(const struct model_trace *m, struct model_trace_scratch *s,
                                  uint32_t iteration, struct model_trace_run *run, hpcw_error *err) {
    *run = (struct model_trace_run){.model = m};
    hpcw_status status = model_trace_count(m, s, iteration, &run->count, err);
    if (status == HPCW_OK) {
        status = model_trace_sum_work(m, s, &run->facts, err);
    }
    if (status == HPCW_OK) {
        status = reserve_events(s, run->count, err);
    }
    if (status != HPCW_OK) {
        return status;
    }
    const bool ends = iteration + 1 == m->iterations;
    const uint32_t steps = (uint32_t)(iteration > 0) + (uint32_t)ends;
    divide(m, s, (run->count - steps - UINT64_C(8) * s->messages) / m->ranks, steps);
    draw_calls(m, s);
    memset(s->now, 0, m->ranks * sizeof *s->now);
    if (iteration == 0) {
        model_trace_start(m, s);
    } else {
        finish(m, s, iteration - 1, 0, 0, &run->facts);
    }
    compute(m, s);
    transfer(m, s);
    wait_for_all(m, s);
    run->facts.duration_ns = model_trace_last(m, s);
    if (ends) {
        finish(m, s, iteration, 1, run->facts.duration_ns, &run->facts);
        model_trace_end(m, s);
        run->facts.duration_ns = model_trace_last(m, s);
    }
    run->event = s->event;
    run->message = s->message;
    run->messages = s->messages;
    run->noise = (const void *)s->noise.data;
    run->noises = s->noise.size / sizeof *run->noise;
    return HPCW_OK;
}
