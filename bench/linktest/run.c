/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/linktest/run.h"

#include <sched.h>
#include <string.h>

#include "bench/measure/timer.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"

static hpcw_linktest_params params_of(const struct bench_linktest_options *o, uint32_t tasks) {
    hpcw_linktest_params p;
    hpcw_linktest_params_init(&p);
    p.tasks = tasks;
    p.count = 1;
    p.git_hash =
        strlen(bench_linktest_git_hash) == HPCW_LINKTEST_HASH_SIZE - 1 ? bench_linktest_git_hash : NULL;
    p.kernel = o->bidirectional    ? HPCW_LINKTEST_BIDIRECTIONAL
               : o->unidirectional ? HPCW_LINKTEST_UNIDIRECTIONAL
                                   : HPCW_LINKTEST_SEMIDIRECTIONAL;
    p.all_to_all = o->all_to_all;
    p.bisection = o->bisection;
    p.serial = o->serial;
    p.randomize_steps = o->randomize;
    p.step_seed = o->seed;
    p.permutations = o->permutations;
    p.task_seed = o->permutations > 0 ? o->seed : 0;
    p.messages = o->messages;
    p.warmup_messages = o->warmup;
    p.retests = o->retests;
    p.max_host_size = HOST_NAME_MAX + 1;
    return p;
}

static hpcw_status allocate(struct bench_linktest *l, hpcw_error *err) {
    const struct ui_sizes *sizes = &l->options->sizes;
    uint32_t tasks = l->params.tasks;
    uint64_t largest = 0;
    for (size_t i = 0; i < sizes->count; i++) {
        largest = sizes->at[i] > largest ? sizes->at[i] : largest;
    }
    hpcw_status s = bench_exchange_new(&l->exchange, largest, l->params.all_to_all, err);
    l->exchange.kernel = l->params.kernel;
    l->exchange.warmup = l->params.warmup_messages;
    l->exchange.messages = l->params.messages;
    l->slow_count = l->params.retests < tasks ? (size_t)l->params.retests : tasks;
    l->time_ps = hpcw_i_calloc(tasks, sizeof *l->time_ps);
    l->slow = hpcw_i_calloc(l->slow_count + 1, sizeof *l->slow);
    l->again_ps = hpcw_i_calloc(l->slow_count + 1, sizeof *l->again_ps);
    if (s == HPCW_OK && (l->time_ps == NULL || l->slow == NULL || l->again_ps == NULL)) {
        s = hpcw_i_fail_memory(err, "timings", tasks, "processes");
    }
    return s;
}

hpcw_status bench_linktest_prepare(struct bench_linktest *l, const struct bench_linktest_options *options,
                                   const struct bench_processes *processes, hpcw_error *err) {
    *l = (struct bench_linktest){.options = options, .processes = processes, .exchange.comm = MPI_COMM_NULL};
    hpcw_status s = bench_hosts_find(&l->hosts, processes, options->oversubscribe, err);
    if (s != HPCW_OK) {
        return s;
    }
    l->params = params_of(options, (uint32_t)processes->count);
    return bench_timer_agree(processes, allocate(l, err), NULL, err);
}

void bench_linktest_free(struct bench_linktest *l) {
    bench_exchange_free(&l->exchange);
    hpcw_i_free(l->time_ps);
    hpcw_i_free(l->slow);
    hpcw_i_free(l->again_ps);
}

/* ---- measuring ---- */

/* Waits for all processes, or returns an error on all. */
static hpcw_status ready(struct bench_linktest *l, hpcw_error *err) {
    bench_progress_next(&l->progress);
    return bench_timer_agree(l->processes, HPCW_OK, NULL, err);
}

/* Measures a pair twice. First the process with the lower number leads and sends the first message, then the other
 * process does. */
static uint64_t measure_pair(const struct bench_linktest *l, uint32_t partner) {
    uint32_t self = (uint32_t)l->processes->process;
    uint64_t time_ps = 0;
    for (int turn = 0; turn < 2; turn++) {
        bool leads = (self < partner) == (turn == 0);
        uint64_t measured = bench_exchange_pair(&l->exchange, (int)partner, leads);
        time_ps = leads ? measured : time_ps;
    }
    return time_ps;
}

static hpcw_status measure_step(struct bench_linktest *l, const hpcw_linktest_schedule *schedule, uint32_t step,
                                hpcw_error *err) {
    uint32_t self = (uint32_t)l->processes->process;
    uint32_t partner = hpcw_linktest_partner(schedule, self, step);
    hpcw_status s = HPCW_OK;
    if (!l->params.serial) {
        s = ready(l, err);
        l->time_ps[step] = s == HPCW_OK ? measure_pair(l, partner) : 0;
        return s;
    }
    for (uint32_t lower = 0; s == HPCW_OK && lower < l->params.tasks; lower++) {
        if (hpcw_linktest_partner(schedule, lower, step) < lower) {
            continue;
        }
        s = ready(l, err);
        if (s == HPCW_OK && (lower == self || lower == partner)) {
            l->time_ps[step] = measure_pair(l, partner);
        }
    }
    return s;
}

