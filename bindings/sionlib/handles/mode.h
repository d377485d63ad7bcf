/* SPDX-License-Identifier: BSD-3-Clause */
/* The words of an open. */
#ifndef HPCW_BINDINGS_SIONLIB_HANDLES_MODE_H
#define HPCW_BINDINGS_SIONLIB_HANDLES_MODE_H

#include <stdbool.h>

#include <hpcw/sion.h>

/* That of the machine. */
static inline hpcw_sion_endian sionlib_machine_endian(void) {
    return *(const unsigned char *)&(const uint16_t){1} == 0 ? HPCW_SION_BIG : HPCW_SION_LITTLE;
}

struct sionlib_mode {
    bool write, read;
    bool keys;             /* keyval, keyval=inline, keyval=default */
    bool collective;       /* packed chunks */
    bool merge;            /* of collective calls, at the collectors */
    bool buddy;            /* copies, which are not supported */
    int collector_size;    /* collsize; -1: not set */
    hpcw_sion_endian data; /* endianness=big or little; that of the machine */
};

/* Words that are not known are passed over, as SIONlib does. */
void sionlib_mode_of(const char *text, struct sionlib_mode *mode);

/* Whether there is what the mode asks for: buddy checkpointing is not. False: reported. */
bool sionlib_mode_check(const struct sionlib_mode *mode, const char *path);

/* Options of a writer of `path` in this mode. `fs_block_size` as SIONlib has it: -1 stands for that of the file system. */
void sionlib_mode_options(const struct sionlib_mode *mode, const char *path, int fs_block_size,
                          hpcw_sion_options *options);

/* Block size of the file system in which `path` is to be, as SIONlib takes it. */
int sionlib_block_size(const char *path);

#endif
