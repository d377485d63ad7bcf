/* SPDX-License-Identifier: BSD-3-Clause */
/* `hpcw-bench site`: a batch script that measures the file system of a cluster. */
#ifndef HPCW_BENCH_SITE_SITE_H
#define HPCW_BENCH_SITE_SITE_H

#include <hpcw/status.h>

#include "bench/report/options.h"

/* Words of --file-system, NULL-terminated. The first one means the file system of the directory. */
extern const char *const bench_site_file_system[];

/* Prints the script to standard output. directory: directory of the data; it must exist, unless --file-system
 * names the kind of its file system. */
HPCW_MUST_CHECK hpcw_status bench_site(const struct bench_options *o, const char *directory, hpcw_error *err);

#endif
