/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes of a container do not depend on who owns which tasks, and after a failure of one process no other
 * waits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <hpcw/hpcw.h>

#include "tests/support/files.h"
#include "tests/support/sion_cases.h"
#include "tests/support/world.h"

static hpcw_status write_spread(const struct sion_case *c, enum spread spread, const char *path,
                                hpcw_error *err) {
    uint32_t ranks[64];
    uint64_t sizes[64];
    uint32_t count = own_tasks(spread, c->tasks, ranks);
    for (uint32_t i = 0; i < count; i++) {
        sizes[i] = c->chunk[ranks[i] % 8];
    }
    hpcw_sion_options o = sion_case_options(c, count, spread == BLOCKS ? NULL : ranks, sizes);
    o.colour = (uint32_t)(1 - process % 2); /* the order of colours must not matter */
    hpcw_sion *h;
    hpcw_status s = hpcw_sion_open(path, world, &o, &h, err);
    if (s != HPCW_OK) {
        return s;
    }
    hpcw_status w = HPCW_OK;
    for (uint32_t i = 0; w == HPCW_OK && i < count; i++) {
        w = c->write(h, ranks[i], err);
    }
    s = hpcw_sion_close(h, err);
    hpcw_sion_free(h);
    return w != HPCW_OK ? w : s;
}

/* Compares the files of two runs, or of a run and the real library. */
static bool same_files(const struct sion_case *c, const char *want_base, const char *got_base) {
    bool same = true;
    for (uint32_t f = 0; f < c->files; f++) {
        char want[600];
        char got[600];
        name_of_file(want, sizeof want, want_base, f);
        name_of_file(got, sizeof got, got_base, f);
        same = same_file(want, got) && same;
    }
    return same;
}

static void ownership_does_not_matter(void **state) {
    (void)state;
    for (unsigned i = 0; i < sion_case_count; i++) {
        const struct sion_case *c = &sion_cases[i];
        if ((c->by_parity && processes < 2) || (c->files > 1 && c->options.flavour == HPCW_SION_SERIAL)) {
            continue;
        }
        char first[512] = "";
        for (int spread = 0; spread < SPREADS; spread++) {
            if (c->by_parity != (spread == PARITY) && (c->by_parity || processes == 1)) {
                continue;
            }
            /* The base name is stored in the file, so each distribution has its own directory. */
            char dir[400];
            char path[512];
            (void)snprintf(dir, sizeof dir, "%s/%d", scratch, spread);
            (void)snprintf(path, sizeof path, "%s/%s", dir, c->name);
            hpcw_error err = {.message = ""};
            hpcw_status s = write_spread(c, (enum spread)spread, path, &err);
            if (s != HPCW_OK) {
                print_error("%s, spread %d, process %d: %s\n", c->name, spread, process, err.message);
            }
            assert_true(on_all(s == HPCW_OK));
            if (first[0] == '\0') {
                memcpy(first, path, sizeof path);
            } else {
                assert_true(same_files(c, first, path));
            }
        }
        char golden[512];
        char name[128];
        (void)snprintf(name, sizeof name, "sion/%s", c->golden == NULL ? "" : c->golden);
        if (c->golden != NULL && golden_path(name, golden, sizeof golden) != NULL) {
            assert_true(same_files(c, golden, first));
        }
    }
}

/* One process gives the same bytes as many. */
static void one_process_gives_the_same(void **state) {
    (void)state;
    for (unsigned i = 0; i < sion_case_count; i++) {
        const struct sion_case *c = &sion_cases[i];
        if (c->by_parity) {
            continue;
        }
        char alone[512];
        char together[512];
        (void)snprintf(alone, sizeof alone, "%s/6/%s", scratch, c->name);
        (void)snprintf(together, sizeof together, "%s/0/%s", scratch, c->name);
        bool ok = true;
        if (process == 0) {
            uint64_t sizes[64];
            for (uint32_t t = 0; t < c->tasks; t++) {
                sizes[t] = c->chunk[t % 8];
            }
            hpcw_error err;
            hpcw_sion *h;
            hpcw_sion_options o = sion_case_options(c, c->tasks, NULL, sizes);
            ok = hpcw_sion_open(alone, NULL, &o, &h, &err) == HPCW_OK;
            for (uint32_t t = 0; ok && t < c->tasks; t++) {
                ok = c->write(h, t, &err) == HPCW_OK;
            }
            ok = ok && hpcw_sion_close(h, &err) == HPCW_OK;
            hpcw_sion_free(h);
        }
        assert_true(on_all(ok));
        assert_true(same_files(c, together, alone));
    }
}

