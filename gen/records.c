/* SPDX-License-Identifier: BSD-3-Clause */
/* What an unfinished dataset remembers of the ranges that are written. Records may come from anywhere: nothing in
 * them is believed that the dataset's description does not say, too. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/status.h"
#include "store.h"

void hpcw_i_store_record_name(const struct hpcw_i_format *format, uint64_t begin, uint64_t end,
                              char name[HPCW_I_UNIT_PATH]) {
    (void)snprintf(name, HPCW_I_UNIT_PATH, HPCW_I_STATE_DIR "/%s.%llu-%llu.json", format->name,
                   (unsigned long long)begin, (unsigned long long)end);
}

static bool is_text(const cJSON *object, const char *key, const char *want) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsString(item) && strcmp(item->valuestring, want) == 0;
}

hpcw_status hpcw_i_store_size(const char *path, uint64_t *size, hpcw_error *err) {
    struct stat st;
    if (lstat(path, &st) != 0) {
        return hpcw_i_fail_sys(err, errno, "%s: cannot ask for its size", path);
    }
    *size = (uint64_t)st.st_size;
    return HPCW_OK;
}

static bool has_size(const char *dir, const char *name, uint64_t size) {
    char path[HPCW_I_STORE_PATH];
    struct stat st;
    hpcw_i_store_path(dir, name, path);
    return lstat(path, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size == size;
}

/* One unit of a record: the file that it must be, with the size that it must have. */
static hpcw_status check_unit(const char *dir, const struct hpcw_i_dataset *d,
                              const struct hpcw_i_format *format, uint64_t index, const cJSON *item,
                              hpcw_error *err) {
    struct hpcw_i_unit unit;
    char waiting[HPCW_I_UNIT_PATH];
    uint64_t size = 0;
    hpcw_status s = format->unit(d, index, &unit, err);
    if (s == HPCW_OK) {
        s = hpcw_i_partial_u64(item, "size", &size, err);
    }
    if (s != HPCW_OK) {
        return s;
    }
    hpcw_i_waiting_name(format, index, waiting);
    bool waits = is_text(item, "now", waiting);
    if (!is_text(item, "path", unit.path) || !(waits || is_text(item, "now", unit.path))) {
        return hpcw_i_fail(err, HPCW_EFORMAT, "file %llu: wanted %s, got another path",
                           (unsigned long long)index, unit.path);
    }
    /* A join that was interrupted may have given a waiting file its name already. */
    if (!has_size(dir, unit.path, size) && !(waits && has_size(dir, waiting, size))) {
        return hpcw_i_fail(err, HPCW_EFORMAT, "%s/%s: wanted a file of %llu bytes, got none", dir,
                           waits ? waiting : unit.path, (unsigned long long)size);
    }
    return HPCW_OK;
}

static hpcw_status check_record(const char *dir, const struct hpcw_i_dataset *d,
                                const struct hpcw_i_format *format, const char *fingerprint,
                                const cJSON *record, hpcw_error *err) {
    uint64_t begin = 0;
    uint64_t end = 0;
    if (!is_text(record, "fingerprint", fingerprint) || !is_text(record, "format", format->name)) {
        return hpcw_i_fail(err, HPCW_EFORMAT, "wanted format %s and fingerprint %s, got others", format->name,
                           fingerprint);
    }
    hpcw_status s = hpcw_i_partial_u64(record, "begin", &begin, err);
    if (s == HPCW_OK) {
        s = hpcw_i_partial_u64(record, "end", &end, err);
    }
    const cJSON *units = cJSON_GetObjectItemCaseSensitive(record, "units");
    if (s == HPCW_OK && (begin >= end || end > format->units(d) || !cJSON_IsArray(units) ||
                         (uint64_t)cJSON_GetArraySize(units) != end - begin)) {
        s = hpcw_i_fail(err, HPCW_EFORMAT, "wanted a range of the %llu files and all in it, got %llu to %llu",
                        (unsigned long long)format->units(d), (unsigned long long)begin,
                        (unsigned long long)end);
    }
    if (s == HPCW_OK && !cJSON_IsObject(cJSON_GetObjectItemCaseSensitive(record, "partial"))) {
        s = hpcw_i_fail(err, HPCW_EFORMAT, "wanted the partial results, got none");
    }
    const cJSON *item;
    cJSON_ArrayForEach(item, units) {
        if (s == HPCW_OK) {
            s = check_unit(dir, d, format, begin++, item, err);
        }
    }
    return s;
}

