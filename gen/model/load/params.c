/* SPDX-License-Identifier: BSD-3-Clause */
/* The keys "load.*". */
#include "gen/model/load/load.h"

static const char *const comm_names[] = {"stencil", "sample", "none", "mesh", NULL};
static const char *const balancer_names[] = {"none", "greedy", "tempered", NULL};
static const char *const course_names[] = {"auto", "ramp", "flat", "decay", "steps", "bursts", NULL};
const char *const model_scenario_name[] = {"none", "spike", "ramp", "hotspot", NULL};

#define PARAM(name, kind, field, ...) UI_PARAM(struct model_load_params, "load." name, kind, field, __VA_ARGS__)

/* Sources: [L] is the 32-rank data set of the LB-analysis-framework; [A] is an assumption. */
const struct ui_param model_load_param[] = {
    PARAM("phases", U32, phases, 1, 1048576, NULL,
          "number of phases, one per iteration of the simulated run; if it is not set, that of --scale or up "
          "to a quarter less, by the seed"),
    PARAM("dims", U32, dims, 1, 3, NULL, "dimensions of the objects' index space"),
    PARAM("objects", U32, objects, 1, MODEL_LOAD_MOST_PLACES, NULL,
          "places for migratable objects per rank and collection [L]"),
    PARAM("fill", F64, fill, 0, 1, NULL,
          "share of the places that have an object, so that ranks have different numbers of them [L]"),
    PARAM("fill_spread", F64, fill_spread, 0, 3, NULL,
          "standard deviation of ln(share) between the ranks, where some have many more objects than others"),
    PARAM("collections", U32, collections, 1, 8, NULL, "collections on the index space"),
    PARAM("periodic", BOOL, periodic,
          .help = "the index space is periodic: objects at opposite ends are neighbours"),
    PARAM("subphases", U32, subphases, 0, 1024, NULL, "subphases per phase; 0: none"),
    PARAM("mean_first", F64, mean_first_ms, 1e-6, 1e6, "ms",
          "mean load of an object in phase 1 [L]; with load.comm=mesh for load.layers layers"),
    PARAM("mean_last", F64, mean_last_ms, 1e-6, 1e6, "ms", "mean load of an object at the end of the rise [L]"),
    PARAM("sigma_first", F64, sigma_first, 0, 10, NULL, "standard deviation of ln(load) in phase 1 [L]"),
    PARAM("sigma_last", F64, sigma_last, 0, 10, NULL,
          "standard deviation of ln(load) at the end of the rise [L]"),
    PARAM("course", CHOICE, course, .choices = course_names,
          .help =
              "how mean and spread of the loads change over the run: ramp (they rise to a plateau [L]), flat "
              "(mean_last and sigma_last from phase 1 on), decay (they fall to mean_first), steps (levels "
              "between the two), bursts (mean_first, now and then mean_last for a few phases) or auto (one of "
              "these, by the seed)"),
    PARAM("rise", U32, rise, 0, 1048576, NULL,
          "number of phases in which ramp rises and decay falls; 0: 35 % of all [L]"),
    PARAM("skew", F64, skew, 0, 1, NULL,
          "how much more ln(load) spreads above its median than below; 0: equally, but for the largest loads "
          "[L]"),
    PARAM("time_table", STRING, time_table, .size = sizeof((struct model_load_params *)0)->time_table,
          .help = "the distribution of ln(load) as a table, in place of load.skew: its reach and its values at "
                  "scores "
                  "of a normal distribution evenly from -reach to reach, in hundredths; or none"),
    PARAM(
        "persistence_first", F64, variance.persistence_first, 0, 1, NULL,
        "share of the variance of ln(load) that lasts for the whole run, in phase 1; the rest is new in every "
        "phase, and becomes less by the same factor from phase to phase [L]"),
    PARAM("persistence", F64, variance.persistence, 0, 1, NULL, "the same in the last phase [L]"),
    PARAM("alike", F64, variance.alike, 0, 1, NULL,
          "share of the lasting variance that varies smoothly over the ranks [L]"),
    PARAM("correlation", F64, variance.correlation, 0, 0.99, NULL,
          "correlation of this share between neighbouring ranks [L]"),
    PARAM("setup", BOOL, setup.own,
          .help = "phase 0 sets up, with loads of its own; otherwise it is as phase 1"),
    PARAM("setup_factor", F64, setup.factor, 1e-3, 1e6, NULL,
          "mean load in phase 0, as a multiple of load.mean_first [L]"),
    PARAM("setup_table", STRING, setup.table, .size = sizeof((struct model_load_params *)0)->setup.table,
          .help = "the distribution of ln(load) in phase 0 as a table, as load.time_table; or none"),
    PARAM("setup_sigma", F64, setup.sigma, 0, 3, NULL, "standard deviation of ln(load) in phase 0 [L]"),
    PARAM("noise", F64, noise.probability, 0, 1, NULL,
          "probability that the system interrupts a rank in a phase; the object that runs takes longer [A]"),
    PARAM("noise_min", F64, noise.min_ms, 0, 1e6, "ms", "shortest interruption [A]"),
    PARAM("noise_max", F64, noise.max_ms, 0, 1e6, "ms", "longest interruption [A]"),
    PARAM(
        "migration", F64, migration, 0, 1, NULL,
        "share of the objects that migrate to a neighbouring rank before a phase, if there is no balancer [A]"),
    PARAM(
        "balancer", CHOICE, balancer.kind, .choices = balancer_names,
        .help =
            "load balancer of the application: none, greedy (what ranks have above the mean is placed longest "
            "object first, each on the rank with the least load) or tempered (after vt's TemperedLB: ranks "
            "give "
            "objects to ranks that they heard of)"),
    PARAM("balancer_interval", U32, balancer.interval, 0, 1048576, NULL,
          "phases between two runs of the balancer, each of which takes 4 bytes of memory per object; 0: an "
          "eighth of all"),
    PARAM("balancer_iterations", U32, balancer.iterations, 1, 64, NULL, "iterations of tempered in a run"),
    PARAM("groups", U32, groups, 0, 64, NULL,
          "object groups, with a member on every rank [L: 7 with the handler]"),
    PARAM(
        "comm", CHOICE, comm, .choices = comm_names,
        .help =
            "who sends to whom: stencil (objects to their neighbours), sample (kinds and volumes as measured: "
            "objects to groups of their rank and back, handlers to other ranks, a broadcast in every phase "
            "[L]), none (only handlers to other ranks) or mesh (objects to their neighbours, the cells at "
            "their borders)"),
    PARAM("cells", U32, cells, 1, 65536, NULL,
          "cells of the mesh along a side of an object, of 8 bytes; some objects have one more [A]"),
    PARAM("layers", U32, layers, 1, MODEL_LOAD_MOST_LAYERS, NULL,
          "layers of the mesh that neighbours exchange in a phase, of all fields and inner iterations [A]"),
    PARAM("layers_sd", F64, layers_sd, 0, 2, NULL,
          "standard deviation of ln(layers), at most 4096, from phase to phase, as a solver takes more inner "
          "iterations for "
          "some, whose work and messages follow; 0: all have the same [A]"),
    PARAM("far_edges", F64, edge.far, 0, 8, NULL,
          "distant senders per object; this and the next ones are of the stencil [A]"),
    PARAM("far_channels", U32, edge.far_channels, 0, 8, NULL,
          "equally likely ways to a distant sender, so that objects have different numbers; 0: the fewest"),
    PARAM("edge_bytes_mean", F64, edge.bytes_mean, 0, 30, NULL, "mean of ln(bytes) of an edge in a phase [L]"),
    PARAM("edge_bytes_sd", F64, edge.bytes_sd, 0, 5, NULL, "standard deviation of ln(bytes) [L]"),
    PARAM(
        "edge_sizes", U32, edge.sizes, 0, 1024, NULL,
        "number of sizes that all volumes have with load.comm=stencil, as programs send messages of few sizes; "
        "0: any"),
    PARAM("edge_messages_mean", F64, edge.messages_mean, 0, 15, NULL,
          "mean of ln(messages) of an edge in a phase [L]"),
    PARAM("edge_messages_sd", F64, edge.messages_sd, 0, 4, NULL, "standard deviation of ln(messages) [L]"),
    PARAM("edge_follows", F64, edge.follows, 0, 1, NULL,
          "share of the deviation of ln(bytes) that follows the work at both ends of an edge [L]"),
    PARAM("edge_unit", U32, edge.unit, 8, 1048576, "bytes",
          "volumes between neighbours are multiples of this, such as a row of cells; a multiple of 8"),
    PARAM("edge_phases", U32, edge.phases, 0, 1048576, NULL,
          "phases after which volumes change, as when a mesh is refined; 0: they never change [A]"),
    PARAM("handler_time", F64, handler.ms, 1e-6, 1e6, "ms", "median time of a rank's handler in a phase [A]"),
    PARAM("first_message", BOOL, handler.first,
          .help = "vt sends up and down the tree of ranks before the first task runs [L]"),
    PARAM("handlers", BOOL, handler.send,
          .help = "handlers send to those of other ranks in every phase, up and down a tree"),
    PARAM("handler_bytes_mean", F64, handler.bytes_mean, 0, 30, NULL,
          "mean of ln(bytes) that handlers send to each other in a phase [L]"),
    PARAM("handler_bytes_sd", F64, handler.bytes_sd, 0, 5, NULL, "standard deviation of ln(bytes) [L]"),
    PARAM("broadcast_every", U32, handler.broadcast_every, 0, 1048576, NULL,
          "phases between broadcasts of the first object; 0: none [A]"),
    PARAM("block_objects", U32, memory.block_objects, 0, 4096, NULL,
          "objects that share a memory block, for balancers with a memory model; 0: no memory values"),
    PARAM("block_bytes", SIZE, memory.block_bytes, 1, 0x1p40, "bytes",
          "median size of a shared memory block [A]"),
    PARAM("block_sd", F64, memory.block_sd, 0, 5, NULL,
          "standard deviation of ln(bytes) of a shared memory block [A]"),
    PARAM("footprint", SIZE, memory.footprint_bytes, 1, 0x1p40, "bytes", "median memory of an object [A]"),
    PARAM("rank_bytes", SIZE, memory.rank_bytes, 0, 0x1p40, "bytes",
          "memory of a rank besides blocks and objects; 0: as much as an object [A]"),
    PARAM("scenario", CHOICE, scenario.kind, .choices = model_scenario_name,
          .help = "injected imbalance: none, spike (some ranks' objects are heavy for some phases), "
                  "ramp (they grow heavy and stay so) or hotspot (a heavy region that crosses the "
                  "index space)"),
    PARAM("scenario_first", U32, scenario.first, 0, 1048576, NULL,
          "first phase of the scenario; 0: after a quarter of the phases"),
    PARAM("scenario_phases", U32, scenario.phases, 0, 1048576, NULL,
          "number of phases of the scenario; 0: a quarter of all"),
    PARAM("scenario_share", F64, scenario.share, 0, 1, NULL,
          "share of the ranks in the scenario, at least one; or radius of the hot spot as a share of the index "
          "space; 0: 2 % of the ranks, or a radius of 10 %, or of what the hot spot moves in a phase"),
    PARAM("scenario_factor", F64, scenario.factor, 1, 1e6, NULL,
          "factor of loads at the peak of the scenario; doubled until the imbalance in some phase is 1.2 times "
          "that "
          "without the scenario"),
};
const size_t model_load_param_count = sizeof model_load_param / sizeof model_load_param[0];

