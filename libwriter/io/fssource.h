/* SPDX-License-Identifier: BSD-3-Clause */
/* A table of the functions that ask for properties of a file system. Tests use functions that imitate Lustre or
 * GPFS. */
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

/* Every function returns 0 or an errno value; ENOSYS: the system has no such call. */
struct hpcw_i_fs_source {
    int (*about)(const struct hpcw_i_fs_source *self, const char *path, struct hpcw_i_fs_about *about);
    /* Two ways to find the alignment of memory and offsets for direct I/O, bytes; both 0: not supported.
     * `direct` calls statx, `direct_xfs` XFS's own ioctl. */
    int (*direct)(const struct hpcw_i_fs_source *self, const char *file, uint32_t *memory, uint32_t *offset);
    int (*direct_xfs)(const struct hpcw_i_fs_source *self, const char *file, uint32_t *memory,
                      uint32_t *offset);
    /* Reads an extended attribute. Before the call, *size is the capacity of `value`; after it, the size of the
     * attribute. */
    int (*get)(const struct hpcw_i_fs_source *self, const char *path, const char *name, void *value,
               size_t *size);
    int (*set)(const struct hpcw_i_fs_source *self, const char *path, const char *name, const void *value,
               size_t size);
};

/* The table of functions that make system calls on this machine. */
extern const struct hpcw_i_fs_source hpcw_i_fs_system;

#endif
