/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of heat.c. All calls are collective and return the same status on all processes. */
#ifndef HEAT_H
#define HEAT_H

#include <hpcw/clog2_log.h>
#include <hpcw/mpi.h>
#include <hpcw/vom.h>

#include "heat_solver.h"

/* heat_log.c: an event log. heat_run gets the member `watch`, whose functions record the parts of the solver. The
 * functions begin and end also take HEAT_WRITE. */
enum { HEAT_WRITE = HEAT_PARTS, HEAT_STATES };

struct heat_log {
    hpcw_clog2_log *log;
    hpcw_clog2_timeline *timeline;
    int32_t state[HEAT_STATES];
    uint32_t grid; /* number of the grid's communicator in the log */
    struct heat_watch watch;
};

hpcw_status heat_log_open(struct heat_log *l, const char *path, hpcw_comm *comm, hpcw_comm *grid,
                          hpcw_error *error);
hpcw_status heat_log_close(struct heat_log *l, hpcw_error *error);

/* heat_loads.c: load-balancing data, a file for each process. `steps` is the number of steps in a phase. */
hpcw_status heat_loads_open(hpcw_vom **vom, const struct heat *heat, hpcw_comm *comm, hpcw_error *error);
hpcw_status heat_loads_phase(hpcw_vom *vom, struct heat *heat, uint64_t phase, int steps, hpcw_error *error);

/* heat_files.c: a checkpoint, and the plate in one container. */
hpcw_status heat_checkpoint(const struct heat *heat, hpcw_comm *comm, uint64_t id, hpcw_error *error);
hpcw_status heat_result(const struct heat *heat, hpcw_comm *comm, hpcw_error *error);

/* heat.c: turns the statuses of local calls into one for all processes. */
hpcw_status heat_agree(hpcw_status status, const hpcw_error *error);

#endif
