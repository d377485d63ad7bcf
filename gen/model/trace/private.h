/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of the trace model. */
#ifndef HPCW_GEN_MODEL_TRACE_PRIVATE_H
#define HPCW_GEN_MODEL_TRACE_PRIVATE_H

#include <stddef.h>
#include <stdint.h>

#include "gen/model/trace/trace.h"

enum {
    MODEL_TRACE_MOST_DIRECTIONS = 6,
    MODEL_TRACE_MOST_PATTERNS = 1 + (1 << MODEL_TRACE_MOST_DIRECTIONS),
    MODEL_TRACE_CHECKPOINT_EVENTS = 10, /* checkpoint, open, write, close, barrier */
    MODEL_TRACE_GAP_NS = 1000
};

/* What a rank does in an exchange in one direction. */
enum { MODEL_TRACE_SENDS = 1, MODEL_TRACE_RECEIVES = 2, MODEL_TRACE_LARGE = 4 /* what it receives */ };

/* Sorts entry[count] by their low `bits` bits, at most 32, and keeps the order of equal ones. other[count] is work space.
 * Returns the sorted array, which is one of the two. */
uint64_t *model_trace_sort(uint64_t *entry, uint64_t *other, uint64_t count, uint32_t bits);

#endif
