/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that see different directories under one path. Either each has its own working directory, or the same
 * path is in different file systems. Opening a shared file must fail on all of them with one message and leave
 * nothing. In a directory that they share, everything works. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <hpcw/hpcw.h>

#include "tests/support/files.h"
#include "tests/support/world.h"

enum kind {
    ONE_FILE,
    /* enough blocks that each process writes a part of the tables */
    TABLES_BY_ALL,
    PACKED_SET,
    ONE_EACH,      /* one file for each colour */
    NONE_ON_FIRST, /* process 0 has no task */
    LINKTEST,
    CLOG2,
    RECORDING,
    KINDS
};

static const char *const kind_name[KINDS] = {"one file",     "many blocks", "packed set", "two colours",
                                             "no task on 0", "LinkTest",    "CLOG-2",     "recording"};

static hpcw_status write_sion(enum kind kind, const char *path, hpcw_error *err) {
    enum { RECORDS = 3 };
    static char data[100];
    hpcw_sion_options o;
    hpcw_sion_options_init(&o);
    bool last = process == processes - 1;
    o.count = kind == NONE_ON_FIRST && process == 0 && !last ? 0 : 2;
    o.chunk_size = kind == TABLES_BY_ALL ? 1 : 100;
    o.fs_block_size = kind == TABLES_BY_ALL ? 1 : 512;
    o.layout = kind == PACKED_SET ? HPCW_SION_PACKED : HPCW_SION_ALIGNED;
    o.files = kind == PACKED_SET ? 2 : kind == ONE_EACH ? 0 : 1;
    o.colour = (uint32_t)(process % 2);
    o.durability = HPCW_SYNC_NONE;
    hpcw_sion *h;
    hpcw_status s = hpcw_sion_open(path, world, &o, &h, err);
    if (s != HPCW_OK) {
        return s;
    }
    unsigned records = kind != TABLES_BY_ALL ? RECORDS : last ? 300000 : 1;
    memset(data, 'a' + process, sizeof data);
    for (uint32_t i = 0; s == HPCW_OK && i < o.count; i++) {
        for (unsigned r = 0; s == HPCW_OK && r < records; r++) {
            s = hpcw_sion_write(h, hpcw_sion_first_rank(h) + i, data, (size_t)o.chunk_size, err);
        }
    }
    bool wrote = on_all(s == HPCW_OK);
    s = hpcw_sion_close(h, err);
    hpcw_sion_free(h);
    return wrote ? s : HPCW_EINTERNAL;
}

static hpcw_status open_linktest(const char *path, hpcw_error *err) {
    hpcw_linktest_params p;
    hpcw_linktest_params_init(&p);
    p.tasks = 2 * (uint32_t)processes;
    p.count = 2;
    p.permutations = 1;
    p.fs_block_size = 512;
    hpcw_linktest *h;
    hpcw_status s = hpcw_linktest_open(path, world, &p, &h, err);
    hpcw_linktest_free(h);
    return s;
}

static void comm_of(void *context, uint32_t index, hpcw_clog2_comm_entry *entry) {
    (void)context;
    (void)index;
    *entry = (hpcw_clog2_comm_entry){0};
}

static hpcw_status open_clog2(const char *path, hpcw_error *err) {
    hpcw_clog2_options o;
    hpcw_clog2_options_init(&o);
    o.ranks = o.comms = 1;
    o.comm_of = comm_of;
    hpcw_clog2 *h;
    hpcw_status s = hpcw_clog2_open(path, world, &o, &h, err);
    hpcw_clog2_free(h);
    return s;
}

static hpcw_status record(const char *path, hpcw_error *err) {
    hpcw_clog2_log *h;
    hpcw_status s = hpcw_clog2_log_open(path, world, NULL, &h, err);
    if (s == HPCW_OK) {
        s = hpcw_clog2_log_finish(h, NULL, err);
        hpcw_clog2_log_free(h);
    }
    return s;
}

static hpcw_status run(enum kind kind, const char *path, hpcw_error *err) {
    switch (kind) {
    case LINKTEST:
        return open_linktest(path, err);
    case CLOG2:
        return open_clog2(path, err);
    case RECORDING:
        return record(path, err);
    default:
        return write_sion(kind, path, err);
    }
}

/* Checks that no kind of file can be opened under `path`. directory: path of this process's own directory, which
 * must stay empty. */
static void refused_everywhere(const char *path, const char *directory) {
    for (int kind = 0; kind < KINDS; kind++) {
        if (processes == 1 || (kind == NONE_ON_FIRST && processes == 2)) {
            continue; /* a single writer sees only one directory */
        }
        hpcw_error err = {.message = ""};
        hpcw_status s = run((enum kind)kind, path, &err);
        bool good = s == HPCW_EMISMATCH && strstr(err.message, "expected the same directory") != NULL &&
                    strstr(err.message, path) != NULL && err.process > 0 && count_entries(directory) == 0;
        if (!good) {
            (void)fprintf(stderr, "%s on process %d: got %d, %d entries: %s\n", kind_name[kind], process,
                          (int)s, count_entries(directory), err.message);
        }
        assert_true(same_verdict(s, &err));
        assert_true(on_all(good));
    }
}

static void own_working_directories(void **state) {
    (void)state;
    char own[600];
    (void)snprintf(own, sizeof own, "%s/%d", scratch, process);
    bool made = process == 0 || mkdir(own, 0777) == 0;
    assert_true(on_all(made && chdir(own) == 0));
    refused_everywhere("x.sion", own);
    assert_true(on_all(chdir("/") == 0));
    assert_int_equal(entries_seen(scratch), processes);
}

static void one_directory(void **state) {
    (void)state;
    char path[600];
    char dir[400];
    (void)snprintf(dir, sizeof dir, "%s/0", scratch);
    (void)snprintf(path, sizeof path, "%s/x.sion", dir);
    for (int kind = 0; kind < KINDS; kind++) {
        hpcw_error err = {.message = ""};
        hpcw_status s = run((enum kind)kind, path, &err);
        if (s != HPCW_OK) {
            (void)fprintf(stderr, "%s: %s\n", kind_name[kind], err.message);
        }
        assert_true(on_all(s == HPCW_OK));
        bool two = processes > 1 && (kind == PACKED_SET || kind == ONE_EACH);
        assert_int_equal(entries_seen(dir), kind == LINKTEST || kind == CLOG2 ? 0
                                            : kind == PACKED_SET || two       ? 2
                                                                              : 1);
        empty_directory(dir);
    }
}

/* This is the last test, since it cannot be undone. */
static void one_path_in_two_file_systems(void **state) {
    (void)state;
    char path[600];
    char dir[400];
    (void)snprintf(dir, sizeof dir, "%s/0", scratch);
    (void)snprintf(path, sizeof path, "%s/x.sion", dir);
    bool other = process > 0;
    bool able = !other || (unshare(CLONE_NEWNS) == 0 && mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
                           mount("none", dir, "tmpfs", 0, "size=1m") == 0);
    if (!on_all(able)) {
        if (process == 0) {
            (void)fprintf(stderr, "no mount namespaces without root: not tested\n");
        }
        skip();
    }
    refused_everywhere(path, dir);
}

int main(int argc, char **argv) {
    world_begin(&argc, &argv, 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_working_directories),
        cmocka_unit_test(one_directory),
        cmocka_unit_test(one_path_in_two_file_systems),
    };
    return world_end(cmocka_run_group_tests(tests, NULL, NULL));
}
