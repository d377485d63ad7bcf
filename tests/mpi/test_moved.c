/* SPDX-License-Identifier: BSD-3-Clause */
/* Between open and close, all processes change to one directory, each process changes to its own one, or the file's
 * directory is renamed. The file must get its final name in the directory in which it was opened, and no other file
 * may be left. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <hpcw/hpcw.h>

#include "tests/support/files.h"
#include "tests/support/world.h"

enum kind {
    ONE_FILE,
    /* enough blocks that each process writes a part of the tables; some processes must open the file again for
     * that */
    TABLES_BY_ALL,
    SET,
    VOM,
    CLOG2,
    RECORDING,
    CHECKPOINT,
    KINDS
};
enum move { STAY, TO_ONE, TO_OWN, RENAMED, MOVES };

static const char *const kind_name[KINDS] = {"one file", "many blocks", "set",       "load data",
                                             "CLOG-2",   "recording",   "checkpoint"};

static enum move move;
static bool moved;

/* Changes or renames the directory while the file is open. */
static void go(void) {
    char own[64];
    (void)snprintf(own, sizeof own, "../own.%d", move == TO_OWN ? process : 0);
    moved = true;
    if (move == RENAMED) {
        moved = on_all(process > 0 || rename("../work", "../renamed") == 0);
    } else if (move != STAY) {
        (void)mkdir(own, 0777);
        (void)on_all(true);
        moved = chdir(own) == 0;
    }
    (void)on_all(true);
}

static hpcw_status write_sion(enum kind kind, hpcw_error *err) {
    static char data[100];
    hpcw_sion_options o;
    hpcw_sion_options_init(&o);
    o.count = 2;
    o.chunk_size = kind == TABLES_BY_ALL ? 1 : 100;
    o.fs_block_size = kind == TABLES_BY_ALL ? 1 : 512;
    o.files = kind == SET ? 2 : 1;
    hpcw_sion *h;
    hpcw_status s = hpcw_sion_open("file", world, &o, &h, err);
    if (s != HPCW_OK) {
        return s;
    }
    go();
    unsigned records = kind != TABLES_BY_ALL ? 3 : process == processes - 1 ? 300000 : 1;
    memset(data, 'a' + process, sizeof data);
    for (uint32_t i = 0; s == HPCW_OK && i < o.count; i++) {
        for (unsigned r = 0; s == HPCW_OK && r < records; r++) {
            s = hpcw_sion_write(h, hpcw_sion_first_rank(h) + i, data, (size_t)o.chunk_size, err);
        }
    }
    bool wrote = on_all(s == HPCW_OK);
    s = wrote ? hpcw_sion_close(h, err) : HPCW_EINTERNAL;
    hpcw_sion_free(h);
    return s;
}

static hpcw_status write_vom(hpcw_error *err) {
    hpcw_vom_options o;
    hpcw_vom_options_init(&o);
    o.rank = (uint32_t)process;
    o.ranks = (uint32_t)processes;
    char name[64];
    (void)snprintf(name, sizeof name, "data.%d.json", process);
    hpcw_vom *h;
    hpcw_status s = hpcw_vom_open(name, &o, &h, err);
    go();
    s = s == HPCW_OK ? hpcw_vom_close(h, err) : s;
    hpcw_vom_free(h);
    return s;
}

static void comm_of(void *context, uint32_t index, hpcw_clog2_comm_entry *entry) {
    (void)context;
    (void)index;
    *entry = (hpcw_clog2_comm_entry){0};
}

static hpcw_status write_clog2(hpcw_error *err) {
    hpcw_clog2_options o;
    hpcw_clog2_options_init(&o);
    o.ranks = o.comms = 1;
    o.comm_of = comm_of;
    hpcw_clog2 *h;
    hpcw_clog2_slice *slice = NULL;
    hpcw_status s = hpcw_clog2_open("file", world, &o, &h, err);
    if (s != HPCW_OK) {
        return s;
    }
    go();
    if (process == 0) {
        s = hpcw_clog2_slice_new(h, 0, &slice, err);
        s = s == HPCW_OK ? hpcw_clog2_slice_place(slice, 0, err) : s;
        s = s == HPCW_OK ? hpcw_clog2_slice_end(slice, HPCW_CLOG2_LAST, err) : s;
    }
    uint64_t blocks = slice == NULL ? 0 : hpcw_clog2_slice_blocks(slice);
    if (s != HPCW_OK) {
        hpcw_clog2_abandon(h, err);
    }
    s = hpcw_clog2_close(h, blocks, err);
    hpcw_clog2_slice_free(slice);
    hpcw_clog2_free(h);
    return s;
}

