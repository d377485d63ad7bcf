/* SPDX-License-Identifier: BSD-3-Clause */
/* Learns which share of the variance of an object's work persists from phase to phase, at the begin and at the
 * end of a run. */
#include <math.h>

#include "gen/fit/loads/loads.h"
#include "gen/fit/shape.h"
#include "libwriter/base/detmath.h"

double gen_fit_loads_middle(const struct gen_fit_loads *l, size_t group) {
    return group == 0 ? 1 : 1 + ((double)group - 0.5) * (double)l->width - 0.5;
}

/* Returns the share of the variance that persists in a phase. As in the model, the share that does not persist
 * changes by the same factor in each phase. */
static double lasting_in(const struct gen_fit_loads *l, const double ln_fresh[2], double phase) {
    const double passed = l->phases > 2 ? fmax(0, phase - 1) / (double)(l->phases - 2) : 0;
    return 1 - hpcw_i_exp(ln_fresh[0] + passed * (ln_fresh[1] - ln_fresh[0]));
}

/* Correlations of an object's work in a group of phases with its earlier work; NaN: unknown. next: with its work
 * one phase earlier. early: with its work in the last earlier phase whose number is a power of two. */
struct fit_kept {
    double next, early, weight;
};

static double error_of(const struct gen_fit_loads *l, const struct fit_kept *seen, const double ln_fresh[2]) {
    double error = 0;
    for (size_t i = 1; i < GEN_FIT_GROUPS; i++) {
        const double phase = gen_fit_loads_middle(l, i);
        double power = 1;
        while (2 * power < phase) {
            power *= 2;
        }
        const double here = lasting_in(l, ln_fresh, phase);
        const double next = seen[i].next - sqrt(here * lasting_in(l, ln_fresh, phase - 1));
        const double early = seen[i].early - sqrt(here * lasting_in(l, ln_fresh, power));
        error += seen[i].weight * ((isnan(next) ? 0 : next * next) + (isnan(early) ? 0 : early * early));
    }
    return error;
}

/* Least squares by coordinate search. ln_fresh: ln of the share that does not persist, at the begin and the end
 * of the run. Trials change one value or both by a step, which is halved when none improves the fit. */
static void search(const struct gen_fit_loads *l, const struct fit_kept *seen, double ln_fresh[2]) {
    enum { HALVINGS = 8 };
    static const double way[][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, 1}, {-1, -1}, {1, -1}, {-1, 1}};
    const double least = -9; /* lower bound of ln_fresh: a share of about 1 in 10,000 does not persist */
    double error = error_of(l, seen, ln_fresh);
    double step = 1;
    for (int halved = 0; halved < HALVINGS;) {
        bool better = false;
        for (size_t i = 0; i < sizeof way / sizeof way[0]; i++) {
            const double tried[2] = {fmax(least, fmin(0, ln_fresh[0] + step * way[i][0])),
                                     fmax(least, fmin(0, ln_fresh[1] + step * way[i][1]))};
            const double e = error_of(l, seen, tried);
            if (e < error) {
                error = e;
                ln_fresh[0] = tried[0];
                ln_fresh[1] = tried[1];
                better = true;
            }
        }
        if (!better) {
            step *= 0.5;
            halved++;
        }
    }
}

struct gen_fit_lasting gen_fit_loads_lasting(const struct gen_fit_loads *l,
                                             const struct model_load_tail *tail) {
    struct fit_kept seen[GEN_FIT_GROUPS] = {{0}};
    struct gen_fit_lasting p = {.known = false};
    double sum = 0;
    double weights = 0;
    for (size_t i = 1; i < GEN_FIT_GROUPS; i++) {
        const double next = gen_fit_loads_correlation(l, GEN_FIT_NEXT, 2, i, i);
        const double early = gen_fit_loads_correlation(l, GEN_FIT_EARLY, 2, i, i);
        seen[i].weight = gen_fit_loads_moments(l, i, i).tasks;
        seen[i].next = isnan(next) ? NAN : gen_fit_correlation_behind(tail, fmax(0, next));
        seen[i].early = isnan(early) ? NAN : gen_fit_correlation_behind(tail, fmax(0, early));
        p.known = p.known || !isnan(next);
    }
    double ln_fresh[2] = {-1, -1};
    search(l, seen, ln_fresh);
    for (size_t i = 1; i < GEN_FIT_GROUPS; i++) {
        sum += seen[i].weight * lasting_in(l, ln_fresh, gen_fit_loads_middle(l, i));
        weights += seen[i].weight;
    }
    p.first = lasting_in(l, ln_fresh, 1);
    p.last = lasting_in(l, ln_fresh, (double)l->phases - 1);
    p.mean = weights > 0 ? sum / weights : p.first;
    return p;
}
