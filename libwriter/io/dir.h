/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Directories that are held: whoever opens a file for writing looks its directory up once, and reaches it through
 * a descriptor from then on. The program may change its working directory, or rename the directory, and the file
 * still gets its name where the open meant it. Results are 0 or an errno value.
 */
#ifndef HPCW_IO_DIR_H
#define HPCW_IO_DIR_H

#include "libwriter/io/sys.h"

/* One per directory and process, however many hold it, so that open files cost one descriptor each. */
struct hpcw_i_dir;

/* Holds a directory; hpcw_i_dir_release ends that. *out is NULL after a failure. */
int hpcw_i_dir_hold(const char *path, struct hpcw_i_dir **out);
/* Holds the directory that `path` is in. */
int hpcw_i_dir_hold_of(const char *path, struct hpcw_i_dir **out);
/* The same for a path that began in another directory, which is held, if it is relative. */
int hpcw_i_dir_hold_from(struct hpcw_i_dir *start, const char *path, struct hpcw_i_dir **out);
/* Another hold of the same directory. */
struct hpcw_i_dir *hpcw_i_dir_again(struct hpcw_i_dir *dir);
void hpcw_i_dir_release(struct hpcw_i_dir *dir); /* NULL is allowed */

/* The descriptor of a held directory, for the calls of sys.h that end in _at. Programs close descriptors that they
 * do not know, and others take the number. Then the directory is opened again, if it still has its path; otherwise
 * EBADF. */
int hpcw_i_dir_fd(struct hpcw_i_dir *dir, int *fd);

/* How often fork() was called on the way from the first process that held a directory to this one. Who holds a
 * directory compares it with what it was then: a child that only frees leaves the files of its parent alone. */
unsigned hpcw_i_dir_forks(void);

/* Writes the entries of a directory back to the disk. */
int hpcw_i_dir_sync(struct hpcw_i_dir *dir);

/*
 * Where bytes for `name` in `dir` belong: the directory, held, and the name in it, to be freed. A symbolic link is
 * followed, also one whose target does not exist. ELOOP: too many links.
 */
int hpcw_i_dir_follow(struct hpcw_i_dir *dir, const char *name, struct hpcw_i_dir **target, char **base);

/* ---- names below a directory ---- */

/*
 * What creates, overwrites or removes files below a directory that others write, too, goes through these: they
 * walk from part to part and follow no symbolic link, so that nothing outside is reached. A name is relative, and
 * no part of it is empty, "." or ".."; otherwise EINVAL. ELOOP: a part is a symbolic link.
 */

/* Holds the directory that `name` is in; its last part need not exist. */
int hpcw_i_below_hold(struct hpcw_i_dir *root, const char *name, struct hpcw_i_dir **parent);
/* Holds the directory of this name. */
int hpcw_i_below_hold_itself(struct hpcw_i_dir *root, const char *name, struct hpcw_i_dir **dir);
/* What the last part is. 0 with HPCW_I_NOTHING if it, or a directory before it, does not exist. */
int hpcw_i_below_look(struct hpcw_i_dir *root, const char *name, struct hpcw_i_entry *entry);
/* Opens a file: see hpcw_i_sys_open_own. */
int hpcw_i_below_open(struct hpcw_i_dir *root, const char *name, int flags, bool own, int *fd);
/* Makes the directories that `name` is in, as far as they are missing. With `sync`, each new one is written back
 * to the disk with its name. */
int hpcw_i_below_make_parents(struct hpcw_i_dir *root, const char *name, bool sync);
/* Makes one directory: EEXIST if there is one. *made (may be NULL): whether there was none. */
int hpcw_i_below_make(struct hpcw_i_dir *root, const char *name, bool sync, bool *made);
/* Removes a file or a symbolic link, or an empty directory. ENOENT: it is not there. */
int hpcw_i_below_unlink(struct hpcw_i_dir *root, const char *name);
int hpcw_i_below_rmdir(struct hpcw_i_dir *root, const char *name);
/* Gives a file another name, also in another directory. */
int hpcw_i_below_rename(struct hpcw_i_dir *root, const char *from, const char *to);
/* Writes the directory that `name` is in back to the disk. */
int hpcw_i_below_sync(struct hpcw_i_dir *root, const char *name);

#endif
