/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/spec/dataset.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "gen/model/load/balance.h"
#include "gen/spec/checkpoint_files.h"
#include "libwriter/base/status.h"

#include <hpcw/sink.h>
#include <hpcw/version.h>

const char *const gen_scale_name[] = {"tiny", "small", "medium", "large", NULL};

#define RUN(...) UI_PARAM(struct gen_dataset_params, __VA_ARGS__)
#define IN_VOM(...) UI_PARAM(struct gen_vom_params, __VA_ARGS__)

static const struct ui_param run_param[] = {
    /* To 9999-12-31T23:59:59Z. */
    RUN("run.start", U64, start, 0, 253402300799.0, "s",
        "start of the simulated run, seconds since 1970-01-01 UTC"),
};

static const struct ui_param sion_param[] = {
    RUN("sion.files", U32, sion_files, 1, 1048576, NULL,
        "number of physical files of the particle container, at most one per rank"),
};

static const char *const container_names[] = {"brotli", "plain", "lbaf", NULL};

static const struct ui_param vom_param[] = {
    IN_VOM("vom.container", CHOICE, container, .choices = container_names,
           .help =
               "brotli (data.0.json.br, as vt writes it), plain (data.0.json) or lbaf (brotli in data.0.json)"),
    IN_VOM("vom.quality", U32, quality, 0, 9, NULL, "brotli quality: 0 is fastest, 9 smallest"),
    IN_VOM("vom.window", U32, window, 10, 24, NULL,
           "brotli window: binary logarithm of its size; not 16 or 21"),
    IN_VOM("vom.iterations", BOOL, iterations,
           .help = "with load.balancer: lb_iterations, the placements of all iterations, in the phases by "
                   "which it places; "
                   "they take memory"),
    IN_VOM("vom.longest_first", BOOL, longest_first,
           .help = "a file beside the load data with the placement longest object first of every phase"),
};

#define NOISE(name, field, ...)                                                                                \
    UI_PARAM(struct sim_noise_params, "noise." name, F64, field, 0, 100, NULL, __VA_ARGS__)
static const struct ui_param noise_param[] = {
    NOISE("processors", processors,
          "with --workload: differences between processors, as a multiple of those of doc/workloads.md"),
    NOISE("ticks", ticks, "with --workload: time that the system's timer takes, as a multiple of the same"),
    NOISE("detours", detours,
          "with --workload: other interruptions of ranks and hosts, as a multiple of the same"),
};

#define LINKTEST (UINT64_C(1) << GEN_FORMAT_LINKTEST)
#define SION (UINT64_C(1) << GEN_FORMAT_SION)
#define VOM (UINT64_C(1) << GEN_FORMAT_VOM)
#define CLOG2 (UINT64_C(1) << GEN_FORMAT_CLOG2)
#define RANK2FILE (UINT64_C(1) << GEN_FORMAT_RANK2FILE)

#define COUNT(table)                                                                                           \
    &(const size_t) {                                                                                          \
        sizeof(table) / sizeof(table)[0]                                                                       \
    }
#define OWNER(field) offsetof(struct gen_dataset, field)

static const struct gen_dataset_group groups[] = {
    {run_param, COUNT(run_param), OWNER(params), 0},
    {model_machine_param, &model_machine_param_count, OWNER(machine_params), 0},
    {model_linktest_param, &model_linktest_param_count, OWNER(linktest_params), LINKTEST},
    {sion_param, COUNT(sion_param), OWNER(params), SION},
    {model_particles_param, &model_particles_param_count, OWNER(particles_params), SION},
    {model_load_param, &model_load_param_count, OWNER(load_params), SION | VOM | CLOG2 | RANK2FILE},
    {vom_param, COUNT(vom_param), OWNER(vom_params), VOM},
    /* Where timers show, times of tasks follow from the log. */
    {model_trace_param, &model_trace_param_count, OWNER(trace_params), VOM | CLOG2 | RANK2FILE},
    {model_checkpoint_param, &model_checkpoint_param_count, OWNER(ckpt_params), VOM | CLOG2 | RANK2FILE},
    {noise_param, COUNT(noise_param), OWNER(noise_params), VOM | CLOG2 | RANK2FILE},
};

const struct ui_param *gen_dataset_param(size_t index, const struct gen_dataset_group **group) {
    for (size_t g = 0; g < sizeof groups / sizeof groups[0]; g++) {
        if (index < *groups[g].count) {
            *group = &groups[g];
            return &groups[g].params[index];
        }
        index -= *groups[g].count;
    }
    return NULL;
}

