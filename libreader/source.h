/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Input of the readers: a regular file or a block of memory. A source has no buffer and no current offset, so
 * threads may share it.
 */
#ifndef HPCW_LIBREADER_SOURCE_H
#define HPCW_LIBREADER_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

struct read_source;

/* Opens a regular file. HPCW_EINVAL for anything else, HPCW_ENOMEM, or the error of the system. */
hpcw_status read_source_open(const char *path, struct read_source **out, hpcw_error *err);

/* Opens a regular file by a path relative to a directory descriptor, which may be AT_FDCWD. */
hpcw_status read_source_open_at(int directory, const char *path, struct read_source **out, hpcw_error *err);

/* Opens a file from a descriptor that the caller has open for reading. Copies the descriptor. */
hpcw_status read_source_open_descriptor(const char *name, int fd, struct read_source **out, hpcw_error *err);

/* Makes a source of `size` bytes of the caller, which must outlive the source. */
hpcw_status read_source_open_memory(const char *name, const void *data, size_t size, struct read_source **out,
                                    hpcw_error *err);

void read_source_free(struct read_source *source);

/*
 * Checks that a path still leads to the file of a source; `directory` is a descriptor or AT_FDCWD. This is for
 * containers of which several files are opened: open the source before the other files. HPCW_EIO: the path leads to
 * another file or to none. The check opens the path, because network file systems then ask the server; a stat may
 * be answered from an old cache.
 */
hpcw_status read_source_check(const struct read_source *source, int directory, const char *path,
                              hpcw_error *err);

/* Finds whether a file begins with `size` bytes `bytes`. False if no file has this name, or the file is shorter or
 * not a regular file. Any other reason why the file cannot be read is an error. */
hpcw_status read_source_begins_with(const char *path, const void *bytes, size_t size, bool *does,
                                    hpcw_error *err);

/* Finds whether a path leads to a directory. False if nothing has this name. Any other failure is an error. */
hpcw_status read_source_is_directory(const char *path, bool *is, hpcw_error *err);

/* Returns whether a file has the temporary name that it keeps until its writer closes it. */
bool read_source_is_unfinished(const char *path);

/* Returns whether a failure is one of the system, such as an I/O error or too little memory. It says nothing about
 * the content of a file. False for a missing file and for damaged data. */
bool read_source_is_of_system(hpcw_status status, const hpcw_error *why);

const char *read_source_name(const struct read_source *source);

/* Size of the source when it was opened, bytes. */
uint64_t read_source_size(const struct read_source *source);

/* Reads exactly `size` bytes at `offset`. HPCW_ETRUNCATED if the source is too short; also HPCW_EIO. `what` names
 * the bytes in messages. */
hpcw_status read_source_read(const struct read_source *source, uint64_t offset, void *data, size_t size,
                             const char *what, hpcw_error *err);

/* Finds the first part [begin, end) at or after `offset` that is not known to be a hole. If there is no such part,
 * *begin and *end are the size of the source. Holes read as zero and need not be read. Memory has one part, and so
 * has a file on a file system that does not report holes. */
hpcw_status read_source_data(const struct read_source *source, uint64_t offset, uint64_t *begin, uint64_t *end,
                             hpcw_error *err);

#endif
