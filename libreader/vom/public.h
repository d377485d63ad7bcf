/* SPDX-License-Identifier: BSD-3-Clause */
/* The handle of the public reader, and a function that makes it from an open source. */
#ifndef HPCW_LIBREADER_VOM_PUBLIC_H
#define HPCW_LIBREADER_VOM_PUBLIC_H

#include <hpcw/vom_read.h>

#include "libreader/vom/private.h"
#include "libwriter/base/status.h"

/* Values in the form that the writer takes. */
struct read_vom_values {
    hpcw_vom_value *item;
    size_t count, capacity;
};

/* Rows of tasks and edges (communications) that a program gets as columns. */
struct read_vom_task_row {
    uint64_t phase, id, collection_id, objgroup_id;
    double time;
    uint32_t home;
    bool migratable;
};
struct read_vom_edge_row {
    uint64_t phase, from, to, messages;
    double bytes;
    uint32_t from_home, to_home;
    hpcw_vom_category category;
};

struct hpcw_vom_reader {
    struct read_vom *r;
    hpcw_vom_info info;
    bool runs; /* a run with callbacks is going on */
    const hpcw_vom_watch *watch;
    struct read_vom_values attributes, values;
    /* The rows that were loaded: tasks and edges. */
    struct read_vom_task_row *task; /* [tasks] */
    struct read_vom_edge_row *edge; /* [edges] */
    size_t tasks, edges, task_capacity, edge_capacity;
};

/* Makes a public handle of a source, and takes ownership of the source, also on failure. */
hpcw_status read_vom_publish(struct read_source *source, uint32_t rank, unsigned flags, hpcw_vom_reader **out,
                             hpcw_error *err);

/* public.c: reads up to `phases` phases, and updates the public info in the handle. */
hpcw_status read_vom_run_public(hpcw_vom_reader *reader, uint64_t phases, const struct read_vom_events *events,
                                hpcw_error *err);

static inline hpcw_status read_vom_missing(const char *what, hpcw_error *err) {
    return hpcw_i_fail(err, HPCW_EINVAL, "load data: %s: expected a pointer, got NULL", what);
}
static inline hpcw_status read_vom_in_callback(const hpcw_vom_reader *reader, hpcw_error *err) {
    return hpcw_i_fail(err, HPCW_ESTATE, "%s: expected a call outside of callbacks, got one of a callback",
                       reader->r->name);
}

#endif
