/* SPDX-License-Identifier: BSD-3-Clause */
/* Sinks: after the same writes, every kind of sink has the same bytes. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <hpcw/sink.h>

#include "libwriter/io/sink.h"
#include "libwriter/io/sys.h"
#include "tests/support/files.h"
#include "tests/support/random.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static char path[512];

static int set_up(void **state) {
    (void)scratch_set_up(state);
    (void)snprintf(path, sizeof path, "%s/file", scratch);
    return 0;
}

static int tear_down(void **state) {
    hpcw_i_sys_gate = NULL;
    return scratch_tear_down(state);
}

static hpcw_sink *open_private(hpcw_durability durability) {
    hpcw_sink *sink;
    assert_int_equal(hpcw_sink_open_file(path, durability, &sink, NULL), HPCW_OK);
    return sink;
}

static hpcw_sink *open_limited(hpcw_sink *inner, uint64_t total, size_t call) {
    hpcw_sink *sink;
    assert_int_equal(hpcw_sink_open_limited(inner, total, call, &sink, NULL), HPCW_OK);
    return sink;
}

static hpcw_sink *open_memory(void) {
    hpcw_sink *sink;
    assert_int_equal(hpcw_sink_open_memory(&sink, NULL), HPCW_OK);
    return sink;
}

static void put(const char *text) {
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static void assert_content(const char *want) {
    size_t size = 0;
    unsigned char *got = read_file(path, &size);
    assert_non_null(got);
    assert_int_equal(size, strlen(want));
    assert_memory_equal(got, want, size);
    free(got);
}

/* ---- twins ---- */

static size_t longest_call;

static int short_calls(enum hpcw_i_sys_call call, size_t *size) {
    if (call == HPCW_I_SYS_PWRITE && *size > longest_call) {
        *size = longest_call;
    }
    return 0;
}

/* Makes reproducible writes of all lengths, at once and in pieces, with gaps and overlaps, and a truncation at
 * the end. */
static void write_some(hpcw_sink *sink) {
    uint64_t rng = 3;
    unsigned char data[700];
    for (unsigned i = 0; i < 100; i++) {
        size_t n = (size_t)random_below(&rng, sizeof data);
        uint64_t at = random_below(&rng, 20000);
        for (size_t k = 0; k < n; k++) {
            data[k] = (unsigned char)random_word(&rng);
        }
        if (i % 2 == 0) {
            assert_int_equal(hpcw_sink_write_at(sink, at, data, n, NULL), HPCW_OK);
        } else {
            struct hpcw_i_piece piece[5]; /* pieces may be empty */
            size_t cut = 0;
            for (size_t k = 0; k < COUNT(piece); k++) {
                size_t size = k + 1 < COUNT(piece) ? (size_t)random_below(&rng, n - cut + 1) : n - cut;
                piece[k] = (struct hpcw_i_piece){size == 0 ? NULL : data + cut, size};
                cut += size;
            }
            assert_int_equal(hpcw_i_sink_write(sink, at, piece, COUNT(piece), NULL), HPCW_OK);
        }
    }
    struct hpcw_i_piece again[150]; /* more pieces than one system call takes, all in the same memory */
    for (size_t k = 0; k < COUNT(again); k++) {
        again[k] = (struct hpcw_i_piece){"+-", k % 3};
    }
    assert_int_equal(hpcw_i_sink_write(sink, 22000, again, COUNT(again), NULL), HPCW_OK);
    assert_int_equal(hpcw_sink_set_size(sink, 25000, NULL), HPCW_OK);
    assert_int_equal(hpcw_sink_write_at(sink, 24990, "behind the end of it", 20, NULL), HPCW_OK);
    assert_int_equal(hpcw_sink_set_size(sink, 24999, NULL), HPCW_OK);
    assert_int_equal(hpcw_sink_set_size(sink, 25020, NULL), HPCW_OK);
    assert_int_equal(hpcw_sink_sync(sink, NULL), HPCW_OK);
}

