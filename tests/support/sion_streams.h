/* SPDX-License-Identifier: BSD-3-Clause */
/* What <hpcw/sion_read.h> gives, compared with what the reader below it gives. */
#ifndef HPCW_TESTS_SUPPORT_SION_STREAMS_H
#define HPCW_TESTS_SUPPORT_SION_STREAMS_H

#include <stdbool.h>

#include <hpcw/sion_read.h>

#include "libreader/sion/sion.h"

/* Compares the own tasks of `streams`: their description, every byte in pieces and jumps of random sizes, the ends of chunks,
 * records. Says on stderr what differs. */
bool same_streams(hpcw_sion_reader *streams, struct read_sion *reader, uint64_t seed);

#endif
