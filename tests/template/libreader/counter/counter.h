/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A strict reader of counter files, written from doc/formats/counter.md alone. It shares no code with the writer.
 * Opening checks the header and the size of the file; verify reads every value once. Memory does not grow with the
 * number of ranks.
 */
#ifndef HPCW_LIBREADER_COUNTER_COUNTER_H
#define HPCW_LIBREADER_COUNTER_COUNTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

struct read_counter;

struct read_counter_info {
    uint32_t ranks;
    char unit[16];
    uint64_t sum; /* as stored */
};

/* HPCW_EFORMAT and HPCW_ETRUNCATED: the message has the offset, what was expected and what was found. */
hpcw_status read_counter_open(const char *path, struct read_counter **out, hpcw_error *err);

/* Opens a file whose bytes are in memory. The caller owns the bytes, which must stay valid until the reader is
 * freed. */
hpcw_status read_counter_open_memory(const char *name, const void *data, size_t size, struct read_counter **out,
                                     hpcw_error *err);

/* NULL is allowed. */
void read_counter_free(struct read_counter *reader);

const struct read_counter_info *read_counter_info(const struct read_counter *reader);

/* Reads the values of the ranks first .. first + count - 1. */
hpcw_status read_counter_values(const struct read_counter *reader, uint32_t first, uint32_t count,
                                uint64_t *value, hpcw_error *err);

/* Compares the stored sum with the sum of the values. */
hpcw_status read_counter_verify(const struct read_counter *reader, hpcw_error *err);

/* Finds whether a file begins like a counter file. Fails if it cannot be read. */
hpcw_status read_counter_probe(const char *path, bool *is, hpcw_error *err);

#endif
