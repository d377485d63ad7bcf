/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "gen/cli/apply.h"
#include "gen/cli/commands.h"
#include "gen/dataset/directory.h"
#include "gen/format/format.h"
#include "libwriter/base/status.h"
#include "libwriter/io/fsinfo.h"

/* Formats of --formats must allow this dataset; without that option, all formats must. */
static hpcw_status choose_formats(struct gen_dataset *d, hpcw_error *err) {
    if (d->formats != 0) {
        for (size_t f = 0; f < gen_format_count; f++) {
            hpcw_error e;
            if ((d->formats >> f & 1) != 0 && gen_format[f]->limits(d, &e) != HPCW_OK) {
                *err = e;
                return e.code;
            }
        }
        return HPCW_OK;
    }
    char able[256] = "";
    hpcw_error refusal = {.code = HPCW_OK};
    for (size_t f = 0; f < gen_format_count; f++) {
        hpcw_error e;
        if (gen_format[f]->limits(d, &e) == HPCW_OK) {
            if (strlen(able) + strlen(gen_format[f]->name) + 2 < sizeof able) {
                strcat(strcat(able, able[0] == '\0' ? "" : ","), gen_format[f]->name);
            }
            d->formats |= (uint64_t)1 << f;
        } else if (refusal.code == HPCW_OK) {
            refusal = e;
        }
    }
    if (refusal.code != HPCW_OK) {
        /* Dropping formats is the user's decision. */
        return hpcw_i_fail(err, refusal.code, "%.700s; formats that can: %s", refusal.message,
                           able[0] == '\0' ? "none" : able);
    }
    return HPCW_OK;
}

hpcw_status gen_cli_apply(const struct ui_settings *settings, struct gen_dataset *d, hpcw_error *err) {
    enum { MOST = 32 };
    struct gen_param_group groups[MOST];
    size_t count = gen_dataset_group_count < MOST ? gen_dataset_group_count : MOST;
    for (size_t g = 0; g < count; g++) {
        groups[g] =
            (struct gen_param_group){gen_dataset_group[g].params, gen_dataset_group_size(&gen_dataset_group[g]),
                                     (char *)d + gen_dataset_group[g].offset};
    }
    return gen_settings_apply(settings, groups, count, err);
}

hpcw_status gen_cli_resolve(const struct gen_cli_options *o, struct gen_dataset *d, hpcw_error *err) {
    hpcw_status s = gen_dataset_init(d, o->preset, (enum gen_scale)o->scale, err);
    if (s != HPCW_OK) {
        return s;
    }
    s = gen_cli_apply(&o->set, d, err);
    if (s != HPCW_OK) {
        return s;
    }
    d->ranks = o->ranks;
    d->seed = o->seed;
    d->formats = o->formats;
    d->linktest_files = o->files;
    d->block_size = (uint32_t)o->blocksize;
    if (d->block_size == 0) {
        /* A directory that does not exist yet will be on the file system of its parent. */
        char path[GEN_DIRECTORY_PATH];
        gen_directory_path(o->out[0] == '\0' ? "." : o->out, "x", path);
        s = hpcw_i_fs_block_size(path, &d->block_size, NULL);
        if (s != HPCW_OK) {
            s = hpcw_i_fs_block_size(o->out, &d->block_size, err);
        }
    }
    if (s == HPCW_OK) {
        s = choose_formats(d, err);
    }
    return s == HPCW_OK ? gen_dataset_build(d, err) : s;
}
