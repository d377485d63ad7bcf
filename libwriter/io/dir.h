/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Held directories. A writer looks the directory of a file up once, at the open, and then uses its descriptor.
 * So the file gets its final name there even if the program changes its working directory or renames the
 * directory. Results are 0 or an errno value.
 */
#ifndef HPCW_IO_DIR_H
#define HPCW_IO_DIR_H

#include "libwriter/io/sys.h"

/* A held directory. The process has one such object per directory for all its holders, so that an open file
 * needs one descriptor and not two. */
struct hpcw_i_dir;

/* Opens a directory and holds it until hpcw_i_dir_release. *out is NULL after a failure. */
int hpcw_i_dir_hold(const char *path, struct hpcw_i_dir **out);
/* Holds the directory in which the file `path` is. */
int hpcw_i_dir_hold_of(const char *path, struct hpcw_i_dir **out);
/* Holds the directory in which the file `path` is. A relative path begins in `start`, a held directory. */
int hpcw_i_dir_hold_from(struct hpcw_i_dir *start, const char *path, struct hpcw_i_dir **out);
/* Adds a holder to a held directory. Each holder calls hpcw_i_dir_release. */
struct hpcw_i_dir *hpcw_i_dir_again(struct hpcw_i_dir *dir);
void hpcw_i_dir_release(struct hpcw_i_dir *dir); /* NULL is allowed */

/* Returns the descriptor of a held directory, for the functions of sys.h that end in _at. If the program has closed
 * the descriptor by mistake, perhaps another file has its number now. Then the directory is opened again by its
 * path. EBADF: that path is no longer right. */
int hpcw_i_dir_fd(struct hpcw_i_dir *dir, int *fd);

/* Returns how many calls of fork() lie between this process and the one that first held a directory. A sink stores
 * this number when it is opened. In a child the number differs; if a child only frees the sink, the files stay. */
unsigned hpcw_i_dir_forks(void);

/* Writes the entries of a directory to the disk. */
int hpcw_i_dir_sync(struct hpcw_i_dir *dir);

/* Follows symbolic links from `name` in `dir` to the file to write: *target becomes the held directory of that
 * file, *base its name, which the caller frees. The file need not exist. ELOOP: there are too many links. */
int hpcw_i_dir_follow(struct hpcw_i_dir *dir, const char *name, struct hpcw_i_dir **target, char **base);

/* ---- names below a directory ---- */

/* These functions create, overwrite or remove files below a directory in which other users may write. They go
 * from directory to directory and follow no symbolic link, so that they change nothing outside. A name is
 * relative to `root`. EINVAL: a part of it is empty, "." or "..". ELOOP: a part is a symbolic link. */

/* Holds the directory in which `name` is. The last part of `name` need not exist. */
int hpcw_i_below_hold(struct hpcw_i_dir *root, const char *name, struct hpcw_i_dir **parent);
/* Holds the directory `name` itself. */
int hpcw_i_below_hold_itself(struct hpcw_i_dir *root, const char *name, struct hpcw_i_dir **dir);
/* Describes the file `name`, without following a link. If it or a directory of its path does not exist, the
 * result is 0, and entry->kind HPCW_I_NOTHING. */
int hpcw_i_below_look(struct hpcw_i_dir *root, const char *name, struct hpcw_i_entry *entry);
/* Opens a file. `own` is that of hpcw_i_sys_open_own. */
int hpcw_i_below_open(struct hpcw_i_dir *root, const char *name, int flags, bool own, int *fd);
/* Makes the missing directories of the path to `name`. With `sync`, each new directory and its entry are
 * written to the disk. */
int hpcw_i_below_make_parents(struct hpcw_i_dir *root, const char *name, bool sync);
/* Makes one directory. EEXIST: the name exists. *made (may be NULL) says whether the directory is new. */
int hpcw_i_below_make(struct hpcw_i_dir *root, const char *name, bool sync, bool *made);
/* Removes a file or a symbolic link. ENOENT: it does not exist. */
int hpcw_i_below_unlink(struct hpcw_i_dir *root, const char *name);
/* Removes an empty directory. ENOENT: it does not exist. */
int hpcw_i_below_rmdir(struct hpcw_i_dir *root, const char *name);
/* Renames a file. The new name may be in another directory. */
int hpcw_i_below_rename(struct hpcw_i_dir *root, const char *from, const char *to);
/* Writes the entries of the directory in which `name` is to the disk. */
int hpcw_i_below_sync(struct hpcw_i_dir *root, const char *name);

#endif
