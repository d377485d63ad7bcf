/* SPDX-License-Identifier: BSD-3-Clause */
/* Creates, opens, looks up and removes a file for each task, and one container for all of them. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include <hpcw/sion.h>
#include <hpcw/sion_read.h>

#include "bench/measure/random.h"
#include "bench/sweep/sweep.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/io/sys.h"

struct metadata_work {
    const struct bench_processes *processes;
    const char *directory;
    uint32_t tasks, block;
};

/* ---- a file for each task ---- */

typedef int do_file(const char *path);

static int create_file(const char *path) {
    int fd;
    int e = hpcw_i_sys_open(path, O_WRONLY | O_CREAT | O_EXCL, 0666, &fd);
    return e == 0 ? hpcw_i_sys_close(fd) : e;
}

static int open_file(const char *path) {
    int fd;
    int e = hpcw_i_sys_open(path, O_RDONLY, 0, &fd);
    return e == 0 ? hpcw_i_sys_close(fd) : e;
}

static int look_up_file(const char *path) {
    uint64_t size;
    return hpcw_i_sys_size_of(path, &size);
}

/* Calls `call` for the files of another process, whose number is (number of this process + after) modulo the
 * number of processes. The caches of a host have the files that its own processes created, so these are not
 * used. */
static hpcw_status all_files(const struct metadata_work *w, do_file *call, uint64_t after, const char *what,
                             hpcw_error *err) {
    uint64_t processes = (uint64_t)w->processes->count;
    uint64_t whose = ((uint64_t)w->processes->process + after) % processes;
    uint32_t end = (uint32_t)(w->tasks * (whose + 1) / processes);
    for (uint32_t task = (uint32_t)(w->tasks * whose / processes); task < end; task++) {
        char path[BENCH_PATH];
        (void)snprintf(path, sizeof path, "%s/task.%06u", w->directory, task);
        int e = call(path);
        if (e != 0) {
            return hpcw_i_fail_sys(err, e, "%s: cannot %s", path, what);
        }
    }
    return HPCW_OK;
}

static hpcw_status create_files(void *work, hpcw_error *err) {
    return all_files(work, create_file, 0, "create", err);
}

static hpcw_status open_files(void *work, hpcw_error *err) {
    return all_files(work, open_file, 1, "open", err);
}

static hpcw_status look_up_files(void *work, hpcw_error *err) {
    return all_files(work, look_up_file, 1, "look up", err);
}

static hpcw_status unlink_files(void *work, hpcw_error *err) {
    return all_files(work, hpcw_i_sys_unlink, 1, "remove", err);
}

/* ---- one container ---- */

static void container_path(const struct metadata_work *w, char path[BENCH_PATH]) {
    (void)snprintf(path, BENCH_PATH, "%s/container", w->directory);
}

static hpcw_status create_container(void *work, hpcw_error *err) {
    const struct metadata_work *w = work;
    const uint64_t processes = (uint64_t)w->processes->count, process = (uint64_t)w->processes->process;
    char path[BENCH_PATH];
    hpcw_sion_options o;
    hpcw_sion *sion = NULL;
    container_path(w, path);
    hpcw_sion_options_init(&o);
    o.count = (uint32_t)(w->tasks * (process + 1) / processes - w->tasks * process / processes);
    o.chunk_size = w->block;
    o.fs_block_size = w->block;
    o.durability = HPCW_SYNC_NONE;
    hpcw_status s = hpcw_sion_open(path, w->processes->comm, &o, &sion, err);
    s = s == HPCW_OK ? hpcw_sion_close(sion, err) : s;
    hpcw_sion_free(sion);
    return s;
}

static hpcw_status open_container(void *work, hpcw_error *err) {
    const struct metadata_work *w = work;
    char path[BENCH_PATH];
    hpcw_sion_reader *reader = NULL;
    container_path(w, path);
    hpcw_status s = hpcw_sion_reader_open(path, w->processes->comm, 0, NULL, &reader, err);
    hpcw_sion_reader_free(reader);
    return s;
}

/* Calls `call` for the container, on process 0 only. */
static hpcw_status on_container(const struct metadata_work *w, do_file *call, const char *what,
                                hpcw_error *err) {
    char path[BENCH_PATH];
    container_path(w, path);
    int e = w->processes->process == 0 ? call(path) : 0;
    return e == 0 ? HPCW_OK : hpcw_i_fail_sys(err, e, "%s: cannot %s", path, what);
}

static hpcw_status look_up_container(void *work, hpcw_error *err) {
    return on_container(work, look_up_file, "look up", err);
}

static hpcw_status unlink_container(void *work, hpcw_error *err) {
    return on_container(work, hpcw_i_sys_unlink, "remove", err);
}

/* The phases of a side are the operations of enum bench_operation, in this order. */
static const struct bench_side side[] = {
    {.name = "files",
     .phase = {{.name = "create", .run = create_files},
               {.name = "open", .run = open_files, .together = true},
               {.name = "stat", .run = look_up_files, .together = true},
               {.name = "unlink", .run = unlink_files, .together = true}}},
    {.name = "container",
     .phase = {{.name = "create", .run = create_container},
               {.name = "open", .run = open_container, .together = true},
               {.name = "stat", .run = look_up_container, .together = true},
               {.name = "unlink", .run = unlink_container, .together = true}}},
};

