/* SPDX-License-Identifier: BSD-3-Clause */
/* What kind of load-balancing file a file is. */
#ifndef HPCW_LIBREADER_VOM_SET_FILE_TYPE_H
#define HPCW_LIBREADER_VOM_SET_FILE_TYPE_H

#include <hpcw/status.h>

struct read_source;

enum read_vom_file_type { READ_VOM_UNKNOWN_FILE, READ_VOM_DATA_FILE, READ_VOM_STATISTICS_FILE };

/* By the first 64 KiB of text. READ_VOM_UNKNOWN_FILE also if there is no file of this name, or none with a text.
 * Fails if the system does not let it be read. */
hpcw_status read_vom_file_type(const char *path, enum read_vom_file_type *type, hpcw_error *err);

/* The same of an open file. */
hpcw_status read_vom_file_type_of_source(const struct read_source *source, enum read_vom_file_type *type,
                                         hpcw_error *err);

#endif
