/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/format/rank2file/prefix/prefix.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "libwriter/base/hash.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/io/dir.h"

/* ---- locks ---- */

/* Byte 0 of the lock file is the index, byte N dataset N; names lie above all ids. */
enum { INDEX_BYTE = 0 };

static uint64_t byte_of_name(const char *name) {
    const uint64_t names = UINT64_C(1) << 62;
    return names | (hpcw_i_hash_text(name) & (names - 1));
}

/* What kernels and file systems answer that have no such locks. */
static bool is_unsupported(int e) {
    return e == ENOSYS || e == EOPNOTSUPP || e == EINVAL || e == ENOLCK;
}

/* Whoever creates the file lets all others lock it who may write in the directory, whatever the umask. */
static int open_or_create(const char *path, int *fd) {
    int e = hpcw_i_sys_open(path, O_RDWR, 0, fd);
    if (e != ENOENT) {
        return e;
    }
    e = hpcw_i_sys_open(path, O_RDWR | O_CREAT | O_EXCL, 0666, fd);
    if (e == EEXIST) {
        return hpcw_i_sys_open(path, O_RDWR, 0, fd); /* another one was faster; it is never removed */
    }
    struct hpcw_i_dir *directory = NULL;
    int at;
    if (e == 0 && hpcw_i_dir_hold_of(path, &directory) == 0 && hpcw_i_dir_fd(directory, &at) == 0) {
        hpcw_i_sys_share(*fd, at);
    }
    hpcw_i_dir_release(directory);
    return e;
}

/* A lock that may not be opened is not "no lock here": others hold it, and this program would destroy what they write. */
static hpcw_status open_lock(const char *prefix, char **path, int *fd, hpcw_error *err) {
    *fd = -1;
    *path = hpcw_i_r2f_join(prefix, HPCW_I_R2F_LOCK);
    if (*path == NULL) {
        return hpcw_i_fail_memory(err, prefix, 0, NULL);
    }
    int e = open_or_create(*path, fd);
    return e == 0 ? HPCW_OK
           : e == EACCES
               ? hpcw_i_fail_sys(err, e,
                                 "%s: cannot open the lock: expected the right to read and write it, as "
                                 "all have who share the prefix (its owner can chmod it)",
                                 *path)
               : hpcw_i_fail_sys(err, e, "%s: cannot open the lock", *path);
}

hpcw_status hpcw_i_r2f_lock_index(const char *prefix, int *fd, bool *locked, hpcw_error *err) {
    /* A holder reads and writes one small file. Longer means that it is stopped, and a collective must not hang. */
    enum { LONGEST_MS = 60000, STEP_MS = 2 };
    char *path;
    int e = 0;
    hpcw_status s = open_lock(prefix, &path, fd, err);
    if (s == HPCW_OK) {
        const struct timespec step = {.tv_nsec = STEP_MS * 1000000L};
        e = hpcw_i_sys_lock(*fd, INDEX_BYTE);
        for (int ms = 0; e == EAGAIN && ms < LONGEST_MS; ms += STEP_MS) {
            (void)nanosleep(&step, NULL);
            e = hpcw_i_sys_lock(*fd, INDEX_BYTE);
        }
        if (e != 0 && !is_unsupported(e)) {
            s = hpcw_i_fail_sys(err, e, "%s: cannot lock the index", path);
        }
    }
    if (locked != NULL) {
        *locked = s == HPCW_OK && e == 0;
    }
    if (s != HPCW_OK) {
        hpcw_i_r2f_unlock(*fd);
        *fd = -1;
    }
    hpcw_i_free(path);
    return s;
}

