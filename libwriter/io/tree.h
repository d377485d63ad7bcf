/* SPDX-License-Identifier: BSD-3-Clause */
/* Walks over a directory and all that is in it. No symbolic link is followed: it counts as a file. Results are 0
 * or an errno value. */
#ifndef HPCW_IO_TREE_H
#define HPCW_IO_TREE_H

#include "libwriter/io/sys.h"

/* Called for each file, and for each directory after all that is in it. `at` is the directory of `name`. */
typedef int hpcw_i_tree_visit(void *context, int at, const char *name, const struct hpcw_i_entry *entry);

/* Visits the directory `name` in `at` and all below it, up to the first failure. `each` may remove what it
 * visits. */
int hpcw_i_tree_walk(int at, const char *name, hpcw_i_tree_visit *each, void *context);

/* Removes a directory with all that is in it; hpcw_i_tree_clear leaves the directory itself. A mount point stays
 * with all that is in it: EBUSY. After a failure the calls go on, and return the first one. ENOENT: the directory
 * does not exist. */
int hpcw_i_tree_remove(int at, const char *name);
int hpcw_i_tree_clear(int at, const char *name);

/* Writes all files and directories to the disk. */
int hpcw_i_tree_sync(int at, const char *name);

#endif
