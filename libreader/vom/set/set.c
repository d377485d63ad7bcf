/* SPDX-License-Identifier: BSD-3-Clause */
#include "libreader/vom/set/set.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "libreader/source.h"
#include "libreader/vom/set/file_type.h"
#include "libreader/vom/vom.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/io/sys.h"

enum { PLAIN = 1, BROTLI = 2 };

static bool ends_in(const char *text, size_t size, const char *end) {
    size_t n = strlen(end);
    return size > n && memcmp(text + size - n, end, n) == 0;
}

bool read_vom_name_rank(const char *name, size_t *stem_size, uint32_t *rank, bool *br) {
    size_t size = strlen(name);
    *br = ends_in(name, size, ".br");
    size -= *br ? 3 : 0;
    if (!ends_in(name, size, ".json")) {
        return false;
    }
    size -= 5;
    size_t digits = 0;
    uint32_t value = 0;
    uint32_t unit = 1;
    while (digits < size && digits < 6 && name[size - 1 - digits] >= '0' && name[size - 1 - digits] <= '9') {
        value += unit * (uint32_t)(name[size - 1 - digits] - '0');
        unit *= 10;
        digits++;
    }
    bool leading_zero = digits > 1 && name[size - digits] == '0';
    if (digits == 0 || leading_zero || size < digits + 2 || name[size - digits - 1] != '.' ||
        value >= READ_VOM_MOST_RANKS) {
        return false;
    }
    *stem_size = size - digits - 1;
    *rank = value;
    return true;
}

/* Lists the directory `path`, and sets *stem to NULL. If nothing has this name, takes the path as DIRECTORY/STEM:
 * lists DIRECTORY, and *stem points into `path`. */
static int list_names(const char *path, char directory[PATH_MAX], const char **stem,
                      struct hpcw_i_listing **listing) {
    const int e = hpcw_i_sys_list(path, listing);
    const char *slash = strrchr(path, '/');
    const size_t size = slash == NULL ? 0 : (size_t)(slash - path);
    *stem = NULL;
    (void)snprintf(directory, PATH_MAX, "%s", path);
    if (e != ENOENT || strlen(path) >= PATH_MAX || (slash != NULL && slash[1] == '\0')) {
        return e;
    }
    *stem = slash == NULL ? path : slash + 1;
    (void)snprintf(directory, PATH_MAX, "%.*s", slash == NULL ? 1 : (int)size, slash == NULL ? "." : path);
    return hpcw_i_sys_list(slash == path ? "/" : directory, listing);
}

static bool has_stem(const char *name, size_t size, const char *stem) {
    return strlen(stem) == size && memcmp(name, stem, size) == 0;
}

/*
 * Finds whether a name is that of a data file of rank 0. `only`: the stem that the name must have; NULL: any stem.
 */
static hpcw_status is_first(const char *directory, const char *name, const char *only, bool *is,
                            hpcw_error *err) {
    enum read_vom_file_type type = READ_VOM_UNKNOWN_FILE;
    char path[PATH_MAX];
    size_t stem;
    uint32_t rank;
    bool br;
    hpcw_status s = HPCW_OK;
    if (read_vom_name_rank(name, &stem, &rank, &br) && rank == 0 &&
        (only == NULL || has_stem(name, stem, only))) {
        int n = snprintf(path, sizeof path, "%s/%s", directory, name);
        s = n > 0 && (size_t)n < sizeof path ? read_vom_file_type(path, &type, err) : HPCW_OK;
    }
    *is = type == READ_VOM_DATA_FILE;
    return s;
}

hpcw_status read_vom_is_set(const char *path, bool *is, hpcw_error *err) {
    char directory[PATH_MAX];
    struct hpcw_i_listing *listing;
    const char *name, *stem;
    *is = false;
    int e = list_names(path, directory, &stem, &listing);
    if (e != 0) {
        return e == ENOENT || e == ENOTDIR ? HPCW_OK
                                           : hpcw_i_fail_sys(err, e, "%s: cannot open the directory", path);
    }
    hpcw_status s = HPCW_OK;
    while (s == HPCW_OK && !*is && (e = hpcw_i_sys_list_next(listing, &name)) == 0 && name != NULL) {
        s = is_first(directory, name, stem, is, err);
    }
    hpcw_i_sys_list_free(listing);
    return e == 0 ? s : hpcw_i_fail_sys(err, e, "%s: cannot read the directory", path);
}