const char *gen_dataset_key(const void *list, size_t index) {
    const struct gen_dataset_group *group;
    (void)list;
    const struct ui_param *param = gen_dataset_param(index, &group);
    return param == NULL ? NULL : param->key;
}

/* What the scale changes: size of a rank's particles, permutations of the link test, phases and objects of the load data,
 * size of a rank's checkpoint. 0: the model's default. */
static const struct {
    uint64_t mean_size;
    uint64_t permutations;
    uint32_t phases, objects;
    uint64_t checkpoint;
} scales[] = {
    [GEN_SCALE_TINY] = {6 << 10, 0, 6, 0, 4 << 10},
    [GEN_SCALE_SMALL] = {16 << 10, 0, 15, 0, 12 << 10},
    [GEN_SCALE_MEDIUM] = {0, 0, 0, 0, 0},
    [GEN_SCALE_LARGE] = {95000000, 3, 200, 36,
                         95000000}, /* 2.5 million particles of 38 bytes, as in HACC-IO runs */
};

hpcw_status gen_dataset_init(struct gen_dataset *d, const char *preset, enum gen_scale scale, hpcw_error *err) {
    *d = (struct gen_dataset){.scale = scale, .linktest_files = 1, .block_size = 4096};
    (void)snprintf(d->preset, sizeof d->preset, "%s", preset);
    d->params = (struct gen_dataset_params){.start = 1714557600, .sion_files = 4};
    model_linktest_params_init(&d->linktest_params);
    model_particles_params_init(&d->particles_params);
    if (scales[scale].mean_size != 0) {
        d->particles_params.mean_size = scales[scale].mean_size;
    }
    d->linktest_params.permutations = scales[scale].permutations;
    hpcw_brotli_options brotli;
    hpcw_brotli_options_init(&brotli);
    d->vom_params =
        (struct gen_vom_params){.quality = (uint32_t)brotli.quality, .window = (uint32_t)brotli.window};
    model_load_params_init(&d->load_params);
    model_trace_params_init(&d->trace_params);
    if (scales[scale].phases != 0) {
        d->load_params.phases = scales[scale].phases;
    }
    if (scales[scale].objects != 0) {
        d->load_params.objects = scales[scale].objects;
    }
    model_checkpoint_params_init(&d->ckpt_params);
    d->noise_params = (struct sim_noise_params){1, 1, 1};
    if (scales[scale].checkpoint != 0) {
        d->ckpt_params.mean_size = scales[scale].checkpoint;
    }
    return model_machine_params_init(&d->machine_params, preset, err);
}

bool gen_dataset_wants(const struct gen_dataset *d, uint64_t formats) {
    return formats == 0 || (d->formats & formats) != 0;
}

/* What the load model says of the system. */
static bool is_system_of_load(const char *key) {
    static const char *const keys[] = {"load.jitter", "load.tick",        "load.steal",
                                       "load.busy",   "load.preemptions", "load.warm_up"};
    size_t i = 0;
    while (i < sizeof keys / sizeof keys[0] && strcmp(keys[i], key) != 0) {
        i++;
    }
    return i < sizeof keys / sizeof keys[0];
}

bool gen_dataset_has(const struct gen_dataset *d, const struct gen_dataset_group *group,
                     const struct ui_param *param) {
    return d->workload == NULL ? group->params != noise_param
                               : group->params != model_trace_param && !is_system_of_load(param->key);
}

bool gen_dataset_uses(const struct gen_dataset *d, const struct gen_dataset_group *group,
                      const struct ui_param *param) {
    return gen_dataset_wants(d, group->formats) && gen_dataset_has(d, group, param);
}

/* Timers interrupt tasks when they would by the time of the log, also if that is not written. If no log can be made, that is
 * an error of the log, and the load model's estimate stays. */
static hpcw_status find_starts(struct gen_dataset *d, hpcw_error *err) {
    const bool logs = gen_dataset_wants(d, CLOG2);
    hpcw_status s =
        logs ? HPCW_OK : model_trace_init(&d->trace, &d->trace_params, &d->load, &d->checkpoint, err);
    s = s == HPCW_OK ? model_trace_find_starts(&d->trace, &d->load, err) : s;
    if (!logs) {
        model_trace_free(&d->trace);
        s = s == HPCW_ENOMEM ? s : HPCW_OK;
    }
    return s;
}

