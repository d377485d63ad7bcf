/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the list of the files to remove with a dataset. */
#include "libwriter/format/rank2file/upkeep/removal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/format/rank2file/restart/restart.h"
#include "libwriter/format/rank2file/upkeep/tree.h"
#include "libwriter/io/dir.h"
#include "libwriter/io/sink.h"
#include "libwriter/io/sys.h"

struct hpcw_i_r2f_removal hpcw_i_r2f_removal_new(const struct hpcw_i_r2f_prefix *p) {
    return (struct hpcw_i_r2f_removal){.p = *p};
}

void hpcw_i_r2f_removal_free(struct hpcw_i_r2f_removal *r) {
    hpcw_i_buf_free(&r->names);
}

const char *hpcw_i_r2f_next_name(const struct hpcw_i_buf *names, const char *name) {
    const char *next = name == NULL ? (const char *)names->data : name + strlen(name) + 1;
    return names->size == 0 || next == (const char *)names->data + names->size ? NULL : next;
}

bool hpcw_i_r2f_is_folder(const char *name) {
    return name[strlen(name) - 1] == '/';
}

bool hpcw_i_r2f_is_temporary(const char *name) {
    return hpcw_i_sink_is_temporary(hpcw_i_sys_base_of(name));
}

/* ---- make the list ---- */

/* Returns whether a file of this name may be removed. The index, the lock file and markers belong to no
 * dataset, and stay. */
static bool may_go(const char *name) {
    static const char metadata[] = ".scr/scr.dataset.";
    bool in_scr = strncmp(name, ".scr", 4) == 0 && (name[4] == '/' || name[4] == '\0');
    if (in_scr && strncmp(name, metadata, sizeof metadata - 1) != 0) {
        return false;
    }
    for (const char *part = name;;) {
        size_t n = strcspn(part, "/");
        if (n == 0 || (part[0] == '.' && (n == 1 || (n == 2 && part[1] == '.')))) {
            return false;
        }
        part += n + (part[n] == '/');
        if (*part == '\0') {
            return true;
        }
    }
}

/* Adds "DIRECTORY/NAME" to the list, or NAME if `directory` is NULL. With NAME "", adds "DIRECTORY/". */
static int add(struct hpcw_i_r2f_removal *r, const char *directory, const char *name) {
    size_t before = r->names.size;
    bool ok = directory == NULL ||
              (hpcw_i_buf_append_str(&r->names, directory) && hpcw_i_buf_append(&r->names, "/", 1));
    ok = ok && hpcw_i_buf_append(&r->names, name, strlen(name) + 1);
    if (!ok || !may_go((const char *)r->names.data + before)) {
        r->names.size = before;
    }
    return ok ? 0 : ENOMEM;
}

/* Returns the end of a text ".NUMBER" at `p`, or NULL if `p` has another text. */
static const char *skip_number(const char *p, const char *end) {
    const char *digits = p < end && *p == '.' ? p + 1 : end;
    p = digits;
    while (p < end && *p >= '0' && *p <= '9') {
        p++;
    }
    return p == digits ? NULL : p;
}

/* Returns whether a text is "summary.scr", "rank2file" or "rank2file.LEVEL.FIRST". The last two may end in
 * ".scr". */
static bool is_metadata_text(const char *name, size_t size) {
    static const char root[] = "rank2file", summary[] = "summary.scr";
    const char *end = name + size;
    if (size == sizeof summary - 1 && memcmp(name, summary, size) == 0) {
        return true;
    }
    if (size < sizeof root - 1 || memcmp(name, root, sizeof root - 1) != 0) {
        return false;
    }
    const char *p = name + sizeof root - 1;
    const char *level = skip_number(p, end);
    p = level == NULL ? p : skip_number(level, end);
    return p != NULL && (p == end || (end - p == 4 && memcmp(p, ".scr", 4) == 0));
}

