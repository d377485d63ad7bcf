/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/fit/fit.h"

#include "gen/fit/links.h"
#include "gen/fit/loads.h"
#include "gen/fit/sizes.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

static hpcw_status add_loads(const char *path, struct gen_fit_facts *facts, struct gen_fit_twin *twin,
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

/* NULL: cannot be fitted. */
static hpcw_status (*const add[GEN_FORMATS])(const char *path, struct gen_fit_facts *facts,
                                             struct gen_fit_twin *twin, hpcw_error *err) = {
    [GEN_FORMAT_LINKTEST] = gen_fit_links,
    [GEN_FORMAT_SION] = gen_fit_sion,
    [GEN_FORMAT_VOM] = add_loads,
    [GEN_FORMAT_RANK2FILE] = gen_fit_checkpoints,
};

bool gen_fit_knows(enum gen_format_id format) {
    return format < GEN_FORMATS && add[format] != NULL;
}

hpcw_status gen_fit_add(const char *path, enum gen_format_id format, struct gen_fit_facts *facts,
                        struct gen_fit_twin *twin, hpcw_error *err) {
    if (twin != NULL) {
        twin->formats |= UINT64_C(1) << format;
    }
    return add[format](path, facts, twin, err);
}
