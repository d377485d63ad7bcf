/* SPDX-License-Identifier: BSD-3-Clause */
/* F4, private to the VOM reader: the statistics file against its own figures. */
#ifndef HPCW_LIBREADER_VOM_RULES_STATISTICS_H
#define HPCW_LIBREADER_VOM_RULES_STATISTICS_H

#include "libreader/vom/vom.h"

hpcw_status read_vom_statistics_verify(const char *path, hpcw_error *err);
hpcw_status read_vom_statistics_verify_memory(const char *name, const void *data, size_t size, hpcw_error *err);

#endif
