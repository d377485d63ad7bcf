/* SPDX-License-Identifier: BSD-3-Clause */
/* The questions to a file system are a table of functions, so that tests can imitate Lustre or GPFS. */
#ifndef HPCW_IO_FSSOURCE_H
#define HPCW_IO_FSSOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hpcw_i_fs_kind { HPCW_I_FS_FILE, HPCW_I_FS_DIRECTORY, HPCW_I_FS_OTHER };

struct hpcw_i_fs_about {
    uint64_t magic;        /* f_type of statfs */
    uint64_t statfs_block; /* f_bsize of statfs, bytes */
    uint64_t stat_block;   /* st_blksize of stat, bytes */
    enum hpcw_i_fs_kind kind;
};

/* Every call returns 0 or an errno value; ENOSYS: not available here. */
struct hpcw_i_fs_source {
    int (*about)(const struct hpcw_i_fs_source *self, const char *path, struct hpcw_i_fs_about *about);
    /* The alignment that direct I/O of a file needs; both 0: the file takes no direct I/O. `direct` asks statx,
     * `direct_xfs` XFS's own call. */
    int (*direct)(const struct hpcw_i_fs_source *self, const char *file, uint32_t *memory, uint32_t *offset);
    int (*direct_xfs)(const struct hpcw_i_fs_source *self, const char *file, uint32_t *memory,
                      uint32_t *offset);
    /* Reads an attribute. `*size` is the capacity of `value` before, and the bytes of the attribute after the
     * call. */
    int (*get)(const struct hpcw_i_fs_source *self, const char *path, const char *name, void *value,
               size_t *size);
    int (*set)(const struct hpcw_i_fs_source *self, const char *path, const char *name, const void *value,
               size_t size);
};

/* The functions that ask this machine. */
extern const struct hpcw_i_fs_source hpcw_i_fs_system;

#endif
