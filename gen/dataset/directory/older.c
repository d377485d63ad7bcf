/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/dataset/directory/older.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/dataset/directory/lease.h"
#include "libreader/source.h"
#include "libwriter/base/buf.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/io/dir.h"

/* Names of files, relative to the dataset's directory. */
struct names {
    struct hpcw_i_buf list; /* elements of type char *; the names are owned */
};

struct gen_older {
    bool is;            /* there is an older dataset, finished or not */
    uint64_t formats;   /* bits */
    struct names files; /* sorted names of the data files of the older dataset */
    struct gen_older_size size;
};

static size_t names_count(const struct names *n) {
    return n->list.size / sizeof(char *);
}

static char **names_of(const struct names *n) {
    return (char **)(void *)n->list.data;
}

static hpcw_status names_add(struct names *n, const char *name, hpcw_error *err) {
    char *copy = hpcw_i_strdup(name);
    if (copy == NULL || !hpcw_i_buf_append(&n->list, &copy, sizeof copy)) {
        hpcw_i_free(copy);
        return hpcw_i_fail_memory(err, name, names_count(n), "names");
    }
    return HPCW_OK;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void names_sort(struct names *n) {
    if (names_count(n) > 0) {
        qsort(n->list.data, names_count(n), sizeof(char *), by_name);
    }
}

static bool names_has(const struct names *n, const char *name) {
    return names_count(n) > 0 && bsearch(&name, n->list.data, names_count(n), sizeof(char *), by_name) != NULL;
}

static void names_free(struct names *n) {
    for (size_t i = 0; i < names_count(n); i++) {
        hpcw_i_free(names_of(n)[i]);
    }
    hpcw_i_buf_free(&n->list);
}

/* ---- files of the older dataset ---- */

/* Adds a file of the older dataset. A manifest may come from anywhere, so names that no format gives to a file
 * are ignored. */
static hpcw_status add_old(struct gen_older *o, const char *name, hpcw_error *err) {
    const size_t f = gen_directory_is_below(name) ? gen_format_of_path(name) : gen_format_count;
    if (f == gen_format_count || !gen_format[f]->owns(name)) {
        return HPCW_OK;
    }
    o->formats |= (uint64_t)1 << f;
    return names_add(&o->files, name, err);
}

static hpcw_status add_listed(const struct gen_run *run, struct gen_older *o, hpcw_error *err) {
    char path[GEN_DIRECTORY_PATH];
    cJSON *manifest;
    const cJSON *file;
    hpcw_error why = {.message = ""};
    gen_directory_path(run->directory, GEN_MANIFEST, path);
    hpcw_status s = gen_directory_read_json(path, &manifest, &why);
    if (s != HPCW_OK) {
        return read_source_is_of_system(s, &why) ? hpcw_i_fail_as(err, &why) : HPCW_OK;
    }
    if (cJSON_IsString(cJSON_GetObjectItemCaseSensitive(manifest, "fingerprint"))) {
        o->is = true;
        cJSON_ArrayForEach(file, cJSON_GetObjectItemCaseSensitive(manifest, "files")) {
            const cJSON *name = cJSON_GetObjectItemCaseSensitive(file, "path");
            s = s == HPCW_OK && cJSON_IsString(name) ? add_old(o, name->valuestring, err) : s;
        }
    }
    cJSON_Delete(manifest);
    return s;
}

/* Adds the names of the data files of a dataset. */
static hpcw_status add_units(const struct gen_dataset *d, struct names *names, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    for (size_t f = 0; f < gen_format_count; f++) {
        const uint64_t units = (d->formats >> f & 1) != 0 ? gen_format[f]->units(d) : 0;
        for (uint64_t k = 0; s == HPCW_OK && k < units; k++) {
            struct gen_unit unit;
            s = gen_format[f]->unit(d, k, &unit, err);
            s = s == HPCW_OK ? names_add(names, unit.path, err) : s;
        }
    }
    return s;
}

static hpcw_status add_described(const struct gen_run *run, struct gen_older *o, hpcw_error *err) {
    struct gen_dataset d = {0};
    hpcw_error why = {.message = ""};
    hpcw_status s = gen_directory_read_dataset(run->directory, GEN_PARAMETERS, &d, NULL, &why);
    o->is = o->is || s != HPCW_ENOENT;
    if (s == HPCW_OK) {
        o->formats |= d.formats;
        s = add_units(&d, &o->files, err);
    } else {
        /* The description is damaged or from another version of hpcw, so it is not known which files the older
         * run wrote. */
        s = read_source_is_of_system(s, &why) ? hpcw_i_fail_as(err, &why) : HPCW_OK;
    }
    gen_dataset_free(&d);
    return s;
}

/* ---- checks before anything is removed ---- */

static hpcw_status cannot(const struct gen_run *run, const char *name, int e, const char *what,
                          hpcw_error *err) {
    return e == 0 ? HPCW_OK : hpcw_i_fail_sys(err, e, "%s/%s: cannot %s", run->directory, name, what);
}

/* Checks whether this user may create, replace or remove the file. Returns 0 or an errno value. */
static int may_change(const struct gen_run *run, const char *name) {
    struct hpcw_i_dir *parent;
    int at;
    int e = hpcw_i_below_hold(run->below.root, name, &parent);
    e = e == 0 ? hpcw_i_dir_fd(parent, &at) : e;
    const char *slash = strrchr(name, '/');
    e = e == 0 ? hpcw_i_sys_may_change_at(at, slash == NULL ? name : slash + 1) : e;
    hpcw_i_dir_release(parent);
    return e;
}

/* Sets *is to false if this cannot be a file of the older dataset: it is a directory, or behind a symbolic link.
 * Fails if the file exists and this user may not remove it. */
static hpcw_status check_old(const struct gen_run *run, const char *name, bool *is, struct gen_older_size *size,
                             hpcw_error *err) {
    struct hpcw_i_entry entry;
    int e = hpcw_i_below_look(run->below.root, name, &entry);
    *is = e == 0 && entry.kind != HPCW_I_DIRECTORY;
    if (e != 0 || !*is || entry.kind == HPCW_I_NOTHING) {
        return e == ELOOP ? HPCW_OK : cannot(run, name, e, "look at it", err);
    }
    size->bytes += entry.freed;
    size->files += entry.only_name;
    return cannot(run, name, may_change(run, name), "remove", err);
}

/* Keeps each name once, and drops names of directories and names behind symbolic links. Names of missing files
 * stay, since their directories may still exist. */
static hpcw_status check_all_old(const struct gen_run *run, struct gen_older *o, hpcw_error *err) {
    char **name = names_of(&o->files);
    const size_t count = names_count(&o->files);
    size_t kept = 0;
    hpcw_status s = HPCW_OK;
    for (size_t i = 0; i < count; i++) {
        /* The manifest and the description may both name the file. */
        bool is = kept == 0 || strcmp(name[i], name[kept - 1]) != 0;
        s = s == HPCW_OK && is ? check_old(run, name[i], &is, &o->size, err) : s;
        if (is) {
            char *keep = name[i];
            name[i] = name[kept];
            name[kept++] = keep;
        } else {
            hpcw_i_free(name[i]);
            name[i] = NULL;
        }
    }
    o->files.list.size = kept * sizeof *name;
    return s;
}

/* Checks whether this user may remove the files that runs wrote into .hpcw, and counts these files. They are
 * removed when the run ends. */
static hpcw_status check_state(const struct gen_run *run, struct gen_older *o, hpcw_error *err) {
    struct hpcw_i_listing *listing;
    const char *entry;
    char name[GEN_DIRECTORY_PATH];
    int at;
    int e = hpcw_i_dir_fd(run->below.root, &at);
    e = e == 0 ? hpcw_i_sys_list_at(at, GEN_STATE_DIR, &listing) : e;
    if (e != 0) {
        return cannot(run, GEN_STATE_DIR, e, "open the directory", err);
    }
    hpcw_status s = HPCW_OK;
    while (s == HPCW_OK && (e = hpcw_i_sys_list_next(listing, &entry)) == 0 && entry != NULL) {
        bool folder;
        (void)snprintf(name, sizeof name, GEN_STATE_DIR "/%s", entry);
        int l = hpcw_i_sys_list_is_directory(listing, &folder);
        const bool stays = l == 0 && (folder || !gen_directory_is_state(entry));
        s = stays ? HPCW_OK : cannot(run, name, l != 0 ? l : may_change(run, name), "remove", err);
        o->size.files += o->is && !stays && strcmp(entry, GEN_LEASE) != 0;
    }
    hpcw_i_sys_list_free(listing);
    return s == HPCW_OK ? cannot(run, GEN_STATE_DIR, e, "read the directory", err) : s;
}

/* Counts the directories of the path `name` that the path `last` does not have. `slash`: end of the first
 * directory to count. */
static uint64_t others(const char *name, const char *slash, const char *last) {
    uint64_t n = 0;
    for (; slash != NULL; slash = strchr(slash + 1, '/')) {
        const size_t length = (size_t)(slash - name);
        n += strncmp(name, last, length) != 0 || (last[length] != '/' && last[length] != '\0');
    }
    return n;
}

/* Checks that the directories in the path of a new file are directories or do not exist. `last`: directory of
 * the previous file, in the order of names. Adds to *missing the number of directories that do not exist. */
static hpcw_status check_parents(const struct gen_run *run, const char *name, char last[GEN_UNIT_PATH],
                                 uint64_t *missing, hpcw_error *err) {
    const char *end = strrchr(name, '/');
    const size_t n = end == NULL ? 0 : (size_t)(end - name);
    if (strlen(last) == n && strncmp(last, name, n) == 0) {
        return HPCW_OK;
    }
    char before[GEN_UNIT_PATH];
    (void)snprintf(before, sizeof before, "%s", last);
    (void)snprintf(last, GEN_UNIT_PATH, "%.*s", (int)n, name);
    for (const char *slash = name; (slash = strchr(slash, '/')) != NULL; slash++) {
        char part[GEN_UNIT_PATH];
        struct hpcw_i_entry entry;
        (void)snprintf(part, sizeof part, "%.*s", (int)(slash - name), name);
        int e = hpcw_i_below_look(run->below.root, part, &entry);
        if (e != 0 || entry.kind == HPCW_I_NOTHING) {
            *missing += others(name, slash, before);
            return cannot(run, part, e != 0 ? e : may_change(run, part), "create the directory", err);
        }
        if (entry.kind != HPCW_I_DIRECTORY) {
            return gen_format_refuse_folder(run->directory, part, entry.kind == HPCW_I_LINK, err);
        }
    }
    return HPCW_OK;
}

static hpcw_status check_new(const struct gen_run *run, const struct gen_older *o, const char *name,
                             hpcw_error *err) {
    struct hpcw_i_entry entry;
    int e = hpcw_i_below_look(run->below.root, name, &entry);
    const bool special = entry.kind == HPCW_I_SPECIAL && !names_has(&o->files, name);
    if (e == 0 && (special || entry.kind == HPCW_I_DIRECTORY)) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s/%s: expected a regular file to replace, got a %s",
                           run->directory, name, special ? "special file" : "directory");
    }
    e = e == 0 ? may_change(run, name) : e;
    /* the directory of the file does not exist yet */
    return e == ENOENT ? HPCW_OK : cannot(run, name, e, "create", err);
}

