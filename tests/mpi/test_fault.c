/* SPDX-License-Identifier: BSD-3-Clause */
/* Each system call and each allocation fails once: on the first process, on the last process, and on all. All
 * processes must return the same status and message, none may wait for a process that gave up, and no file may be
 * left. If a call of MPI fails, no process waits, and no incomplete file looks finished. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <hpcw/hpcw.h>

#include "libwriter/io/sys.h"
#include "tests/support/comm_faults.h"
#include "tests/support/faults.h"
#include "tests/support/files.h"
#include "tests/support/linktest_cases.h"
#include "tests/support/sion_cases.h"
#include "tests/support/world.h"

enum { MOST_TASKS = 64, REFERENCE = 0, WORK = 1, FOLDERS };

/* ---- works: files that are written ---- */

struct work {
    const char *name; /* name of a case in sion_cases or linktest_cases */
    enum spread spread;
    bool all_sizes; /* every process knows the sizes of all tasks */
    bool linktest;
};

static const struct work works[] = {
    {"four_tasks_parallel.sion", BLOCKS, false, false}, /* one file */
    {"multi8of2.sion", BLOCKS, false, false},           /* a set */
    {"inter8of2.sion", PARITY, false, false},           /* a file per colour */
    {"uneven_colours.sion", ALL_ON_LAST, false, false}, /* a file per colour; some processes have no tasks */
    {"uneven_set.sion", ROUND_ROBIN, false,
     false},                                  /* processes look up the owners of tasks in a shared table */
    {"packed.sion", BACKWARDS, false, false}, /* packed chunks; owners are looked up in the table */
    {"packed.sion", BLOCK_LISTS, false, false},
    {"packed.sion", BLOCKS, true, false}, /* packed chunks, which are placed without communication */
    {"be_keyval.sion", ROUND_ROBIN, false, false},
    {"all_flags.sion", BLOCKS, false, true},
    {"all_to_all.sion", ROUND_ROBIN, false, true},
    {"bisection.sion", ALL_ON_LAST, false, true},
};

static const struct sion_case *sion_case_named(const char *name) {
    for (unsigned i = 0; i < sion_case_count; i++) {
        if (strcmp(sion_cases[i].name, name) == 0) {
            return &sion_cases[i];
        }
    }
    return NULL;
}

static const struct linktest_case *linktest_case_named(const char *name) {
    for (unsigned i = 0; i < linktest_case_count; i++) {
        if (strcmp(linktest_cases[i].name, name) == 0) {
            return &linktest_cases[i];
        }
    }
    return NULL;
}

static bool refuses_all(hpcw_sion *h) {
    hpcw_error err;
    uint64_t offset;
    return hpcw_sion_write(h, 0, "", 0, &err) == HPCW_ESTATE &&
           hpcw_sion_reserve(h, 0, 0, &offset, &err) == HPCW_ESTATE && hpcw_sion_close(h, &err) == HPCW_ESTATE;
}

static bool fails_late;

static int fail_close(enum hpcw_i_sys_call call, size_t *size) {
    (void)size;
    return call == HPCW_I_SYS_CLOSE ? EIO : 0;
}

static hpcw_status do_sion(const struct work *w, const char *path, bool *refuses, hpcw_error *err) {
    const struct sion_case *c = sion_case_named(w->name);
    uint32_t ranks[MOST_TASKS];
    uint64_t sizes[MOST_TASKS];
    uint64_t all[MOST_TASKS];
    uint32_t count = own_tasks(w->spread, c->tasks, ranks);
    for (uint32_t i = 0; i < count; i++) {
        sizes[i] = c->chunk[ranks[i] % 8];
    }
    for (uint32_t t = 0; t < c->tasks; t++) {
        all[t] = c->chunk[t % 8];
    }
    hpcw_sion_options o = sion_case_options(c, count, w->spread == BLOCKS ? NULL : ranks, sizes);
    o.flavour = HPCW_SION_PARALLEL;
    o.all_sizes = w->all_sizes ? all : NULL;
    o.colour = (uint32_t)(process % 2);
    hpcw_sion *h = (hpcw_sion *)&o;
    hpcw_status s = hpcw_sion_open(path, world, &o, &h, err);
    *refuses = true;
    if (s != HPCW_OK) {
        *refuses = h == NULL;
        return s;
    }
    for (uint32_t i = 0; s == HPCW_OK && i < count; i++) {
        s = c->write(h, ranks[i], err);
    }
    if (fails_late && process == processes - 1) {
        hpcw_i_sys_gate = fail_close;
    }
    s = hpcw_sion_close(h, err);
    hpcw_i_sys_gate = fails_late ? NULL : hpcw_i_sys_gate;
    *refuses = refuses_all(h);
    hpcw_sion_free(h);
    return s;
}

static hpcw_status do_linktest(const struct work *w, const char *path, bool *refuses, hpcw_error *err) {
    const struct linktest_case *c = linktest_case_named(w->name);
    hpcw_linktest_params p = c->params;
    p.durability = HPCW_SYNC_NONE;
    uint32_t ranks[MOST_TASKS];
    uint32_t count = own_tasks(w->spread, p.tasks, ranks);
    return linktest_case_write(c, &p, path, world, count, w->spread == BLOCKS ? NULL : ranks, NULL, refuses,
                               err);
}

