/* SPDX-License-Identifier: BSD-3-Clause */
/* A directory that gets its name when all its files are written. Until then it is ".hpcw-NUMBER-NAME.tmp"
 * beside NAME. From before the directory is made until the temporary name is gone, the writer holds a lock on
 * the file ".hpcw-NUMBER-NAME.lock.tmp". The lock shows that the writer is alive. If there is no lock, the next
 * writer of the same path on the same host removes the directory.
 *
 * The directory is held open from its creation on. Others may rename it or its parent, or replace it by a link.
 * Its files still go into this directory, and only this directory gets the name. */
#ifndef HPCW_GEN_EXPORT_FOLDER_H
#define HPCW_GEN_EXPORT_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "libwriter/io/sink.h"

struct gen_folder {
    char *path; /* the final name */
    /* temporary name in `parent`; NULL: the directory was published or discarded */
    char *temporary;
    char *lock; /* name of the lock file in `parent`; NULL: there is no lock file */
    int fd;     /* descriptor of the lock file */
    /* parent directory of `path`, held open */
    struct hpcw_i_dir *parent;
    /* opens the files of the directory, and has their final paths for messages; below.root is the directory,
     * held open */
    struct hpcw_i_sink_below below;
};

/* Removes files of dead writers, then makes the directory under a temporary name. HPCW_EEXIST: the final name
 * exists. HPCW_ENOMEM, and errors of the system. */
hpcw_status gen_folder_open(struct gen_folder *folder, const char *path, hpcw_error *err);

/* Writes a path under which the open directory can be reached, for libraries that need a path. It is valid until
 * gen_folder_close. HPCW_ENOTSUP: the system has no such paths. */
enum { GEN_FOLDER_INSIDE = 32 };
hpcw_status gen_folder_inside(const struct gen_folder *folder, char path[GEN_FOLDER_INSIDE], hpcw_error *err);

/* Replaces the path `inside` by the directory's final path in the message of a failed writer. */
void gen_folder_name_failure(const struct gen_folder *folder, const char inside[GEN_FOLDER_INSIDE],
                             hpcw_error *err);

/* Adds up the sizes of the files and renames the directory to its final name. `sync`: first flushes all files
 * to disk. HPCW_ENOENT: the temporary name no longer exists. */
hpcw_status gen_folder_publish(struct gen_folder *folder, bool sync, uint64_t *bytes, hpcw_error *err);

/* Removes an unpublished directory with all its files, and frees. A zeroed struct is allowed. */
void gen_folder_close(struct gen_folder *folder);

#endif
