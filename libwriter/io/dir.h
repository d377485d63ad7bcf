/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Held directories. An open for writing looks its directory up once, and from then on reaches it through a
 * descriptor. The program may then change its working directory or rename the directory: the file still gets its
 * name where the open meant it. Results are 0 or an errno value.
 */
#ifndef HPCW_IO_DIR_H
#define HPCW_IO_DIR_H

#include "libwriter/io/sys.h"

/* A held directory. All holders of a directory in this process share one such object, so that an open file costs
 * one descriptor, not two. */
struct hpcw_i_dir;

/* Holds a directory until hpcw_i_dir_release. *out is NULL after a failure. */
int hpcw_i_dir_hold(const char *path, struct hpcw_i_dir **out);
/* Holds the directory that `path` is in. */
int hpcw_i_dir_hold_of(const char *path, struct hpcw_i_dir **out);
/* Does the same, but a relative path begins in `start`, a held directory. */
int hpcw_i_dir_hold_from(struct hpcw_i_dir *start, const char *path, struct hpcw_i_dir **out);
/* Returns another hold of the same directory. */
struct hpcw_i_dir *hpcw_i_dir_again(struct hpcw_i_dir *dir);
void hpcw_i_dir_release(struct hpcw_i_dir *dir); /* NULL is allowed */

/* Returns the descriptor of a held directory, for the calls of sys.h that end in _at. Programs close descriptors
 * that they do not know, and other files then get the number. In that case the directory is opened again if it
 * still has its path; otherwise the result is EBADF. */
int hpcw_i_dir_fd(struct hpcw_i_dir *dir, int *fd);

/* Returns how often fork() was called between the first process that held a directory and this one. A holder keeps
 * the value, and compares it later. So a child that only frees leaves the files of its parent alone. */
unsigned hpcw_i_dir_forks(void);

/* Writes the entries of a directory to the disk. */
int hpcw_i_dir_sync(struct hpcw_i_dir *dir);

/*
 * Finds where bytes for `name` in `dir` belong: the directory, held, and the name in it, which the caller frees. A
 * symbolic link is followed, also if its target does not exist. ELOOP: there are too many links.
 */
int hpcw_i_dir_follow(struct hpcw_i_dir *dir, const char *name, struct hpcw_i_dir **target, char **base);

/* ---- names below a directory ---- */

/*
 * These functions create, overwrite or remove files below a directory that others write, too. They walk from part
 * to part and follow no symbolic link, so that they reach nothing outside. A name is relative, and no part of it
 * is empty, "." or ".."; otherwise EINVAL. ELOOP: a part is a symbolic link.
 */

/* Holds the directory that `name` is in; its last part need not exist. */
int hpcw_i_below_hold(struct hpcw_i_dir *root, const char *name, struct hpcw_i_dir **parent);
/* Holds the directory of this name. */
int hpcw_i_below_hold_itself(struct hpcw_i_dir *root, const char *name, struct hpcw_i_dir **dir);
/* Looks at the last part. The result is 0 with HPCW_I_NOTHING if it, or a directory before it, does not exist. */
int hpcw_i_below_look(struct hpcw_i_dir *root, const char *name, struct hpcw_i_entry *entry);
/* Opens a file. For `own` see hpcw_i_sys_open_own. */
int hpcw_i_below_open(struct hpcw_i_dir *root, const char *name, int flags, bool own, int *fd);
/* Makes the missing directories on the way to `name`. With `sync`, each new one and its name are written to the
 * disk. */
int hpcw_i_below_make_parents(struct hpcw_i_dir *root, const char *name, bool sync);
/* Makes one directory; EEXIST if the name exists. *made (may be NULL) tells whether it did not exist before. */
int hpcw_i_below_make(struct hpcw_i_dir *root, const char *name, bool sync, bool *made);
/* Remove a file or a symbolic link, or an empty directory. ENOENT: it does not exist. */
int hpcw_i_below_unlink(struct hpcw_i_dir *root, const char *name);
int hpcw_i_below_rmdir(struct hpcw_i_dir *root, const char *name);
/* Renames a file, also into another directory. */
int hpcw_i_below_rename(struct hpcw_i_dir *root, const char *from, const char *to);
/* Writes the directory that `name` is in to the disk. */
int hpcw_i_below_sync(struct hpcw_i_dir *root, const char *name);

#endif
