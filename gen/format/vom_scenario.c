/* SPDX-License-Identifier: BSD-3-Clause */
/* Describes an imbalance that was injected into the load data, for truth.json. */
#include <string.h>

#include "gen/format/load_tally.h"
#include "gen/format/vom.h"
#include "gen/model/load/whole.h"
#include "gen/spec/visibility.h"
#include "libwriter/base/detmath.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

/* A scenario overloads a rank if it raises the load by at least this factor. */
#define LEAST_FACTOR 1.2

/* Returns the phase in which the scenario raises the imbalance by the largest factor. *effect: this factor. */
static uint32_t strongest(const struct model_load *m, const struct gen_load_tally *tally, uint32_t phases,
                          double *effect) {
    const struct model_load_params *p = &m->params;
    uint32_t at = p->scenario.first;
    *effect = 0;
    for (uint32_t k = p->scenario.first; k < p->scenario.first + phases; k++) {
        const double with = gen_tally_imbalance(&tally[k], m->ranks);
        const double without = gen_tally_calm_imbalance(&tally[k], m->ranks);
        if (without > 0 && with / without > *effect) {
            *effect = with / without;
            at = k;
        }
    }
    return at;
}

/* Effect of the scenario on a rank. first, last: phases in which the rank is overloaded. phase: phase with the
 * largest factor. */
struct overload {
    double factor; /* factor of the rank's load in `phase` */
    uint32_t phase, first, last;
};

struct ranks {
    struct model_load_whole whole;
    /* [ranks] loads in one phase, ns: with the scenario and without it */
    uint64_t *load_ns, *calm_ns;
    struct overload *overload; /* [ranks] */
    double *before;            /* [ranks] log2(load) in the phase before the scenario */
    double *change, *sorted;   /* [ranks] log2(load) minus `before` in a phase */
    size_t known;              /* number of values in `sorted` that are not NaN */
};

static void ranks_free(struct ranks *r) {
    model_load_whole_free(&r->whole);
    hpcw_i_free(r->load_ns);
    hpcw_i_free(r->overload);
    hpcw_i_free(r->before);
}

/* Free *r also after a failure. */
static hpcw_status ranks_new(struct ranks *r, const struct model_load *m, hpcw_error *err) {
    *r = (struct ranks){
        .load_ns = hpcw_i_malloc(m->ranks * 2 * sizeof *r->load_ns),
        .overload = hpcw_i_calloc(m->ranks, sizeof *r->overload),
        .before = hpcw_i_malloc(m->ranks * 3 * sizeof *r->before),
    };
    if (r->load_ns == NULL || r->overload == NULL || r->before == NULL) {
        return hpcw_i_fail_memory(err, "vom", m->ranks, "ranks");
    }
    r->calm_ns = r->load_ns + m->ranks;
    r->change = r->before + m->ranks;
    r->sorted = r->change + m->ranks;
    return model_load_whole_new(&r->whole, m, err);
}

static void measure(struct ranks *r, uint32_t phase) {
    model_load_whole_measure(&r->whole, phase);
    model_load_whole_ranks(&r->whole, r->load_ns, r->calm_ns);
}

/* Loads that have grown stay large, so a scenario can overload ranks even after its phases. */
static void find_overloaded(struct ranks *r, const struct model_load *m) {
    for (uint32_t k = m->params.scenario.first; k < m->params.phases; k++) {
        measure(r, k);
        for (uint32_t i = 0; i < m->ranks; i++) {
            const double factor = (double)r->load_ns[i] / (double)r->calm_ns[i];
            struct overload *o = &r->overload[i];
            if (factor >= LEAST_FACTOR) {
                o->first = o->factor > 0 ? o->first : k;
                o->last = k;
                o->phase = factor > o->factor ? k : o->phase;
                o->factor = factor > o->factor ? factor : o->factor;
            }
        }
    }
}

