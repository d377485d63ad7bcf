/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/format/rank2file/map/names.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/options.h"
#include "libwriter/base/status.h"

static const char *const layout_name[] = {"scr-1.1", "scr-1.2", "scr-3", "shared"};
enum { LAYOUTS = sizeof layout_name / sizeof layout_name[0] };

const char *hpcw_rank2file_layout_name(hpcw_rank2file_layout layout) {
    return (unsigned)layout < LAYOUTS ? layout_name[layout] : NULL;
}

hpcw_status hpcw_rank2file_layout_of(const char *name, hpcw_rank2file_layout *layout, hpcw_error *err) {
    for (unsigned i = 0; name != NULL && layout != NULL && i < LAYOUTS; i++) {
        if (strcmp(name, layout_name[i]) == 0) {
            *layout = (hpcw_rank2file_layout)i;
            return HPCW_OK;
        }
    }
    return hpcw_i_fail(err, HPCW_EINVAL, "layout: expected scr-1.1, scr-1.2, scr-3 or shared, got \"%.100s\"",
                       name == NULL ? "NULL" : name);
}

uint32_t hpcw_rank2file_layout_maps(hpcw_rank2file_layout layout) {
    return layout == HPCW_RANK2FILE_SHARED ? 2 : 1;
}

enum hpcw_i_r2f_kind hpcw_i_r2f_kind_of(hpcw_rank2file_layout layout, uint32_t which) {
    static const enum hpcw_i_r2f_kind kind[LAYOUTS] = {HPCW_I_R2F_1_1, HPCW_I_R2F_1_2, HPCW_I_R2F_3,
                                                       HPCW_I_R2F_1_1};
    return which == 0 ? kind[layout] : HPCW_I_R2F_3;
}

void hpcw_i_r2f_metadata(enum hpcw_i_r2f_kind kind, uint64_t id, const char *dataset,
                         char path[HPCW_RANK2FILE_PATH]) {
    if (kind == HPCW_I_R2F_1_1) {
        (void)snprintf(path, HPCW_RANK2FILE_PATH, "%.*s/.scr", (int)HPCW_RANK2FILE_MAX_DATASET, dataset);
    } else {
        (void)snprintf(path, HPCW_RANK2FILE_PATH, ".scr/scr.dataset.%" PRIu64, id);
    }
}

const char *hpcw_i_r2f_root(enum hpcw_i_r2f_kind kind) {
    return kind == HPCW_I_R2F_3 ? "rank2file" : "rank2file.scr";
}

void hpcw_i_r2f_node(enum hpcw_i_r2f_kind kind, uint32_t level, uint32_t first, char name[HPCW_I_R2F_VALUE]) {
    (void)snprintf(name, HPCW_I_R2F_VALUE, kind == HPCW_I_R2F_3 ? "rank2file.%u.%u" : "rank2file.%u.%u.scr",
                   level, first);
}

size_t hpcw_i_r2f_value(enum hpcw_i_r2f_kind kind, uint64_t id, uint32_t level, uint32_t first,
                        char value[HPCW_I_R2F_VALUE]) {
    int n;
    if (kind == HPCW_I_R2F_3) {
        n = snprintf(value, HPCW_I_R2F_VALUE, ".%u.%u", level, first);
    } else if (kind == HPCW_I_R2F_1_1) {
        n = snprintf(value, HPCW_I_R2F_VALUE, ".scr/rank2file.%u.%u.scr", level, first);
    } else {
        n = snprintf(value, HPCW_I_R2F_VALUE, ".scr/scr.dataset.%" PRIu64 "/rank2file.%u.%u.scr", id, level,
                     first);
    }
    return (size_t)n;
}

void hpcw_i_r2f_before_names(enum hpcw_i_r2f_kind kind, const char *dataset,
                             char before[HPCW_RANK2FILE_MAX_DATASET + 2]) {
    (void)snprintf(before, HPCW_RANK2FILE_MAX_DATASET + 2, "%.*s%s", (int)HPCW_RANK2FILE_MAX_DATASET,
                   kind == HPCW_I_R2F_1_1 ? "" : dataset, kind == HPCW_I_R2F_1_1 ? "" : "/");
}

static const char *bad_parts(const char *name, size_t size) {
    for (size_t at = 0; at <= size;) {
        const char *part = name + at;
        const char *slash = memchr(part, '/', size - at);
        size_t n = slash == NULL ? size - at : (size_t)(slash - part);
        if (n == 0) {
            return size == 0 ? "it is empty" : at == 0 ? "it is absolute" : "it has an empty part";
        }
        if (part[0] == '.' && (n == 1 || (n == 2 && part[1] == '.'))) {
            return "it has a part \".\" or \"..\"";
        }
        at += n + 1;
    }
    return NULL;
}

const char *hpcw_i_r2f_bad_name(const char *name, size_t size, size_t most) {
    if (size == 0) {
        return "it is empty";
    }
    if (size > most) {
        return "it is too long";
    }
    for (size_t i = 0; i < size; i++) {
        if ((unsigned char)name[i] < ' ' || name[i] == 0x7f) {
            return "it has a control byte";
        }
    }
    return bad_parts(name, size);
}

const char *hpcw_i_r2f_bad_listed(hpcw_rank2file_layout layout, const char *name) {
    const char *bad = NULL;
    if (hpcw_i_r2f_kind_of(layout, 0) == HPCW_I_R2F_1_1) {
        bad = hpcw_i_r2f_bad_name(name, strlen(name), HPCW_RANK2FILE_MAX_DATASET);
        if (bad == NULL && (strchr(name, '/') != NULL || strcmp(name, ".scr") == 0)) {
            bad = "it is not the name of one directory other than .scr";
        }
        return bad;
    }
    return *name == '\0' ? "it is empty" : strlen(name) > HPCW_I_R2F_LONGEST ? "it is too long" : NULL;
}

