/* SPDX-License-Identifier: BSD-3-Clause */
/* The handles to which SIONlib's numbers refer. */
#ifndef HPCW_BINDINGS_SIONLIB_HANDLES_HANDLE_H
#define HPCW_BINDINGS_SIONLIB_HANDLES_HANDLE_H

#include "bindings/sionlib/handles/task.h"

/* Makes a handle with `count` tasks and a number. Returns NULL after reporting an error. */
struct sionlib_handle *sionlib_handle_new(enum sionlib_opened opened, uint32_t count);

/* Frees a handle without closing it. NULL is allowed. */
void sionlib_handle_free(struct sionlib_handle *h);

/* Returns the handle with a number. Returns NULL after reporting an error. */
struct sionlib_handle *sionlib_handle_of(int sid, const char *call);

/* Returns the handle with a number if several processes have opened it in the way `opened`: SIONLIB_PARALLEL for
 * one task per process, SIONLIB_MAPPED for any number of tasks. Returns NULL after reporting an error. */
struct sionlib_handle *sionlib_handle_of_several(int sid, enum sionlib_opened opened, const char *call);

/* Return the handle with a number if it is open for writing, or for reading. They return NULL after reporting an
 * error. */
struct sionlib_handle *sionlib_writer_of(int sid, const char *call);
struct sionlib_handle *sionlib_reader_of(int sid, const char *call);

/* Closes a handle and frees it. For a writer, this writes the metadata of the container. Collective as
 * hpcw_sion_close. */
int sionlib_handle_close(struct sionlib_handle *h);

/* Makes a handle for `reader`. The function takes ownership of `reader`, also on failure. Returns NULL after
 * reporting an error. */
struct sionlib_handle *sionlib_handle_of_reader(enum sionlib_opened opened, hpcw_sion_reader *reader);

/* Returns the name of physical file `file` of a set, from malloc, or NULL without memory. */
char *sionlib_file_name(const char *path, int file);

#endif
