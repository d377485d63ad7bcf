/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/model/trace/trace.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "gen/model/draw/grid.h"
#include "gen/model/network/network.h"
#include "gen/model/trace/private.h"
#include "libwriter/base/buf.h"
#include "libwriter/base/detmath.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/rng.h"
#include "libwriter/base/status.h"

#define PARAM(name, kind, field, ...)                                                                          \
    UI_PARAM(struct model_trace_params, "trace." name, kind, field, __VA_ARGS__)

/* M: measured, see the load and LinkTest models; A: assumption. */
const struct ui_param model_trace_param[] = {
    PARAM("dims", U32, dims, 1, 3, NULL, "dimensions of the grid of ranks that exchange halos"),
    PARAM("periodic", BOOL, periodic, .help = "the grid is periodic: ranks at opposite ends are neighbours"),
    PARAM("message_bytes", SIZE, message_bytes, 1, 0x1p30, "bytes", "median size of a halo message [A]"),
    PARAM("message_sigma", F64, message_sigma, 0, 3, NULL,
          "standard deviation of ln(size of a halo message) [A]"),
    PARAM("transfer_sigma", F64, transfer_sigma, 0, 1, NULL, "standard deviation of ln(transfer time) [M]"),
    PARAM("noise", F64, noise, 0, 1, NULL,
          "probability that the system interrupts a rank while it computes [A]"),
    PARAM("noise_min", F64, noise_min_ms, 0, 1e6, "ms", "shortest interruption [M]"),
    PARAM("noise_max", F64, noise_max_ms, 0, 1e6, "ms", "longest interruption [M]"),
    PARAM("checkpoint_every", U32, checkpoint_every, 0, 1048576, NULL,
          "iterations between checkpoints; 0: none [A]"),
    PARAM("checkpoint_bytes", SIZE, checkpoint_bytes, 1, 0x1p40, "bytes", "size of a rank's checkpoint"),
    PARAM("write_rate", F64, write_gbs, 1e-6, 1e3, "GB/s", "rate at which a rank writes its checkpoint [A]"),
    PARAM("write_sigma", F64, write_sigma, 0, 2, NULL, "standard deviation of ln(time to write) [A]"),
    PARAM("skew", F64, skew_us, 0, 1e6, "us",
          "standard deviation of the ranks' clock offsets; messages can then seem to arrive before they are "
          "sent"),
};
const size_t model_trace_param_count = sizeof model_trace_param / sizeof model_trace_param[0];

void model_trace_params_init(struct model_trace_params *params) {
    *params = (struct model_trace_params){
        .dims = 2,
        .message_bytes = 256 << 10,
        .message_sigma = 0.3,
        .transfer_sigma = 0.12,
        .noise = 1e-4,
        .noise_min_ms = 2,
        .noise_max_ms = 8,
        .checkpoint_every = 10,
        .checkpoint_bytes = 32 << 10,
        .write_gbs = 0.1,
        .write_sigma = 0.5,
    };
}

/* ---- building ---- */

/* The neighbour of a rank in a direction: 2 d up, 2 d + 1 down along dimension d. */
static uint32_t neighbour(const struct model_trace *m, uint32_t rank, uint32_t direction) {
    uint32_t d = direction / 2;
    bool up = direction % 2 == 0;
    uint32_t at[3];
    model_grid_position(m->grid, rank, at);
    bool outside = up ? at[d] + 1 == m->grid[d] : at[d] == 0;
    if (m->grid[d] == 1 || (outside && !m->params.periodic)) {
        return UINT32_MAX;
    }
    at[d] = outside ? (up ? 0 : m->grid[d] - 1) : up ? at[d] + 1 : at[d] - 1;
    return model_grid_cell(m->grid, at);
}

