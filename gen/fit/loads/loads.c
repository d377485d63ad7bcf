/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/fit/loads/loads.h"

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

hpcw_status gen_fit_vom(const char *path, struct gen_fit_facts *facts, struct gen_fit_twin *twin,
                        hpcw_error *err) {
    struct gen_fit_load_data *d = hpcw_i_malloc(sizeof *d);
    if (d == NULL) {
        return hpcw_i_fail_memory(err, path, 0, NULL);
    }
    hpcw_status s = gen_fit_loads_read(path, d, err);
    if (s == HPCW_OK && twin != NULL) {
        s = gen_fit_loads_learn(&d->whole, twin, err);
        s = s == HPCW_OK ? gen_fit_loads_intervals(d, twin, err) : s;
    }
    s = s == HPCW_OK ? gen_fit_loads_facts(&d->whole, facts, err) : s;
    gen_fit_loads_free(d);
    hpcw_i_free(d);
    return s;
}
