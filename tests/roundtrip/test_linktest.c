/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes results with every flag and reads them with the reader, which shares no code with the writer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <hpcw/hpcw.h>

#include "libreader/linktest/linktest.h"
#include "libwriter/fields/linktest.h"
#include "tests/support/files.h"
#include "tests/support/linktest_cases.h"
#include "tests/support/random.h"

enum { MOST = 64 };

static double seconds(uint64_t time_ps) {
    return (double)time_ps / 1e12;
}

static void check_parameters(const hpcw_linktest_params *p, const hpcw_linktest_info *info) {
    assert_int_equal(info->tasks, p->tasks);
    assert_true(info->version[0] == 2 && info->version[1] == 1 && info->version[2] == 17);
    assert_string_equal(info->git_hash,
                        p->git_hash != NULL ? p->git_hash : "0000000000000000000000000000000000000000");
    assert_string_equal(info->mode, p->mode);
    hpcw_linktest_params stored = *p;
    stored.retests = p->retests < p->tasks ? p->retests : p->tasks;
    stored.permutations = hpcw_linktest_permutations(p);
    for (size_t i = 0; i < hpcw_i_linktest_field_count; i++) {
        const struct hpcw_i_linktest_field *f = &hpcw_i_linktest_fields[i];
        if (f->params != HPCW_I_LINKTEST_DERIVED) {
            assert_int_equal(hpcw_i_linktest_read(f, info), hpcw_i_linktest_given(f, &stored));
        }
    }
    assert_int_equal(info->bidirectional, p->kernel == HPCW_LINKTEST_BIDIRECTIONAL);
    assert_int_equal(info->unidirectional, p->kernel == HPCW_LINKTEST_UNIDIRECTIONAL);
    assert_int_equal(info->many_buffers, p->message_buffers > 1);
    assert_true(info->parallel_sion && !info->no_sion && info->allocator == 0);
    assert_int_equal(info->randomized, p->permutations > 0);
    assert_int_equal(info->steps, hpcw_linktest_steps(p));
}

/* Expected summary of a permutation, computed in a simple way. */
struct truth {
    uint64_t count, sum, min, max;
    uint64_t all_sum, all_min, all_max;
    hpcw_linktest_slow slow[MOST * (MOST - 1)]; /* all connections, to be sorted */
};

static struct truth truth;

static void add(uint64_t t, uint64_t *sum, uint64_t *min, uint64_t *max) {
    *sum += t;
    *min = t < *min ? t : *min;
    *max = t > *max ? t : *max;
}

static void check_rows(const struct linktest_case *c, struct read_linktest *reader, uint64_t m) {
    const hpcw_linktest_params *p = &c->params;
    hpcw_linktest_schedule *schedule;
    assert_int_equal(hpcw_linktest_schedule_new(p, m, &schedule, NULL), HPCW_OK);
    uint32_t steps = hpcw_linktest_steps(p);
    truth = (struct truth){.min = UINT64_MAX, .all_min = UINT64_MAX};
    for (uint32_t r = 0; r < p->tasks; r++) {
        double time[MOST];
        uint64_t partner[MOST];
        double all_to_all = -1;
        uint32_t want[MOST];
        linktest_case_partners(c, schedule, r, want);
        assert_int_equal(read_linktest_row(reader, r, m, time, partner, &all_to_all, NULL), HPCW_OK);
        for (uint32_t s = 0; s < steps; s++) {
            uint64_t t = linktest_case_time(c, m, r, want[s]);
            assert_true(partner[s] == want[s] && time[s] == seconds(t));
            truth.slow[truth.count++] = (hpcw_linktest_slow){t, linktest_case_retest(t), r, want[s]};
            add(t, &truth.sum, &truth.min, &truth.max);
        }
        for (uint32_t s = steps; s < p->tasks - 1; s++) {
            assert_true(partner[s] == r && time[s] == 0);
        }
        uint64_t all = linktest_case_all_to_all(m, r);
        add(all, &truth.all_sum, &truth.all_min, &truth.all_max);
        assert_true(all_to_all == (p->all_to_all ? seconds(all) : 0));
    }
    hpcw_linktest_schedule_free(schedule);
}

static int slower_first(const void *a_, const void *b_) {
    const hpcw_linktest_slow *a = a_;
    const hpcw_linktest_slow *b = b_;
    if (a->time_ps != b->time_ps) {
        return a->time_ps > b->time_ps ? -1 : 1;
    }
    return a->from != b->from ? (a->from < b->from ? -1 : 1) : a->to < b->to ? -1 : a->to > b->to;
}

static bool near(double got, uint64_t sum, uint64_t count) {
    double want = (double)sum / (double)count / 1e12;
    return got > want * (1 - 1e-15) && got < want * (1 + 1e-15);
}

static void check_summary(const struct linktest_case *c, struct read_linktest *reader, uint64_t m) {
    const hpcw_linktest_params *p = &c->params;
    struct read_linktest_summary s;
    char text[HPCW_LINKTEST_TIME_SIZE];
    assert_int_equal(read_linktest_summary(reader, m, &s, NULL), HPCW_OK);
    linktest_case_text(m, false, text, sizeof text);
    assert_string_equal(s.start, text);
    linktest_case_text(m, true, text, sizeof text);
    assert_string_equal(s.end, text);
    assert_true(s.min == seconds(truth.min) && s.max == seconds(truth.max) &&
                near(s.avg, truth.sum, truth.count));
    if (p->all_to_all) {
        assert_true(s.all_to_all_min == seconds(truth.all_min) && s.all_to_all_max == seconds(truth.all_max));
        assert_true(near(s.all_to_all_avg, truth.all_sum, p->tasks));
    }
    uint64_t d = read_linktest_info(reader)->retests;
    qsort(truth.slow, truth.count, sizeof truth.slow[0], slower_first);
    for (uint64_t i = 0; i < d; i++) {
        struct read_linktest_slow slow;
        assert_int_equal(read_linktest_slow(reader, m, i, 1, &slow, NULL), HPCW_OK);
        assert_true(slow.from == truth.slow[i].from && slow.to == truth.slow[i].to);
        assert_true(slow.original == seconds(truth.slow[i].time_ps));
        assert_true(slow.retest == seconds(c->retest ? truth.slow[i].retest_ps : truth.slow[i].time_ps));
    }
}

