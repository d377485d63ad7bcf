/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes summary and index as trees (doc/formats/rank2file.md, "Summary" and "Index"). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "libwriter/base/status.h"
#include "libwriter/format/rank2file/prefix/prefix.h"

/* Sets the value of `key`. Does nothing if an earlier call failed, which *s says. */
static void put(hpcw_kvtree *node, const char *key, const char *value, hpcw_status *s, hpcw_error *err) {
    if (*s == HPCW_OK) {
        *s = hpcw_kvtree_set(node, key, value, err);
    }
}

static void put_u64(hpcw_kvtree *node, const char *key, uint64_t value, hpcw_status *s, hpcw_error *err) {
    if (*s == HPCW_OK) {
        *s = hpcw_kvtree_set_u64(node, key, value, err);
    }
}

/* Adds the child `key`, and returns it. Returns NULL if this or an earlier call failed, which *s says. */
static hpcw_kvtree *child(hpcw_kvtree *node, const char *key, hpcw_status *s, hpcw_error *err) {
    hpcw_kvtree *made = NULL;
    if (*s == HPCW_OK) {
        *s = hpcw_kvtree_add(node, key, &made, err);
    }
    return made;
}

/* Returns the name of the dataset: that of the options, or the default name, which is written to `own`. */
static const char *name_of(const hpcw_rank2file_options *o, char own[HPCW_RANK2FILE_MAX_DATASET + 1]) {
    hpcw_rank2file_dataset_name(o, own);
    return o->dataset.name != NULL ? o->dataset.name : own;
}

static void put_dataset(hpcw_kvtree *node, const hpcw_rank2file_options *o, hpcw_status *s, hpcw_error *err) {
    const hpcw_rank2file_dataset *d = &o->dataset;
    char own[HPCW_RANK2FILE_MAX_DATASET + 1];
    put_u64(node, "ID", d->id, s, err);
    put(node, "NAME", name_of(o, own), s, err);
    if (o->layout != HPCW_RANK2FILE_SCR_1_1) {
        put(node, "FLAG_CKPT", "1", s, err);
        put(node, "FLAG_OUTPUT", "0", s, err);
    }
    put_u64(node, "CREATED", d->created_us, s, err);
    put(node, "USER", d->user == NULL ? "user" : d->user, s, err);
    if (d->job_name != NULL) {
        put(node, "JOBNAME", d->job_name, s, err);
    }
    put(node, "JOBID", d->job_id == NULL ? "1" : d->job_id, s, err);
    if (d->cluster != NULL) {
        put(node, "CLUSTER", d->cluster, s, err);
    }
    put_u64(node, "CKPT", d->checkpoint == 0 ? d->id : d->checkpoint, s, err);
    put_u64(node, "FILES", d->files, s, err);
    put_u64(node, "SIZE", d->size, s, err);
    put(node, "COMPLETE", "1", s, err);
}

hpcw_status hpcw_rank2file_summary(const hpcw_rank2file_options *options, hpcw_kvtree **out, hpcw_error *err) {
    if (out == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "rank2file: expected a pointer for the summary, got NULL");
    }
    *out = NULL;
    hpcw_kvtree *root = NULL;
    hpcw_status s = hpcw_rank2file_options_check(options, err);
    if (s == HPCW_OK) {
        s = hpcw_kvtree_new(&root, err);
    }
    put(root, "VERSION", "6", &s, err);
    put(root, "COMPLETE", "1", &s, err);
    put_dataset(child(root, "DSET", &s, err), options, &s, err);
    if (s != HPCW_OK) {
        hpcw_kvtree_free(root);
        root = NULL;
    }
    *out = root;
    return s;
}

void hpcw_rank2file_summary_path(const hpcw_rank2file_options *options, uint32_t which,
                                 char path[HPCW_RANK2FILE_PATH]) {
    char name[HPCW_RANK2FILE_MAX_DATASET + 1];
    static const char file[] = "/summary.scr";
    hpcw_rank2file_dataset_name(options, name);
    hpcw_i_r2f_metadata(hpcw_i_r2f_kind_of(options->layout, which), options->dataset.id, name, path);
    memcpy(path + strlen(path), file, sizeof file);
}

/* ---- index ---- */

/* Returns the key whose children are the names of the datasets. */
static const char *names_key(hpcw_rank2file_layout layout) {
    return layout == HPCW_RANK2FILE_SCR_1_1 ? "DIR" : "NAME";
}

static const char *version_of(hpcw_rank2file_layout layout) {
    return layout == HPCW_RANK2FILE_SCR_1_1 || layout == HPCW_RANK2FILE_SCR_1_2 ? "1" : "2";
}