static void link_ranks(struct model_trace *m) {
    const struct model_trace_params *p = &m->params;
    for (uint32_t r = 0; r < m->ranks; r++) {
        for (uint32_t k = 0; k < m->directions; k++) {
            struct model_trace_link *link = &m->link[(size_t)r * m->directions + k];
            uint32_t w[4];
            hpcw_i_draw(m->load->seed, HPCW_I_FOR_TRACE_MESSAGE, r, k, 0, w);
            double bytes =
                (double)p->message_bytes * hpcw_i_exp(p->message_sigma * hpcw_i_normal(w[0], w[1])) + 0.5;
            link->to = neighbour(m, r, k);
            link->bytes = bytes < 1 ? 1 : bytes < INT32_MAX ? (uint32_t)bytes : INT32_MAX;
            m->messages += link->to != UINT32_MAX;
        }
    }
}

/* The same links, by the ranks at their ends. */
static void turn_links(struct model_trace *m) {
    struct model_network net;
    model_network_init(&net, m->load->machine);
    struct model_pattern pattern = model_network_uniform(&net);
    pattern.groups = pattern.groups > 2 ? 2 : pattern.groups; /* neighbours are near */
    const struct model_contention contention = model_network_contention(&net, &pattern);
    const double usual = 1 + net.machine->params.congestion_spread;
    const uint64_t eager = m->load->machine->params.eager_net;
    for (uint32_t k = 0; k < m->directions; k++) {
        for (uint32_t r = 0; r < m->ranks; r++) {
            const struct model_trace_link *link = &m->link[(size_t)r * m->directions];
            const size_t at = (size_t)k * m->ranks + r;
            const uint32_t from = link[k ^ 1].to;
            m->use[at] = link[k].to != UINT32_MAX ? MODEL_TRACE_SENDS : 0;
            m->from[at] = r;
            m->base_ns[at] = 0;
            if (from != UINT32_MAX) {
                uint32_t bytes = m->link[(size_t)from * m->directions + k].bytes;
                m->use[at] |= bytes > eager ? MODEL_TRACE_RECEIVES | MODEL_TRACE_LARGE : MODEL_TRACE_RECEIVES;
                m->from[at] = from;
                const struct model_way way = model_network_way(&net, from, r, bytes, &contention);
                m->base_ns[at] = model_network_time(&way, usual, 0, 0) * 1e-3;
            }
        }
    }
}

static void find_patterns(struct model_trace *m) {
    for (uint32_t r = 0; r < m->ranks; r++) {
        uint8_t directs = 0;
        for (uint32_t k = 0; k < m->directions; k++) {
            directs |= (uint8_t)((m->link[(size_t)r * m->directions + k].to != UINT32_MAX) << k);
        }
        uint32_t pattern = r == 0 ? 0 : 1;
        while (pattern < m->patterns && m->directs[pattern] != directs) {
            pattern++;
        }
        if (pattern == m->patterns) {
            m->directs[m->patterns++] = directs;
        }
        m->pattern[r] = (uint8_t)pattern;
    }
}

/* Ends of messages of a rank in an exchange with all its neighbours, and the calls for them. */
static void count_exchange(const struct model_trace *m, uint32_t rank, uint32_t *ends, uint32_t *calls) {
    const struct model_trace_link *link = &m->link[(size_t)rank * m->directions];
    *ends = *calls = 0;
    for (uint32_t k = 0; k < m->directions; k++) {
        uint32_t here = (uint32_t)(link[k].to != UINT32_MAX) + (uint32_t)(link[k ^ 1].to != UINT32_MAX);
        *ends += here;
        *calls += here > 0;
    }
}

/* Events of a rank: iteration, computations, exchanges, reduction. */
static uint32_t events_of(const struct model_trace *m, uint32_t rank) {
    uint32_t ends;
    uint32_t calls;
    count_exchange(m, rank, &ends, &calls);
    return 2 + m->halos * (2 + 2 + 2 * calls + ends) + 2 + (rank == 0);
}