static void all_kinds_hold_the_same(void **state) {
    (void)state;
    hpcw_sink *memory = open_memory();
    write_some(memory);
    size_t want_size = 0;
    const unsigned char *want = hpcw_sink_memory_data(memory, &want_size);
    assert_int_equal(want_size, 25020);
    assert_memory_equal(want + 24985, "\0\0\0\0\0behind th\0\0\0", 17);
    for (size_t k = 0; k < 50; k++) {
        assert_memory_equal(want + 22000 + 3 * k, "++-", 3);
    }
    for (int kind = 0; kind < 6; kind++) {
        hpcw_sink *sink;
        if (kind == 1) {
            assert_int_equal(hpcw_sink_open_shared_file(path, 9, true, HPCW_SYNC_NONE, &sink, NULL), HPCW_OK);
        } else {
            sink = open_private((hpcw_durability)(kind % 3));
        }
        if (kind == 2 || kind == 3) {
            sink = open_limited(sink, UINT64_MAX, kind == 2 ? 1 : 100);
        } else if (kind >= 4) {
            longest_call = kind == 4 ? 1 : 97;
            hpcw_i_sys_gate = short_calls;
        }
        write_some(sink);
        hpcw_i_sys_gate = NULL;
        assert_int_equal(access(path, F_OK), -1);
        assert_int_equal(hpcw_sink_publish(sink, NULL), HPCW_OK);
        hpcw_sink_free(sink);
        size_t size = 0;
        unsigned char *got = read_file(path, &size);
        assert_non_null(got);
        assert_true(same_bytes("twin", want, want_size, got, size));
        free(got);
        assert_int_equal(count_entries(scratch), 1);
        assert_int_equal(unlink(path), 0);
    }
    /* Two sinks write a part each. */
    hpcw_sink *hand[2];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(hpcw_sink_open_shared_file(path, 11, i == 0, HPCW_SYNC_FILE, &hand[i], NULL), HPCW_OK);
    }
    assert_int_equal(count_entries(scratch), 1);
    for (size_t at = 0; at < want_size; at += 100) {
        size_t n = want_size - at < 100 ? want_size - at : 100;
        assert_int_equal(hpcw_sink_write_at(hand[at / 100 % 2], at, want + at, n, NULL), HPCW_OK);
    }
    assert_int_equal(hpcw_sink_detach(hand[1], NULL), HPCW_OK);
    assert_int_equal(hpcw_sink_write_at(hand[1], 0, "x", 1, NULL), HPCW_ESTATE);
    assert_int_equal(hpcw_sink_publish(hand[0], NULL), HPCW_OK);
    hpcw_sink_free(hand[0]);
    hpcw_sink_free(hand[1]);
    size_t size = 0;
    unsigned char *got = read_file(path, &size);
    assert_true(got != NULL && same_bytes("two hands", want, want_size, got, size));
    free(got);
    hpcw_sink_free(memory);
}

/* ---- life ---- */

static void nothing_has_the_name_before_publish(void **state) {
    (void)state;
    put("older");
    hpcw_sink *sink = open_private(HPCW_SYNC_FILE);
    assert_int_equal(hpcw_sink_write_at(sink, 0, "newer", 5, NULL), HPCW_OK);
    assert_content("older");
    assert_int_equal(count_entries(scratch), 2);
    assert_int_equal(hpcw_sink_publish(sink, NULL), HPCW_OK);
    assert_content("newer");
    assert_int_equal(count_entries(scratch), 1);
    hpcw_error err;
    assert_int_equal(hpcw_sink_publish(sink, &err), HPCW_ESTATE);
    assert_int_equal(hpcw_sink_write_at(sink, 0, "x", 1, &err), HPCW_ESTATE);
    assert_int_equal(hpcw_sink_set_size(sink, 0, &err), HPCW_ESTATE);
    assert_int_equal(hpcw_sink_sync(sink, &err), HPCW_ESTATE);
    assert_int_equal(hpcw_sink_detach(sink, &err), HPCW_ESTATE);
    hpcw_sink_discard(sink); /* no effect after publishing */
    hpcw_sink_free(sink);
    assert_content("newer");
}

