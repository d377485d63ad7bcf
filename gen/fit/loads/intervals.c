/* SPDX-License-Identifier: BSD-3-Clause */
/* How uncertain the parameters of loads are: a jackknife that leaves out blocks of ranks. */
#include <math.h>

#include "gen/fit/loads/loads.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

/* Fewer ranks make blocks of one. */
enum { LEAST_RANKS = 2 * GEN_FIT_BLOCKS };

/* Numbers that differ from one run of the model to the next by chance alone. doc/fit.md names the others, and why. */
static const char *const drawn[] = {
    "load.mean_first",    "load.mean_last",          "load.sigma_first",
    "load.sigma_last",    "load.setup_factor",       "load.setup_sigma",
    "load.skew",          "load.persistence",        "load.alike",
    "load.correlation",   "load.far_edges",          "load.edge_bytes_mean",
    "load.edge_bytes_sd", "load.edge_messages_mean", "load.edge_messages_sd",
    "load.edge_follows",
};
enum { DRAWN = sizeof drawn / sizeof drawn[0] };

static hpcw_status learn_without(const struct gen_fit_load_data *d, size_t block,
                                 const struct gen_fit_twin *twin, double value[DRAWN], hpcw_error *err) {
    struct gen_fit_loads *rest = hpcw_i_calloc(1, sizeof *rest);
    struct gen_fit_twin *again = hpcw_i_malloc(sizeof *again);
    hpcw_status s = rest != NULL && again != NULL ? gen_fit_loads_merge(d, block, rest, err)
                                                  : hpcw_i_fail_memory(err, NULL, 1, "intervals");
    if (s == HPCW_OK) {
        *again = *twin;
        s = gen_fit_loads_learn_part(rest, gen_fit_loads_begin(&d->whole), again, err);
    }
    for (size_t i = 0; s == HPCW_OK && i < DRAWN; i++) {
        value[i] = gen_fit_value(again, drawn[i]);
    }
    if (rest != NULL) {
        gen_fit_loads_clear(rest);
    }
    hpcw_i_free(rest);
    hpcw_i_free(again);
    return s;
}

hpcw_status gen_fit_loads_intervals(const struct gen_fit_load_data *d, struct gen_fit_twin *twin,
                                    hpcw_error *err) {
    const double student = 2.262; /* 95 %, of GEN_FIT_BLOCKS - 1 = 9 degrees of freedom */
    double value[GEN_FIT_BLOCKS][DRAWN];
    hpcw_status s = HPCW_OK;
    if (d->whole.ranks < LEAST_RANKS) {
        gen_fit_remark(twin, "fewer than %d ranks: no intervals of the parameters", LEAST_RANKS);
        return HPCW_OK;
    }
    for (size_t b = 0; s == HPCW_OK && b < GEN_FIT_BLOCKS; b++) {
        s = learn_without(d, b, twin, value[b], err);
    }
    for (size_t i = 0; s == HPCW_OK && i < DRAWN; i++) {
        double mean = 0;
        double squares = 0;
        for (size_t b = 0; b < GEN_FIT_BLOCKS; b++) {
            mean += value[b][i] / GEN_FIT_BLOCKS;
        }
        for (size_t b = 0; b < GEN_FIT_BLOCKS; b++) {
            squares += (value[b][i] - mean) * (value[b][i] - mean);
        }
        const double error = sqrt(squares * (GEN_FIT_BLOCKS - 1) / GEN_FIT_BLOCKS);
        if (error > 0) { /* NaN: not learned */
            const double middle = gen_fit_value(twin, drawn[i]);
            gen_fit_interval(twin, drawn[i], middle - student * error, middle + student * error);
        }
    }
    return s;
}
