/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datasets that are removed, marked or found again. Process 0 does the work. The index changes first: no reader finds
 * half of a dataset.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/format/rank2file/prefix/prefix.h"
#include "libwriter/format/rank2file/restart/restart.h"
#include "libwriter/io/sink.h"
#include "libwriter/io/sys.h"

/* ---- files ---- */

static bool is_metadata(const char *name) {
    return strncmp(name, "rank2file", 9) == 0 || strcmp(name, "summary.scr") == 0;
}

/* What to remove below a directory. Unfinished files always; symbolic links are files. */
enum { UNFINISHED = 0, METADATA = 1, ALL = 2, EMPTY = 4 };

/* EMPTY: also directories that are empty then, with the first one. Returns the first errno. */
static int sweep(const char *path, unsigned what) {
    DIR *d = opendir(path);
    if (d == NULL) {
        return errno == ENOENT ? 0 : errno;
    }
    int first = 0;
    struct dirent *entry;
    while ((entry = readdir(d)) != NULL) {
        struct stat st;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
            continue;
        }
        char *child = hpcw_i_r2f_join(path, entry->d_name);
        int e = child == NULL ? ENOMEM : lstat(child, &st) == 0 ? 0 : errno;
        if (e == 0 && S_ISDIR(st.st_mode)) {
            e = sweep(child, what);
        } else if (e == 0 && ((what & ALL) != 0 || hpcw_i_sink_is_temporary(entry->d_name) ||
                              ((what & METADATA) != 0 && is_metadata(entry->d_name)))) {
            e = hpcw_i_sys_unlink(child);
        }
        first = first == 0 && e != ENOENT ? e : first;
        hpcw_i_free(child);
    }
    (void)closedir(d);
    int e = (what & EMPTY) != 0 ? hpcw_i_sys_rmdir(path) : 0;
    return first != 0 || e == ENOTEMPTY || e == EEXIST || e == ENOENT ? first : e;
}

static hpcw_status sweep_below(const char *prefix, const char *name, unsigned what, hpcw_error *err) {
    char *path = hpcw_i_r2f_join(prefix, name);
    int e = path == NULL ? ENOMEM : sweep(path, what);
    hpcw_status s =
        e == 0 ? HPCW_OK : hpcw_i_fail_sys(err, e, "%s/%s: cannot remove all files of a dataset", prefix, name);
    hpcw_i_free(path);
    return s;
}

/* Removes one data file, and the directories above it up to `base` that become empty. */
static hpcw_status remove_data(const char *base, const char *name, hpcw_error *err) {
    char *path = hpcw_i_r2f_join(base, name);
    if (path == NULL) {
        return hpcw_i_fail_memory(err, base, 0, NULL);
    }
    int e = hpcw_i_sys_unlink(path);
    hpcw_status s =
        e == 0 || e == ENOENT ? HPCW_OK : hpcw_i_fail_sys(err, e, "%s: cannot remove the file", path);
    for (char *slash; e == 0 && (slash = strrchr(path, '/')) != path + strlen(base);) {
        *slash = '\0';
        e = hpcw_i_sys_rmdir(path);
    }
    hpcw_i_free(path);
    return s;
}

/* Removes the data files that the first map of a dataset names. */
static hpcw_status remove_listed(const char *prefix, enum hpcw_i_r2f_kind kind, const char *metadata,
                                 const char *base, hpcw_error *err) {
    hpcw_rank2file_restart *r = NULL;
    char name[2 * HPCW_RANK2FILE_PATH];
    (void)snprintf(name, sizeof name, "%s/%s", metadata, hpcw_i_r2f_root(kind));
    char *root = hpcw_i_r2f_join(prefix, name);
    hpcw_status s = root == NULL ? hpcw_i_fail_memory(err, prefix, 0, NULL)
                                 : hpcw_rank2file_restart_open_root(root, NULL, &r, err);
    if (s == HPCW_OK) {
        s = hpcw_rank2file_restart_load(r, 0, NULL, err);
    }
    for (uint64_t i = 0; s == HPCW_OK && i < hpcw_rank2file_restart_files(r); i++) {
        hpcw_rank2file_found f;
        s = hpcw_rank2file_restart_file(r, i, &f, err);
        s = s == HPCW_OK ? remove_data(base, f.name, err) : s;
    }
    hpcw_rank2file_restart_free(r);
    hpcw_i_free(root);
    return s;
}