static uint64_t size_of(void *context, uint32_t rank) {
    return ((const struct sion_case *)context)->chunk[rank % 8];
}

static void known_sizes_give_the_same(void **state) {
    (void)state;
    for (unsigned i = 0; i < sion_case_count; i++) {
        const struct sion_case *c = &sion_cases[i];
        if (c->by_parity && processes < 2) {
            continue;
        }
        enum spread spread = c->by_parity ? PARITY : i % 3 == 0 ? ROUND_ROBIN : BLOCKS;
        char want[512];
        char got[512];
        (void)snprintf(want, sizeof want, "%s/%d/%s", scratch, c->by_parity ? PARITY : BLOCKS, c->name);
        (void)snprintf(got, sizeof got, "%s/7/%s", scratch, c->name);
        uint64_t all[64];
        uint32_t ranks[64];
        uint32_t count = own_tasks(spread, c->tasks, ranks);
        for (uint32_t t = 0; t < c->tasks; t++) {
            all[t] = c->chunk[t % 8];
        }
        hpcw_sion_options o = sion_case_options(c, count, spread == BLOCKS ? NULL : ranks, NULL);
        o.colour = (uint32_t)(process % 2);
        if (i % 2 == 0) {
            o.all_sizes = all;
        } else {
            o.size_of = size_of;
            o.size_context = (void *)(uintptr_t)c;
        }
        hpcw_error err;
        hpcw_sion *h;
        bool ok = hpcw_sion_open(got, world, &o, &h, &err) == HPCW_OK;
        for (uint32_t k = 0; ok && k < count; k++) {
            ok = c->write(h, ranks[k], &err) == HPCW_OK;
        }
        assert_true(on_all(ok));
        assert_true(on_all(hpcw_sion_close(h, &err) == HPCW_OK));
        hpcw_sion_free(h);
        assert_true(same_files(c, want, got));
    }
}

/* Writes so many tasks that a row of the file's tables exceeds the library's buffer. Some rows have equal values,
 * others different ones. */
static hpcw_status write_wide(const char *path, hpcw_comm *comm, uint32_t count, hpcw_error *err) {
    hpcw_sion_options o;
    hpcw_sion_options_init(&o);
    o.count = count;
    o.chunk_size = o.fs_block_size = 8;
    o.durability = HPCW_SYNC_NONE;
    hpcw_sion *h;
    hpcw_status s = hpcw_sion_open(path, comm, &o, &h, err);
    if (s != HPCW_OK) {
        return s;
    }
    uint32_t first = hpcw_sion_first_rank(h);
    for (uint32_t t = first; s == HPCW_OK && t < first + count; t++) {
        unsigned records = t % 11 == 0 ? 2 : 5;
        for (unsigned r = 0; s == HPCW_OK && r < records; r++) {
            s = hpcw_sion_write(h, t, "eight by", 8, err);
        }
        if (s == HPCW_OK && t % 7 == 0) {
            s = hpcw_sion_write(h, t, "some", 1 + t % 4, err);
        }
    }
    hpcw_status c = hpcw_sion_close(h, s == HPCW_OK ? err : NULL);
    hpcw_sion_free(h);
    return s == HPCW_OK ? c : s;
}

static void wide_tables_are_the_same(void **state) {
    (void)state;
    enum { TASKS = 5000 };
    char alone[512];
    char together[512];
    hpcw_error err = {.message = ""};
    (void)snprintf(alone, sizeof alone, "%s/11/wide.sion", scratch);
    (void)snprintf(together, sizeof together, "%s/12/wide.sion", scratch);
    uint32_t mine = TASKS / (uint32_t)processes + ((uint32_t)process < TASKS % (uint32_t)processes);
    assert_true(on_all(write_wide(together, world, mine, &err) == HPCW_OK));
    assert_true(on_all(process != 0 || write_wide(alone, NULL, TASKS, &err) == HPCW_OK));
    assert_true(same_file(alone, together));
}

/* ---- tasks placed in files by lists ---- */

enum { PLACED = 23, PLACED_FILES = 3 };

static const uint32_t placed[PLACED_FILES] = {7, 1, 15};

static uint32_t rank_at(uint32_t number) {
    return (number * 5 + 3) % PLACED;
}

