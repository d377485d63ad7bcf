/* SPDX-License-Identifier: BSD-3-Clause */
/* Removes old datasets, and the files that dead writers left. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/format/rank2file/restart/restart.h"
#include "libwriter/format/rank2file/upkeep/upkeep.h"
#include "libwriter/io/dir.h"
#include "libwriter/io/sink.h"
#include "libwriter/io/sys.h"

/* ---- old datasets ---- */

static int by_id_descending(const void *a_, const void *b_) {
    uint64_t a = (*(const hpcw_rank2file_listed *const *)a_)->id;
    uint64_t b = (*(const hpcw_rank2file_listed *const *)b_)->id;
    return a > b ? -1 : a < b;
}

/* Checks datasets from the newest on until `keep` are sound. *first becomes the index of the next older one. */
static hpcw_status find_old(const struct hpcw_i_r2f_prefix *p, const hpcw_rank2file_listed *const *item,
                            uint32_t count, uint32_t keep, uint32_t *first, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    *first = 0;
    for (uint32_t kept = 0; s == HPCW_OK && *first < count && kept < keep; ++*first) {
        const hpcw_rank2file_listed *d = item[*first];
        if (d->complete && d->failed == NULL) {
            s = hpcw_i_r2f_check_entry(p, hpcw_i_r2f_entry_of(d), err);
            kept += s == HPCW_OK;
            s = hpcw_i_r2f_is_damage(s) ? HPCW_OK : s;
        }
    }
    return s;
}

/*
 * Lists the datasets that are older than the newest `keep` sound ones, without the current one. `names` gets their
 * names, each with its NUL. There is no index before the first dataset is complete, and then there are no names.
 */
static hpcw_status list_old(const struct hpcw_i_r2f_prefix *p, uint32_t keep, struct hpcw_i_buf *names,
                            hpcw_error *err) {
    hpcw_rank2file_list *list;
    hpcw_error mine = {.message = ""};
    hpcw_status s = hpcw_i_r2f_list_open(p, &list, &mine);
    if (s == HPCW_ENOENT) {
        return HPCW_OK;
    }
    if (s != HPCW_OK) {
        *err = mine;
        return s;
    }
    uint32_t count = hpcw_rank2file_list_count(list);
    uint32_t first = count;
    bool ok = true;
    const hpcw_rank2file_listed **item = hpcw_i_calloc((size_t)count + 1, sizeof *item);
    if (item != NULL) {
        for (uint32_t i = 0; i < count; i++) {
            item[i] = hpcw_rank2file_list_get(list, i);
        }
        qsort(item, count, sizeof(hpcw_rank2file_listed *), by_id_descending);
        s = find_old(p, item, count, keep, &first, err);
    }
    for (uint32_t i = first; s == HPCW_OK && ok && i < count; i++) {
        ok = item[i]->current || hpcw_i_buf_append(names, item[i]->name, strlen(item[i]->name) + 1);
    }
    if (item == NULL || !ok) {
        s = hpcw_i_fail_memory(err, p->path, count, "datasets");
    }
    hpcw_i_free((void *)item);
    hpcw_rank2file_list_free(list);
    return s;
}

/* Drops the datasets of a group. If one of them fails, those before it are dropped without it, then it fails
 * alone. */
static void drop_group(struct hpcw_i_r2f_upkeep *u, const char *const *name, size_t count, bool telling) {
    size_t most = count;
    for (size_t i = 0; i < count;) {
        hpcw_error why = {.message = ""};
        size_t n = count - i < most ? count - i : most;
        bool last;
        hpcw_status s = hpcw_i_r2f_drop(u, name + i, &n, telling, &last, &why);
        most = count;
        if (s != HPCW_OK && last && n > 1) {
            most = n - 1;
            continue;
        }
        if (s != HPCW_OK && !telling) {
            hpcw_i_r2f_skip(&u->tally, &why);
        }
        i += n;
    }
}

