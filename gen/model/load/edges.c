/* SPDX-License-Identifier: BSD-3-Clause */
/* Edges of the communication graph, and their volumes. */
#include <math.h>
#include <string.h>

#include "gen/model/draw/grid.h"
#include "gen/model/draw/permute.h"
#include "gen/model/load/mesh.h"
#include "gen/model/load/round.h"
#include "libwriter/base/detmath.h"
#include "libwriter/base/rng.h"

/* Returns the object of a collection at a position of the index space. */
static uint32_t object_at(const struct model_load *m, uint32_t collection, const uint32_t at[3]) {
    uint32_t home[3];
    uint32_t in_block[3];
    for (int d = 0; d < 3; d++) {
        home[d] = at[d] / m->block[d];
        in_block[d] = at[d] % m->block[d];
    }
    return model_grid_cell(m->grid, home) * m->per_rank + collection * m->params.objects +
           model_grid_cell(m->block, in_block);
}

static uint32_t add_sender(const struct model_load *m, uint32_t object, uint32_t candidate, uint32_t kind,
                           struct model_load_edge *edge, uint32_t count) {
    bool is_new = candidate != object && model_load_exists(m, candidate);
    for (uint32_t i = 0; i < count; i++) {
        is_new = is_new && edge[i].from != candidate;
    }
    if (is_new) {
        edge[count++] = (struct model_load_edge){candidate, kind};
    }
    return count;
}

uint32_t model_load_senders(const struct model_load *m, uint32_t object,
                            struct model_load_edge edge[MODEL_LOAD_MOST_KINDS]) {
    const uint32_t collection = model_load_collection(m, object);
    uint32_t count = 0;
    uint32_t at[3];
    if (m->kinds == 0) {
        return 0;
    }
    model_load_index(m, object, at);
    for (uint32_t d = 0; d < m->params.dims; d++) {
        for (uint32_t up = 0; up < 2; up++) {
            uint32_t there[3] = {at[0], at[1], at[2]};
            bool outside = up ? at[d] + 1 == m->side[d] : at[d] == 0;
            if (outside && !m->params.periodic) {
                continue;
            }
            there[d] = outside ? (up ? 0 : m->side[d] - 1) : up ? at[d] + 1 : at[d] - 1;
            count = add_sender(m, object, object_at(m, collection, there), 2 * d + up, edge, count);
        }
    }
    if (m->params.collections > 1 && m->params.comm == MODEL_COMM_STENCIL) {
        uint32_t before = (collection + m->params.collections - 1) % m->params.collections;
        count = add_sender(m, object, object_at(m, before, at), 6, edge, count);
    }
    for (uint32_t channel = 0; channel < m->channels; channel++) {
        const double share =
            m->params.edge.far_channels > 0 ? m->params.edge.far / m->channels : m->params.edge.far - channel;
        const struct model_permutation to = {m->objects, channel, m->seed, HPCW_I_FOR_LOAD_FAR};
        uint32_t from = model_permute_back(&to, object);
        uint32_t w[4];
        hpcw_i_draw(m->seed, HPCW_I_FOR_LOAD_FAR_USED, from, channel, 0, w);
        if (w[0] < hpcw_i_threshold(share)) {
            count = add_sender(m, object, from, 7 + channel, edge, count);
        }
    }
    return count;
}

/* Returns the number of the period that a phase is in. The volumes of edges are constant within a period. */
static uint32_t period_of(const struct model_load *m, uint32_t phase) {
    return m->params.edge.phases == 0 ? 0 : phase / m->params.edge.phases;
}

bool model_load_same_volumes(const struct model_load *m, uint32_t phase, uint32_t other) {
    return period_of(m, phase) == period_of(m, other) && m->phase[phase].layers == m->phase[other].layers;
}

/* Standard deviation by which ln(bytes) and ln(messages) of a period differ from their persistent values: about
 * 10 % [A], none in period 0. */
static double change_in(uint32_t period) {
    return period == 0 ? 0 : 0.1;
}

/* Standard deviation of the sum of two neighbours' persistent work, each with variance 1. 1.6 stands for a
 * correlation of 0.28, about load.alike * load.correlation. */
static const double sum_of_two = 1.6;

/* Constants of MODEL_COMM_SAMPLE [L]. sample_messages_*: ln(messages) between handlers. group_mean, group_sd:
 * ln(bytes) from an object to its group. group_follows: share of group_sd that follows the object's work; it
 * gives work and bytes a correlation of 0.65 [L]. */
static const double sample_messages_mean = 3.45, sample_messages_sd = 1.33;
static const double group_mean = 10.53, group_sd = 0.54, group_follows = 0.69;
enum { GROUP_MESSAGES = 25 };

/* Constant volumes {bytes, messages} of some kinds of edges [L]. */
static const struct model_load_volume sample_volume[] = {
    [MODEL_LOAD_FROM_GROUP - MODEL_LOAD_TO_GROUP] = {212, 1},
    [MODEL_LOAD_TO_OTHER_GROUP - MODEL_LOAD_TO_GROUP] = {168, 1},
    [MODEL_LOAD_TO_ITSELF - MODEL_LOAD_TO_GROUP] = {168, 1},
    [MODEL_LOAD_BROADCAST - MODEL_LOAD_TO_GROUP] = {376, 2},
};

