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
    bool in_memory; /* true: some records of the process were only in memory */
    uint64_t made;  /* allocated bytes of the file; if the file is shorter, its end is lost */
    uint64_t run;   /* number of the run, equal in all of its files; 0 in MPE's files */
    uint32_t rank, ranks, block_size;
    uint32_t threads, states, solos, known_solos; /* counts that the new log announces; only for MPE's files */
    /* largest number of communicators that fit into the size of the file; only for MPE's files */
    uint32_t most_comms;
    struct hpcw_i_clog2_ticks ticks;
    struct hpcw_i_clog2_definition *definition;
    uint32_t definitions;
    struct hpcw_i_clog2_definition *offered; /* states that the program named for possible use */
    uint32_t offers;
    bool uses[HPCW_CLOG2_USER_STATE]; /* [state] whether records use this state of MPE's own number range */
    uint32_t window;                  /* bytes of a window; 0: the file is one window */
    struct hpcw_i_clog2_known_comm *known; /* communicators; in MPE's files by their number in the file */
    uint32_t knowns;
    struct hpcw_i_clog2_chunk **first; /* [timelines] */
    struct hpcw_i_clog2_chunk **last;  /* [timelines] */
    uint32_t timelines;
    struct hpcw_i_clog2_membership *membership; /* [knowns] */
    struct hpcw_i_buf encoded; /* encoded records, in the order of time; the only records of MPE's files */
};

/* Returns whether a log may have this many ranks, each with a communicator of its own. Readers cannot number more
 * communicators, and a damaged file must not make the library allocate much memory. */
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

/* Reads an open local file of this library, of `size` bytes. Keeps the offsets of the records in the file, and not
 * the records themselves. */
hpcw_status hpcw_i_clog2_read_own(struct hpcw_i_clog2_recovered_file *file, uint64_t size, hpcw_error *err);

/* Reads an open local file of MPE2. Its records go to `encoded`, with the communicator numbers of the file. */
hpcw_status hpcw_i_clog2_read_mpe(struct hpcw_i_clog2_recovered_file *file, uint64_t size, hpcw_error *err);

/* Replaces the communicator numbers of all records by those of the memberships. Drops records whose communicator
 * has no membership. */
void hpcw_i_clog2_renumber_mpe(struct hpcw_i_clog2_recovered_file *file);

#endif
