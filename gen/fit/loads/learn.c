/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <math.h>

#include "gen/fit/loads/learning.h"
#include "libwriter/base/detmath.h"

static void learn_structure(struct fit_learning *g) {
    const struct gen_fit_loads *l = g->l;
    if (l->indexed > 0) {
        fit_learn(g, "load.dims", round(l->dimensions / l->indexed), GEN_FIT_PER_RUN);
    }
    g->dims = g->twin->dataset.load_params.dims;
    fit_learn(g, "load.phases", (double)l->phases, GEN_FIT_PER_RUN);
    if (l->phases < g->twin->dataset.ckpt_params.checkpoints) { /* at most one checkpoint for each phase */
        fit_learn(g, "rank2file.checkpoints", (double)l->phases, GEN_FIT_PER_RUN);
    }
    fit_learn_text(g, "load.setup", g->begin == 1 ? "yes" : "no", GEN_FIT_PER_RUN);
    fit_learn(g, "load.subphases", l->subphases_tasks > 0 ? round(l->subphases / l->subphases_tasks) : 0,
              GEN_FIT_PER_OBJECT);
    fit_learn(g, "load.groups", round(l->groups / l->counts), GEN_FIT_PER_RANK);
    if (g->run.tasks < GEN_FIT_LEAST_VALUES) {
        gen_fit_remark(g->twin,
                       "fewer than %d migratable tasks, whose mean would tell them: the loads are the defaults",
                       GEN_FIT_LEAST_VALUES);
    }
    if (l->ppn > 0) {
        fit_learn(g, "machine.ppn", l->ppn, GEN_FIT_PER_NODE);
        fit_learn(g, "machine.cores", fmax(l->ppn, g->twin->dataset.machine_params.cores), GEN_FIT_PER_NODE);
    }
}

/* Learns the time of a rank's handler: the time of work that cannot move, minus the time that the model gives to
 * the members of object groups. */
static void learn_fixed(struct fit_learning *g) {
    const struct gen_fit_loads *l = g->l;
    const size_t i = l->fixed[1] > 0;
    if (l->fixed[i] >= GEN_FIT_LEAST_VALUES) {
        const uint32_t groups = g->twin->dataset.load_params.groups;
        const uint32_t half = groups / 2;
        const double of_groups = 1e-9 * MODEL_LOAD_GROUP_NS * (groups - half);
        const double seconds = hpcw_i_exp(l->ln_fixed[i] / l->fixed[i]);
        fit_learn(g, "load.handler_time", 1e3 * fmax(seconds - of_groups, GEN_FIT_LEAST_SECONDS),
                  GEN_FIT_PER_RANK);
    }
}

/* Learns how many places for objects (some are empty) share a memory block, from the measured number of blocks of a
 * rank. In the model, consecutive places of a rank share a block. */
static void learn_memory(struct fit_learning *g) {
    const struct gen_fit_loads *l = g->l;
    const struct model_load_params *p = &g->twin->dataset.load_params;
    if (l->memory.blocks == 0) {
        fit_learn(g, "load.block_objects", 0, GEN_FIT_PER_RANK);
        return;
    }
    const double places = (double)p->objects * p->collections;
    fit_learn(g, "load.block_objects", fmax(1, round(places * l->counts / l->memory.blocks)), GEN_FIT_PER_RANK);
    if (l->memory.blocks >= GEN_FIT_LEAST_VALUES) {
        const double mean = l->memory.ln_block / l->memory.blocks;
        const double variance = l->memory.ln_block_squares / l->memory.blocks - mean * mean;
        fit_learn(g, "load.block_bytes", hpcw_i_exp(mean), GEN_FIT_PER_RANK);
        fit_learn(g, "load.block_sd", variance > 1e-9 ? sqrt(variance) : 0, GEN_FIT_PER_RANK);
    }
    if (l->memory.footprints == 0) { /* tasks do not report their own memory */
        fit_learn(g, "load.footprint", 1, GEN_FIT_PER_OBJECT);
    } else if (l->memory.footprints >= GEN_FIT_LEAST_VALUES) {
        /* The mean logarithm of the model's footprints is lower than ln(load.footprint) by half of their
         * variance: 0.4 * 0.4 / 2. */
        fit_learn(g, "load.footprint", hpcw_i_exp(l->memory.ln_footprint / l->memory.footprints + 0.08),
                  GEN_FIT_PER_OBJECT);
    }
    if (l->memory.rank_memories >= GEN_FIT_LEAST_VALUES) {
        fit_learn(g, "load.rank_bytes", l->memory.rank_bytes / l->memory.rank_memories, GEN_FIT_PER_RANK);
    }
}

hpcw_status gen_fit_loads_learn(const struct gen_fit_loads *l, struct gen_fit_twin *twin, hpcw_error *err) {
    struct fit_learning g = {.l = l,
                             .twin = twin,
                             .begin = gen_fit_loads_begin(l),
                             .fill = 1,
                             .lasts = twin->dataset.load_params.variance.persistence,
                             .near = twin->dataset.load_params.variance.alike,
                             .err = err};
    g.run = gen_fit_loads_moments(l, g.begin, FIT_LAST_GROUP);
    learn_structure(&g);
    if (l->count_sum > 0) {
        fit_learn_objects(&g);
        learn_fixed(&g);
        learn_memory(&g);
    }
    if (g.run.tasks >= GEN_FIT_LEAST_VALUES) {
        fit_learn_distribution(&g);
        fit_learn_correlations(&g);
        fit_learn_course(&g);
        fit_learn_edges(&g);
        fit_learn_handlers(&g);
    }
    static const char *const unknown =
        "not learned, so default: interruptions, slow nodes, balancer, "
        "scenario, working memory of tasks, work of groups, that of phase 0 that cannot move";
    gen_fit_remark(twin, "%s", unknown);
    if (l->uneven > 0) {
        gen_fit_remark(twin,
                       "%u ranks have not as many phases as the first one, %" PRIu64 ": rank %u has %" PRIu64,
                       l->uneven, l->first_phases, l->uneven_rank, l->uneven_phases);
    }
    if (l->mended > 0) {
        gen_fit_remark(twin, "%" PRIu64 " records break a rule of the format, as hpcgen verify says",
                       l->mended);
    }
    if (l->unread_user_defined > 0) {
        gen_fit_remark(twin, "not learned, so missing: user-defined values of tasks");
    }
    twin->ranks = l->ranks > twin->ranks ? l->ranks : twin->ranks;
    if (g.status == HPCW_OK && g.run.tasks >= GEN_FIT_LEAST_VALUES) {
        g.status = gen_fit_loads_learn_seed(l, twin, err);
        g.status = g.status == HPCW_OK ? gen_fit_loads_correct_volumes(l, twin, err) : g.status;
    }
    return g.status;
}