/* Compares the rows of the public reader with those of libreader's reader. */
static void check_public(const char *path, struct read_linktest *below) {
    hpcw_linktest_reader *reader;
    hpcw_error err = {.message = ""};
    if (hpcw_linktest_reader_open(path, &reader, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    const hpcw_linktest_info *info = hpcw_linktest_reader_info(reader);
    for (uint64_t m = 0; m < info->permutations; m++) {
        for (uint32_t r = 0; r < info->tasks; r++) {
            double time[MOST], stored[MOST], all, stored_all;
            uint32_t partner[MOST];
            uint64_t stored_partner[MOST];
            assert_int_equal(hpcw_linktest_reader_row(reader, r, m, time, partner, &all, NULL), HPCW_OK);
            assert_int_equal(read_linktest_row(below, r, m, stored, stored_partner, &stored_all, NULL),
                             HPCW_OK);
            assert_true(all == stored_all);
            for (uint32_t s = 0; s < info->steps; s++) {
                assert_true(time[s] == stored[s] && partner[s] == stored_partner[s]);
            }
        }
    }
    hpcw_linktest_reader_free(reader);
}

static void write_and_read(const struct linktest_case *c) {
    char dir[256];
    char path[512];
    hpcw_error err = {.message = ""};
    bool refuses = false;
    scratch_make(dir, sizeof dir);
    (void)snprintf(path, sizeof path, "%s/%s", dir, c->name);
    hpcw_status s = linktest_case_write(c, NULL, path, NULL, c->params.tasks, NULL, NULL, &refuses, &err);
    struct read_linktest *reader = NULL;
    if (s == HPCW_OK) {
        s = read_linktest_open(path, &reader, &err);
    }
    if (s == HPCW_OK) {
        s = read_linktest_verify(reader, READ_SION_STRICT | READ_SION_GAPS, &err);
    }
    if (s != HPCW_OK) {
        fail_msg("%s, %u tasks: %s", c->name, c->params.tasks, err.message);
    }
    check_parameters(&c->params, read_linktest_info(reader));
    for (uint32_t r = 0; r < c->params.tasks; r++) {
        char want[32];
        char host[READ_LINKTEST_MOST_HOST];
        int32_t core = -1;
        linktest_case_host(r, want, sizeof want);
        assert_int_equal(read_linktest_host(reader, r, host, &core, NULL), HPCW_OK);
        assert_string_equal(host, want);
        assert_int_equal(core, linktest_case_core(r));
    }
    for (uint64_t m = 0; m < hpcw_linktest_permutations(&c->params); m++) {
        check_rows(c, reader, m);
        check_summary(c, reader, m);
    }
    check_public(path, reader);
    read_linktest_free(reader);
    scratch_remove(dir);
}

static void known_cases(void **state) {
    (void)state;
    for (unsigned i = 0; i < linktest_case_count; i++) {
        write_and_read(&linktest_cases[i]);
    }
}

static void random_cases(void **state) {
    (void)state;
    static const char *const modes[] = {"mpi", "tcp", "ucp", "ibverbs", "psm2", "cuda"};
    static const uint32_t block_sizes[] = {1, 100, 512, 4096};
    uint64_t rng = 4;
    for (unsigned round = 0; round < 150; round++) {
        struct linktest_case c = {.name = "random.sion"};
        hpcw_linktest_params *p = &c.params;
        hpcw_linktest_params_init(p);
        p->tasks = 2 + 2 * (uint32_t)random_below(&rng, MOST / 2);
        p->mode = modes[random_below(&rng, 6)];
        p->kernel = (hpcw_linktest_kernel)random_below(&rng, 3);
        p->all_to_all = strcmp(p->mode, "mpi") == 0 && random_below(&rng, 2);
        p->bisection = random_below(&rng, 2);
        p->randomize_steps = random_below(&rng, 2);
        p->step_seed = random_word(&rng);
        p->serial = random_below(&rng, 2);
        p->gpu_memory = random_below(&rng, 2);
        p->random_buffers = random_below(&rng, 2);
        p->buffer_seed = p->random_buffers ? random_word(&rng) : 0;
        p->check_buffers = random_below(&rng, 2);
        p->messages = 1 + (random_word(&rng) >> 20);
        p->message_size = random_word(&rng) >> 12;
        p->warmup_messages = random_below(&rng, 5);
        p->retests = random_below(&rng, 2 * p->tasks);
        p->message_buffers = 1 + random_below(&rng, 3);
        p->permutations = random_below(&rng, 4);
        p->task_seed = p->permutations > 0 ? random_word(&rng) : 0;
        p->files = 1 + (uint32_t)random_below(&rng, random_below(&rng, 2) ? 1 : p->tasks);
        p->fs_block_size = block_sizes[random_below(&rng, 4)];
        p->layout = (hpcw_sion_layout)random_below(&rng, 2);
        p->durability = HPCW_SYNC_NONE;
        c.retest = random_below(&rng, 2);
        c.own_partners = random_below(&rng, 2);
        write_and_read(&c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(known_cases), cmocka_unit_test(random_cases)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
