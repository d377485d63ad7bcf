/* SPDX-License-Identifier: BSD-3-Clause */
/* A prefix directory during a job: failing datasets, small writes, defaults, restarts. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <hpcw/rank2file.h>

#include "libwriter/io/sys.h"
#include "tests/support/faults.h"
#include "tests/support/files.h"
#include "tests/support/prefix.h"

#define OK(call) assert_int_equal(call, HPCW_OK)

/* ---- datasets that fail ---- */

static size_t index_size;
static unsigned char *index_before;

static hpcw_rank2file *second_dataset(void) {
    prefix_written(HPCW_RANK2FILE_SHARED, 1);
    index_before = read_file(in_prefix(HPCW_RANK2FILE_INDEX), &index_size);
    hpcw_rank2file_options o = prefix_options(HPCW_RANK2FILE_SHARED, 2);
    return prefix_opened(&o);
}

/* Checks that the close fails, and that only the first dataset is listed. */
static void assert_doomed(hpcw_rank2file *w, hpcw_status want, const char *words) {
    hpcw_error err = {.message = ""};
    hpcw_status s = hpcw_rank2file_close(w, &err);
    if (s != want || err.code != s || strstr(err.message, words) == NULL) {
        fail_msg("expected %s, %s, got %s: %s", hpcw_status_name(want), words, hpcw_status_name(s),
                 err.message);
    }
    hpcw_rank2file_free(w);
    size_t size = 0;
    unsigned char *now = read_file(in_prefix(HPCW_RANK2FILE_INDEX), &size);
    assert_true(same_bytes("index", index_before, index_size, now, size));
    free(now);
    free(index_before);
    assert_false(prefix_exists(in_prefix("scr.dataset.2/.scr/summary.scr")));
    assert_false(prefix_exists(in_prefix(".scr/scr.dataset.2/summary.scr")));
    assert_int_equal(prefix_restarts(NULL), 1);
    /* The id can be written again. */
    prefix_written(HPCW_RANK2FILE_SHARED, 2);
    assert_int_equal(prefix_restarts(NULL), 2);
    assert_false(prefix_exists(in_prefix(".scr/hpcw.2.unfinished")));
}

/* After a failed write, the program frees the file and closes the dataset. The close fails. */
static void a_failed_write(void **state) {
    (void)state;
    hpcw_rank2file_file *file;
    hpcw_rank2file *w = second_dataset();
    OK(prefix_put(w, 0, NULL));
    OK(hpcw_rank2file_create(w, 1, "rank_1.ckpt", &file, NULL));
    OK(hpcw_rank2file_file_write(file, "x", 1, NULL));
    prefix_fail_calls(HPCW_I_SYS_PWRITE, ENOSPC);
    assert_int_equal(hpcw_rank2file_file_close(file, NULL), HPCW_ENOSPC);
    hpcw_i_sys_gate = NULL;
    hpcw_rank2file_file_free(file);
    assert_doomed(w, HPCW_ENOSPC, "rank_1.ckpt: cannot write 1 bytes at offset 0");
}

/* If the marker (the list of files for the time after a crash) cannot take a file, the file is not created. */
static void a_file_that_cannot_be_listed(void **state) {
    (void)state;
    hpcw_rank2file *w = second_dataset();
    OK(prefix_put(w, 0, NULL));
    prefix_fail_calls(HPCW_I_SYS_PWRITE, ENOSPC);
    assert_int_equal(prefix_put(w, 1, NULL), HPCW_ENOSPC);
    hpcw_i_sys_gate = NULL;
    assert_false(prefix_exists(in_prefix("scr.dataset.2/rank_1.ckpt")));
    assert_doomed(w, HPCW_ENOSPC, ".scr/hpcw.2.unfinished: cannot note that the dataset is being written");
}

static void a_failed_file_close(void **state) {
    (void)state;
    hpcw_rank2file *w = second_dataset();
    OK(prefix_put(w, 0, NULL));
    prefix_fail_calls(HPCW_I_SYS_RENAME, EIO);
    assert_int_equal(prefix_put(w, 1, NULL), HPCW_EIO);
    hpcw_i_sys_gate = NULL;
    assert_doomed(w, HPCW_EIO, "rank_1.ckpt: cannot rename");
}

