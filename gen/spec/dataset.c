/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/spec/dataset.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "gen/model/load/balance.h"
#include "gen/spec/checkpoint_files.h"
#include "libwriter/base/rng.h"
#include "libwriter/base/status.h"

#include <hpcw/sink.h>
#include <hpcw/version.h>

const char *const gen_scale_name[] = {"tiny", "small", "medium", "large", NULL};

#define RUN(...) UI_PARAM(struct gen_dataset_params, __VA_ARGS__)
#define IN_VOM(...) UI_PARAM(struct gen_vom_params, __VA_ARGS__)

static const struct ui_param run_param[] = {
    /* largest value: 9999-12-31T23:59:59Z */
    RUN("run.start", U64, start, 0, 253402300799.0, "s",
        "start of the simulated run, seconds since 1970-01-01 UTC; 0: by the seed, from 2020 to 2025"),
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
          "differences between processors, as a multiple of those of doc/workloads.md"),
    NOISE("ticks", ticks, "time that the system's timer takes, as a multiple of the same"),
    NOISE("detours", detours, "other interruptions of ranks and hosts, as a multiple of the same"),
};

/* Defines a bit for each format: LINKTEST, SION and so on. */
#define BIT(number, name) number = 1 << GEN_FORMAT_##number,
enum { GEN_FORMAT_LIST(BIT) };

/* Formats that show the simulated run. Their bytes depend on the workload and on the parameters of loads, checkpoints
 * and noise. A new format that shows the run is added here and in needs_run. */
enum { OF_RUN = VOM | CLOG2 | RANK2FILE };

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
    {model_load_param, &model_load_param_count, OWNER(load_params), SION | OF_RUN},
    {vom_param, COUNT(vom_param), OWNER(vom_params), VOM},
    {model_checkpoint_param, &model_checkpoint_param_count, OWNER(ckpt_params), OF_RUN},
    {noise_param, COUNT(noise_param), OWNER(noise_params), OF_RUN},
    {gen_clock_param, &gen_clock_param_count, OWNER(clock_params), CLOG2},
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

/* Parameters that the scale sets. mean_size: bytes of a rank's particles. permutations: of the link test.
 * phases, objects: of the load data. checkpoint: bytes of a rank's checkpoint. 0: the default of the model. */
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
    d->params = (struct gen_dataset_params){.sion_files = 4};
    model_linktest_params_init(&d->linktest_params);
    model_particles_params_init(&d->particles_params);
    if (scales[scale].mean_size != 0) {
        d->particles_params.mean_size = scales[scale].mean_size;
    }
    d->linktest_params.run.permutations = scales[scale].permutations;
    hpcw_brotli_options brotli;
    hpcw_brotli_options_init(&brotli);
    d->vom_params =
        (struct gen_vom_params){.quality = (uint32_t)brotli.quality, .window = (uint32_t)brotli.window};
    model_load_params_init(&d->load_params);
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

/* Limits of the drawn numbers of phases and checkpoints. The number of phases is lowered by at most a quarter (1 /
 * FEWER_PHASES), so that datasets of all seeds have about the size of their scale. As the number is never raised,
 * no log exceeds its limit of records. */
enum { FEWER_PHASES = 4, MOST_CHECKPOINTS = 3 };

void gen_dataset_draw_length(struct gen_dataset *d, bool phases_set, bool checkpoints_set) {
    const uint32_t usual = d->load_params.phases;
    uint32_t *phases = &d->load_params.phases;
    uint32_t *checkpoints = &d->ckpt_params.checkpoints;
    uint32_t w[4];
    hpcw_i_draw(d->seed, HPCW_I_FOR_RUN_LENGTH, 0, 0, 0, w);
    if (!checkpoints_set) {
        *checkpoints = 1 + w[1] % MOST_CHECKPOINTS;
    }
    if (!phases_set) {
        *phases = usual - w[0] % (usual / FEWER_PHASES + 1);
        *phases = *checkpoints > *phases && *checkpoints <= usual ? *checkpoints : *phases;
    }
    if (!checkpoints_set && *checkpoints > *phases) {
        *checkpoints = *phases;
    }
}

bool gen_dataset_wants(const struct gen_dataset *d, uint64_t formats) {
    return formats == 0 || (d->formats & formats) != 0;
}

