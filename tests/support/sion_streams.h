/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares results of the public reader <hpcw/sion_read.h> with those of libreader's reader, on which it is
 * built. */
#ifndef HPCW_TESTS_SUPPORT_SION_STREAMS_H
#define HPCW_TESTS_SUPPORT_SION_STREAMS_H

#include <stdbool.h>

#include <hpcw/sion_read.h>

#include "libreader/sion/sion.h"

/* Compares the tasks that this process has in `streams`: their description, every byte in pieces and after jumps of
 * random sizes, the ends of chunks, and records. Reports differences on stderr. */
bool same_streams(hpcw_sion_reader *streams, struct read_sion *reader, uint64_t seed);

#endif