hpcw_status gen_dataset_build(struct gen_dataset *d, hpcw_error *err) {
    hpcw_status s = model_machine_init(&d->machine, &d->machine_params, d->ranks, d->seed, err);
    if (s != HPCW_OK) {
        return s;
    }
    d->built = true;
    model_network_init(&d->network, &d->machine);
    s = model_linktest_init(&d->linktest, &d->network, &d->linktest_params, err);
    if (s == HPCW_OK && gen_dataset_wants(d, SION | VOM | CLOG2 | RANK2FILE)) {
        struct model_load_params load = d->load_params;
        load.keep_iterations = d->vom_params.iterations && gen_dataset_wants(d, VOM);
        if (d->workload != NULL) {
            load.jitter = load.tick_us = load.steal_us = load.preemptions = load.warm_up = 0;
        }
        s = model_load_init(&d->load, &load, &d->machine, err);
        d->load.programmed = d->workload != NULL && !gen_workload_uses_edges(d->workload);
        s = s == HPCW_OK ? model_load_settle(&d->load, err) : s;
    }
    if (s == HPCW_OK) {
        s = model_particles_init(&d->particles, &d->particles_params, d->ranks, d->seed, d->load.field, err);
    }
    const bool timers = s == HPCW_OK && d->workload == NULL && gen_dataset_wants(d, VOM | CLOG2 | RANK2FILE) &&
                        model_trace_finds_starts(&d->load);
    const bool loads = d->load.programmed && gen_dataset_wants(d, VOM); /* they are those of the run */
    if (s == HPCW_OK && (timers || loads || gen_dataset_wants(d, CLOG2 | RANK2FILE))) {
        s = model_checkpoint_init(&d->checkpoint, &d->ckpt_params, &d->load, err);
    }
    if (s == HPCW_OK && d->workload != NULL && (loads || gen_dataset_wants(d, CLOG2 | RANK2FILE))) {
        s = gen_workload_measure(d, loads, err);
        s = s == HPCW_OK && gen_dataset_wants(d, CLOG2) ? gen_workload_check_log(d, err) : s;
    } else if (s == HPCW_OK && d->workload == NULL && gen_dataset_wants(d, CLOG2)) {
        s = model_trace_init(&d->trace, &d->trace_params, &d->load, &d->checkpoint, err);
    }
    s = s == HPCW_OK && timers ? find_starts(d, err) : s;
    if (s == HPCW_OK && gen_dataset_wants(d, RANK2FILE) && d->ckpt_params.checkpoints == 0) {
        s = hpcw_i_fail(err, HPCW_ERANGE,
                        "rank2file.checkpoints: expected at least 1 with format rank2file, got 0");
    } else if (s == HPCW_OK && gen_dataset_wants(d, RANK2FILE)) {
        s = gen_checkpoints_new(&d->checkpoint, &d->trace_params,
                                d->workload != NULL ? d->workload->checkpoint_ns : NULL, d->params.start,
                                &d->checkpoints, err);
    }
    return s;
}

void gen_dataset_free(struct gen_dataset *d) {
    gen_workload_free(d->workload);
    d->workload = NULL;
    if (d->built) {
        gen_checkpoints_free(d->checkpoints);
        d->checkpoints = NULL;
        model_trace_free(&d->trace);
        model_checkpoint_free(&d->checkpoint);
        model_load_free(&d->load);
        model_machine_free(&d->machine);
        d->built = false;
    }
}

void gen_dataset_time(uint64_t seconds, char text[24]) {
    time_t t = (time_t)seconds;
    struct tm tm;
    if (gmtime_r(&t, &tm) == NULL || tm.tm_year > 9999 - 1900) {
        tm = (struct tm){
            .tm_year = 9999 - 1900, .tm_mon = 11, .tm_mday = 31, .tm_hour = 23, .tm_min = 59, .tm_sec = 59};
    }
    (void)snprintf(text, 24, "%04u-%02u-%02uT%02u:%02u:%02uZ", (unsigned)(tm.tm_year + 1900) % 10000,
                   (unsigned)(tm.tm_mon + 1) % 100, (unsigned)tm.tm_mday % 100, (unsigned)tm.tm_hour % 100,
                   (unsigned)tm.tm_min % 100, (unsigned)tm.tm_sec % 100);
}
