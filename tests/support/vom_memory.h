/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank's file in memory, and records that are right, for tests to make them wrong. */
#ifndef HPCW_TESTS_SUPPORT_VOM_MEMORY_H
#define HPCW_TESTS_SUPPORT_VOM_MEMORY_H

#include <hpcw/vom.h>

/* Where the text goes; zeroed before the first use. Reads must come before the file is freed. */
struct vom_memory {
    hpcw_sink *sink;
};

/* Defaults for rank `rank` of `ranks`, into memory. */
hpcw_vom_options vom_options(struct vom_memory *memory, uint32_t rank, uint32_t ranks);

/* Opens "memory" (or memory.br); fails the test if it cannot. */
hpcw_vom *vom_open(const hpcw_vom_options *options);

/* Closes, compares, frees. `phases` is what stands between the brackets of "phases". */
void vom_expect(hpcw_vom *v, const struct vom_memory *memory, const char *phases);

/* Fails the test with the message unless the status is HPCW_OK. */
void vom_ok(hpcw_status s, const hpcw_error *err);

/* Fails the test unless the status is `want` and the message has `part` in it. */
void vom_refused(hpcw_status s, hpcw_status want, const hpcw_error *err, const char *part);

/* Element `number` of the rank, of collection 7 with index [number], half a second; an edge between two. */
hpcw_vom_task vom_task(uint32_t rank, uint64_t number);
hpcw_vom_edge vom_edge(uint64_t from, uint64_t to);

/* The text of vom_task(0, number) and vom_edge(from, to) for numbers below 10. */
const char *vom_task_text(uint64_t number);
const char *vom_edge_text(uint64_t from, uint64_t to);

#endif
