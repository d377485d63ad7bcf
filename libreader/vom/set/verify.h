/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks whole files and whole directories of load-balancing data against all rules (doc/formats/vom.md, "Rules").
 * The flags are those of read_vom_open. */
#ifndef HPCW_LIBREADER_VOM_SET_VERIFY_H
#define HPCW_LIBREADER_VOM_SET_VERIFY_H

#include <stddef.h>

#include <hpcw/status.h>

/* Checks one data file or statistics file, as far as that is possible without the other ranks. A file named
 * STEM.RANK.json or STEM.RANK.json.br must contain the data of rank RANK. Memory: a reader (vom.h), 80 to 120
 * bytes for each entity of a phase, and 16 to 32 bytes for each communication of a phase. */
hpcw_status read_vom_verify(const char *path, unsigned flags, hpcw_error *err);
hpcw_status read_vom_verify_memory(const char *name, const void *data, size_t size, unsigned flags,
                                   hpcw_error *err);

/*
 * Checks a directory: the files of ranks 0 .. N-1, each alone and all of them together. It reads the files in
 * rounds: some phases of the first file, the same phases of the second, and so on, with one file open at a time.
 * The number of phases in a round follows from `budget` bytes (0: 48 MiB). A plain file is read once, a compressed
 * file is inflated again in each round.
 *
 * Memory: a reader (vom.h); 100 bytes per rank; 8 bytes per phase; 16 to 32 bytes for each communication of one
 * rank and phase; and `budget`, or the entities of one phase over all ranks (80 to 120 bytes each) if these take
 * more.
 */
hpcw_status read_vom_verify_directory(const char *path, unsigned flags, size_t budget, hpcw_error *err);

#endif
