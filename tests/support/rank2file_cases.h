/* SPDX-License-Identifier: BSD-3-Clause */
/* Checkpoints that several suites write: files of every rank from formulas, by whoever owns the rank. */
#ifndef HPCW_TESTS_SUPPORT_RANK2FILE_CASES_H
#define HPCW_TESTS_SUPPORT_RANK2FILE_CASES_H

#include <hpcw/rank2file.h>

struct rank2file_case {
    const char *name;
    hpcw_rank2file_layout layout;
    uint32_t ranks;
    uint32_t leaf_ranks; /* 0: the default */
    uint64_t leaf_bytes; /* 0: the default */
    unsigned most_files; /* a rank has rank % (most_files + 1) of them; 0: one each */
};

extern const struct rank2file_case rank2file_cases[];
extern const unsigned rank2file_case_count;
enum { RANK2FILE_MOST_RANKS = 64 };

void rank2file_case_options(const struct rank2file_case *c, hpcw_rank2file_options *o);

/* What a rank has. Every second file is in a folder of its own. */
unsigned rank2file_case_files(const struct rank2file_case *c, uint32_t rank);
void rank2file_case_file(uint32_t rank, unsigned k, char *name, size_t size, uint64_t *bytes);
unsigned char rank2file_case_byte(uint32_t rank, unsigned k, uint64_t i);

/*
 * Writes a checkpoint; `count` and `ranks` as in the options. The last file of each rank is written by the test, with
 * the library told its CRC, the others by the library, in two pieces.
 */
hpcw_status rank2file_case_write(const struct rank2file_case *c, const hpcw_rank2file_options *given,
                                 const char *prefix, hpcw_comm *comm, uint32_t count, const uint32_t *ranks,
                                 hpcw_error *err);

/* Whether the ranks loaded are exactly `ranks` [count], with all their files and nothing else. Says what is wrong. */
bool rank2file_case_loaded(const struct rank2file_case *c, hpcw_rank2file_restart *r, uint32_t count,
                           const uint32_t *ranks);

/* Whether two trees of files are equal: names and bytes. Says where they differ. */
bool same_trees(const char *want, const char *got);

#endif
