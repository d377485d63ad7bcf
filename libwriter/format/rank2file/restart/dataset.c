/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the summary of a dataset that the index of a prefix lists (doc/formats/rank2file.md, "Index"), and
 * broadcasts trees to all processes. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/format/kvtree/pack.h"
#include "libwriter/format/rank2file/restart/restart.h"
#include "libwriter/io/dir.h"

/* Finds the name and the id of a dataset in its entry. */
static hpcw_status know(const char *path, const struct hpcw_i_r2f_entry *e, struct hpcw_i_r2f_known *k,
                        hpcw_error *err) {
    const char *name = hpcw_kvtree_key(e->node);
    const char *bad = hpcw_i_r2f_bad_listed(e->layout, name);
    hpcw_status s = HPCW_OK;
    *k = (struct hpcw_i_r2f_known){.layout = e->layout, .kind = hpcw_i_r2f_kind_of(e->layout, 0)};
    if (bad != NULL) {
        s = hpcw_i_fail(err, HPCW_EFORMAT, "%s: name of a dataset \"%.200s\": %s", path, name, bad);
    }
    if (s == HPCW_OK) {
        s = hpcw_kvtree_value_u64(e->node, "DSET", &k->id, err);
    }
    if (s == HPCW_OK && (k->id < 1 || k->id > INT32_MAX)) {
        s = hpcw_i_fail(err, HPCW_EFORMAT, "%s: DSET: expected 1 to 2147483647, got %" PRIu64, path, k->id);
    }
    if (s == HPCW_OK && !hpcw_i_r2f_is_complete(e->record)) {
        s = hpcw_i_fail(err, HPCW_EFORMAT, "%s: dataset %s: expected COMPLETE = 1, got none or another", path,
                        name);
    }
    (void)snprintf(k->name, sizeof k->name, "%s", s == HPCW_OK ? name : "");
    return s;
}

hpcw_status hpcw_i_r2f_know_entry(const char *prefix, const struct hpcw_i_r2f_entry *entry,
                                  struct hpcw_i_r2f_known *known, hpcw_error *err) {
    char *path = hpcw_i_r2f_join(prefix, HPCW_RANK2FILE_INDEX);
    if (path == NULL) {
        return hpcw_i_fail_memory(err, prefix, 0, NULL);
    }
    hpcw_status s = know(path, entry, known, err);
    if (s != HPCW_OK) {
        hpcw_i_fail_about(err, path);
    }
    hpcw_i_free(path);
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
    if (s == HPCW_OK && (version == NULL || strcmp(version, "6") != 0 || !hpcw_i_r2f_is_complete(r->summary) ||
                         !hpcw_i_r2f_is_complete(dset))) {
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

hpcw_status hpcw_i_r2f_find_dataset(const struct hpcw_i_r2f_prefix *p, const char *wanted, hpcw_kvtree **index,
                                    struct hpcw_i_r2f_entry *entry, hpcw_error *err) {
    hpcw_status s = hpcw_i_r2f_index_read(p, index, err);
    char *path = s == HPCW_OK ? hpcw_i_r2f_join(p->path, HPCW_RANK2FILE_INDEX) : NULL;
    if (s == HPCW_OK && path == NULL) {
        s = hpcw_i_fail_memory(err, p->path, 0, NULL);
    }
    if (s == HPCW_OK) {
        s = hpcw_i_r2f_index_layout(*index, path, &entry->layout, err);
    }
    if (s == HPCW_OK) {
        entry->node = hpcw_kvtree_get(hpcw_i_r2f_index_names(*index, entry->layout), wanted);
        entry->record = hpcw_i_r2f_index_record(*index, entry->layout, wanted);
        if (entry->node == NULL) {
            s = hpcw_i_fail(err, HPCW_ENOENT, "%s: dataset: expected one of the index, got %.200s", path,
                            wanted);
        }
    }
    hpcw_i_free(path);
    return s;
}

hpcw_status hpcw_i_r2f_where(const hpcw_rank2file_restart *r, const char *path, int *at, const char **name,
                             hpcw_error *err) {
    *at = AT_FDCWD;
    *name = path;
    if (r->dir == NULL) {
        return HPCW_OK;
    }
    int e = hpcw_i_dir_fd(r->dir, at);
    *name = path + r->skip;
    return e == 0 ? HPCW_OK : hpcw_i_fail_sys(err, e, "%s: cannot open for reading", path);
}

hpcw_status hpcw_i_r2f_read_summary(hpcw_rank2file_restart *r, const char *prefix, hpcw_error *err) {
    char directory[HPCW_RANK2FILE_PATH];
    hpcw_i_r2f_metadata(r->known.kind, r->known.id, r->known.name, directory);
    r->metadata = hpcw_i_r2f_join(prefix, directory);
    char *path = r->metadata == NULL ? NULL : hpcw_i_r2f_join(r->metadata, "summary.scr");
    const char *name = NULL;
    int at;
    hpcw_status s =
        path == NULL ? hpcw_i_fail_memory(err, prefix, 0, NULL) : hpcw_i_r2f_where(r, path, &at, &name, err);
    if (s == HPCW_OK) {
        s = hpcw_i_kv_read_at(at, name, path, &r->summary, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_i_r2f_take_summary(r, path, err);
    }
    hpcw_i_free(path);
    return s;
}

hpcw_status hpcw_i_r2f_share_tree(hpcw_comm *comm, const char *about, hpcw_kvtree **tree, hpcw_error *err) {
    uint64_t size = hpcw_kvtree_size(*tree);
    hpcw_sink *sink = NULL;
    hpcw_status s = hpcw_i_comm_bcast(comm, &size, sizeof size, 0, err);
    if (s != HPCW_OK || comm->size == 1 || size == 0) {
        return s;
    }
    void *bytes = hpcw_i_malloc((size_t)size);
    s = bytes == NULL ? hpcw_i_fail_memory(err, "rank2file", 0, about) : HPCW_OK;
    if (s == HPCW_OK && comm->process == 0) {
        s = hpcw_sink_open_memory(&sink, err);
        s = s == HPCW_OK ? hpcw_kvtree_write(*tree, sink, 0, err) : s;
        if (s == HPCW_OK) {
            memcpy(bytes, hpcw_sink_memory_data(sink, NULL), (size_t)size);
        }
        hpcw_sink_free(sink);
    }
    s = hpcw_i_agree(comm, s, NULL, err);
    if (s == HPCW_OK) {
        s = hpcw_i_comm_bcast(comm, bytes, (size_t)size, 0, err);
    }
    if (s == HPCW_OK && comm->process > 0) {
        s = hpcw_kvtree_decode(about, bytes, (size_t)size, NULL, tree, err);
    }
    hpcw_i_free(bytes);
    return hpcw_i_agree(comm, s, NULL, err);
}

hpcw_status hpcw_i_r2f_node_path(const hpcw_rank2file_restart *r, uint32_t level, uint64_t number, char **path,
                                 hpcw_error *err) {
    char name[HPCW_I_R2F_VALUE];
    hpcw_i_r2f_node(r->known.kind, level, (uint32_t)number, name);
    *path = hpcw_i_r2f_join(r->metadata, name);
    return *path != NULL ? HPCW_OK : hpcw_i_fail_memory(err, r->metadata, 0, NULL);
}