hpcw_status read_vom_is_directory(const char *path, bool *is, hpcw_error *err) {
    struct hpcw_i_entry entry;
    const int e = hpcw_i_sys_look(path, true, &entry);
    *is = e == 0 && entry.kind == HPCW_I_DIRECTORY;
    if (e != 0 || entry.kind != HPCW_I_NOTHING) {
        return e == 0 ? HPCW_OK : hpcw_i_fail_sys(err, e, "%s: cannot look at it", path);
    }
    hpcw_status s = read_vom_is_set(path, is, err);
    return s != HPCW_OK || *is ? s : hpcw_i_fail_sys(err, ENOENT, "%s: cannot look at it", path);
}

void read_vom_warn_phases(const char *path, uint64_t expected, uint64_t got, hpcw_error *warning) {
    if (expected != got && warning->code == HPCW_OK) {
        (void)hpcw_i_fail(warning, HPCW_EFORMAT,
                          "%s: expected %" PRIu64 " phases as in the ranks before, got %" PRIu64
                          ", which are read as they are",
                          path, expected, got);
    }
}

static hpcw_status foreign(const struct read_vom_set *set, const char *name, hpcw_error *err) {
    return hpcw_i_fail(
        err, HPCW_EFORMAT,
        "%s: expected only files named STEM.RANK.json or STEM.RANK.json.br with a rank below %u, got "
        "\"%.200s\"",
        set->directory, READ_VOM_MOST_RANKS, name);
}

static hpcw_status take(struct read_vom_set *set, const char *name, bool strict, hpcw_error *err) {
    size_t stem;
    uint32_t rank;
    bool br;
    if (!read_vom_name_rank(name, &stem, &rank, &br)) {
        return strict && name[0] != '.' ? foreign(set, name, err) : HPCW_OK;
    }
    if (set->chosen && !has_stem(name, stem, set->stem)) {
        return HPCW_OK;
    }
    if (set->stem == NULL) {
        set->stem = hpcw_i_strdup(name);
        if (set->stem == NULL) {
            return hpcw_i_fail_memory(err, set->directory, 0, "the names in it");
        }
        set->stem[stem] = '\0';
    }
    if (!has_stem(name, stem, set->stem)) {
        /* Take the first stem in byte order, so that the message does not depend on the order of the directory. */
        int order = strncmp(set->stem, name, stem);
        bool swap = order > 0 || (order == 0 && strlen(set->stem) > stem);
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: expected one data set, got two, \"%.*s\" and \"%.*s\": choose a stem",
                           set->directory, swap ? (int)stem : (int)strlen(set->stem), swap ? name : set->stem,
                           swap ? (int)strlen(set->stem) : (int)stem, swap ? set->stem : name);
    }
    if (set->form[rank] != 0) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: expected one file for rank %" PRIu32 ", got it plain and compressed",
                           set->directory, rank);
    }
    set->form[rank] = br ? BROTLI : PLAIN;
    set->ranks = rank + 1 > set->ranks ? rank + 1 : set->ranks;
    return HPCW_OK;
}