static void what_is_not_published_disappears(void **state) {
    (void)state;
    put("older");
    hpcw_sink *sink = open_private(HPCW_SYNC_NONE);
    hpcw_sink_free(sink);
    sink = open_private(HPCW_SYNC_NONE);
    hpcw_sink_discard(sink);
    assert_int_equal(count_entries(scratch), 1);
    assert_int_equal(hpcw_sink_write_at(sink, 0, "x", 1, NULL), HPCW_ESTATE);
    assert_int_equal(hpcw_sink_publish(sink, NULL), HPCW_ESTATE);
    hpcw_sink_discard(sink);
    hpcw_sink_free(sink);
    assert_int_equal(count_entries(scratch), 1);
    assert_content("older");
    /* Other processes may use a shared file. hpcw_sink_free therefore keeps it, and hpcw_sink_discard removes
     * it. */
    hpcw_sink *hand[2];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(hpcw_sink_open_shared_file(path, 3, i == 0, HPCW_SYNC_NONE, &hand[i], NULL), HPCW_OK);
    }
    hpcw_sink_free(hand[0]);
    assert_int_equal(count_entries(scratch), 2);
    hpcw_sink_discard(hand[1]);
    assert_int_equal(count_entries(scratch), 1);
    hpcw_sink_free(hand[1]);
    hpcw_sink_discard(NULL);
    hpcw_sink_free(NULL);
}

static void the_file_of_another_run_stays(void **state) {
    (void)state;
    hpcw_sink *sink = open_private(HPCW_SYNC_NONE);
    hpcw_sink *other = open_private(HPCW_SYNC_NONE);
    assert_int_equal(hpcw_sink_publish(sink, NULL), HPCW_OK);
    assert_int_equal(hpcw_sink_write_at(other, 0, "other", 5, NULL), HPCW_OK);
    assert_int_equal(hpcw_sink_publish(other, NULL), HPCW_OK);
    hpcw_i_sink_withdraw(sink);
    assert_content("other");
    hpcw_i_sink_withdraw(other);
    assert_int_equal(access(path, F_OK), -1);
    hpcw_sink_free(sink);
    hpcw_sink_free(other);
}

static enum hpcw_i_sys_call interrupted_call;
static unsigned interruptions;

static int interrupt_twice(enum hpcw_i_sys_call call, size_t *size) {
    (void)size;
    return call == interrupted_call && interruptions < 2 ? (interruptions++, EINTR) : 0;
}

static void interrupted_calls_are_made_again(void **state) {
    (void)state;
    static const enum hpcw_i_sys_call calls[] = {HPCW_I_SYS_RENAME, HPCW_I_SYS_RENAME, HPCW_I_SYS_UNLINK,
                                                 HPCW_I_SYS_MKDIR, HPCW_I_SYS_RMDIR};
    char other[600];
    (void)snprintf(other, sizeof other, "%s.other", path);
    put("x");
    for (size_t i = 0; i < COUNT(calls); i++) {
        interrupted_call = calls[i];
        interruptions = 0;
        hpcw_i_sys_gate = interrupt_twice;
        int e = i == 0   ? hpcw_i_sys_rename(path, other)
                : i == 1 ? hpcw_i_sys_rename_new_at(AT_FDCWD, other, path)
                : i == 2 ? hpcw_i_sys_unlink(path)
                : i == 3 ? hpcw_i_sys_mkdir(path, 0777)
                         : hpcw_i_sys_rmdir(path);
        hpcw_i_sys_gate = NULL;
        assert_int_equal(e, 0);
        assert_int_equal(interruptions, 2);
    }
}