/* Fails if a foreign file stays in a directory in which readers read every file. */
static hpcw_status check_alone(const struct gen_run *run, const struct gen_older *o, const struct names *names,
                               const char *folder, hpcw_error *err) {
    struct hpcw_i_listing *listing;
    const char *entry;
    char name[GEN_DIRECTORY_PATH];
    int at;
    int e = hpcw_i_dir_fd(run->below.root, &at);
    e = e == 0 ? hpcw_i_sys_list_at(at, folder, &listing) : e;
    if (e != 0) {
        return e == ENOENT ? HPCW_OK : cannot(run, folder, e, "open the directory", err);
    }
    hpcw_status s = HPCW_OK;
    while (s == HPCW_OK && (e = hpcw_i_sys_list_next(listing, &entry)) == 0 && entry != NULL) {
        (void)snprintf(name, sizeof name, "%s/%s", folder, entry);
        if (entry[0] != '.' && !names_has(names, name) && !names_has(&o->files, name)) {
            s = hpcw_i_fail(err, HPCW_EEXIST,
                            "%s/%s: expected only files of the dataset, as readers take all files of this "
                            "directory, got another one: move it away, or choose another --out",
                            run->directory, name);
        }
    }
    hpcw_i_sys_list_free(listing);
    return s == HPCW_OK ? cannot(run, folder, e, "read the directory", err) : s;
}

