/* SPDX-License-Identifier: BSD-3-Clause */
/* Drops datasets (removes them from the index and the disk), marks datasets as failed, or makes one the current
 * one. */
#include <inttypes.h>
#include <string.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/format/rank2file/restart/restart.h"
#include "libwriter/format/rank2file/upkeep/upkeep.h"

/* Locks and reads the index. `telling`: the caller only reports, so removals that dead programs began are not
 * finished. */
static hpcw_status open_index(struct hpcw_i_r2f_upkeep *u, bool telling, int *lock, hpcw_kvtree **index,
                              hpcw_rank2file_layout *layout, hpcw_error *err) {
    *lock = -1;
    *index = NULL;
    /* Without an index, there may be no directory for the lock file. So read the index first. */
    hpcw_status s = hpcw_i_r2f_index_read(&u->p, index, err);
    hpcw_kvtree_free(*index);
    *index = NULL;
    if (s == HPCW_OK) {
        s = telling ? hpcw_i_r2f_lock_index(&u->p, lock, NULL, err)
                    : hpcw_i_r2f_begin_change(&u->p, NULL, NULL, lock, NULL, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_i_r2f_index_read(&u->p, index, err);
    }
    return s == HPCW_OK ? hpcw_i_r2f_index_layout(*index, u->p.path, layout, err) : s;
}

static hpcw_status check_listed(const struct hpcw_i_r2f_upkeep *u, const hpcw_kvtree *index,
                                hpcw_rank2file_layout layout, const char *dataset, hpcw_error *err) {
    return hpcw_kvtree_get(hpcw_i_r2f_index_names(index, layout), dataset) != NULL
               ? HPCW_OK
               : hpcw_i_fail(err, HPCW_ENOENT, "%s/%s: dataset: expected one of the index, got %.200s",
                             u->p.path, HPCW_RANK2FILE_INDEX, dataset);
}

/* Lists the files of a dataset in `r`. If the dataset has no readable map, its data files are unknown. */
static hpcw_status list_files(const struct hpcw_i_r2f_upkeep *u, const struct hpcw_i_r2f_dataset *d,
                              struct hpcw_i_r2f_removal *r, hpcw_error *err) {
    hpcw_status s = hpcw_i_r2f_removal_add_map(r, d, err);
    if (hpcw_i_r2f_is_damage(s) && u->how.all_files) {
        s = hpcw_i_r2f_removal_add_all(r, d->name, err);
    } else if (hpcw_i_r2f_is_damage(s) && err != NULL) {
        hpcw_error why = *err;
        (void)hpcw_i_fail(err, s,
                          "%s/%s: its map cannot be read, so that nobody knows which files are the dataset's; "
                          "to remove all of them: all_files, or --all-files of hpcgen: %s",
                          u->p.path, d->name, why.message);
        err->sys_errno = why.sys_errno;
    }
    return s == HPCW_OK ? hpcw_i_r2f_removal_add_temporary(r, d->name, err) : s;
}

/* Lists in `r` what to remove when a dataset is dropped. `index` is the index without the dataset. */
static hpcw_status plan(const struct hpcw_i_r2f_upkeep *u, const struct hpcw_i_r2f_dataset *d,
                        const hpcw_kvtree *index, struct hpcw_i_r2f_removal *r, hpcw_error *err) {
    if (d->id == 0 || hpcw_i_r2f_bad_listed(d->layout, d->name) != NULL) {
        /* no writer makes such an entry, which has no files; only the entry is removed */
        return HPCW_OK;
    }
    /* Keep the metadata directory if other datasets use it: in SCR 1 several datasets may have one id. */
    hpcw_status s = hpcw_i_r2f_index_has_metadata(index, d->layout, d->id)
                        ? HPCW_OK
                        : hpcw_i_r2f_removal_add_metadata(r, d, err);
    s = s == HPCW_OK ? list_files(u, d, r, err) : s;
    s = s == HPCW_OK ? hpcw_i_r2f_removal_spare(r, d, index, err) : s;
    return s == HPCW_OK ? hpcw_i_r2f_removal_check(r, err) : s;
}

/* Locks a dataset, takes it out of the index in memory, and lists its files. */
static hpcw_status prepare(const struct hpcw_i_r2f_upkeep *u, hpcw_kvtree *index, struct hpcw_i_r2f_drop *x,
                           hpcw_error *err) {
    bool named = false;
    hpcw_status s = check_listed(u, index, x->d.layout, x->d.name, err);
    if (s == HPCW_OK) {
        x->d.id = hpcw_i_r2f_index_id(index, x->d.layout, x->d.name);
        s = hpcw_i_r2f_lock_dataset(&u->p, x->d.id, x->d.name, &x->lock, NULL, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_i_r2f_index_remove(index, x->d.layout, x->d.name, err);
    }
    if (s == HPCW_OK) {
        s = plan(u, &x->d, index, &x->r, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_i_r2f_lock_is_named(&u->p, x->lock, &named, err);
    }
    if (s == HPCW_OK && !named) {
        s = hpcw_i_fail(
            err, HPCW_EEXIST,
            "%s/%s: expected the lock that this program took, got none or another: somebody removed it, "
            "so that others may write dataset %s: try again",
            u->p.path, HPCW_I_R2F_LOCK, x->d.name);
    }
    return s;
}

/* Fails if a dataset has the id of an earlier one of the group, as in SCR 1: an id has one intent. */
static hpcw_status check_id(const struct hpcw_i_r2f_upkeep *u, const struct hpcw_i_r2f_drop *drop, size_t last,
                            hpcw_error *err) {
    for (size_t i = 0; i < last; i++) {
        if (drop[i].d.id == drop[last].d.id) {
            return hpcw_i_fail(err, HPCW_EEXIST,
                               "%s: expected datasets with different ids, got %" PRIu64 " twice", u->p.path,
                               drop[last].d.id);
        }
    }
    return HPCW_OK;
}

/* Removes the files of datasets that the index lists no more. */
static hpcw_status finish(struct hpcw_i_r2f_upkeep *u, const struct hpcw_i_r2f_drop *drop, size_t count,
                          hpcw_error *err) {
    struct hpcw_i_r2f_markers unfinished;
    hpcw_status first = HPCW_OK;
    (void)hpcw_i_r2f_markers_find(&u->p, HPCW_I_R2F_UNFINISHED, &unfinished, NULL);
    for (size_t i = 0; i < count; i++) {
        hpcw_error why = {.message = ""};
        hpcw_status s = HPCW_OK;
        u->tally.removed++;
        if (drop[i].r.names.size > 0) {
            s = hpcw_i_r2f_finish_removal(&drop[i].r, &drop[i].d, &unfinished, true, &why);
            s = s == HPCW_OK ? hpcw_i_r2f_count_left(&u->p, &drop[i].d, &u->tally.left, &why) : s;
        }
        if (s != HPCW_OK && first != HPCW_OK) {
            hpcw_i_r2f_skip(&u->tally, &why);
        } else if (s != HPCW_OK) {
            first = hpcw_i_fail_as(err, &why);
        }
    }
    hpcw_i_free(unfinished.item);
    return first;
}

hpcw_status hpcw_i_r2f_drop(struct hpcw_i_r2f_upkeep *u, const char *const *dataset, size_t *count,
                            bool telling, bool *last, hpcw_error *err) {
    enum { MOST_BYTES = 1 << 20 }; /* names of files in memory, before those of the last dataset */
    struct hpcw_i_r2f_drop drop[HPCW_I_R2F_GROUP];
    hpcw_rank2file_layout layout;
    hpcw_kvtree *index;
    int lock;
    size_t prepared = 0, bytes = 0;
    hpcw_status s = open_index(u, telling, &lock, &index, &layout, err);
    while (s == HPCW_OK && prepared < *count && bytes < MOST_BYTES) {
        struct hpcw_i_r2f_drop *x = &drop[prepared];
        *x = (struct hpcw_i_r2f_drop){
            .d = {layout, 0, dataset[prepared]}, .r = hpcw_i_r2f_removal_new(&u->p), .lock = -1};
        s = prepare(u, index, x, err);
        s = s == HPCW_OK ? check_id(u, drop, prepared, err) : s;
        bytes += x->r.names.size;
        prepared++;
    }
    *last = s != HPCW_OK && prepared > 0;
    *count = prepared > 0 ? prepared : *count;
    for (size_t i = 0; s == HPCW_OK && telling && i < prepared; i++) {
        s = hpcw_i_r2f_removal_tell(&drop[i].r, &u->how, err);
    }
    if (s == HPCW_OK && !telling) {
        s = hpcw_i_r2f_take_out(drop, count, index, HPCW_SYNC_FILE, last, err);
    }
    hpcw_i_r2f_unlock(lock);
    hpcw_kvtree_free(index);
    if (s == HPCW_OK && !telling) {
        s = finish(u, drop, prepared, err);
    } else if (s != HPCW_OK && !*last && !telling) {
        for (size_t i = 1; i < *count; i++) {
            hpcw_i_r2f_skip(&u->tally, err);
        }
    }
    for (size_t i = 0; i < prepared; i++) {
        hpcw_i_r2f_removal_free(&drop[i].r);
        hpcw_i_r2f_unlock(drop[i].lock);
    }
    return s;
}

/* Locks the index and finds the records of a dataset. record[1] is the record for SCR 1.1 in the layout for SCR
 * 1.1 and SCR 3; otherwise it is NULL. */
static hpcw_status open_records(struct hpcw_i_r2f_upkeep *u, const char *dataset, int *lock,
                                hpcw_kvtree **index, hpcw_rank2file_layout *layout, hpcw_kvtree *record[2],
                                hpcw_error *err) {
    hpcw_status s = open_index(u, false, lock, index, layout, err);
    s = s == HPCW_OK ? check_listed(u, *index, *layout, dataset, err) : s;
    record[0] = s == HPCW_OK ? hpcw_i_r2f_index_record(*index, *layout, dataset) : NULL;
    record[1] = s == HPCW_OK && *layout == HPCW_RANK2FILE_SHARED
                    ? hpcw_kvtree_get(hpcw_kvtree_get(record[0], "DIR"), dataset)
                    : NULL;
    if (s == HPCW_OK && record[0] == NULL) {
        s = hpcw_i_fail(err, HPCW_EFORMAT, "%s: dataset %s: expected a record in the index, got none",
                        u->p.path, dataset);
    }
    return s;
}

hpcw_status hpcw_i_r2f_mark_failed(struct hpcw_i_r2f_upkeep *u, const char *dataset, hpcw_error *err) {
    hpcw_kvtree *index;
    hpcw_kvtree *record[2];
    hpcw_rank2file_layout layout;
    int lock;
    char now[HPCW_I_R2F_STAMP];
    hpcw_i_r2f_stamp_now(now);
    hpcw_status s = open_records(u, dataset, &lock, &index, &layout, record, err);
    for (int i = 0; i < 2; i++) {
        s = s == HPCW_OK && record[i] != NULL ? hpcw_kvtree_set(record[i], "FAILED", now, err) : s;
    }
    s = s == HPCW_OK ? hpcw_i_r2f_index_settle(index, layout, err) : s;
    s = s == HPCW_OK ? hpcw_i_r2f_index_write(&u->p, index, HPCW_SYNC_FILE, NULL, err) : s;
    hpcw_i_r2f_unlock(lock);
    hpcw_kvtree_free(index);
    return s;
}

hpcw_status hpcw_i_r2f_make_current(struct hpcw_i_r2f_upkeep *u, const char *dataset, hpcw_error *err) {
    hpcw_kvtree *index = NULL;
    hpcw_kvtree *record[2];
    hpcw_rank2file_layout layout;
    int lock = -1;
    int own = -1;
    /* Check the dataset before locking the index: writers must not wait for the check. A dataset that is written
     * again meanwhile is locked, or finished and sound. */
    struct hpcw_i_r2f_entry entry;
    hpcw_status s = hpcw_i_r2f_find_dataset(&u->p, dataset, &index, &entry, err);
    s = s == HPCW_OK ? hpcw_i_r2f_check_entry(&u->p, &entry, err) : s;
    hpcw_kvtree_free(index);
    index = NULL;
    s = s == HPCW_OK ? open_records(u, dataset, &lock, &index, &layout, record, err) : s;
    if (s == HPCW_OK) {
        const uint64_t id = hpcw_i_r2f_index_id(index, layout, dataset);
        s = hpcw_i_r2f_lock_dataset(&u->p, id, dataset, &own, NULL, err);
    }
    if (s == HPCW_OK) {
        for (int i = 0; i < 2; i++) {
            hpcw_kvtree_remove(record[i], "FAILED");
        }
        s = hpcw_kvtree_set(index, "CURRENT", dataset, err);
    }
    s = s == HPCW_OK ? hpcw_i_r2f_index_write(&u->p, index, HPCW_SYNC_FILE, NULL, err) : s;
    hpcw_i_r2f_unlock(own);
    hpcw_i_r2f_unlock(lock);
    hpcw_kvtree_free(index);
    return s;
}
