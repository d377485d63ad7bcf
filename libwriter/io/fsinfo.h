/* SPDX-License-Identifier: BSD-3-Clause */
/* What a file system reports about itself, and the stripes of Lustre files. */
#ifndef HPCW_IO_FSINFO_H
#define HPCW_IO_FSINFO_H

#include <stdbool.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "libwriter/io/fssource.h"

/*
 * Block size to which a file `path` should be aligned: the st_blksize of its directory, as SIONlib does (4096 on
 * ext4 and tmpfs, the file system's own value on GPFS or Lustre); 2 MiB if the answer is 0 or above 32 MiB.
 */
hpcw_status hpcw_i_fs_block_size(const char *path, uint32_t *block_size, hpcw_error *err);
/* The same where the directory is open already, so that the path is for messages only. */
hpcw_status hpcw_i_fs_block_size_at(int directory, const char *path, uint32_t *block_size, hpcw_error *err);

/* Bytes that an unprivileged user can still write to the file system that holds `directory`, and files and
 * directories that this user can still make there; UINT64_MAX: no limit is known. `files` may be NULL. */
hpcw_status hpcw_i_fs_space(const char *directory, uint64_t *bytes, uint64_t *files, hpcw_error *err);

/*
 * Whether the files of a directory are overwritten in place: what has its space allocated can be written to again
 * and again, also through a mapping. A file system that copies on write, compresses or takes snapshots needs new
 * space for each write, and a network file system can fail later: storing to a mapping is then a SIGBUS.
 * HPCW_ENOTSUP: no, or not known; the message names the file system. `source`: NULL for this machine.
 */
HPCW_MUST_CHECK hpcw_status hpcw_i_fs_overwrites(const struct hpcw_i_fs_source *source, const char *directory,
                                                 hpcw_error *err);

/* Everything known about a file system. Sources are static words; "unknown" if there is none. */
struct hpcw_i_fsinfo {
    char type[32]; /* "ext4" (ext2 and ext3 look the same), "unknown (0x...)" */
    uint64_t magic;

    uint64_t block_bytes;     /* 0: unknown */
    const char *block_source; /* "given", "Lustre stripe", "GPFS", "st_blksize", "statfs", "unknown" */

    bool direct_known;                     /* alignment for O_DIRECT of the file asked about */
    uint32_t direct_memory, direct_offset; /* both 0: the file takes none */
    const char *direct_source;             /* "statx", "XFS_IOC_DIOINFO", "unknown" */

    bool stripe_known; /* Lustre, of the file asked about */
    struct hpcw_i_lov stripe;
    const char *stripe_source; /* "liblustreapi", "lustre.lov"; "none" elsewhere than on Lustre; "unknown" */
    char stripe_reason[160];   /* why it is unknown, one line; "" if it is known or there is none */

    bool gpfs;
};

/*
 * Describes an existing directory or file. Only a file has an alignment for direct I/O and stripes: use one that
 * was just created to see what took effect. What cannot be determined is unknown, not a failure.
 *
 * `source`: NULL for this machine. `given`: block size that the user says, 0 if none. Fails if the path cannot be
 * asked about at all.
 */
HPCW_MUST_CHECK hpcw_status hpcw_i_fsinfo_look(const struct hpcw_i_fs_source *source, const char *path,
                                               uint64_t given, struct hpcw_i_fsinfo *out, hpcw_error *err);

/* Stripes to ask for. Zeroed: none. */
struct hpcw_i_stripes {
    uint32_t count; /* 1 .. HPCW_I_LOV_MOST_STRIPES, HPCW_I_LOV_ALL; 0: the default */
    uint64_t bytes; /* a multiple of HPCW_I_LOV_STRIPE_UNIT below 4 GiB; 0: the default */
};

/* Whether files below an existing `directory` can be striped like that: HPCW_EINVAL for numbers that Lustre does
 * not know, HPCW_ENOTSUP elsewhere than on Lustre. Changes nothing. */
HPCW_MUST_CHECK hpcw_status hpcw_i_fs_can_stripe(const struct hpcw_i_fs_source *source, const char *directory,
                                                 const struct hpcw_i_stripes *stripes, hpcw_error *err);

/*
 * Sets stripes by the attribute "lustre.lov", as liblustreapi does (llapi_layout_file_open): of a directory the
 * default for files and directories that are made in it later, of a `path` that does not exist the layout of the
 * empty file that this makes. A server may give less than it was asked for: hpcw_i_fsinfo_look says what took
 * effect.
 *
 * HPCW_EINVAL, HPCW_ENOTSUP as above; HPCW_EEXIST: the file exists, so its stripes are fixed; others from the
 * system, and then no file was made. `source` as above.
 */
HPCW_MUST_CHECK hpcw_status hpcw_i_fs_set_stripe(const struct hpcw_i_fs_source *source, const char *path,
                                                 const struct hpcw_i_stripes *stripes, hpcw_error *err);

#endif
