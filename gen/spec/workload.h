/* SPDX-License-Identifier: BSD-3-Clause */
/* Workload of a dataset: the Lua program that its ranks run, and results of the run. */
#ifndef HPCW_GEN_SPEC_WORKLOAD_H
#define HPCW_GEN_SPEC_WORKLOAD_H

#include "gen/sim/lua/program.h"
#include "gen/spec/recording.h"
#include "gen/spec/traffic.h"
#include "libwriter/base/buf.h"

enum { GEN_WORKLOAD_NAME = 64 };

struct gen_costs;

/* Counts of a run, which decide the size and the definitions of its log. */
struct gen_workload_counts {
    uint64_t events;   /* number of events of a log: begins and ends of states, sends and receives */
    uint64_t messages; /* number of these events that are sends or receives */
    /* number of these events that have a cargo: ends of phases, and ends of calls that report bytes */
    uint64_t cargos;
    uint64_t members; /* number of these events in which a rank gets a communicator */
    uint32_t calls;   /* bit i: enum sim_call i occurs */
    uint64_t end_ns;
};

/* A communicator that the program creates. */
struct gen_workload_comm {
    uint32_t leader, count; /* id of the communicator, as in struct sim_made */
    uint32_t size;
    uint64_t created_ns; /* time at which the first rank got the communicator */
};

struct gen_workload {
    /* name in the library, or name of the file without its directory */
    char name[GEN_WORKLOAD_NAME];
    struct hpcw_i_buf text;
    /* [settings] settings as the user wrote them; of equal keys, the last one counts */
    struct sim_lua_setting *setting;
    size_t settings, capacity;

    /* The members below are set by gen_workload_measure. */
    uint32_t states;
    char state[SIM_LUA_MOST_STATES][SIM_LUA_STATE_NAME];
    struct gen_workload_counts counts;
    uint64_t *checkpoint_ns;        /* [checkpoints] time at which rank 0 begins each checkpoint */
    struct gen_workload_comm *comm; /* [comms] communicators sorted by leader and count, without the world */
    size_t comms, comm_capacity;
    struct gen_traffic *traffic;     /* for load data; NULL: not wanted */
    struct gen_recording *recording; /* for the log; NULL: not wanted */
    struct gen_costs *costs;         /* cost of faults, for the log; NULL: not computed */
};

/* Returns what the program lacks compared with the original: the text after this prefix, in the comments at the
 * top of the program. NULL: there is no such line. */
#define GEN_WORKLOAD_LACKS "-- Lacks: "
const char *gen_workload_lacks(const struct gen_workload *workload, size_t *size);

/* Returns whether the workload sends the messages of the load model. Then load data need no run. */
bool gen_workload_uses_edges(const struct gen_workload *workload);

/* Returns whether the end of a call in a log reports the bytes that the call moved. */
static inline bool gen_workload_moves(uint32_t call) {
    return call > SIM_CALL_BARRIER && call != SIM_CALL_SPLIT && call != SIM_CALL_DUP;
}

/* Returns the index of the communicator with this leader and count; UINT32_MAX: there is none. */
uint32_t gen_workload_find_comm(const struct gen_workload *workload, uint32_t leader, uint32_t count);

/* Loads a workload from the library or, if the name has a dot or a slash, from a file. path: the file; NULL:
 * the name is the path. HPCW_EINVAL: unknown name; the message lists the known names. Also fails with errors of
 * the system. */
hpcw_status gen_workload_load(const char *name, const char *path, struct gen_workload **out, hpcw_error *err);

struct gen_dataset;

/* Draws a workload of the library by seed. With more than 32768 ranks, with a balancer, or with objects that do
 * not communicate as a stencil, only workloads that call edges() are drawn. HPCW_ENOMEM. */
hpcw_status gen_workload_draw(const struct gen_dataset *d, struct gen_workload **out, hpcw_error *err);

/* Makes a workload from its text, for instance from a manifest. HPCW_ENOMEM. */
hpcw_status gen_workload_new(const char *name, const char *text, size_t size, struct gen_workload **out,
                             hpcw_error *err);
void gen_workload_free(struct gen_workload *workload);

/* Sets a parameter of the workload. Only gen_workload_measure detects that a parameter is unknown.
 * HPCW_ENOMEM. */
hpcw_status gen_workload_set(struct gen_workload *workload, const char *key, const char *value,
                             hpcw_error *err);

/* Reports the events of the run to the observer, from the recording or from another simulation. Call it after
 * gen_workload_measure. Sets `costs`. Fails as sim_lua_run. */
hpcw_status gen_workload_run(const struct gen_dataset *d, const struct sim_observer *observer,
                             struct gen_costs *costs, hpcw_error *err);

/* Simulates the workload once, so that a wrong workload is refused before anything is written. loads: also
 * collects the load data, and gives the model the work of the handlers. d->writes_log: also records the events
 * for gen_workload_run. */
hpcw_status gen_workload_measure(struct gen_dataset *d, bool loads, hpcw_error *err);

/* Checks whether a log can have the communicators and the times of the run, by the clocks of the dataset. Call it
 * after gen_workload_measure. HPCW_ERANGE. */
hpcw_status gen_workload_check_log(const struct gen_dataset *d, hpcw_error *err);

#endif