static void locks_end_with_their_file(void **state) {
    (void)state;
    int fd[2];
    bool held = true;
    struct hpcw_i_file_id id;
    put("x");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(hpcw_i_sys_open(path, O_RDWR, 0, &fd[i]), 0);
    }
    assert_int_equal(hpcw_i_sys_locked(fd[1], &held), 0);
    assert_false(held);
    assert_int_equal(hpcw_i_sys_lock(fd[0], 0), 0);
    assert_int_equal(hpcw_i_sys_lock(fd[1], 0), EAGAIN);
    assert_int_equal(hpcw_i_sys_locked(fd[1], &held), 0);
    assert_true(held);
    assert_int_equal(hpcw_i_sys_close(fd[0]), 0);
    assert_int_equal(hpcw_i_sys_lock(fd[1], 0), 0);
    assert_int_equal(hpcw_i_sys_id(fd[1], &id), 0);
    assert_true(hpcw_i_sys_is_at(AT_FDCWD, path, &id));
    assert_int_equal(hpcw_i_sys_unlink(path), 0);
    assert_false(hpcw_i_sys_is_at(AT_FDCWD, path, &id));
    put("y");
    assert_false(hpcw_i_sys_is_at(AT_FDCWD, path, &id));
    assert_int_equal(hpcw_i_sys_rename_new_at(AT_FDCWD, path, scratch), EEXIST);
    assert_int_equal(hpcw_i_sys_close(fd[1]), 0);
}

/* A process opens a shared file that another process created. If it does not see that file, the open fails. */
static void who_creates_a_shared_file(void **state) {
    (void)state;
    hpcw_sink *sink[2];
    hpcw_error err;
    assert_int_equal(hpcw_sink_open_shared_file(path, 77, false, HPCW_SYNC_NONE, &sink[1], &err),
                     HPCW_EMISMATCH);
    assert_non_null(strstr(err.message, "expected the same directory on all processes"));
    assert_null(sink[1]);
    assert_int_equal(count_entries(scratch), 0); /* the failed open created no file */
    assert_int_equal(hpcw_sink_open_shared_file(path, 77, true, HPCW_SYNC_NONE, &sink[0], NULL), HPCW_OK);
    assert_int_equal(hpcw_sink_open_shared_file(path, 78, false, HPCW_SYNC_NONE, &sink[1], NULL),
                     HPCW_EMISMATCH);
    assert_int_equal(hpcw_sink_open_shared_file(path, 77, false, HPCW_SYNC_NONE, &sink[1], NULL), HPCW_OK);
    hpcw_sink_discard(sink[1]);
    assert_int_equal(count_entries(scratch), 1); /* the file stays: its creator may still publish it */
    /* No process wrote the first 8 bytes, so they are zeros. */
    assert_int_equal(hpcw_sink_write_at(sink[0], 8, "x", 1, NULL), HPCW_OK);
    assert_int_equal(hpcw_sink_publish(sink[0], NULL), HPCW_OK);
    hpcw_sink_free(sink[0]);
    hpcw_sink_free(sink[1]);
    size_t size = 0;
    unsigned char *got = read_file(path, &size);
    assert_true(got != NULL && same_bytes("zeros", (const unsigned char *)"\0\0\0\0\0\0\0\0x", 9, got, size));
    free(got);
}

static bool one_temporary(const char *want_in_it) {
    DIR *d = opendir(scratch);
    struct dirent *entry;
    unsigned found = 0;
    while (d != NULL && (entry = readdir(d)) != NULL) {
        found += hpcw_i_sink_is_temporary(entry->d_name) && strstr(entry->d_name, want_in_it) != NULL;
    }
    return d != NULL && closedir(d) == 0 && found == 1;
}

