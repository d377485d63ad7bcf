/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds definitions and communicators that come after their first use, as in the logs of MPE's own wrapper. */
#include "libreader/clog2/private.h"
#include "libreader/source.h"
#include "libwriter/base/status.h"

void read_clog2_look_ahead(struct read_clog2_pass *p) {
    struct read_clog2 *rest;
    p->looked_ahead = true;
    p->ahead = true;
    hpcw_error why;
    hpcw_status s = read_clog2_open_rest(p->reader, &rest, &why);
    const struct read_clog2_item *item;
    uint32_t count = 1;
    while (s == HPCW_OK && count > 0) {
        s = read_clog2_next_batch(rest, &item, &count, &why);
        for (uint32_t i = 0; s == HPCW_OK && i < count; i++) {
            if (item[i].kind == READ_CLOG2_IS_STATE_DEF || item[i].kind == READ_CLOG2_IS_EVENT_DEF) {
                read_clog2_define(p, &item[i]);
            } else if (item[i].kind == READ_CLOG2_IS_COMM_EVENT) {
                read_clog2_introduce(p, &item[i]);
            }
        }
    }
    read_clog2_free(rest);
    p->ahead = false;
    /* Ignore a fault in the rest of the log: the pass reports it when it gets there. */
    if (p->status == HPCW_OK && read_source_is_of_system(s, &why)) {
        p->status = hpcw_i_fail_as(p->err, &why);
    }
}

struct read_clog2_near_rank *read_clog2_near_make(struct read_clog2_pass *p, struct read_clog2_near_rank *near,
                                                  int32_t comm, int32_t rank, int32_t thread) {
    int64_t world = read_clog2_world_rank(p, comm, rank);
    if (world < 0 && p->watch != NULL && !p->looked_ahead) {
        read_clog2_look_ahead(p);
        world = read_clog2_world_rank(p, comm, rank);
    }
    *near = (struct read_clog2_near_rank){
        .comm = comm, .rank = rank, .thread = thread, .known = p->introductions, .world = (int32_t)world};
    return near;
}
