/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/fit/facts.h"

#include <math.h>
#include <stdbool.h>

#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

static void free_values(const struct gen_fit_fact *fact) {
    hpcw_i_free(fact->half[0]);
    hpcw_i_free(fact->half[1]);
    hpcw_i_free(fact->piece);
}

static bool is_of_parts(enum gen_fit_kind kind) {
    return kind == GEN_FIT_MIX || kind == GEN_FIT_MATRIX || kind == GEN_FIT_LARGEST;
}

hpcw_status gen_fit_facts_add(struct gen_fit_facts *facts, const struct gen_fit_fact *fact, hpcw_error *err) {
    const bool known = fact->kind == GEN_FIT_MARGINAL ? fact->half[0]->count + fact->half[1]->count > 0
                       : is_of_parts(fact->kind)      ? fact->pieces > 0
                                                      : !isnan(fact->value);
    struct gen_fit_fact *grown = NULL;
    if (known) {
        grown = hpcw_i_grow(facts->item, &facts->capacity, facts->count + 1, sizeof *grown);
    }
    if (grown == NULL) {
        free_values(fact);
        return known ? hpcw_i_fail_memory(err, NULL, facts->count + 1, "statistics") : HPCW_OK;
    }
    facts->item = grown;
    facts->item[facts->count++] = *fact;
    return HPCW_OK;
}

void gen_fit_facts_free(struct gen_fit_facts *facts) {
    for (size_t i = 0; i < facts->count; i++) {
        free_values(&facts->item[i]);
    }
    hpcw_i_free(facts->item);
    *facts = (struct gen_fit_facts){0};
}
