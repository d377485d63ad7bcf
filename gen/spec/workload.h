/* SPDX-License-Identifier: BSD-3-Clause */
/* The workload of a dataset: the program in Lua that its ranks run, and its run. */
#ifndef HPCW_GEN_SPEC_WORKLOAD_H
#define HPCW_GEN_SPEC_WORKLOAD_H

#include "gen/sim/lua/program.h"
#include "gen/spec/recording.h"
#include "gen/spec/traffic.h"
#include "libwriter/base/buf.h"

enum { GEN_WORKLOAD_NAME = 64 };

struct gen_costs;

/* Counts of a run, for the size and the definitions of its log. */
struct gen_workload_counts {
    uint64_t events;   /* of a log: begins and ends, sends and receives */
    uint64_t messages; /* of these: sends and receives */
    uint64_t cargos;   /* of these: ends of phases, and of calls that say how many bytes they moved */
    uint64_t members;  /* of these: ranks that get a communicator */
    uint32_t calls;    /* bit i: enum sim_call i */
    uint64_t end_ns;
};

/* A communicator that the program makes. */
struct gen_workload_comm {
    uint32_t leader, count; /* its identity, as in struct sim_made */
    uint32_t size;
    uint64_t created_ns; /* when its first rank got it */
};

struct gen_workload {
    char name[GEN_WORKLOAD_NAME]; /* of the library, or of the file without its folder */
    struct hpcw_i_buf text;
    struct sim_lua_setting *setting; /* [settings] as the user wrote them; the last one of a key counts */
    size_t settings, capacity;

    /* gen_workload_measure fills in the rest. */
    uint32_t states;
    char state[SIM_LUA_MOST_STATES][SIM_LUA_STATE_NAME];
    struct gen_workload_counts counts;
    uint64_t *checkpoint_ns;        /* [checkpoints] when rank 0 begins each */
    struct gen_workload_comm *comm; /* [comms] by leader and count, without the world */
    size_t comms, comm_capacity;
    struct gen_traffic *traffic;     /* for load data; NULL: they are not wanted */
    struct gen_recording *recording; /* for the log; NULL: it is not wanted */
    struct gen_costs *costs;         /* what faults cost, for the log; NULL: not measured */
};

/* What the text says of itself on a line of this kind among the comments at its top, to the end of that line: what the program
 * lacks of the one it stands for. NULL: nothing. */
#define GEN_WORKLOAD_LACKS "-- Lacks: "
const char *gen_workload_lacks(const struct gen_workload *workload, size_t *size);

/* Whether it sends the edges of the load model, so that load data need no run. */
bool gen_workload_uses_edges(const struct gen_workload *workload);

/* Whether the end of a call in a log says how many bytes it moved. */
static inline bool gen_workload_moves(uint32_t call) {
    return call > SIM_CALL_BARRIER && call != SIM_CALL_SPLIT && call != SIM_CALL_DUP;
}

/* The index of a communicator; UINT32_MAX: there is none. */
uint32_t gen_workload_find_comm(const struct gen_workload *workload, uint32_t leader, uint32_t count);

/* A workload of the library, or of a file, whose name has a dot or a slash. `path`: of a file with the text of this name; NULL:
 * the name says where it is. HPCW_EINVAL for an unknown name, with the known ones; errors of the system. */
hpcw_status gen_workload_load(const char *name, const char *path, struct gen_workload **out, hpcw_error *err);

struct gen_dataset;

/* One of the library, by seed. With more than 32768 ranks, a balancer, or another communication of objects than that of a stencil, one
 * that uses edges(). HPCW_ENOMEM. */
hpcw_status gen_workload_draw(const struct gen_dataset *d, struct gen_workload **out, hpcw_error *err);

/* One with this text, as a manifest has it. HPCW_ENOMEM. */
hpcw_status gen_workload_new(const char *name, const char *text, size_t size, struct gen_workload **out,
                             hpcw_error *err);
void gen_workload_free(struct gen_workload *workload);

/* Sets a parameter. HPCW_ENOMEM; whether it exists is known when the workload is measured. */
hpcw_status gen_workload_set(struct gen_workload *workload, const char *key, const char *value,
                             hpcw_error *err);

/* Tells the observer the events of the run, once it is measured: those that were recorded, or of another simulation. Fills in
 * `costs`. As sim_lua_run. */
hpcw_status gen_workload_run(const struct gen_dataset *d, const struct sim_observer *observer,
                             struct gen_costs *costs, hpcw_error *err);

/* Simulates it once, so that a wrong workload is refused before anything is written. `loads`: also for load data, whose model gets
 * the work of the handlers. With `writes_log`, it keeps the events for gen_workload_run. */
hpcw_status gen_workload_measure(struct gen_dataset *d, bool loads, hpcw_error *err);

/* After that: whether a log can have its communicators. HPCW_ERANGE. */
hpcw_status gen_workload_check_log(const struct gen_dataset *d, hpcw_error *err);

#endif