static hpcw_status write_placed(enum spread spread, hpcw_sion_layout layout, const char *path,
                                hpcw_error *err) {
    uint32_t number[PLACED], rank[PLACED];
    uint64_t size[PLACED];
    uint32_t count = own_tasks(spread, PLACED, number);
    for (uint32_t i = 0; i < count; i++) {
        rank[i] = rank_at(number[i]);
        size[i] = 20 + rank[i];
    }
    hpcw_sion_options o;
    hpcw_sion_options_init(&o);
    o.count = count;
    o.ranks = spread == BLOCKS ? NULL : number;
    o.sizes = size;
    o.layout = layout;
    o.files = PLACED_FILES;
    o.file_tasks = placed;
    o.global_ranks = rank;
    o.mark_unused = layout == HPCW_SION_PACKED;
    o.fs_block_size = 16;
    o.durability = HPCW_SYNC_NONE;
    hpcw_sion *h;
    hpcw_status s = hpcw_sion_open(path, world, &o, &h, err);
    for (uint32_t i = 0; s == HPCW_OK && i < count; i++) {
        unsigned char data[64];
        memset(data, (int)rank[i], sizeof data);
        for (uint32_t r = 0; s == HPCW_OK && r <= rank[i] % 4; r++) {
            s = hpcw_sion_write(h, number[i], data, 20 + r, err);
        }
    }
    hpcw_status c = hpcw_sion_close(h, s == HPCW_OK ? err : NULL);
    hpcw_sion_free(h);
    return s == HPCW_OK ? c : s;
}

/* Checks that every rank is in its place with its data. */
static bool reads_placed(const char *path) {
    hpcw_sion_reader *r;
    bool good = hpcw_sion_reader_open(path, NULL, 0, NULL, &r, NULL) == HPCW_OK;
    for (uint32_t n = 0; good && n < PLACED; n++) {
        uint32_t rank = rank_at(n);
        uint32_t file = n < placed[0] ? 0 : n < placed[0] + placed[1] ? 1 : 2;
        uint32_t first = file == 0 ? 0 : file == 1 ? placed[0] : placed[0] + placed[1];
        const hpcw_sion_task *t = hpcw_sion_reader_find(r, rank);
        unsigned char data[128];
        size_t got = 0;
        good = t != NULL && t->file == file && t->index == n - first &&
               hpcw_sion_reader_read(r, rank, data, sizeof data, &got, NULL) == HPCW_OK;
        uint32_t k = rank % 4;
        good = good && got == 20 * (k + 1) + k * (k + 1) / 2;
        for (size_t i = 0; good && i < got; i++) {
            good = data[i] == rank;
        }
    }
    hpcw_sion_reader_free(r);
    return good;
}

static void tasks_are_where_the_caller_says(void **state) {
    (void)state;
    for (int layout = 0; layout < 2; layout++) {
        char first[512], path[512], one[520], other[520];
        for (int spread = 0; spread < SPREADS; spread++) {
            if (spread == PARITY && processes == 1) {
                continue;
            }
            (void)snprintf(path, sizeof path, "%s/%d/placed%d.sion", scratch, spread, layout);
            hpcw_error err = {.message = ""};
            hpcw_status s = write_placed((enum spread)spread, (hpcw_sion_layout)layout, path, &err);
            if (s != HPCW_OK) {
                print_error("spread %d, process %d: %s\n", spread, process, err.message);
            }
            assert_true(on_all(s == HPCW_OK));
            if (spread == 0) {
                memcpy(first, path, sizeof first);
                assert_true(on_all(process != 0 || reads_placed(path)));
            }
            for (uint32_t f = 0; f < PLACED_FILES; f++) {
                name_of_file(one, sizeof one, first, f);
                name_of_file(other, sizeof other, path, f);
                assert_true(same_file(one, other));
            }
        }
    }
}

/* ---- failures ---- */

static hpcw_status open_and_fail(const hpcw_sion_options *o, const char *path, hpcw_error *err) {
    hpcw_sion *h = (hpcw_sion *)&h; /* the open must set it to NULL */
    *err = (hpcw_error){.code = HPCW_OK, .message = ""};
    hpcw_status s = hpcw_sion_open(path, world, o, &h, err);
    if (s == HPCW_OK) {
        hpcw_sion_free(h);
    } else if (h != NULL) {
        err->code = HPCW_OK; /* `h` is not NULL: makes the test fail */
    }
    return s;
}

