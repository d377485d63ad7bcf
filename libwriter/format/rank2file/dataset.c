/* SPDX-License-Identifier: BSD-3-Clause */
/* The dataset of a prefix to restart from (doc/formats/rank2file.md, "Index"), and its summary. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/format/rank2file/restart.h"

static hpcw_status layout_of(const hpcw_kvtree *index, const char *path, hpcw_rank2file_layout *layout,
                             hpcw_error *err) {
    const char *version = hpcw_kvtree_value(index, "VERSION");
    bool dir = hpcw_kvtree_get(index, "DIR") != NULL;
    bool name = hpcw_kvtree_get(index, "NAME") != NULL;
    bool two = version != NULL && strcmp(version, "2") == 0;
    bool one = version == NULL || strcmp(version, "1") == 0;
    if (!(one && dir != name) && !(two && name)) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: VERSION: expected 1 with a map DIR or NAME, or 2 with a map NAME, got %.20s",
                           path, version == NULL ? "none" : version);
    }
    *layout = two ? (dir ? HPCW_RANK2FILE_SHARED : HPCW_RANK2FILE_SCR_3)
                  : (dir ? HPCW_RANK2FILE_SCR_1_1 : HPCW_RANK2FILE_SCR_1_2);
    return HPCW_OK;
}

/* The entry of a dataset in the index: COMPLETE, FAILED, ... */
static const hpcw_kvtree *record_of(const hpcw_kvtree *index, hpcw_rank2file_layout layout, const char *id,
                                    const char *name) {
    const hpcw_kvtree *record = hpcw_kvtree_get(hpcw_kvtree_get(index, "DSET"), id);
    if (layout == HPCW_RANK2FILE_SCR_1_1 || layout == HPCW_RANK2FILE_SCR_1_2) {
        record =
            hpcw_kvtree_get(hpcw_kvtree_get(record, layout == HPCW_RANK2FILE_SCR_1_1 ? "DIR" : "NAME"), name);
    }
    return record;
}

static bool is_complete(const hpcw_kvtree *record) {
    const char *complete = hpcw_kvtree_value(record, "COMPLETE");
    return complete != NULL && strcmp(complete, "1") == 0;
}

/* The newest dataset that is complete and did not fail, or NULL. */
static const char *newest(const hpcw_kvtree *index, hpcw_rank2file_layout layout, const hpcw_kvtree *names) {
    const char *found = NULL;
    uint64_t most = 0;
    for (const hpcw_kvtree *n = hpcw_kvtree_first(names); n != NULL; n = hpcw_kvtree_next(n)) {
        uint64_t id = 0;
        const char *text = hpcw_kvtree_value(n, "DSET");
        const hpcw_kvtree *record = record_of(index, layout, text, hpcw_kvtree_key(n));
        if (hpcw_kvtree_value_u64(n, "DSET", &id, NULL) == HPCW_OK && id > most && is_complete(record) &&
            hpcw_kvtree_get(record, "FAILED") == NULL) {
            most = id;
            found = hpcw_kvtree_key(n);
        }
    }
    return found;
}

static hpcw_status check_name(const char *path, const char *name, hpcw_error *err) {
    const char *bad = hpcw_i_r2f_bad_name(name, strlen(name), HPCW_RANK2FILE_MAX_DATASET);
    if (bad == NULL && strchr(name, '/') != NULL) {
        bad = "it is not the name of one directory";
    }
    return bad == NULL
               ? HPCW_OK
               : hpcw_i_fail(err, HPCW_EFORMAT, "%s: name of a dataset \"%.200s\": %s", path, name, bad);
}

/* Name and number of the dataset, and the layout. */
static hpcw_status choose(hpcw_rank2file_restart *r, const char *path, const hpcw_kvtree *index,
                          const char *wanted, hpcw_error *err) {
    hpcw_status s = layout_of(index, path, &r->known.layout, err);
    if (s != HPCW_OK) {
        return s;
    }
    r->known.kind = hpcw_i_r2f_kind_of(r->known.layout, 0);
    const hpcw_kvtree *names = hpcw_kvtree_get(index, r->known.kind == HPCW_I_R2F_1_1 ? "DIR" : "NAME");
    bool named = wanted != NULL;
    const char *current = hpcw_kvtree_value(index, "CURRENT");
    if (wanted == NULL && current == NULL && hpcw_kvtree_get(index, "CURRENT") != NULL) {
        return hpcw_i_fail(err, HPCW_EFORMAT, "%s: CURRENT: expected one value, got %zu", path,
                           hpcw_kvtree_count(hpcw_kvtree_get(index, "CURRENT")));
    }
    if (wanted == NULL) {
        wanted = current != NULL ? current : newest(index, r->known.layout, names);
    }
    if (wanted == NULL) {
        return hpcw_i_fail(err, HPCW_ENOENT, "%s: expected a complete dataset, got none", path);
    }
    const hpcw_kvtree *entry = hpcw_kvtree_get(names, wanted);
    if (entry == NULL) {
        return hpcw_i_fail(err, named ? HPCW_ENOENT : HPCW_EFORMAT,
                           "%s: %s: expected a dataset of the index, got %.200s", path,
                           named ? "dataset" : "CURRENT", wanted);
    }
    s = check_name(path, wanted, err);
    if (s == HPCW_OK) {
        s = hpcw_kvtree_value_u64(entry, "DSET", &r->known.id, err);
    }
    if (s == HPCW_OK && (r->known.id < 1 || r->known.id > INT32_MAX)) {
        s = hpcw_i_fail(err, HPCW_EFORMAT, "%s: DSET: expected 1 to 2147483647, got %" PRIu64, path,
                        r->known.id);
    }
    if (s == HPCW_OK &&
        !is_complete(record_of(index, r->known.layout, hpcw_kvtree_value(entry, "DSET"), wanted))) {
        s = hpcw_i_fail(err, HPCW_EFORMAT, "%s: dataset %s: expected COMPLETE = 1, got none or another", path,
                        wanted);
    }
    (void)snprintf(r->known.name, sizeof r->known.name, "%s", s == HPCW_OK ? wanted : "");
    return s;
}