hpcw_status hpcw_i_r2f_remove_files(const char *prefix, hpcw_rank2file_layout layout, uint64_t id,
                                    const char *name, hpcw_error *err) {
    hpcw_error local;
    err = err == NULL ? &local : err;
    hpcw_error ignored;
    char metadata[HPCW_RANK2FILE_PATH];
    enum hpcw_i_r2f_kind kind = hpcw_i_r2f_kind_of(layout, 0);
    bool own = kind == HPCW_I_R2F_1_1; /* all in its directory is of the dataset */
    char *base = own ? hpcw_i_r2f_join(prefix, name) : hpcw_i_strdup(prefix);
    if (base == NULL) {
        return hpcw_i_fail_memory(err, prefix, 0, NULL);
    }
    hpcw_i_r2f_metadata(kind, id, name, metadata);
    hpcw_status s = remove_listed(prefix, kind, metadata, base, err);
    if (own && hpcw_i_r2f_is_damage(s)) {
        s = sweep_below(prefix, name, ALL | EMPTY, err);
    }
    for (uint32_t m = 0; m < hpcw_rank2file_layout_maps(layout); m++) {
        hpcw_i_r2f_metadata(hpcw_i_r2f_kind_of(layout, m), id, name, metadata);
        hpcw_status t = sweep_below(prefix, metadata, METADATA | EMPTY, s == HPCW_OK ? err : &ignored);
        s = s == HPCW_OK ? t : s;
    }
    (void)sweep_below(prefix, name, UNFINISHED | EMPTY, &ignored);
    hpcw_i_free(base);
    return s;
}

/* ---- one dataset ---- */

static bool is_directory_name(const char *name) {
    return hpcw_i_r2f_bad_name(name, strlen(name), HPCW_RANK2FILE_MAX_DATASET) == NULL &&
           strchr(name, '/') == NULL && strcmp(name, ".scr") != 0;
}

