/* SPDX-License-Identifier: BSD-3-Clause */
/* What a file system reports about itself, and the stripes of Lustre files. */
#ifndef HPCW_IO_FSINFO_H
#define HPCW_IO_FSINFO_H

#include <stdbool.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "libwriter/io/fssource.h"
#include "libwriter/io/lov.h"

/*
 * Finds the block size that the file `path` should be aligned to: the st_blksize of its directory, as in SIONlib.
 * That is 4096 on ext4 and tmpfs, and a value of the file system on GPFS or Lustre. If st_blksize is 0 or above
 * 32 MiB, the result is 2 MiB.
 */
hpcw_status hpcw_i_fs_block_size(const char *path, uint32_t *block_size, hpcw_error *err);
/* Finds the block size for files in an open directory, as hpcw_i_fs_block_size does. `path` is for messages
 * only. */
hpcw_status hpcw_i_fs_block_size_at(int directory, const char *path, uint32_t *block_size, hpcw_error *err);

/* Finds how many bytes an unprivileged user can still write to the file system of `directory`, and how many
 * files and directories that user can still make. UINT64_MAX: unknown. `files` may be NULL. */
hpcw_status hpcw_i_fs_space(const char *directory, uint64_t *bytes, uint64_t *files, hpcw_error *err);

/*
 * Checks whether the file system of a directory overwrites files in place. If so, allocated space can be
 * written any number of times, also through a mapping. A file system that copies on write, compresses or takes
 * snapshots needs new space for each write. On a network file system a write may fail later. A store to a
 * mapping then raises SIGBUS.
 *
 * HPCW_ENOTSUP: the file system is not known to overwrite in place; the message names it. `source` NULL: this
 * machine.
 */
HPCW_MUST_CHECK hpcw_status hpcw_i_fs_overwrites(const struct hpcw_i_fs_source *source, const char *directory,
                                                 hpcw_error *err);

/* What is known about a file system. The members that end in _source are static texts that name the source of a
 * value. */
struct hpcw_i_fsinfo {
    char type[32]; /* such as "ext4", which includes ext2 and ext3, or "unknown (0x...)" */
    uint64_t magic;

    uint64_t block_bytes; /* 0: unknown */
    /* source of block_bytes: "given", "Lustre stripe", "GPFS", "st_blksize", "statfs", "unknown" */
    const char *block_source;

    bool direct_known; /* whether the file's alignment for direct I/O is known */
    /* alignment of memory and offsets for direct I/O, bytes; both 0: not supported */
    uint32_t direct_memory, direct_offset;
    const char *direct_source; /* source of the alignment: "statx", "XFS_IOC_DIOINFO", "unknown" */

    bool stripe_known; /* whether the file is on Lustre and its stripes are known */
    struct hpcw_i_lov stripe;
    /* source of `stripe`: "lustre.lov"; "none" for a directory or another file system than Lustre; "unknown" */
    const char *stripe_source;

    bool gpfs;
};

/*
 * Describes the file system of an existing directory or file. Alignment for direct I/O and stripes are only
 * known for a file, so describe one that was just created. It is no failure if a value is unknown, but it is
 * one if `path` cannot be looked up.
 *
 * given: block size from the user, bytes; 0: none
 * source: NULL: this machine
 */
HPCW_MUST_CHECK hpcw_status hpcw_i_fsinfo_look(const struct hpcw_i_fs_source *source, const char *path,
                                               uint64_t given, struct hpcw_i_fsinfo *out, hpcw_error *err);

/* Stripes that a program wants for its files on Lustre. All members 0: it asks for none. */
struct hpcw_i_stripes {
    uint32_t count; /* number of stripes: 1 .. HPCW_I_LOV_MOST_STRIPES, or HPCW_I_LOV_ALL; 0: the default */
    uint64_t bytes; /* bytes of a stripe: a multiple of HPCW_I_LOV_STRIPE_UNIT below 4 GiB; 0: the default */
};

/* Checks whether files below an existing `directory` can have these stripes. Changes nothing. HPCW_EINVAL:
 * Lustre does not accept the numbers. HPCW_ENOTSUP: the file system is not Lustre. `source` NULL: this machine. */
HPCW_MUST_CHECK hpcw_status hpcw_i_fs_can_stripe(const struct hpcw_i_fs_source *source, const char *directory,
                                                 const struct hpcw_i_stripes *stripes, hpcw_error *err);

/* Sets the stripes that files and directories get when they are made in `directory` later. Does so with the
 * attribute "lustre.lov", as liblustreapi does (llapi_layout_file_open). hpcw_i_fs_can_stripe must have accepted
 * the stripes. The server may give fewer; hpcw_i_fsinfo_look on a new file says what it gave. `source` NULL:
 * this machine. */
HPCW_MUST_CHECK hpcw_status hpcw_i_fs_set_stripe(const struct hpcw_i_fs_source *source, const char *directory,
                                                 const struct hpcw_i_stripes *stripes, hpcw_error *err);

#endif
