/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The files of ranks as words, the form of messages between processes. A record begins with a word that holds the
 * rank and the number of its files. Then follow for each file: its size; a word with flags, CRC and length of the
 * name; and the name, padded with at least one NUL.
 */
#ifndef HPCW_FORMAT_RANK2FILE_RECORDS_H
#define HPCW_FORMAT_RANK2FILE_RECORDS_H

#include <hpcw/rank2file.h>

#include "libwriter/base/buf.h"
#include "libwriter/comm/comm.h"

enum { HPCW_I_R2F_HAS_CRC = 1, HPCW_I_R2F_HAS_SIZE = 2 };

/* One file of a record; `name` points into the words of the record. */
struct hpcw_i_r2f_file {
    uint64_t size;
    const char *name;
    uint32_t name_size;
    uint32_t crc;
    unsigned flags;
};

/* Append the first word of a record, or one file, to a buffer of words. Return false if memory runs out. */
bool hpcw_i_r2f_put_rank_word(struct hpcw_i_buf *words, uint32_t rank, uint32_t files);
bool hpcw_i_r2f_put_file_words(struct hpcw_i_buf *words, const struct hpcw_i_r2f_file *file);

static inline uint32_t hpcw_i_r2f_record_rank(const uint64_t *record) {
    return (uint32_t)record[0];
}
static inline uint32_t hpcw_i_r2f_record_files(const uint64_t *record) {
    return (uint32_t)(record[0] >> 32);
}

/* Reads the file at `p`, and returns the address after it. The first file is after the first word of the
 * record. */
const uint64_t *hpcw_i_r2f_get_file(const uint64_t *p, struct hpcw_i_r2f_file *file);

/* Returns the address after a record. */
const uint64_t *hpcw_i_r2f_record_end(const uint64_t *record);

/* Returns the process whose share has `rank`, when `ranks` ranks are distributed evenly. */
static inline uint32_t hpcw_i_r2f_home(uint32_t ranks, int processes, uint32_t rank) {
    return (uint32_t)((((uint64_t)rank + 1) * (uint64_t)processes - 1) / ranks);
}
/* Returns the first rank in the share of a process. */
static inline uint32_t hpcw_i_r2f_share(uint32_t ranks, int processes, int process) {
    return (uint32_t)((uint64_t)ranks * (uint64_t)process / (uint64_t)processes);
}

/* The records of consecutive ranks: one record per rank, in the order of ranks. */
struct hpcw_i_r2f_block {
    uint64_t *words; /* to be freed */
    /* [end - first + 1] index of each rank's record in `words`, then the number of words; to be freed */
    uint64_t *at;
    uint32_t first, end;
    uint32_t most_files; /* largest number of files of a rank */
};
void hpcw_i_r2f_block_free(struct hpcw_i_r2f_block *block);

/* Sends each record to the process whose share has the rank. `records` are in the order of ranks.
 * HPCW_EMISMATCH if a rank is missing or occurs twice. Collective. */
hpcw_status hpcw_i_r2f_gather(hpcw_comm *comm, uint32_t ranks, const struct hpcw_i_buf *records,
                              struct hpcw_i_r2f_block *block, hpcw_error *err);

uint64_t hpcw_i_r2f_sum(const uint64_t *word, size_t count);

/* Fails with `code` if two files in these records have the same name. */
hpcw_status hpcw_i_r2f_find_twins(const uint64_t *words, uint64_t count, hpcw_status code, hpcw_error *err);

/* Fails with HPCW_EINVAL if two files have the same name, on one process or on two. Collective. */
hpcw_status hpcw_i_r2f_refuse_twins(hpcw_comm *comm, const struct hpcw_i_r2f_block *block, hpcw_error *err);

#endif