cJSON *hpcw_i_store_record(const char *dir, const struct hpcw_i_dataset *d, const struct hpcw_i_format *format,
                           uint64_t begin, uint64_t end, const char *fingerprint) {
    char name[HPCW_I_UNIT_PATH];
    char path[HPCW_I_STORE_PATH];
    cJSON *record;
    uint64_t b = 0;
    uint64_t e = 0;
    hpcw_i_store_record_name(format, begin, end, name);
    hpcw_i_store_path(dir, name, path);
    if (hpcw_i_store_read_json(path, &record, NULL) != HPCW_OK) {
        return NULL;
    }
    if (check_record(dir, d, format, fingerprint, record, NULL) != HPCW_OK ||
        hpcw_i_partial_u64(record, "begin", &b, NULL) != HPCW_OK ||
        hpcw_i_partial_u64(record, "end", &e, NULL) != HPCW_OK || b != begin || e != end) {
        cJSON_Delete(record);
        return NULL;
    }
    return record;
}

/* ---- all of them ---- */

/* Only of records that were checked. */
static uint64_t edge(const cJSON *record, const char *key) {
    uint64_t value = 0;
    (void)hpcw_i_partial_u64(record, key, &value, NULL);
    return value;
}

static int by_begin(const void *a, const void *b) {
    uint64_t x = edge(*(cJSON *const *)a, "begin");
    uint64_t y = edge(*(cJSON *const *)b, "begin");
    return x < y ? -1 : x > y;
}

static hpcw_status check_cover(const struct hpcw_i_format *format, uint64_t units, cJSON **record, size_t count,
                               const char *dir, hpcw_error *err) {
    uint64_t next = 0;
    for (size_t i = 0; i <= count; i++) {
        uint64_t begin = i < count ? edge(record[i], "begin") : units;
        if (begin > next) {
            return hpcw_i_fail(err, HPCW_ESTATE,
                               "%s: %s: wanted all %llu files, files %llu to %llu are not written yet", dir,
                               format->name, (unsigned long long)units, (unsigned long long)next,
                               (unsigned long long)begin - 1);
        }
        if (begin < next) {
            return hpcw_i_fail(
                err, HPCW_ESTATE,
                "%s: %s: wanted every file once, file %llu was written by two runs with different "
                "--part: remove the record of one in " HPCW_I_STATE_DIR,
                dir, format->name, (unsigned long long)begin);
        }
        next = i < count ? edge(record[i], "end") : units;
    }
    return HPCW_OK;
}

/* Calls `take` for the path of every record of a format that is there. */
static hpcw_status each_record(const char *dir, const struct hpcw_i_format *format,
                               hpcw_status (*take)(void *context, const char *path, hpcw_error *err),
                               void *context, hpcw_error *err) {
    char state[HPCW_I_STORE_PATH];
    char prefix[64];
    hpcw_i_store_path(dir, HPCW_I_STATE_DIR, state);
    (void)snprintf(prefix, sizeof prefix, "%s.", format->name);
    DIR *d = opendir(state);
    if (d == NULL) {
        return hpcw_i_fail_sys(err, errno, "%s: cannot open the directory", state);
    }
    hpcw_status s = HPCW_OK;
    struct dirent *entry;
    while (s == HPCW_OK && (entry = readdir(d)) != NULL) {
        char path[HPCW_I_STORE_PATH + 256];
        const char *dot = strrchr(entry->d_name, '.');
        if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0 && dot != NULL && strcmp(dot, ".json") == 0) {
            (void)snprintf(path, sizeof path, "%s/%s", state, entry->d_name);
            s = take(context, path, err);
        }
    }
    (void)closedir(d);
    return s;
}

struct reading {
    const char *dir, *fingerprint;
    const struct hpcw_i_dataset *dataset;
    const struct hpcw_i_format *format;
    struct hpcw_i_buf list; /* of cJSON * */
};

static hpcw_status read_one(void *context, const char *path, hpcw_error *err) {
    struct reading *r = context;
    cJSON *one = NULL;
    hpcw_error reason = {.message = ""};
    hpcw_status s = hpcw_i_store_read_json(path, &one, err);
    if (s == HPCW_OK && check_record(r->dir, r->dataset, r->format, r->fingerprint, one, &reason) != HPCW_OK) {
        s = hpcw_i_fail(err, HPCW_EFORMAT, "%s: not a record of this dataset: %.600s; write its part again",
                        path, reason.message);
    }
    if (s == HPCW_OK && !hpcw_i_buf_append(&r->list, &one, sizeof(cJSON *))) {
        s = hpcw_i_fail(err, HPCW_ENOMEM, "%s: out of memory", path);
    }
    if (s != HPCW_OK) {
        cJSON_Delete(one);
    }
    return s;
}

