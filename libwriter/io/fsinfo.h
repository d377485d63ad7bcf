/* SPDX-License-Identifier: BSD-3-Clause */
/* F1: what a directory's file system says of itself. */
#ifndef HPCW_IO_FSINFO_H
#define HPCW_IO_FSINFO_H

#include <stdint.h>

#include <hpcw/status.h>

/*
 * Block size to align to for a file that will be `path`: the st_blksize of its directory, as SIONlib asks for
 * it (4096 on ext4 and tmpfs, the GPFS or Lustre value there); 2 MiB where the answer is 0 or above 32 MiB.
 */
hpcw_status hpcw_i_fs_block_size(const char *path, uint32_t *block_size, hpcw_error *err);

/* Bytes an unprivileged user can still write to the file system that holds `directory`; UINT64_MAX where it does
 * not say. */
hpcw_status hpcw_i_fs_space(const char *directory, uint64_t *bytes, hpcw_error *err);

#endif
