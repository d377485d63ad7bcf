/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/format/rank2file/prefix/marker.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/io/dir.h"
#include "libwriter/io/sys.h"

/*
 * A marker begins with HEAD bytes: a line with the layout, 0 or 1 (`made`), host and name of the dataset; the line
 * "files"; and line feeds. So one write replaces the HEAD bytes of an earlier marker, and a killed writer leaves an
 * empty file, the old bytes or the new ones. Then follow the names of the files, each with a line feed. A last name
 * without a line feed was not written completely.
 *
 * An intent (the marker of a removal) is written in one piece. SCR may have named the dataset, so the name can have
 * any byte. The first line has no name, and the second one is "names". Then follow the names of the dataset and of
 * the files, each with a NUL.
 */
enum { HEAD = HPCW_RANK2FILE_MAX_DATASET + 32, LARGEST = INT32_MAX };
static const char *const list_word[] = {
    [HPCW_I_R2F_UNFINISHED] = "\nfiles\n", [HPCW_I_R2F_DROPPED] = "\nnames\n"};

/* ---- names ---- */

enum { NAME = 64 };
static const char *const ending[] = {
    [HPCW_I_R2F_UNFINISHED] = ".unfinished", [HPCW_I_R2F_DROPPED] = ".dropped"};

static void print_name(const struct hpcw_i_r2f_which *which, char name[NAME]) {
    int n = snprintf(name, NAME, ".scr/hpcw.%" PRIu64 "%s", which->id, ending[which->kind]);
    if (which->process > 0) {
        (void)snprintf(name + n, NAME - (size_t)n, ".%" PRIu32, which->process);
    }
}

/* Parses a decimal number from 1 to INT32_MAX without leading zeros. Returns its end, or NULL. */
static const char *read_number(const char *text, uint64_t *value) {
    const char *p = text;
    *value = 0;
    while (*p >= '0' && *p <= '9' && *value <= INT32_MAX) {
        *value = 10 * *value + (uint64_t)(*p++ - '0');
    }
    return p == text || *text == '0' || *value > INT32_MAX ? NULL : p;
}

/* Returns whether an entry of the directory .scr is a marker of this kind. *which becomes the marker's id and
 * process. */
static bool parse_name(const char *entry, enum hpcw_i_r2f_marker_kind kind, struct hpcw_i_r2f_which *which) {
    uint64_t process = 0;
    *which = (struct hpcw_i_r2f_which){.kind = kind};
    const char *p = strncmp(entry, "hpcw.", 5) == 0 ? read_number(entry + 5, &which->id) : NULL;
    size_t size = strlen(ending[kind]);
    if (p == NULL || strncmp(p, ending[kind], size) != 0) {
        return false;
    }
    p += size;
    if (kind == HPCW_I_R2F_UNFINISHED && *p == '.') {
        p = read_number(p + 1, &process);
        which->process = (uint32_t)process;
    }
    return p != NULL && *p == '\0';
}

static int by_id_and_process(const void *a_, const void *b_) {
    const struct hpcw_i_r2f_which *a = a_;
    const struct hpcw_i_r2f_which *b = b_;
    return a->id != b->id             ? (a->id < b->id ? -1 : 1)
           : a->process != b->process ? (a->process < b->process ? -1 : 1)
                                      : 0;
}

hpcw_status hpcw_i_r2f_markers_find(const struct hpcw_i_r2f_prefix *p, enum hpcw_i_r2f_marker_kind kind,
                                    struct hpcw_i_r2f_markers *found, hpcw_error *err) {
    struct hpcw_i_listing *listing = NULL;
    struct hpcw_i_r2f_which which;
    size_t capacity = 0;
    int at;
    *found = (struct hpcw_i_r2f_markers){.item = NULL};
    int e = hpcw_i_dir_fd(p->dir, &at);
    e = e == 0 ? hpcw_i_sys_list_at(at, ".scr", &listing) : e;
    for (const char *entry; e == 0;) {
        e = hpcw_i_sys_list_next(listing, &entry);
        if (e != 0 || entry == NULL) {
            break;
        }
        if (parse_name(entry, kind, &which)) {
            struct hpcw_i_r2f_which *grown =
                hpcw_i_grow(found->item, &capacity, found->count + 1, sizeof *grown);
            if (grown == NULL) {
                e = ENOMEM;
                break;
            }
            found->item = grown;
            grown[found->count++] = which;
        }
    }
    hpcw_i_sys_list_free(listing);
    if (e != 0) {
        hpcw_i_free(found->item);
        *found = (struct hpcw_i_r2f_markers){.item = NULL};
        return hpcw_i_r2f_fail_below(p, e, ".scr", "cannot list the directory", err);
    }
    if (found->count > 1) {
        qsort(found->item, found->count, sizeof *found->item, by_id_and_process);
    }
    return HPCW_OK;
}