/* Drops many datasets in groups: a change of the index takes time in proportion to all datasets. */
static void drop_all(struct hpcw_i_r2f_upkeep *u, const struct hpcw_i_buf *names, bool telling) {
    const char *group[HPCW_I_R2F_GROUP];
    for (const char *name = hpcw_i_r2f_next_name(names, NULL); name != NULL;) {
        size_t count = 0;
        for (; name != NULL && count < HPCW_I_R2F_GROUP; name = hpcw_i_r2f_next_name(names, name)) {
            group[count++] = name;
        }
        drop_group(u, group, count, telling);
    }
}

/* ---- unfinished datasets ---- */

hpcw_status hpcw_i_r2f_count_summaries(const struct hpcw_i_r2f_prefix *p, const struct hpcw_i_r2f_dataset *d,
                                       uint32_t *count, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    *count = 0;
    for (uint32_t m = 0; s == HPCW_OK && m < hpcw_rank2file_layout_maps(d->layout); m++) {
        char name[HPCW_RANK2FILE_PATH];
        uint64_t size;
        int at;
        hpcw_rank2file_options o = {.layout = d->layout, .dataset = {.id = d->id, .name = d->name}};
        hpcw_rank2file_summary_path(&o, m, name);
        int e = hpcw_i_dir_fd(p->dir, &at);
        e = e == 0 ? hpcw_i_sys_size_at(at, name, &size) : e; /* only a read, so links may be followed */
        const bool missing = e == ENOENT || e == ENOTDIR;
        if (e != 0 && !missing && hpcw_i_sys_no_file(e) == NULL) {
            s = hpcw_i_fail_sys(err, e, "%s/%s: cannot look at the summary", p->path, name);
        }
        *count += !missing;
    }
    return s;
}

/* The marker of an unfinished dataset whose lock the caller has, and values for handling the marker. */
struct unfinished {
    struct hpcw_i_r2f_upkeep *u;
    const struct hpcw_i_r2f_which *which;
    const struct hpcw_i_r2f_marker *marker;
    const hpcw_kvtree *index;
    hpcw_rank2file_layout layout; /* layout of the index */
    bool telling;
    bool removed; /* output: whether the dataset's files were removed */
};

/* Lists in `r` what to remove with an unfinished dataset. */
static hpcw_status plan(const struct unfinished *x, const struct hpcw_i_r2f_dataset *d,
                        struct hpcw_i_r2f_removal *r, hpcw_error *err) {
    const struct hpcw_i_r2f_marker *m = x->marker;
    if (!m->lists && !x->u->how.all_files) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: dataset %s, unfinished: expected a marker that lists its files, got one of an "
                           "earlier version; to remove all files of %s/%s: all_files, or --all-files of hpcgen",
                           r->p.path, d->name, r->p.path, d->name);
    }
    hpcw_status s = hpcw_i_r2f_index_has_metadata(x->index, x->layout, d->id)
                        ? HPCW_OK
                        : hpcw_i_r2f_removal_add_metadata(r, d, err);
    if (s == HPCW_OK) {
        s = m->lists ? hpcw_i_r2f_removal_add_names(r, d->name, &m->names, err)
                     : hpcw_i_r2f_removal_add_all(r, d->name, err);
    }
    s = s == HPCW_OK ? hpcw_i_r2f_removal_add_temporary(r, d->name, err) : s;
    return s == HPCW_OK ? hpcw_i_r2f_removal_check(r, err) : s;
}

static hpcw_status remove_by_marker(struct unfinished *x, const struct hpcw_i_r2f_dataset *d, hpcw_error *err) {
    struct hpcw_i_r2f_removal r = hpcw_i_r2f_removal_new(&x->u->p);
    hpcw_status s = plan(x, d, &r, err);
    if (s == HPCW_OK && x->telling) {
        s = hpcw_i_r2f_removal_tell(&r, &x->u->how, err);
    } else if (s == HPCW_OK) {
        s = hpcw_i_r2f_removal_do(&r, true, err);
        if (s == HPCW_OK) { /* all listed files are gone, so the marker has no use */
            hpcw_i_r2f_marker_remove(&x->u->p, x->which);
            x->removed = true;
        }
    }
    hpcw_i_r2f_removal_free(&r);
    return s;
}

/* Removes the temporary files that belong to names in a marker. The files themselves may be those of a new
 * dataset. */