static hpcw_status check_index(const hpcw_kvtree *index, const hpcw_rank2file_options *o, const char *name,
                               const char *id, hpcw_error *err) {
    if (hpcw_kvtree_count(index) == 0) {
        return HPCW_OK;
    }
    const char *version = hpcw_kvtree_value(index, "VERSION");
    bool shared = o->layout == HPCW_RANK2FILE_SHARED;
    bool dir = hpcw_kvtree_get(index, "DIR") != NULL;
    if (version == NULL || strcmp(version, version_of(o->layout)) != 0 ||
        dir != (shared || o->layout == HPCW_RANK2FILE_SCR_1_1) ||
        (hpcw_kvtree_get(index, "NAME") != NULL) != (o->layout != HPCW_RANK2FILE_SCR_1_1)) {
        return hpcw_i_fail(
            err, HPCW_EEXIST,
            "index: expected one of layout %s, got one of version %.20s with datasets of another",
            hpcw_rank2file_layout_name(o->layout), version == NULL ? "none" : version);
    }
    if (hpcw_kvtree_get(hpcw_kvtree_get(index, names_key(o->layout)), name) != NULL ||
        hpcw_kvtree_get(hpcw_kvtree_get(index, "DSET"), id) != NULL) {
        return hpcw_i_fail(err, HPCW_EEXIST, "index: expected a new dataset, got %s with id %s, which it lists",
                           name, id);
    }
    return HPCW_OK;
}

static void put_record(hpcw_kvtree *node, const hpcw_rank2file_options *o, hpcw_status *s, hpcw_error *err) {
    char flushed[HPCW_I_R2F_STAMP];
    hpcw_i_r2f_stamp_utc(o->dataset.created_us, flushed);
    put(node, "COMPLETE", "1", s, err);
    put_dataset(child(node, "DSET", s, err), o, s, err);
    put(node, "FLUSHED", o->dataset.flushed == NULL ? flushed : o->dataset.flushed, s, err);
}

/* Returns the name of the dataset that becomes the current one, from which a restart begins. */
static const char *current_of(const hpcw_kvtree *index, const hpcw_rank2file_options *o, const char *name) {
    const char *current = hpcw_kvtree_value(index, "CURRENT");
    if (current == NULL || hpcw_i_r2f_index_id(index, o->layout, current) == 0) {
        current = hpcw_i_r2f_index_newest(index, o->layout);
    }
    return o->current || current == NULL || hpcw_i_r2f_index_id(index, o->layout, current) < o->dataset.id
               ? name
               : current;
}

hpcw_status hpcw_rank2file_index_add(hpcw_kvtree *index, const hpcw_rank2file_options *options,
                                     hpcw_error *err) {
    hpcw_status s = hpcw_rank2file_options_check(options, err);
    if (s == HPCW_OK && index == NULL) {
        s = hpcw_i_fail(err, HPCW_EINVAL, "rank2file: expected an index, got NULL");
    }
    return s == HPCW_OK ? hpcw_i_r2f_index_add(index, options, err) : s;
}

hpcw_status hpcw_i_r2f_index_add(hpcw_kvtree *index, const hpcw_rank2file_options *options, hpcw_error *err) {
    char own[HPCW_RANK2FILE_MAX_DATASET + 1];
    char id[32];
    const char *name = name_of(options, own);
    hpcw_status s;
    (void)snprintf(id, sizeof id, "%" PRIu64, options->dataset.id);
    s = check_index(index, options, name, id, err);
    hpcw_rank2file_layout layout = options->layout;
    bool shared = layout == HPCW_RANK2FILE_SHARED;
    put(index, "VERSION", version_of(layout), &s, err);
    const char *current = current_of(index, options, name);
    if (current != hpcw_kvtree_value(index, "CURRENT")) {
        put(index, "CURRENT", current, &s, err);
    }
    put(child(child(index, names_key(layout), &s, err), name, &s, err), "DSET", id, &s, err);
    if (shared) {
        put(child(child(index, "DIR", &s, err), name, &s, err), "DSET", id, &s, err);
    }
    hpcw_kvtree *record = child(child(index, "DSET", &s, err), id, &s, err);
    if (shared || layout == HPCW_RANK2FILE_SCR_3) {
        put_record(record, options, &s, err);
    }
    if (layout != HPCW_RANK2FILE_SCR_3) {
        const char *key = shared ? "DIR" : names_key(layout);
        put_record(child(child(record, key, &s, err), name, &s, err), options, &s, err);
    }
    return s;
}