/* Returns the final name that a temporary name contains. */
static const char *base_of_temporary(const char *name, size_t *size) {
    const char *base = strchr(strchr(name, '-') + 1, '-') + 1;
    *size = strlen(base) - strlen(".tmp");
    return base;
}

/* Returns whether a name is that of a node, a summary, or a temporary file of these. */
static bool is_metadata(const char *name) {
    size_t size = strlen(name);
    const char *base = hpcw_i_sink_is_temporary(name) ? base_of_temporary(name, &size) : name;
    return is_metadata_text(base, size);
}

struct adding {
    struct hpcw_i_r2f_removal *r;
    const char *directory;
};

static int add_if_metadata(void *context, const char *name) {
    const struct adding *a = context;
    return strchr(name, '/') == NULL && is_metadata(name) ? add(a->r, a->directory, name) : 0;
}

static hpcw_status fail(const struct hpcw_i_r2f_prefix *p, int e, const char *name, hpcw_error *err) {
    return hpcw_i_r2f_fail_below(p, e, name, "cannot find out what is to be removed", err);
}

hpcw_status hpcw_i_r2f_removal_add_metadata(struct hpcw_i_r2f_removal *r, const struct hpcw_i_r2f_dataset *d,
                                            hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    for (uint32_t m = 0; s == HPCW_OK && m < hpcw_rank2file_layout_maps(d->layout); m++) {
        char directory[HPCW_RANK2FILE_PATH];
        hpcw_i_r2f_metadata(hpcw_i_r2f_kind_of(d->layout, m), d->id, d->name, directory);
        struct adding a = {r, directory};
        int e = hpcw_i_r2f_tree_walk(r->p.dir, directory, add_if_metadata, &a);
        e = e == 0 ? add(r, directory, "") : e;
        s = e == 0 ? HPCW_OK : fail(&r->p, e, directory, err);
    }
    return s;
}

static hpcw_status add_one_map(struct hpcw_i_r2f_removal *r, const struct hpcw_i_r2f_dataset *d,
                               enum hpcw_i_r2f_kind kind, hpcw_error *err) {
    hpcw_rank2file_restart *map = NULL;
    char metadata[HPCW_RANK2FILE_PATH], name[2 * HPCW_RANK2FILE_PATH];
    const char *base = kind == HPCW_I_R2F_1_1 ? d->name : NULL;
    hpcw_i_r2f_metadata(kind, d->id, d->name, metadata);
    (void)snprintf(name, sizeof name, "%s/%s", metadata, hpcw_i_r2f_root(kind));
    hpcw_status s = hpcw_i_r2f_open_root(&r->p, name, &map, err);
    if (s == HPCW_OK) {
        s = hpcw_rank2file_restart_load(map, 0, NULL, err);
    }
    size_t before = r->names.size;
    for (uint64_t i = 0; s == HPCW_OK && i < hpcw_rank2file_restart_files(map); i++) {
        hpcw_rank2file_found f;
        s = hpcw_rank2file_restart_file(map, i, &f, err);
        if (s == HPCW_OK && base == NULL && !may_go(f.name)) {
            s = hpcw_i_fail(err, HPCW_EFORMAT, "%s/%s: rank %u: expected a data file, got %.200s", r->p.path,
                            name, f.rank, f.name);
        }
        if (s == HPCW_OK && add(r, base, f.name) != 0) {
            s = hpcw_i_fail_memory(err, r->p.path, hpcw_rank2file_restart_files(map), "files");
        }
    }
    if (s != HPCW_OK) {
        r->names.size = before;
    }
    hpcw_rank2file_restart_free(map);
    return s;
}

hpcw_status hpcw_i_r2f_removal_add_map(struct hpcw_i_r2f_removal *r, const struct hpcw_i_r2f_dataset *d,
                                       hpcw_error *err) {
    hpcw_status s = add_one_map(r, d, hpcw_i_r2f_kind_of(d->layout, 0), err);
    if (hpcw_i_r2f_is_damage(s) && hpcw_rank2file_layout_maps(d->layout) > 1 &&
        add_one_map(r, d, hpcw_i_r2f_kind_of(d->layout, 1), NULL) == HPCW_OK) {
        s = HPCW_OK; /* both maps list the same files */
    }
    if (s == HPCW_OK && hpcw_i_r2f_is_directory_name(d->name) && add(r, d->name, "") != 0) {
        s = hpcw_i_fail_memory(err, r->p.path, 0, NULL);
    }
    return s;
}

