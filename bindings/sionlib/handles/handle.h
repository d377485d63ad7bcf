/* SPDX-License-Identifier: BSD-3-Clause */
/* The handles behind SIONlib's numbers, and what all calls need of them. */
#ifndef HPCW_BINDINGS_SIONLIB_HANDLES_HANDLE_H
#define HPCW_BINDINGS_SIONLIB_HANDLES_HANDLE_H

#include "bindings/sionlib/handles/task.h"

/* A handle with `count` tasks and a number. NULL: reported. */
struct sionlib_handle *sionlib_handle_new(enum sionlib_opened opened, uint32_t count);

/* NULL is allowed. Closes nothing. */
void sionlib_handle_free(struct sionlib_handle *h);

/* The handle with a number. NULL: reported. */
struct sionlib_handle *sionlib_handle_of(int sid, const char *call);

/* The same, opened by several processes for `call`, with one task each or any number. */
struct sionlib_handle *sionlib_handle_of_several(int sid, enum sionlib_opened opened, const char *call);

/* The handle with a number, open for writing or reading. */
struct sionlib_handle *sionlib_writer_of(int sid, const char *call);
struct sionlib_handle *sionlib_reader_of(int sid, const char *call);

/* Writes the metadata if it is a writer, and frees the handle. Collective as hpcw_sion_close. */
int sionlib_handle_close(struct sionlib_handle *h);

/* A handle for what `reader` reads, which becomes the handle's, also on failure. NULL: reported. */
struct sionlib_handle *sionlib_handle_of_reader(enum sionlib_opened opened, hpcw_sion_reader *reader);

/* The name of physical file `file` of a set, from malloc; NULL without memory. */
char *sionlib_file_name(const char *path, int file);

#endif