hpcw_status hpcw_i_r2f_take_summary(hpcw_rank2file_restart *r, const char *path, hpcw_error *err) {
    const struct hpcw_i_r2f_known *k = &r->known;
    const hpcw_kvtree *dset = hpcw_kvtree_get(r->summary, "DSET");
    hpcw_rank2file_dataset *d = &r->dataset;
    uint64_t id = 0;
    const char *said = hpcw_kvtree_value(dset, "NAME");
    const char *version = hpcw_kvtree_value(r->summary, "VERSION");
    const struct {
        const char *key;
        uint64_t *value;
    } number[] = {{"ID", &id},
                  {"CKPT", &d->checkpoint},
                  {"FILES", &d->files},
                  {"SIZE", &d->size},
                  {"CREATED", &d->created_us}};
    hpcw_status s = HPCW_OK;
    for (size_t i = 0; s == HPCW_OK && i < sizeof number / sizeof number[0]; i++) {
        s = hpcw_kvtree_value_u64(dset, number[i].key, number[i].value, err);
    }
    if (s == HPCW_OK && (id != k->id || said == NULL || strcmp(said, k->name) != 0)) {
        s = hpcw_i_fail(err, HPCW_EFORMAT,
                        "DSET: expected dataset %s with id %" PRIu64 ", got %.100s with %" PRIu64, k->name,
                        k->id, said == NULL ? "none" : said, id);
    }
    if (s == HPCW_OK &&
        (version == NULL || strcmp(version, "6") != 0 || !is_complete(r->summary) || !is_complete(dset))) {
        s = hpcw_i_fail(err, HPCW_EFORMAT, "expected VERSION = 6 and COMPLETE = 1 twice, got version %.20s",
                        version == NULL ? "none" : version);
    }
    if (s != HPCW_OK) {
        hpcw_i_fail_about(err, path);
        return s;
    }
    d->name = said;
    d->user = hpcw_kvtree_value(dset, "USER");
    d->job_id = hpcw_kvtree_value(dset, "JOBID");
    d->job_name = hpcw_kvtree_value(dset, "JOBNAME");
    d->cluster = hpcw_kvtree_value(dset, "CLUSTER");
    return s;
}

hpcw_status hpcw_i_r2f_find_dataset(hpcw_rank2file_restart *r, const char *prefix, const char *wanted,
                                    hpcw_error *err) {
    char directory[HPCW_RANK2FILE_PATH];
    hpcw_kvtree *index = NULL;
    char *path = hpcw_i_r2f_join(prefix, HPCW_RANK2FILE_INDEX);
    hpcw_status s =
        path == NULL ? hpcw_i_fail_memory(err, prefix, 0, NULL) : hpcw_kvtree_read_file(path, &index, err);
    if (s == HPCW_OK) {
        s = choose(r, path, index, wanted, err);
        if (s != HPCW_OK) {
            hpcw_i_fail_about(err, path);
        }
    }
    hpcw_kvtree_free(index);
    hpcw_i_free(path);
    if (s != HPCW_OK) {
        return s;
    }
    hpcw_i_r2f_metadata(r->known.kind, r->known.id, r->known.name, directory);
    r->metadata = hpcw_i_r2f_join(prefix, directory);
    path = r->metadata == NULL ? NULL : hpcw_i_r2f_join(r->metadata, "summary.scr");
    s = path == NULL ? hpcw_i_fail_memory(err, prefix, 0, NULL) : hpcw_kvtree_read_file(path, &r->summary, err);
    if (s == HPCW_OK) {
        s = hpcw_i_r2f_take_summary(r, path, err);
    }
    hpcw_i_free(path);
    return s;
}
