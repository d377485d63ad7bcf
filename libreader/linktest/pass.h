/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Private to the LinkTest reader: one pass over all measurements of a permutation. Memory is proportional to the
 * number of tasks. Rules are numbered as in doc/formats/linktest.md, "Rules".
 */
#ifndef HPCW_LIBREADER_LINKTEST_PASS_H
#define HPCW_LIBREADER_LINKTEST_PASS_H

#include "libreader/linktest/private.h"

/* Minimum, maximum, sum and number of timings. */
struct read_linktest_timings {
    double min, max, sum;
    uint64_t above; /* number of timings above the time of the last entry of the slow list */
    uint64_t count;
};

struct read_linktest_random {
    uint64_t a, b;
};

struct read_linktest_pass {
    struct read_linktest *r;
    bool strict;
    struct read_linktest_random *random; /* [tasks] random numbers of the ranks, see schedule.c */
    uint64_t *balance;                   /* [steps] sums of the steps, see schedule.c */
    unsigned char *met;                  /* [tasks] whether the current row has this rank as a partner */
    unsigned char *present;              /* [tasks] whether the container has this rank */
    /* [tasks] step in which the rank of the current row met this partner; NULL without retests */
    uint32_t *step_of;
    struct read_linktest_slow *slow; /* [retests] list of slow connections */
    uint64_t *words;                 /* buffer for the head of a stream, a row, and END_BLOCK */
    uint64_t *row;                   /* the row in `words` */
    double threshold;                /* time of the last entry of the slow list */
    struct read_linktest_timings timings, all_to_all;
    char last_end[READ_LINKTEST_TIME_SIZE + 1]; /* end time of the previous permutation */
};

/* The measurements of a task in a permutation. The data is in `row` of the pass. */
struct read_linktest_row {
    const struct read_sion_task *task;
    uint32_t rank;
    uint64_t permutation;
    uint64_t data; /* offset of the data in the stream */
};

hpcw_status read_linktest_pass_new(struct read_linktest *r, bool strict, struct read_linktest_pass **out,
                                   hpcw_error *err);
hpcw_status read_linktest_pass_run(struct read_linktest_pass *pass, uint64_t permutation, hpcw_error *err);
void read_linktest_pass_free(struct read_linktest_pass *pass);

/* rows.c: reads and checks the rows of all tasks. */
hpcw_status read_linktest_check_rows(struct read_linktest_pass *p, uint64_t permutation, hpcw_error *err);

/* timings.c: adds timings, given as the bits of doubles. False if a timing is not a finite number > 0. */
bool read_linktest_timings_add(struct read_linktest_timings *t, const uint64_t *bits, size_t count,
                               double threshold);
/* Checks minimum, mean and maximum in the summary: rules 21 and 22. */
hpcw_status read_linktest_timings_check(const struct read_linktest_pass *p, uint64_t permutation,
                                        const char *what, const struct read_linktest_timings *t, double min,
                                        double avg, double max, hpcw_error *err);

/* slow_list.c: reads and checks the slow list (rule 23), sorts it by its pairs of ranks and sets the threshold.
 * *above gets the number of entries of the list with a time above the threshold. */
hpcw_status read_linktest_slow_list(struct read_linktest_pass *p, uint64_t permutation, uint64_t *above,
                                    hpcw_error *err);
/* Compares the timings in a row with the entries of the slow list that the task of this row measured. */
hpcw_status read_linktest_slow_entries(struct read_linktest_pass *p, const struct read_linktest_row *row,
                                       hpcw_error *err);

/* schedule.c: checks the partners of a row (rules 25 and 27) and, after all rows, the partners of each step (rule
 * 26). */
void read_linktest_schedule_randomize(struct read_linktest_pass *p);
hpcw_status read_linktest_schedule_add(struct read_linktest_pass *p, const struct read_linktest_row *row,
                                       hpcw_error *err);
hpcw_status read_linktest_schedule_check(const struct read_linktest_pass *p, uint64_t permutation,
                                         hpcw_error *err);

#endif