hpcw_status hpcw_i_r2f_lock_dataset(const char *prefix, uint64_t id, const char *name, int *fd, bool *locked,
                                    hpcw_error *err) {
    char *path;
    int e = 0;
    hpcw_status s = open_lock(prefix, &path, fd, err);
    if (s == HPCW_OK) {
        e = hpcw_i_sys_lock(*fd, id);
        e = e == 0 ? hpcw_i_sys_lock(*fd, byte_of_name(name)) : e;
        if (e == EAGAIN) {
            s = hpcw_i_fail(err, HPCW_EEXIST,
                            "%s: dataset %s with id %" PRIu64 ": another program is writing it", prefix, name,
                            id);
        } else if (e != 0 && !is_unsupported(e)) {
            s = hpcw_i_fail_sys(err, e, "%s: cannot lock dataset %s", path, name);
        }
    }
    if (locked != NULL) {
        *locked = s == HPCW_OK && e == 0;
    }
    if (s != HPCW_OK) {
        hpcw_i_r2f_unlock(*fd);
        *fd = -1;
    }
    hpcw_i_free(path);
    return s;
}

void hpcw_i_r2f_unlock(int fd) {
    if (fd >= 0) {
        (void)hpcw_i_sys_unlock(fd); /* without locks it fails, and there is nothing to release */
        (void)hpcw_i_sys_close(fd);
    }
}

/* ---- the index as a file ---- */

hpcw_status hpcw_i_r2f_index_read(const char *prefix, hpcw_kvtree **index, hpcw_error *err) {
    char *path = hpcw_i_r2f_join(prefix, HPCW_RANK2FILE_INDEX);
    *index = NULL;
    hpcw_status s =
        path == NULL ? hpcw_i_fail_memory(err, prefix, 0, NULL) : hpcw_kvtree_read_file(path, index, err);
    hpcw_i_free(path);
    return s;
}

hpcw_status hpcw_i_r2f_index_write(const char *prefix, const hpcw_kvtree *index, hpcw_durability durability,
                                   hpcw_error *err) {
    char *path = hpcw_i_r2f_join(prefix, HPCW_RANK2FILE_INDEX);
    hpcw_status s = path == NULL ? hpcw_i_fail_memory(err, prefix, 0, NULL)
                                 : hpcw_kvtree_write_file(index, path, durability, err);
    hpcw_i_free(path);
    return s;
}

/* ---- markers ---- */

static char *marker_path(const char *prefix, uint64_t id) {
    char name[64];
    (void)snprintf(name, sizeof name, ".scr/hpcw.%" PRIu64 ".unfinished", id);
    return hpcw_i_r2f_join(prefix, name);
}

uint64_t hpcw_i_r2f_marker_id(const char *name) {
    uint64_t id = 0;
    if (strncmp(name, "hpcw.", 5) != 0) {
        return 0;
    }
    for (name += 5; *name >= '0' && *name <= '9' && id < INT32_MAX; name++) {
        id = 10 * id + (uint64_t)(*name - '0');
    }
    return strcmp(name, ".unfinished") == 0 && id <= INT32_MAX ? id : 0;
}

/* One line: layout, 0 or 1, host, name. Line feeds fill it up to one size, so that a writer replaces the line of an earlier
 * one by one call, and whoever is killed leaves an empty file, the old line or the new one. */
enum { MARKER_BYTES = HPCW_RANK2FILE_MAX_DATASET + 32 };

hpcw_status hpcw_i_r2f_marker_write(const char *prefix, uint64_t id, const struct hpcw_i_r2f_marker *marker,
                                    hpcw_error *err) {
    char text[MARKER_BYTES];
    int size = snprintf(text, sizeof text, "%s %d %06" PRIx64 " %s", hpcw_rank2file_layout_name(marker->layout),
                        marker->made, marker->host, marker->name);
    memset(text + size, '\n', sizeof text - (size_t)size);
    char *path = marker_path(prefix, id);
    if (path == NULL) {
        return hpcw_i_fail_memory(err, prefix, 0, NULL);
    }
    int fd;
    int e = hpcw_i_sys_open(path, O_WRONLY | O_CREAT, 0666, &fd);
    if (e == 0) {
        e = hpcw_i_sys_pwrite(fd, text, sizeof text, 0);
        int c = hpcw_i_sys_close(fd);
        e = e == 0 ? c : e;
    }
    hpcw_status s =
        e == 0 ? HPCW_OK : hpcw_i_fail_sys(err, e, "%s: cannot note that the dataset is being written", path);
    hpcw_i_free(path);
    return s;
}