static hpcw_status do_work(const struct work *w, const char *path, bool *refuses, hpcw_error *err) {
    return w->linktest ? do_linktest(w, path, refuses, err) : do_sion(w, path, refuses, err);
}

static uint32_t files_of(const struct work *w) {
    if (w->linktest) {
        return linktest_case_named(w->name)->params.files;
    }
    const struct sion_case *c = sion_case_named(w->name);
    /* One file per colour that has tasks. */
    return c->by_parity && (processes == 1 || w->spread != PARITY) ? 1 : c->files;
}

static bool has_tasks(const struct work *w) {
    uint32_t ranks[MOST_TASKS];
    uint32_t tasks = w->linktest ? linktest_case_named(w->name)->params.tasks : sion_case_named(w->name)->tasks;
    return own_tasks(w->spread, tasks, ranks) > 0;
}

/* Does the work without a failure. Its files are the reference for all other runs. */
static void make_reference(const struct work *w) {
    char dir[300];
    char path[600];
    (void)snprintf(dir, sizeof dir, "%s/%d", scratch, REFERENCE);
    (void)snprintf(path, sizeof path, "%s/%s", dir, w->name);
    empty_directory(dir);
    hpcw_error err = {.message = ""};
    bool refuses;
    hpcw_status s = do_work(w, path, &refuses, &err);
    if (s != HPCW_OK) {
        print_error("%s: %s\n", w->name, err.message);
    }
    assert_true(on_all(s == HPCW_OK));
}

/* Returns whether all files of the work are as the reference. */
static bool is_reference(const struct work *w, const char *path) {
    char reference[512];
    (void)snprintf(reference, sizeof reference, "%s/%d/%s", scratch, REFERENCE, w->name);
    bool same = true;
    for (uint32_t f = 0; f < files_of(w); f++) {
        char want[640];
        char got[640];
        name_of_file(want, sizeof want, reference, f);
        name_of_file(got, sizeof got, path, f);
        same = same_file(want, got) && same;
    }
    return same;
}

/* ---- calls that fail ---- */

enum culprits { FIRST, LAST, ALL };

static bool is_culprit(enum culprits who) {
    return who == ALL || process == (who == FIRST ? 0 : processes - 1);
}

/* Repeats the run with the n-th call failing, until no process meets a failure. */
static void fail_each_call(const struct work *w, enum fault fault, enum culprits who) {
    char dir[300];
    char path[600];
    (void)snprintf(dir, sizeof dir, "%s/%d", scratch, WORK);
    (void)snprintf(path, sizeof path, "%s/%s", dir, w->name);
    for (unsigned long n = 1;; n++) {
        hpcw_error err = {.message = ""};
        bool refuses = false;
        int descriptors = count_descriptors();
        fault_arm(fault, is_culprit(who) ? n : 0);
        hpcw_status s = do_work(w, path, &refuses, &err);
        bool met = fault_disarm();
        bool kept = count_descriptors() != descriptors;
        bool any = on_any(met);
        bool good = refuses && !kept;
        if (any) {
            bool own =
                w->linktest && fault == FAULT_NOMEM && strncmp(err.message, "linktest schedule", 17) == 0;
            good = good && s == fault_status(fault) && good_message(s, &err, own ? "linktest" : path);
            /* The process that the message names met a failure. */
            good = good && (processes == 1 || err.process != process || met);
        } else {
            good = good && s == HPCW_OK;
        }
        if (!on_all(good)) {
            print_error("%s, %s on %d, call %lu: process %d: status %d, met %d, refuses %d, kept %d: %s\n",
                        w->name, fault_name(fault), (int)who, n, process, (int)s, met, refuses, kept,
                        err.message);
            assert_true(false);
        }
        if (!any) {
            assert_int_equal(entries_seen(dir), (int)files_of(w));
            assert_true(is_reference(w, path));
            empty_directory(dir);
            assert_true(n > 1 ||
                        !on_any(is_culprit(who) && has_tasks(w))); /* at least one call was able to fail */
            return;
        }
        assert_true(same_verdict(s, &err));
        bool finished = process == 0 && is_finished_by_next_open(&err, path);
        if (on_any(finished)) {
            assert_int_equal(entries_seen(dir), (int)files_of(w));
            assert_true(is_reference(w, path));
            empty_directory(dir);
            continue;
        }
        int left = entries_seen(dir);
        if (left != 0) {
            print_error("%s, %s on %d, call %lu: %d files left\n", w->name, fault_name(fault), (int)who, n,
                        left);
            assert_true(false);
        }
    }
}

static void every_call_fails_once(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof works / sizeof works[0]; i++) {
        if (processes == 1 && works[i].spread == PARITY) {
            continue;
        }
        make_reference(&works[i]);
        for (int who = FIRST; who <= ALL; who++) {
            if (processes == 1 && who != FIRST) {
                continue;
            }
            /* ALL: while one process fails, another one may already remove files. If the removal failed, too, files
             * would stay. ENOSPC does not make removals fail, but EIO does. */
            fail_each_call(&works[i], who == ALL ? FAULT_ENOSPC : FAULT_EIO, (enum culprits)who);
            fail_each_call(&works[i], FAULT_NOMEM, (enum culprits)who);
        }
    }
}

