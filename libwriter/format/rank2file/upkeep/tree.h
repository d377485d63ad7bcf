/* SPDX-License-Identifier: BSD-3-Clause */
/* Visits all files below a directory. Symbolic links are not followed: they count as files. */
#ifndef HPCW_FORMAT_RANK2FILE_TREE_H
#define HPCW_FORMAT_RANK2FILE_TREE_H

struct hpcw_i_dir;

/* Called for each entry. `name` is relative to the root of the walk; that of a directory ends in '/'. A result
 * other than 0 ends the walk. */
typedef int hpcw_i_r2f_visit(void *context, const char *name);

/* Visits everything below directory `name` of `root`, directories after their content. A mount point counts as
 * a file, without '/'. Returns 0 or an errno value: 0 if there is no such directory, ELOOP if a link is on the
 * way. */
int hpcw_i_r2f_tree_walk(struct hpcw_i_dir *root, const char *name, hpcw_i_r2f_visit *visit, void *context);

#endif
