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
    bool truncated; /* nothing more can be read: cut short, or no piece where one must be */
    bool damaged;   /* some of what was recorded is not there */
    bool in_memory; /* records were not in it */
    uint64_t made;  /* bytes that it had at least */
    uint64_t run;   /* equal in all files of one run; 0 in MPE's */
    uint32_t rank, ranks, block_size;
    uint32_t threads, states, solos, known_solos; /* that its records use; only for MPE's */
    uint32_t most_comms;                          /* that a file of its size can introduce; only for MPE's */
    struct hpcw_i_clog2_ticks ticks;
    struct hpcw_i_clog2_definition *definition;
    uint32_t definitions;
    struct hpcw_i_clog2_definition *offered; /* known states, by ascending number */
    uint32_t offers;
    bool uses[HPCW_CLOG2_USER_STATE];      /* the known states that records use */
    uint32_t window;                       /* bytes; 0: the file is one */
    struct hpcw_i_clog2_known_comm *known; /* in MPE's by their numbers there */
    uint32_t knowns;
    struct hpcw_i_clog2_chunk **first; /* [timelines] */
    struct hpcw_i_clog2_chunk **last;  /* [timelines] */
    uint32_t timelines;
    struct hpcw_i_clog2_membership *membership; /* [knowns] */
    struct hpcw_i_buf encoded;                  /* encoded records; MPE's have no others */
};

/* Whether a log may have this many ranks, each with a communicator of its own. Readers cannot number more, and
 * a damaged file must not ask for much memory. */
static inline bool hpcw_i_clog2_may_have_ranks(uint32_t ranks) {
    return ranks > 0 && ((uint64_t)ranks + 1) * ranks <= INT32_MAX;
}

/* Opens a file. *size: its bytes. Close it in any case. */
hpcw_status hpcw_i_clog2_recovered_open(struct hpcw_i_clog2_recovered_file *file, const char *path,
                                        uint64_t *size, hpcw_error *err);
void hpcw_i_clog2_recovered_close(struct hpcw_i_clog2_recovered_file *file);

/* Reads `size` bytes at `offset`. *whole: the file has all of them. */
hpcw_status hpcw_i_clog2_recovered_read(const struct hpcw_i_clog2_recovered_file *file, uint64_t offset,
                                        void *to, size_t size, bool *whole, hpcw_error *err);

/* Reads an open local file of this library, of `size` bytes. It notes where the records are, and does not keep
 * them in memory. */
hpcw_status hpcw_i_clog2_read_own(struct hpcw_i_clog2_recovered_file *file, uint64_t size, hpcw_error *err);

/* The same for one of MPE2. Its records become `encoded`, with the communicator numbers of that file. */
hpcw_status hpcw_i_clog2_read_mpe(struct hpcw_i_clog2_recovered_file *file, uint64_t size, hpcw_error *err);

/* Replaces the communicator numbers of all records by those of the memberships, and drops records that have
 * none. */
void hpcw_i_clog2_renumber_mpe(struct hpcw_i_clog2_recovered_file *file);

#endif