/* A file system may report a failed write only when the file is closed. All processes learn of it, also if the
 * process that meets it writes no metadata. */
static void late_failures(void **state) {
    (void)state;
    fails_late = true;
    for (size_t i = 0; i < 2; i++) { /* one file, and a set */
        char path[600];
        bool refuses;
        hpcw_error err = {.message = ""};
        (void)snprintf(path, sizeof path, "%s/%d/%s", scratch, WORK, works[i].name);
        hpcw_status s = do_sion(&works[i], path, &refuses, &err);
        assert_true(on_all(s == HPCW_EIO && refuses && good_message(s, &err, path)));
        assert_true(same_verdict(s, &err));
        (void)snprintf(path, sizeof path, "%s/%d", scratch, WORK);
        assert_int_equal(entries_seen(path), 0);
    }
    fails_late = false;
}

/* Repeats the run with the n-th collective failing on all processes, until none fails. */
static void fail_each_collective(const struct work *w) {
    char dir[300];
    char path[600];
    (void)snprintf(dir, sizeof dir, "%s/%d", scratch, WORK);
    (void)snprintf(path, sizeof path, "%s/%s", dir, w->name);
    for (unsigned long n = 1;; n++) {
        hpcw_error err = {.message = ""};
        bool refuses = false;
        int descriptors = count_descriptors();
        comm_fault_arm(n);
        hpcw_status s = do_work(w, path, &refuses, &err);
        bool met = comm_fault_disarm();
        bool good = refuses && count_descriptors() == descriptors &&
                    (met ? s == HPCW_ECOMM && err.code == s && err.message[0] != '\0' : s == HPCW_OK);
        if (!on_all(good)) {
            print_error("%s, collective %lu: process %d: status %d, met %d, refuses %d: %s\n", w->name, n,
                        process, (int)s, met, refuses, err.message);
            assert_true(false);
        }
        assert_int_equal(on_any(met), on_all(met));
        if (!met) {
            assert_true(n > 1); /* at least one call was able to fail */
            empty_directory(dir);
            return;
        }
        /* If MPI failed after the last file got its name, everything is there. If it failed earlier, file 0 is
         * missing. Temporary files may stay, since no process knows who must remove them. */
        if (on_any(access(path, F_OK) == 0)) {
            assert_true(is_reference(w, path));
        }
        empty_directory(dir);
    }
}

static void every_collective_fails_once(void **state) {
    (void)state;
    for (size_t i = 0; processes > 1 && i < sizeof works / sizeof works[0]; i++) {
        make_reference(&works[i]);
        fail_each_collective(&works[i]);
    }
}

/* Packed chunks are placed by a chain of messages of one or two words, from process to process. The n-th message of
 * a process fails on this process only, or on all. No process may wait for later messages. */
static void fail_each_message(const struct work *w, int culprit) {
    char dir[300];
    char path[600];
    (void)snprintf(dir, sizeof dir, "%s/%d", scratch, WORK);
    (void)snprintf(path, sizeof path, "%s/%s", dir, w->name);
    for (unsigned long n = 1;; n++) {
        hpcw_error err = {.message = ""};
        bool refuses = false;
        comm_fault_arm_message(culprit == processes || process == culprit ? n : 0, 2);
        hpcw_status s = do_work(w, path, &refuses, &err);
        bool any = on_any(comm_fault_disarm());
        bool good = refuses && s == (any ? HPCW_ECOMM : HPCW_OK) && (!any || err.message[0] != '\0');
        if (!on_all(good) || !same_verdict(s, &err)) {
            print_error("%s, message %lu of %d: process %d: status %d, refuses %d: %s\n", w->name, n, culprit,
                        process, (int)s, refuses, err.message);
            assert_true(false);
        }
        assert_true(!any || !on_any(access(path, F_OK) == 0));
        empty_directory(dir);
        if (!any) {
            assert_true(n > 1); /* at least one call was able to fail */
            return;
        }
    }
}

static void every_message_fails_once(void **state) {
    (void)state;
    static const struct work packed[] = {
        {"packed.sion", BLOCKS, false, false},      /* all processes have tasks */
        {"packed.sion", ALL_ON_LAST, false, false}, /* most processes have no tasks */
    };
    for (size_t i = 0; processes > 1 && i < sizeof packed / sizeof packed[0]; i++) {
        for (int culprit = 0; culprit <= processes; culprit++) {
            fail_each_message(&packed[i], culprit);
        }
    }
}

int main(int argc, char **argv) {
    world_begin(&argc, &argv, FOLDERS);
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_call_fails_once), cmocka_unit_test(late_failures),
                                       cmocka_unit_test(every_collective_fails_once),
                                       cmocka_unit_test(every_message_fails_once)};
    return world_end(cmocka_run_group_tests(tests, NULL, NULL));
}
