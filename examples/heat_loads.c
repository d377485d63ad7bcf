/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the time of each process's rectangle in each phase, and the bytes between processes, for vt and load
 * balancers: lb_data/data.RANK.json. A rectangle is an element of a collection. */
#include <stdio.h>

#include "heat.h"

static hpcw_vom_entity rectangle(const uint64_t *rank) {
    return hpcw_vom_element((uint32_t)*rank, 0, hpcw_vom_collection_id(0), rank, 1);
}

hpcw_status heat_loads_open(hpcw_vom **vom, const struct heat *heat, hpcw_comm *comm, hpcw_error *error) {
    char name[64];
    hpcw_vom_options options;
    hpcw_vom_options_init(&options);
    options.rank = (uint32_t)heat->rank;
    options.ranks = (uint32_t)heat->processes;
    hpcw_status status = hpcw_vom_make_directory("lb_data", comm, error);
    if (status != HPCW_OK)
        return status;
    snprintf(name, sizeof name, "lb_data/data.%d.json", heat->rank);
    return heat_agree(hpcw_vom_open(name, &options, vom, error), error);
}

/* Records edges first, then tasks. The receiving process records an edge. */
static hpcw_status record(hpcw_vom *vom, const struct heat *heat, uint64_t phase, int steps,
                          hpcw_error *error) {
    uint64_t self = (uint64_t)heat->rank;
    hpcw_status status = hpcw_vom_begin_phase(vom, phase, error);
    for (int side = 0; side < 4 && status == HPCW_OK; side++) {
        uint64_t from = (uint64_t)heat->neighbour[side];
        if (heat->neighbour[side] == MPI_PROC_NULL)
            continue;
        int points = side < 2 ? heat->height : heat->width;
        hpcw_vom_edge edge = {.category = HPCW_VOM_SEND_RECV,
                              .from = hpcw_vom_far(rectangle(&from).id),
                              .to = rectangle(&self),
                              .bytes = (double)points * steps * sizeof(double),
                              .messages = (uint64_t)steps};
        status = hpcw_vom_edge_add(vom, &edge, error);
    }
    hpcw_vom_task task = {.entity = rectangle(&self), .time_s = heat->sweep_s};
    if (status == HPCW_OK)
        status = hpcw_vom_task_add(vom, &task, error);
    return status == HPCW_OK ? hpcw_vom_end_phase(vom, NULL, 0, error) : status;
}

hpcw_status heat_loads_phase(hpcw_vom *vom, struct heat *heat, uint64_t phase, int steps, hpcw_error *error) {
    hpcw_status status = heat_agree(record(vom, heat, phase, steps, error), error);
    heat->sweep_s = 0;
    return status;
}