static hpcw_status check_all_new(const struct gen_run *run, struct gen_older *o, hpcw_error *err) {
    struct names names = {{0}};
    char last[GEN_UNIT_PATH] = "";
    hpcw_status s = add_units(run->dataset, &names, err);
    names_sort(&names);
    for (size_t i = 0; s == HPCW_OK && i < names_count(&names); i++) {
        s = check_parents(run, names_of(&names)[i], last, &o->size.folders, err);
        s = s == HPCW_OK ? check_new(run, o, names_of(&names)[i], err) : s;
    }
    for (size_t f = 0; s == HPCW_OK && f < gen_format_count; f++) {
        if ((run->dataset->formats >> f & 1) != 0 && gen_format[f]->alone) {
            s = check_alone(run, o, &names, gen_format_folder(gen_format[f]), err);
        }
    }
    names_free(&names);
    return s;
}

/* ---- all ---- */

static const char *const lists[] = {GEN_CHECKSUMS, GEN_TRUTH, GEN_MANIFEST};

hpcw_status gen_older_find(const struct gen_run *run, struct gen_older **out, hpcw_error *err) {
    struct gen_older *o = *out = hpcw_i_calloc(1, sizeof *o);
    if (o == NULL) {
        return hpcw_i_fail_memory(err, run->directory, 0, NULL);
    }
    hpcw_status s = add_listed(run, o, err);
    s = s == HPCW_OK ? add_described(run, o, err) : s;
    names_sort(&o->files);
    s = s == HPCW_OK ? check_all_old(run, o, err) : s;
    s = s == HPCW_OK ? check_all_new(run, o, err) : s;
    for (size_t i = 0; s == HPCW_OK && i < sizeof lists / sizeof lists[0]; i++) {
        bool is;
        /* the bytes of an old file of this name do not count as freed, since the new file needs them */
        struct gen_older_size list = {0};
        s = check_new(run, o, lists[i], err);
        s = s == HPCW_OK && o->is ? check_old(run, lists[i], &is, &list, err) : s;
        o->size.files += list.files;
    }
    return s == HPCW_OK ? check_state(run, o, err) : s;
}

