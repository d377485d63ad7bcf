/* SPDX-License-Identifier: BSD-3-Clause */
/* Visits a directory and everything below it. Symbolic links are not followed and count as files. The functions
 * return 0 or an errno value. */
#ifndef HPCW_IO_TREE_H
#define HPCW_IO_TREE_H

#include "libwriter/io/sys.h"

/* Is called for each file, and for each directory after its content. `at` is the descriptor of the directory in
 * which `name` is. */
typedef int hpcw_i_tree_visit(void *context, int at, const char *name, const struct hpcw_i_entry *entry);

/* Visits directory `name` of `at` and everything below it, up to the first failure. `each` may remove what it
 * visits. */
int hpcw_i_tree_walk(int at, const char *name, hpcw_i_tree_visit *each, void *context);

/* Remove everything below directory `name` of `at`; hpcw_i_tree_remove also removes the directory itself. A
 * mount point stays with its content: EBUSY. After a failure the calls go on, and return the first one. ENOENT:
 * the directory does not exist. */
int hpcw_i_tree_remove(int at, const char *name);
int hpcw_i_tree_clear(int at, const char *name);

/* Writes a directory and everything below it to the disk. */
int hpcw_i_tree_sync(int at, const char *name);

#endif
