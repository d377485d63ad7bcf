/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A directory that gets its name only when all its files are written: until then it is ".hpcw-NUMBER-NAME.tmp" beside NAME, as
 * with file sinks. A file ".hpcw-NUMBER-NAME.lock.tmp", locked from before the directory is made until it is gone, tells
 * whether its writer lives. So the next writer of the same path on the same host removes what a dead one left.
 */
#ifndef HPCW_GEN_EXPORT_FOLDER_H
#define HPCW_GEN_EXPORT_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

#include <hpcw/status.h>

struct hpcw_i_dir;

struct gen_folder {
    char *path;                /* the final name */
    char *temporary;           /* where to write now, beside it; NULL: published or discarded */
    char *lock;                /* the locked file, a name in `parent`; NULL: none */
    int fd;                    /* its descriptor */
    struct hpcw_i_dir *parent; /* the directory that it is in, held from the open on */
};

/* Makes the directory under a temporary name, after those of dead writers are removed. HPCW_EEXIST if there is anything of
 * the final name, HPCW_ENOMEM, and what the system says. */
hpcw_status gen_folder_open(struct gen_folder *folder, const char *path, hpcw_error *err);

/* Adds up the files, flushes them to stable storage if asked to, and gives the directory its name. */
hpcw_status gen_folder_publish(struct gen_folder *folder, bool sync, uint64_t *bytes, hpcw_error *err);

/* Removes what was not published, with all files, and frees. A zeroed struct is allowed. */
void gen_folder_close(struct gen_folder *folder);

#endif