static void bad_arguments_fail_everywhere(void **state) {
    (void)state;
    char path[512];
    (void)snprintf(path, sizeof path, "%s/8/bad.sion", scratch);
    hpcw_error err;
    hpcw_sion_options good;
    hpcw_sion_options_init(&good);
    for (int culprit = 0; culprit < processes; culprit++) {
        bool me = process == culprit;
        hpcw_sion_options o = good;
        uint32_t unsorted[2] = {1, 0};
        if (me) {
            o.count = 2;
            o.ranks = unsorted;
        }
        assert_int_equal(open_and_fail(&o, path, &err), HPCW_EINVAL);
        assert_true(same_verdict(HPCW_EINVAL, &err));
        assert_int_equal(err.process, culprit);

        o = good;
        o.layout = me ? (hpcw_sion_layout)7 : HPCW_SION_ALIGNED;
        assert_int_equal(open_and_fail(&o, path, &err), HPCW_EINVAL);
        assert_true(same_verdict(HPCW_EINVAL, &err));

        o = good;
        o.chunk_size = me ? UINT64_MAX : 1;
        assert_int_equal(open_and_fail(&o, path, &err), HPCW_ERANGE);
        assert_true(same_verdict(HPCW_ERANGE, &err));

        /* A rank that does not exist, or that another task has. */
        uint32_t rank = (uint32_t)process, tasks = (uint32_t)processes;
        o = good;
        o.flavour = HPCW_SION_MAPPED;
        o.file_tasks = &tasks;
        o.global_ranks = &rank;
        rank = me ? 1000 : rank;
        assert_int_equal(open_and_fail(&o, path, &err), HPCW_EMISMATCH);
        assert_true(same_verdict(HPCW_EMISMATCH, &err));
        rank = me ? UINT32_MAX : (uint32_t)process;
        assert_int_equal(open_and_fail(&o, path, &err), HPCW_ERANGE);
        assert_true(same_verdict(HPCW_ERANGE, &err));

        if (processes > 1) {
            rank = (uint32_t)(me ? (process + 1) % processes : process);
            assert_int_equal(open_and_fail(&o, path, &err), HPCW_EMISMATCH);
            assert_true(same_verdict(HPCW_EMISMATCH, &err));

            rank = (uint32_t)process;
            tasks = (uint32_t)(me ? 1000 : processes);
            assert_int_equal(open_and_fail(&o, path, &err), HPCW_EMISMATCH);
            assert_true(same_verdict(HPCW_EMISMATCH, &err));
            tasks = (uint32_t)processes;
            o.global_ranks = me ? NULL : &rank;
            assert_int_equal(open_and_fail(&o, path, &err), HPCW_EMISMATCH);
            assert_true(same_verdict(HPCW_EMISMATCH, &err));

            o = good;
            o.fs_block_size = me ? 512 : 1024;
            assert_int_equal(open_and_fail(&o, path, &err), HPCW_EMISMATCH);
            assert_true(same_verdict(HPCW_EMISMATCH, &err));
            assert_int_equal(err.process,
                             culprit == 0 ? 1 : culprit); /* the others are compared with process 0 */

            o = good;
            o.files = me ? 2 : 1;
            assert_int_equal(open_and_fail(&o, path, &err), HPCW_EMISMATCH);
            assert_true(same_verdict(HPCW_EMISMATCH, &err));

            /* The culprit claims a task of its neighbour. */
            uint32_t mine = (uint32_t)(me ? (process + 1) % processes : process);
            o = good;
            o.ranks = &mine;
            assert_int_equal(open_and_fail(&o, path, &err), HPCW_EMISMATCH);
            assert_true(same_verdict(HPCW_EMISMATCH, &err));

            /* The culprit claims a task of its neighbour by a list, and no other process has a list. */
            o.ranks = me ? &mine : NULL;
            assert_int_equal(open_and_fail(&o, path, &err), HPCW_EMISMATCH);
            assert_true(same_verdict(HPCW_EMISMATCH, &err));

            /* A task that does not exist. */
            o.ranks = &mine;
            mine = (uint32_t)(me ? 1000 : process);
            assert_int_equal(open_and_fail(&o, path, &err), HPCW_EMISMATCH);
            assert_true(same_verdict(HPCW_EMISMATCH, &err));
        }
    }
    hpcw_sion_options o = good;
    o.count = 0;
    assert_int_equal(open_and_fail(&o, path, &err), HPCW_EINVAL);
    assert_true(same_verdict(HPCW_EINVAL, &err));
    (void)snprintf(path, sizeof path, "%s/nowhere/bad.sion", scratch);
    assert_int_equal(open_and_fail(&good, path, &err), HPCW_ENOENT);
    assert_true(same_verdict(HPCW_ENOENT, &err));
}