hpcw_status hpcw_i_store_records(const char *dir, const struct hpcw_i_dataset *d,
                                 const struct hpcw_i_format *format, const char *fingerprint, cJSON ***record,
                                 size_t *count, hpcw_error *err) {
    struct reading r = {.dir = dir, .fingerprint = fingerprint, .dataset = d, .format = format};
    hpcw_status s = each_record(dir, format, read_one, &r, err);
    *record = (cJSON **)(void *)r.list.data;
    *count = r.list.size / sizeof(cJSON *);
    if (s == HPCW_OK && *count > 0) {
        qsort(*record, *count, sizeof(cJSON *), by_begin);
    }
    return s == HPCW_OK ? check_cover(format, format->units(d), *record, *count, dir, err) : s;
}

static hpcw_status forget_one(void *context, const char *path, hpcw_error *err) {
    (void)context;
    return remove(path) == 0 || errno == ENOENT ? HPCW_OK
                                                : hpcw_i_fail_sys(err, errno, "%s: cannot remove", path);
}

hpcw_status hpcw_i_store_forget(const char *dir, const struct hpcw_i_format *format, hpcw_error *err) {
    return each_record(dir, format, forget_one, NULL, err);
}

/* ---- a finished dataset from which something was lost ---- */

/* An entry of the manifest: the file with its size and, where the manifest has one, its digest. */
static bool is_intact(const char *dir, const cJSON *entry, bool content) {
    const cJSON *path = cJSON_GetObjectItemCaseSensitive(entry, "path");
    const cJSON *size = cJSON_GetObjectItemCaseSensitive(entry, "size");
    const cJSON *text = cJSON_GetObjectItemCaseSensitive(entry, "xxh128");
    if (!cJSON_IsString(path) || !hpcw_i_store_is_below(path->valuestring) || !cJSON_IsNumber(size) ||
        !(size->valuedouble >= 0) || size->valuedouble > 0x1p53 ||
        !has_size(dir, path->valuestring, (uint64_t)size->valuedouble)) {
        return false;
    }
    if (!content || !cJSON_IsString(text)) {
        return true;
    }
    struct hpcw_i_digest want;
    struct hpcw_i_digest got;
    char name[HPCW_I_STORE_PATH];
    hpcw_i_store_path(dir, path->valuestring, name);
    return hpcw_i_digest_parse(text->valuestring, &want) &&
           hpcw_i_digest_file(name, &got, NULL, NULL) == HPCW_OK && want.high == got.high &&
           want.low == got.low;
}

/* The record that a format's files once had, from the manifest's entries of them; NULL if one is missing. `*next`
 * moves behind them. */
static cJSON *recall(const char *dir, const struct hpcw_i_dataset *d, const struct hpcw_i_format *format,
                     const char *fingerprint, const cJSON *truth, const cJSON **next) {
    uint64_t units = format->units(d);
    char text[32];
    cJSON *record = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(record, "fingerprint", fingerprint);
    (void)cJSON_AddStringToObject(record, "format", format->name);
    (void)cJSON_AddStringToObject(record, "begin", "0");
    (void)snprintf(text, sizeof text, "%llu", (unsigned long long)units);
    (void)cJSON_AddStringToObject(record, "end", text);
    cJSON *list = cJSON_AddArrayToObject(record, "units");
    bool ok = list != NULL;
    const cJSON *entry = *next;
    for (uint64_t k = 0; k < units; k++) {
        struct hpcw_i_unit unit;
        ok = ok && format->unit(d, k, &unit, NULL) == HPCW_OK && is_text(entry, "path", unit.path) &&
             is_intact(dir, entry, false);
        if (ok) {
            cJSON *one = cJSON_CreateObject(); /* in the list at once, to be freed with it */
            const cJSON *digest = cJSON_GetObjectItemCaseSensitive(entry, "xxh128");
            (void)snprintf(text, sizeof text, "%.0f",
                           cJSON_GetObjectItemCaseSensitive(entry, "size")->valuedouble);
            ok = cJSON_AddItemToArray(list, one) && cJSON_AddStringToObject(one, "path", unit.path) != NULL &&
                 cJSON_AddStringToObject(one, "now", unit.path) != NULL &&
                 cJSON_AddStringToObject(one, "size", text) != NULL &&
                 (!cJSON_IsString(digest) ||
                  cJSON_AddStringToObject(one, "xxh128", digest->valuestring) != NULL);
        }
        entry = entry == NULL ? NULL : entry->next;
    }
    *next = entry;
    const cJSON *partial = cJSON_GetObjectItemCaseSensitive(truth, format->name);
    if (!ok || !cJSON_IsObject(partial) ||
        !cJSON_AddItemToObject(record, "partial", cJSON_Duplicate(partial, 1))) {
        cJSON_Delete(record);
        return NULL;
    }
    return record;
}

