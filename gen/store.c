/* SPDX-License-Identifier: BSD-3-Clause */
#include "store.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/status.h"
#include "io/sys.h"
#include "read/source.h"

#define LARGEST_TEXT ((uint64_t)1 << 30)

void hpcw_i_store_path(const char *dir, const char *name, char path[HPCW_I_STORE_PATH]) {
    (void)snprintf(path, HPCW_I_STORE_PATH, "%s/%s", dir, name);
}

hpcw_status hpcw_i_store_read(const char *path, char **text, hpcw_error *err) {
    struct hpcw_i_source *source;
    *text = NULL;
    hpcw_status s = hpcw_i_source_open(path, &source, err);
    if (s != HPCW_OK) {
        return s;
    }
    uint64_t size = hpcw_i_source_size(source);
    char *made = size > LARGEST_TEXT ? NULL : hpcw_i_malloc((size_t)size + 1);
    if (size > LARGEST_TEXT) {
        s = hpcw_i_fail(err, HPCW_EFORMAT, "%s: wanted at most 1 GiB, got %llu bytes", path,
                        (unsigned long long)size);
    } else if (made == NULL) {
        s = hpcw_i_fail(err, HPCW_ENOMEM, "%s: out of memory for its %llu bytes", path,
                        (unsigned long long)size);
    } else {
        s = hpcw_i_source_read(source, 0, made, (size_t)size, "content", err);
        made[size] = '\0';
    }
    hpcw_i_source_free(source);
    if (s != HPCW_OK) {
        hpcw_i_free(made);
        return s;
    }
    *text = made;
    return HPCW_OK;
}

hpcw_status hpcw_i_store_read_json(const char *path, cJSON **json, hpcw_error *err) {
    char *text;
    *json = NULL;
    hpcw_status s = hpcw_i_store_read(path, &text, err);
    if (s != HPCW_OK) {
        return s;
    }
    const char *end = NULL;
    *json = cJSON_ParseWithOpts(text, &end, 1);
    if (*json == NULL) {
        s = hpcw_i_fail(err, HPCW_EFORMAT, "%s: wanted JSON, got something else at offset %td", path,
                        end == NULL ? (ptrdiff_t)0 : end - text);
    }
    hpcw_i_free(text);
    return s;
}

static bool has_fingerprint(const cJSON *json, const char *fingerprint) {
    const cJSON *f = cJSON_GetObjectItemCaseSensitive(json, "fingerprint");
    return cJSON_IsString(f) && strcmp(f->valuestring, fingerprint) == 0;
}

/* The first line of the parameter file carries the fingerprint. */
static bool begun_with(const char *dir, const char *fingerprint) {
    char path[HPCW_I_STORE_PATH];
    char *text;
    hpcw_i_store_path(dir, HPCW_I_PARAMETERS, path);
    if (hpcw_i_store_read(path, &text, NULL) != HPCW_OK) {
        return false;
    }
    bool same = strncmp(text, "; ", 2) == 0 && strncmp(text + 2, fingerprint, strlen(fingerprint)) == 0;
    hpcw_i_free(text);
    return same;
}

static bool is_there(const char *dir, const char *name) {
    char path[HPCW_I_STORE_PATH];
    struct stat st;
    hpcw_i_store_path(dir, name, path);
    return lstat(path, &st) == 0;
}

hpcw_status hpcw_i_store_look(const char *dir, const char *fingerprint, enum hpcw_i_store_state *state,
                              hpcw_error *err) {
    *state = HPCW_I_STORE_FRESH;
    DIR *d = opendir(dir);
    if (d == NULL) {
        return errno == ENOENT ? HPCW_OK : hpcw_i_fail_sys(err, errno, "%s: cannot open the directory", dir);
    }
    struct dirent *entry;
    bool empty = true;
    while ((entry = readdir(d)) != NULL) {
        empty = empty && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0);
    }
    (void)closedir(d);
    if (empty) {
        return HPCW_OK;
    }
    *state = HPCW_I_STORE_OTHER;
    if (is_there(dir, HPCW_I_STATE_DIR)) {
        *state = begun_with(dir, fingerprint) ? HPCW_I_STORE_UNFINISHED : HPCW_I_STORE_OTHER;
        return HPCW_OK;
    }
    char path[HPCW_I_STORE_PATH];
    cJSON *manifest = NULL;
    hpcw_i_store_path(dir, HPCW_I_MANIFEST, path);
    if (is_there(dir, HPCW_I_MANIFEST) && hpcw_i_store_read_json(path, &manifest, NULL) == HPCW_OK &&
        has_fingerprint(manifest, fingerprint)) {
        *state = HPCW_I_STORE_FINISHED;
    }
    cJSON_Delete(manifest);
    return HPCW_OK;
}