hpcw_status hpcw_i_r2f_removal_add_names(struct hpcw_i_r2f_removal *r, const char *dataset,
                                         const struct hpcw_i_buf *names, hpcw_error *err) {
    int e = dataset == NULL ? 0 : add(r, dataset, "");
    for (const char *name = hpcw_i_r2f_next_name(names, NULL); e == 0 && name != NULL;
         name = hpcw_i_r2f_next_name(names, name)) {
        e = add(r, dataset, name);
    }
    return e == 0 ? HPCW_OK : hpcw_i_fail_memory(err, r->p.path, 0, NULL);
}

/* Adds a name to the list. EXDEV: the name is that of a mount point, a directory that the walk visits like a
 * file. */
static int add_any(void *context, const char *name) {
    const struct adding *a = context;
    struct hpcw_i_entry entry = {.kind = HPCW_I_NOTHING};
    size_t before = a->r->names.size;
    int e = add(a->r, a->directory, name);
    if (e == 0 && a->r->names.size > before && !hpcw_i_r2f_is_folder(name)) {
        e = hpcw_i_below_look(a->r->p.dir, (const char *)a->r->names.data + before, &entry);
    }
    return e == 0 && entry.kind == HPCW_I_DIRECTORY ? EXDEV : e;
}

/* Fails because `name` is a mount point. */
static hpcw_status refuse_mounted(const struct hpcw_i_r2f_removal *r, const char *name, hpcw_error *err) {
    return hpcw_i_fail(
        err, HPCW_EACCES,
        "%s/%s: expected a directory of the dataset, got one where a file system is mounted: what is in "
        "there stays; umount it first",
        r->p.path, name);
}

hpcw_status hpcw_i_r2f_removal_add_all(struct hpcw_i_r2f_removal *r, const char *dataset, hpcw_error *err) {
    struct adding a = {r, dataset};
    int at;
    if (!hpcw_i_r2f_is_directory_name(dataset)) {
        return HPCW_OK;
    }
    r->all = true;
    int e = hpcw_i_dir_fd(r->p.dir, &at);
    if (e == 0 && hpcw_i_sys_is_mounted(at, dataset)) {
        return refuse_mounted(r, dataset, err);
    }
    e = e == 0 ? hpcw_i_r2f_tree_walk(r->p.dir, dataset, add_any, &a) : e;
    if (e == EXDEV) {
        const char *last = NULL;
        for (const char *name = hpcw_i_r2f_next_name(&r->names, NULL); name != NULL;
             name = hpcw_i_r2f_next_name(&r->names, name)) {
            last = name;
        }
        return refuse_mounted(r, last == NULL ? dataset : last, err);
    }
    e = e == 0 ? add(r, dataset, "") : e;
    return e == 0 ? HPCW_OK : fail(&r->p, e, dataset, err);
}

/* ---- temporary files ---- */

/* A temporary file. `form` is its path with zeros in place of the number in its name, so all temporary files of
 * one file have the same form. */
struct temporary {
    char *form, *name;
};

struct temporaries {
    const char *directory; /* directory of the dataset */
    struct temporary *item;
    size_t count, capacity;
};

static int compare_forms(const void *a, const void *b) {
    return strcmp(((const struct temporary *)a)->form, ((const struct temporary *)b)->form);
}

static void temporaries_free(struct temporaries *t) {
    for (size_t i = 0; i < t->count; i++) {
        hpcw_i_free(t->item[i].form);
        hpcw_i_free(t->item[i].name);
    }
    hpcw_i_free(t->item);
}

