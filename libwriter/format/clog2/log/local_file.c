/* SPDX-License-Identifier: BSD-3-Clause */
/* The local file, which holds every record from the moment at which it is made. */
#include "libwriter/format/clog2/log/local_file.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/shown.h"
#include "libwriter/base/status.h"
#include "libwriter/io/fsinfo.h"
#include "libwriter/io/sys.h"

enum { TABLE_STEP = 65536, TAG_DIGITS = 16 };

#define SUFFIX ".local"

/* ------------------------------------------------------------------------------------------------------------
 *  Windows
 * --------------------------------------------------------------------------------------------------------- */

/* Checks that the descriptor is still that of the local file; EBADF if not. Some programs close descriptors that
 * they do not know. A file that the program opens next may get the same descriptor, and must not be written to. */
static int expect_own(const hpcw_clog2_log *log) {
    return hpcw_i_sys_expect(log->local.fd, &log->local.id);
}

static bool is_own(const hpcw_clog2_log *log) {
    return expect_own(log) == 0;
}

/* Stops using the local file after a failure. The caller holds the lock. */
static void give_up(hpcw_clog2_log *log, int e, const char *what, uint64_t offset) {
    if (log->local.disk.code == HPCW_OK) {
        (void)hpcw_i_fail_sys(&log->local.disk, e, "%s: %s at offset %" PRIu64, log->local.path, what, offset);
    }
}

/* Stores a word of the file's head, for a reader after the end of this process. The caller holds the lock. */
static void note_in_head(const hpcw_clog2_log *log, size_t offset, uint64_t value) {
    if (log->local.fd >= 0 && is_own(log)) {
        (void)hpcw_i_sys_pwrite(log->local.fd, &value, sizeof value, offset);
    }
}

void hpcw_i_clog2_local_in_memory(const hpcw_clog2_log *log) {
    note_in_head(log, offsetof(struct hpcw_i_clog2_local_head, in_memory), 1);
}

/* Notes, also in the head of the file, that the file has space up to offset `end`. At the first call there is no
 * head yet. */
static void note_made(hpcw_clog2_log *log, uint64_t end) {
    const bool has_head = log->local.made > 0;
    if (end > log->local.made) {
        log->local.made = end;
        if (has_head) {
            note_in_head(log, offsetof(struct hpcw_i_clog2_local_head, made), end);
        }
    }
}

/* Allocates the first `size` bytes of a window before it is mapped. So a full disk is an error here, and not a
 * signal at a later store. On file systems that overwrite in place, all later stores have space then. */
static int make_window(int fd, uint64_t offset, size_t size, struct hpcw_i_clog2_window *window) {
    void *base = NULL;
    int e = hpcw_i_sys_allocate(fd, offset, size);
    if (e == 0) {
        e = hpcw_i_sys_map(fd, offset, HPCW_I_CLOG2_CHUNK_BYTES, &base);
    }
    *window = (struct hpcw_i_clog2_window){base, offset};
    return e;
}

/*
 * Writes zeros into all pages of a window before a recording thread needs them. One call writes all pages, so that
 * a file system with large pages uses them. On ext4 this takes a third of the time of 512 single stores, on other
 * file systems the same time.
 */
static int prepare(int fd, const struct hpcw_i_clog2_window *window) {
    enum { PIECE = HPCW_I_CLOG2_CHUNK_BYTES / HPCW_I_SYS_PIECES };
    static const unsigned char zeros[PIECE];
    struct hpcw_i_piece piece[HPCW_I_SYS_PIECES];
    for (int i = 0; i < HPCW_I_SYS_PIECES; i++) {
        piece[i] = (struct hpcw_i_piece){zeros, PIECE};
    }
    int e = hpcw_i_sys_pwritev(fd, piece, HPCW_I_SYS_PIECES, window->offset);
    return e != 0 ? e : hpcw_i_sys_populate(window->base, HPCW_I_CLOG2_CHUNK_BYTES);
}