static void temporary_names(void **state) {
    (void)state;
    char target[600];
    char base[256];
    for (size_t size = 1; size < 256; size++) {
        /* Characters of two bytes, none of which is split. */
        for (size_t i = 0; i < size; i++) {
            base[i] = i + 1 == size && size % 2 == 1 ? 'x' : i % 2 == 0 ? '\xc3' : '\xa4';
        }
        base[size] = '\0';
        (void)snprintf(target, sizeof target, "%s/%s", scratch, base);
        hpcw_sink *sink;
        assert_int_equal(hpcw_sink_open_file(target, HPCW_SYNC_NONE, &sink, NULL), HPCW_OK);
        char want[300];
        (void)snprintf(want, sizeof want, size <= 96 ? "-%s.tmp" : "-%.78s~", base);
        assert_true(one_temporary(want));
        hpcw_sink_free(sink);
    }
    static const char *const others[] = {".hpcw-notes.tmp",
                                         ".hpcw-0123456789abcdef.tmp",
                                         ".hpcw-0123456789abcdef-.tmp",
                                         ".hpcw-0123456789abcdeF-x.tmp",
                                         ".hpcw-0123456789abcdef-x.txt",
                                         ""};
    for (size_t i = 0; i < COUNT(others); i++) {
        assert_false(hpcw_i_sink_is_temporary(others[i]));
    }
    assert_true(hpcw_i_sink_is_temporary(".hpcw-0123456789abcdef-x.tmp"));
}

static void a_name_can_be_taken_back(void **state) {
    (void)state;
    hpcw_sink *sink = open_limited(open_private(HPCW_SYNC_NONE), UINT64_MAX, 0);
    hpcw_i_sink_withdraw(sink); /* no effect: the file has no final name yet */
    assert_int_equal(hpcw_sink_publish(sink, NULL), HPCW_OK);
    assert_int_equal(access(path, F_OK), 0);
    hpcw_i_sink_withdraw(sink);
    assert_int_equal(count_entries(scratch), 0);
    put("somebody else's");
    hpcw_i_sink_withdraw(sink);
    hpcw_sink_free(sink);
    assert_content("somebody else's");
    hpcw_i_sink_withdraw(NULL);
}

static int fsyncs;
static int directories;

static int count_fsyncs(enum hpcw_i_sys_call call, size_t *size) {
    (void)size;
    fsyncs += call == HPCW_I_SYS_FSYNC;
    directories += call == HPCW_I_SYS_OPEN;
    return 0;
}

static void durability_is_what_was_asked(void **state) {
    (void)state;
    for (int durability = HPCW_SYNC_NONE; durability <= HPCW_SYNC_DIRECTORY; durability++) {
        for (int shared = 0; shared < 2; shared++) {
            hpcw_sink *sink;
            assert_int_equal(
                shared ? hpcw_sink_open_shared_file(path, 5, true, (hpcw_durability)durability, &sink, NULL)
                       : hpcw_sink_open_file(path, (hpcw_durability)durability, &sink, NULL),
                HPCW_OK);
            fsyncs = directories = 0;
            hpcw_i_sys_gate = count_fsyncs;
            assert_int_equal(hpcw_sink_publish(sink, NULL), HPCW_OK);
            hpcw_i_sys_gate = NULL;
            assert_int_equal(fsyncs, durability);
            assert_int_equal(directories, durability == HPCW_SYNC_DIRECTORY);
            hpcw_sink_free(sink);
        }
        hpcw_sink *sink;
        assert_int_equal(hpcw_sink_open_shared_file(path, 5, true, (hpcw_durability)durability, &sink, NULL),
                         HPCW_OK);
        fsyncs = 0;
        hpcw_i_sys_gate = count_fsyncs;
        assert_int_equal(hpcw_sink_detach(sink, NULL), HPCW_OK);
        hpcw_i_sys_gate = NULL;
        assert_int_equal(fsyncs, durability > HPCW_SYNC_NONE);
        hpcw_sink_free(sink);
        /* An unpublished shared file is removed by hpcw_sink_discard. */
        assert_int_equal(hpcw_sink_open_shared_file(path, 5, false, HPCW_SYNC_NONE, &sink, NULL), HPCW_OK);
        hpcw_sink_discard(sink);
        hpcw_sink_free(sink);
    }
    assert_int_equal(count_entries(scratch), 1);
}

/* ---- refusals ---- */