static void a_failed_create(void **state) {
    (void)state;
    hpcw_rank2file *w = second_dataset();
    OK(prefix_put(w, 0, NULL));
    prefix_fail_calls(HPCW_I_SYS_OPEN, ENOSPC);
    assert_int_equal(prefix_put(w, 1, NULL), HPCW_ENOSPC);
    hpcw_i_sys_gate = NULL;
    assert_doomed(w, HPCW_ENOSPC, "rank_1.ckpt: cannot look for an older file");
}

static void a_file_that_was_never_closed(void **state) {
    (void)state;
    hpcw_rank2file_file *file;
    hpcw_rank2file *w = second_dataset();
    OK(prefix_put(w, 0, NULL));
    OK(hpcw_rank2file_create(w, 1, "rank_1.ckpt", &file, NULL));
    OK(hpcw_rank2file_file_write(file, "x", 1, NULL));
    hpcw_rank2file_file_free(file);
    assert_doomed(w, HPCW_ESTATE, "rank_1.ckpt: expected the file to be closed or discarded");
}

static void a_file_that_is_still_open(void **state) {
    (void)state;
    hpcw_rank2file_file *file;
    hpcw_rank2file *w = second_dataset();
    OK(prefix_put(w, 0, NULL));
    OK(hpcw_rank2file_create(w, 1, "open", &file, NULL));
    hpcw_error err = {.message = ""};
    assert_int_equal(hpcw_rank2file_close(w, &err), HPCW_ESTATE);
    assert_non_null(strstr(err.message, "scr.dataset.2/open: expected the file to be closed or discarded"));
    hpcw_rank2file_free(w);
    hpcw_rank2file_file_free(file); /* too late to be part of the dataset */
    assert_int_equal(prefix_restarts(NULL), 1);
    free(index_before);
}

