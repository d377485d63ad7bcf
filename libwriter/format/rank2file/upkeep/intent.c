/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/format/rank2file/upkeep/intent.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/format/rank2file/restart/restart.h"
#include "libwriter/io/dir.h"
#include "libwriter/io/sys.h"

static struct hpcw_i_r2f_which intent_of(uint64_t id) {
    return (struct hpcw_i_r2f_which){.kind = HPCW_I_R2F_DROPPED, .id = id};
}

void hpcw_i_r2f_skip(hpcw_rank2file_tally *tally, const hpcw_error *why) {
    if (tally->skipped++ == 0) {
        tally->why = *why;
    }
}

/* ---- removals that dead programs began ---- */

/* Values that finishing a removal needs. An intent is the marker of a dataset that is being removed. */
struct finish {
    const struct hpcw_i_r2f_prefix *p;
    const struct hpcw_i_r2f_dataset *own;
    struct hpcw_i_r2f_markers unfinished;
    hpcw_kvtree *index; /* index under its lock; NULL: there is none that can be read */
    hpcw_rank2file_layout layout;
};

/* Reads the index into f->index. If the index is missing or damaged, f->index becomes NULL: then every removal is
 * finished. */
static hpcw_status read_index(struct finish *f, hpcw_error *err) {
    hpcw_error mine = {.message = ""};
    hpcw_status s = hpcw_i_r2f_index_read(f->p, &f->index, &mine);
    s = s == HPCW_OK ? hpcw_i_r2f_index_layout(f->index, f->p->path, &f->layout, &mine) : s;
    if (s == HPCW_OK) {
        return s;
    }
    hpcw_kvtree_free(f->index);
    f->index = NULL;
    if (s == HPCW_ENOENT || (s <= HPCW_EFORMAT && s >= HPCW_ECHECKSUM)) {
        return HPCW_OK;
    }
    *err = mine;
    return s;
}

/* Finishes a removal if the index does not list the dataset; otherwise removes the intent. The caller holds the
 * dataset's lock. */
static hpcw_status finish_one(const struct finish *f, const struct hpcw_i_r2f_which *which,
                              const struct hpcw_i_r2f_marker *intent, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    if (f->index == NULL || !hpcw_i_r2f_index_has(f->index, f->layout, which->id, intent->name)) {
        const struct hpcw_i_r2f_dataset d = {intent->layout, which->id, intent->name};
        struct hpcw_i_r2f_removal r = hpcw_i_r2f_removal_new(f->p);
        s = hpcw_i_r2f_removal_add_names(&r, NULL, &intent->names, err);
        /* Remove only files in the dataset's directories. Other files in the intent may belong to other
         * datasets by now. */
        s = s == HPCW_OK ? hpcw_i_r2f_removal_confine(&r, &d, err) : s;
        s = s == HPCW_OK ? hpcw_i_r2f_finish_removal(&r, &d, &f->unfinished, true, err) : s;
        hpcw_i_r2f_removal_free(&r);
    } else {
        hpcw_i_r2f_marker_remove(f->p, which);
    }
    return s;
}

/* Finishes the removal of one intent. HPCW_EEXIST: the intent belongs to another user, or its program is alive. */
static hpcw_status finish_intent(const struct finish *f, const struct hpcw_i_r2f_which *which,
                                 hpcw_error *err) {
    struct hpcw_i_r2f_marker intent;
    int lock = -1;
    hpcw_status s = hpcw_i_r2f_marker_read(f->p, which, &intent, err);
    if (s == HPCW_EFORMAT) { /* the program died while it wrote the intent */
        hpcw_i_r2f_marker_remove(f->p, which);
        s = HPCW_OK;
    } else if (s == HPCW_OK) {
        /* Lock the dataset of the intent, unless it has the id or name of `own`, whose lock the caller has. */
        const struct hpcw_i_r2f_dataset *own = f->own;
        if (own == NULL || (own->id != which->id && strcmp(own->name, intent.name) != 0)) {
            s = hpcw_i_r2f_lock_dataset(f->p, which->id, intent.name, &lock, NULL, err);
        }
        s = s == HPCW_OK ? finish_one(f, which, &intent, err) : s;
        hpcw_i_r2f_unlock(lock);
    }
    hpcw_i_r2f_marker_free(&intent);
    return s;
}