static void assert_refused(const char *target, hpcw_status want, const char *what) {
    hpcw_error err = {.message = ""};
    hpcw_sink *sink = (hpcw_sink *)&err;
    assert_int_equal(hpcw_sink_open_file(target, HPCW_SYNC_NONE, &sink, &err), want);
    assert_null(sink);
    assert_int_equal(err.code, want);
    assert_non_null(strstr(err.message, what));
    sink = (hpcw_sink *)&err;
    assert_int_equal(hpcw_sink_open_shared_file(target, 1, true, HPCW_SYNC_NONE, &sink, &err), want);
    assert_null(sink);
}

static void only_files_can_be_targets(void **state) {
    (void)state;
    char target[5000];
    assert_refused(NULL, HPCW_EINVAL, "NULL");
    assert_refused("", HPCW_EINVAL, "path of a file");
    (void)snprintf(target, sizeof target, "%s/", scratch);
    assert_refused(target, HPCW_EINVAL, "path of a file");
    assert_refused(scratch, HPCW_EINVAL, "got a directory");
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_refused(path, HPCW_EINVAL, "got a special file");
    assert_int_equal(unlink(path), 0);
    assert_refused("/dev/null", HPCW_EINVAL, "got a special file");
    (void)snprintf(target, sizeof target, "%s/none/file", scratch);
    assert_refused(target, HPCW_ENOENT, target);
    put("");
    (void)snprintf(target, sizeof target, "%s/file/file", scratch);
    assert_refused(target, HPCW_ENOENT, target);
    /* A name too long for the final file is refused at the open. */
    (void)snprintf(target, sizeof target, "%s/%0300d", scratch, 0);
    assert_refused(target, HPCW_ERANGE, "name too long");
    (void)snprintf(target, sizeof target, "%s/%04500d", scratch, 0);
    assert_refused(target, HPCW_ERANGE, scratch);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(count_entries(scratch), 0);

    hpcw_error err;
    hpcw_sink *sink = (hpcw_sink *)&err;
    assert_int_equal(hpcw_sink_open_shared_file(path, 0, true, HPCW_SYNC_NONE, &sink, &err), HPCW_EINVAL);
    assert_null(sink);
    assert_int_equal(hpcw_sink_open_file(path, HPCW_SYNC_NONE, NULL, &err), HPCW_EINVAL);
    assert_int_equal(hpcw_sink_open_memory(NULL, &err), HPCW_EINVAL);
    assert_int_equal(hpcw_sink_open_null(NULL, NULL), HPCW_EINVAL);
    assert_int_equal(hpcw_sink_open_limited(NULL, 1, 1, &sink, &err), HPCW_EINVAL);
    assert_null(sink);
}

/* In /sys no user may create files, not even root. */
static void no_permission_is_said(void **state) {
    (void)state;
    if (access("/sys", X_OK) != 0) {
        skip();
    }
    assert_refused("/sys/file", HPCW_EACCES, "/sys/file: cannot create");
}

/* A symbolic link whose target does not exist stays, and the file is made at its target. Any program that opens the
 * link for writing does the same. */
static void a_link_to_nowhere_stays(void **state) {
    (void)state;
    char target[64] = "";
    assert_int_equal(symlink("nowhere", path), 0);
    hpcw_sink *sink = open_private(HPCW_SYNC_NONE);
    assert_int_equal(hpcw_sink_write_at(sink, 0, "file", 4, NULL), HPCW_OK);
    assert_int_equal(hpcw_sink_publish(sink, NULL), HPCW_OK);
    hpcw_sink_free(sink);
    assert_content("file");
    assert_int_equal(count_entries(scratch), 2);
    assert_int_equal(readlink(path, target, sizeof target - 1), strlen("nowhere"));
    assert_string_equal(target, "nowhere");
}

