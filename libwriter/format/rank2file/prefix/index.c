/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/format/rank2file/prefix/prefix.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/format/kvtree/pack.h"
#include "libwriter/io/dir.h"
#include "libwriter/io/sink.h"

/* ---- the index as a file ---- */

hpcw_status hpcw_i_r2f_index_read(const struct hpcw_i_r2f_prefix *p, hpcw_kvtree **index, hpcw_error *err) {
    char *path = hpcw_i_r2f_join(p->path, HPCW_RANK2FILE_INDEX);
    int at = AT_FDCWD;
    *index = NULL;
    if (path == NULL) {
        return hpcw_i_fail_memory(err, p->path, 0, NULL);
    }
    int e = p->dir == NULL ? 0 : hpcw_i_dir_fd(p->dir, &at);
    hpcw_status s = e != 0
                        ? hpcw_i_fail_sys(err, e, "%s: cannot open for reading", path)
                        : hpcw_i_kv_read_at(at, p->dir == NULL ? path : HPCW_RANK2FILE_INDEX, path, index, err);
    hpcw_i_free(path);
    return s;
}

hpcw_status hpcw_i_r2f_index_write(const struct hpcw_i_r2f_prefix *p, const hpcw_kvtree *index,
                                   hpcw_durability durability, bool *named, hpcw_error *err) {
    char *path = hpcw_i_r2f_join(p->path, HPCW_RANK2FILE_INDEX);
    hpcw_sink *sink = NULL;
    hpcw_status s = path == NULL
                        ? hpcw_i_fail_memory(err, p->path, 0, NULL)
                        : hpcw_i_sink_open_below(p->dir, HPCW_RANK2FILE_INDEX, path, durability, &sink, err);
    s = s == HPCW_OK ? hpcw_kvtree_write(index, sink, 0, err) : s;
    s = s == HPCW_OK ? hpcw_sink_publish(sink, err) : s;
    if (named != NULL) {
        *named = sink != NULL && sink->named;
    }
    if (s != HPCW_OK && path != NULL) {
        hpcw_i_fail_about(err, path);
    }
    hpcw_sink_free(sink);
    hpcw_i_free(path);
    return s;
}

/* ---- the index as a tree ---- */

hpcw_status hpcw_i_r2f_index_layout(const hpcw_kvtree *index, const char *path, hpcw_rank2file_layout *layout,
                                    hpcw_error *err) {
    const char *version = hpcw_kvtree_value(index, "VERSION");
    bool dir = hpcw_kvtree_get(index, "DIR") != NULL;
    bool name = hpcw_kvtree_get(index, "NAME") != NULL;
    bool two = version != NULL && strcmp(version, "2") == 0;
    bool one = version == NULL || strcmp(version, "1") == 0;
    if (!(one && dir != name) && !(two && name)) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: VERSION: expected 1 with a map DIR or NAME, or 2 with a map NAME, got %.20s",
                           path, version == NULL ? "none" : version);
    }
    *layout = two ? (dir ? HPCW_RANK2FILE_SHARED : HPCW_RANK2FILE_SCR_3)
                  : (dir ? HPCW_RANK2FILE_SCR_1_1 : HPCW_RANK2FILE_SCR_1_2);
    return HPCW_OK;
}

hpcw_kvtree *hpcw_i_r2f_index_names(const hpcw_kvtree *index, hpcw_rank2file_layout layout) {
    return hpcw_kvtree_get(index, hpcw_i_r2f_kind_of(layout, 0) == HPCW_I_R2F_1_1 ? "DIR" : "NAME");
}

static const char *id_text(const hpcw_kvtree *index, hpcw_rank2file_layout layout, const char *name) {
    return hpcw_kvtree_value(hpcw_kvtree_get(hpcw_i_r2f_index_names(index, layout), name), "DSET");
}

hpcw_kvtree *hpcw_i_r2f_index_record(const hpcw_kvtree *index, hpcw_rank2file_layout layout, const char *name) {
    const char *id = id_text(index, layout, name);
    return hpcw_i_r2f_index_record_in(id == NULL ? NULL : hpcw_kvtree_get(hpcw_kvtree_get(index, "DSET"), id),
                                      layout, name);
}

hpcw_kvtree *hpcw_i_r2f_index_record_in(const hpcw_kvtree *of_id, hpcw_rank2file_layout layout,
                                        const char *name) {
    if (layout == HPCW_RANK2FILE_SCR_1_1 || layout == HPCW_RANK2FILE_SCR_1_2) {
        return hpcw_kvtree_get(hpcw_kvtree_get(of_id, layout == HPCW_RANK2FILE_SCR_1_1 ? "DIR" : "NAME"), name);
    }
    return (hpcw_kvtree *)of_id;
}

bool hpcw_i_r2f_is_complete(const hpcw_kvtree *record) {
    const char *complete = hpcw_kvtree_value(record, "COMPLETE");
    return complete != NULL && strcmp(complete, "1") == 0;
}

/* Returns whether a restart may read a dataset: the dataset is complete and not marked as failed. */
static bool is_good(const hpcw_kvtree *record) {
    return hpcw_i_r2f_is_complete(record) && hpcw_kvtree_get(record, "FAILED") == NULL;
}