static hpcw_status make_directory(const char *path, hpcw_error *err) {
    return mkdir(path, 0777) == 0 || errno == EEXIST
               ? HPCW_OK
               : hpcw_i_fail_sys(err, errno, "%s: cannot make the directory", path);
}

/* All of it in a text that --config takes back. */
static bool describe(const struct hpcw_i_dataset *d, const char *fingerprint, struct hpcw_i_buf *buf) {
    char line[512];
    (void)snprintf(
        line, sizeof line,
        "; %s\n; The description of an unfinished dataset.\n[hpcgen]\nranks = %u\nseed = %llu\npreset = %s\n"
        "scale = %s\nblocksize = %u\nfiles = %u\nformats = ",
        fingerprint, d->ranks, (unsigned long long)d->seed, d->preset, hpcw_i_scale_name[d->scale],
        d->block_size, d->linktest_files);
    bool ok = hpcw_i_buf_append_str(buf, line);
    const char *comma = "";
    for (size_t i = 0; i < hpcw_i_format_count; i++) {
        if (d->formats >> i & 1) {
            ok = ok && hpcw_i_buf_append_str(buf, comma) && hpcw_i_buf_append_str(buf, hpcw_i_format[i]->name);
            comma = ",";
        }
    }
    ok = ok && hpcw_i_buf_append_str(buf, "\n");
    const char *section = "";
    for (size_t g = 0; g < hpcw_i_dataset_group_count; g++) {
        const struct hpcw_i_dataset_group *group = &hpcw_i_dataset_group[g];
        if (strcmp(section, group->name) != 0) {
            section = group->name;
            (void)snprintf(line, sizeof line, "[%s]\n", section);
            ok = ok && hpcw_i_buf_append_str(buf, line);
        }
        for (size_t i = 0; i < hpcw_i_dataset_group_size(group); i++) {
            const struct hpcw_i_param *p = &group->params[i];
            char value[256];
            hpcw_i_param_get(p, (const char *)d + group->offset, value, sizeof value);
            (void)snprintf(line, sizeof line, "%s = %s\n", p->key + strlen(section) + 1, value);
            ok = ok && hpcw_i_buf_append_str(buf, line);
        }
    }
    return ok;
}

hpcw_status hpcw_i_store_begin(const char *dir, const struct hpcw_i_dataset *d, const char *fingerprint,
                               hpcw_error *err) {
    char path[HPCW_I_STORE_PATH];
    hpcw_status s = make_directory(dir, err);
    for (size_t i = 0; s == HPCW_OK && i < hpcw_i_format_count; i++) {
        if (d->formats >> i & 1) {
            hpcw_i_store_path(dir, hpcw_i_format[i]->name, path);
            s = make_directory(path, err);
        }
    }
    if (s == HPCW_OK) {
        hpcw_i_store_path(dir, HPCW_I_STATE_DIR, path);
        s = make_directory(path, err);
    }
    if (s != HPCW_OK || begun_with(dir, fingerprint)) {
        return s;
    }
    struct hpcw_i_buf buf = {0};
    hpcw_sink *sink = NULL;
    hpcw_i_store_path(dir, HPCW_I_PARAMETERS, path);
    s = describe(d, fingerprint, &buf) ? hpcw_sink_open_file(path, HPCW_SYNC_NONE, &sink, err)
                                       : hpcw_i_fail(err, HPCW_ENOMEM, "%s: out of memory", path);
    if (s == HPCW_OK) {
        s = hpcw_sink_write_at(sink, 0, buf.data, buf.size, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_sink_publish(sink, err);
    }
    hpcw_sink_free(sink);
    hpcw_i_buf_free(&buf);
    /* Parts start at the same time: whoever wrote last is what all must agree with. */
    if (s == HPCW_OK && !begun_with(dir, fingerprint)) {
        s = hpcw_i_fail(err, HPCW_EEXIST, "%s: another run with other parameters began here", dir);
    }
    return s;
}

/* Removes the files of a folder that are ours to remove; the folder itself if it is empty then. */
static hpcw_status remove_state(const char *dir, hpcw_error *err) {
    char state[HPCW_I_STORE_PATH];
    hpcw_i_store_path(dir, HPCW_I_STATE_DIR, state);
    DIR *d = opendir(state);
    if (d == NULL) {
        return errno == ENOENT ? HPCW_OK : hpcw_i_fail_sys(err, errno, "%s: cannot open the directory", state);
    }
    hpcw_status s = HPCW_OK;
    struct dirent *entry;
    while (s == HPCW_OK && (entry = readdir(d)) != NULL) {
        char path[HPCW_I_STORE_PATH + 256];
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            (void)snprintf(path, sizeof path, "%s/%s", state, entry->d_name);
            if (unlink(path) != 0 && errno != ENOENT) {
                s = hpcw_i_fail_sys(err, errno, "%s: cannot remove", path);
            }
        }
    }
    (void)closedir(d);
    if (s == HPCW_OK && rmdir(state) != 0 && errno != ENOENT) {
        s = hpcw_i_fail_sys(err, errno, "%s: cannot remove", state);
    }
    return s;
}