static hpcw_status finish_intents(const struct hpcw_i_r2f_prefix *p, const struct hpcw_i_r2f_dataset *own,
                                  hpcw_rank2file_tally *tally, hpcw_error *err) {
    struct finish f = {.p = p, .own = own};
    struct hpcw_i_r2f_markers dropped;
    hpcw_status s = hpcw_i_r2f_markers_find(p, HPCW_I_R2F_DROPPED, &dropped, err);
    if (s == HPCW_OK && dropped.count > 0) {
        (void)hpcw_i_r2f_markers_find(p, HPCW_I_R2F_UNFINISHED, &f.unfinished, NULL);
        s = read_index(&f, err);
    }
    for (size_t i = 0; s == HPCW_OK && i < dropped.count; i++) {
        hpcw_error why = {.message = ""};
        hpcw_status one = finish_intent(&f, &dropped.item[i], &why);
        if (one == HPCW_ENOMEM) {
            *err = why;
            s = one;
        } else if (one != HPCW_OK && one != HPCW_EEXIST && tally != NULL) {
            hpcw_i_r2f_skip(tally, &why);
        }
    }
    hpcw_kvtree_free(f.index);
    hpcw_i_free(f.unfinished.item);
    hpcw_i_free(dropped.item);
    return s;
}

hpcw_status hpcw_i_r2f_begin_change(const struct hpcw_i_r2f_prefix *p, const struct hpcw_i_r2f_dataset *own,
                                    hpcw_rank2file_tally *tally, int *fd, bool *locked, hpcw_error *err) {
    hpcw_status s = hpcw_i_r2f_lock_index(p, fd, locked, err);
    if (s == HPCW_OK) {
        s = finish_intents(p, own, tally, err);
        if (s != HPCW_OK) {
            hpcw_i_r2f_unlock(*fd);
            *fd = -1;
        }
    }
    return s;
}

void hpcw_i_r2f_forget_intent(const struct hpcw_i_r2f_prefix *p, uint64_t id) {
    const struct hpcw_i_r2f_which which = intent_of(id);
    hpcw_i_r2f_marker_remove(p, &which);
}

/* ---- removing ---- */

static hpcw_status write_intent(const struct hpcw_i_r2f_drop *drop, bool sync, hpcw_error *err) {
    const struct hpcw_i_r2f_which which = intent_of(drop->d.id);
    struct hpcw_i_r2f_marker intent = {
        .layout = drop->d.layout, .lists = true, .host = hpcw_i_sys_host(), .names = drop->r.names};
    (void)snprintf(intent.name, sizeof intent.name, "%s", drop->d.name);
    return drop->r.names.size == 0 ? HPCW_OK : hpcw_i_r2f_intent_write(&drop->r.p, &which, &intent, sync, err);
}

hpcw_status hpcw_i_r2f_take_out(const struct hpcw_i_r2f_drop *drop, size_t *count, const hpcw_kvtree *index,
                                hpcw_durability durability, bool *no_intent, hpcw_error *err) {
    const bool sync = durability >= HPCW_SYNC_FILE;
    hpcw_status s = HPCW_OK;
    bool named = false;
    size_t tried = 0;
    while (s == HPCW_OK && tried < *count) {
        s = write_intent(&drop[tried++], sync, err);
    }
    *no_intent = s != HPCW_OK;
    *count = tried;
    if (s == HPCW_OK) {
        s = hpcw_i_r2f_index_write(&drop->r.p, index, sync ? HPCW_SYNC_DIRECTORY : durability, &named, err);
    }
    for (size_t i = 0; s != HPCW_OK && !named && i < tried; i++) {
        hpcw_i_r2f_forget_intent(&drop[i].r.p, drop[i].d.id);
    }
    return s;
}

hpcw_status hpcw_i_r2f_finish_removal(const struct hpcw_i_r2f_removal *r, const struct hpcw_i_r2f_dataset *d,
                                      const struct hpcw_i_r2f_markers *unfinished, bool sync, hpcw_error *err) {
    const struct hpcw_i_r2f_which which = intent_of(d->id);
    hpcw_status s = hpcw_i_r2f_removal_do(r, sync, err);
    if (s == HPCW_OK) {
        hpcw_i_r2f_markers_forget(&r->p, unfinished, d->id, d->name);
        hpcw_i_r2f_marker_remove(&r->p, &which);
    }
    return s;
}