void model_load_params_init(struct model_load_params *params) {
    *params = (struct model_load_params){
        .phases = 40,
        .dims = 2,
        .objects = 9,
        .fill = 0.9,
        .collections = 1,
        .subphases = 2,
        .mean_first_ms = 1.6,
        .mean_last_ms = 7,
        .sigma_first = 0.05,
        .sigma_last = 0.475,
        .skew = 0.75,
        .time_table = "none",
        .variance = {.persistence_first = 0.62, .persistence = 0.996, .alike = 0.62, .correlation = 0.48},
        .setup = {.own = true, .table = "none", .factor = 20, .sigma = 1.5},
        /* shorter interruptions cannot be told from the variation between phases */
        .noise = {.probability = 5e-5, .min_ms = 60, .max_ms = 240},
        .migration = 0.002,
        .balancer.iterations = 8,
        .groups = 6,
        .cells = 32,
        .layers = 24,
        .layers_sd = 0.15,
        .edge.far = 0.2,
        .edge.bytes_mean = 9.93,
        .edge.bytes_sd = 1.78,
        .edge.sizes = 14, /* handlers have two further, smaller sizes */
        .edge.messages_mean = 1.95,
        .edge.messages_sd = 1.34,
        .edge.follows = 0.52,
        .edge.unit = 8,
        .edge.phases = 8,
        .handler.ms = 0.1,
        .handler.first = true,
        .handler.send = true,
        .handler.bytes_mean = MODEL_LOAD_HANDLER_MEAN,
        .handler.bytes_sd = MODEL_LOAD_HANDLER_SD,
        .handler.broadcast_every = 10,
        .memory.block_bytes = 1 << 20,
        .memory.block_sd = 0.6,
        .memory.footprint_bytes = 1 << 18,
        .scenario.factor = 4,
    };
}
