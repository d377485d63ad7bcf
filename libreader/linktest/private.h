/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to the LinkTest reader: the handle, and the parts of the streams. */
#ifndef HPCW_LIBREADER_LINKTEST_PRIVATE_H
#define HPCW_LIBREADER_LINKTEST_PRIVATE_H

#include <string.h>

#include "libreader/linktest/layout.h"
#include "libreader/linktest/linktest.h"

struct read_linktest {
    struct read_sion *sion;
    const char *name;
    hpcw_linktest_info info;
    char git_hash[READ_LINKTEST_HASH_SIZE + 1]; /* with a NUL even if the field is full */
    char mode[READ_LINKTEST_MOST_MODE + 1];     /* as git_hash */
    struct read_sion_task task0;
    bool data_big;        /* numbers in the streams are big-endian */
    bool mode_whole;      /* the mode string has one NUL, at its end */
    bool hash_whole;      /* the same for the git hash */
    const void *odd_flag; /* the first flag in `info` that was stored as neither 0 nor 1; NULL: there is none */
    uint8_t odd_value;    /* what was stored there */
    uint64_t fields_at;   /* offset in the file header of the fields after the mode string */
    uint64_t header_size; /* file header at the start of the stream of rank 0 */
    uint64_t all_to_all;  /* f: 8 with the all-to-all test, else 0 */
    uint64_t summary_size; /* before the data of each permutation, rank 0 only */
    uint64_t data_size;    /* of one task and permutation */
};

/* The chunk header of a stream: host and core. */
struct read_linktest_head {
    uint64_t offset; /* in the stream */
    uint64_t size;   /* 8 + h */
};

/* Reads the file header, and sets the sizes of the parts. */
hpcw_status read_linktest_header(struct read_linktest *r, hpcw_error *err);

/* HPCW_EFORMAT at a field after the mode string, which is a member of r->info: what is expected, and what it is. */
hpcw_status read_linktest_wrong_field(const struct read_linktest *r, const void *member, const char *expected,
                                      hpcw_error *err);

/*
 * Where the head of a task's stream has to be, and its length. All other parts have known sizes, so the length of
 * the stream tells. HPCW_EFORMAT if no host name fits, HPCW_ERANGE if it is longer than this reader takes.
 */
hpcw_status read_linktest_head_of(const struct read_linktest *r, const struct read_sion_task *task,
                                  struct read_linktest_head *head, hpcw_error *err);

/*
 * Parses and checks a head of head->size bytes: rules 17 to 19. host: [READ_LINKTEST_MOST_HOST]; both may be NULL.
 */
hpcw_status read_linktest_head_check(const struct read_linktest *r, const struct read_sion_task *task,
                                     const struct read_linktest_head *head, const unsigned char *bytes,
                                     char *host, int32_t *core, hpcw_error *err);

/* The stream of a rank, and the offset of its data of a permutation. */
hpcw_status read_linktest_row_find(struct read_linktest *r, uint32_t rank, uint64_t permutation,
                                   struct read_sion_task *task, uint64_t *at, hpcw_error *err);

/* Entries [first, first + count) of a slow list: times, ranks, and their order (rule 23). */
hpcw_status read_linktest_slow_check(const struct read_linktest *r, uint64_t permutation, uint64_t first,
                                     const struct read_linktest_slow *slow, size_t count, hpcw_error *err);

/* Whether the 32 bytes of a date are a text and zeros (rule 20). */
bool read_linktest_is_date(const char *text);

/* Stream offset of the data of a permutation. In the stream of rank 0 the summary ends there. */
uint64_t read_linktest_data_at(const struct read_linktest *r, const struct read_sion_task *task,
                               const struct read_linktest_head *head, uint64_t permutation);

/* Words of 8 bytes from a stream, in the byte order of this machine: numbers or times. */
hpcw_status read_linktest_words(const struct read_linktest *r, const struct read_sion_task *task, uint64_t at,
                                size_t count, void *words, hpcw_error *err);

/* Whether these are the bits of a finite double > 0: one comparison of integers. */
static inline bool read_linktest_is_time(uint64_t bits) {
    return bits - 1 < UINT64_C(0x7fefffffffffffff);
}
static inline double read_linktest_double(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
static inline uint64_t read_linktest_bits(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* HPCW_EFORMAT at an offset of a task's stream; task == NULL: of the file header. */
hpcw_status read_linktest_wrong(const struct read_linktest *r, const struct read_sion_task *task,
                                uint64_t offset, hpcw_error *err, const char *fmt, ...) HPCW_PRINTF(5, 6);

#endif