static hpcw_status measure_steps(struct bench_linktest *l, uint64_t permutation, hpcw_error *err) {
    hpcw_linktest_schedule *schedule;
    hpcw_status s = hpcw_linktest_schedule_new(&l->params, permutation, &schedule, err);
    s = hpcw_i_agree(l->processes->comm, s, NULL, err);
    for (uint32_t step = 0; s == HPCW_OK && step < hpcw_linktest_steps(&l->params); step++) {
        s = measure_step(l, schedule, step, err);
    }
    hpcw_linktest_schedule_free(schedule);
    return s;
}

/* Measures the slowest connections again, one at a time, while all others are silent. */
static hpcw_status measure_again(struct bench_linktest *l, hpcw_error *err) {
    uint32_t self = (uint32_t)l->processes->process;
    hpcw_status s = HPCW_OK;
    for (size_t i = 0; s == HPCW_OK && i < l->slow_count; i++) {
        bool leads = self == l->slow[i].from;
        l->again_ps[i] = 0;
        s = ready(l, err);
        if (s == HPCW_OK && (leads || self == l->slow[i].to)) {
            uint32_t partner = leads ? l->slow[i].to : l->slow[i].from;
            uint64_t measured = bench_exchange_pair(&l->exchange, (int)partner, leads);
            l->again_ps[i] = leads ? measured : 0;
        }
    }
    if (s == HPCW_OK && l->slow_count > 0) {
        struct hpcw_i_words words = {.maxs = (uint32_t)l->slow_count, .word = l->again_ps};
        s = hpcw_i_comm_allreduce(l->processes->comm, &words, err);
    }
    for (size_t i = 0; s == HPCW_OK && i < l->slow_count; i++) {
        l->slow[i].retest_ps = l->again_ps[i];
    }
    return s;
}

/* Sets `text` to the time of process 0. If the clock was set back, this is the time of the previous call, because
 * readers of a result require ascending times. */
static hpcw_status now(struct bench_linktest *l, char text[BENCH_TIME], hpcw_error *err) {
    bench_json_now(text);
    if (strcmp(text, l->last) < 0) {
        memcpy(text, l->last, BENCH_TIME);
    }
    hpcw_status s = hpcw_i_comm_bcast(l->processes->comm, text, BENCH_TIME, 0, err);
    memcpy(l->last, text, BENCH_TIME);
    return s;
}

static hpcw_status measure_permutation(struct bench_linktest *l, hpcw_linktest *file, uint64_t permutation,
                                       hpcw_error *err) {
    uint32_t self = (uint32_t)l->processes->process;
    char start[BENCH_TIME], end[BENCH_TIME];
    uint64_t all_ps = 0;
    hpcw_status s = now(l, start, err);
    s = s == HPCW_OK ? measure_steps(l, permutation, err) : s;
    if (s == HPCW_OK && l->params.all_to_all) {
        s = ready(l, err);
        all_ps = s == HPCW_OK ? bench_exchange_all(&l->exchange) : 0;
    }
    if (s != HPCW_OK) {
        return s;
    }
    /* These calls are not collective. If one fails, the next collective call fails on all processes. */
    hpcw_error local;
    s = permutation == 0 ? hpcw_linktest_task(file, self, l->hosts.name, sched_getcpu(), &local) : HPCW_OK;
    s = s == HPCW_OK ? hpcw_linktest_timings(file, self, l->time_ps, NULL, all_ps, &local) : s;
    if (s != HPCW_OK) {
        hpcw_linktest_abandon(file, &local);
    }
    size_t count = 0;
    s = hpcw_linktest_slowest(file, l->slow, &count, err);
    s = s == HPCW_OK ? measure_again(l, err) : s;
    s = s == HPCW_OK ? now(l, end, err) : s;
    return s == HPCW_OK ? hpcw_linktest_end_permutation(file, start, end, l->slow, err) : s;
}

hpcw_status bench_linktest_measure(struct bench_linktest *l, uint64_t size, const char *path, hpcw_error *err) {
    l->params.message_size = size;
    l->exchange.size = (int)size;
    /* The file is opened first, so that a path that cannot be written fails before the measurement. */
    hpcw_linktest *file;
    hpcw_status s = hpcw_linktest_open(path, l->processes->comm, &l->params, &file, err);
    for (uint64_t m = 0; s == HPCW_OK && m < hpcw_linktest_permutations(&l->params); m++) {
        hpcw_linktest_range times, all_to_all;
        s = measure_permutation(l, file, m, err);
        s = s == HPCW_OK ? hpcw_linktest_figures(file, &times, &all_to_all, err) : s;
        if (s == HPCW_OK) {
            bench_linktest_show(l, path, &times, &all_to_all);
        }
    }
    s = s == HPCW_OK ? hpcw_linktest_close(file, err) : s;
    hpcw_linktest_free(file);
    return s;
}
