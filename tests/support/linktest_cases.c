/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/support/linktest_cases.h"

#include <stdio.h>
#include <string.h>

#define MOST_TASKS 64
#define MOST_RETESTS 64

#define HASH "0123456789abcdef0123456789abcdef01234567"

/* Fields of every result: number of tasks, connections to retest, files, message buffers. */
#define SMALL(mode_, n, d, files_, buffers)                                                                    \
    .mode = (mode_), .tasks = (n), .retests = (d), .files = (files_), .message_buffers = (buffers),            \
    .messages = 100, .message_size = 8, .max_host_size = 16, .fs_block_size = 512

const struct linktest_case linktest_cases[] = {
    {.name = "pair.sion", .params = {SMALL("mpi", 2, 1, 1, 1)}},
    {.name = "plain.sion", .params = {SMALL("mpi", 6, 10, 1, 1), .warmup_messages = 3}},
    {.name = "no_retests.sion",
     .params = {SMALL("tcp", 8, 0, 1, 1), .kernel = HPCW_LINKTEST_UNIDIRECTIONAL, .serial = true,
                .gpu_memory = true}},
    {.name = "bisection.sion",
     .params = {SMALL("psm2", 10, 4, 1, 1), .bisection = true, .kernel = HPCW_LINKTEST_BIDIRECTIONAL},
     .retest = true},
    {.name = "all_to_all.sion",
     .params = {SMALL("mpi", 12, 5, 3, 1), .all_to_all = true, .permutations = 1, .task_seed = 5},
     .retest = true},
    {.name = "all_flags.sion",
     .params = {SMALL("mpi", 14, 7, 1, 4), .all_to_all = true, .randomize_steps = true, .step_seed = 77,
                .permutations = 3, .task_seed = UINT64_C(0x123456789abcdef0), .random_buffers = true,
                .buffer_seed = 9, .check_buffers = true, .layout = HPCW_SION_PACKED, .git_hash = HASH},
     .retest = true},
    {.name = "random_bisection.sion",
     .params = {SMALL("ibverbs", 22, 22, 2, 1), .bisection = true, .randomize_steps = true, .permutations = 2,
                .layout = HPCW_SION_PACKED}},
    {.name = "own_partners.sion", .params = {SMALL("ucp", 16, 3, 1, 1)}, .own_partners = true},
};

const unsigned linktest_case_count = sizeof linktest_cases / sizeof linktest_cases[0];

uint64_t linktest_case_time(const struct linktest_case *c, uint64_t permutation, uint32_t rank,
                            uint32_t partner) {
    uint64_t x = ((uint64_t)rank * 131 + partner) * 2654435761u + permutation * 40503u + c->params.tasks;
    return 1000000 +
           (x >> 7) % 23 * 1000; /* only 23 different times, so that each list of slow connections has ties */
}

uint64_t linktest_case_all_to_all(uint64_t permutation, uint32_t rank) {
    return 5000000 + rank * 17 % 7 * 1001 + permutation;
}

uint64_t linktest_case_retest(uint64_t time_ps) {
    return time_ps - time_ps / 10;
}

void linktest_case_host(uint32_t rank, char *host, size_t size) {
    (void)snprintf(host, size, "node%u", rank / 4 * 1000 % 9973);
}

int32_t linktest_case_core(uint32_t rank) {
    return (int32_t)(rank % 4);
}

void linktest_case_text(uint64_t permutation, bool end, char *text, size_t size) {
    (void)snprintf(text, size, "2024-05-01T10:%02u:%02uZ", (unsigned)permutation, end ? 1u : 0u);
}

void linktest_case_partners(const struct linktest_case *c, const hpcw_linktest_schedule *schedule,
                            uint32_t rank, uint32_t *partner) {
    uint32_t steps = hpcw_linktest_steps(&c->params);
    hpcw_linktest_partners(schedule, rank, partner);
    for (uint32_t s = 0; c->own_partners && s < steps / 2; s++) {
        uint32_t swap = partner[s];
        partner[s] = partner[steps - 1 - s];
        partner[steps - 1 - s] = swap;
    }
}

