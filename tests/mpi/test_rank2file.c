/* SPDX-License-Identifier: BSD-3-Clause */
/* A checkpoint does not depend on who wrote it, any number of processes can restart from it, and an error on one
 * process is reported by all. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include <hpcw/hpcw.h>

#include "tests/support/faults.h"
#include "tests/support/files.h"
#include "tests/support/rank2file_cases.h"
#include "tests/support/world.h"

enum { REFERENCE = SPREADS, REFUSED, FULL, FOLDERS };

static void prefix_in(int folder, unsigned i, char *path, size_t size) {
    (void)snprintf(path, size, "%s/%d/case%u", scratch, folder, i);
}

static bool trees_are_same(const char *want, const char *got) {
    MPI_Barrier(MPI_COMM_WORLD);
    return on_all(process != 0 || same_trees(want, got));
}

static void ownership_does_not_matter(void **state) {
    (void)state;
    for (unsigned i = 0; i < rank2file_case_count; i++) {
        const struct rank2file_case *c = &rank2file_cases[i];
        char reference[512];
        hpcw_error err = {.message = ""};
        prefix_in(REFERENCE, i, reference, sizeof reference);
        hpcw_status s = HPCW_OK;
        if (process == 0) {
            s = rank2file_case_write(c, NULL, reference, NULL, c->ranks, NULL, &err);
        }
        assert_true(on_all(s == HPCW_OK));
        for (int spread = 0; spread < SPREADS; spread++) {
            char prefix[512];
            uint32_t ranks[RANK2FILE_MOST_RANKS];
            if (spread == PARITY && processes == 1) {
                continue;
            }
            prefix_in(spread, i, prefix, sizeof prefix);
            uint32_t count = own_tasks((enum spread)spread, c->ranks, ranks);
            s = rank2file_case_write(c, NULL, prefix, world, count, spread == BLOCKS ? NULL : ranks, &err);
            if (s != HPCW_OK) {
                print_error("%s, spread %d, process %d: %s\n", c->name, spread, process, err.message);
            }
            assert_true(on_all(s == HPCW_OK));
            assert_true(trees_are_same(reference, prefix));
        }
    }
}

static bool restarts(const struct rank2file_case *c, const char *prefix, uint32_t count, const uint32_t *ranks,
                     const uint32_t *want) {
    hpcw_rank2file_restart *r;
    hpcw_error err = {.message = ""};
    hpcw_status s = hpcw_rank2file_restart_open(prefix, world, NULL, &r, &err);
    if (s == HPCW_OK) {
        s = hpcw_rank2file_restart_load(r, count, ranks, &err);
    }
    if (s == HPCW_OK) {
        s = hpcw_rank2file_restart_check(r, true, &err);
    }
    if (s != HPCW_OK) {
        print_error("%s, process %d: %s\n", c->name, process, err.message);
    }
    bool good = s == HPCW_OK && rank2file_case_loaded(c, r, count, want) &&
                strcmp(hpcw_rank2file_restart_dataset(r)->job_id, "5132") == 0;
    hpcw_rank2file_restart_free(r);
    return good;
}

static void any_processes_restart(void **state) {
    (void)state;
    for (unsigned i = 0; i < rank2file_case_count; i++) {
        const struct rank2file_case *c = &rank2file_cases[i];
        char prefix[512];
        uint32_t ranks[RANK2FILE_MOST_RANKS];
        prefix_in(REFERENCE, i, prefix, sizeof prefix);
        /* By default a process gets an equal share of consecutive ranks, as the header documents. */
        uint32_t begin = (uint32_t)((uint64_t)c->ranks * (uint64_t)process / (uint64_t)processes);
        uint32_t end = (uint32_t)((uint64_t)c->ranks * ((uint64_t)process + 1) / (uint64_t)processes);
        for (uint32_t k = begin; k < end; k++) {
            ranks[k - begin] = k;
        }
        assert_true(on_all(restarts(c, prefix, end - begin, NULL, ranks)));
        for (int spread = BLOCK_LISTS; spread < SPREADS; spread++) {
            uint32_t count = own_tasks((enum spread)spread, c->ranks, ranks);
            assert_true(on_all(restarts(c, prefix, count, ranks, ranks)));
        }
        /* Every process wants all ranks. */
        for (uint32_t k = 0; k < c->ranks; k++) {
            ranks[k] = k;
        }
        assert_true(on_all(restarts(c, prefix, c->ranks, ranks, ranks)));
    }
}