/* Returns the number of markers of datasets below `id`. */
static size_t count_below(const struct hpcw_i_r2f_markers *all, uint64_t id) {
    size_t low = 0;
    for (size_t high = all->count; low < high;) {
        const size_t middle = low + (high - low) / 2;
        if (all->item[middle].id < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

struct hpcw_i_r2f_markers hpcw_i_r2f_markers_of(const struct hpcw_i_r2f_markers *all, uint64_t id) {
    const size_t first = count_below(all, id);
    return (struct hpcw_i_r2f_markers){.item = all->count == 0 ? NULL : all->item + first,
                                       .count = count_below(all, id + 1) - first};
}

/* ---- read ---- */

static bool parse_head(char *text, enum hpcw_i_r2f_marker_kind kind, struct hpcw_i_r2f_marker *marker) {
    char *end = strchr(text, '\n');
    char *made = strchr(text, ' ');
    char *name = NULL;
    if (end == NULL || made == NULL || made[1] == '\0' || made[2] != ' ') {
        return false;
    }
    marker->lists = strncmp(end, list_word[kind], strlen(list_word[kind])) == 0;
    *end = '\0';
    *made = '\0';
    marker->made = made[1] == '1';
    marker->host = strtoull(made + 3, &name, 16);
    if (*name != ' ') {
        return false;
    }
    (void)snprintf(marker->name, sizeof marker->name, "%s", name + 1);
    if (hpcw_rank2file_layout_of(text, &marker->layout, NULL) != HPCW_OK) {
        return false;
    }
    return kind == HPCW_I_R2F_DROPPED ? marker->lists
                                      : hpcw_i_r2f_is_directory_name(marker->name) &&
                                            hpcw_i_r2f_bad_listed(HPCW_RANK2FILE_SCR_1_1, marker->name) == NULL;
}

/* Gets the names after the first HEAD bytes. Each ends in `ending_byte` in the file, and in a NUL in `marker`.
 * False: out of memory. */
static bool parse_names(const char *text, size_t size, char ending_byte, struct hpcw_i_r2f_marker *marker) {
    for (const char *end; (end = memchr(text, ending_byte, size)) != NULL;) {
        size_t n = (size_t)(end - text);
        bool good = n > 0 && memchr(text, '\0', n) == NULL;
        if (good &&
            (!hpcw_i_buf_append(&marker->names, text, n) || !hpcw_i_buf_append(&marker->names, "", 1))) {
            return false;
        }
        text += n + 1;
        size -= n + 1;
    }
    return true;
}

/* Gets the dataset's name in an intent, and its length with NUL. False: the intent was not written completely. */
static bool parse_dataset(const char *text, size_t size, struct hpcw_i_r2f_marker *marker, size_t *taken) {
    const char *end = memchr(text, '\0', size);
    *taken = end == NULL ? 0 : (size_t)(end - text) + 1;
    if (*taken == 0 || *taken > sizeof marker->name) {
        return false;
    }
    memcpy(marker->name, text, *taken);
    return hpcw_i_r2f_bad_listed(marker->layout, marker->name) == NULL;
}

static int read_whole(int fd, struct hpcw_i_buf *text) {
    uint64_t size = 0;
    size_t got = 0;
    int e = hpcw_i_sys_size(fd, &size);
    e = e != 0 ? e : size > LARGEST ? EFBIG : hpcw_i_buf_reserve(text, (size_t)size + HEAD + 1) ? 0 : ENOMEM;
    e = e == 0 ? hpcw_i_sys_pread(fd, text->data, (size_t)size, 0, &got) : e;
    if (e == 0) {
        memset(text->data + got, 0, HEAD + 1);
        text->size = got;
    }
    return e;
}

/* Parses a marker. HPCW_EFORMAT: no dataset is named in the marker. */
static hpcw_status parse(const struct hpcw_i_r2f_prefix *p, const char *name, int fd,
                         enum hpcw_i_r2f_marker_kind kind, struct hpcw_i_r2f_marker *marker, hpcw_error *err) {
    struct hpcw_i_buf text = {0};
    char head[HEAD + 1] = "";
    size_t at = HEAD;
    int e = read_whole(fd, &text);
    hpcw_status s =
        e == 0 ? HPCW_OK : hpcw_i_r2f_fail_below(p, e, name, "cannot read what is not finished", err);
    if (s == HPCW_OK) {
        size_t taken = 0;
        memcpy(head, text.data, HEAD);
        bool good = parse_head(head, kind, marker);
        if (good && kind == HPCW_I_R2F_DROPPED) {
            good = text.size > HEAD &&
                   parse_dataset((const char *)text.data + HEAD, text.size - HEAD, marker, &taken);
        }
        at += taken;
        s = good ? HPCW_OK
                 : hpcw_i_fail(err, HPCW_EFORMAT, "%s/%s: expected the name of a dataset, got none", p->path,
                               name);
    }
    if (s == HPCW_OK && text.size > at && marker->lists &&
        !parse_names((const char *)text.data + at, text.size - at, kind == HPCW_I_R2F_DROPPED ? '\0' : '\n',
                     marker)) {
        s = hpcw_i_fail_memory(err, p->path, 0, NULL);
    }
    hpcw_i_buf_free(&text);
    return s;
}

/* Returns whether opening a marker failed because it belongs to another user, or because it is no regular file. */
static bool is_foreign(const struct hpcw_i_r2f_prefix *p, const char *name, int e) {
    struct hpcw_i_entry entry;
    return e == EEXIST || e == ELOOP ||
           (e == EACCES && hpcw_i_below_look(p->dir, name, &entry) == 0 && entry.kind != HPCW_I_NOTHING &&
            entry.owner != geteuid());
}

hpcw_status hpcw_i_r2f_marker_read(const struct hpcw_i_r2f_prefix *p, const struct hpcw_i_r2f_which *which,
                                   struct hpcw_i_r2f_marker *marker, hpcw_error *err) {
    char name[NAME];
    int fd;
    *marker = (struct hpcw_i_r2f_marker){.made = false};
    print_name(which, name);
    int e = hpcw_i_below_open(p->dir, name, O_RDONLY, true, &fd);
    if (is_foreign(p, name, e)) {
        return hpcw_i_fail(err, HPCW_EEXIST,
                           "%s/%s: expected a file of this user, got another user's or no regular file",
                           p->path, name);
    }
    if (e != 0) {
        return hpcw_i_r2f_fail_below(p, e, name, "cannot open for reading", err);
    }
    hpcw_status s = parse(p, name, fd, which->kind, marker, err);
    (void)hpcw_i_sys_close(fd);
    return s;
}

void hpcw_i_r2f_marker_free(struct hpcw_i_r2f_marker *marker) {
    hpcw_i_buf_free(&marker->names);
}

/* ---- write ---- */

static void print_head(enum hpcw_i_r2f_marker_kind kind, const struct hpcw_i_r2f_marker *marker,
                       char text[HEAD]) {
    int size =
        snprintf(text, HEAD, "%s %d %06" PRIx64 " %.*s%s", hpcw_rank2file_layout_name(marker->layout),
                 marker->made, marker->host, kind == HPCW_I_R2F_DROPPED ? 0 : (int)HPCW_RANK2FILE_MAX_DATASET,
                 marker->name, list_word[kind]);
    memset(text + size, '\n', HEAD - (size_t)size);
}

/* Creates a marker. A file that already has the marker's name is removed, as the writer that made it is dead. */
static int create(const struct hpcw_i_r2f_prefix *p, const char *name, int *fd) {
    int e = hpcw_i_below_open(p->dir, name, O_RDWR | O_CREAT | O_EXCL, true, fd);
    if (e == EEXIST || e == ELOOP) {
        e = hpcw_i_below_unlink(p->dir, name);
        e = e == 0 || e == ENOENT ? hpcw_i_below_open(p->dir, name, O_RDWR | O_CREAT | O_EXCL, true, fd) : e;
    }
    return e;
}

/* Writes a new file and its name back to the disk. */
static int sync_new(const struct hpcw_i_r2f_prefix *p, const char *name, int fd) {
    int e = hpcw_i_sys_fsync(fd);
    return e == 0 ? hpcw_i_below_sync(p->dir, name) : e;
}

static hpcw_status fail_to_note(const struct hpcw_i_r2f_prefix *p, int e, const struct hpcw_i_r2f_which *which,
                                hpcw_error *err) {
    char name[NAME];
    print_name(which, name);
    return hpcw_i_r2f_fail_below(p, e, name,
                                 which->kind == HPCW_I_R2F_UNFINISHED
                                     ? "cannot note that the dataset is being written"
                                     : "cannot note that the dataset is being removed",
                                 err);
}

hpcw_status hpcw_i_r2f_intent_write(const struct hpcw_i_r2f_prefix *p, const struct hpcw_i_r2f_which *which,
                                    const struct hpcw_i_r2f_marker *marker, bool sync, hpcw_error *err) {
    struct hpcw_i_buf text = {0};
    char head[HEAD], name[NAME];
    int fd = -1;
    print_name(which, name);
    print_head(HPCW_I_R2F_DROPPED, marker, head);
    int e = hpcw_i_buf_append(&text, head, HEAD) &&
                    hpcw_i_buf_append(&text, marker->name, strlen(marker->name) + 1) &&
                    hpcw_i_buf_append(&text, marker->names.data, marker->names.size)
                ? create(p, name, &fd)
                : ENOMEM;
    if (e == 0) {
        e = hpcw_i_sys_pwrite(fd, text.data, text.size, 0);
        e = e == 0 && sync ? sync_new(p, name, fd) : e;
        int c = hpcw_i_sys_close(fd);
        e = e == 0 ? c : e;
    }
    hpcw_i_buf_free(&text);
    return e == 0 ? HPCW_OK : fail_to_note(p, e, which, err);
}

void hpcw_i_r2f_marker_remove(const struct hpcw_i_r2f_prefix *p, const struct hpcw_i_r2f_which *which) {
    char name[NAME];
    print_name(which, name);
    (void)hpcw_i_below_unlink(p->dir, name);
}

hpcw_status hpcw_i_r2f_markers_have(const struct hpcw_i_r2f_prefix *p,
                                    const struct hpcw_i_r2f_markers *unfinished, uint64_t id, const char *name,
                                    bool *have, hpcw_error *err) {
    const struct hpcw_i_r2f_markers of = hpcw_i_r2f_markers_of(unfinished, id);
    hpcw_status s = HPCW_OK;
    *have = false;
    for (size_t i = 0; s == HPCW_OK && !*have && i < of.count; i++) {
        struct hpcw_i_r2f_marker marker;
        hpcw_status one = hpcw_i_r2f_marker_read(p, &of.item[i], &marker, err);
        *have = one == HPCW_OK && strcmp(marker.name, name) == 0;
        hpcw_i_r2f_marker_free(&marker);
        s = one == HPCW_ENOENT || one == HPCW_EEXIST || one == HPCW_EFORMAT ? HPCW_OK : one;
    }
    return s;
}

void hpcw_i_r2f_markers_forget(const struct hpcw_i_r2f_prefix *p, const struct hpcw_i_r2f_markers *unfinished,
                               uint64_t id, const char *name) {
    const struct hpcw_i_r2f_markers of = hpcw_i_r2f_markers_of(unfinished, id);
    for (size_t i = 0; i < of.count; i++) {
        struct hpcw_i_r2f_marker marker = {.made = false};
        if (hpcw_i_r2f_marker_read(p, &of.item[i], &marker, NULL) == HPCW_OK &&
            strcmp(marker.name, name) == 0) {
            hpcw_i_r2f_marker_remove(p, &of.item[i]);
        }
        hpcw_i_r2f_marker_free(&marker);
    }
}

/* ---- a marker that grows ---- */

/* Writes to the open marker. Fails if the program closed the marker's descriptor and another file got its
 * number. */
static int put(const struct hpcw_i_r2f_marker_file *file, const void *data, size_t size, uint64_t offset) {
    int e = hpcw_i_sys_expect(file->fd, &file->id);
    return e == 0 ? hpcw_i_sys_pwrite(file->fd, data, size, offset) : e;
}

/* Opens a marker that an earlier attempt at this dataset left. Returns false if there is none. */
static bool open_earlier(const struct hpcw_i_r2f_prefix *p, const char *name,
                         const struct hpcw_i_r2f_marker *marker, struct hpcw_i_r2f_marker_file *file) {
    struct hpcw_i_r2f_marker earlier = {.made = false};
    bool same = hpcw_i_below_open(p->dir, name, O_RDWR, true, &file->fd) == 0 &&
                parse(p, name, file->fd, HPCW_I_R2F_UNFINISHED, &earlier, NULL) == HPCW_OK && earlier.lists &&
                strcmp(earlier.name, marker->name) == 0 && hpcw_i_sys_size(file->fd, &file->end) == 0;
    hpcw_i_r2f_marker_free(&earlier);
    if (!same && file->fd >= 0) {
        hpcw_i_sys_drop(file->fd);
        file->fd = -1;
    }
    return same;
}

bool hpcw_i_r2f_marker_is_held(const struct hpcw_i_r2f_prefix *p, uint64_t id) {
    const struct hpcw_i_r2f_which which = {.kind = HPCW_I_R2F_UNFINISHED, .id = id};
    char name[NAME];
    bool held = false;
    int fd;
    print_name(&which, name);
    if (hpcw_i_below_open(p->dir, name, O_RDONLY, false, &fd) == 0) {
        if (hpcw_i_sys_locked(fd, &held) != 0) {
            held = false;
        }
        (void)hpcw_i_sys_close(fd);
    }
    return held;
}

hpcw_status hpcw_i_r2f_marker_open(const struct hpcw_i_r2f_prefix *p, const struct hpcw_i_r2f_which *which,
                                   const struct hpcw_i_r2f_marker *marker, bool sync,
                                   struct hpcw_i_r2f_marker_file *file, hpcw_error *err) {
    char name[NAME];
    print_name(which, name);
    *file = (struct hpcw_i_r2f_marker_file){.fd = -1, .sync = sync, .which = *which};
    int e = 0;
    if (!open_earlier(p, name, marker, file)) {
        file->end = 0;
        e = create(p, name, &file->fd);
    }
    e = e == 0 ? hpcw_i_sys_id(file->fd, &file->id) : e;
    if (e != 0) {
        hpcw_i_sys_drop(file->fd);
        file->fd = -1;
        return fail_to_note(p, e, which, err);
    }
    /* lock the marker, too: if somebody removes the lock file, others do not see the lock on the dataset */
    (void)hpcw_i_sys_own(file->fd);
    hpcw_status s = hpcw_i_r2f_marker_set(p, file, marker, err);
    if (s == HPCW_OK && file->end <= HEAD) {
        file->end = HEAD;
    } else if (s == HPCW_OK) { /* end the earlier attempt's last name, which may be incomplete */
        e = put(file, "\n", 1, file->end++);
    }
    e = s == HPCW_OK && e == 0 && sync ? sync_new(p, name, file->fd) : e;
    s = s == HPCW_OK && e != 0 ? fail_to_note(p, e, which, err) : s;
    if (s != HPCW_OK) {
        hpcw_i_r2f_marker_close(file);
    }
    return s;
}

hpcw_status hpcw_i_r2f_marker_set(const struct hpcw_i_r2f_prefix *p, const struct hpcw_i_r2f_marker_file *file,
                                  const struct hpcw_i_r2f_marker *marker, hpcw_error *err) {
    char head[HEAD];
    print_head(HPCW_I_R2F_UNFINISHED, marker, head);
    int e = put(file, head, HEAD, 0);
    return e == 0 ? HPCW_OK : fail_to_note(p, e, &file->which, err);
}

hpcw_status hpcw_i_r2f_marker_append(const struct hpcw_i_r2f_prefix *p, struct hpcw_i_r2f_marker_file *file,
                                     const char *name, hpcw_error *err) {
    /* a name, perhaps a slash (see `note` in file.c), a line feed and a NUL */
    char line[HPCW_RANK2FILE_MAX_NAME + 3];
    int n = snprintf(line, sizeof line, "%s\n", name);
    int e = n < 0 || (size_t)n >= sizeof line ? ENAMETOOLONG : put(file, line, (size_t)n, file->end);
    e = e == 0 && file->sync ? hpcw_i_sys_fsync(file->fd) : e;
    if (e != 0) {
        return fail_to_note(p, e, &file->which, err);
    }
    file->end += (uint64_t)n;
    return HPCW_OK;
}

void hpcw_i_r2f_marker_close(struct hpcw_i_r2f_marker_file *file) {
    if (file->fd >= 0 && hpcw_i_sys_is_still(file->fd, &file->id)) {
        /* A child process may have a copy of the descriptor, so closing it would not release the lock. */
        (void)hpcw_i_sys_unlock(file->fd);
        hpcw_i_sys_drop(file->fd);
    }
    file->fd = -1;
}
