/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/fit/loads/learning.h"

void fit_learn(struct fit_learning *g, const char *key, double value, enum gen_fit_scale scale) {
    if (g->status == HPCW_OK) {
        g->status = gen_fit_learn(g->twin, key, value, scale, g->err);
    }
}

void fit_learn_text(struct fit_learning *g, const char *key, const char *text, enum gen_fit_scale scale) {
    if (g->status == HPCW_OK) {
        g->status = gen_fit_learn_text(g->twin, key, text, scale, g->err);
    }
}
