/* SPDX-License-Identifier: BSD-3-Clause */
/* At random, a system call or an allocation fails on one process, or a collective fails on all. All processes must
 * get the same verdict, and nothing incomplete may look finished. The program is careless: it ignores the results
 * of writes and continues to the close.
 *
 * Usage: one_fails SEED ROUNDS. Prints how many rounds survived. Exit status 0: all of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hpcw/hpcw.h>

#include "libwriter/comm/agree.h"
#include "libwriter/io/dir.h"
#include "libwriter/io/sink_set.h"
#include "tests/support/clog2_cases.h"
#include "tests/support/comm_faults.h"
#include "tests/support/faults.h"
#include "tests/support/files.h"
#include "tests/support/linktest_cases.h"
#include "tests/support/random.h"
#include "tests/support/rank2file_cases.h"
#include "tests/support/sion_cases.h"
#include "tests/support/world.h"

enum { MOST_TASKS = 64, VOM_RANKS = 12, STEPS = 40 };
enum { COLLECTIVE = FAULTS, KINDS };

static void ignore(hpcw_status s) {
    (void)s;
}

/* ---- the work: all files of `directory` ---- */

static const struct sion_case *sion_case_named(const char *name) {
    for (unsigned i = 0; i < sion_case_count; i++) {
        if (strcmp(sion_cases[i].name, name) == 0) {
            return &sion_cases[i];
        }
    }
    abort();
}

static hpcw_status write_sion(const char *directory, const char *name, hpcw_error *err) {
    const struct sion_case *c = sion_case_named(name);
    uint32_t ranks[MOST_TASKS];
    uint64_t sizes[MOST_TASKS];
    char path[512];
    uint32_t count = own_tasks(ROUND_ROBIN, c->tasks, ranks);
    for (uint32_t i = 0; i < count; i++) {
        sizes[i] = c->chunk[ranks[i] % 8];
    }
    hpcw_sion_options o = sion_case_options(c, count, ranks, sizes);
    o.flavour = HPCW_SION_PARALLEL;
    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    hpcw_sion *sion;
    hpcw_status s = hpcw_sion_open(path, world, &o, &sion, err);
    for (uint32_t i = 0; s == HPCW_OK && i < count; i++) {
        /* A record refused for lack of memory was not stored and may be written again, so the close would not fail.
         * This program does not write the record again, so it must abandon the container. */
        if (c->write(sion, ranks[i], err) == HPCW_ENOMEM) {
            hpcw_sion_abandon(sion, err);
        }
    }
    s = s == HPCW_OK ? hpcw_sion_close(sion, err) : s;
    hpcw_sion_free(sion);
    return s;
}

static hpcw_status write_linktest(const char *directory, const char *name, hpcw_error *err) {
    const struct linktest_case *c = linktest_cases;
    while (strcmp(c->name, name) != 0) {
        c++;
    }
    hpcw_linktest_params p = c->params;
    p.durability = HPCW_SYNC_NONE;
    uint32_t ranks[MOST_TASKS];
    uint32_t count = own_tasks(BACKWARDS, p.tasks, ranks);
    char path[512];
    bool refuses;
    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    return linktest_case_write(c, &p, path, world, count, ranks, NULL, &refuses, err);
}

/* Opens a rank's file and writes two phases. Returns NULL if it cannot be opened. */
static hpcw_vom *write_rank(const char *directory, uint32_t rank, hpcw_error *err) {
    char path[512];
    hpcw_vom_options o;
    hpcw_vom_options_init(&o);
    o.rank = rank;
    o.ranks = VOM_RANKS;
    o.node = hpcw_vom_node_of(VOM_RANKS, 3, rank);
    o.durability = HPCW_SYNC_NONE;
    (void)snprintf(path, sizeof path, "%s/data.%u.json.br", directory, rank);
    hpcw_vom *v;
    ignore(hpcw_vom_open(path, &o, &v, err));
    for (uint64_t phase = 0; v != NULL && phase < 2; phase++) {
        ignore(hpcw_vom_begin_phase(v, phase, err));
        for (uint64_t i = 0; i < 20; i++) {
            uint64_t index = VOM_RANKS * i + rank;
            hpcw_vom_task task = {.entity = hpcw_vom_element(rank, (uint32_t)i, 7, &index, 1), .time_s = rank};
            ignore(hpcw_vom_task_add(v, &task, err));
        }
        ignore(hpcw_vom_end_phase(v, NULL, 0, err));
    }
    return v;
}

static hpcw_status write_vom(const char *directory, const char *name, hpcw_error *err) {
    (void)name;
    hpcw_vom *v[VOM_RANKS] = {NULL};
    hpcw_status s = HPCW_OK;
    for (uint32_t rank = (uint32_t)process; s == HPCW_OK && rank < VOM_RANKS; rank += (uint32_t)processes) {
        v[rank] = write_rank(directory, rank, err);
        s = v[rank] == NULL ? err->code : HPCW_OK;
    }
    /* A file that could not be opened takes no part in the close. So its process reports the failure here. */
    s = hpcw_i_agree(world, s, NULL, err);
    s = s == HPCW_OK ? hpcw_vom_close_set(v, VOM_RANKS, world, err) : s;
    for (uint32_t rank = 0; rank < VOM_RANKS; rank++) {
        hpcw_vom_free(v[rank]);
    }
    return s;
}

