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
    char git_hash[READ_LINKTEST_HASH_SIZE + 1]; /* ends in a NUL even if the field is full */
    char mode[READ_LINKTEST_MOST_MODE + 1];     /* ends in a NUL even if the field is full */
    struct read_sion_task task0;
    bool data_big;         /* numbers in the streams are big-endian */
    bool mode_whole;       /* the mode string has one NUL, at its end */
    bool hash_whole;       /* the git hash has one NUL, at its end */
    const void *odd_flag;  /* the first flag of `info` whose stored value is neither 0 nor 1; NULL: none */
    uint8_t odd_value;     /* stored value of the flag `odd_flag` */
    uint64_t fields_at;    /* offset of the fields after the mode string in the file header */
    uint64_t header_size;  /* bytes of the file header, at the start of the stream of rank 0 */
    uint64_t all_to_all;   /* bytes of the all-to-all time: 8, or 0 without the all-to-all test */
    uint64_t summary_size; /* bytes of the summary before the data of each permutation, for rank 0 only */
    uint64_t data_size;    /* bytes of the data of one task and permutation */
};

/* The chunk header of a stream: host and core. */
struct read_linktest_head {
    uint64_t offset; /* offset of the chunk header in the stream */
    uint64_t size;   /* bytes of the chunk header: 8, and the length of the host name */
};

hpcw_status read_linktest_header(struct read_linktest *r, hpcw_error *err);

/* Fails with HPCW_EFORMAT at a field after the mode string. `member` points to the member of r->info that holds the
 * field. */
hpcw_status read_linktest_wrong_field(const struct read_linktest *r, const void *member, const char *expected,
                                      hpcw_error *err);

/* Computes offset and length of the chunk header of a task's stream. The sizes of all other parts are known, so the
 * chunk header has the rest of the stream. HPCW_EFORMAT if the rest is too short for a host name, HPCW_ERANGE if
 * the host name is longer than this reader accepts. */
hpcw_status read_linktest_head_of(const struct read_linktest *r, const struct read_sion_task *task,
                                  struct read_linktest_head *head, hpcw_error *err);

/* Parses and checks a chunk header of head->size bytes: rules 17 to 19. `host` is [READ_LINKTEST_MOST_HOST]; `host`
 * and `core` may be NULL. */
hpcw_status read_linktest_head_check(const struct read_linktest *r, const struct read_sion_task *task,
                                     const struct read_linktest_head *head, const unsigned char *bytes,
                                     char *host, int32_t *core, hpcw_error *err);

/* Finds the stream of a rank, and the offset in this stream where the data of a permutation begins. */
hpcw_status read_linktest_row_find(struct read_linktest *r, uint32_t rank, uint64_t permutation,
                                   struct read_sion_task *task, uint64_t *at, hpcw_error *err);

/* Checks entries [first, first + count) of a slow list: times, ranks, and their order (rule 23). */
hpcw_status read_linktest_slow_check(const struct read_linktest *r, uint64_t permutation, uint64_t first,
                                     const struct read_linktest_slow *slow, size_t count, hpcw_error *err);

/* Returns whether the 32 bytes of a date are a text followed by zeros (rule 20). */
bool read_linktest_is_date(const char *text);

/* Returns the stream offset where the data of a permutation begins. In the stream of rank 0, the summary of the
 * permutation ends at this offset. */
uint64_t read_linktest_data_at(const struct read_linktest *r, const struct read_sion_task *task,
                               const struct read_linktest_head *head, uint64_t permutation);

/* Reads 8-byte numbers or times from a stream, and converts them to this machine's byte order. */
hpcw_status read_linktest_words(const struct read_linktest *r, const struct read_sion_task *task, uint64_t at,
                                size_t count, void *words, hpcw_error *err);

/* Returns whether `bits` are those of a finite double > 0. Such bits compare like integers. */
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

/* Fails with HPCW_EFORMAT at an offset of a task's stream. task NULL: an offset of the file header. */
hpcw_status read_linktest_wrong(const struct read_linktest *r, const struct read_sion_task *task,
                                uint64_t offset, hpcw_error *err, const char *fmt, ...) HPCW_PRINTF(5, 6);

#endif