bool hpcw_i_clog2_local_make(hpcw_clog2_log *log, struct hpcw_i_clog2_window *window) {
    uint64_t offset = log->local.size;
    log->local.size += HPCW_I_CLOG2_CHUNK_BYTES;
    (void)pthread_mutex_unlock(&log->lock);
    int e = expect_own(log);
    e = e == 0 ? make_window(log->local.fd, offset, HPCW_I_CLOG2_CHUNK_BYTES, window) : e;
    if (e == 0) {
        e = prepare(log->local.fd, window);
        if (e != 0) {
            hpcw_i_sys_unmap(window->base, HPCW_I_CLOG2_CHUNK_BYTES);
        }
    }
    (void)pthread_mutex_lock(&log->lock);
    if (e != 0) {
        give_up(log, e, "cannot get space for records", offset);
    } else {
        note_made(log, offset + HPCW_I_CLOG2_CHUNK_BYTES);
    }
    return e == 0;
}

/* ------------------------------------------------------------------------------------------------------------
 *  The table of definitions and communicators
 * --------------------------------------------------------------------------------------------------------- */

/* Returns space for `size` more bytes of the table, which are 0; NULL: no space. After the first failure the file
 * no longer grows, but space that is already allocated for the table is used. The caller holds the lock. */
static unsigned char *table_space(hpcw_clog2_log *log, size_t size) {
    int e;
    bool fits = log->local.table.base != NULL && log->local.table_used + size <= log->local.table_allocated;
    if (!fits && log->local.disk.code != HPCW_OK) {
        return NULL;
    }
    e = fits ? 0 : expect_own(log);
    if (e != 0) {
        give_up(log, e, "cannot get space for definitions", log->local.size);
        return NULL;
    }
    if (log->local.table.base == NULL || log->local.table_used + size > HPCW_I_CLOG2_CHUNK_BYTES) {
        struct hpcw_i_clog2_window window;
        e = make_window(log->local.fd, log->local.size, TABLE_STEP, &window);
        if (e == 0) {
            if (log->local.table.base != NULL) {
                hpcw_i_sys_unmap(log->local.table.base, HPCW_I_CLOG2_CHUNK_BYTES);
            }
            log->local.table = window;
            log->local.table_used = 0;
            log->local.table_allocated = TABLE_STEP;
            log->local.size += HPCW_I_CLOG2_CHUNK_BYTES;
        }
    } else if (!fits) {
        e = hpcw_i_sys_allocate(log->local.fd, log->local.table.offset + log->local.table_allocated,
                                TABLE_STEP);
        log->local.table_allocated += e == 0 ? TABLE_STEP : 0;
    }
    if (e != 0) {
        give_up(log, e, "cannot get space for definitions",
                log->local.table.offset + log->local.table_allocated);
        return NULL;
    }
    note_made(log, log->local.table.offset + log->local.table_allocated);
    unsigned char *p = log->local.table.base + log->local.table_used;
    log->local.table_used += size;
    return p;
}

/* Stores the head of a file or piece, with its tag last, as local_file.h demands. */
static void put_tagged(unsigned char *to, const void *head, size_t size) {
    memcpy(to + sizeof(uint64_t), (const char *)head + sizeof(uint64_t), size - sizeof(uint64_t));
    __atomic_signal_fence(__ATOMIC_RELEASE);
    memcpy(to, head, sizeof(uint64_t));
}

static void put_piece(hpcw_clog2_log *log, uint32_t kind, const void *data, size_t size) {
    const struct hpcw_i_clog2_piece_head head = {
        .tag = HPCW_I_CLOG2_PIECE_TAG, .kind = kind, .size = (uint32_t)size};
    unsigned char *to = log->local.fd >= 0 ? table_space(log, sizeof head + size) : NULL;
    if (to != NULL) {
        memcpy(to + sizeof head, data, size);
        put_tagged(to, &head, sizeof head);
    }
}

void hpcw_i_clog2_local_note(hpcw_clog2_log *log) {
    for (; log->local.definitions_written < log->definitions; log->local.definitions_written++) {
        put_piece(log, HPCW_I_CLOG2_PIECE_DEFINITIONS, &log->definition[log->local.definitions_written],
                  sizeof *log->definition);
    }
    for (; log->local.knowns_written < log->knowns; log->local.knowns_written++) {
        put_piece(log, HPCW_I_CLOG2_PIECE_COMMS, &log->known[log->local.knowns_written], sizeof *log->known);
    }
}

void hpcw_i_clog2_local_offer(hpcw_clog2_log *log, const struct hpcw_i_clog2_definition *state) {
    put_piece(log, HPCW_I_CLOG2_PIECE_OFFERED, state, sizeof *state);
}

/* ------------------------------------------------------------------------------------------------------------
 *  The file
 * --------------------------------------------------------------------------------------------------------- */

