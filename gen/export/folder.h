/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A directory that gets its name only when all its files are written: until then it is ".hpcw-NUMBER-NAME.tmp" beside NAME, as
 * with file sinks. A file ".hpcw-NUMBER-NAME.lock.tmp", locked from before the directory is made until it is gone, tells
 * whether its writer lives. So the next writer of the same path on the same host removes what a dead one left.
 *
 * The directory is held from its creation on: others may rename it, or what it is in, or put a link in its place, and its
 * files still go into this very directory, which alone gets the name.
 */
#ifndef HPCW_GEN_EXPORT_FOLDER_H
#define HPCW_GEN_EXPORT_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "libwriter/io/sink.h"

struct gen_folder {
    char *path;                /* the final name */
    char *temporary;           /* its name in `parent` until then; NULL: published or discarded */
    char *lock;                /* the locked file, a name in `parent`; NULL: none */
    int fd;                    /* its descriptor */
    struct hpcw_i_dir *parent; /* the directory that it is in, held from the open on */
    struct hpcw_i_sink_below
        below; /* for sinks of its files, by their final paths; the root is the directory, held */
};

/* Makes the directory under a temporary name, after those of dead writers are removed. HPCW_EEXIST if there is anything of
 * the final name, HPCW_ENOMEM, and what the system says. */
hpcw_status gen_folder_open(struct gen_folder *folder, const char *path, hpcw_error *err);

/* For writers that need a path: one of the directory, as long as it is not closed. HPCW_ENOTSUP: the system has none. */
enum { GEN_FOLDER_INSIDE = 32 };
hpcw_status gen_folder_inside(const struct gen_folder *folder, char path[GEN_FOLDER_INSIDE], hpcw_error *err);

/* In the message of a writer that failed with a path inside, puts the final path of the directory in its place. */
void gen_folder_name_failure(const struct gen_folder *folder, const char inside[GEN_FOLDER_INSIDE],
                             hpcw_error *err);

/* Adds up the files, flushes them to stable storage if asked to, and gives the directory its name. HPCW_ENOENT: it
 * has its temporary name no more. */
hpcw_status gen_folder_publish(struct gen_folder *folder, bool sync, uint64_t *bytes, hpcw_error *err);

/* Removes what was not published, with all files, and frees. A zeroed struct is allowed. */
void gen_folder_close(struct gen_folder *folder);

#endif
