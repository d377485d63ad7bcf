/* SPDX-License-Identifier: BSD-3-Clause */
/* Rebuilds the index from the summaries of the datasets. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/format/kvtree/pack.h"
#include "libwriter/format/rank2file/restart/restart.h"
#include "libwriter/format/rank2file/upkeep/upkeep.h"
#include "libwriter/io/dir.h"
#include "libwriter/io/sys.h"

/* A dataset with a summary, or a dataset in the old index whose summary cannot be read. */
struct summarised {
    uint64_t id;
    unsigned kinds; /* bit k is set if the dataset has a summary beside a map of kind k */
    char name[HPCW_I_R2F_LONGEST + 1];
};

struct search {
    struct summarised *item; /* the same dataset may come twice until `unite` */
    size_t count, capacity;
    unsigned kinds;
};

static hpcw_status add_item(struct search *found, const char *prefix, uint64_t id, const char *name,
                            unsigned kinds, hpcw_error *err) {
    struct summarised *grown = hpcw_i_grow(found->item, &found->capacity, found->count + 1, sizeof *grown);
    if (grown == NULL) {
        return hpcw_i_fail_memory(err, prefix, found->count, "datasets");
    }
    found->item = grown;
    struct summarised *item = &found->item[found->count++];
    *item = (struct summarised){.id = id, .kinds = kinds};
    (void)snprintf(item->name, sizeof item->name, "%s", name);
    return HPCW_OK;
}

/* Looks for a summary in directory `metadata` below the prefix, and finds the kind of the map beside it. */
static hpcw_status look(struct search *found, const struct hpcw_i_r2f_prefix *p, const char *metadata,
                        bool is_1_1, hpcw_error *err) {
    hpcw_kvtree *summary = NULL;
    uint64_t id = 0;
    uint64_t size;
    char name[2 * HPCW_RANK2FILE_PATH];
    int at;
    (void)snprintf(name, sizeof name, "%s/summary.scr", metadata);
    char *path = hpcw_i_r2f_join(p->path, name);
    if (path == NULL) {
        return hpcw_i_fail_memory(err, p->path, 0, NULL);
    }
    int e = hpcw_i_dir_fd(p->dir, &at);
    hpcw_status s = e == 0 ? hpcw_i_kv_read_at(at, name, path, &summary, err)
                           : hpcw_i_fail_sys(err, e, "%s: cannot open for reading", path);
    const hpcw_kvtree *dset = hpcw_kvtree_get(summary, "DSET");
    const char *said = hpcw_kvtree_value(dset, "NAME");
    bool good = s == HPCW_OK && hpcw_i_r2f_is_complete(summary) && said != NULL &&
                hpcw_i_r2f_bad_listed(is_1_1 ? HPCW_RANK2FILE_SCR_1_1 : HPCW_RANK2FILE_SCR_3, said) == NULL &&
                hpcw_kvtree_value_u64(dset, "ID", &id, NULL) == HPCW_OK && id > 0 && id <= INT32_MAX;
    unsigned kind = HPCW_I_R2F_1_1;
    if (good && !is_1_1) {
        (void)snprintf(name, sizeof name, "%s/rank2file", metadata);
        e = hpcw_i_sys_size_at(at, name, &size);
        kind = e == 0 ? HPCW_I_R2F_3 : HPCW_I_R2F_1_2;
        s = e == 0 || e == ENOENT || hpcw_i_sys_no_file(e) != NULL
                ? HPCW_OK
                : hpcw_i_fail_sys(err, e, "%s/%s: cannot ask for its size", p->path, name);
    } else if (hpcw_i_r2f_is_damage(s)) {
        /* there is no summary; or it is damaged, and add_listed adds the dataset if the old index lists it */
        s = HPCW_OK;
    }
    hpcw_i_free(path);
    if (good && s == HPCW_OK) {
        s = add_item(found, p->path, id, said, 1u << kind, err);
        found->kinds |= s == HPCW_OK ? 1u << kind : 0;
    }
    hpcw_kvtree_free(summary);
    return s;
}

