/* SPDX-License-Identifier: BSD-3-Clause */
/* How the ranks write a checkpoint: each a file of its own, all to the same servers. */
#include "gen/model/trace/track.h"
#include "libwriter/base/detmath.h"

/* Medians, nanoseconds: of a call, and of what the metadata server needs for a file. */
enum { OPEN_NS = 50000, CREATE_NS = 8000, CLOSE_NS = 30000 };

/* What the first call takes longer in the first checkpoint, at most. */
enum { COLD_NS = 40000 };

/* The number of servers, over which files are spread in turn. */
enum { SERVERS = 8 };

/* Of the variance of ln(time to write), what the server has for all its files. */
static const double of_server = 0.6;

/* The share of the files that must wait until the server has written what its memory holds, and how long, at least. */
static const double waits_for_disk = 0.04;
static const double disk_ns = 3e6;

/* The ranks in the order in which they arrive, in the high half of each entry. Those that come more than four seconds after
 * the first one count as equal. */
static const uint64_t *in_order(const struct model_trace *m, const struct model_trace_scratch *s) {
    uint64_t least = s->now[0];
    for (uint32_t r = 1; r < m->ranks; r++) {
        least = s->now[r] < least ? s->now[r] : least;
    }
    for (uint32_t r = 0; r < m->ranks; r++) {
        const uint64_t after = s->now[r] - least;
        s->entry[r] = (uint64_t)r << 32 | (after < UINT32_MAX ? after : UINT32_MAX);
    }
    return model_trace_sort(s->entry, s->other, m->ranks, 32);
}

/* One metadata server creates the files, in the order in which the ranks ask. Returns when rank 0 begins. */
static uint64_t open_files(const struct model_trace *m, struct model_trace_scratch *s, double busy) {
    uint64_t begin = 0;
    for (uint32_t r = 0; r < m->ranks; r++) {
        struct track t = track_of(m, s, r);
        after_pause(&t, MODEL_TRACE_CHECKPOINT, 0);
        begin = r == 0 ? t.now : begin;
        after_pause(&t, MODEL_TRACE_OPEN, 0);
        end_track(&t);
    }
    const uint64_t *order = in_order(m, s);
    uint64_t served = 0;
    for (uint32_t i = 0; i < m->ranks; i++) {
        struct track t = track_of(m, s, (uint32_t)(order[i] >> 32));
        served = (t.now > served ? t.now : served) + (uint64_t)(busy * CREATE_NS);
        t.now = served;
        takes(&t, busy * OPEN_NS);
        happens(&t, MODEL_TRACE_OPEN + 1, 0);
        end_track(&t);
    }
    return begin;
}

/* Logarithms of the time that each server takes for a byte, less that of all. */
static void ask_servers(const struct model_trace *m, uint32_t iteration, double ln_slow[SERVERS]) {
    for (uint32_t i = 0; i < SERVERS; i++) {
        uint32_t w[4];
        hpcw_i_draw(m->load->seed, HPCW_I_FOR_TRACE_WRITE, i, iteration, 2, w);
        ln_slow[i] = m->params.write_sigma * of_server * hpcw_i_normal(w[0], w[1]);
    }
}

static double write_ns(const struct model_trace *m, uint32_t iteration, uint32_t rank, double bytes,
                       double ln_slow) {
    const double own = sqrt(1 - of_server * of_server) * m->params.write_sigma;
    const uint64_t threshold = hpcw_i_threshold(waits_for_disk);
    uint32_t w[4];
    hpcw_i_draw(m->load->seed, HPCW_I_FOR_TRACE_WRITE, rank, iteration, 0, w);
    const double waits = w[2] < threshold ? disk_ns / (1 - 0.9 * ((double)w[2] / (double)threshold)) : 0;
    return bytes / m->params.write_gbs * hpcw_i_exp(ln_slow + own * hpcw_i_normal(w[0], w[1])) + waits;
}

uint64_t model_trace_write_files(const struct model_trace *m, struct model_trace_scratch *s, uint32_t iteration,
                                 uint32_t of_this) {
    const uint32_t number = model_checkpoint_after(m->checkpoint, iteration);
    double ln_slow[SERVERS];
    uint32_t w[4];
    hpcw_i_draw(m->load->seed, HPCW_I_FOR_TRACE_WRITE, 0, iteration, 1, w);
    const double busy = hpcw_i_exp(m->params.write_sigma * hpcw_i_normal(w[0], w[1]));
    ask_servers(m, iteration, ln_slow);
    for (uint32_t r = 0; r < m->ranks; r++) {
        model_trace_chill(&s->pace[r], number == 0 ? COLD_NS : COLD_NS / 10);
    }
    const uint64_t begin = open_files(m, s, busy);
    for (uint32_t r = 0; r < m->ranks; r++) {
        struct track t = track_of(m, s, r);
        const uint64_t file = (uint64_t)number * m->ranks + r;
        after_pause(&t, MODEL_TRACE_WRITE, 0);
        t.now += TRACER_NS +
                 (uint64_t)(busy * write_ns(m, iteration, r, (double)model_checkpoint_size(m->checkpoint, file),
                                            ln_slow[r % SERVERS]));
        happens(&t, MODEL_TRACE_WRITE + 1, 0);
        after_pause(&t, MODEL_TRACE_CLOSE, 0);
        takes(&t, busy * CLOSE_NS);
        happens(&t, MODEL_TRACE_CLOSE + 1, 0);
        after_pause(&t, MODEL_TRACE_CHECKPOINT + 1, of_this);
        end_track(&t);
    }
    return begin;
}
