/* SPDX-License-Identifier: BSD-3-Clause */
/* F4, private to the LinkTest reader: where the parts of the streams are. */
#ifndef HPCW_LIBREADER_LINKTEST_PRIVATE_H
#define HPCW_LIBREADER_LINKTEST_PRIVATE_H

#include "libreader/linktest/linktest.h"

#define READ_LINKTEST_TIME 32u     /* a time text */
#define READ_LINKTEST_END_BLOCK 9u /* the tag that ends a stream */

struct read_linktest {
    struct read_sion *sion;
    const char *name;
    struct read_linktest_info info;
    struct read_sion_task task0;
    bool mode_whole;       /* the mode string has one NUL, at its end */
    bool hash_whole;       /* the same for the git hash */
    uint64_t header_size;  /* file header at the start of task 0's stream */
    uint64_t all_to_all;   /* f: 8 with the all-to-all test, else 0 */
    uint64_t summary_size; /* before the data of each permutation, task 0 only */
    uint64_t data_size;    /* of one task and permutation */
};

/* Head of a stream: host and core. */
struct read_linktest_head {
    uint64_t offset; /* in the stream */
    uint64_t size;   /* 8 + h */
};

/*
 * Where the head of a task's stream must be and how long, given the length of the stream: everything else has a
 * known size. HPCW_EFORMAT if no host name fits, HPCW_ERANGE if it is longer than we take.
 */
hpcw_status read_linktest_head_of(const struct read_linktest *r, const struct read_sion_task *task,
                                  struct read_linktest_head *head, hpcw_error *err);

/* Takes a head apart: `bytes` has head->size of them. host: NULL or [READ_LINKTEST_MOST_HOST]. */
hpcw_status read_linktest_head_check(const struct read_linktest *r, const struct read_sion_task *task,
                                     const struct read_linktest_head *head, const unsigned char *bytes,
                                     char *host, int32_t *core, hpcw_error *err);

/* Stream offset of the data of a permutation; in task 0 the summary ends there. */
uint64_t read_linktest_data_at(const struct read_linktest *r, const struct read_sion_task *task,
                               const struct read_linktest_head *head, uint64_t permutation);

/* A failure at a place in the stream of a task, or in the file header with task == NULL. */
hpcw_status read_linktest_wrong(const struct read_linktest *r, const struct read_sion_task *task,
                                uint64_t offset, hpcw_error *err, const char *fmt, ...) HPCW_PRINTF(5, 6);

/* One pass over the rows of a permutation and its summary; linktest_rows.c. */
struct read_linktest_pass;
hpcw_status read_linktest_pass_new(struct read_linktest *r, bool strict, struct read_linktest_pass **out,
                                   hpcw_error *err);
hpcw_status read_linktest_pass_run(struct read_linktest_pass *pass, uint64_t permutation, hpcw_error *err);
void read_linktest_pass_free(struct read_linktest_pass *pass);

#endif
