/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * F4: where the readers' bytes come from: a regular file, read by position, or a block of memory. A source
 * holds no buffer and no position of its own; it may be shared by threads.
 */
#ifndef HPCW_LIBREADER_SOURCE_H
#define HPCW_LIBREADER_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

struct read_source;

/* Opens a regular file. HPCW_EINVAL for anything else than a regular file, HPCW_ENOMEM, or the system's
 * refusal.
 */
hpcw_status read_source_open(const char *path, struct read_source **out, hpcw_error *err);

/* The same interface over `size` bytes that stay the caller's and must outlive the source. */
hpcw_status read_source_open_memory(const char *name, const void *data, size_t size, struct read_source **out,
                                    hpcw_error *err);

void read_source_free(struct read_source *source);

/* For messages. */
const char *read_source_name(const struct read_source *source);

/* As it was at open. */
uint64_t read_source_size(const struct read_source *source);

/*
 * Reads exactly `size` bytes at `offset`. HPCW_ETRUNCATED where the source ends before; the message calls the
 * bytes `what`. HPCW_EIO.
 */
hpcw_status read_source_read(const struct read_source *source, uint64_t offset, void *data, size_t size,
                             const char *what, hpcw_error *err);

/*
 * The first stretch [begin, end) at or behind `offset` that may hold anything but zeros; both are the size
 * where there is none. What lies before is a hole and need not be read. File systems that do not tell, and
 * memory, report everything as one stretch.
 */
hpcw_status read_source_data(const struct read_source *source, uint64_t offset, uint64_t *begin, uint64_t *end,
                             hpcw_error *err);

#endif
