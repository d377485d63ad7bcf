/* SPDX-License-Identifier: BSD-3-Clause */
/* All files below a directory. No symbolic link is followed: it is a file. */
#ifndef HPCW_FORMAT_RANK2FILE_TREE_H
#define HPCW_FORMAT_RANK2FILE_TREE_H

struct hpcw_i_dir;

/* `name` is below the directory; that of a directory ends in '/'. A result other than 0 ends the walk. */
typedef int hpcw_i_r2f_visit(void *context, const char *name);

/* Visits all that is below directory `name` of `root`, directories after what is in them. A file system that is
 * mounted in there is a file, without '/'. 0 or an errno value; 0 if there is no such directory, ELOOP if a link
 * is on the way. */
int hpcw_i_r2f_tree_walk(struct hpcw_i_dir *root, const char *name, hpcw_i_r2f_visit *visit, void *context);

#endif