/* Checks that each rank has a file: doc/formats/vom.md#vom-29 and vom-30. */
static hpcw_status complete(struct read_vom_set *set, bool strict, hpcw_error *err) {
    if (set->ranks == 0) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: expected files named STEM.RANK.json or STEM.RANK.json.br, got none",
                           set->directory);
    }
    for (uint32_t r = 0; r < set->ranks; r++) {
        if (set->form[r] == 0) {
            return hpcw_i_fail(err, HPCW_EFORMAT,
                               "%s: expected a file for each of the ranks 0 to %" PRIu32
                               ", got none for rank %" PRIu32,
                               set->directory, set->ranks - 1, r);
        }
    }
    if (strict && strchr(set->stem, '.') != NULL) {
        return hpcw_i_fail(
            err, HPCW_EFORMAT,
            "%s: expected a stem without a dot, because vt-tv takes what follows the first as the rank, got "
            "\"%s\"",
            set->directory, set->stem);
    }
    set->path_size = strlen(set->directory) + strlen(set->stem) + 32;
    set->path = hpcw_i_malloc(set->path_size);
    return set->path != NULL ? HPCW_OK : hpcw_i_fail_memory(err, set->directory, 0, "the names in it");
}

static hpcw_status list(const char *path, bool strict, struct read_vom_set *set, hpcw_error *err) {
    *set = (struct read_vom_set){0};
    hpcw_status status = HPCW_OK;
    struct hpcw_i_listing *listing;
    char directory[PATH_MAX];
    const char *stem;
    int e = list_names(path, directory, &stem, &listing);
    if (e != 0) {
        return hpcw_i_fail_sys(err, e, "%s: cannot open the directory", path);
    }
    set->chosen = stem != NULL;
    set->stem = stem != NULL ? hpcw_i_strdup(stem) : NULL;
    set->directory = hpcw_i_strdup(directory);
    set->form = hpcw_i_calloc(READ_VOM_MOST_RANKS, 1);
    if (set->directory == NULL || set->form == NULL || (set->chosen && set->stem == NULL)) {
        status = hpcw_i_fail_memory(err, path, 0, "the names in it");
    }
    while (status == HPCW_OK) {
        const char *name;
        e = hpcw_i_sys_list_next(listing, &name);
        if (e != 0) {
            status = hpcw_i_fail_sys(err, e, "%s: cannot read the directory", path);
        }
        if (name == NULL) {
            break;
        }
        status = take(set, name, strict, err);
    }
    if (status == HPCW_OK) {
        status = complete(set, strict, err);
    }
    hpcw_i_sys_list_free(listing);
    return status;
}

static bool same_names(const struct read_vom_set *a, const struct read_vom_set *b) {
    return a->ranks == b->ranks && strcmp(a->stem, b->stem) == 0 && memcmp(a->form, b->form, a->ranks) == 0;
}

hpcw_status read_vom_set_open(const char *path, bool strict, struct read_vom_set *set, hpcw_error *err) {
    struct read_vom_set again = {0};
    hpcw_status status = list(path, strict, set, err);
    if (status == HPCW_OK) {
        status = read_source_open(read_vom_set_path(set, 0), &set->first, err);
    }
    /* List the names again with the file of rank 0 open. A writer gives this file its name last, so all other files
     * have their names now. */
    if (status == HPCW_OK) {
        status = list(path, strict, &again, err);
    }
    if (status == HPCW_OK && !same_names(set, &again)) {
        status = hpcw_i_fail(
            err, HPCW_EIO,
            "%s: expected the same files in two looks, got others: somebody writes them; read it again", path);
    }
    read_vom_set_close(&again);
    if (status != HPCW_OK) {
        read_vom_set_close(set);
    }
    return status;
}

hpcw_status read_vom_set_check(struct read_vom_set *set, hpcw_status status, hpcw_error *err) {
    hpcw_error why;
    return read_source_check(set->first, AT_FDCWD, read_vom_set_path(set, 0), &why) != HPCW_OK
               ? hpcw_i_fail_as(err, &why)
               : status;
}

void read_vom_set_close(struct read_vom_set *set) {
    hpcw_i_free(set->directory);
    hpcw_i_free(set->stem);
    hpcw_i_free(set->form);
    hpcw_i_free(set->path);
    read_source_free(set->first);
    *set = (struct read_vom_set){0};
}

const char *read_vom_set_path(struct read_vom_set *set, uint32_t rank) {
    (void)snprintf(set->path, set->path_size, "%s/%s.%" PRIu32 ".json%s", set->directory, set->stem, rank,
                   set->form[rank] == BROTLI ? ".br" : "");
    return set->path;
}