static hpcw_status remove_temporary(const struct unfinished *x, const struct hpcw_i_r2f_dataset *d,
                                    hpcw_error *err) {
    struct hpcw_i_r2f_removal listed = hpcw_i_r2f_removal_new(&x->u->p);
    struct hpcw_i_r2f_removal temporary = hpcw_i_r2f_removal_new(&x->u->p);
    hpcw_status s = hpcw_i_r2f_removal_add_names(&listed, d->name, &x->marker->names, err);
    s = s == HPCW_OK ? hpcw_i_r2f_removal_add_temporary(&listed, d->name, err) : s;
    s = s == HPCW_OK ? hpcw_i_r2f_removal_add_temporary_of(&temporary, &listed, err) : s;
    s = s == HPCW_OK ? hpcw_i_r2f_removal_do(&temporary, false, err) : s;
    hpcw_i_r2f_removal_free(&listed);
    hpcw_i_r2f_removal_free(&temporary);
    return s;
}

/* Removes what the marker of an unfinished dataset lists, but only temporary files if the index lists the dataset
 * or if `own`: the caller writes this dataset again, and keeps the marker. */
static hpcw_status finish_marker(struct unfinished *x, bool own, hpcw_error *err) {
    const struct hpcw_i_r2f_marker *m = x->marker;
    const struct hpcw_i_r2f_dataset d = {m->layout, x->which->id, m->name};
    const bool here = m->host != 0 && m->host == hpcw_i_sys_host();
    const bool listed = hpcw_kvtree_get(hpcw_i_r2f_index_names(x->index, x->layout), m->name) != NULL;
    uint32_t summaries = 0;
    if (own || listed) {
        hpcw_status s = here && !x->telling ? remove_temporary(x, &d, err) : HPCW_OK;
        if (s == HPCW_OK && !own && !x->telling) {
            hpcw_i_r2f_marker_remove(&x->u->p, x->which);
        }
        return s;
    }
    if (!here) {
        /* the writer on another host may be alive: some file systems do not share locks among hosts */
        return HPCW_OK;
    }
    hpcw_status s = hpcw_i_r2f_count_summaries(&x->u->p, &d, &summaries, err);
    if (s != HPCW_OK || summaries == hpcw_rank2file_layout_maps(m->layout)) {
        /* the dataset is complete, and hpcw_rank2file_reindex will list it */
        return s;
    }
    return remove_by_marker(x, &d, err);
}

/* Handles a marker after dataset `name` was locked. Reads the marker again, as its writer may have finished
 * before the lock was taken. */
static hpcw_status take_locked(struct unfinished *x, const char *name, bool own,
                               struct hpcw_i_r2f_marker *marker, hpcw_error *err) {
    hpcw_i_r2f_marker_free(marker);
    hpcw_status s = hpcw_i_r2f_marker_read(&x->u->p, x->which, marker, err);
    if (s == HPCW_ENOENT || (s == HPCW_OK && strcmp(marker->name, name) != 0)) {
        return HPCW_OK;
    }
    if (s == HPCW_EFORMAT) { /* the writer died while it created the marker, before any other file */
        if (!x->telling) {
            hpcw_i_r2f_marker_remove(&x->u->p, x->which);
        }
        return HPCW_OK;
    }
    return s == HPCW_OK ? finish_marker(x, own, err) : s;
}

/* Locks the dataset of one marker and handles the marker. HPCW_EEXIST: the marker is another user's, or no
 * regular file. */
static hpcw_status take_marker(struct unfinished *x, const struct hpcw_i_r2f_dataset *own,
                               struct hpcw_i_r2f_marker *marker, hpcw_error *err) {
    char name[sizeof marker->name];
    int lock = -1;
    bool locked = true;
    hpcw_status s = hpcw_i_r2f_marker_read(&x->u->p, x->which, marker, err);
    if (s != HPCW_OK && s != HPCW_EEXIST && s != HPCW_EFORMAT) {
        return s == HPCW_ENOENT ? HPCW_OK : s;
    }
    memcpy(name, marker->name, sizeof name);
    if (own == NULL) {
        s = hpcw_i_r2f_lock_dataset(&x->u->p, x->which->id, name, &lock, &locked, err);
        if (s != HPCW_OK) {
            return s == HPCW_EEXIST ? HPCW_OK : s; /* another program is writing the dataset */
        }
    }
    s = locked ? take_locked(x, name, own != NULL && strcmp(own->name, name) == 0, marker, err) : HPCW_OK;
    hpcw_i_r2f_unlock(lock);
    return s;
}