static hpcw_status put_rank(const struct gen_dataset *d, const struct ranks *r, uint32_t rank, uint32_t since,
                            struct hpcw_i_json *json, hpcw_error *err) {
    const struct overload *o = &r->overload[rank];
    char file[GEN_UNIT_PATH];
    hpcw_status s = hpcw_vom_file_name(file, sizeof file, GEN_VOM_FOLDER "/data.%p.json", rank,
                                       d->vom_params.container == GEN_VOM_BROTLI_FILES, err);
    if (s == HPCW_OK) {
        hpcw_i_json_begin_object(json);
        hpcw_i_json_put_str(json, "kind", "overloaded");
        hpcw_i_json_put_u64(json, "rank", rank);
        hpcw_i_json_put_u64(json, "first_phase", o->first);
        hpcw_i_json_put_u64(json, "phases", o->last - o->first + 1);
        hpcw_i_json_put_u64(json, "phase", o->phase);
        hpcw_i_json_put_u64(json, "since", since);
        hpcw_i_json_put_f64(json, "factor", o->factor);
        hpcw_i_json_key_array(json, "visibility");
        gen_visibility_put(json, "vom", file, gen_visibility_sd_of(r->sorted, r->known, r->change[rank]));
        hpcw_i_json_end_array(json);
        hpcw_i_json_end_object(json);
    }
    return s;
}

/* Writes the ranks that the scenario overloads, each with its phase of the largest effect. A rank is compared
 * with itself before the scenario. */
static hpcw_status put_ranks(const struct gen_dataset *d, struct hpcw_i_json *json, hpcw_error *err) {
    const struct model_load *m = &d->load;
    const uint32_t since = m->params.scenario.first - 1; /* a scenario never begins in phase 0 */
    struct ranks r;
    hpcw_status s = ranks_new(&r, m, err);
    if (s == HPCW_OK) {
        find_overloaded(&r, m);
        measure(&r, since);
        for (uint32_t i = 0; i < m->ranks; i++) {
            r.before[i] = hpcw_i_log2((double)r.load_ns[i]);
        }
    }
    hpcw_i_json_key_array(json, "ranks");
    for (uint32_t k = since + 1; s == HPCW_OK && k < m->params.phases; k++) {
        measure(&r, k);
        for (uint32_t i = 0; i < m->ranks; i++) {
            r.change[i] = hpcw_i_log2((double)r.load_ns[i]) - r.before[i];
        }
        memcpy(r.sorted, r.change, d->ranks * sizeof *r.sorted);
        r.known = gen_visibility_sort(r.sorted, d->ranks);
        for (uint32_t i = 0; s == HPCW_OK && i < m->ranks; i++) {
            if (r.overload[i].factor > 0 && r.overload[i].phase == k) {
                s = put_rank(d, &r, i, since, json, err);
            }
        }
    }
    hpcw_i_json_end_array(json);
    ranks_free(&r);
    return s;
}

/* Writes where the scenario is: the centre of a hot spot, or the home ranks of the affected objects. */
static void put_place(const struct model_load *m, struct hpcw_i_json *json) {
    const struct model_load_params *p = &m->params;
    if (p->scenario.kind == MODEL_SCENARIO_HOTSPOT) {
        hpcw_i_json_put_f64(json, "radius", m->radius);
        hpcw_i_json_put_f64(json, "centre_first", model_load_centre(m, p->scenario.first));
        hpcw_i_json_put_f64(json, "centre_step", (double)m->side[0] / p->scenario.phases);
        return;
    }
    hpcw_i_json_key(json, "home_ranks");
    hpcw_i_json_flat(json);
    hpcw_i_json_begin_array(json);
    for (uint32_t r = 0; r < m->ranks; r++) {
        if (model_load_is_hit(m, r)) {
            hpcw_i_json_u64(json, r);
        }
    }
    hpcw_i_json_end_array(json);
}

hpcw_status gen_vom_put_scenario(const struct gen_dataset *d, const struct gen_load_tally *tally,
                                 struct hpcw_i_json *json, hpcw_error *err) {
    const struct model_load_params *p = &d->load.params;
    hpcw_status s = HPCW_OK;
    hpcw_i_json_key_object(json, "scenario");
    hpcw_i_json_put_str(json, "kind", model_scenario_name[p->scenario.kind]);
    if (p->scenario.kind != MODEL_SCENARIO_NONE) {
        const uint32_t left = p->phases - p->scenario.first;
        const uint32_t phases = p->scenario.phases < left ? p->scenario.phases : left;
        double effect;
        const uint32_t phase = strongest(&d->load, tally, phases, &effect);
        hpcw_i_json_put_u64(json, "first_phase", p->scenario.first);
        hpcw_i_json_put_u64(json, "phases", phases);
        hpcw_i_json_put_f64(json, "factor", p->scenario.factor);
        hpcw_i_json_put_f64(json, "effect", effect);
        hpcw_i_json_put_u64(json, "effect_phase", phase);
        put_place(&d->load, json);
        s = put_ranks(d, json, err);
    }
    hpcw_i_json_end_object(json);
    return s;
}