/* A source whose sinks become full on one process. */
struct full_source {
    uint64_t limit;
};

static hpcw_status open_limited(void *context, const char *path, uint64_t tag, bool creates, hpcw_sink **out,
                                hpcw_error *err) {
    const struct full_source *source = context;
    hpcw_sink *file;
    hpcw_status s = tag != 0 ? hpcw_sink_open_shared_file(path, tag, creates, HPCW_SYNC_NONE, &file, err)
                             : hpcw_sink_open_file(path, HPCW_SYNC_NONE, &file, err);
    if (s == HPCW_OK) {
        s = hpcw_sink_open_limited(file, source->limit, 333, out, err);
        if (s != HPCW_OK) {
            hpcw_sink_free(file);
        }
    }
    return s;
}

static void one_full_disk_fails_all(void **state) {
    (void)state;
    char path[512];
    char dir[400];
    (void)snprintf(dir, sizeof dir, "%s/9", scratch);
    (void)snprintf(path, sizeof path, "%s/full.sion", dir);
    for (int culprit = 0; culprit < processes; culprit++) {
        for (uint64_t limit = 0; limit < 60000; limit = limit * 3 + 100) {
            struct full_source source = {process == culprit ? limit : UINT64_MAX};
            hpcw_sion_options o;
            hpcw_sion_options_init(&o);
            o.count = 3;
            o.chunk_size = 5000;
            o.fs_block_size = 4096;
            o.files = processes > 1 ? 2 : 1;
            o.sink_source = (hpcw_sink_source){open_limited, &source};
            hpcw_sion *h;
            hpcw_error err = {.message = ""};
            assert_true(on_all(hpcw_sion_open(path, world, &o, &h, &err) == HPCW_OK));
            static const char data[5000];
            hpcw_status s = HPCW_OK;
            for (uint32_t i = 0; s == HPCW_OK && i < 9; i++) {
                s = hpcw_sion_write(h, hpcw_sion_first_rank(h) + i % 3, data, sizeof data, &err);
            }
            bool wrote = on_all(s == HPCW_OK);
            s = hpcw_sion_close(h, &err);
            hpcw_sion_free(h);
            int left = entries_seen(dir);
            if (s != HPCW_OK) {
                assert_true(same_verdict(s, &err));
                assert_int_equal(s, HPCW_ENOSPC);
                assert_int_equal(err.process, culprit);
                assert_int_equal(left, 0); /* neither a file nor a temporary file */
            } else {
                assert_true(wrote);
                assert_int_equal(left, processes > 1 ? 2 : 1);
                empty_directory(dir);
            }
            MPI_Barrier(MPI_COMM_WORLD);
        }
    }
}

static void unclosed_handle_leaves_nothing(void **state) {
    (void)state;
    char dir[400];
    char path[512];
    (void)snprintf(dir, sizeof dir, "%s/10", scratch);
    (void)snprintf(path, sizeof path, "%s/gone.sion", dir);
    hpcw_sion_options o;
    hpcw_sion_options_init(&o);
    hpcw_sion *h;
    hpcw_error err;
    assert_true(on_all(hpcw_sion_open(path, world, &o, &h, &err) == HPCW_OK));
    hpcw_sion_free(h);
    MPI_Barrier(MPI_COMM_WORLD);
    assert_true(on_all(count_entries(dir) == 0));
}

int main(int argc, char **argv) {
    world_begin(&argc, &argv, 13);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ownership_does_not_matter),      cmocka_unit_test(one_process_gives_the_same),
        cmocka_unit_test(known_sizes_give_the_same),      cmocka_unit_test(wide_tables_are_the_same),
        cmocka_unit_test(bad_arguments_fail_everywhere),  cmocka_unit_test(one_full_disk_fails_all),
        cmocka_unit_test(unclosed_handle_leaves_nothing), cmocka_unit_test(tasks_are_where_the_caller_says),
    };
    return world_end(cmocka_run_group_tests(tests, NULL, NULL));
}