/* ---- options that differ, and ranks that are missing or duplicate ---- */

static void assert_refused(const hpcw_rank2file_options *o, const struct rank2file_case *c, uint32_t count,
                           const uint32_t *ranks, hpcw_status want) {
    char prefix[512];
    hpcw_error err = {.message = ""};
    (void)snprintf(prefix, sizeof prefix, "%s/%d", scratch, REFUSED);
    hpcw_status s = rank2file_case_write(c, o, prefix, world, count, ranks, &err);
    if (s != want) {
        print_error("process %d: wanted %d, got %d: %s\n", process, (int)want, (int)s, err.message);
    }
    assert_true(on_all(s == want));
    assert_true(same_verdict(s, &err));
    empty_directory(prefix);
}

static void refused_by_all(void **state) {
    (void)state;
    const struct rank2file_case c = {.name = "refused", .layout = HPCW_RANK2FILE_SCR_1_1, .ranks = 8};
    hpcw_rank2file_options o;
    uint32_t ranks[RANK2FILE_MOST_RANKS];
    uint32_t count = own_tasks(BLOCK_LISTS, c.ranks, ranks);
    bool last = process == processes - 1;
    rank2file_case_options(&c, &o);
    if (processes > 1) {
        o.leaf_ranks = last ? 3 : 2;
        assert_refused(&o, &c, count, ranks, HPCW_EMISMATCH);
        rank2file_case_options(&c, &o);
        o.dataset.name = last ? "a" : "b";
        assert_refused(&o, &c, count, ranks, HPCW_EMISMATCH);
        rank2file_case_options(&c, &o);
        o.dataset.id = last ? 0 : 7;
        assert_refused(&o, &c, count, ranks, HPCW_EINVAL);
    }
    rank2file_case_options(&c, &o);
    /* A rank that is too large, a missing rank, and a duplicate rank. */
    if (last) {
        ranks[count - 1] = 8;
    }
    assert_refused(&o, &c, count, ranks, HPCW_EMISMATCH);
    count = own_tasks(BLOCK_LISTS, c.ranks, ranks);
    if (processes > 1) {
        if (last) {
            ranks[0] = 0;
        }
        assert_refused(&o, &c, count, ranks, HPCW_EMISMATCH);
    }
}

/* All processes must restart from the same dataset. Otherwise they would wait for each other in different calls. */
static void restart_of_the_same(void **state) {
    (void)state;
    char prefix[512];
    hpcw_rank2file_restart *r;
    hpcw_error err = {.message = ""};
    prefix_in(REFERENCE, 1, prefix, sizeof prefix);
    bool last = processes > 1 && process == processes - 1;
    hpcw_status s = hpcw_rank2file_restart_open(prefix, world, last ? NULL : "scr.dataset.7", &r, &err);
    assert_true(on_all(s == (processes > 1 ? HPCW_EMISMATCH : HPCW_OK)));
    assert_true(same_verdict(s, &err));
    hpcw_rank2file_restart_free(r);
    hpcw_rank2file_list *list;
    s = hpcw_rank2file_list_open(prefix, world, &list, &err);
    assert_true(on_all(s == HPCW_OK));
    s = hpcw_rank2file_restart_open_listed(list, 0, world, &r, &err);
    assert_true(on_all(s == HPCW_OK && strcmp(hpcw_rank2file_restart_dataset(r)->name, "scr.dataset.7") == 0));
    hpcw_rank2file_restart_free(r);
    s = hpcw_rank2file_restart_open_listed(list, last ? 9 : 0, world, &r, &err);
    assert_true(on_all(s == (processes > 1 ? HPCW_EINVAL : HPCW_OK)));
    assert_true(same_verdict(s, &err));
    hpcw_rank2file_restart_free(r);
    hpcw_rank2file_list_free(list);
    s = hpcw_rank2file_drop(prefix, world, last ? "scr.dataset.8" : "scr.dataset.9", NULL, NULL, &err);
    assert_true(on_all(s == (processes > 1 ? HPCW_EMISMATCH : HPCW_ENOENT)));
}