static hpcw_status write_clog2(const char *directory, const char *name, hpcw_error *err) {
    struct clog2_case c;
    char path[512];
    hpcw_clog2 *log;
    uint64_t blocks = 0;
    clog2_case_make(&c, 3, STEPS);
    c.options.durability = HPCW_SYNC_NONE;
    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    hpcw_status s = hpcw_clog2_open(path, world, &c.options, &log, err);
    if (s == HPCW_OK) {
        if (process == processes - 1) {
            ignore(clog2_case_slice(&c, log, 0, c.count, true, 0, &blocks, err));
        }
        PMPI_Bcast(&blocks, 1, MPI_UINT64_T, processes - 1,
                   MPI_COMM_WORLD); /* the program's own communicator, which does not fail */
        s = hpcw_clog2_close(log, blocks, err);
    }
    hpcw_clog2_free(log);
    clog2_case_free(&c);
    return s;
}

/* Writes a checkpoint with a file per rank. The program notices only if a file cannot be begun. */
static hpcw_status write_rank2file(const char *directory, const char *name, hpcw_error *err) {
    const struct rank2file_case c = {.name = name, .layout = HPCW_RANK2FILE_SHARED};
    hpcw_rank2file_options o;
    hpcw_rank2file *w;
    rank2file_case_options(&c, &o);
    o.count = 2;
    hpcw_status s = hpcw_rank2file_open(directory, world, &o, &w, err);
    for (uint32_t i = 0; s == HPCW_OK && i < 2; i++) {
        uint32_t rank = hpcw_rank2file_first_rank(w) + i;
        unsigned char data[3000];
        char file_name[32];
        hpcw_rank2file_file *file;
        hpcw_error own = {.message = ""};
        memset(data, (int)rank, sizeof data);
        (void)snprintf(file_name, sizeof file_name, "rank_%u", rank);
        if (hpcw_rank2file_create(w, rank, file_name, &file, &own) != HPCW_OK) {
            hpcw_rank2file_abandon(w, &own);
            continue;
        }
        for (size_t at = 0; at < sizeof data; at += 100) {
            ignore(hpcw_rank2file_file_write(file, data + at, 100, &own));
        }
        ignore(hpcw_rank2file_file_close(file, &own));
        hpcw_rank2file_file_free(file);
    }
    s = s == HPCW_OK ? hpcw_rank2file_close(w, err) : s;
    hpcw_rank2file_free(w);
    return s;
}

/* ---- whether a run left a finished file ---- */

static bool is_empty(const char *directory) {
    return count_entries(directory) == 0;
}

/* Data files may be left, but no job restarts from them. */
static bool has_no_checkpoint(const char *directory) {
    hpcw_rank2file_restart *r;
    hpcw_error err;
    bool none = hpcw_rank2file_restart_open(directory, NULL, NULL, &r, &err) != HPCW_OK;
    hpcw_rank2file_restart_free(r);
    return none;
}

struct work {
    hpcw_status (*write)(const char *directory, const char *name, hpcw_error *err);
    const char *name;
    bool (*is_unfinished)(const char *directory);
    const char *last; /* the file that is renamed last */
    /* base name of a set of files, by which the next open finds the set; NULL: the work writes one file */
    const char *set;
};

static const struct work works[] = {
    {write_sion, "four_tasks_parallel.sion", is_empty, "four_tasks_parallel.sion", NULL},
    {write_sion, "multi8of2.sion", is_empty, "multi8of2.sion", "multi8of2.sion"},
    {write_sion, "packed.sion", is_empty, "packed.sion", "packed.sion"},
    {write_sion, "be_keyval.sion", is_empty, "be_keyval.sion", NULL},
    {write_linktest, "all_flags.sion", is_empty, "all_flags.sion", NULL},
    {write_linktest, "bisection.sion", is_empty, "bisection.sion", NULL},
    {write_vom, "load data", is_empty, "data.0.json.br", "data.json"},
    {write_clog2, "app.clog2", is_empty, "app.clog2", NULL},
    {write_rank2file, "checkpoint", has_no_checkpoint, HPCW_RANK2FILE_INDEX, NULL},
};
enum { WORKS = sizeof works / sizeof works[0], HARMED = WORKS };

/* ---- one round ---- */

/* Folder i has the reference of work i. The last folder has the run with failures. */
static void folder_of(int number, char *path, size_t size) {
    (void)snprintf(path, size, "%s/%d", scratch, number);
}

static bool make_reference(int i) {
    char path[300];
    hpcw_error err = {.message = ""};
    folder_of(i, path, sizeof path);
    bool good = works[i].write(path, works[i].name, &err) == HPCW_OK;
    if (!good) {
        (void)fprintf(stderr, "%s, undisturbed: process %d: %s\n", works[i].name, process, err.message);
    }
    return on_all(good);
}