/* Prints the path of a local file of a run. `which` is a process or a pattern. */
static int print_path(const hpcw_clog2_log *log, const char *tag, const char *which, char *to, size_t size) {
    return snprintf(to, size, "%s/%s.%s.%s" SUFFIX, log->directory, log->name, tag, which);
}

static const char *local_name(const hpcw_clog2_log *log) {
    return strrchr(log->local.path, '/') + 1;
}

static void print_tag(const hpcw_clog2_log *log, char tag[TAG_DIGITS + 1]) {
    (void)snprintf(tag, TAG_DIGITS + 1, "%016" PRIx64, log->tag);
}

void hpcw_i_clog2_local_create(hpcw_clog2_log *log) {
    if (log->directory == NULL) {
        return;
    }
    if (hpcw_i_fs_overwrites(NULL, log->directory, &log->local.disk) != HPCW_OK) {
        return;
    }
    char tag[TAG_DIGITS + 1], process[16];
    print_tag(log, tag);
    (void)snprintf(process, sizeof process, "%06" PRIu32, log->rank);
    size_t size = (size_t)print_path(log, tag, process, NULL, 0) + 1;
    log->local.path = hpcw_i_malloc(size);
    if (log->local.path == NULL) {
        (void)hpcw_i_fail_memory(&log->local.disk, log->path, 0, NULL);
        return;
    }
    (void)print_path(log, tag, process, log->local.path, size);
    int at;
    int e = log->local_dir == NULL ? log->local_dir_error : hpcw_i_dir_fd(log->local_dir, &at);
    e = e == 0 ? hpcw_i_sys_open_at(at, local_name(log), O_RDWR | O_CREAT | O_EXCL, 0600, &log->local.fd) : e;
    if (e == 0) {
        e = hpcw_i_sys_id(log->local.fd, &log->local.id);
        if (e != 0) {
            (void)hpcw_i_sys_unlink_at(at, local_name(log), 0);
            hpcw_i_sys_drop(log->local.fd);
            log->local.fd = -1;
        }
    }
    if (e != 0) {
        (void)hpcw_i_fail_sys(&log->local.disk, e, "%s: cannot create", log->local.path);
        return;
    }
    (void)hpcw_i_sys_lock(log->local.fd, 0); /* shows that this process is alive, where locks work */
    struct hpcw_i_clog2_local_head head;
    memset(&head, 0, sizeof head);
    head.tag = HPCW_I_CLOG2_LOCAL_TAG;
    head.run = log->tag;
    head.rank = log->rank;
    head.ranks = log->ranks;
    head.block_size = log->options.block_size;
    head.window = HPCW_I_CLOG2_CHUNK_BYTES;
    head.ticks = log->clocks.ticks;
    head.host = hpcw_i_sys_host();
    unsigned char *to = table_space(log, sizeof head);
    if (to == NULL) {
        hpcw_i_clog2_local_close(log, true);
        return;
    }
    head.made = log->local.made;
    put_tagged(to, &head, sizeof head);
    hpcw_i_clog2_local_note(log);
}

void hpcw_i_clog2_local_close(hpcw_clog2_log *log, bool remove) {
    if (log->local.table.base != NULL) {
        hpcw_i_sys_unmap(log->local.table.base, HPCW_I_CLOG2_CHUNK_BYTES);
        log->local.table.base = NULL;
    }
    if (log->local.fd < 0) {
        return;
    }
    int at;
    if (remove && hpcw_i_dir_fd(log->local_dir, &at) == 0 &&
        hpcw_i_sys_is_at(at, local_name(log), &log->local.id)) {
        (void)hpcw_i_sys_unlink_at(at, local_name(log), 0);
    }
    if (is_own(log)) {
        (void)hpcw_i_sys_close(log->local.fd);
    }
    log->local.fd = -1;
}

/* ------------------------------------------------------------------------------------------------------------
 *  Local files that a run leaves
 * --------------------------------------------------------------------------------------------------------- */

/* Prints a pattern for the local files of this run, as a word of a shell command. If a shell cannot take the names
 * of the log or of the directory, the pattern contains only the run's tag. False: the word does not fit. */