static hpcw_status write_record(const char *dir, const struct hpcw_i_format *format, uint64_t units,
                                const cJSON *record, hpcw_error *err) {
    char name[HPCW_I_UNIT_PATH];
    char path[HPCW_I_STORE_PATH];
    hpcw_sink *sink = NULL;
    char *text = cJSON_PrintUnformatted(record);
    hpcw_i_store_record_name(format, 0, units, name);
    hpcw_i_store_path(dir, name, path);
    hpcw_status s = text == NULL ? hpcw_i_fail(err, HPCW_ENOMEM, "%s: out of memory", path)
                                 : hpcw_sink_open_file(path, HPCW_SYNC_NONE, &sink, err);
    if (s == HPCW_OK) {
        s = hpcw_sink_write_at(sink, 0, text, strlen(text), err);
    }
    if (s == HPCW_OK) {
        s = hpcw_sink_publish(sink, err);
    }
    hpcw_sink_free(sink);
    cJSON_free(text);
    return s;
}

static bool checksums_are_there(const char *dir) {
    char path[HPCW_I_STORE_PATH];
    struct stat st;
    hpcw_i_store_path(dir, HPCW_I_CHECKSUMS, path);
    return lstat(path, &st) == 0 && S_ISREG(st.st_mode);
}

hpcw_status hpcw_i_store_reopen(const char *dir, const struct hpcw_i_dataset *d, const char *fingerprint,
                                bool checksums, bool *whole, hpcw_error *err) {
    char path[HPCW_I_STORE_PATH];
    cJSON *manifest;
    cJSON *truth = NULL;
    hpcw_i_store_path(dir, HPCW_I_MANIFEST, path);
    hpcw_status s = hpcw_i_store_read_json(path, &manifest, err);
    if (s != HPCW_OK) {
        return s;
    }
    const cJSON *files = cJSON_GetObjectItemCaseSensitive(manifest, "files");
    const cJSON *last = NULL;
    for (const cJSON *entry = files == NULL ? NULL : files->child; entry != NULL; entry = entry->next) {
        last = entry;
    }
    hpcw_i_store_path(dir, HPCW_I_TRUTH, path);
    if (is_text(last, "path", HPCW_I_TRUTH) && is_intact(dir, last, true)) {
        (void)hpcw_i_store_read_json(path, &truth, NULL);
    }
    *whole = truth != NULL && (!checksums || checksums_are_there(dir));
    cJSON *kept[64] = {NULL}; /* as many as the formats of a dataset have bits */
    const cJSON *next = files == NULL ? NULL : files->child;
    for (size_t f = 0; f < hpcw_i_format_count; f++) {
        if (d->formats >> f & 1) {
            kept[f] = recall(dir, d, hpcw_i_format[f], fingerprint, truth, &next);
            *whole = *whole && kept[f] != NULL;
        }
    }
    if (!*whole) {
        s = hpcw_i_store_begin(dir, d, fingerprint, &(struct hpcw_i_stripes){0}, err);
        for (size_t f = 0; s == HPCW_OK && f < hpcw_i_format_count; f++) {
            if (kept[f] != NULL) {
                s = write_record(dir, hpcw_i_format[f], hpcw_i_format[f]->units(d), kept[f], err);
            }
        }
        /* Only now: until then there is nothing else that says what is in the directory. */
        if (s == HPCW_OK) {
            s = hpcw_i_store_remove_lists(dir, err);
        }
    }
    for (size_t f = 0; f < hpcw_i_format_count; f++) {
        cJSON_Delete(kept[f]);
    }
    cJSON_Delete(truth);
    cJSON_Delete(manifest);
    return s;
}