static bool has(const char *directory, const char *name) {
    char path[600];
    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    return access(path, F_OK) == 0;
}

/* Returns whether the next open finishes a set of files whose run failed after the first rename. This must succeed.
 * If all files had their final names already, the directory may have one file more than wanted: the intent, which
 * lists the renames and is removed last. */
static bool is_finished_later(const struct work *w, const char *want, const char *got) {
    struct hpcw_i_dir *dir = NULL;
    char path[600];
    hpcw_error err;
    if (w->set == NULL || (has(got, w->last) && count_entries(got) != count_entries(want) + 1)) {
        return false;
    }
    (void)snprintf(path, sizeof path, "%s/%s", got, w->set);
    bool good = hpcw_i_dir_hold_of(path, &dir) == 0 && hpcw_i_set_finish(dir, path, &err) == HPCW_OK &&
                same_trees(want, got);
    hpcw_i_dir_release(dir);
    return good;
}

/* Returns whether a checkpoint is complete after a prune, which removes markers that a process could not remove:
 * the kind "cleaning" of doc/testing.md. */
static bool is_whole(const struct work *w, const char *want, const char *got) {
    hpcw_error err;
    const bool pruned =
        w->write != write_rank2file || hpcw_rank2file_prune(got, NULL, 0, NULL, NULL, &err) == HPCW_OK;
    return pruned && same_trees(want, got);
}

/* Returns what is wrong after a run that returned `s` on this process; NULL: nothing. */
static const char *judge(const struct work *w, const char *want, const char *got, int fault, bool met,
                         hpcw_status s, const hpcw_error *err) {
    if (!on_all(s == HPCW_OK) && !on_all(s != HPCW_OK)) {
        return "processes differ";
    }
    if (s == HPCW_OK) {
        return on_all(process != 0 || is_whole(w, want, got)) ? NULL : "status 0, and other files";
    }
    if (!met || (fault != COLLECTIVE && fault_is_harmless((enum fault)fault))) {
        return "fails";
    }
    if (fault == COLLECTIVE) {
        /* After a failed collective, no process knows which files are left to remove. But a file with its
         * final name must be complete. */
        bool may =
            process != 0 || !has(got, w->last) || same_trees(want, got) || is_finished_later(w, want, got);
        return on_all(may) ? NULL : "looks finished";
    }
    if (!same_verdict(s, err)) {
        return "other messages";
    }
    return on_all(process != 0 || w->is_unfinished(got) || is_finished_later(w, want, got)) ? NULL
                                                                                            : "looks finished";
}

/* Does work `i` with a random failure. Returns whether it survived. All processes draw the same random numbers.
 * most: [KINDS] approximate number of calls that can fail in this way. */
static bool survives(int i, uint64_t *state, unsigned long *most) {
    char want[300], got[300];
    int fault = (int)random_below(state, KINDS);
    int culprit = (int)random_below(state, (uint64_t)processes);
    unsigned long n = 1 + (unsigned long)random_below(state, most[fault]);
    hpcw_error err = {.message = ""};
    folder_of(i, want, sizeof want);
    folder_of(HARMED, got, sizeof got);
    empty_directory(got);

    int descriptors = count_descriptors();
    if (fault == COLLECTIVE) {
        comm_fault_arm(n);
    } else {
        fault_arm((enum fault)fault, process == culprit ? n : 0);
    }
    hpcw_status s = works[i].write(got, works[i].name, &err);
    bool here = fault == COLLECTIVE ? comm_fault_disarm() : fault_disarm();
    bool kept = count_descriptors() != descriptors;
    bool met = on_any(here);
    most[fault] = !met ? n : n > most[fault] / 2 ? 2 * most[fault] : most[fault];

    const char *wrong = judge(&works[i], want, got, fault, met, s, &err);
    wrong = on_any(kept) && wrong == NULL ? "keeps descriptors" : wrong;
    if (wrong != NULL && (process == 0 || process == culprit)) {
        (void)fprintf(stderr, "%s, %s at call %lu of process %d: %s; process %d has %s: %s\n", works[i].name,
                      fault == COLLECTIVE ? "collective" : fault_name((enum fault)fault), n, culprit, wrong,
                      process, hpcw_status_name(s), err.message);
    }
    return wrong == NULL;
}

int main(int argc, char **argv) {
    world_begin(&argc, &argv, WORKS + 1);
    uint64_t state = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    unsigned long rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
    unsigned long survived = 0;
    unsigned long most[WORKS][KINDS];
    bool made[WORKS] = {false};
    for (int i = 0; i < WORKS; i++) {
        for (int fault = 0; fault < KINDS; fault++) {
            most[i][fault] = 16;
        }
    }
    for (unsigned long k = 0; k < rounds; k++) {
        int i = (int)random_below(&state, WORKS);
        made[i] = made[i] || make_reference(i);
        survived += made[i] && survives(i, &state, most[i]);
    }
    if (process == 0) {
        (void)printf("survived: %lu\n", survived);
    }
    return world_end(survived == rounds ? 0 : 1);
}