static hpcw_status write_tasks(const struct linktest_case *c, hpcw_linktest *lt, uint64_t permutation,
                               uint32_t count, const uint32_t *ranks, hpcw_error *err) {
    uint64_t time[MOST_TASKS];
    uint32_t partner[MOST_TASKS];
    hpcw_linktest_schedule *schedule;
    hpcw_status s = hpcw_linktest_schedule_new(&c->params, permutation, &schedule, err);
    for (uint32_t i = 0; s == HPCW_OK && i < count; i++) {
        uint32_t rank = ranks != NULL ? ranks[i] : hpcw_linktest_first_rank(lt) + i;
        if (permutation == 0) {
            char host[32];
            linktest_case_host(rank, host, sizeof host);
            s = hpcw_linktest_task(lt, rank, host, linktest_case_core(rank), err);
        }
        linktest_case_partners(c, schedule, rank, partner);
        for (uint32_t k = 0; k < hpcw_linktest_steps(&c->params); k++) {
            time[k] = linktest_case_time(c, permutation, rank, partner[k]);
        }
        if (s == HPCW_OK) {
            s = hpcw_linktest_timings(lt, rank, time, c->own_partners ? partner : NULL,
                                      linktest_case_all_to_all(permutation, rank), err);
        }
    }
    hpcw_linktest_schedule_free(schedule);
    return s;
}

/* Writes the timings of a permutation and ends the permutation. Collective: a process that failed takes part, too,
 * with the reason in `err`. */
static hpcw_status write_permutation(const struct linktest_case *c, hpcw_linktest *lt, uint64_t permutation,
                                     uint32_t count, const uint32_t *ranks, hpcw_linktest_range *figures,
                                     hpcw_error *err) {
    hpcw_linktest_slow slow[MOST_RETESTS];
    size_t n = 0;
    char start[HPCW_LINKTEST_TIME_SIZE];
    char end[HPCW_LINKTEST_TIME_SIZE];
    hpcw_status s = write_tasks(c, lt, permutation, count, ranks, err);
    if (s == HPCW_ENOMEM) {
        /* A call that lacked memory may be repeated, so the close would not fail. This program does not repeat the
         * call, so it must abandon the result. After other failures the handle is broken already. */
        hpcw_linktest_abandon(lt, err);
    }
    if (c->retest) {
        s = hpcw_linktest_slowest(lt, slow, &n, err);
        if (s != HPCW_OK) {
            return s;
        }
        for (size_t i = 0; i < n; i++) {
            slow[i].retest_ps = linktest_case_retest(slow[i].time_ps);
        }
    }
    linktest_case_text(permutation, false, start, sizeof start);
    linktest_case_text(permutation, true, end, sizeof end);
    s = hpcw_linktest_end_permutation(lt, start, end, c->retest ? slow : NULL, err);
    if (s == HPCW_OK && figures != NULL) {
        s = hpcw_linktest_figures(lt, &figures[permutation], NULL, err);
    }
    return s;
}

/* Checks that a failed handle refuses all calls. */
static bool refuses_all(hpcw_linktest *lt, uint32_t rank) {
    hpcw_error err;
    const uint64_t time[MOST_TASKS] = {0};
    return hpcw_linktest_task(lt, rank, "n", 0, &err) == HPCW_ESTATE && err.code == HPCW_ESTATE &&
           hpcw_linktest_timings(lt, rank, time, NULL, 1, &err) == HPCW_ESTATE &&
           hpcw_linktest_close(lt, &err) == HPCW_ESTATE;
}

hpcw_status linktest_case_write(const struct linktest_case *c, const hpcw_linktest_params *params,
                                const char *path, hpcw_comm *comm, uint32_t count, const uint32_t *ranks,
                                hpcw_linktest_range *figures, bool *refuses, hpcw_error *err) {
    hpcw_linktest_params p = params != NULL ? *params : c->params;
    p.count = count;
    p.ranks = ranks;
    hpcw_linktest *lt = (hpcw_linktest *)&p; /* the open must set it to NULL */
    *refuses = true;
    hpcw_status s = hpcw_linktest_open(path, comm, &p, &lt, err);
    if (s != HPCW_OK) {
        *refuses = lt == NULL;
        return s;
    }
    for (uint64_t m = 0; s == HPCW_OK && m < hpcw_linktest_permutations(&p); m++) {
        s = write_permutation(c, lt, m, count, ranks, figures, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_linktest_close(lt, err);
    }
    if (count > 0) {
        *refuses = refuses_all(lt, hpcw_linktest_first_rank(lt));
    }
    hpcw_linktest_free(lt);
    return s;
}