static void wrong_writes_are_refused(void **state) {
    (void)state;
    hpcw_error err;
    hpcw_sink *sink[3] = {open_private(HPCW_SYNC_NONE), open_memory(), NULL};
    assert_int_equal(hpcw_sink_open_null(&sink[2], NULL), HPCW_OK);
    for (size_t i = 0; i < COUNT(sink); i++) {
        assert_int_equal(hpcw_sink_write_at(sink[i], 0, NULL, 1, &err), HPCW_EINVAL);
        assert_int_equal(hpcw_sink_write_at(sink[i], 0, NULL, 0, &err), HPCW_OK);
        assert_int_equal(hpcw_sink_write_at(sink[i], (uint64_t)INT64_MAX - 3, "1234", 4, &err), HPCW_ERANGE);
        assert_int_equal(hpcw_sink_write_at(sink[i], UINT64_MAX, "1", 1, &err), HPCW_ERANGE);
        struct hpcw_i_piece endless[] = {{"a", SIZE_MAX}, {"b", SIZE_MAX}};
        struct hpcw_i_piece missing[] = {{"a", 1}, {NULL, 1}};
        assert_int_equal(hpcw_i_sink_write(sink[i], 0, endless, 2, &err), HPCW_ERANGE);
        assert_int_equal(hpcw_i_sink_write(sink[i], 0, missing, 2, &err), HPCW_EINVAL);
        assert_int_equal(hpcw_i_sink_write(sink[i], 0, missing, 0, &err), HPCW_OK);
        assert_int_equal(hpcw_sink_set_size(sink[i], (uint64_t)INT64_MAX + 1, &err), HPCW_ERANGE);
        assert_int_equal(hpcw_sink_publish(sink[i], &err), HPCW_OK);
        hpcw_sink_free(sink[i]);
    }
    assert_content("");
    assert_int_equal(hpcw_sink_write_at(NULL, 0, "1", 1, &err), HPCW_EINVAL);
    assert_int_equal(hpcw_sink_set_size(NULL, 0, &err), HPCW_EINVAL);
    assert_int_equal(hpcw_sink_sync(NULL, &err), HPCW_EINVAL);
    assert_int_equal(hpcw_sink_publish(NULL, &err), HPCW_EINVAL);
    assert_int_equal(hpcw_sink_detach(NULL, &err), HPCW_EINVAL);
}

/* ---- memory, nothing, limits ---- */

static void memory_and_nothing(void **state) {
    (void)state;
    size_t size = 1;
    hpcw_sink *sink = open_memory();
    assert_null(hpcw_sink_memory_data(sink, &size));
    assert_int_equal(size, 0);
    assert_int_equal(hpcw_sink_write_at(sink, 3, "abc", 3, NULL), HPCW_OK);
    assert_int_equal(hpcw_sink_detach(sink, NULL), HPCW_OK); /* nothing to do: the sink stays usable */
    assert_int_equal(hpcw_sink_write_at(sink, 6, "d", 1, NULL), HPCW_OK);
    assert_int_equal(hpcw_sink_publish(sink, NULL), HPCW_OK);
    assert_memory_equal(hpcw_sink_memory_data(sink, &size), "\0\0\0abcd", 7);
    assert_int_equal(size, 7);
    assert_non_null(hpcw_sink_memory_data(sink, NULL));
    hpcw_sink_free(sink);
    sink = open_memory();
    assert_int_equal(hpcw_sink_write_at(sink, 0, "abc", 3, NULL), HPCW_OK);
    hpcw_sink_discard(sink);
    assert_null(hpcw_sink_memory_data(sink, NULL));
    hpcw_sink_free(sink);

    assert_int_equal(hpcw_sink_open_null(&sink, NULL), HPCW_OK);
    assert_int_equal(hpcw_sink_write_at(sink, UINT64_C(1) << 62, "abc", 3, NULL), HPCW_OK);
    assert_int_equal(hpcw_sink_set_size(sink, UINT64_C(1) << 62, NULL), HPCW_OK);
    assert_int_equal(hpcw_sink_sync(sink, NULL), HPCW_OK);
    assert_null(hpcw_sink_memory_data(sink, &size));
    assert_int_equal(size, 0);
    hpcw_sink_free(sink);
    assert_null(hpcw_sink_memory_data(NULL, NULL));
}