/* Volumes are multiples of this number of bytes, the size of a double. */
enum { ELEMENT = 8 };

/* Returns whether the volume of a kind of edges follows from the mesh. */
static bool is_face(const struct model_load *m, uint32_t kind) {
    return m->params.comm == MODEL_COMM_MESH && kind < MODEL_LOAD_NEIGHBOURS;
}

static const double ln2 = 0.69314718055994531;

struct model_load_flow model_load_flow(const struct model_load *m, uint32_t owner, uint32_t kind,
                                       double follows) {
    const struct model_load_params *p = &m->params;
    const bool handlers = kind >= MODEL_LOAD_MOST_KINDS;
    uint32_t w[4];
    if (is_face(m, kind)) {
        return (struct model_load_flow){.ln_bytes =
                                            ln2 * hpcw_i_log2(ELEMENT * model_load_face(m, owner, kind / 2))};
    }
    hpcw_i_draw(m->seed, HPCW_I_FOR_LOAD_EDGE, owner, kind, 0, w);
    double z = hpcw_i_normal(w[0], w[1]);
    if (kind == MODEL_LOAD_TO_GROUP) {
        z = group_follows * follows + sqrt(1 - group_follows * group_follows) * z;
        return (struct model_load_flow){.ln_bytes = group_mean + group_sd * z};
    }
    if (!handlers) {
        z = p->edge.follows * follows / sum_of_two + sqrt(1 - p->edge.follows * p->edge.follows) * z;
    }
    /* Bytes and messages have a correlation of 0.6 [A]. */
    double z_messages = 0.6 * z + 0.8 * hpcw_i_normal(w[2], w[3]);
    const bool sample = p->comm == MODEL_COMM_SAMPLE;
    return (struct model_load_flow){
        .ln_bytes = handlers ? p->handler.bytes_mean + p->handler.bytes_sd * z
                             : p->edge.bytes_mean + p->edge.bytes_sd * z,
        .ln_messages = (sample ? sample_messages_mean : p->edge.messages_mean) +
                       (sample ? sample_messages_sd : p->edge.messages_sd) * z_messages,
    };
}

static uint64_t whole(double bytes, uint32_t unit) {
    return bytes < unit                            ? unit
           : bytes < (double)MODEL_LOAD_MOST_BYTES ? (uint64_t)(bytes / unit + 0.5) * unit
                                                   : MODEL_LOAD_MOST_BYTES / unit * unit;
}

/* Rounds ln(bytes) to the nearest allowed value. Edges between handlers may have smaller values than those between
 * objects. */
static double size_of(const struct model_load *m, uint32_t kind, double ln_bytes) {
    const struct model_load_params *p = &m->params;
    const double step = p->edge.sizes > 0 ? 6 * p->edge.bytes_sd / p->edge.sizes : 0;
    if (step == 0 || p->comm != MODEL_COMM_STENCIL) {
        return ln_bytes;
    }
    const double number = floor((ln_bytes - m->least_ln_bytes) / step + 0.5);
    const double least = kind < MODEL_LOAD_MOST_KINDS ? 0 : -INFINITY;
    return m->least_ln_bytes + step * fmin(fmax(number, least), p->edge.sizes - 1);
}

static uint32_t unit_of(const struct model_load *m, uint32_t kind) {
    return kind < MODEL_LOAD_NEIGHBOURS ? m->params.edge.unit : ELEMENT;
}

struct model_load_volume model_load_volume(const struct model_load *m, uint32_t owner, uint32_t kind,
                                           struct model_load_flow flow, uint32_t phase) {
    if (kind >= MODEL_LOAD_TO_GROUP) {
        return kind > MODEL_LOAD_TO_GROUP
                   ? sample_volume[kind - MODEL_LOAD_TO_GROUP]
                   : (struct model_load_volume){whole(hpcw_i_exp(flow.ln_bytes), ELEMENT), GROUP_MESSAGES};
    }
    if (is_face(m, kind)) {
        const uint32_t layers = m->phase[phase].layers;
        return (struct model_load_volume){whole(hpcw_i_exp(flow.ln_bytes), ELEMENT) * layers, layers};
    }
    uint32_t now[4];
    const uint32_t period = period_of(m, phase);
    const double change = change_in(period);
    hpcw_i_draw(m->seed, HPCW_I_FOR_LOAD_EDGE_PHASE, owner, kind, period, now);
    const uint64_t bytes = whole(
        hpcw_i_exp(size_of(m, kind, flow.ln_bytes + change * hpcw_i_normal(now[0], now[1]))), unit_of(m, kind));
    uint64_t messages =
        model_load_at_least_1(hpcw_i_exp(flow.ln_messages + change * hpcw_i_normal(now[2], now[3])));
    return (struct model_load_volume){.bytes = bytes,
                                      .messages = messages < bytes / ELEMENT ? messages : bytes / ELEMENT};
}