static hpcw_status record(hpcw_error *err) {
    hpcw_clog2_log_options o;
    hpcw_clog2_log_options_init(&o);
    o.directory = ".";
    hpcw_clog2_log *h;
    hpcw_status s = hpcw_clog2_log_open("file", world, &o, &h, err);
    if (s == HPCW_OK) {
        go();
        s = hpcw_clog2_log_finish(h, NULL, err);
        hpcw_clog2_log_free(h);
    }
    return s;
}

static hpcw_status write_checkpoint(hpcw_error *err) {
    hpcw_rank2file_options o;
    hpcw_rank2file_options_init(&o);
    o.layout = HPCW_RANK2FILE_SCR_3;
    o.dataset.id = 1;
    o.dataset.created_us = 1;
    o.dataset.user = "user";
    o.count = 1;
    hpcw_rank2file *h;
    hpcw_status s = hpcw_rank2file_open("file", world, &o, &h, err);
    if (s != HPCW_OK) {
        return s;
    }
    go();
    hpcw_rank2file_file *f = NULL;
    char name[64];
    (void)snprintf(name, sizeof name, "sub/rank_%d", process);
    s = hpcw_rank2file_create(h, (uint32_t)process, name, &f, err);
    s = s == HPCW_OK ? hpcw_rank2file_file_write(f, "data", 4, err) : s;
    s = s == HPCW_OK ? hpcw_rank2file_file_close(f, err) : s;
    hpcw_rank2file_file_free(f);
    if (s != HPCW_OK) {
        hpcw_rank2file_abandon(h, err);
    }
    s = hpcw_rank2file_close(h, err);
    hpcw_rank2file_free(h);
    return s;
}

static hpcw_status run(enum kind kind, hpcw_error *err) {
    switch (kind) {
    case VOM:
        return write_vom(err);
    case CLOG2:
        return write_clog2(err);
    case RECORDING:
        return record(err);
    case CHECKPOINT:
        return write_checkpoint(err);
    default:
        return write_sion(kind, err);
    }
}

/* Compares two directory trees on process 0: entries, sizes, and the bytes that are the same in every run. All get
 * the result. */
static bool equals(const char *want, const char *got) {
    char command[1500];
    (void)snprintf(command, sizeof command, "diff -r --exclude=index.scr --exclude='summary.scr' '%s' '%s'",
                   want, got);
    return on_all(process > 0 || system(command) == 0);
}

static void file_is_where_it_was_meant(void **state) {
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        char want[300], work[300], renamed[300];
        (void)snprintf(want, sizeof want, "%s/want.%d", scratch, kind);
        for (int m = 0; m < MOVES; m++) {
            move = (enum move)m;
            (void)snprintf(work, sizeof work, "%s/work", scratch);
            (void)snprintf(renamed, sizeof renamed, "%s/renamed", scratch);
            assert_true(on_all(process > 0 || mkdir(work, 0777) == 0));
            assert_true(on_all(chdir(work) == 0));
            hpcw_error err = {.message = ""};
            hpcw_status s = run((enum kind)kind, &err);
            if (s != HPCW_OK || !moved) {
                print_error("%s, move %d, process %d: %s\n", kind_name[kind], m, process, err.message);
            }
            assert_true(on_all(s == HPCW_OK && moved));
            assert_true(on_all(chdir(scratch) == 0));
            const char *made = move == RENAMED ? renamed : work;
            if (move == STAY) {
                assert_true(on_all(process > 0 || rename(work, want) == 0));
                continue;
            }
            bool same = kind == RECORDING ? entries_seen(made) == 1 : equals(want, made);
            for (int p = 0; p < processes && (move == TO_ONE || move == TO_OWN); p++) {
                char own[300];
                (void)snprintf(own, sizeof own, "%s/own.%d", scratch, p);
                same = same && (p > 0 && move == TO_ONE ? true : entries_seen(own) == 0);
            }
            if (!same && process == 0) {
                print_error("%s, move %d: other files\n", kind_name[kind], m);
            }
            assert_true(same);
            assert_true(on_all(process > 0 || system("rm -rf work renamed own.*") == 0));
        }
    }
}

int main(int argc, char **argv) {
    world_begin(&argc, &argv, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(file_is_where_it_was_meant),
    };
    return world_end(cmocka_run_group_tests(tests, NULL, NULL));
}