bool hpcw_i_r2f_is_directory_name(const char *name) {
    const bool metadata = strncmp(name, ".scr", 4) == 0 && (name[4] == '/' || name[4] == '\0');
    size_t longest = 0;
    for (const char *part = name; *part != '\0'; part += *part == '/') {
        size_t n = strcspn(part, "/");
        longest = n > longest ? n : longest;
        part += n;
    }
    return !metadata && longest <= NAME_MAX && bad_parts(name, strlen(name)) == NULL;
}

char *hpcw_i_r2f_join(const char *a, const char *b) {
    size_t n = strlen(a);
    size_t m = strlen(b);
    char *path = hpcw_i_malloc(n + m + 2);
    if (path != NULL) {
        memcpy(path, a, n);
        path[n] = '/';
        memcpy(path + n + 1, b, m + 1);
    }
    return path;
}

/* ---- options ---- */

void hpcw_rank2file_options_fill(hpcw_rank2file_options *options, size_t size) {
    const hpcw_rank2file_options defaults = {
        .leaf_ranks = 8192,
        .leaf_bytes = 1 << 20,
        .durability = HPCW_SYNC_FILE,
    };
    if (options != NULL) {
        hpcw_i_options_fill(options, size, &defaults, sizeof defaults);
    }
}

void hpcw_rank2file_dataset_name(const hpcw_rank2file_options *o, char name[HPCW_RANK2FILE_MAX_DATASET + 1]) {
    if (o->dataset.name != NULL) {
        (void)snprintf(name, HPCW_RANK2FILE_MAX_DATASET + 1, "%s", o->dataset.name);
    } else {
        (void)snprintf(name, HPCW_RANK2FILE_MAX_DATASET + 1, "%s.%" PRIu64,
                       o->layout == HPCW_RANK2FILE_SCR_3 ? "ckpt" : "scr.dataset", o->dataset.id);
    }
}

static hpcw_status check_dataset_name(const hpcw_rank2file_options *o, hpcw_error *err) {
    char name[HPCW_RANK2FILE_MAX_DATASET + 1];
    const char *given = o->dataset.name;
    if (given != NULL && strlen(given) > HPCW_RANK2FILE_MAX_DATASET) {
        return hpcw_i_fail(err, HPCW_ERANGE, "dataset name: expected at most %u bytes, got %zu",
                           HPCW_RANK2FILE_MAX_DATASET, strlen(given));
    }
    hpcw_rank2file_dataset_name(o, name);
    /* A dataset's name is also that of its directory. So it must be legal in all layouts, as SCR 1.1 demands. */
    const char *bad = hpcw_i_r2f_bad_listed(HPCW_RANK2FILE_SCR_1_1, name);
    return bad == NULL ? HPCW_OK : hpcw_i_fail(err, HPCW_EINVAL, "dataset name \"%.200s\": %s", name, bad);
}

hpcw_status hpcw_rank2file_options_check(const hpcw_rank2file_options *options, hpcw_error *err) {
    if (options == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "rank2file: expected options, got NULL");
    }
    hpcw_rank2file_options own;
    hpcw_rank2file_options_init(&own);
    hpcw_status s = hpcw_i_options_take(&own, sizeof own, options, "hpcw_rank2file_options", err);
    if (s != HPCW_OK) {
        return s;
    }
    const hpcw_rank2file_options *o = &own;
    if (o->count > 0 && o->ranks != NULL && o->ranks[0] >= HPCW_RANK2FILE_MAX_RANKS) {
        return hpcw_i_fail(err, HPCW_EINVAL, "rank2file: expected ranks below 2^31 - 1, got %u", o->ranks[0]);
    }
    if (hpcw_rank2file_layout_name(o->layout) == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "layout: expected one of the enumeration, got %d", (int)o->layout);
    }
    if (o->dataset.id < 1 || o->dataset.id > INT32_MAX || o->dataset.checkpoint > INT32_MAX) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "dataset: expected an id of 1 to 2147483647, got %" PRIu64 ", checkpoint %" PRIu64,
                           o->dataset.id, o->dataset.checkpoint);
    }
    if (o->leaf_ranks < 2 || o->leaf_bytes < 256 || o->leaf_bytes > HPCW_KVTREE_MAX_SIZE) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "leaves: expected at least 2 ranks and 256 to %u bytes, got %u and %" PRIu64,
                           HPCW_KVTREE_MAX_SIZE, o->leaf_ranks, o->leaf_bytes);
    }
    const char *const text[] = {o->dataset.user, o->dataset.job_id, o->dataset.job_name, o->dataset.cluster,
                                o->dataset.flushed};
    static const char *const field[] = {"user", "job id", "job name", "cluster", "flushed"};
    for (size_t i = 0; i < sizeof text / sizeof text[0]; i++) {
        if (text[i] != NULL && (text[i][0] == '\0' || strlen(text[i]) > HPCW_RANK2FILE_MAX_NAME)) {
            return hpcw_i_fail(err, HPCW_EINVAL, "%s: expected 1 to %u bytes, got %zu", field[i],
                               HPCW_RANK2FILE_MAX_NAME, strlen(text[i]));
        }
    }
    for (uint32_t i = 1; o->ranks != NULL && i < o->count; i++) {
        if (o->ranks[i] <= o->ranks[i - 1] || o->ranks[i] >= HPCW_RANK2FILE_MAX_RANKS) {
            return hpcw_i_fail(err, HPCW_EINVAL,
                               "ranks[%u]: expected ascending numbers below 2^31 - 1, got %u after %u", i,
                               o->ranks[i], o->ranks[i - 1]);
        }
    }
    return check_dataset_name(o, err);
}
