/* SPDX-License-Identifier: BSD-3-Clause */
/* The mode argument of an open: words separated by commas. */
#ifndef HPCW_BINDINGS_SIONLIB_HANDLES_MODE_H
#define HPCW_BINDINGS_SIONLIB_HANDLES_MODE_H

#include <stdbool.h>

#include <hpcw/sion.h>

/* Byte order of this machine. */
static inline hpcw_sion_endian sionlib_machine_endian(void) {
    return *(const unsigned char *)&(const uint16_t){1} == 0 ? HPCW_SION_BIG : HPCW_SION_LITTLE;
}

struct sionlib_mode {
    bool write, read;
    bool keys;             /* the mode has keyval, keyval=inline or keyval=default */
    bool collective;       /* collective: the chunks of a group lie next to each other */
    bool merge;            /* cmerge: the first task of a group stores the data of all its tasks */
    bool buddy;            /* buddy checkpointing, which this library does not support */
    int collector_size;    /* value of collsize, tasks per group; -1: not set */
    hpcw_sion_endian data; /* endianness=big or little; default: the machine's */
};

/* Parses a mode. As in SIONlib, unknown words are ignored. */
void sionlib_mode_of(const char *text, struct sionlib_mode *mode);

/* Checks that the library supports the mode. It does not support buddy checkpointing. Returns false after reporting
 * an error. */
bool sionlib_mode_check(const struct sionlib_mode *mode, const char *path);

/* Sets the options of a writer of `path` in this mode. As in SIONlib, `fs_block_size` -1 stands for the block size
 * of the file system. */
void sionlib_mode_options(const struct sionlib_mode *mode, const char *path, int fs_block_size,
                          hpcw_sion_options *options);

/* Returns the block size that SIONlib uses for the file system of `path`, bytes. */
int sionlib_block_size(const char *path);

#endif
