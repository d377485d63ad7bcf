/* SPDX-License-Identifier: BSD-3-Clause */
/* F3: a log that is being written, as its slices see it. */
#ifndef HPCW_FORMAT_CLOG2_FILE_FILE_H
#define HPCW_FORMAT_CLOG2_FILE_FILE_H

#include <pthread.h>

#include <hpcw/clog2.h>

#include "libwriter/format/clog2/file/records.h"

struct hpcw_clog2 {
    hpcw_comm *comm;
    char *path;
    hpcw_clog2_options options;
    struct hpcw_i_clog2_bounds bounds;
    hpcw_sink *sink;
    bool closed;
    pthread_mutex_t lock;
    hpcw_error abandoned; /* guarded by the lock; code HPCW_OK: not abandoned */
};

#endif
