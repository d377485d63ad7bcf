/* SPDX-License-Identifier: BSD-3-Clause */
/* The mode of an open: a text of words. */
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
    bool keys;             /* keyval, keyval=inline, keyval=default */
    bool collective;       /* chunks of a group lie next to each other */
    bool merge;            /* collective calls gather the data at the collectors */
    bool buddy;            /* copies, which this library does not support */
    int collector_size;    /* collsize; -1: not set */
    hpcw_sion_endian data; /* endianness=big or little; default: the machine's */
};

/* Parses a mode. As in SIONlib, unknown words are ignored. */
void sionlib_mode_of(const char *text, struct sionlib_mode *mode);

/* Checks that the mode is supported, which buddy checkpointing is not. Returns false after reporting an error. */
bool sionlib_mode_check(const struct sionlib_mode *mode, const char *path);

/* Sets the options of a writer of `path` in this mode. As in SIONlib, `fs_block_size` -1 stands for that of the
 * file system. */
void sionlib_mode_options(const struct sionlib_mode *mode, const char *path, int fs_block_size,
                          hpcw_sion_options *options);

/* The block size that SIONlib uses for the file system of `path`. */
int sionlib_block_size(const char *path);

#endif
