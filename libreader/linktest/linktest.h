/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A strict, independent reader of LinkTest 2.1.17 results in a SION container, written from
 * doc/formats/linktest.md alone. It uses the SION reader, so a handle belongs to one thread at a time.
 *
 * Opening a result reads the file header and checks that the stream of rank 0 is as long as the header demands.
 * Verifying a result reads each byte once.
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

/* Most bytes of the mode and of a host name, with NUL. These are limits of this reader, not of the format:
 * HPCW_ERANGE for a longer name. */
#define READ_LINKTEST_MOST_MODE 256u
#define READ_LINKTEST_MOST_HOST 4096u
/* Most retested connections that this reader accepts. A result may have more, up to its number of tasks. */
#define READ_LINKTEST_MOST_RETESTS (UINT64_C(1) << 20)

struct read_linktest_summary {
    char start[33], end[33];                               /* texts; end in a NUL even if the field is full */
    double min, avg, max;                                  /* seconds */
    double all_to_all_min, all_to_all_avg, all_to_all_max; /* seconds; 0 without all-to-all tests */
};

struct read_linktest_slow {
    double retest, original; /* seconds */
    uint64_t from, to;       /* from: the rank that measured; to: its partner */
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

/* Gets the number of different host names (by a 64-bit hash) and the payload bytes of all streams. Reads the chunk
 * header of every stream. Memory: 12 to 17 bytes per different host. `payload` may be NULL. */
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

/* Gets the measurements of a rank in a permutation. `time` [N - 1], in seconds, and `partner` [N - 1] are indexed
 * by step. *all_to_all is 0 if the result has no all-to-all test. Each pointer may be NULL. */
hpcw_status read_linktest_row(struct read_linktest *reader, uint32_t rank, uint64_t permutation, double *time,
                              uint64_t *partner, double *all_to_all, hpcw_error *err);

/*
 * Checks the container and the streams (doc/formats/linktest.md, "Rules"). `flags` are those of read_sion_verify.
 * READ_SION_STRICT also checks conventions of hpcw for which LinkTest has no rule: ISO times, at most one kernel,
 * a known mode, seed 0 if nothing is random, retests <= N, and the values in unused slots of the bisection test.
 *
 * Memory: 30 bytes per task, one task's data of one permutation, and 32 bytes per retest.
 */
hpcw_status read_linktest_verify(struct read_linktest *reader, unsigned flags, hpcw_error *err);

#endif
