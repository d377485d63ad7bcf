/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/fit/loads/loads.h"

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

hpcw_status gen_fit_vom(const char *path, struct gen_fit_facts *facts, struct gen_fit_twin *twin,
                        hpcw_error *err) {
    struct gen_fit_loads *l = hpcw_i_malloc(sizeof *l);
    if (l == NULL) {
        return hpcw_i_fail_memory(err, path, 0, NULL);
    }
    hpcw_status s = gen_fit_loads_read(path, l, err);
    if (s == HPCW_OK && twin != NULL) {
        s = gen_fit_loads_learn(l, twin, err);
    }
    s = s == HPCW_OK ? gen_fit_loads_facts(l, facts, err) : s;
    gen_fit_loads_free(l);
    hpcw_i_free(l);
    return s;
}
