/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes an event log of the parts of each step and of the messages: heat.clog2, for Jumpshot. */
#include <inttypes.h>
#include <stdio.h>

#include "heat.h"

static void begin(void *context, int part) {
    struct heat_log *l = context;
    hpcw_clog2_log_begin(l->timeline, 0, l->state[part]);
}

static void end(void *context, int part) {
    struct heat_log *l = context;
    hpcw_clog2_log_end(l->timeline, 0, l->state[part]);
}

static void message(void *context, int sent, int peer, int tag, size_t bytes) {
    struct heat_log *l = context;
    if (sent)
        hpcw_clog2_log_send(l->timeline, l->grid, peer, tag, bytes);
    else
        hpcw_clog2_log_receive(l->timeline, l->grid, peer, tag, bytes);
}

/* Definitions are local calls, the same on all processes. */
static hpcw_status define(struct heat_log *l, hpcw_error *error) {
    static const char *const name[HEAT_STATES] = {"exchange", "sweep", "residual", "write"};
    static const char *const colour[HEAT_STATES] = {"SteelBlue", "green", "purple", "yellow"};
    hpcw_status status = hpcw_clog2_log_thread(l->log, &l->timeline, error);
    for (int i = 0; i < HEAT_STATES && status == HPCW_OK; i++)
        status = hpcw_clog2_log_state(l->log, name[i], colour[i], NULL, &l->state[i], error);
    return status;
}

hpcw_status heat_log_open(struct heat_log *l, const char *path, hpcw_comm *comm, hpcw_comm *grid,
                          hpcw_error *error) {
    l->watch = (struct heat_watch){begin, end, message, l};
    hpcw_status status = hpcw_clog2_log_open(path, comm, NULL, &l->log, error);
    if (status == HPCW_OK)
        status = heat_agree(define(l, error), error);
    if (status == HPCW_OK)
        status = hpcw_clog2_log_comm_of(l->timeline, 0, grid, &l->grid, error);
    return status;
}

/* Merges the records of all processes into the file. */
hpcw_status heat_log_close(struct heat_log *l, hpcw_error *error) {
    hpcw_clog2_log_report report;
    hpcw_status status = hpcw_clog2_log_finish(l->log, &report, error);
    if (status == HPCW_OK && report.lost > 0)
        fprintf(stderr, "%" PRIu64 " records are not in the log\n", report.lost);
    return status;
}
