/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the readers read: a regular file or a block of memory. A source has no buffer and no current offset, so
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

/* The same with a relative path from the directory of a descriptor, which may be AT_FDCWD. */
hpcw_status read_source_open_at(int directory, const char *path, struct read_source **out, hpcw_error *err);

/* The same for a file that the caller has open for reading. Takes a copy of the descriptor. */
hpcw_status read_source_open_descriptor(const char *name, int fd, struct read_source **out, hpcw_error *err);

/* The same for `size` bytes of the caller, which must outlive the source. */
hpcw_status read_source_open_memory(const char *name, const void *data, size_t size, struct read_source **out,
                                    hpcw_error *err);

void read_source_free(struct read_source *source);

/*
 * For what is read in several opens: whether the path, from a directory as above, still leads to the file of a
 * source that is open since before the first of them. HPCW_EIO: to another one, or to none. Opens the path, as
 * network file systems ask the server then, and may answer a mere look from an old copy.
 */
hpcw_status read_source_check(const struct read_source *source, int directory, const char *path,
                              hpcw_error *err);

/* Whether a file begins with these bytes. No if there is no file of this name, a shorter one, or something that is
 * no regular file; whatever else keeps it from being read is an error. */
hpcw_status read_source_begins_with(const char *path, const void *bytes, size_t size, bool *does,
                                    hpcw_error *err);

/* Whether a path leads to a directory. No if there is nothing of this name; any other failure is an error. */
hpcw_status read_source_is_directory(const char *path, bool *is, hpcw_error *err);

/* Whether a failure is one of the system, and says nothing about the content of a file: no name is missing, and
 * nothing is damaged. */
bool read_source_is_of_system(hpcw_status status, const hpcw_error *why);

/* For messages. */
const char *read_source_name(const struct read_source *source);

/* The size at open. */
uint64_t read_source_size(const struct read_source *source);

/* Reads exactly `size` bytes at `offset`. HPCW_ETRUNCATED if the source ends before that, HPCW_EIO. Messages call
 * the bytes `what`. */
hpcw_status read_source_read(const struct read_source *source, uint64_t offset, void *data, size_t size,
                             const char *what, hpcw_error *err);

/*
 * The first part [begin, end) at or after `offset` that is not known to be a hole; both are the size if there is
 * none. Holes are zero and need not be read. Memory, and file systems that do not report holes, are one part.
 */
hpcw_status read_source_data(const struct read_source *source, uint64_t offset, uint64_t *begin, uint64_t *end,
                             hpcw_error *err);

#endif
