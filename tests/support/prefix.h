/* SPDX-License-Identifier: BSD-3-Clause */
/* Prefix directory with small datasets of two ranks, one file each, for tests of checkpoints. */
#ifndef HPCW_TESTS_SUPPORT_PREFIX_H
#define HPCW_TESTS_SUPPORT_PREFIX_H

#include <stdbool.h>
#include <stdint.h>

#include <hpcw/rank2file.h>

#include "libwriter/io/sys.h"

extern char prefix_dir[256];

/* Setup and teardown for cmocka. Setup makes an empty prefix directory. Teardown removes the directory, and the
 * hooks by which calls fail. */
int prefix_begin(void **state);
int prefix_end(void **state);

/* Returns a path in the prefix directory, valid for the next three calls. */
const char *in_prefix(const char *format, ...) HPCW_PRINTF(1, 2);
bool prefix_exists(const char *path);

/* prefix_options returns the options of a dataset. prefix_opened opens a dataset for writing, or fails the test. */
hpcw_rank2file_options prefix_options(hpcw_rank2file_layout layout, uint64_t id);
hpcw_rank2file *prefix_opened(const hpcw_rank2file_options *options);

/* prefix_put writes the file of a rank. prefix_write writes a whole dataset. prefix_written writes a whole dataset
 * or fails the test. */
enum { PREFIX_BYTES = 1000 };
hpcw_status prefix_put(hpcw_rank2file *w, uint32_t rank, hpcw_error *err);
hpcw_status prefix_write(const hpcw_rank2file_options *options, hpcw_error *err);
void prefix_written(hpcw_rank2file_layout layout, uint64_t id);

/* prefix_restarts: id of the dataset that a restart takes; 0: none. prefix_current: id of the current dataset; 0:
 * none. prefix_listed: number of datasets in the index. */
uint64_t prefix_restarts(hpcw_error *err);
uint64_t prefix_current(void);
uint32_t prefix_listed(void);

/* prefix_data_path: path of the data file of rank 1. prefix_plain_file: makes a file of `size` bytes without the
 * library. */
const char *prefix_data_path(hpcw_rank2file_layout layout, uint64_t id);
void prefix_plain_file(const char *path, size_t size);

/* Read and write the index as a tree. prefix_write_index frees the tree. */
hpcw_kvtree *prefix_read_index(void);
void prefix_write_index(hpcw_kvtree *index);

/* The directory prefix_outside is beside the prefix. Its files have the names of a dataset's files.
 * prefix_begin_guarded and prefix_end_guarded, as setup and teardown, check that all these files stay and that the
 * test ends within 100 s. */
extern char prefix_outside[256];
enum { PREFIX_VICTIMS = 8 };
const char *prefix_victim(size_t index); /* path of a file in prefix_outside, valid until the next call */
int prefix_begin_guarded(void **state);
int prefix_end_guarded(void **state);

/* The name of a dataset, valid for the next three calls. */
const char *prefix_name_of(hpcw_rank2file_layout layout, uint64_t id);

/* Writes a marker into .scr: the file by which prune finds the files of a dead writer. names: the listed file
 * names, each with a line feed; NULL: a marker without a list, as earlier versions wrote it. If `file` is an intent
 * to drop a dataset, line feeds become NULs, and the first name is that of the dataset. */
void prefix_write_marker(const char *file, int made, const char *name, const char *names);

/* Makes all calls of one kind fail with errno `e`, until hpcw_i_sys_gate is NULL again. */
void prefix_fail_calls(enum hpcw_i_sys_call call, int e);

#endif
