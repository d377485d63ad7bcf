/* SPDX-License-Identifier: BSD-3-Clause */
/* A directory with all that is in it. No symbolic link is followed: it counts as a file. Results are 0 or an errno
 * value. */
#ifndef HPCW_IO_TREE_H
#define HPCW_IO_TREE_H

#include "libwriter/io/sys.h"

/* What to do with each file, and with each directory after all that is in it. `at` is the directory of `name`. */
typedef int hpcw_i_tree_visit(void *context, int at, const char *name, const struct hpcw_i_entry *entry);

/* Visits the directory `name` in `at` and all below it. Ends with the first failure. `each` may remove what it
 * visits. */
int hpcw_i_tree_walk(int at, const char *name, hpcw_i_tree_visit *each, void *context);

/* Removes it with all that is in it; the second one leaves the directory itself. What is mounted in there stays,
 * with all that is in it: EBUSY. Goes on after a failure, and returns the first one. ENOENT: it is not there. */
int hpcw_i_tree_remove(int at, const char *name);
int hpcw_i_tree_clear(int at, const char *name);

/* Writes all files and directories back to the disk. */
int hpcw_i_tree_sync(int at, const char *name);

#endif
