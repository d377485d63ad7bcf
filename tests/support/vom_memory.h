/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank's file in memory, and valid records that tests can invalidate. */
#ifndef HPCW_TESTS_SUPPORT_VOM_MEMORY_H
#define HPCW_TESTS_SUPPORT_VOM_MEMORY_H

#include <hpcw/vom.h>

/* A sink in memory for the text of a file. Zero the struct before the first use, and read the text before the
 * file's handle is freed. */
struct vom_memory {
    hpcw_sink *sink;
};

/* Returns default options for rank `rank` of `ranks`, writing to memory. */
hpcw_vom_options vom_options(struct vom_memory *memory, uint32_t rank, uint32_t ranks);

/* Opens "memory" or "memory.br", or fails the test. */
hpcw_vom *vom_open(const hpcw_vom_options *options);

/* Closes a file, compares its text with the expected text, and frees the handle. phases: expected text between the
 * brackets of "phases". */
void vom_expect(hpcw_vom *v, const struct vom_memory *memory, const char *phases);

/* Fails the test with the message unless the status is HPCW_OK. */
void vom_ok(hpcw_status s, const hpcw_error *err);

/* Fails the test unless the status is `want` and the message contains `part`. */
void vom_refused(hpcw_status s, hpcw_status want, const hpcw_error *err, const char *part);

/* Task of element `number` of the rank, in collection 7 with the index [number], of half a second; and an edge
 * between two elements. */
hpcw_vom_task vom_task(uint32_t rank, uint64_t number);
hpcw_vom_edge vom_edge(uint64_t from, uint64_t to);

/* Texts of vom_task(0, number) and vom_edge(from, to), for numbers below 10. */
const char *vom_task_text(uint64_t number);
const char *vom_edge_text(uint64_t from, uint64_t to);

#endif