static bool print_files(const hpcw_clog2_log *log, char *to, size_t size) {
    char path[PATH_MAX], word[PATH_MAX + 64], tag[TAG_DIGITS + 1];
    print_tag(log, tag);
    int n = snprintf(path, sizeof path, "%s/%s.%s.", log->directory, log->name, tag);
    if (n < 0 || (size_t)n >= sizeof path) {
        return false;
    }
    const char *files = hpcw_i_shown_word(word, sizeof word, path, NULL);
    if (files != NULL) {
        n = snprintf(to, size, "%s*" SUFFIX, files);
    } else {
        n = snprintf(to, size, "%s/*.%s.*" SUFFIX, hpcw_i_shown_word(word, sizeof word, log->directory, "DIR"),
                     tag);
    }
    return n >= 0 && (size_t)n < size;
}

void hpcw_i_clog2_local_hint(const hpcw_clog2_log *log, uint64_t files, uint64_t unsaved, hpcw_error *err) {
    char except[80] = "", text[200], pattern[sizeof err->message], word[sizeof err->message];
    size_t length = strlen(err->message), room = sizeof err->message - length;
    if (log->directory == NULL || files == 0) {
        return;
    }
    if (unsaved > 0) {
        (void)snprintf(except, sizeof except, ", except those of %" PRIu64 " thread%s, which were in memory",
                       unsaved, unsaved == 1 ? "" : "s");
    }
    /* A process without records leaves no file. */
    (void)snprintf(text, sizeof text, "; the records are still there%s: hpcgen recover%s --output ", except,
                   files < log->ranks || unsaved > 0 ? " --partial" : "");
    const char *output = hpcw_i_shown_word(word, sizeof word, hpcw_i_sys_base_of(log->path), "LOG");
    if (print_files(log, pattern, sizeof pattern) &&
        strlen(text) + strlen(output) + strlen(pattern) + 2 <= room) { /* half a command would be no help */
        (void)snprintf(err->message + length, room, "%s%s %s", text, output, pattern);
    }
}

/* Returns whether `name` is that of a local file of this log, from another run. *tag becomes the run's tag inside
 * the name. */
static bool is_of_other_run(const hpcw_clog2_log *log, const char *name, const char **tag) {
    static const char digits[] = "0123456789abcdef";
    const char *base = log->name;
    size_t length = strlen(base);
    char own[TAG_DIGITS + 1];
    print_tag(log, own);
    *tag = name + length + 1;
    if (strncmp(name, base, length) != 0 || name[length] != '.' || strspn(*tag, digits) != TAG_DIGITS ||
        strncmp(*tag, own, TAG_DIGITS) == 0) {
        return false;
    }
    const char *process = *tag + TAG_DIGITS;
    size_t number = process[0] == '.' ? strspn(process + 1, digits) : 0;
    return number >= 6 && strcmp(process + 1 + number, SUFFIX) == 0;
}

/* Returns whether the process that made a file is known to be dead. False for a process of another host, as its
 * locks may not be visible here. */
static bool is_left(int at, const char *name) {
    struct hpcw_i_clog2_local_head head;
    size_t got;
    int fd;
    bool locked = true;
    if (hpcw_i_sys_open_own(at, name, O_RDONLY, false, &fd) != 0) {
        return false;
    }
    int e = hpcw_i_sys_pread(fd, &head, sizeof head, 0, &got);
    bool ours = e == 0 && got == sizeof head && head.host != 0 && head.host == hpcw_i_sys_host();
    e = ours ? hpcw_i_sys_locked(fd, &locked) : e;
    (void)hpcw_i_sys_close(fd);
    return e == 0 && !locked;
}

bool hpcw_clog2_log_left(const hpcw_clog2_log *log, char *pattern, size_t size) {
    struct hpcw_i_listing *listing;
    int at;
    if (log == NULL || log->local_dir == NULL || hpcw_i_dir_fd(log->local_dir, &at) != 0 ||
        hpcw_i_sys_list_at(at, ".", &listing) != 0) {
        return false;
    }
    char first[TAG_DIGITS + 1] = "~"; /* sorts after all digits */
    const char *name, *tag;
    while (hpcw_i_sys_list_next(listing, &name) == 0 && name != NULL) {
        if (is_of_other_run(log, name, &tag) && strncmp(tag, first, TAG_DIGITS) < 0 && is_left(at, name)) {
            memcpy(first, tag, TAG_DIGITS);
            first[TAG_DIGITS] = '\0';
        }
    }
    hpcw_i_sys_list_free(listing);
    return first[0] != '~' && (size_t)print_path(log, first, "*", pattern, size) < size;
}