uint64_t hpcw_i_r2f_index_id(const hpcw_kvtree *index, hpcw_rank2file_layout layout, const char *name) {
    return hpcw_i_r2f_index_id_of(hpcw_kvtree_get(hpcw_i_r2f_index_names(index, layout), name));
}

uint64_t hpcw_i_r2f_index_id_of(const hpcw_kvtree *entry) {
    uint64_t id = 0;
    return hpcw_kvtree_value_u64(entry, "DSET", &id, NULL) == HPCW_OK && id <= INT32_MAX ? id : 0;
}

bool hpcw_i_r2f_index_has_metadata(const hpcw_kvtree *index, hpcw_rank2file_layout layout, uint64_t id) {
    char key[24];
    (void)snprintf(key, sizeof key, "%" PRIu64, id);
    return layout != HPCW_RANK2FILE_SCR_1_1 && hpcw_kvtree_get(hpcw_kvtree_get(index, "DSET"), key) != NULL;
}

bool hpcw_i_r2f_index_has(const hpcw_kvtree *index, hpcw_rank2file_layout layout, uint64_t id,
                          const char *name) {
    return hpcw_kvtree_get(hpcw_i_r2f_index_names(index, layout), name) != NULL ||
           hpcw_i_r2f_index_has_metadata(index, layout, id);
}

const char *hpcw_i_r2f_index_newest(const hpcw_kvtree *index, hpcw_rank2file_layout layout) {
    const char *found = NULL;
    uint64_t most = 0;
    for (const hpcw_kvtree *n = hpcw_kvtree_first(hpcw_i_r2f_index_names(index, layout)); n != NULL;
         n = hpcw_kvtree_next(n)) {
        const char *name = hpcw_kvtree_key(n);
        uint64_t id = hpcw_i_r2f_index_id(index, layout, name);
        if (id > most && is_good(hpcw_i_r2f_index_record(index, layout, name))) {
            most = id;
            found = name;
        }
    }
    return found;
}

hpcw_status hpcw_i_r2f_index_settle(hpcw_kvtree *index, hpcw_rank2file_layout layout, hpcw_error *err) {
    const char *current = hpcw_kvtree_value(index, "CURRENT");
    if (current != NULL && is_good(hpcw_i_r2f_index_record(index, layout, current))) {
        return HPCW_OK;
    }
    const char *newest = hpcw_i_r2f_index_newest(index, layout);
    if (newest != NULL) {
        return hpcw_kvtree_set(index, "CURRENT", newest, err);
    }
    hpcw_kvtree_remove(index, "CURRENT");
    return HPCW_OK;
}

hpcw_status hpcw_i_r2f_index_remove(hpcw_kvtree *index, hpcw_rank2file_layout layout, const char *name,
                                    hpcw_error *err) {
    hpcw_kvtree *records = hpcw_kvtree_get(index, "DSET");
    const char *id = id_text(index, layout, name);
    hpcw_kvtree *record = id == NULL ? NULL : hpcw_kvtree_get(records, id);
    bool by_name = layout == HPCW_RANK2FILE_SCR_1_1 || layout == HPCW_RANK2FILE_SCR_1_2;
    if (record != NULL && by_name) {
        /* In SCR 1 several datasets may have one id. The node of the id is removed with its last record. */
        hpcw_kvtree *names = hpcw_kvtree_get(record, layout == HPCW_RANK2FILE_SCR_1_1 ? "DIR" : "NAME");
        hpcw_kvtree_remove(names, name);
        record = names == NULL || hpcw_kvtree_count(names) == 0 ? record : NULL;
    }
    if (record != NULL) {
        hpcw_kvtree_remove(records, id);
    }
    static const char *const maps[] = {"DIR", "NAME"};
    for (size_t i = 0; i < 2; i++) {
        hpcw_kvtree *names = hpcw_kvtree_get(index, maps[i]);
        if (names != NULL) {
            hpcw_kvtree_remove(names, name);
        }
    }
    return hpcw_i_r2f_index_settle(index, layout, err);
}

/* ---- times ---- */

static void stamp(const struct tm *tm, char text[HPCW_I_R2F_STAMP]) {
    struct tm most = {.tm_year = 9999 - 1900, .tm_mon = 11, .tm_mday = 31};
    (void)strftime(text, HPCW_I_R2F_STAMP, "%Y-%m-%dT%H:%M:%S",
                   tm == NULL || tm->tm_year > 9999 - 1900 ? &most : tm);
}

void hpcw_i_r2f_stamp_utc(uint64_t us, char text[HPCW_I_R2F_STAMP]) {
    time_t t = (time_t)(us / 1000000);
    struct tm tm;
    stamp(gmtime_r(&t, &tm), text);
}

void hpcw_i_r2f_stamp_now(char text[HPCW_I_R2F_STAMP]) {
    time_t t = time(NULL);
    struct tm tm;
    stamp(localtime_r(&t, &tm), text);
}

uint64_t hpcw_i_r2f_now_us(void) {
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}