bool hpcw_i_r2f_marker_read(const char *prefix, uint64_t id, struct hpcw_i_r2f_marker *marker) {
    char text[MARKER_BYTES + 1];
    size_t size = 0;
    int fd;
    char *path = marker_path(prefix, id);
    if (path == NULL || hpcw_i_sys_open(path, O_RDONLY, 0, &fd) != 0) {
        hpcw_i_free(path);
        return false;
    }
    int e = hpcw_i_sys_pread(fd, text, sizeof text - 1, 0, &size);
    (void)hpcw_i_sys_close(fd);
    hpcw_i_free(path);
    text[size] = '\0';
    char *end = strchr(text, '\n');
    char *made = strchr(text, ' ');
    char *name = NULL;
    if (e != 0 || end == NULL || made == NULL || made[1] == '\0' || made[2] != ' ') {
        return false;
    }
    *end = '\0';
    *made = '\0';
    marker->made = made[1] == '1';
    marker->host = strtoull(made + 3, &name, 16);
    if (*name != ' ') {
        return false;
    }
    (void)snprintf(marker->name, sizeof marker->name, "%s", name + 1);
    const char *bad = hpcw_i_r2f_bad_name(marker->name, strlen(marker->name), HPCW_RANK2FILE_MAX_DATASET);
    return bad == NULL && strchr(marker->name, '/') == NULL && strcmp(marker->name, ".scr") != 0 &&
           hpcw_rank2file_layout_of(text, &marker->layout, NULL) == HPCW_OK;
}

void hpcw_i_r2f_marker_remove(const char *prefix, uint64_t id) {
    char *path = marker_path(prefix, id);
    if (path != NULL) {
        (void)hpcw_i_sys_unlink(path); /* one that is left is removed by the next prune */
        hpcw_i_free(path);
    }
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
    hpcw_kvtree *record = id == NULL ? NULL : hpcw_kvtree_get(hpcw_kvtree_get(index, "DSET"), id);
    if (layout == HPCW_RANK2FILE_SCR_1_1 || layout == HPCW_RANK2FILE_SCR_1_2) {
        record =
            hpcw_kvtree_get(hpcw_kvtree_get(record, layout == HPCW_RANK2FILE_SCR_1_1 ? "DIR" : "NAME"), name);
    }
    return record;
}

bool hpcw_i_r2f_is_complete(const hpcw_kvtree *record) {
    const char *complete = hpcw_kvtree_value(record, "COMPLETE");
    return complete != NULL && strcmp(complete, "1") == 0;
}

bool hpcw_i_r2f_is_good(const hpcw_kvtree *record) {
    return hpcw_i_r2f_is_complete(record) && hpcw_kvtree_get(record, "FAILED") == NULL;
}

uint64_t hpcw_i_r2f_index_id(const hpcw_kvtree *index, hpcw_rank2file_layout layout, const char *name) {
    uint64_t id = 0;
    const hpcw_kvtree *entry = hpcw_kvtree_get(hpcw_i_r2f_index_names(index, layout), name);
    return hpcw_kvtree_value_u64(entry, "DSET", &id, NULL) == HPCW_OK && id <= INT32_MAX ? id : 0;
}

const char *hpcw_i_r2f_index_newest(const hpcw_kvtree *index, hpcw_rank2file_layout layout) {
    const char *found = NULL;
    uint64_t most = 0;
    for (const hpcw_kvtree *n = hpcw_kvtree_first(hpcw_i_r2f_index_names(index, layout)); n != NULL;
         n = hpcw_kvtree_next(n)) {
        const char *name = hpcw_kvtree_key(n);
        uint64_t id = hpcw_i_r2f_index_id(index, layout, name);
        if (id > most && hpcw_i_r2f_is_good(hpcw_i_r2f_index_record(index, layout, name))) {
            most = id;
            found = name;
        }
    }
    return found;
}

hpcw_status hpcw_i_r2f_index_settle(hpcw_kvtree *index, hpcw_rank2file_layout layout, hpcw_error *err) {
    const char *current = hpcw_kvtree_value(index, "CURRENT");
    if (current != NULL && hpcw_i_r2f_is_good(hpcw_i_r2f_index_record(index, layout, current))) {
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
        /* SCR 1 lets several datasets have one id. */
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