static void twins_on_two_processes(void **state) {
    (void)state;
    hpcw_rank2file_options o;
    hpcw_rank2file *w;
    hpcw_error err = {.message = ""};
    char prefix[512];
    (void)snprintf(prefix, sizeof prefix, "%s/%d", scratch, REFUSED);
    hpcw_rank2file_options_init(&o);
    o.dataset.id = 1;
    o.count = 2;
    hpcw_status s = hpcw_rank2file_open(prefix, world, &o, &w, &err);
    assert_true(on_all(s == HPCW_OK));
    uint32_t first = hpcw_rank2file_first_rank(w);
    for (uint32_t k = 0; k < 2; k++) {
        char name[32];
        (void)snprintf(name, sizeof name, "rank_%u", first + k == 2 * (uint32_t)processes - 1 ? 0 : first + k);
        char path[700];
        (void)snprintf(path, sizeof path, "%s/scr.dataset.1/%s", prefix, name);
        FILE *f = fopen(path, "ab"); /* both processes may create the duplicate file */
        s = f == NULL || fclose(f) != 0 ? HPCW_EIO : s;
        s = s == HPCW_OK ? hpcw_rank2file_add(w, first + k, name, 0, NULL, &err) : s;
    }
    assert_true(on_all(s == HPCW_OK));
    s = hpcw_rank2file_close(w, &err);
    assert_true(on_all(s == HPCW_EINVAL));
    assert_true(same_verdict(s, &err));
    assert_true(on_all(strstr(err.message, "name \"rank_0\"") != NULL));
    hpcw_rank2file_free(w);
    empty_directory(prefix);
}

/* ---- leftovers of a dead job ---- */

/* Checks the dataset that a restart takes, and the number of datasets in the index. */
static bool restart_is(const char *prefix, uint64_t id, uint32_t datasets) {
    hpcw_rank2file_restart *r;
    hpcw_rank2file_list *list;
    bool good = hpcw_rank2file_restart_open(prefix, world, NULL, &r, NULL) == HPCW_OK &&
                hpcw_rank2file_restart_dataset(r)->id == id && hpcw_rank2file_restart_skips(r) == 0;
    good = hpcw_rank2file_list_open(prefix, world, &list, NULL) == HPCW_OK && good &&
           hpcw_rank2file_list_count(list) == datasets && hpcw_rank2file_list_get(list, 0)->id == id;
    hpcw_rank2file_list_free(list);
    hpcw_rank2file_restart_free(r);
    return good;
}

static bool exists(const char *prefix, const char *name) {
    char path[700];
    (void)snprintf(path, sizeof path, "%s/%s", prefix, name);
    return access(path, F_OK) == 0;
}

