/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks that a dataset is sound: all its metadata, and the content of its files. */
#include <inttypes.h>
#include <string.h>

#include "libwriter/base/status.h"
#include "libwriter/comm/comm.h"
#include "libwriter/format/rank2file/restart/restart.h"

static hpcw_status open_loaded(const struct hpcw_i_r2f_prefix *p, const struct hpcw_i_r2f_known *known,
                               hpcw_rank2file_restart **out, hpcw_error *err) {
    hpcw_status s = hpcw_i_r2f_open_known(p, hpcw_i_comm_or_self(NULL), known, HPCW_OK, out, err);
    return s == HPCW_OK ? hpcw_rank2file_restart_load(*out, 0, NULL, err) : s;
}

/* Checks that the map and the summary have the same totals. The data files need not exist. */
static hpcw_status check_sums(hpcw_rank2file_restart *r, hpcw_error *err) {
    uint64_t files = hpcw_rank2file_restart_files(r);
    uint64_t size = 0;
    bool sized = true;
    hpcw_status s = HPCW_OK;
    for (uint64_t i = 0; s == HPCW_OK && i < files; i++) {
        hpcw_rank2file_found f;
        s = hpcw_rank2file_restart_file(r, i, &f, err);
        if (s == HPCW_OK) {
            sized = sized && f.has_size;
            size += f.size;
        }
    }
    if (s == HPCW_OK && (files != r->dataset.files || (sized && size != r->dataset.size))) {
        s = hpcw_i_fail(err, HPCW_EFORMAT,
                        "%s: dataset %s: summary: expected the map's %" PRIu64 " files and %" PRIu64
                        " bytes, got %" PRIu64 " and %" PRIu64,
                        r->metadata, r->known.name, files, size, r->dataset.files, r->dataset.size);
    }
    return s;
}

/* ---- the second map of the layout for SCR 1.1 and SCR 3 ---- */

/* Returns whether two trees have the same children, in any order. */
static bool same_tree(const hpcw_kvtree *a, const hpcw_kvtree *b) {
    bool same = hpcw_kvtree_count(a) == hpcw_kvtree_count(b);
    for (const hpcw_kvtree *c = hpcw_kvtree_first(a); same && c != NULL; c = hpcw_kvtree_next(c)) {
        const hpcw_kvtree *d = hpcw_kvtree_get(b, hpcw_kvtree_key(c));
        same = d != NULL && same_tree(c, d);
    }
    return same;
}

/* Compares the files in two maps. In the map of SCR 3, the dataset's directory comes before each name. */
static hpcw_status compare_maps(hpcw_rank2file_restart *a, hpcw_rank2file_restart *b, hpcw_error *err) {
    uint64_t files = hpcw_rank2file_restart_files(a);
    bool same = files == hpcw_rank2file_restart_files(b);
    for (uint64_t i = 0; same && i < files; i++) {
        hpcw_rank2file_found f;
        hpcw_rank2file_found g;
        hpcw_status s = hpcw_rank2file_restart_file(a, i, &f, err);
        s = s == HPCW_OK ? hpcw_rank2file_restart_file(b, i, &g, err) : s;
        if (s != HPCW_OK) {
            return s;
        }
        size_t n = strlen(f.name);
        size_t m = strlen(g.name);
        same = f.rank == g.rank && m > n && strcmp(g.name + m - n, f.name) == 0 && f.size == g.size &&
               f.crc == g.crc;
    }
    return same ? HPCW_OK
                : hpcw_i_fail(err, HPCW_EFORMAT,
                              "%s/%s: expected the files that the other map of the dataset has, got others",
                              b->metadata, hpcw_i_r2f_root(b->known.kind));
}

static hpcw_status check_second(const struct hpcw_i_r2f_prefix *p, hpcw_rank2file_restart *first,
                                hpcw_error *err) {
    struct hpcw_i_r2f_known known = {.id = first->known.id,
                                     .layout = first->known.layout,
                                     .kind = hpcw_i_r2f_kind_of(first->known.layout, 1)};
    hpcw_rank2file_restart *second = NULL;
    memcpy(known.name, first->known.name, sizeof known.name);
    hpcw_status s = open_loaded(p, &known, &second, err);
    if (s == HPCW_OK && !same_tree(first->summary, second->summary)) {
        s = hpcw_i_fail(err, HPCW_EFORMAT,
                        "%s/summary.scr: expected the content of the dataset's other summary, got another",
                        second->metadata);
    }
    s = s == HPCW_OK ? compare_maps(first, second, err) : s;
    hpcw_rank2file_restart_free(second);
    return s;
}

