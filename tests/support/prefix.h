/* SPDX-License-Identifier: BSD-3-Clause */
/* A prefix directory with small datasets of two ranks, a file each, for tests of checkpoints. */
#ifndef HPCW_TESTS_SUPPORT_PREFIX_H
#define HPCW_TESTS_SUPPORT_PREFIX_H

#include <stdbool.h>
#include <stdint.h>

#include <hpcw/rank2file.h>

#include "libwriter/io/sys.h"

extern char prefix_dir[256];

/* cmocka's setup and teardown: an empty prefix directory, which is removed with all gates. */
int prefix_begin(void **state);
int prefix_end(void **state);

/* A path below it, valid for the next three calls. */
const char *in_prefix(const char *format, ...) HPCW_PRINTF(1, 2);
bool prefix_exists(const char *path);

/* Options of a dataset. Opens it, or fails the test. */
hpcw_rank2file_options prefix_options(hpcw_rank2file_layout layout, uint64_t id);
hpcw_rank2file *prefix_opened(const hpcw_rank2file_options *options);

/* The file of a rank; a whole dataset; the same, or the test fails. */
enum { PREFIX_BYTES = 1000 };
hpcw_status prefix_put(hpcw_rank2file *w, uint32_t rank, hpcw_error *err);
hpcw_status prefix_write(const hpcw_rank2file_options *options, hpcw_error *err);
void prefix_written(hpcw_rank2file_layout layout, uint64_t id);

/* The id of the dataset that a restart takes, and of the current one; 0: none. How many are listed. */
uint64_t prefix_restarts(hpcw_error *err);
uint64_t prefix_current(void);
uint32_t prefix_listed(void);

/* The data file of rank 1 of a dataset. A file with `size` bytes that no writer made. */
const char *prefix_data_path(hpcw_rank2file_layout layout, uint64_t id);
void prefix_plain_file(const char *path, size_t size);

/* The index; writing frees it. */
hpcw_kvtree *prefix_read_index(void);
void prefix_write_index(hpcw_kvtree *index);

/* From now on these calls fail with this errno, until hpcw_i_sys_gate is NULL again. */
void prefix_fail_calls(enum hpcw_i_sys_call call, int e);

#endif
