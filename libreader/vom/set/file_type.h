/* SPDX-License-Identifier: BSD-3-Clause */
/* The kind of a load-balancing file. */
#ifndef HPCW_LIBREADER_VOM_SET_FILE_TYPE_H
#define HPCW_LIBREADER_VOM_SET_FILE_TYPE_H

#include <hpcw/status.h>

struct read_source;

enum read_vom_file_type { READ_VOM_UNKNOWN_FILE, READ_VOM_DATA_FILE, READ_VOM_STATISTICS_FILE };

/* Finds the kind of a file by the first 64 KiB of its text. It is READ_VOM_UNKNOWN_FILE, too, if no file has
 * this name or the file has no text. Fails if the system does not allow the read. */
hpcw_status read_vom_file_type(const char *path, enum read_vom_file_type *type, hpcw_error *err);

/* Finds the kind of an open file. */
hpcw_status read_vom_file_type_of_source(const struct read_source *source, enum read_vom_file_type *type,
                                         hpcw_error *err);

#endif
