/* SPDX-License-Identifier: BSD-3-Clause */
/* A local file of a run that died, of this library or of MPE. */
#ifndef HPCW_FORMAT_CLOG2_RECOVER_RECOVERED_FILE_H
#define HPCW_FORMAT_CLOG2_RECOVER_RECOVERED_FILE_H

#include "libwriter/base/buf.h"
#include "libwriter/format/clog2/log/recording.h"
#include "libwriter/format/clog2/merge/comms.h"

struct hpcw_i_clog2_recovered_file {
    const char *path;
    int fd;
    bool mpe;
    bool truncated; /* the file is cut short, or has no piece where one must be: nothing more can be read */
    bool damaged;   /* some records are missing */
    bool in_memory; /* some records were never in the file */
    uint64_t made;  /* least size of the file, bytes */
    uint64_t run;   /* equal in all files of one run; 0 in MPE's */
    uint32_t rank, ranks, block_size;
    uint32_t threads, states, solos, known_solos; /* numbers that its records use; only for MPE's files */
    /* most communicators that a file of its size can introduce; only for MPE's files */
    uint32_t most_comms;
    struct hpcw_i_clog2_ticks ticks;
    struct hpcw_i_clog2_definition *definition;
    uint32_t definitions;
    struct hpcw_i_clog2_definition *offered; /* known states, by ascending number */
    uint32_t offers;
    bool uses[HPCW_CLOG2_USER_STATE];      /* [state] whether records use the known state */
    uint32_t window;                       /* bytes; 0: the file is one window */
    struct hpcw_i_clog2_known_comm *known; /* communicators; in MPE's files by their numbers there */
    uint32_t knowns;
    struct hpcw_i_clog2_chunk **first; /* [timelines] */
    struct hpcw_i_clog2_chunk **last;  /* [timelines] */
    uint32_t timelines;
    struct hpcw_i_clog2_membership *membership; /* [knowns] */
    struct hpcw_i_buf encoded;                  /* encoded records; the only ones of MPE's files */
};

/* Returns whether a log may have this many ranks, each with a communicator of its own. Readers cannot number more,
 * and a damaged file must not ask for much memory. */
static inline bool hpcw_i_clog2_may_have_ranks(uint32_t ranks) {
    return ranks > 0 && ((uint64_t)ranks + 1) * ranks <= INT32_MAX;
}

/* Opens a file and gets its size. Close it also after a failure. */
hpcw_status hpcw_i_clog2_recovered_open(struct hpcw_i_clog2_recovered_file *file, const char *path,
                                        uint64_t *size, hpcw_error *err);
void hpcw_i_clog2_recovered_close(struct hpcw_i_clog2_recovered_file *file);

/* Reads `size` bytes at `offset`. *whole: the file has all of them. */
hpcw_status hpcw_i_clog2_recovered_read(const struct hpcw_i_clog2_recovered_file *file, uint64_t offset,
                                        void *to, size_t size, bool *whole, hpcw_error *err);

/* Reads an open local file of this library, of `size` bytes. It notes the offsets of the records and does not keep
 * the records in memory. */
hpcw_status hpcw_i_clog2_read_own(struct hpcw_i_clog2_recovered_file *file, uint64_t size, hpcw_error *err);

/* Reads an open local file of MPE2. Its records go to `encoded`, with the communicator numbers of that file. */
hpcw_status hpcw_i_clog2_read_mpe(struct hpcw_i_clog2_recovered_file *file, uint64_t size, hpcw_error *err);

/* Replaces the communicator numbers of all records by those of the memberships, and drops records that have
 * none. */
void hpcw_i_clog2_renumber_mpe(struct hpcw_i_clog2_recovered_file *file);

#endif
