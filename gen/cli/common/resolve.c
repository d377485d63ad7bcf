/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "gen/cli/common/common.h"
#include "gen/dataset/directory/directory.h"
#include "gen/format/format.h"
#include "libwriter/base/status.h"
#include "libwriter/io/fsinfo.h"
#include "ui/cli/text.h"

static bool allows(const struct gen_format *format, const struct gen_dataset *d, hpcw_error *err) {
    return format->limits == NULL || format->limits(d, err) == HPCW_OK;
}

/* Checks that the formats of --formats can hold this dataset. Without --formats, all formats must be able to. */
static hpcw_status choose_formats(struct gen_dataset *d, hpcw_error *err) {
    if (d->formats != 0) {
        for (size_t f = 0; f < gen_format_count; f++) {
            hpcw_error e;
            if ((d->formats >> f & 1) != 0 && !allows(gen_format[f], d, &e)) {
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
        if (allows(gen_format[f], d, &e)) {
            if (strlen(able) + strlen(gen_format[f]->name) + 2 < sizeof able) {
                strcat(strcat(able, able[0] == '\0' ? "" : ","), gen_format[f]->name);
            }
            d->formats |= (uint64_t)1 << f;
        } else if (refusal.code == HPCW_OK) {
            refusal = e;
        }
    }
    if (refusal.code != HPCW_OK) {
        /* Only the user may decide to leave formats out, so this fails. */
        return hpcw_i_fail(err, refusal.code, "%.700s; formats that can: %s", refusal.message,
                           able[0] == '\0' ? "none" : able);
    }
    return HPCW_OK;
}

/* Returns the known key that the user probably meant, or NULL: a key with a similar name or, for a name without
 * a group, such as "messages", the only key that ends in this name: linktest.messages. */
static const char *nearest_key(const char *key) {
    const char *near = ui_text_nearest(key, gen_dataset_key, NULL);
    if (near != NULL || strchr(key, '.') != NULL) {
        return near;
    }
    const char *full;
    for (size_t i = 0; (full = gen_dataset_key(NULL, i)) != NULL; i++) {
        if (strcmp(strchr(full, '.') + 1, key) == 0) {
            if (near != NULL) {
                return NULL;
            }
            near = full;
        }
    }
    return near;
}

/* Applies a setting of the workload. *done: the key begins with "workload."; set even after a failure. */
static hpcw_status apply_to_workload(const struct ui_setting *setting, struct gen_dataset *d, bool *done,
                                     hpcw_error *err) {
    static const char own[] = "workload.";
    *done = false;
    if (strncmp(setting->key, own, sizeof own - 1) == 0) {
        *done = true;
        return d->workload != NULL
                   ? gen_workload_set(d->workload, setting->key + sizeof own - 1, setting->value, err)
                   : hpcw_i_fail(err, HPCW_EINVAL, "%s: %s: expected --workload, got none", setting->origin,
                                 setting->key);
    }
    return HPCW_OK;
}

hpcw_status gen_cli_apply(const struct ui_settings *settings, struct gen_dataset *d, hpcw_error *err) {
    for (size_t s = 0; s < settings->count; s++) {
        const struct ui_setting *setting = &settings->items[s];
        const struct gen_dataset_group *group;
        const struct ui_param *param;
        size_t i = 0;
        bool done;
        hpcw_status status = apply_to_workload(setting, d, &done, err);
        if (done && status == HPCW_OK) {
            continue;
        }
        if (done) {
            return status;
        }
        while ((param = gen_dataset_param(i, &group)) != NULL && strcmp(param->key, setting->key) != 0) {
            i++;
        }
        if (param == NULL) {
            const char *near = nearest_key(setting->key);
            return hpcw_i_fail(err, HPCW_EINVAL, "%s: expected a parameter, got \"%s\"%s%s%s", setting->origin,
                               setting->key, near == NULL ? "" : "; did you mean ", near == NULL ? "" : near,
                               near == NULL ? "" : "?");
        }
        status = ui_param_set(param, (char *)d + group->offset, setting->value, err);
        if (status != HPCW_OK) {
            return ui_fail_at(err, status, setting->origin);
        }
    }
    return HPCW_OK;
}

static bool is_set(const struct ui_settings *settings, const char *key) {
    size_t s = 0;
    while (s < settings->count && strcmp(settings->items[s].key, key) != 0) {
        s++;
    }
    return s < settings->count;
}

hpcw_status gen_cli_resolve(const struct gen_cli_options *o, bool writes_log, struct gen_dataset *d,
                            hpcw_error *err) {
    hpcw_status s = gen_dataset_init(d, o->preset, (enum gen_scale)o->scale, err);
    if (s != HPCW_OK) {
        return s;
    }
    if (o->workload.name[0] != '\0') {
        const char *text = o->workload.text[0] != '\0' ? o->workload.text : NULL;
        s = gen_workload_load(o->workload.name, text, &d->workload, err);
    }
    s = s == HPCW_OK ? gen_cli_apply(&o->set, d, err) : s;
    if (s != HPCW_OK) {
        return s;
    }
    d->writes_log = writes_log;
    d->ranks = o->ranks;
    d->seed = o->seed;
    gen_dataset_draw_length(d, is_set(&o->set, "load.phases"), is_set(&o->set, "rank2file.checkpoints"));
    d->formats = o->formats;
    d->linktest_files = o->layout.files;
    d->block_size = (uint32_t)o->layout.blocksize;
    if (d->block_size == 0) {
        /* If the directory does not exist yet, it will be on the file system of its parent. */
        char path[GEN_DIRECTORY_PATH];
        gen_directory_path(o->out[0] == '\0' ? "." : o->out, "x", path);
        hpcw_error why;
        s = hpcw_i_fs_block_size(path, &d->block_size, &why);
        if (s != HPCW_OK && s != HPCW_ENOENT) {
            return hpcw_i_fail_as(err, &why);
        }
        if (s == HPCW_ENOENT) {
            s = hpcw_i_fs_block_size(o->out, &d->block_size, err);
        }
    }
    if (s == HPCW_OK) {
        s = choose_formats(d, err);
    }
    return s == HPCW_OK ? gen_dataset_build(d, err) : s;
}
