/* SPDX-License-Identifier: BSD-3-Clause */
/* Checkpoints that several suites write. The content of each rank's files is a formula, so any process can own the
 * rank. */
#ifndef HPCW_TESTS_SUPPORT_RANK2FILE_CASES_H
#define HPCW_TESTS_SUPPORT_RANK2FILE_CASES_H

#include <hpcw/rank2file.h>

struct rank2file_case {
    const char *name;
    hpcw_rank2file_layout layout;
    uint32_t ranks;
    uint32_t leaf_ranks; /* 0: the default */
    uint64_t leaf_bytes; /* 0: the default */
    unsigned most_files; /* a rank has rank % (most_files + 1) files; 0: one each */
};

extern const struct rank2file_case rank2file_cases[];
extern const unsigned rank2file_case_count;
enum { RANK2FILE_MOST_RANKS = 64 };

void rank2file_case_options(const struct rank2file_case *c, hpcw_rank2file_options *o);

/* Returns the number of files of a rank. Every second file is in a folder of its own. */
unsigned rank2file_case_files(const struct rank2file_case *c, uint32_t rank);
void rank2file_case_file(uint32_t rank, unsigned k, char *name, size_t size, uint64_t *bytes);
unsigned char rank2file_case_byte(uint32_t rank, unsigned k, uint64_t i);

/* Writes a checkpoint; `count` and `ranks` are as in the options. The test writes the last file of each rank and
 * gives the library its CRC. The library writes the others, in two pieces. */
hpcw_status rank2file_case_write(const struct rank2file_case *c, const hpcw_rank2file_options *given,
                                 const char *prefix, hpcw_comm *comm, uint32_t count, const uint32_t *ranks,
                                 hpcw_error *err);

/* Checks that the loaded ranks are exactly `ranks` [count], with all their files and nothing else. Reports
 * differences. */
bool rank2file_case_loaded(const struct rank2file_case *c, hpcw_rank2file_restart *r, uint32_t count,
                           const uint32_t *ranks);

/* Checks that two directory trees have equal names and bytes. Reports differences. */
bool same_trees(const char *want, const char *got);

#endif