/* ---- all numbers of tasks ---- */

static int by_size(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Makes two rows for each number of tasks: files, container. */
static hpcw_status make_rows(const struct ui_sizes *tasks, uint32_t repeat, struct bench_results *r,
                             hpcw_error *err) {
    r->metadata = hpcw_i_calloc(2 * tasks->count, sizeof *r->metadata);
    if (r->metadata == NULL) {
        return hpcw_i_fail_memory(err, NULL, 2 * tasks->count, "rows");
    }
    for (; r->metadatas < 2 * tasks->count; r->metadatas++) {
        struct bench_metadata *m = &r->metadata[r->metadatas];
        m->layout = r->metadatas % 2 == 0 ? BENCH_TASK_LOCAL : BENCH_SION_ALIGNED;
        m->tasks = (uint32_t)tasks->at[r->metadatas / 2];
        m->trial = hpcw_i_calloc(repeat, sizeof *m->trial);
        if (m->trial == NULL) {
            return hpcw_i_fail_memory(err, NULL, repeat, "repetitions");
        }
    }
    return HPCW_OK;
}

/* Measures a file for each task, and one container, with the same number of tasks, in random order. Repetition 0
 * warms up. */
static hpcw_status run_pair(struct metadata_work *w, struct bench_metadata *pair, uint32_t repetition,
                            uint64_t *random, hpcw_error *err) {
    const uint64_t first = bench_random(random) & 1;
    hpcw_status s = HPCW_OK;
    w->tasks = pair[0].tasks;
    for (uint64_t i = 0; s == HPCW_OK && i < 2; i++) {
        struct bench_metadata *m = &pair[i ^ first];
        struct bench_sample sample;
        s = bench_timer_run(&side[i ^ first], w, w->processes, &sample, err);
        if (s == HPCW_OK && repetition > 0) {
            struct bench_metadata_trial *t = &m->trial[m->trials++];
            *t = (struct bench_metadata_trial){.repetition = repetition, .others = sample.others};
            for (int k = 0; k < BENCH_OPERATIONS; k++) {
                t->ns[k] = sample.phase_ns[k];
            }
        }
    }
    return s;
}

/* Handles a failure with some number of tasks, whose rows begin at `first`. Drops the results of this number
 * and of all larger numbers, which would fail for the same reason. */
static void note_failure(struct bench_results *r, size_t first, const hpcw_error *e) {
    for (size_t i = first; i < r->metadatas; i++) {
        struct bench_metadata *m = &r->metadata[i];
        m->trials = 0;
        if (i < first + 2) {
            (void)snprintf(m->reason, sizeof m->reason, "%s", e->message);
        } else {
            (void)snprintf(m->reason, sizeof m->reason, "not tried, as %u tasks failed",
                           r->metadata[first].tasks);
        }
    }
}

hpcw_status bench_sweep_metadata(const struct bench_options *o, const char *directory, uint64_t begin_ns,
                                 const struct bench_processes *processes, struct bench_results *r,
                                 hpcw_error *err) {
    static const uint64_t usual[] = {64, 256, 1024, 4096, 16384};
    struct ui_sizes tasks = o->tasks;
    for (; o->tasks.count == 0 && tasks.count < sizeof usual / sizeof usual[0]; tasks.count++) {
        tasks.at[tasks.count] = usual[tasks.count];
    }
    qsort(tasks.at, tasks.count, sizeof tasks.at[0], by_size);
    struct metadata_work w = {
        .processes = processes, .directory = directory, .block = (uint32_t)r->fs.block_size};
    uint64_t random = o->seed, spent = 0;
    hpcw_status s = hpcw_i_agree(processes->comm, make_rows(&tasks, r->repeat, r, err), NULL, err);
    for (size_t i = 0; s == HPCW_OK && i < tasks.count; i++) {
        /* The time grows with the number of tasks. So the time of the last number predicts the time of the next
         * one, and process 0 decides whether the budget suffices. */
        uint64_t begin = bench_timer_now();
        uint64_t needed =
            i == 0 ? 0 : (uint64_t)((double)spent * (double)tasks.at[i] / (double)tasks.at[i - 1]);
        unsigned char on = begin - begin_ns + needed < r->limits.budget_ns;
        s = hpcw_i_comm_bcast(processes->comm, &on, 1, 0, err);
        hpcw_error e;
        hpcw_status failure = HPCW_OK;
        for (uint32_t k = 0; s == HPCW_OK && failure == HPCW_OK && on != 0 && k <= r->repeat; k++) {
            failure = run_pair(&w, &r->metadata[2 * i], k, &random, &e);
        }
        if (failure == HPCW_ECOMM) {
            *err = e;
            s = failure;
        } else if (failure != HPCW_OK &&
                   failure != HPCW_ESTATE) { /* HPCW_ESTATE is a signal: the results so far are kept */
            note_failure(r, 2 * i, &e);
        }
        if (on == 0 || failure != HPCW_OK) {
            break;
        }
        spent = bench_timer_now() - begin;
    }
    return s;
}
