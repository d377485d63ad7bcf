/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A strict, independent reader of LinkTest 2.1.17 results in a SION container, written from
 * doc/formats/linktest.md alone. It uses the SION reader, so its rules for threads hold here, too.
 *
 * Open reads the file header and compares all lengths with that of rank 0's stream. Verify reads every byte of the
 * result once.
 */
#ifndef HPCW_LIBREADER_LINKTEST_LINKTEST_H
#define HPCW_LIBREADER_LINKTEST_LINKTEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/linktest_read.h>
#include <hpcw/status.h>

#include "libreader/sion/sion.h"

struct read_linktest;

/* Limits of this reader, not of the format: bytes of a name with its NUL. HPCW_ERANGE for a longer name. */
#define READ_LINKTEST_MOST_MODE 256u
#define READ_LINKTEST_MOST_HOST 4096u
/* Limit for the number of retested connections: the larger of this and the number of tasks. */
#define READ_LINKTEST_MOST_RETESTS (UINT64_C(1) << 20)

struct read_linktest_summary {
    char start[33], end[33];                               /* texts; end in a NUL even if the field is full */
    double min, avg, max;                                  /* seconds */
    double all_to_all_min, all_to_all_avg, all_to_all_max; /* seconds; 0 without all-to-all tests */
};

struct read_linktest_slow {
    double retest, original; /* seconds */
    uint64_t from, to;       /* the rank that measured, its partner */
};

/* Opens a result by the name of its container. Fails as read_sion_open does. */
hpcw_status read_linktest_open(const char *path, struct read_linktest **out, hpcw_error *err);
hpcw_status read_linktest_open_memory(const struct read_sion_image *images, uint32_t count,
                                      struct read_linktest **out, hpcw_error *err);
void read_linktest_free(struct read_linktest *reader);

/* Returns the file header, never NULL; valid as long as the handle. */
const hpcw_linktest_info *read_linktest_info(const struct read_linktest *reader);

/* Returns the container of the result. */
struct read_sion *read_linktest_sion(struct read_linktest *reader);

/* Gets the number of different host names (by a 64-bit hash) and the payload bytes of all streams. Reads the head
 * of every stream. Memory: 12 to 17 bytes per different host. `payload` may be NULL. */
hpcw_status read_linktest_totals(struct read_linktest *reader, uint32_t *hosts, uint64_t *payload,
                                 hpcw_error *err);

/* Gets host name and core of a rank. host: [READ_LINKTEST_MOST_HOST]. */
hpcw_status read_linktest_host(struct read_linktest *reader, uint32_t rank, char *host, int32_t *core,
                               hpcw_error *err);

/* Gets the summary of a permutation, without its list of slow connections. */
hpcw_status read_linktest_summary(struct read_linktest *reader, uint64_t permutation,
                                  struct read_linktest_summary *summary, hpcw_error *err);

/* Gets entries [first, first + count) of a permutation's list of slow connections, first + count <= retests. */
hpcw_status read_linktest_slow(struct read_linktest *reader, uint64_t permutation, uint64_t first, size_t count,
                               struct read_linktest_slow *slow, hpcw_error *err);

/* Gets the measurements of a rank in a permutation. By step: `time` [N - 1], seconds, and `partner` [N -
 * 1]. *all_to_all is 0 without that test. Each may be NULL. */
hpcw_status read_linktest_row(struct read_linktest *reader, uint32_t rank, uint64_t permutation, double *time,
                              uint64_t *partner, double *all_to_all, hpcw_error *err);

/*
 * Checks the container and the streams (doc/formats/linktest.md, "Rules"), with the flags of read_sion_verify.
 * READ_SION_STRICT adds conventions of hpcw where no source has a rule: ISO times, one kernel, a known mode, seeds
 * of 0 without their flags, retests <= N, unused slots of the bisection test.
 *
 * Memory: 30 bytes per task, one task's data of one permutation, and 32 bytes per retest.
 */
hpcw_status read_linktest_verify(struct read_linktest *reader, unsigned flags, hpcw_error *err);

#endif