hpcw_status hpcw_i_r2f_remove_unfinished(struct hpcw_i_r2f_upkeep *u, const hpcw_kvtree *index,
                                         hpcw_rank2file_layout layout, const struct hpcw_i_r2f_markers *of,
                                         const struct hpcw_i_r2f_dataset *own, bool telling, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    char name[sizeof((struct hpcw_i_r2f_marker *)0)->name];
    /* dataset whose files were removed; `name` NULL: none yet */
    struct hpcw_i_r2f_dataset d = {.id = of->item[0].id, .name = NULL};
    for (size_t i = 0; s == HPCW_OK && i < of->count; i++) {
        struct hpcw_i_r2f_marker marker = {.name = ""};
        struct unfinished x = {.u = u,
                               .which = &of->item[i],
                               .marker = &marker,
                               .index = index,
                               .layout = layout,
                               .telling = telling};
        hpcw_error why = {.message = ""};
        s = take_marker(&x, own, &marker, &why);
        if (s != HPCW_OK && s != HPCW_ENOMEM && !telling) {
            hpcw_i_r2f_skip(&u->tally, &why);
        }
        if (s == HPCW_ENOMEM) {
            *err = why;
        } else {
            s = HPCW_OK;
        }
        if (x.removed) {
            d.layout = marker.layout;
            d.name = memcpy(name, marker.name, sizeof name);
        }
        hpcw_i_r2f_marker_free(&marker);
    }
    if (d.name != NULL) {
        u->tally.removed++;
        s = s == HPCW_OK ? hpcw_i_r2f_count_left(&u->p, &d, &u->tally.left, err) : s;
    }
    return s;
}

/* ---- temporary files ---- */

/* Removes temporary files of the index in .scr. The caller holds the lock of the index, so no living writer
 * uses them. */
static hpcw_status remove_those_of_the_index(struct hpcw_i_r2f_upkeep *u, hpcw_error *err) {
    static const char index[] = "index.scr.tmp";
    struct hpcw_i_listing *listing = NULL;
    int at;
    int e = hpcw_i_dir_fd(u->p.dir, &at);
    e = e == 0 ? hpcw_i_sys_list_at(at, ".scr", &listing) : e;
    for (const char *entry; e == 0;) {
        e = hpcw_i_sys_list_next(listing, &entry);
        if (e != 0 || entry == NULL) {
            break;
        }
        size_t size = strlen(entry);
        if (hpcw_i_sink_is_temporary(entry) && size > sizeof index &&
            strcmp(entry + size - sizeof index, "-index.scr.tmp") == 0) {
            (void)hpcw_i_sys_unlink_unowned(hpcw_i_sys_list_at_fd(listing), entry);
        }
    }
    hpcw_i_sys_list_free(listing);
    return e == 0 ? HPCW_OK : hpcw_i_r2f_fail_below(&u->p, e, ".scr", "cannot list the directory", err);
}

/* Removes temporary files of a dataset that the index lists: those of the files in its map. */
static hpcw_status remove_those_of(struct hpcw_i_r2f_upkeep *u, const struct hpcw_i_r2f_dataset *d,
                                   hpcw_error *err) {
    bool has;
    struct hpcw_i_r2f_removal r = hpcw_i_r2f_removal_new(&u->p);
    struct hpcw_i_r2f_removal temporary = hpcw_i_r2f_removal_new(&u->p);
    hpcw_status s = hpcw_i_r2f_has_temporary(&u->p, d, &has, err);
    if (s == HPCW_OK && has) {
        s = hpcw_i_r2f_removal_add_metadata(&r, d, err);
        s = s == HPCW_OK ? hpcw_i_r2f_removal_add_map(&r, d, err) : s;
        s = s == HPCW_OK ? hpcw_i_r2f_removal_add_temporary(&r, d->name, err) : s;
        s = s == HPCW_OK ? hpcw_i_r2f_removal_add_temporary_of(&temporary, &r, err) : s;
        s = s == HPCW_OK ? hpcw_i_r2f_removal_check(&temporary, err) : s;
        s = s == HPCW_OK ? hpcw_i_r2f_removal_do(&temporary, false, err) : s;
    }
    hpcw_i_r2f_removal_free(&r);
    hpcw_i_r2f_removal_free(&temporary);
    return s;
}