/* ---- the index ---- */

/* Compares the totals in a record of the index with the summary. They differ if the index is that of another
 * run with the same names and ids. */
static hpcw_status check_record(const struct hpcw_i_r2f_prefix *p, const hpcw_rank2file_restart *r,
                                const hpcw_kvtree *record, hpcw_error *err) {
    static const char *const keys[] = {"FILES", "SIZE", "CREATED"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const char *expected = hpcw_kvtree_value(hpcw_kvtree_get(r->summary, "DSET"), keys[i]);
        const char *got = hpcw_kvtree_value(hpcw_kvtree_get(record, "DSET"), keys[i]);
        if (got == NULL || strcmp(got, expected) != 0) {
            return hpcw_i_fail(
                err, HPCW_EFORMAT,
                "%s/%s: dataset %s: %s: expected %s as in its summary, got %.40s: remove the index, "
                "and make it again: hpcgen scr reindex DIR",
                p->path, HPCW_RANK2FILE_INDEX, r->known.name, keys[i], expected, got == NULL ? "none" : got);
        }
    }
    return HPCW_OK;
}

/* Checks the records of a dataset in the index. In the layout that both SCR 1.1 and SCR 3 read, a dataset has two
 * records, one for each version. */
static hpcw_status check_records(const struct hpcw_i_r2f_prefix *p, const hpcw_rank2file_restart *r,
                                 const hpcw_kvtree *record, hpcw_error *err) {
    const struct hpcw_i_r2f_known *k = &r->known;
    hpcw_status s = check_record(p, r, record, err);
    if (s == HPCW_OK && k->layout == HPCW_RANK2FILE_SHARED) {
        s = check_record(p, r, hpcw_i_r2f_index_record_in(record, HPCW_RANK2FILE_SCR_1_1, k->name), err);
    }
    return s;
}

/* Checks a dataset; `files`: with its data files; `listed`: with its records in the index. */
static hpcw_status check(const struct hpcw_i_r2f_prefix *p, const struct hpcw_i_r2f_entry *entry, bool files,
                         bool listed, hpcw_error *err) {
    struct hpcw_i_r2f_known known;
    hpcw_rank2file_restart *r = NULL;
    hpcw_status s = hpcw_i_r2f_know_entry(p->path, entry, &known, err);
    if (s == HPCW_OK) {
        s = open_loaded(p, &known, &r, err);
    }
    if (s == HPCW_OK) {
        s = files ? hpcw_rank2file_restart_check(r, true, err) : check_sums(r, err);
    }
    if (s == HPCW_OK && hpcw_rank2file_layout_maps(known.layout) > 1) {
        s = check_second(p, r, err);
    }
    if (s == HPCW_OK && listed) {
        s = check_records(p, r, entry->record, err);
    }
    hpcw_rank2file_restart_free(r);
    return s;
}

hpcw_status hpcw_i_r2f_check_entry(const struct hpcw_i_r2f_prefix *p, const struct hpcw_i_r2f_entry *entry,
                                   hpcw_error *err) {
    return check(p, entry, true, false, err);
}

hpcw_status hpcw_rank2file_check(const char *prefix, const char *dataset, bool files, hpcw_error *err) {
    hpcw_error local;
    err = err == NULL ? &local : err;
    if (prefix == NULL || *prefix == '\0' || dataset == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "rank2file: expected a prefix and the name of a dataset, got %s",
                           prefix == NULL || dataset == NULL ? "NULL" : "an empty prefix");
    }
    const struct hpcw_i_r2f_prefix p = {.path = prefix};
    struct hpcw_i_r2f_entry entry;
    hpcw_kvtree *index;
    hpcw_status s = hpcw_i_r2f_find_dataset(&p, dataset, &index, &entry, err);
    s = s == HPCW_OK ? check(&p, &entry, files, true, err) : s;
    hpcw_kvtree_free(index);
    return s;
}

hpcw_status hpcw_rank2file_check_listed(const hpcw_rank2file_list *list, uint32_t index, bool files,
                                        hpcw_error *err) {
    hpcw_error local;
    const hpcw_rank2file_listed *listed = hpcw_rank2file_list_get(list, index);
    err = err == NULL ? &local : err;
    if (listed == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "rank2file: expected a list and one of its %u datasets, got %u",
                           hpcw_rank2file_list_count(list), index);
    }
    return check(&(struct hpcw_i_r2f_prefix){.path = hpcw_i_r2f_list_prefix(list)}, hpcw_i_r2f_entry_of(listed),
                 files, true, err);
}