hpcw_status hpcw_i_store_end(const char *dir, hpcw_error *err) {
    return remove_state(dir, err);
}

/* A path from a manifest stays below the directory: relative, no "..", no empty part. */
static bool is_below(const char *path) {
    if (*path == '\0' || *path == '/' || strlen(path) >= HPCW_I_UNIT_PATH) {
        return false;
    }
    for (const char *p = path; p != NULL; p = strchr(p, '/')) {
        p += *p == '/';
        if (*p == '\0' || *p == '/' || strncmp(p, "../", 3) == 0 || strcmp(p, "..") == 0) {
            return false;
        }
    }
    return true;
}

static hpcw_status remove_file(const char *dir, const char *name, hpcw_error *err) {
    char path[HPCW_I_STORE_PATH];
    hpcw_i_store_path(dir, name, path);
    return unlink(path) == 0 || errno == ENOENT || errno == ENOTDIR
               ? HPCW_OK
               : hpcw_i_fail_sys(err, errno, "%s: cannot remove", path);
}

hpcw_status hpcw_i_store_clear(const char *dir, hpcw_error *err) {
    char path[HPCW_I_STORE_PATH];
    cJSON *manifest = NULL;
    hpcw_i_store_path(dir, HPCW_I_MANIFEST, path);
    hpcw_status s = HPCW_OK;
    if (is_there(dir, HPCW_I_MANIFEST) && hpcw_i_store_read_json(path, &manifest, NULL) == HPCW_OK) {
        const cJSON *file;
        cJSON_ArrayForEach(file, cJSON_GetObjectItemCaseSensitive(manifest, "files")) {
            const cJSON *name = cJSON_GetObjectItemCaseSensitive(file, "path");
            if (s == HPCW_OK && cJSON_IsString(name) && is_below(name->valuestring)) {
                s = remove_file(dir, name->valuestring, err);
            }
        }
        cJSON_Delete(manifest);
    }
    static const char *const lists[] = {HPCW_I_CHECKSUMS, HPCW_I_MANIFEST, HPCW_I_TRUTH};
    for (size_t i = 0; s == HPCW_OK && i < sizeof lists / sizeof lists[0]; i++) {
        s = remove_file(dir, lists[i], err);
    }
    return s == HPCW_OK ? remove_state(dir, err) : s;
}

/* ---- records ---- */

void hpcw_i_store_record_name(const struct hpcw_i_format *format, uint64_t begin, uint64_t end,
                              char name[HPCW_I_UNIT_PATH]) {
    (void)snprintf(name, HPCW_I_UNIT_PATH, HPCW_I_STATE_DIR "/%s.%llu-%llu.json", format->name,
                   (unsigned long long)begin, (unsigned long long)end);
}

static bool is_record_of(const cJSON *record, const struct hpcw_i_format *format, const char *fingerprint) {
    const cJSON *name = cJSON_GetObjectItemCaseSensitive(record, "format");
    return has_fingerprint(record, fingerprint) && cJSON_IsString(name) &&
           strcmp(name->valuestring, format->name) == 0;
}

