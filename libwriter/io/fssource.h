/* SPDX-License-Identifier: BSD-3-Clause */
/* The questions to a file system, as a table, so that tests can imitate Lustre or GPFS. */
#ifndef HPCW_IO_FSSOURCE_H
#define HPCW_IO_FSSOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libwriter/io/lov.h"

enum hpcw_i_fs_kind { HPCW_I_FS_FILE, HPCW_I_FS_DIRECTORY, HPCW_I_FS_OTHER };

struct hpcw_i_fs_about {
    uint64_t magic;        /* statfs: f_type */
    uint64_t statfs_block; /* statfs: f_bsize */
    uint64_t stat_block;   /* stat: st_blksize */
    enum hpcw_i_fs_kind kind;
};

/* Every call returns 0 or an errno value; ENOSYS: not available here. */
struct hpcw_i_fs_source {
    int (*about)(const struct hpcw_i_fs_source *self, const char *path, struct hpcw_i_fs_about *about);
    /* Alignment that direct I/O of a file needs; both 0: no direct I/O. By statx, and by XFS's own call. */
    int (*direct)(const struct hpcw_i_fs_source *self, const char *file, uint32_t *memory, uint32_t *offset);
    int (*direct_xfs)(const struct hpcw_i_fs_source *self, const char *file, uint32_t *memory,
                      uint32_t *offset);
    /* Creates a file without a layout (Lustre: O_LOV_DELAY_CREATE); EEXIST if it exists. */
    int (*make)(const struct hpcw_i_fs_source *self, const char *file);
    int (*remove)(const struct hpcw_i_fs_source *self, const char *file);
    /* `*size`: capacity in, bytes out. */
    int (*get)(const struct hpcw_i_fs_source *self, const char *path, const char *name, void *value,
               size_t *size);
    int (*set)(const struct hpcw_i_fs_source *self, const char *path, const char *name, const void *value,
               size_t size);
    /* The layout of a file from liblustreapi; ENOSYS without that library. */
    int (*lustreapi)(const struct hpcw_i_fs_source *self, const char *file, struct hpcw_i_lov *lov);
};

/* The machine this runs on. */
extern const struct hpcw_i_fs_source hpcw_i_fs_system;

#endif