/* Each process lists its files, so that prune finds them all. A job that finishes leaves no list. */
static void every_process_lists_its_files(void **state) {
    (void)state;
    char prefix[512], name[64], list[64];
    (void)snprintf(prefix, sizeof prefix, "%s/%d", scratch, REFUSED);
    (void)snprintf(name, sizeof name, "deep/rank_%d", process);
    (void)snprintf(list, sizeof list, process == 0 ? ".scr/hpcw.1.unfinished" : ".scr/hpcw.1.unfinished.%d",
                   process);
    for (int finishes = 0; finishes < 2; finishes++) {
        hpcw_rank2file_options o;
        hpcw_rank2file *w;
        hpcw_rank2file_file *file;
        hpcw_rank2file_tally tally = {.added = 0};
        hpcw_error err = {.message = ""};
        hpcw_rank2file_options_init(&o);
        o.dataset.id = 1;
        o.count = 1;
        hpcw_status s = hpcw_rank2file_open(prefix, world, &o, &w, &err);
        assert_true(on_all(s == HPCW_OK));
        s = hpcw_rank2file_create(w, hpcw_rank2file_first_rank(w), name, &file, &err);
        s = s == HPCW_OK ? hpcw_rank2file_file_close(file, &err) : s;
        hpcw_rank2file_file_free(file);
        assert_true(on_all(s == HPCW_OK && exists(prefix, list)));
        if (finishes == 1) {
            s = hpcw_rank2file_close(w, &err);
            assert_true(on_all(s == HPCW_OK && !exists(prefix, list)));
        }
        hpcw_rank2file_free(w); /* freeing without a close is like dying */
        MPI_Barrier(MPI_COMM_WORLD);
        s = hpcw_rank2file_prune(prefix, world, 0, NULL, &tally, &err);
        assert_true(on_all(s == HPCW_OK && tally.removed == (finishes == 0) && tally.left == 0));
        assert_true(on_all(exists(prefix, "scr.dataset.1") == (finishes == 1) && !exists(prefix, list)));
    }
    assert_true(on_all(restart_is(prefix, 1, 1)));
    MPI_Barrier(MPI_COMM_WORLD);
    empty_directory(prefix);
}

/* ---- one process fails, at every call in turn ---- */

static void each_process_fails(void **state) {
    (void)state;
    const struct rank2file_case c = {
        .name = "fails", .layout = HPCW_RANK2FILE_SHARED, .ranks = 10, .leaf_ranks = 2, .most_files = 2};
    static const enum fault faults[] = {FAULT_EIO, FAULT_NOMEM};
    char prefix[512];
    (void)snprintf(prefix, sizeof prefix, "%s/%d", scratch, REFUSED);
    for (int victim = 0; victim < processes; victim++) {
        for (size_t f = 0; f < 2; f++) {
            for (unsigned long n = 1;; n += 1 + n / 16) {
                uint32_t ranks[RANK2FILE_MOST_RANKS];
                hpcw_error err = {.message = ""};
                uint32_t count = own_tasks(ROUND_ROBIN, c.ranks, ranks);
                fault_arm(faults[f], process == victim ? n : 0);
                hpcw_status s = rank2file_case_write(&c, NULL, prefix, world, count, ranks, &err);
                bool met = on_any(fault_disarm());
                bool same = on_all(same_verdict(s, &err));
                if (s != HPCW_OK && !met) {
                    print_error("process %d: %s\n", process, err.message);
                }
                assert_true(same);
                assert_true(on_all(s == HPCW_OK || met));
                empty_directory(prefix);
                if (!met) {
                    break;
                }
            }
        }
    }
}

/* ---- a full disk, and a program that ignores failures ---- */

enum { SMALL = 1000, LARGE = 1 << 20 };

/* Each process writes a file and closes the checkpoint, even after a failure. discard: a process whose write failed
 * discards its file before the close. */
static hpcw_status close_anyway(const char *prefix, uint64_t id, size_t bytes, bool discard, uint64_t *files,
                                hpcw_error *err) {
    static const unsigned char data[LARGE];
    hpcw_rank2file_options o;
    hpcw_rank2file *w;
    hpcw_rank2file_file *file;
    char name[32];
    hpcw_rank2file_options_init(&o);
    o.dataset.id = id;
    o.count = 1;
    o.durability = HPCW_SYNC_NONE;
    hpcw_status s = hpcw_rank2file_open(prefix, world, &o, &w, err);
    if (s != HPCW_OK) {
        return s;
    }
    uint32_t rank = hpcw_rank2file_first_rank(w);
    (void)snprintf(name, sizeof name, "rank_%u", rank);
    if (hpcw_rank2file_create(w, rank, name, &file, NULL) == HPCW_OK) {
        s = hpcw_rank2file_file_write(file, data, bytes, NULL);
        if (s == HPCW_OK) {
            s = hpcw_rank2file_file_close(file, NULL);
        }
        if (s != HPCW_OK && discard) {
            hpcw_rank2file_discard(file);
        }
        hpcw_rank2file_file_free(file);
    }
    s = hpcw_rank2file_close(w, err);
    *files = hpcw_rank2file_dataset_of(w)->files;
    hpcw_rank2file_free(w);
    return s;
}