static int find_temporary(void *context, const char *name) {
    struct temporaries *t = context;
    if (!hpcw_i_r2f_is_temporary(name)) {
        return 0;
    }
    struct temporary *grown = hpcw_i_grow(t->item, &t->capacity, t->count + 1, sizeof *grown);
    if (grown == NULL) {
        return ENOMEM;
    }
    t->item = grown;
    struct temporary *found = &grown[t->count++];
    *found = (struct temporary){hpcw_i_r2f_join(t->directory, name), hpcw_i_r2f_join(t->directory, name)};
    if (found->form == NULL || found->name == NULL) {
        return ENOMEM;
    }
    char *number = found->form + (strchr(hpcw_i_sys_base_of(found->form), '-') + 1 - found->form);
    memset(number, '0', strcspn(number, "-"));
    return 0;
}

/* Returns the form (see struct temporary) of the temporary files of file `name`, to be freed. NULL: out of
 * memory. */
static char *form_of(const char *name) {
    char *form = NULL;
    char *temporary = hpcw_i_sink_temporary(hpcw_i_sys_base_of(name), 0);
    char *directory = hpcw_i_sys_directory_of(name);
    if (temporary != NULL && directory != NULL) {
        form = hpcw_i_r2f_join(directory, temporary);
    }
    hpcw_i_free(temporary);
    hpcw_i_free(directory);
    return form;
}

/* Adds the temporary files of file `listed` to the list. If `listed` ends in a slash, the file itself stays. */
static int add_those_of(struct hpcw_i_r2f_removal *r, const struct temporaries *t, const char *listed) {
    char *name = hpcw_i_strdup(listed);
    if (name == NULL) {
        return ENOMEM;
    }
    name[strlen(name) - hpcw_i_r2f_is_folder(listed)] = '\0';
    struct temporary key = {.form = form_of(name)};
    hpcw_i_free(name);
    struct temporary *found =
        key.form == NULL ? NULL : bsearch(&key, t->item, t->count, sizeof *t->item, compare_forms);
    int e = key.form == NULL ? ENOMEM : 0;
    while (found != NULL && found > t->item && compare_forms(found - 1, &key) == 0) {
        found--;
    }
    for (; e == 0 && found != NULL && found < t->item + t->count && compare_forms(found, &key) == 0; found++) {
        e = add(r, NULL, found->name);
    }
    hpcw_i_free(key.form);
    return e;
}

hpcw_status hpcw_i_r2f_removal_add_temporary(struct hpcw_i_r2f_removal *r, const char *dataset,
                                             hpcw_error *err) {
    struct temporaries t = {.directory = dataset};
    int e =
        hpcw_i_r2f_is_directory_name(dataset) ? hpcw_i_r2f_tree_walk(r->p.dir, dataset, find_temporary, &t) : 0;
    const size_t names = r->names.size;
    if (e == 0 && t.count > 0) {
        qsort(t.item, t.count, sizeof *t.item, compare_forms);
    }
    /* Go by offsets: the names may move in memory when others are appended. */
    for (size_t at = 0; e == 0 && t.count > 0 && at < names;) {
        const char *name = (const char *)r->names.data + at;
        at += strlen(name) + 1;
        e = hpcw_i_r2f_is_temporary(name) ? 0 : add_those_of(r, &t, name);
    }
    temporaries_free(&t);
    return e == 0 ? HPCW_OK : fail(&r->p, e, dataset, err);
}

hpcw_status hpcw_i_r2f_removal_add_temporary_of(struct hpcw_i_r2f_removal *r,
                                                const struct hpcw_i_r2f_removal *from, hpcw_error *err) {
    int e = 0;
    for (const char *name = hpcw_i_r2f_next_name(&from->names, NULL); e == 0 && name != NULL;
         name = hpcw_i_r2f_next_name(&from->names, name)) {
        e = hpcw_i_r2f_is_temporary(name) ? add(r, NULL, name) : 0;
    }
    return e == 0 ? HPCW_OK : hpcw_i_fail_memory(err, r->p.path, 0, NULL);
}
