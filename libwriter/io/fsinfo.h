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
 * Finds the block size that a file `path` should be aligned to: the st_blksize of its directory, as SIONlib does.
 * That is 4096 on ext4 and tmpfs, and the file system's own value on GPFS or Lustre. It is 2 MiB if the answer is
 * 0 or above 32 MiB.
 */
hpcw_status hpcw_i_fs_block_size(const char *path, uint32_t *block_size, hpcw_error *err);
/* Does the same for a directory that is open already. The path is for messages only. */
hpcw_status hpcw_i_fs_block_size_at(int directory, const char *path, uint32_t *block_size, hpcw_error *err);

/* Finds the bytes that an unprivileged user can still write to the file system of `directory`, and the number of
 * files and directories that this user can still make. UINT64_MAX: no limit is known. `files` may be NULL. */
hpcw_status hpcw_i_fs_space(const char *directory, uint64_t *bytes, uint64_t *files, hpcw_error *err);

/*
 * Checks whether files of a directory are overwritten in place. If so, allocated space can be written to again and
 * again, also through a mapping. A file system that copies on write, compresses or takes snapshots needs new space
 * for each write. A network file system can fail later. A store to a mapping then raises SIGBUS.
 *
 * HPCW_ENOTSUP: they are not, or it is not known; the message names the file system. `source`: NULL for this
 * machine.
 */
HPCW_MUST_CHECK hpcw_status hpcw_i_fs_overwrites(const struct hpcw_i_fs_source *source, const char *directory,
                                                 hpcw_error *err);

/* All that is known about a file system. Sources are static strings; "unknown" if there is none. */
struct hpcw_i_fsinfo {
    char type[32]; /* such as "ext4" (ext2 and ext3 cannot be told from it) or "unknown (0x...)" */
    uint64_t magic;

    uint64_t block_bytes;     /* 0: unknown */
    const char *block_source; /* "given", "Lustre stripe", "GPFS", "st_blksize", "statfs", "unknown" */

    bool direct_known;                     /* the alignment for O_DIRECT of this file is known */
    uint32_t direct_memory, direct_offset; /* bytes; both 0: the file takes no direct I/O */
    const char *direct_source;             /* "statx", "XFS_IOC_DIOINFO", "unknown" */

    bool stripe_known; /* the file is on Lustre and its stripes are known */
    struct hpcw_i_lov stripe;
    const char
        *stripe_source; /* "lustre.lov"; "none" for directories and elsewhere than on Lustre; "unknown" */

    bool gpfs;
};

/*
 * Describes an existing directory or file. Only a file has an alignment for direct I/O and stripes: ask about one
 * that was just created to see what took effect. What cannot be determined is unknown, which is not a failure.
 *
 * `source`: NULL for this machine. `given`: block size from the user, 0 if none. Fails if the path cannot be asked
 * about at all.
 */
HPCW_MUST_CHECK hpcw_status hpcw_i_fsinfo_look(const struct hpcw_i_fs_source *source, const char *path,
                                               uint64_t given, struct hpcw_i_fsinfo *out, hpcw_error *err);

/* Stripes to ask for. If all members are 0, none are asked for. */
struct hpcw_i_stripes {
    uint32_t count; /* 1 .. HPCW_I_LOV_MOST_STRIPES, HPCW_I_LOV_ALL; 0: the default */
    uint64_t bytes; /* a multiple of HPCW_I_LOV_STRIPE_UNIT below 4 GiB; 0: the default */
};

/* Checks whether files below an existing `directory` can be striped like that, and changes nothing. HPCW_EINVAL:
 * numbers that Lustre does not accept. HPCW_ENOTSUP: this is not Lustre. */
HPCW_MUST_CHECK hpcw_status hpcw_i_fs_can_stripe(const struct hpcw_i_fs_source *source, const char *directory,
                                                 const struct hpcw_i_stripes *stripes, hpcw_error *err);

/*  Sets stripes by the attribute "lustre.lov", as liblustreapi does (llapi_layout_file_open). They are the
 * default of files and directories that are made in the directory later. A server may give less than it was
 * asked for: hpcw_i_fsinfo_look says what took effect. hpcw_i_fs_can_stripe must have accepted them. `source`:
 * as above. */
HPCW_MUST_CHECK hpcw_status hpcw_i_fs_set_stripe(const struct hpcw_i_fs_source *source, const char *directory,
                                                 const struct hpcw_i_stripes *stripes, hpcw_error *err);

#endif