/* Returns whether the log, the load data or the times of checkpoints come from a simulated run. */
static bool needs_run(const struct gen_dataset *d) {
    return gen_dataset_wants(d, CLOG2) || (gen_dataset_wants(d, VOM) && d->load.programmed) ||
           (gen_dataset_wants(d, RANK2FILE) && d->ranks <= MODEL_CHECKPOINT_MOST_MOVED);
}

static hpcw_status build_run(struct gen_dataset *d, hpcw_error *err) {
    const bool runs = needs_run(d);
    hpcw_status s = HPCW_OK;
    if (runs || gen_dataset_wants(d, RANK2FILE)) {
        struct model_checkpoint_params p = d->ckpt_params;
        if (!gen_dataset_wants(d, OF_RUN & ~VOM) && p.checkpoints > d->load_params.phases) {
            /* load data do not show checkpoints, so a larger number is lowered and not refused */
            p.checkpoints = d->load_params.phases;
        }
        s = model_checkpoint_init(&d->checkpoint, &p, &d->load, err);
    }
    if (s == HPCW_OK && runs) {
        d->writes_log = d->writes_log && gen_dataset_wants(d, CLOG2);
        s = gen_workload_measure(d, gen_dataset_wants(d, VOM) && d->load.programmed, err);
    }
    if (s == HPCW_OK && gen_dataset_wants(d, CLOG2)) {
        s = gen_clocks_init(&d->clocks, &d->clock_params, &d->machine, err);
        s = s == HPCW_OK ? gen_workload_check_log(d, err) : s;
    }
    return s;
}

static hpcw_status build_checkpoints(struct gen_dataset *d, hpcw_error *err) {
    return d->ckpt_params.checkpoints > 0
               ? gen_checkpoints_new(&d->checkpoint, d->workload->checkpoint_ns, gen_dataset_start(d),
                                     &d->checkpoints, err)
               : hpcw_i_fail(
                     err, HPCW_ERANGE,
                     "rank2file.checkpoints: expected at least 1 with format rank2file, got 0: set it, or "
                     "leave rank2file out of --formats");
}

hpcw_status gen_dataset_build(struct gen_dataset *d, hpcw_error *err) {
    hpcw_status s = model_machine_init(&d->machine, &d->machine_params, d->ranks, d->seed, err);
    if (s != HPCW_OK) {
        return s;
    }
    d->built = true;
    model_network_init(&d->network, &d->machine);
    s = model_linktest_init(&d->linktest, &d->network, &d->linktest_params, err);
    const bool runs = gen_dataset_wants(d, OF_RUN);
    if (s == HPCW_OK && runs && d->workload == NULL) {
        s = gen_workload_draw(d, &d->workload, err);
    }
    if (s == HPCW_OK && gen_dataset_wants(d, SION | OF_RUN)) {
        struct model_load_params load = d->load_params;
        load.balancer.keep_iterations = d->vom_params.iterations && gen_dataset_wants(d, VOM);
        s = model_load_init(&d->load, &load, &d->machine, err);
        d->load.programmed = runs && s == HPCW_OK && !gen_workload_uses_edges(d->workload);
        s = s == HPCW_OK ? model_load_settle(&d->load, err) : s;
    }
    if (s == HPCW_OK) {
        s = model_particles_init(&d->particles, &d->particles_params, d->ranks, d->seed, d->load.field, err);
    }
    s = s == HPCW_OK && runs ? build_run(d, err) : s;
    return s == HPCW_OK && gen_dataset_wants(d, RANK2FILE) ? build_checkpoints(d, err) : s;
}

void gen_dataset_free(struct gen_dataset *d) {
    gen_workload_free(d->workload);
    d->workload = NULL;
    if (d->built) {
        gen_checkpoints_free(d->checkpoints);
        d->checkpoints = NULL;
        gen_clocks_free(&d->clocks);
        model_checkpoint_free(&d->checkpoint);
        model_load_free(&d->load);
        model_machine_free(&d->machine);
        d->built = false;
    }
}

uint64_t gen_dataset_start(const struct gen_dataset *d) {
    const uint64_t first = 1577836800, end = 1767225600; /* 2020-01-01 and 2026-01-01, 0:00 UTC */
    uint32_t w[4];
    hpcw_i_draw(d->seed, HPCW_I_FOR_RUN_START, 0, 0, 0, w);
    return d->params.start != 0 ? d->params.start : first + w[0] % (end - first);
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