/* As events_of a rank that has all events, and a checkpoint. */
static uint32_t columns_of(const struct model_trace *m) {
    return 2 + m->halos * (2 + 2 + 4 * m->directions) + 2 + 1 + MODEL_TRACE_CHECKPOINT_EVENTS;
}

hpcw_status model_trace_init(struct model_trace *m, const struct model_trace_params *params,
                             const struct model_load *load, hpcw_error *err) {
    memset(m, 0, sizeof *m);
    if (params->noise_min_ms > params->noise_max_ms) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "trace.noise_min: expected at most trace.noise_max = %g ms, got %g",
                           params->noise_max_ms, params->noise_min_ms);
    }
    m->params = *params;
    m->load = load;
    m->ranks = load->ranks;
    m->iterations = load->params.phases;
    m->halos = load->params.subphases > 0 ? load->params.subphases : 1;
    m->directions = 2 * params->dims;
    model_grid_shape(m->ranks, params->dims, m->grid);
    m->most_skew_ns = (uint64_t)(params->skew_us * 1e3 * HPCW_I_NORMAL_MAX) + (params->skew_us > 0);
    m->gap_ns = MODEL_TRACE_GAP_NS + 2 * m->most_skew_ns;
    m->columns = columns_of(m);
    while (1u << m->column_bits < m->columns) {
        m->column_bits++;
    }
    const uint64_t most = (UINT64_C(1) << 32) >> m->column_bits;
    if (m->ranks > most) {
        return hpcw_i_fail(err, HPCW_ERANGE,
                           "trace: expected at most %" PRIu64
                           " ranks, so that the events of an iteration with %u subphases "
                           "can be numbered, got %u",
                           most, m->halos, m->ranks);
    }
    const size_t links = (size_t)m->ranks * m->directions;
    m->link = hpcw_i_calloc(links, sizeof *m->link);
    m->from = hpcw_i_calloc(links, sizeof *m->from);
    m->base_ns = hpcw_i_calloc(links, sizeof *m->base_ns);
    m->use = hpcw_i_calloc(links, sizeof *m->use);
    m->pattern = hpcw_i_calloc(m->ranks, sizeof *m->pattern);
    m->directs = hpcw_i_calloc(MODEL_TRACE_MOST_PATTERNS, sizeof *m->directs);
    if (m->link == NULL || m->from == NULL || m->base_ns == NULL || m->use == NULL || m->pattern == NULL ||
        m->directs == NULL) {
        model_trace_free(m);
        return hpcw_i_fail_memory(err, "trace", m->ranks, "ranks");
    }
    link_ranks(m);
    turn_links(m);
    find_patterns(m);
    for (uint32_t r = 0; r < m->ranks; r++) {
        m->events += events_of(m, r);
    }
    m->checkpoint_events = (uint64_t)MODEL_TRACE_CHECKPOINT_EVENTS * m->ranks;
    return HPCW_OK;
}

void model_trace_free(struct model_trace *m) {
    hpcw_i_free(m->link);
    hpcw_i_free(m->from);
    hpcw_i_free(m->base_ns);
    hpcw_i_free(m->use);
    hpcw_i_free(m->pattern);
    hpcw_i_free(m->directs);
    memset(m, 0, sizeof *m);
}

bool model_trace_is_checkpoint(const struct model_trace *m, uint32_t iteration) {
    uint32_t every = m->params.checkpoint_every;
    return every > 0 && (iteration + 1) % every == 0;
}

uint64_t model_trace_events(const struct model_trace *m, uint32_t iteration) {
    return m->events + (model_trace_is_checkpoint(m, iteration) ? m->checkpoint_events : 0);
}

int64_t model_trace_skew(const struct model_trace *m, uint32_t rank) {
    if (m->most_skew_ns == 0) {
        return 0;
    }
    uint32_t w[4];
    hpcw_i_draw(m->load->seed, HPCW_I_FOR_TRACE_CLOCK, rank, 0, 0, w);
    return (int64_t)(m->params.skew_us * 1e3 * hpcw_i_normal(w[0], w[1]));
}
