/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/fit/fit.h"

#include "gen/fit/links.h"
#include "gen/fit/loads.h"
#include "gen/fit/log.h"
#include "gen/fit/sizes.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

static hpcw_status add_loads(struct gen_fit *fit, const char *path, hpcw_error *err) {
    struct gen_fit_load_data *d = hpcw_i_malloc(sizeof *d);
    if (d == NULL) {
        return hpcw_i_fail_memory(err, path, 0, NULL);
    }
    hpcw_status s = gen_fit_loads_read(path, d, err);
    s = s == HPCW_OK ? gen_fit_loads_learn(&d->whole, &fit->twin, err) : s;
    s = s == HPCW_OK ? gen_fit_loads_intervals(d, &fit->twin, err) : s;
    s = s == HPCW_OK ? gen_fit_loads_facts(&d->whole, "vom", &fit->facts, err) : s;
    gen_fit_loads_free(d);
    hpcw_i_free(d);
    return s;
}

static hpcw_status add_links(struct gen_fit *fit, const char *path, hpcw_error *err) {
    return gen_fit_links(path, &fit->facts, &fit->twin, err);
}

static hpcw_status add_log(struct gen_fit *fit, const char *path, hpcw_error *err) {
    return gen_fit_log(path, &fit->facts, &fit->twin, err);
}

static hpcw_status add_sion(struct gen_fit *fit, const char *path, hpcw_error *err) {
    return gen_fit_sion(path, &fit->facts, &fit->twin, err);
}

static hpcw_status add_checkpoints(struct gen_fit *fit, const char *path, hpcw_error *err) {
    return gen_fit_checkpoints(path, &fit->facts, &fit->twin, err);
}

static hpcw_status (*const add[GEN_FORMATS])(struct gen_fit *fit, const char *path, hpcw_error *err) = {
    [GEN_FORMAT_LINKTEST] = add_links,
    [GEN_FORMAT_SION] = add_sion,
    [GEN_FORMAT_VOM] = add_loads,
    [GEN_FORMAT_CLOG2] = add_log,
    [GEN_FORMAT_RANK2FILE] = add_checkpoints,
};

hpcw_status gen_fit_init(struct gen_fit *fit, hpcw_error *err) {
    fit->facts = (struct gen_fit_facts){0};
    return gen_fit_twin_init(&fit->twin, err);
}

void gen_fit_free(struct gen_fit *fit) {
    gen_fit_facts_free(&fit->facts);
}

hpcw_status gen_fit_add(struct gen_fit *fit, const char *path, enum gen_format_id format, hpcw_error *err) {
    fit->twin.formats |= UINT64_C(1) << format;
    return add[format](fit, path, err);
}
