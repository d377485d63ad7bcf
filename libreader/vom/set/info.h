/* SPDX-License-Identifier: BSD-3-Clause */
/* The content of load-balancing data as JSON. */
#ifndef HPCW_LIBREADER_VOM_SET_INFO_H
#define HPCW_LIBREADER_VOM_SET_INFO_H

#include <hpcw/status.h>

struct hpcw_i_json;

/* Adds the content of a data file, a statistics file or a directory to an open JSON object: per phase, counts and
 * the figures of Object_load, Rank_load, Object_comm and Rank_comm. After a failure the JSON object is incomplete.
 * Memory: that of a reader, and 300 bytes per phase. */
hpcw_status read_vom_info(const char *path, struct hpcw_i_json *json, hpcw_error *err);

#endif