/* Searches for summaries: in .scr for SCR 1.2 and later, in the directories of datasets for SCR 1.1. */
static hpcw_status search(struct search *found, const struct hpcw_i_r2f_prefix *p, bool is_1_1,
                          hpcw_error *err) {
    const char *directory = is_1_1 ? "." : ".scr";
    struct hpcw_i_listing *listing = NULL;
    int at;
    int e = hpcw_i_dir_fd(p->dir, &at);
    e = e == 0 ? hpcw_i_sys_list_at(at, directory, &listing) : e;
    hpcw_status s = HPCW_OK;
    const char *name = "";
    while (e == 0 && s == HPCW_OK && name != NULL) {
        char metadata[HPCW_RANK2FILE_PATH];
        e = hpcw_i_sys_list_next(listing, &name);
        if (e == 0 && name != NULL && (is_1_1 ? name[0] != '.' : strncmp(name, "scr.dataset.", 12) == 0)) {
            (void)snprintf(metadata, sizeof metadata, is_1_1 ? "%.*s/.scr" : ".scr/%.*s", 300, name);
            s = look(found, p, metadata, is_1_1, err);
        }
    }
    if (e != 0 && (e != ENOENT || listing != NULL)) {
        s = hpcw_i_r2f_fail_below(p, e, directory, "cannot list the directory", err);
    }
    hpcw_i_sys_list_free(listing);
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

static int by_name(const void *a, const void *b) {
    return strcmp(((const struct summarised *)a)->name, ((const struct summarised *)b)->name);
}

static int by_id_and_name(const void *a, const void *b) {
    const int order = by_id(a, b);
    return order != 0 ? order : by_name(a, b);
}

static void sort(struct search *found, int (*compare)(const void *, const void *)) {
    if (found->count > 1) {
        qsort(found->item, found->count, sizeof *found->item, compare);
    }
}

/* Makes one of the items of each dataset, which has a summary for each kind of map. */
static void unite(struct search *found) {
    size_t count = 0;
    sort(found, by_id_and_name);
    for (size_t i = 0; i < found->count; i++) {
        if (count > 0 && by_id_and_name(&found->item[i], &found->item[count - 1]) == 0) {
            found->item[count - 1].kinds |= found->item[i].kinds;
        } else if (i != count++) {
            found->item[count - 1] = found->item[i];
        }
    }
    found->count = count;
}

/* Returns whether an entry of the index has a legal name and id. */
static bool is_understood(const hpcw_kvtree *old, hpcw_rank2file_layout layout, const char *name) {
    return hpcw_i_r2f_index_id(old, layout, name) > 0 && hpcw_i_r2f_bad_listed(layout, name) == NULL;
}

/* Adds the datasets of the old index that have summaries, but whose summaries could not be read. */
static hpcw_status add_listed(struct search *found, const struct hpcw_i_r2f_prefix *p, const hpcw_kvtree *old,
                              hpcw_rank2file_layout layout, hpcw_error *err) {
    /* a summary is found by the dataset's name in the layout of SCR 1.1, otherwise by its id */
    int (*const compare)(const void *, const void *) =
        hpcw_i_r2f_kind_of(layout, 0) == HPCW_I_R2F_1_1 ? by_name : by_id;
    const size_t count = found->count;
    hpcw_status s = HPCW_OK;
    sort(found, compare);
    for (const hpcw_kvtree *n = hpcw_kvtree_first(hpcw_i_r2f_index_names(old, layout));
         s == HPCW_OK && n != NULL; n = hpcw_kvtree_next(n)) {
        const char *name = hpcw_kvtree_key(n);
        struct summarised key = {.id = hpcw_i_r2f_index_id(old, layout, name)};
        (void)snprintf(key.name, sizeof key.name, "%s", name);
        if (!is_understood(old, layout, name) ||
            (count > 0 && bsearch(&key, found->item, count, sizeof key, compare) != NULL)) {
            continue;
        }
        const struct hpcw_i_r2f_dataset d = {layout, key.id, name};
        uint32_t summaries = 0;
        s = hpcw_i_r2f_count_summaries(p, &d, &summaries, err);
        s = s == HPCW_OK && summaries > 0 ? add_item(found, p->path, key.id, name, kinds_of(layout), err) : s;
    }
    sort(found, by_id_and_name);
    return s;
}

/* Checks a dataset by opening it. `was`: the old index lists it. Otherwise also checks its files and adds it to the
 * new index. */
static hpcw_status list_again(const struct hpcw_i_r2f_prefix *p, const struct summarised *found,
                              hpcw_rank2file_layout layout, bool was, hpcw_kvtree *index, hpcw_error *err) {
    hpcw_rank2file_options o;
    hpcw_rank2file_options_init(&o);
    o.layout = layout;
    hpcw_status s = HPCW_OK;
    if ((kinds_of(layout) & ~found->kinds) != 0) {
        s = hpcw_i_fail(err, HPCW_EFORMAT, "%s: dataset %s: expected the maps of layout %s, got others",
                        p->path, found->name, hpcw_rank2file_layout_name(layout));
    }
    for (uint32_t m = 0; s == HPCW_OK && m < hpcw_rank2file_layout_maps(layout); m++) {
        struct hpcw_i_r2f_known known = {
            .id = found->id, .layout = layout, .kind = hpcw_i_r2f_kind_of(layout, m)};
        hpcw_rank2file_restart *r;
        memcpy(known.name, found->name, sizeof known.name);
        s = hpcw_i_r2f_open_known(p, hpcw_i_comm_or_self(NULL), &known, HPCW_OK, &r, err);
        if (s != HPCW_OK) {
            break;
        }
        s = was ? HPCW_OK : hpcw_i_r2f_check_all(r, err);
        if (s == HPCW_OK && m == 0 && !was) {
            o.dataset = *hpcw_rank2file_restart_dataset(r);
            o.dataset.id = found->id;
            s = hpcw_i_r2f_index_add(index, &o, err);
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

/* Copies a dataset's names and record from the old index, unchanged. */
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
        s = s == HPCW_OK && id != NULL ? hpcw_kvtree_set(hpcw_kvtree_get(node, name), "DSET", id, err) : s;
    }
    if (id == NULL) {
        return s; /* a dataset without an id has no record */
    }
    s = s == HPCW_OK ? hpcw_kvtree_add(index, "DSET", &node, err) : s;
    const char *key = id;
    if (layout == HPCW_RANK2FILE_SCR_1_1 || layout == HPCW_RANK2FILE_SCR_1_2) {
        /* In SCR 1 several datasets may have one id, so the record is below the dataset's name. */
        s = s == HPCW_OK ? hpcw_kvtree_add(node, id, &node, err) : s;
        s = s == HPCW_OK ? hpcw_kvtree_add(node, maps[0], &node, err) : s;
        key = name;
    }
    return s == HPCW_OK ? merge_at(node, key, hpcw_i_r2f_index_record(old, layout, name), err) : s;
}

/* Fails if somebody, perhaps another user, began to remove the dataset. Such a dataset must not be listed
 * again. */
static hpcw_status check_not_removed(const struct hpcw_i_r2f_prefix *p,
                                     const struct hpcw_i_r2f_markers *dropped, const struct summarised *f,
                                     hpcw_error *err) {
    return hpcw_i_r2f_markers_of(dropped, f->id).count == 0
               ? HPCW_OK
               : hpcw_i_fail(err, HPCW_EEXIST,
                             "%s: dataset %s with id %" PRIu64 ": somebody began to remove it", p->path,
                             f->name, f->id);
}

/* Finds out whether a dataset is unfinished: its last summary is missing, and it has a marker.
 * hpcw_rank2file_prune removes such a dataset. */
static hpcw_status is_unfinished(const struct hpcw_i_r2f_prefix *p, const struct hpcw_i_r2f_markers *unfinished,
                                 const struct summarised *f, hpcw_rank2file_layout layout, bool *is,
                                 hpcw_error *err) {
    *is = false;
    return (kinds_of(layout) & ~f->kinds) == 0
               ? HPCW_OK
               : hpcw_i_r2f_markers_have(p, unfinished, f->id, f->name, is, err);
}

/* Copies entries of the old index without a legal name or id: this library did not make them. */
static hpcw_status keep_others(struct hpcw_i_r2f_upkeep *u, const hpcw_kvtree *old,
                               hpcw_rank2file_layout layout, hpcw_kvtree *index, uint32_t *kept,
                               hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    for (const hpcw_kvtree *n = hpcw_kvtree_first(hpcw_i_r2f_index_names(old, layout));
         s == HPCW_OK && n != NULL; n = hpcw_kvtree_next(n)) {
        const char *name = hpcw_kvtree_key(n);
        if (!is_understood(old, layout, name)) {
            hpcw_error why;
            (void)hpcw_i_fail(&why, HPCW_EFORMAT,
                              "%s/%s: dataset \"%.200s\": expected a name and an id of SCR, got others",
                              u->p.path, HPCW_RANK2FILE_INDEX, name);
            hpcw_i_r2f_skip(&u->tally, &why);
            ++*kept;
            s = keep_listed(old, layout, name, index, err);
        }
    }
    return s;
}

/* `dropped` and `unfinished` are the markers of these kinds, found under the lock of the index. A marker that is made
 * later is that of a dataset with a living writer, which is locked. */
static hpcw_status rebuild(struct hpcw_i_r2f_upkeep *u, const struct search *found, const hpcw_kvtree *old,
                           hpcw_rank2file_layout layout, const struct hpcw_i_r2f_markers *dropped,
                           const struct hpcw_i_r2f_markers *unfinished, hpcw_kvtree *index, hpcw_error *err) {
    uint32_t kept = 0;
    /* highest id of the datasets that the old index did not list */
    uint64_t most = 0;
    const char *current = hpcw_kvtree_value(old, "CURRENT");
    for (size_t i = 0; i < found->count; i++) {
        const struct summarised *f = &found->item[i];
        hpcw_error why = {.message = ""};
        bool was = hpcw_i_r2f_index_id(old, layout, f->name) == f->id &&
                   hpcw_i_r2f_index_record(old, layout, f->name) != NULL;
        int own;
        hpcw_status s = hpcw_i_r2f_lock_dataset(&u->p, f->id, f->name, &own, NULL, &why);
        bool undone = false;
        if (s == HPCW_OK && !was) {
            s = check_not_removed(&u->p, dropped, f, &why);
        }
        if (s == HPCW_OK && !was) {
            s = is_unfinished(&u->p, unfinished, f, layout, &undone, &why);
        }
        if (s == HPCW_OK && !undone) {
            s = list_again(&u->p, f, layout, was, index, &why);
        }
        hpcw_i_r2f_unlock(own);
        if (s == HPCW_ENOMEM) {
            *err = why;
            return s;
        }
        if (s == HPCW_OK && !was && !undone) {
            u->tally.added++;
            most = f->id;
        }
        if (s != HPCW_OK) {
            hpcw_i_r2f_skip(&u->tally, &why);
        }
        if (was) { /* a dataset of the old index stays listed, even if its check failed */
            kept++;
            s = keep_listed(old, layout, f->name, index, err);
            if (s != HPCW_OK) {
                return s;
            }
        }
    }
    hpcw_status s = keep_others(u, old, layout, index, &kept, err);
    if (s != HPCW_OK) {
        return s;
    }
    u->tally.removed += (uint32_t)hpcw_kvtree_count(hpcw_i_r2f_index_names(old, layout)) - kept;
    hpcw_kvtree_remove(index, "CURRENT");
    if (current != NULL && hpcw_i_r2f_index_id(index, layout, current) > most) {
        s = hpcw_kvtree_set(index, "CURRENT", current, err);
        if (s != HPCW_OK) {
            return s;
        }
    }
    return hpcw_kvtree_count(index) == 0 ? HPCW_OK : hpcw_i_r2f_index_settle(index, layout, err);
}

/* Reads the old index. *old becomes NULL if there is none or it is damaged. */
static hpcw_status read_old(const struct hpcw_i_r2f_prefix *p, hpcw_kvtree **old, hpcw_rank2file_layout *layout,
                            hpcw_error *err) {
    hpcw_error mine = {.message = ""};
    hpcw_status s = hpcw_i_r2f_index_read(p, old, &mine);
    if (s == HPCW_OK && (hpcw_i_r2f_index_layout(*old, p->path, layout, NULL) != HPCW_OK ||
                         hpcw_kvtree_count(hpcw_i_r2f_index_names(*old, *layout)) == 0)) {
        hpcw_kvtree_free(*old);
        *old = NULL;
    }
    if (s != HPCW_OK && s != HPCW_ENOENT && !(s <= HPCW_EFORMAT && s >= HPCW_ECHECKSUM)) {
        *err = mine;
        return s;
    }
    return HPCW_OK;
}

hpcw_status hpcw_i_r2f_reindex(struct hpcw_i_r2f_upkeep *u, hpcw_error *err) {
    struct search found = {.item = NULL};
    struct hpcw_i_r2f_markers dropped = {.item = NULL};
    struct hpcw_i_r2f_markers unfinished = {.item = NULL};
    hpcw_kvtree *old = NULL;
    hpcw_kvtree *index = NULL;
    hpcw_rank2file_layout layout = HPCW_RANK2FILE_SCR_1_1;
    int lock = -1;
    hpcw_status s = search(&found, &u->p, true, err);
    if (s == HPCW_OK && found.count > 0) { /* the directory .scr may have been lost together with the index */
        s = hpcw_i_r2f_make_directory(&u->p, ".scr", false, NULL, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_i_r2f_begin_change(&u->p, NULL, &u->tally, &lock, NULL, err);
    }
    found.count = 0; /* search again under the lock: datasets that were being removed may be gone */
    found.kinds = 0;
    for (int is_1_1 = 1; s == HPCW_OK && is_1_1 >= 0; is_1_1--) {
        s = search(&found, &u->p, is_1_1 == 1, err);
    }
    unite(&found);
    if (s == HPCW_OK) {
        s = read_old(&u->p, &old, &layout, err);
    }
    if (s == HPCW_OK && old == NULL) {
        s = layout_of(u->p.path, found.kinds, &layout, err);
    }
    if (s == HPCW_OK) {
        s = add_listed(&found, &u->p, old, layout, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_kvtree_new(&index, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_i_r2f_markers_find(&u->p, HPCW_I_R2F_DROPPED, &dropped, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_i_r2f_markers_find(&u->p, HPCW_I_R2F_UNFINISHED, &unfinished, err);
    }
    if (s == HPCW_OK) {
        s = rebuild(u, &found, old, layout, &dropped, &unfinished, index, err);
    }
    if (s == HPCW_OK && hpcw_kvtree_count(index) == 0) {
        s = u->tally.skipped > 0 ? u->tally.why.code : HPCW_ENOENT;
        *err = u->tally.why;
        if (u->tally.skipped == 0) {
            (void)hpcw_i_fail(err, s, "%s: expected summaries of datasets, got none", u->p.path);
        }
    }
    if (s == HPCW_OK) {
        s = hpcw_i_r2f_index_write(&u->p, index, HPCW_SYNC_FILE, NULL, err);
    }
    hpcw_i_r2f_unlock(lock);
    hpcw_kvtree_free(old);
    hpcw_kvtree_free(index);
    hpcw_i_free(dropped.item);
    hpcw_i_free(unfinished.item);
    hpcw_i_free(found.item);
    return s;
}
