/* SPDX-License-Identifier: BSD-3-Clause */
/* Visits all files below a directory. Symbolic links are not followed: they count as files. */
#ifndef HPCW_FORMAT_RANK2FILE_TREE_H
#define HPCW_FORMAT_RANK2FILE_TREE_H

struct hpcw_i_dir;

/* Is called for each entry. `name` is relative to the directory where the walk began, and ends in '/' if it is
 * a directory. A result other than 0 ends the walk. */
typedef int hpcw_i_r2f_visit(void *context, const char *name);

/* Visits everything below directory `name` of `root`, and each directory after its content. A mount point is
 * visited as a file, without '/'. Returns 0, also if there is no such directory, or an errno value. ELOOP: a
 * part of `name` is a symbolic link. */
int hpcw_i_r2f_tree_walk(struct hpcw_i_dir *root, const char *name, hpcw_i_r2f_visit *visit, void *context);

#endif