/* The index under its lock. */
static hpcw_status open_index(const char *prefix, const char *dataset, int *lock, hpcw_kvtree **index,
                              hpcw_rank2file_layout *layout, hpcw_error *err) {
    *lock = -1;
    *index = NULL;
    /* Without an index there is perhaps no directory for a lock, either. */
    hpcw_status s = hpcw_i_r2f_index_read(prefix, index, err);
    hpcw_kvtree_free(*index);
    *index = NULL;
    if (s == HPCW_OK) {
        s = hpcw_i_r2f_lock_index(prefix, lock, NULL, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_i_r2f_index_read(prefix, index, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_i_r2f_index_layout(*index, prefix, layout, err);
    }
    if (s == HPCW_OK && hpcw_kvtree_get(hpcw_i_r2f_index_names(*index, *layout), dataset) == NULL) {
        s = hpcw_i_fail(err, HPCW_ENOENT, "%s/%s: dataset: expected one of the index, got %.200s", prefix,
                        HPCW_RANK2FILE_INDEX, dataset);
    }
    return s;
}

static hpcw_status drop(const char *prefix, const char *dataset, uint32_t keep, hpcw_rank2file_tally *tally,
                        hpcw_error *err) {
    hpcw_kvtree *index;
    hpcw_rank2file_layout layout;
    int lock;
    int own = -1;
    uint64_t id = 0;
    (void)keep;
    hpcw_status s = open_index(prefix, dataset, &lock, &index, &layout, err);
    if (s == HPCW_OK) {
        id = hpcw_i_r2f_index_id(index, layout, dataset);
        s = hpcw_i_r2f_lock_dataset(prefix, id, dataset, &own, NULL, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_i_r2f_index_remove(index, layout, dataset, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_i_r2f_index_write(prefix, index, HPCW_SYNC_FILE, err);
    }
    hpcw_i_r2f_unlock(lock);
    hpcw_kvtree_free(index);
    if (s == HPCW_OK) {
        tally->removed++;
    }
    if (s == HPCW_OK && id > 0 && is_directory_name(dataset)) {
        s = hpcw_i_r2f_remove_files(prefix, layout, id, dataset, err);
        hpcw_i_r2f_marker_remove(prefix, id);
    }
    hpcw_i_r2f_unlock(own);
    return s;
}

static hpcw_status mark_failed(const char *prefix, const char *dataset, uint32_t keep,
                               hpcw_rank2file_tally *tally, hpcw_error *err) {
    hpcw_kvtree *index;
    hpcw_rank2file_layout layout;
    int lock;
    char now[HPCW_I_R2F_STAMP];
    (void)keep;
    (void)tally;
    hpcw_i_r2f_stamp_now(now);
    hpcw_status s = open_index(prefix, dataset, &lock, &index, &layout, err);
    hpcw_kvtree *record = s == HPCW_OK ? hpcw_i_r2f_index_record(index, layout, dataset) : NULL;
    if (s == HPCW_OK && record == NULL) {
        s = hpcw_i_fail(err, HPCW_EFORMAT, "%s: dataset %s: expected a record in the index, got none", prefix,
                        dataset);
    }
    if (s == HPCW_OK) {
        s = hpcw_kvtree_set(record, "FAILED", now, err);
    }
    if (s == HPCW_OK && layout == HPCW_RANK2FILE_SHARED) { /* SCR 1.1 has a record of its own */
        record = hpcw_kvtree_get(hpcw_kvtree_get(record, "DIR"), dataset);
        s = record == NULL ? HPCW_OK : hpcw_kvtree_set(record, "FAILED", now, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_i_r2f_index_settle(index, layout, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_i_r2f_index_write(prefix, index, HPCW_SYNC_FILE, err);
    }
    hpcw_i_r2f_unlock(lock);
    hpcw_kvtree_free(index);
    return s;
}

/* ---- prune ---- */

static int by_id_descending(const void *a_, const void *b_) {
    uint64_t a = (*(const hpcw_rank2file_listed *const *)a_)->id;
    uint64_t b = (*(const hpcw_rank2file_listed *const *)b_)->id;
    return a > b ? -1 : a < b;
}

static bool is_sound(const char *prefix, const hpcw_rank2file_listed *d) {
    hpcw_rank2file_restart *r;
    bool sound = d->complete && d->failed == NULL &&
                 hpcw_rank2file_restart_open(prefix, NULL, d->name, &r, NULL) == HPCW_OK;
    if (sound) {
        sound = hpcw_i_r2f_check_all(r, NULL) == HPCW_OK;
        hpcw_rank2file_restart_free(r);
    }
    return sound;
}

/* Drops what is older than the newest `keep` sound datasets. */
static hpcw_status drop_old(const char *prefix, uint32_t keep, hpcw_rank2file_tally *tally, hpcw_error *err) {
    hpcw_rank2file_list *list;
    hpcw_status s = hpcw_rank2file_list_open(prefix, NULL, &list, err);
    if (s != HPCW_OK) {
        return s;
    }
    uint32_t count = hpcw_rank2file_list_count(list);
    const hpcw_rank2file_listed **item = hpcw_i_calloc((size_t)count + 1, sizeof *item);
    s = item == NULL ? hpcw_i_fail_memory(err, prefix, count, "datasets") : HPCW_OK;
    if (item != NULL) {
        for (uint32_t i = 0; i < count; i++) {
            item[i] = hpcw_rank2file_list_get(list, i);
        }
        qsort(item, count, sizeof(hpcw_rank2file_listed *), by_id_descending);
        uint32_t i = 0;
        for (uint32_t sound = 0; i < count && sound < keep; i++) {
            sound += is_sound(prefix, item[i]);
        }
        for (; s == HPCW_OK && i < count; i++) {
            hpcw_error why = {.message = ""};
            if (!item[i]->current && drop(prefix, item[i]->name, 0, tally, &why) != HPCW_OK) {
                tally->why = tally->skipped++ == 0 ? why : tally->why;
            }
        }
    }
    hpcw_i_free((void *)item);
    hpcw_rank2file_list_free(list);
    return s;
}

/* Number of the summaries that a dataset has, sound or not. */
static uint32_t count_summaries(const char *prefix, hpcw_rank2file_layout layout, uint64_t id,
                                const char *dataset) {
    uint32_t count = 0;
    for (uint32_t m = 0; m < hpcw_rank2file_layout_maps(layout); m++) {
        char name[HPCW_RANK2FILE_PATH];
        uint64_t size;
        hpcw_rank2file_options o = {.layout = layout, .dataset = {.id = id, .name = dataset}};
        hpcw_rank2file_summary_path(&o, m, name);
        char *path = hpcw_i_r2f_join(prefix, name);
        count += path == NULL || hpcw_i_sys_size_of(path, &size) != ENOENT;
        hpcw_i_free(path);
    }
    return count;
}

/* Removes what a writer of this host left that died; the caller has the lock of the index. */
static void remove_orphan(const char *prefix, const hpcw_kvtree *index, hpcw_rank2file_layout layout,
                          uint64_t id, hpcw_rank2file_tally *tally) {
    struct hpcw_i_r2f_marker marker = {.name = ""};
    bool whole = hpcw_i_r2f_marker_read(prefix, id, &marker);
    hpcw_error why = {.message = ""};
    int own;
    bool locked;
    hpcw_status s = hpcw_i_r2f_lock_dataset(prefix, id, whole ? marker.name : "", &own, &locked, &why);
    if (s == HPCW_OK && locked) {
        if (!whole) {
            /* Its writer died before it made anything else, or has written the marker since and is done. */
            if (!hpcw_i_r2f_marker_read(prefix, id, &marker)) {
                hpcw_i_r2f_marker_remove(prefix, id);
            }
        } else if (hpcw_i_r2f_index_id(index, layout, marker.name) != 0) {
            hpcw_i_r2f_marker_remove(prefix, id);
        } else if (marker.host == 0 || marker.host != hpcw_i_sys_host()) {
            /* Some file systems keep locks on the host of the process: the writer may live. */
        } else if (count_summaries(prefix, marker.layout, id, marker.name) <
                   hpcw_rank2file_layout_maps(marker.layout)) { /* otherwise reindex finds it */
            for (uint32_t m = 0; m < hpcw_rank2file_layout_maps(marker.layout); m++) {
                char metadata[HPCW_RANK2FILE_PATH];
                hpcw_i_r2f_metadata(hpcw_i_r2f_kind_of(marker.layout, m), id, marker.name, metadata);
                s = s == HPCW_OK ? sweep_below(prefix, metadata, METADATA | EMPTY, &why) : s;
            }
            if (s == HPCW_OK) {
                s = sweep_below(prefix, marker.name, marker.made ? ALL | EMPTY : UNFINISHED | EMPTY, &why);
            }
            if (s == HPCW_OK) {
                hpcw_i_r2f_marker_remove(prefix, id);
                tally->removed++;
            }
        }
    }
    if (s != HPCW_OK && s != HPCW_EEXIST) { /* somebody is writing it */
        tally->why = tally->skipped++ == 0 ? why : tally->why;
    }
    hpcw_i_r2f_unlock(own);
}

/* Unfinished files and datasets of dead writers. Where there are no locks nobody knows who is dead. */
static hpcw_status remove_orphans(const char *prefix, hpcw_rank2file_tally *tally, hpcw_error *err) {
    hpcw_kvtree *index = NULL;
    hpcw_rank2file_layout layout = HPCW_RANK2FILE_SCR_1_1;
    int lock;
    bool locked;
    char *directory = hpcw_i_r2f_join(prefix, ".scr");
    DIR *d = NULL;
    hpcw_status s = directory == NULL ? hpcw_i_fail_memory(err, prefix, 0, NULL)
                                      : hpcw_i_r2f_lock_index(prefix, &lock, &locked, err);
    if (directory == NULL || s != HPCW_OK) {
        hpcw_i_free(directory);
        return s;
    }
    hpcw_error mine = {.message = ""};
    s = hpcw_i_r2f_index_read(prefix, &index, &mine);
    s = s == HPCW_OK ? hpcw_i_r2f_index_layout(index, prefix, &layout, &mine) : s;
    if (s == HPCW_ENOENT) {
        s = HPCW_OK; /* all that is there is unfinished */
    } else if (s != HPCW_OK) {
        *err = mine;
    }
    if (s == HPCW_OK && locked && (d = opendir(directory)) == NULL) {
        s = hpcw_i_fail_sys(err, errno, "%s: cannot open the directory", directory);
    }
    struct dirent *entry;
    while (s == HPCW_OK && d != NULL && (entry = readdir(d)) != NULL) {
        uint64_t id = hpcw_i_r2f_marker_id(entry->d_name);
        if (id > 0) {
            remove_orphan(prefix, index, layout, id, tally);
        } else if (hpcw_i_sink_is_temporary(entry->d_name)) {
            char *path = hpcw_i_r2f_join(directory, entry->d_name);
            (void)(path == NULL ? 0 : hpcw_i_sys_unlink(path));
            hpcw_i_free(path);
        }
    }
    if (d != NULL) {
        (void)closedir(d);
    }
    for (const hpcw_kvtree *n = locked ? hpcw_kvtree_first(hpcw_i_r2f_index_names(index, layout)) : NULL;
         s == HPCW_OK && n != NULL; n = hpcw_kvtree_next(n)) {
        const char *name = hpcw_kvtree_key(n);
        int own;
        uint64_t id = hpcw_i_r2f_index_id(index, layout, name);
        if (is_directory_name(name) && hpcw_i_r2f_lock_dataset(prefix, id, name, &own, NULL, NULL) == HPCW_OK) {
            (void)sweep_below(prefix, name, UNFINISHED, NULL);
            hpcw_i_r2f_unlock(own);
        }
    }
    hpcw_i_r2f_unlock(lock);
    hpcw_kvtree_free(index);
    hpcw_i_free(directory);
    return s;
}

static hpcw_status prune(const char *prefix, const char *dataset, uint32_t keep, hpcw_rank2file_tally *tally,
                         hpcw_error *err) {
    (void)dataset;
    hpcw_status s = keep > 0 ? drop_old(prefix, keep, tally, err) : HPCW_OK;
    return s == HPCW_OK ? remove_orphans(prefix, tally, err) : s;
}

/* ---- reindex ---- */

/* A dataset with a summary, which may be damaged if the index lists it. */
struct summarised {
    uint64_t id;
    unsigned kinds; /* of the maps beside the summaries, as bits */
    char name[HPCW_RANK2FILE_MAX_DATASET + 1];
};

struct search {
    struct summarised *item;
    size_t count, capacity;
    unsigned kinds;
};

/* The dataset in the list, appended if it is new. NULL: no memory. */
static struct summarised *item_of(struct search *found, const char *prefix, uint64_t id, const char *name,
                                  hpcw_error *err) {
    for (size_t i = 0; i < found->count; i++) {
        if (found->item[i].id == id && strcmp(found->item[i].name, name) == 0) {
            return &found->item[i];
        }
    }
    struct summarised *grown = hpcw_i_grow(found->item, &found->capacity, found->count + 1, sizeof *grown);
    if (grown == NULL) {
        (void)hpcw_i_fail_memory(err, prefix, found->count, "datasets");
        return NULL;
    }
    found->item = grown;
    struct summarised *item = &found->item[found->count++];
    *item = (struct summarised){.id = id};
    (void)snprintf(item->name, sizeof item->name, "%s", name);
    return item;
}

/* Looks for a summary and a map in directory `metadata` below the prefix. */
static hpcw_status look(struct search *found, const char *prefix, const char *metadata, bool is_1_1,
                        hpcw_error *err) {
    hpcw_kvtree *summary = NULL;
    uint64_t id = 0;
    uint64_t size;
    char name[2 * HPCW_RANK2FILE_PATH];
    (void)snprintf(name, sizeof name, "%s/summary.scr", metadata);
    char *path = hpcw_i_r2f_join(prefix, name);
    if (path == NULL) {
        return hpcw_i_fail_memory(err, prefix, 0, NULL);
    }
    hpcw_status s = hpcw_kvtree_read_file(path, &summary, NULL);
    const hpcw_kvtree *dset = hpcw_kvtree_get(summary, "DSET");
    const char *said = hpcw_kvtree_value(dset, "NAME");
    bool good = s == HPCW_OK && hpcw_i_r2f_is_complete(summary) && said != NULL && is_directory_name(said) &&
                hpcw_kvtree_value_u64(dset, "ID", &id, NULL) == HPCW_OK && id > 0 && id <= INT32_MAX;
    unsigned kind = HPCW_I_R2F_1_1;
    if (good && !is_1_1) {
        (void)snprintf(path + strlen(path) - strlen("summary.scr"), sizeof "rank2file", "rank2file");
        kind = hpcw_i_sys_size_of(path, &size) == 0 ? HPCW_I_R2F_3 : HPCW_I_R2F_1_2;
    }
    hpcw_i_free(path);
    s = HPCW_OK;
    if (good) {
        struct summarised *item = item_of(found, prefix, id, said, err);
        s = item == NULL ? HPCW_ENOMEM : HPCW_OK;
        if (item != NULL) {
            item->kinds |= 1u << kind;
            found->kinds |= 1u << kind;
        }
    }
    hpcw_kvtree_free(summary);
    return s;
}

/* In .scr for SCR 1.2 and later, in the directories of datasets for SCR 1.1. */
static hpcw_status search(struct search *found, const char *prefix, bool is_1_1, hpcw_error *err) {
    char *directory = is_1_1 ? hpcw_i_strdup(prefix) : hpcw_i_r2f_join(prefix, ".scr");
    DIR *d = directory == NULL ? NULL : opendir(directory);
    hpcw_status s = directory == NULL ? hpcw_i_fail_memory(err, prefix, 0, NULL)
                    : d == NULL && errno != ENOENT
                        ? hpcw_i_fail_sys(err, errno, "%s: cannot open the directory", directory)
                        : HPCW_OK;
    struct dirent *entry;
    while (s == HPCW_OK && d != NULL && (entry = readdir(d)) != NULL) {
        char metadata[HPCW_RANK2FILE_PATH];
        const char *name = entry->d_name;
        if (is_1_1 ? name[0] != '.' : strncmp(name, "scr.dataset.", 12) == 0) {
            (void)snprintf(metadata, sizeof metadata, is_1_1 ? "%.*s/.scr" : ".scr/%.*s", 300, name);
            s = look(found, prefix, metadata, is_1_1, err);
        }
    }
    if (d != NULL) {
        (void)closedir(d);
    }
    hpcw_i_free(directory);
    return s;
}

static unsigned kinds_of(hpcw_rank2file_layout layout) {
    unsigned kinds = 0;
    for (uint32_t m = 0; m < hpcw_rank2file_layout_maps(layout); m++) {
        kinds |= 1u << hpcw_i_r2f_kind_of(layout, m);
    }
    return kinds;
}

static hpcw_status layout_of(const char *prefix, unsigned kinds, hpcw_rank2file_layout *layout,
                             hpcw_error *err) {
    for (unsigned l = 0; hpcw_rank2file_layout_name((hpcw_rank2file_layout)l) != NULL; l++) {
        *layout = (hpcw_rank2file_layout)l;
        if (kinds_of(*layout) == kinds) {
            return HPCW_OK;
        }
    }
    return kinds == 0 ? hpcw_i_fail(err, HPCW_ENOENT, "%s: expected summaries of datasets, got none", prefix)
                      : hpcw_i_fail(err, HPCW_EFORMAT,
                                    "%s: expected datasets of one layout, got those of several versions of SCR",
                                    prefix);
}

static int by_id(const void *a_, const void *b_) {
    uint64_t a = ((const struct summarised *)a_)->id;
    uint64_t b = ((const struct summarised *)b_)->id;
    return a < b ? -1 : a > b;
}

/* Adds the datasets of the old index whose summaries exist, but were not found, because they cannot be read. */
static hpcw_status add_listed(struct search *found, const char *prefix, const hpcw_kvtree *old,
                              hpcw_rank2file_layout layout, hpcw_error *err) {
    bool by_name = hpcw_i_r2f_kind_of(layout, 0) == HPCW_I_R2F_1_1; /* where the summary is; otherwise by id */
    size_t count = found->count;
    for (const hpcw_kvtree *n = hpcw_kvtree_first(hpcw_i_r2f_index_names(old, layout)); n != NULL;
         n = hpcw_kvtree_next(n)) {
        const char *name = hpcw_kvtree_key(n);
        uint64_t id = hpcw_i_r2f_index_id(old, layout, name);
        bool taken = id == 0 || !is_directory_name(name);
        for (size_t i = 0; !taken && i < count; i++) {
            taken = by_name ? strcmp(found->item[i].name, name) == 0 : found->item[i].id == id;
        }
        if (!taken && count_summaries(prefix, layout, id, name) > 0) {
            struct summarised *item = item_of(found, prefix, id, name, err);
            if (item == NULL) {
                return HPCW_ENOMEM;
            }
            item->kinds = kinds_of(layout);
        }
    }
    return HPCW_OK;
}

/* Whether a dataset can be opened. One that the old index does not have must be sound, and is added to the new one. */
static hpcw_status list_again(const char *prefix, const struct summarised *found, hpcw_rank2file_layout layout,
                              bool was, hpcw_kvtree *index, hpcw_error *err) {
    hpcw_rank2file_options o;
    hpcw_rank2file_options_init(&o);
    o.layout = layout;
    hpcw_status s = HPCW_OK;
    if ((kinds_of(layout) & ~found->kinds) != 0) {
        s = hpcw_i_fail(err, HPCW_EFORMAT, "%s: dataset %s: expected the maps of layout %s, got others", prefix,
                        found->name, hpcw_rank2file_layout_name(layout));
    }
    for (uint32_t m = 0; s == HPCW_OK && m < hpcw_rank2file_layout_maps(layout); m++) {
        struct hpcw_i_r2f_known known = {
            .id = found->id, .layout = layout, .kind = hpcw_i_r2f_kind_of(layout, m)};
        hpcw_rank2file_restart *r;
        memcpy(known.name, found->name, sizeof known.name);
        s = hpcw_i_r2f_open_known(prefix, hpcw_i_comm_or_self(NULL), &known, HPCW_OK, &r, err);
        if (s != HPCW_OK) {
            break;
        }
        s = was ? HPCW_OK : hpcw_i_r2f_check_all(r, err);
        if (s == HPCW_OK && m == 0 && !was) {
            o.dataset = *hpcw_rank2file_restart_dataset(r);
            o.dataset.id = found->id;
            s = hpcw_rank2file_index_add(index, &o, err);
        }
        hpcw_rank2file_restart_free(r);
    }
    return s;
}

static hpcw_status merge_at(hpcw_kvtree *node, const char *key, const hpcw_kvtree *from, hpcw_error *err) {
    hpcw_kvtree *child;
    hpcw_status s = hpcw_kvtree_add(node, key, &child, err);
    return s == HPCW_OK && from != NULL ? hpcw_kvtree_merge(child, from, err) : s;
}

/* Copies the names and the record of a dataset from the old index, unchanged. */
static hpcw_status keep_listed(const hpcw_kvtree *old, hpcw_rank2file_layout layout, const char *name,
                               hpcw_kvtree *index, hpcw_error *err) {
    const char *version = hpcw_kvtree_value(old, "VERSION");
    const char *id = hpcw_kvtree_value(hpcw_kvtree_get(hpcw_i_r2f_index_names(old, layout), name), "DSET");
    const char *const maps[] = {layout == HPCW_RANK2FILE_SCR_1_1 ? "DIR" : "NAME",
                                layout == HPCW_RANK2FILE_SHARED ? "DIR" : NULL};
    hpcw_kvtree *node;
    hpcw_status s = hpcw_kvtree_set(index, "VERSION", version == NULL ? "1" : version, err);
    for (size_t i = 0; s == HPCW_OK && i < 2 && maps[i] != NULL; i++) {
        s = hpcw_kvtree_add(index, maps[i], &node, err);
        s = s == HPCW_OK ? merge_at(node, name, hpcw_kvtree_get(hpcw_kvtree_get(old, maps[i]), name), err) : s;
        s = s == HPCW_OK ? hpcw_kvtree_set(hpcw_kvtree_get(node, name), "DSET", id, err) : s;
    }
    s = s == HPCW_OK ? hpcw_kvtree_add(index, "DSET", &node, err) : s;
    const char *key = id;
    if (layout == HPCW_RANK2FILE_SCR_1_1 || layout == HPCW_RANK2FILE_SCR_1_2) {
        /* SCR 1 lets several datasets have one id. */
        s = s == HPCW_OK ? hpcw_kvtree_add(node, id, &node, err) : s;
        s = s == HPCW_OK ? hpcw_kvtree_add(node, maps[0], &node, err) : s;
        key = name;
    }
    return s == HPCW_OK ? merge_at(node, key, hpcw_i_r2f_index_record(old, layout, name), err) : s;
}

static hpcw_status rebuild(const char *prefix, const struct search *found, const hpcw_kvtree *old,
                           hpcw_rank2file_layout layout, hpcw_kvtree *index, hpcw_rank2file_tally *tally,
                           hpcw_error *err) {
    uint32_t kept = 0;
    uint64_t most = 0; /* id that comes back */
    const char *current = hpcw_kvtree_value(old, "CURRENT");
    for (size_t i = 0; i < found->count; i++) {
        const struct summarised *f = &found->item[i];
        hpcw_error why = {.message = ""};
        bool was = hpcw_i_r2f_index_id(old, layout, f->name) == f->id &&
                   hpcw_i_r2f_index_record(old, layout, f->name) != NULL;
        int own;
        hpcw_status s = hpcw_i_r2f_lock_dataset(prefix, f->id, f->name, &own, NULL, &why);
        if (s == HPCW_OK) {
            s = list_again(prefix, f, layout, was, index, &why);
            if (s == HPCW_OK) {
                hpcw_i_r2f_marker_remove(prefix, f->id);
            }
        }
        hpcw_i_r2f_unlock(own);
        if (s == HPCW_ENOMEM) {
            *err = why;
            return s;
        }
        if (s == HPCW_OK && !was) {
            tally->added++;
            most = f->id;
        }
        if (s != HPCW_OK) {
            tally->why = tally->skipped++ == 0 ? why : tally->why;
        }
        if (was) { /* whatever failed, now or earlier */
            kept++;
            s = keep_listed(old, layout, f->name, index, err);
            if (s != HPCW_OK) {
                return s;
            }
        }
    }
    tally->removed += (uint32_t)hpcw_kvtree_count(hpcw_i_r2f_index_names(old, layout)) - kept;
    hpcw_kvtree_remove(index, "CURRENT");
    if (current != NULL && hpcw_i_r2f_index_id(index, layout, current) > most) {
        hpcw_status s = hpcw_kvtree_set(index, "CURRENT", current, err);
        if (s != HPCW_OK) {
            return s;
        }
    }
    return hpcw_kvtree_count(index) == 0 ? HPCW_OK : hpcw_i_r2f_index_settle(index, layout, err);
}

static hpcw_status reindex(const char *prefix, const char *dataset, uint32_t keep, hpcw_rank2file_tally *tally,
                           hpcw_error *err) {
    struct search found = {.item = NULL};
    hpcw_kvtree *old = NULL;
    hpcw_kvtree *index = NULL;
    hpcw_rank2file_layout layout;
    int lock;
    (void)dataset;
    (void)keep;
    hpcw_status s = search(&found, prefix, true, err);
    if (s == HPCW_OK && found.count > 0) { /* .scr may be lost with the index */
        char *directory = hpcw_i_r2f_join(prefix, ".scr");
        int e = directory == NULL ? ENOMEM : hpcw_i_sys_mkdir(directory, 0777);
        s = e == 0 || e == EEXIST ? HPCW_OK
                                  : hpcw_i_fail_sys(err, e, "%s/.scr: cannot make the directory", prefix);
        hpcw_i_free(directory);
    }
    lock = -1;
    if (s == HPCW_OK) {
        s = hpcw_i_r2f_lock_index(prefix, &lock, NULL, err);
    }
    if (s == HPCW_OK) {
        s = search(&found, prefix, false, err);
    }
    if (s == HPCW_OK && hpcw_i_r2f_index_read(prefix, &old, NULL) == HPCW_OK &&
        (hpcw_i_r2f_index_layout(old, prefix, &layout, NULL) != HPCW_OK ||
         hpcw_kvtree_count(hpcw_i_r2f_index_names(old, layout)) == 0)) {
        hpcw_kvtree_free(old); /* it says nothing */
        old = NULL;
    }
    if (s == HPCW_OK && old == NULL) {
        s = layout_of(prefix, found.kinds, &layout, err);
    }
    if (s == HPCW_OK) {
        s = add_listed(&found, prefix, old, layout, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_kvtree_new(&index, err);
    }
    if (s == HPCW_OK && found.count > 1) {
        qsort(found.item, found.count, sizeof *found.item, by_id);
    }
    if (s == HPCW_OK) {
        s = rebuild(prefix, &found, old, layout, index, tally, err);
    }
    if (s == HPCW_OK && hpcw_kvtree_count(index) == 0) {
        s = tally->skipped > 0 ? tally->why.code : HPCW_ENOENT;
        *err = tally->why;
        if (tally->skipped == 0) {
            (void)hpcw_i_fail(err, s, "%s: expected summaries of datasets, got none", prefix);
        }
    }
    if (s == HPCW_OK) {
        s = hpcw_i_r2f_index_write(prefix, index, HPCW_SYNC_FILE, err);
    }
    hpcw_i_r2f_unlock(lock);
    hpcw_kvtree_free(old);
    hpcw_kvtree_free(index);
    hpcw_i_free(found.item);
    return s;
}

/* ---- calls ---- */

typedef hpcw_status work(const char *prefix, const char *dataset, uint32_t keep, hpcw_rank2file_tally *tally,
                         hpcw_error *err);

static hpcw_status run(work *w, const char *prefix, hpcw_comm *comm, const char *dataset, uint32_t keep,
                       hpcw_rank2file_tally *tally, hpcw_error *err) {
    hpcw_error local;
    err = err == NULL ? &local : err;
    comm = hpcw_i_comm_or_self(comm);
    hpcw_rank2file_tally done = {.added = 0};
    hpcw_status s = HPCW_OK;
    if (prefix == NULL || *prefix == '\0' || dataset == NULL) {
        s = hpcw_i_fail(err, HPCW_EINVAL, "rank2file: expected a prefix and the name of a dataset, got %s",
                        prefix == NULL || dataset == NULL ? "NULL" : "an empty prefix");
    }
    const struct hpcw_i_same same[] = {
        {.name = "prefix", .text = prefix},
        {.name = "dataset", .text = dataset},
        {.name = "keep", .number = keep},
    };
    s = hpcw_i_agree_same(comm, s, prefix, same, 3, NULL, err);
    if (s == HPCW_OK) {
        s = comm->process == 0 ? w(prefix, dataset, keep, &done, err) : HPCW_OK;
        if (s != HPCW_OK) {
            hpcw_i_fail_about(err, prefix);
        }
        s = hpcw_i_agree(comm, s, NULL, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_i_comm_bcast(comm, &done, sizeof done, 0, err);
    }
    if (tally != NULL) {
        *tally = done;
    }
    return s;
}

hpcw_status hpcw_rank2file_drop(const char *prefix, hpcw_comm *comm, const char *dataset, hpcw_error *err) {
    return run(drop, prefix, comm, dataset, 0, NULL, err);
}

hpcw_status hpcw_rank2file_mark_failed(const char *prefix, hpcw_comm *comm, const char *dataset,
                                       hpcw_error *err) {
    return run(mark_failed, prefix, comm, dataset, 0, NULL, err);
}

hpcw_status hpcw_rank2file_prune(const char *prefix, hpcw_comm *comm, uint32_t keep,
                                 hpcw_rank2file_tally *tally, hpcw_error *err) {
    return run(prune, prefix, comm, "", keep, tally, err);
}

hpcw_status hpcw_rank2file_reindex(const char *prefix, hpcw_comm *comm, hpcw_rank2file_tally *tally,
                                   hpcw_error *err) {
    return run(reindex, prefix, comm, "", 0, tally, err);
}