static void limits_hold(void **state) {
    (void)state;
    hpcw_error err;
    for (size_t call = 0; call < 5; call++) {
        hpcw_sink *memory = open_memory();
        hpcw_sink *sink = open_limited(memory, 10, call);
        assert_int_equal(hpcw_sink_write_at(sink, 0, "1234567", 7, &err), HPCW_OK);
        assert_int_equal(hpcw_sink_write_at(sink, 7, "", 0, &err), HPCW_OK);
        struct hpcw_i_piece piece[] = {{"8", 1}, {"9ab", 3}};
        assert_int_equal(hpcw_i_sink_write(sink, 7, piece, 2, &err), HPCW_ENOSPC);
        assert_non_null(strstr(err.message, "no space"));
        assert_int_equal(hpcw_sink_write_at(sink, 0, "1", 1, &err), HPCW_ENOSPC);
        size_t size = 0;
        assert_memory_equal(hpcw_sink_memory_data(memory, &size), "123456789a", 10);
        assert_int_equal(size, 10);
        hpcw_sink_free(sink); /* frees the wrapped sink, too */
    }
    hpcw_sink *sink = open_limited(open_private(HPCW_SYNC_NONE), 0, 0);
    assert_int_equal(hpcw_sink_write_at(sink, 0, "1", 1, &err), HPCW_ENOSPC);
    hpcw_sink_discard(sink);
    assert_int_equal(count_entries(scratch), 0);
    hpcw_sink_free(sink);
}

/* A write beyond the limit on file sizes is an error. The kernel would end the process with SIGXFSZ. */
static void a_limit_of_file_sizes_is_an_error(void **state) {
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const struct rlimit limit = {8192, 8192};
        static const char bytes[8193];
        int fd;
        bool good = hpcw_i_sys_open(path, O_RDWR | O_CREAT, 0600, &fd) == 0 &&
                    hpcw_i_sys_truncate(fd, 20000) == 0 && setrlimit(RLIMIT_FSIZE, &limit) == 0;
        good = good && hpcw_i_sys_truncate(fd, 20001) == EFBIG && hpcw_i_sys_truncate(fd, 10000) == 0;
        good = good && hpcw_i_sys_pwrite(fd, bytes, 8192, 0) == 0 &&
               hpcw_i_sys_pwrite(fd, bytes, 8193, 0) == EFBIG && hpcw_i_sys_pwrite(fd, bytes, 1, 8192) == EFBIG;
        good = good && hpcw_i_sys_truncate(fd, 100) == 0 && hpcw_i_sys_truncate(fd, 8192) == 0 &&
               hpcw_i_sys_truncate(fd, 8193) == EFBIG;
        _exit(good ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void tags_differ(void **state) {
    (void)state;
    uint64_t tag[100];
    for (size_t i = 0; i < COUNT(tag); i++) {
        tag[i] = hpcw_i_sink_random();
        assert_true(tag[i] != 0);
        for (size_t k = 0; k < i; k++) {
            assert_true(tag[i] != tag[k]);
        }
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(all_kinds_hold_the_same),
        TEST(nothing_has_the_name_before_publish),
        TEST(what_is_not_published_disappears),
        TEST(who_creates_a_shared_file),
        TEST(temporary_names),
        TEST(a_name_can_be_taken_back),
        TEST(the_file_of_another_run_stays),
        TEST(interrupted_calls_are_made_again),
        TEST(locks_end_with_their_file),
        TEST(durability_is_what_was_asked),
        TEST(only_files_can_be_targets),
        TEST(no_permission_is_said),
        TEST(a_link_to_nowhere_stays),
        TEST(wrong_writes_are_refused),
        TEST(memory_and_nothing),
        TEST(limits_hold),
        TEST(a_limit_of_file_sizes_is_an_error),
        TEST(tags_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