static bool files_are_there(const char *dir, const cJSON *record) {
    const cJSON *unit;
    cJSON_ArrayForEach(unit, cJSON_GetObjectItemCaseSensitive(record, "units")) {
        const cJSON *name = cJSON_GetObjectItemCaseSensitive(unit, "now");
        uint64_t size = 0;
        char path[HPCW_I_STORE_PATH];
        struct stat st;
        if (!cJSON_IsString(name) || !is_below(name->valuestring) ||
            hpcw_i_partial_u64(unit, "size", &size, NULL) != HPCW_OK) {
            return false;
        }
        hpcw_i_store_path(dir, name->valuestring, path);
        if (lstat(path, &st) != 0 || !S_ISREG(st.st_mode) || (uint64_t)st.st_size != size) {
            return false;
        }
    }
    return true;
}

cJSON *hpcw_i_store_record(const char *dir, const struct hpcw_i_format *format, uint64_t begin, uint64_t end,
                           const char *fingerprint) {
    char name[HPCW_I_UNIT_PATH];
    char path[HPCW_I_STORE_PATH];
    cJSON *record;
    hpcw_i_store_record_name(format, begin, end, name);
    hpcw_i_store_path(dir, name, path);
    if (hpcw_i_store_read_json(path, &record, NULL) != HPCW_OK) {
        return NULL;
    }
    if (!is_record_of(record, format, fingerprint) || !files_are_there(dir, record)) {
        cJSON_Delete(record);
        return NULL;
    }
    return record;
}

static uint64_t begin_of(const cJSON *record) {
    uint64_t begin = UINT64_MAX;
    (void)hpcw_i_partial_u64(record, "begin", &begin, NULL);
    return begin;
}

static int by_begin(const void *a, const void *b) {
    uint64_t x = begin_of(*(cJSON *const *)a);
    uint64_t y = begin_of(*(cJSON *const *)b);
    return x < y ? -1 : x > y;
}

static hpcw_status check_cover(const struct hpcw_i_format *format, uint64_t units, cJSON **record, size_t count,
                               const char *dir, hpcw_error *err) {
    uint64_t next = 0;
    for (size_t i = 0; i <= count; i++) {
        uint64_t begin = units;
        uint64_t end = units;
        if (i < count) {
            begin = begin_of(record[i]);
            if (hpcw_i_partial_u64(record[i], "end", &end, err) != HPCW_OK) {
                return err == NULL ? HPCW_EFORMAT : err->code;
            }
        }
        if (begin > next) {
            return hpcw_i_fail(err, HPCW_ESTATE,
                               "%s: %s: wanted all %llu files, files %llu to %llu are not written yet", dir,
                               format->name, (unsigned long long)units, (unsigned long long)next,
                               (unsigned long long)begin - 1);
        }
        if (begin < next) {
            return hpcw_i_fail(err, HPCW_ESTATE,
                               "%s: %s: file %llu was written by two runs with different --part", dir,
                               format->name, (unsigned long long)begin);
        }
        next = end;
    }
    return HPCW_OK;
}

hpcw_status hpcw_i_store_records(const char *dir, const struct hpcw_i_format *format, uint64_t units,
                                 const char *fingerprint, cJSON ***record, size_t *count, hpcw_error *err) {
    char state[HPCW_I_STORE_PATH];
    char prefix[64];
    struct hpcw_i_buf list = {0};
    *record = NULL;
    *count = 0;
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
        if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0 || dot == NULL || strcmp(dot, ".json") != 0) {
            continue;
        }
        (void)snprintf(path, sizeof path, "%s/%s", state, entry->d_name);
        cJSON *one = NULL;
        s = hpcw_i_store_read_json(path, &one, err);
        if (s == HPCW_OK && (!is_record_of(one, format, fingerprint) || !files_are_there(dir, one))) {
            s = hpcw_i_fail(err, HPCW_EFORMAT,
                            "%s: wanted a record of this dataset whose files are there; remove it "
                            "and write its part again",
                            path);
        }
        if (s == HPCW_OK && !hpcw_i_buf_append(&list, &one, sizeof one)) {
            s = hpcw_i_fail(err, HPCW_ENOMEM, "%s: out of memory", path);
        }
        if (s != HPCW_OK) {
            cJSON_Delete(one);
        }
    }
    (void)closedir(d);
    *record = (cJSON **)(void *)list.data;
    *count = list.size / sizeof(cJSON *);
    if (s == HPCW_OK && *count > 0) {
        qsort(*record, *count, sizeof **record, by_begin);
    }
    return s == HPCW_OK ? check_cover(format, units, *record, *count, dir, err) : s;
}