static void a_file_that_is_discarded(void **state) {
    (void)state;
    hpcw_rank2file_file *file;
    hpcw_rank2file *w = second_dataset();
    OK(prefix_put(w, 0, NULL));
    /* Discards files that are open, broken by a write, or broken by the close. */
    OK(hpcw_rank2file_create(w, 1, "open", &file, NULL));
    hpcw_rank2file_discard(file);
    assert_int_equal(hpcw_rank2file_file_write(file, "x", 1, NULL), HPCW_ESTATE);
    hpcw_rank2file_file_free(file);
    OK(hpcw_rank2file_create(w, 1, "written", &file, NULL));
    static const unsigned char large[1 << 20];
    prefix_fail_calls(HPCW_I_SYS_PWRITE, ENOSPC);
    assert_int_equal(hpcw_rank2file_file_write(file, large, sizeof large, NULL), HPCW_ENOSPC);
    hpcw_i_sys_gate = NULL;
    hpcw_rank2file_discard(file);
    hpcw_rank2file_file_free(file);
    OK(hpcw_rank2file_create(w, 1, "closed", &file, NULL));
    prefix_fail_calls(HPCW_I_SYS_CLOSE, EIO);
    assert_int_equal(hpcw_rank2file_file_close(file, NULL), HPCW_EIO);
    hpcw_i_sys_gate = NULL;
    hpcw_rank2file_discard(file);
    hpcw_rank2file_file_free(file);
    /* hpcw_rank2file_discard has no effect on a closed file. */
    OK(hpcw_rank2file_create(w, 1, "good", &file, NULL));
    OK(hpcw_rank2file_file_close(file, NULL));
    hpcw_rank2file_discard(file);
    hpcw_rank2file_file_free(file);
    hpcw_rank2file_discard(NULL);
    hpcw_error err = {.message = ""};
    if (hpcw_rank2file_close(w, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    assert_int_equal(hpcw_rank2file_dataset_of(w)->files, 2);
    hpcw_rank2file_free(w);
    assert_int_equal(prefix_restarts(NULL), 2);
    assert_int_equal(count_entries(in_prefix("scr.dataset.2")), 3); /* two data files and .scr */
    free(index_before);
}

static void added_files_that_are_not_as_said(void **state) {
    (void)state;
    static const struct {
        size_t size; /* SIZE_MAX: the file does not exist */
        hpcw_status want;
        const char *words;
    } cases[] = {
        {SIZE_MAX, HPCW_ENOENT, "scr.dataset.2/mine: expected a file of 10 bytes, as it was added"},
        {9, HPCW_ETRUNCATED, "scr.dataset.2/mine: size: expected 10 bytes, as it was added, got 9"},
        {11, HPCW_EFORMAT, "scr.dataset.2/mine: size: expected 10 bytes, as it was added, got 11"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        hpcw_rank2file *w = second_dataset();
        OK(prefix_put(w, 0, NULL));
        OK(hpcw_rank2file_add(w, 1, "mine", 10, NULL, NULL));
        if (cases[i].size != SIZE_MAX) {
            prefix_plain_file(in_prefix("scr.dataset.2/mine"), cases[i].size);
        }
        assert_doomed(w, cases[i].want, cases[i].words);
        (void)prefix_end(NULL);
        (void)prefix_begin(NULL);
    }
}

static void a_file_that_vanishes(void **state) {
    (void)state;
    for (int cut = 0; cut < 2; cut++) {
        hpcw_rank2file *w = second_dataset();
        OK(prefix_put(w, 0, NULL));
        OK(prefix_put(w, 1, NULL));
        const char *path = in_prefix("scr.dataset.2/rank_1.ckpt");
        assert_int_equal(cut ? truncate(path, 10) : unlink(path), 0);
        assert_doomed(w, cut ? HPCW_ETRUNCATED : HPCW_ENOENT, "scr.dataset.2/rank_1.ckpt: ");
        (void)prefix_end(NULL);
        (void)prefix_begin(NULL);
    }
}

static unsigned long syncs, failing_sync;

static int fail_one_sync(enum hpcw_i_sys_call call, size_t *size) {
    (void)size;
    return call == HPCW_I_SYS_FSYNC && ++syncs == failing_sync ? EIO : 0;
}

/* The last fsync is that of the directory of the index. If it fails, the write fails, but the dataset stays,
 * since the index already lists it. If an earlier fsync fails, there is no dataset. */
static void a_directory_that_is_not_synced(void **state) {
    (void)state;
    unsigned long last = 0;
    prefix_written(HPCW_RANK2FILE_SCR_1_1, 9); /* makes .scr, so that all datasets make the same calls */
    OK(hpcw_rank2file_drop(prefix_dir, NULL, "scr.dataset.9", NULL, NULL, NULL));
    for (uint64_t id = 1; id <= 3; id++) {
        hpcw_rank2file_options o = prefix_options(HPCW_RANK2FILE_SCR_1_1, id);
        hpcw_error err = {.message = ""};
        o.durability = HPCW_SYNC_DIRECTORY;
        syncs = 0;
        failing_sync = id == 1 ? 0 : id == 2 ? last : last - 1;
        hpcw_i_sys_gate = fail_one_sync;
        hpcw_status s = prefix_write(&o, &err);
        hpcw_i_sys_gate = NULL;
        last = id == 1 ? syncs : last;
        assert_int_equal(s, id == 1 ? HPCW_OK : HPCW_EIO);
        assert_true(id == 1 || strstr(err.message, "index.scr") != NULL);
        assert_int_equal(prefix_restarts(&err), id < 3 ? id : 2);
        assert_int_equal(prefix_current(), id < 3 ? id : 2);
        assert_int_equal(prefix_exists(in_prefix(".scr/hpcw.%u.unfinished", (unsigned)id)), id == 3);
    }
}

/* ---- data on disk ---- */

enum { MOST_SYNCED = 64 };
static char synced[MOST_SYNCED][600];
static unsigned syncs_seen;
static bool recording;

/* Replaces libc's fsync and records what is flushed. */
int fsync(int fd) {
    char link[64];
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (recording && syncs_seen < MOST_SYNCED) {
        ssize_t n = readlink(link, synced[syncs_seen], sizeof synced[0] - 1);
        synced[syncs_seen++][n < 0 ? 0 : n] = '\0';
    }
    return fdatasync(fd);
}

static bool was_synced(const char *path, unsigned before) {
    for (unsigned i = 0; i < before && i < syncs_seen; i++) {
        if (strcmp(synced[i], path) == 0) {
            return true;
        }
    }
    return false;
}

/* Every directory with a new name is flushed before the index, including the prefix's parent. */
static void directories_are_synced(void **state) {
    (void)state;
    for (int k = 0; k < 4; k++) {
        hpcw_rank2file_layout layout = (hpcw_rank2file_layout)k;
        hpcw_error err = {.message = ""};
        hpcw_rank2file_file *file;
        hpcw_rank2file *w;
        char run[400], real[PATH_MAX], data[HPCW_RANK2FILE_MAX_DATASET + 1];
        hpcw_rank2file_options o = prefix_options(layout, 1);
        o.durability = HPCW_SYNC_DIRECTORY;
        assert_non_null(realpath(prefix_dir, real));
        (void)snprintf(run, sizeof run, "%s/run/", prefix_dir); /* a path with a slash at its end */
        syncs_seen = 0;
        recording = true;
        OK(hpcw_rank2file_open(run, NULL, &o, &w, &err));
        OK(hpcw_rank2file_create(w, 0, "a/b/made", &file, &err));
        OK(hpcw_rank2file_file_close(file, &err));
        hpcw_rank2file_file_free(file);
        hpcw_rank2file_dataset_name(&o, data);
        /* The program makes a file and a directory itself. */
        assert_int_equal(mkdir(in_prefix("run/%s/own", data), 0777), 0);
        prefix_plain_file(in_prefix("run/%s/own/added", data), 10);
        OK(hpcw_rank2file_add(w, 1, "own/added", 10, NULL, &err));
        OK(hpcw_rank2file_close(w, &err));
        hpcw_rank2file_free(w);
        recording = false;
        assert_true(syncs_seen < MOST_SYNCED);
        unsigned index = 0;
        while (index < syncs_seen && strstr(synced[index], "index.scr") == NULL) {
            index++;
        }
        assert_true(index < syncs_seen);
        bool one = layout == HPCW_RANK2FILE_SCR_1_1;
        const char *const directories[] = {"",
                                           "/run",
                                           "/run/.scr",
                                           "/run/D",
                                           "/run/D/a",
                                           "/run/D/a/b",
                                           "/run/D/own",
                                           one || layout == HPCW_RANK2FILE_SHARED ? "/run/D/.scr" : "/run/.scr",
                                           one ? "/run/D/.scr" : "/run/.scr/scr.dataset.1"};
        for (size_t i = 0; i < sizeof directories / sizeof directories[0]; i++) {
            char path[PATH_MAX + 900];
            const char *d = strchr(directories[i], 'D');
            (void)snprintf(path, sizeof path, "%s%.*s%s%s", real,
                           (int)(d == NULL ? strlen(directories[i]) : (size_t)(d - directories[i])),
                           directories[i], d == NULL ? "" : data, d == NULL ? "" : d + 1);
            if (!was_synced(path, index)) {
                fail_msg("layout %d: %s was not written back before the index", k, path);
            }
        }
        assert_string_equal(strrchr(synced[syncs_seen - 1], '/'), "/.scr");
        (void)prefix_end(NULL);
        (void)prefix_begin(NULL);
    }
}

/* The kernel itself refuses: a limit of the file size acts like a full disk. */
static void a_real_limit(void **state) {
    (void)state;
    static const unsigned char large[1 << 20];
    hpcw_rank2file_file *file;
    struct rlimit old;
    hpcw_rank2file *w = second_dataset();
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    struct rlimit small = {.rlim_cur = 300000, .rlim_max = old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    OK(hpcw_rank2file_create(w, 1, "large", &file, NULL));
    assert_int_not_equal(hpcw_rank2file_file_write(file, large, sizeof large, NULL), HPCW_OK);
    hpcw_rank2file_file_free(file);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_doomed(w, HPCW_ENOSPC, "large: cannot write 1048576 bytes"); /* EFBIG counts as no space */
}

/* ---- small writes ---- */

static unsigned long calls;
static size_t most_bytes;

static int count_writes(enum hpcw_i_sys_call call, size_t *size) {
    if (call == HPCW_I_SYS_PWRITE) {
        calls++;
        most_bytes = *size > most_bytes ? *size : most_bytes;
    }
    return 0;
}

static unsigned long writes_of(size_t piece, size_t total) {
    static unsigned char data[9 << 20];
    hpcw_rank2file_file *file;
    for (size_t i = 0; i < sizeof data; i++) {
        data[i] = (unsigned char)(i * 7 + i / 1000);
    }
    OK(hpcw_rank2file_file_open(in_prefix("data"), HPCW_SYNC_NONE, &file, NULL));
    calls = most_bytes = 0;
    hpcw_i_sys_gate = count_writes;
    for (size_t at = 0; at < total; at += piece) {
        size_t n = total - at < piece ? total - at : piece;
        OK(hpcw_rank2file_file_write(file, data + at, n, NULL));
        assert_int_equal(hpcw_rank2file_file_size(file), at + n);
    }
    OK(hpcw_rank2file_file_close(file, NULL));
    hpcw_i_sys_gate = NULL;
    hpcw_rank2file_file_free(file);
    size_t size = 0;
    unsigned char *got = read_file(in_prefix("data"), &size);
    assert_true(same_bytes("data", data, total, got, size));
    free(got);
    return calls;
}

static void small_writes_are_gathered(void **state) {
    (void)state;
    assert_int_equal(writes_of(64, 64 * 10000), 3); /* 640000 bytes in buffers of 262144 */
    assert_int_equal(writes_of(4 << 20, 8 << 20), 2);
    assert_int_equal(most_bytes, 4 << 20);
    assert_int_equal(writes_of(1, 1), 1);
    assert_int_equal(writes_of(1, 0), 0);
    assert_int_equal(writes_of(256 << 10, 1 << 20), 4);
    assert_true(writes_of(300001, 9 << 20) <= 32);
    for (size_t piece = 200000; piece < 800000; piece += 33333) {
        (void)writes_of(piece, 3000000);
    }
}

/* ---- defaults ---- */

/* Current CLOCK_REALTIME, s. time() may be a tick, and so a second, behind this clock. The writer uses both
 * clocks. */
static time_t now(void) {
    struct timespec t;
    assert_int_equal(clock_gettime(CLOCK_REALTIME, &t), 0);
    return t.tv_sec;
}

static void assert_is_now(const char *stamp, time_t before) {
    struct tm tm = {.tm_isdst = -1};
    assert_non_null(strptime(stamp, "%Y-%m-%dT%H:%M:%S", &tm));
    time_t t = mktime(&tm);
    assert_true(t >= before && t <= now());
}

static void defaults_are_filled_in(void **state) {
    (void)state;
    time_t before = time(NULL);
    assert_int_equal(setenv("USER", "ada", 1), 0);
    hpcw_rank2file_options o = prefix_options(HPCW_RANK2FILE_SCR_3, 4);
    hpcw_rank2file *w = prefix_opened(&o);
    OK(prefix_put(w, 0, NULL));
    OK(prefix_put(w, 1, NULL));
    OK(hpcw_rank2file_close(w, NULL));
    const hpcw_rank2file_dataset *d = hpcw_rank2file_dataset_of(w);
    assert_string_equal(d->name, "ckpt.4");
    assert_string_equal(d->user, "ada");
    assert_string_equal(d->job_id, "1");
    assert_int_equal(d->checkpoint, 4);
    assert_int_equal(d->files, 2);
    assert_int_equal(d->size, 2 * PREFIX_BYTES);
    assert_true(d->created_us / 1000000 >= (uint64_t)before && d->created_us / 1000000 <= (uint64_t)now());
    assert_is_now(d->flushed, before);
    /* Summary and list have the writer's values. */
    hpcw_rank2file_restart *r;
    OK(hpcw_rank2file_restart_open(prefix_dir, NULL, "ckpt.4", &r, NULL));
    assert_int_equal(hpcw_rank2file_restart_dataset(r)->created_us, d->created_us);
    assert_string_equal(hpcw_rank2file_restart_dataset(r)->user, "ada");
    hpcw_rank2file_restart_free(r);
    hpcw_rank2file_list *list;
    OK(hpcw_rank2file_list_open(prefix_dir, NULL, &list, NULL));
    assert_string_equal(hpcw_rank2file_list_get(list, 0)->flushed, d->flushed);
    hpcw_rank2file_list_free(list);
    hpcw_rank2file_free(w);
    assert_int_equal(unsetenv("USER"), 0);
    assert_int_equal(unsetenv("LOGNAME"), 0);
    o = prefix_options(HPCW_RANK2FILE_SCR_3, 5);
    w = prefix_opened(&o);
    assert_int_equal(strtoul(hpcw_rank2file_dataset_of(w)->user, NULL, 10), getuid());
    hpcw_rank2file_free(w);
}

static void a_lower_id_is_not_current(void **state) {
    (void)state;
    for (int layout = 0; layout < 4; layout++) {
        prefix_written((hpcw_rank2file_layout)layout, 5);
        prefix_written((hpcw_rank2file_layout)layout, 3);
        assert_int_equal(prefix_current(), 5);
        hpcw_rank2file_options o = prefix_options((hpcw_rank2file_layout)layout, 4);
        o.current = true;
        OK(prefix_write(&o, NULL));
        assert_int_equal(prefix_current(), 4);
        prefix_written((hpcw_rank2file_layout)layout, 6);
        assert_int_equal(prefix_current(), 6);
        (void)prefix_end(NULL);
        (void)prefix_begin(NULL);
    }
}

/* ---- restart ---- */

static void the_newest_that_is_sound(void **state) {
    (void)state;
    for (int k = 0; k < 4; k++) {
        hpcw_rank2file_layout layout = (hpcw_rank2file_layout)k;
        hpcw_rank2file_restart *r;
        hpcw_error err = {.message = ""};
        for (uint64_t id = 1; id <= 4; id++) {
            prefix_written(layout, id);
        }
        OK(hpcw_rank2file_restart_open(prefix_dir, NULL, NULL, &r, &err));
        assert_int_equal(hpcw_rank2file_restart_skips(r), 0);
        assert_null(hpcw_rank2file_restart_skipped(r, 0));
        assert_int_equal(hpcw_rank2file_restart_files(r), 0); /* a restart loads the names later */
        hpcw_rank2file_restart_free(r);
        OK(unlink(prefix_data_path(layout, 4)));
        OK(truncate(prefix_data_path(layout, 3), 100));
        OK(hpcw_rank2file_restart_open(prefix_dir, NULL, NULL, &r, &err));
        assert_int_equal(hpcw_rank2file_restart_dataset(r)->id, 2);
        assert_int_equal(hpcw_rank2file_restart_skips(r), 2);
        const hpcw_rank2file_skipped *skipped = hpcw_rank2file_restart_skipped(r, 0);
        assert_string_equal(strchr(skipped->name, '.'), layout == HPCW_RANK2FILE_SCR_3 ? ".4" : ".dataset.4");
        assert_int_equal(skipped->why.code, HPCW_ENOENT);
        assert_non_null(strstr(skipped->why.message, "rank_1.ckpt: rank 1: cannot open for reading"));
        skipped = hpcw_rank2file_restart_skipped(r, 1);
        assert_int_equal(skipped->why.code, HPCW_ETRUNCATED);
        assert_non_null(strstr(skipped->why.message, "expected 1000 bytes, got 100"));
        OK(hpcw_rank2file_restart_load(r, 0, NULL, &err));
        OK(hpcw_rank2file_restart_check(r, true, &err));
        hpcw_rank2file_restart_free(r);
        /* A damaged dataset can be opened by its name, to examine it. */
        OK(hpcw_rank2file_restart_open(prefix_dir, NULL,
                                       layout == HPCW_RANK2FILE_SCR_3 ? "ckpt.4" : "scr.dataset.4", &r, &err));
        hpcw_rank2file_restart_free(r);
        OK(unlink(prefix_data_path(layout, 2)));
        OK(hpcw_rank2file_mark_failed(prefix_dir, NULL,
                                      layout == HPCW_RANK2FILE_SCR_3 ? "ckpt.1" : "scr.dataset.1", &err));
        assert_int_equal(prefix_restarts(&err), 0);
        assert_int_equal(err.code, HPCW_ENOENT);
        assert_non_null(strstr(err.message, "expected a sound dataset, got 4 damaged: "));
        (void)prefix_end(NULL);
        (void)prefix_begin(NULL);
    }
}

/* If a call fails while the newest dataset is read, its data may still be good. So the restart fails, whichever
 * call it is, and takes no older dataset. */
static void a_file_that_cannot_be_read(void **state) {
    (void)state;
    hpcw_error err;
    hpcw_rank2file_restart *r;
    bool met = true;
    for (uint64_t id = 1; id <= 3; id++) {
        prefix_written(HPCW_RANK2FILE_SHARED, id);
    }
    for (unsigned long n = 1; met; n++) {
        fault_arm(FAULT_EIO, n);
        hpcw_status s = hpcw_rank2file_restart_open(prefix_dir, NULL, NULL, &r, &err);
        met = fault_disarm();
        if (s == HPCW_OK) {
            assert_int_equal(hpcw_rank2file_restart_skips(r), 0);
            assert_int_equal(hpcw_rank2file_restart_dataset(r)->id, 3);
            hpcw_rank2file_restart_free(r);
        } else {
            assert_true(met);
            assert_null(r);
            assert_int_equal(err.sys_errno, EIO);
        }
    }
}

static void a_current_that_is_gone(void **state) {
    (void)state;
    prefix_written(HPCW_RANK2FILE_SCR_1_1, 1);
    hpcw_kvtree *index = prefix_read_index();
    OK(hpcw_kvtree_set(index, "CURRENT", "gone", NULL));
    prefix_write_index(index);
    hpcw_rank2file_restart *r;
    OK(hpcw_rank2file_restart_open(prefix_dir, NULL, NULL, &r, NULL));
    assert_int_equal(hpcw_rank2file_restart_skips(r), 1);
    assert_string_equal(hpcw_rank2file_restart_skipped(r, 0)->name, "gone");
    assert_non_null(strstr(hpcw_rank2file_restart_skipped(r, 0)->why.message,
                           "CURRENT: expected a dataset of the index, got gone"));
    hpcw_rank2file_restart_free(r);
}

/* SCR 3's own maps have no sizes. The summary has their sum. */
static void maps_without_sizes(void **state) {
    (void)state;
    prefix_written(HPCW_RANK2FILE_SCR_3, 1);
    prefix_written(HPCW_RANK2FILE_SCR_3, 2);
    hpcw_kvtree *leaf;
    const char *path = in_prefix(".scr/scr.dataset.2/rank2file.0.0");
    OK(hpcw_kvtree_read_file(path, &leaf, NULL));
    hpcw_kvtree *ranks = hpcw_kvtree_get(leaf, "RANK");
    for (int rank = 0; rank < 2; rank++) {
        char key[32];
        (void)snprintf(key, sizeof key, "%d", rank);
        hpcw_kvtree *file = hpcw_kvtree_first(hpcw_kvtree_get(hpcw_kvtree_get(ranks, key), "FILE"));
        hpcw_kvtree_remove(file, "SIZE");
        hpcw_kvtree_remove(file, "CRC");
    }
    OK(hpcw_kvtree_write_file(leaf, path, HPCW_SYNC_NONE, NULL));
    hpcw_kvtree_free(leaf);
    assert_int_equal(prefix_restarts(NULL), 2);
    OK(truncate(prefix_data_path(HPCW_RANK2FILE_SCR_3, 2), 100));
    assert_int_equal(prefix_restarts(NULL), 1);
    hpcw_rank2file_restart *r;
    hpcw_error err = {.message = ""};
    OK(hpcw_rank2file_restart_open(prefix_dir, NULL, "ckpt.2", &r, &err));
    OK(hpcw_rank2file_restart_load(r, 0, NULL, &err));
    assert_int_equal(hpcw_rank2file_restart_check(r, false, &err), HPCW_ETRUNCATED);
    assert_non_null(
        strstr(err.message, "summary.scr: expected 2 files of together 2000 bytes, got 2 and 1100"));
    /* With only some ranks loaded, the sum is not checked. */
    const uint32_t one = 1;
    OK(hpcw_rank2file_restart_load(r, 1, &one, &err));
    OK(hpcw_rank2file_restart_check(r, true, &err));
    hpcw_rank2file_restart_free(r);
}

int main(void) {
    if (access("/dev/shm", W_OK) == 0) {
        (void)setenv("TMPDIR", "/dev/shm", 0); /* thousands of small files are synced */
    }
#define TEST(name) cmocka_unit_test_setup_teardown(name, prefix_begin, prefix_end)
    const struct CMUnitTest tests[] = {
        TEST(a_failed_write),
        TEST(a_file_that_cannot_be_listed),
        TEST(a_failed_file_close),
        TEST(a_failed_create),
        TEST(a_file_that_was_never_closed),
        TEST(a_file_that_is_still_open),
        TEST(a_file_that_is_discarded),
        TEST(added_files_that_are_not_as_said),
        TEST(a_file_that_vanishes),
        TEST(a_directory_that_is_not_synced),
        TEST(directories_are_synced),
        TEST(a_real_limit),
        TEST(small_writes_are_gathered),
        TEST(defaults_are_filled_in),
        TEST(a_lower_id_is_not_current),
        TEST(the_newest_that_is_sound),
        TEST(a_file_that_cannot_be_read),
        TEST(a_current_that_is_gone),
        TEST(maps_without_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
