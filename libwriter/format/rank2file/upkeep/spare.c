/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds files in the list of a removal that other datasets have, too. */
#include <stdlib.h>
#include <string.h>

#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/format/rank2file/restart/restart.h"
#include "libwriter/format/rank2file/upkeep/removal.h"

/* The files in the list of a removal that may belong to other datasets: those outside the dataset's directory,
 * or all except those in .scr/ if `all` of the list is set. */
struct outside {
    struct outside_file {
        const char *name;
        bool stays;
    } * file; /* [count], sorted by name, each name once */
    size_t count;
};

static bool is_outside(const struct hpcw_i_r2f_dataset *d, const char *name) {
    size_t n = strlen(d->name);
    return strncmp(name, ".scr/", 5) != 0 && (strncmp(name, d->name, n) != 0 || name[n] != '/');
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const struct outside_file *)a)->name, ((const struct outside_file *)b)->name);
}

/* Finds the files in the list of a removal that may belong to other datasets. False: out of memory. */
static bool find_outside(const struct hpcw_i_r2f_removal *r, const struct hpcw_i_r2f_dataset *d,
                         struct outside *o) {
    size_t capacity = 0, found = 0;
    for (const char *name = hpcw_i_r2f_next_name(&r->names, NULL); name != NULL;
         name = hpcw_i_r2f_next_name(&r->names, name)) {
        if (is_outside(d, name) || (r->all && strncmp(name, ".scr/", 5) != 0)) {
            struct outside_file *grown = hpcw_i_grow(o->file, &capacity, found + 1, sizeof *grown);
            if (grown == NULL) {
                return false;
            }
            o->file = grown;
            grown[found++] = (struct outside_file){.name = name};
        }
    }
    if (found > 1) {
        qsort(o->file, found, sizeof *o->file, by_name);
    }
    for (size_t i = 0; i < found; i++) {
        if (i == 0 || by_name(&o->file[i], &o->file[o->count - 1]) != 0) {
            o->file[o->count++] = o->file[i];
        }
    }
    return true;
}

static struct outside_file *file_of(const struct outside *o, const char *name) {
    const struct outside_file key = {.name = name};
    return o->count == 0 ? NULL : bsearch(&key, o->file, o->count, sizeof *o->file, by_name);
}

/* Sets `stays` for the files that dataset `other` has, or for all files if its map is damaged. */
static hpcw_status keep_those_of(struct outside *o, const struct hpcw_i_r2f_prefix *p,
                                 const struct hpcw_i_r2f_dataset *other, hpcw_error *err) {
    struct hpcw_i_r2f_removal r = hpcw_i_r2f_removal_new(p);
    hpcw_status s = hpcw_i_r2f_removal_add_map(&r, other, err);
    const bool unknown = hpcw_i_r2f_is_damage(s);
    for (size_t i = 0; unknown && i < o->count; i++) {
        o->file[i].stays = true;
    }
    for (const char *name = s == HPCW_OK ? hpcw_i_r2f_next_name(&r.names, NULL) : NULL; name != NULL;
         name = hpcw_i_r2f_next_name(&r.names, name)) {
        struct outside_file *file = file_of(o, name);
        if (file != NULL) {
            file->stays = true;
        }
    }
    hpcw_i_r2f_removal_free(&r);
    return unknown ? HPCW_OK : s;
}

/* Deletes from the list the files that must stay on the disk. False: out of memory. */
static bool shorten(struct hpcw_i_r2f_removal *r, const struct outside *o) {
    struct hpcw_i_buf names = {0};
    bool ok = true;
    for (const char *name = hpcw_i_r2f_next_name(&r->names, NULL); ok && name != NULL;
         name = hpcw_i_r2f_next_name(&r->names, name)) {
        const struct outside_file *file = file_of(o, name);
        ok = (file != NULL && file->stays) || hpcw_i_buf_append(&names, name, strlen(name) + 1);
    }
    if (!ok) {
        hpcw_i_buf_free(&names);
        return false;
    }
    hpcw_i_buf_free(&r->names);
    r->names = names;
    return true;
}

hpcw_status hpcw_i_r2f_removal_spare(struct hpcw_i_r2f_removal *r, const struct hpcw_i_r2f_dataset *d,
                                     const hpcw_kvtree *index, hpcw_error *err) {
    struct outside o = {.file = NULL};
    hpcw_status s = find_outside(r, d, &o) ? HPCW_OK : HPCW_ENOMEM;
    for (const hpcw_kvtree *n = hpcw_kvtree_first(hpcw_i_r2f_index_names(index, d->layout));
         s == HPCW_OK && o.count > 0 && n != NULL; n = hpcw_kvtree_next(n)) {
        const char *name = hpcw_kvtree_key(n);
        const struct hpcw_i_r2f_dataset other = {d->layout, hpcw_i_r2f_index_id(index, d->layout, name), name};
        if (strcmp(name, d->name) != 0 && other.id > 0 && hpcw_i_r2f_bad_listed(d->layout, name) == NULL) {
            s = keep_those_of(&o, &r->p, &other, err);
        }
    }
    if (s == HPCW_OK && o.count > 0 && !shorten(r, &o)) {
        s = HPCW_ENOMEM;
    }
    hpcw_i_free(o.file);
    return s == HPCW_ENOMEM ? hpcw_i_fail_memory(err, r->p.path, 0, NULL) : s;
}

static bool is_below(const char *name, const char *directory) {
    size_t n = strlen(directory);
    return strncmp(name, directory, n) == 0 && name[n] == '/';
}

static bool is_inside(const struct hpcw_i_r2f_dataset *d, const char *name) {
    bool inside = hpcw_i_r2f_is_directory_name(d->name) && is_below(name, d->name);
    for (uint32_t m = 0; !inside && m < hpcw_rank2file_layout_maps(d->layout); m++) {
        char metadata[HPCW_RANK2FILE_PATH];
        hpcw_i_r2f_metadata(hpcw_i_r2f_kind_of(d->layout, m), d->id, d->name, metadata);
        inside = is_below(name, metadata);
    }
    return inside;
}

hpcw_status hpcw_i_r2f_removal_confine(struct hpcw_i_r2f_removal *r, const struct hpcw_i_r2f_dataset *d,
                                       hpcw_error *err) {
    struct hpcw_i_buf names = {0};
    bool ok = true;
    for (const char *name = hpcw_i_r2f_next_name(&r->names, NULL); ok && name != NULL;
         name = hpcw_i_r2f_next_name(&r->names, name)) {
        ok = !is_inside(d, name) || hpcw_i_buf_append(&names, name, strlen(name) + 1);
    }
    if (!ok) {
        hpcw_i_buf_free(&names);
        return hpcw_i_fail_memory(err, r->p.path, 0, NULL);
    }
    hpcw_i_buf_free(&r->names);
    r->names = names;
    return HPCW_OK;
}