/* ---- prune ---- */

/* Removes files of dead writers: those of unfinished datasets, and temporary files. Without locks nobody knows
 * which writers are dead, so nothing is removed. */
static hpcw_status remove_orphans(struct hpcw_i_r2f_upkeep *u, bool telling, hpcw_error *err) {
    hpcw_kvtree *index = NULL;
    hpcw_rank2file_layout layout = HPCW_RANK2FILE_SCR_1_1;
    struct hpcw_i_r2f_markers all = {.item = NULL};
    int lock;
    bool locked;
    hpcw_status s = telling ? hpcw_i_r2f_lock_index(&u->p, &lock, &locked, err)
                            : hpcw_i_r2f_begin_change(&u->p, NULL, &u->tally, &lock, &locked, err);
    if (s != HPCW_OK) {
        return s;
    }
    hpcw_error mine = {.message = ""};
    s = hpcw_i_r2f_index_read(&u->p, &index, &mine);
    s = s == HPCW_OK ? hpcw_i_r2f_index_layout(index, u->p.path, &layout, &mine) : s;
    if (s == HPCW_ENOENT) {
        s = HPCW_OK; /* without an index, there are only unfinished datasets */
    } else if (s != HPCW_OK) {
        *err = mine;
    }
    if (s == HPCW_OK && locked) {
        s = hpcw_i_r2f_markers_find(&u->p, HPCW_I_R2F_UNFINISHED, &all, err);
    }
    for (size_t i = 0; s == HPCW_OK && i < all.count;) {
        const struct hpcw_i_r2f_markers of = hpcw_i_r2f_markers_of(&all, all.item[i].id);
        s = hpcw_i_r2f_remove_unfinished(u, index, layout, &of, NULL, telling, err);
        i += of.count;
    }
    if (s == HPCW_OK && locked && !telling) {
        s = remove_those_of_the_index(u, err);
    }
    for (const hpcw_kvtree *n = locked && !telling ? hpcw_kvtree_first(hpcw_i_r2f_index_names(index, layout))
                                                   : NULL;
         s == HPCW_OK && n != NULL; n = hpcw_kvtree_next(n)) {
        const char *name = hpcw_kvtree_key(n);
        const struct hpcw_i_r2f_dataset d = {layout, hpcw_i_r2f_index_id(index, layout, name), name};
        int own;
        if (hpcw_i_r2f_bad_listed(layout, name) == NULL &&
            hpcw_i_r2f_lock_dataset(&u->p, d.id, name, &own, NULL, NULL) == HPCW_OK) {
            (void)remove_those_of(u, &d, NULL); /* ignore failures: temporary files only take space */
            hpcw_i_r2f_unlock(own);
        }
    }
    hpcw_i_r2f_unlock(lock);
    hpcw_kvtree_free(index);
    hpcw_i_free(all.item);
    return s;
}

hpcw_status hpcw_i_r2f_prune(struct hpcw_i_r2f_upkeep *u, uint32_t keep, hpcw_error *err) {
    struct hpcw_i_buf old = {0};
    hpcw_status s = keep > 0 ? list_old(&u->p, keep, &old, err) : HPCW_OK;
    for (int pass = u->how.told != NULL ? 0 : 1; s == HPCW_OK && pass < 2; pass++) {
        /* the first pass reports everything that will be removed, before anything is */
        const bool telling = pass == 0;
        drop_all(u, &old, telling);
        s = remove_orphans(u, telling, err);
    }
    hpcw_i_buf_free(&old);
    return s;
}