void gen_older_free(struct gen_older *o) {
    if (o != NULL) {
        names_free(&o->files);
        hpcw_i_free(o);
    }
}

struct gen_older_size gen_older_size(const struct gen_older *o) {
    return o->size;
}

/* Removes the directories of the files and their parents, if they are empty. */
static void remove_empty(const struct gen_run *run, const struct names *names) {
    char last[GEN_UNIT_PATH] = "";
    for (size_t i = 0; i < names_count(names); i++) {
        char path[GEN_UNIT_PATH];
        (void)snprintf(path, sizeof path, "%s", names_of(names)[i]);
        char *slash = strrchr(path, '/');
        *slash = '\0';
        if (strcmp(path, last) == 0) {
            continue;
        }
        (void)snprintf(last, sizeof last, "%s", path);
        int e;
        do {
            e = hpcw_i_below_rmdir(run->below.root, path);
            slash = strrchr(path, '/');
            if (slash != NULL) {
                *slash = '\0';
            }
        } while ((e == 0 || e == ENOENT) && slash != NULL);
    }
}

hpcw_status gen_older_remove(const struct gen_older *o, const struct gen_run *run, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    if (!o->is) {
        return HPCW_OK;
    }
    s = gen_directory_sweep(run, o->formats, err);
    for (size_t i = 0; s == HPCW_OK && i < names_count(&o->files); i++) {
        s = gen_directory_remove(run, names_of(&o->files)[i], err);
    }
    if (s == HPCW_OK) {
        remove_empty(run, &o->files);
    }
    /* The manifest, which names the files, is removed after them. So after a crash the next run knows which
     * files are left. */
    s = s == HPCW_OK ? gen_directory_remove_lists(run, err) : s;
    return s == HPCW_OK ? gen_directory_remove_state(run, NULL, err) : s;
}