static void set_limit(bool small) {
    struct rlimit limit;
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = small ? 300000 : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void one_process_has_no_space(void **state) {
    (void)state;
    char prefix[512];
    uint64_t files = 0;
    hpcw_error err = {.message = ""};
    (void)snprintf(prefix, sizeof prefix, "%s/%d", scratch, REFUSED);
    assert_true(on_all(close_anyway(prefix, 1, SMALL, false, &files, &err) == HPCW_OK));
    for (int victim = 0; victim < processes; victim++) {
        if (process == victim) {
            set_limit(true);
        }
        hpcw_status s = close_anyway(prefix, 2, LARGE, false, &files, &err);
        assert_true(on_all(s == HPCW_ENOSPC && err.process == victim));
        assert_true(same_verdict(s, &err));
        assert_true(on_all(restart_is(prefix, 1, 1)));
        s = close_anyway(prefix, 3 + (uint64_t)victim, LARGE, true, &files, &err);
        if (process == victim) {
            set_limit(false);
        }
        assert_true(on_all(s == HPCW_OK && files == (uint64_t)processes - 1));
        assert_true(on_all(restart_is(prefix, 3 + (uint64_t)victim, 2)));
        assert_true(on_all(hpcw_rank2file_prune(prefix, world, 0, NULL, NULL, &err) == HPCW_OK));
        char name[64];
        (void)snprintf(name, sizeof name, "scr.dataset.%d", 3 + victim);
        assert_true(on_all(hpcw_rank2file_drop(prefix, world, name, NULL, NULL, &err) == HPCW_OK));
        assert_true(on_all(restart_is(prefix, 1, 1)));
    }
    empty_directory(prefix);
}

static void the_disk_is_full(void **state) {
    (void)state;
    char disk[512];
    char prefix[600];
    uint64_t files = 0;
    hpcw_error err = {.message = ""};
    (void)snprintf(disk, sizeof disk, "%s/%d", scratch, FULL);
    (void)snprintf(prefix, sizeof prefix, "%s/run", disk);
    if (!on_all(process != 0 || mount("none", disk, "tmpfs", 0, "size=1m") == 0)) {
        skip(); /* no permission to mount */
    }
    bool good = on_all(close_anyway(prefix, 1, SMALL, false, &files, &err) == HPCW_OK);
    hpcw_status s = close_anyway(prefix, 2, LARGE, false, &files, &err);
    good = on_all(s == HPCW_ENOSPC) && same_verdict(s, &err) && good;
    good = on_all(restart_is(prefix, 1, 1)) && good;
    good = on_all(hpcw_rank2file_prune(prefix, world, 0, NULL, NULL, &err) == HPCW_OK) && good;
    good = on_all(close_anyway(prefix, 2, SMALL, false, &files, &err) == HPCW_OK) && good;
    good = on_all(restart_is(prefix, 2, 2)) && good;
    good = on_all(process != 0 || umount2(disk, MNT_DETACH) == 0) && good;
    if (!good) {
        print_error("process %d: %s\n", process, err.message);
    }
    assert_true(good);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ownership_does_not_matter),
        cmocka_unit_test(any_processes_restart),
        cmocka_unit_test(refused_by_all),
        cmocka_unit_test(restart_of_the_same),
        cmocka_unit_test(twins_on_two_processes),
        cmocka_unit_test(every_process_lists_its_files),
        cmocka_unit_test(each_process_fails),
        cmocka_unit_test(one_process_has_no_space),
        cmocka_unit_test(the_disk_is_full),
    };
    world_begin(&argc, &argv, FOLDERS);
    return world_end(cmocka_run_group_tests(tests, NULL, NULL));
}
