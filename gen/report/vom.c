/* SPDX-License-Identifier: BSD-3-Clause */
/* Load-balancing data in a report: the load of every rank in every phase, and its imbalance. */
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "gen/report/report.h"
#include "gen/spec/pool.h"
#include "libreader/vom/set/set.h"
#include "libreader/vom/vom.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

struct phase_load {
    uint64_t sum_ns;  /* load of all ranks, ns; sums of integers do not depend on the order of the threads */
    double most;      /* largest load of a rank, seconds */
    uint32_t busiest; /* first rank that has the load `most` */
    uint64_t tasks;
    uint32_t ranks; /* number of ranks that have the phase */
};

static double mean_of(const struct phase_load *p) {
    return (double)p->sum_ns / 1e9 / p->ranks;
}

struct vom_loads {
    struct read_vom_set set;
    struct ui_raster raster;  /* phases x ranks */
    struct phase_load *phase; /* [phases] */
    /* phases: capacity of `phase`; most_phases: most phases of a file read so far */
    uint64_t phases, most_phases;
    uint32_t ranks;
    hpcw_error warning;
    pthread_mutex_t lock;
};

/* State of a thread while it reads the file of a rank. */
struct rank_reading {
    struct vom_loads *all;
    double *load;    /* [phases] */
    uint64_t *tasks; /* [phases] */
    /* number of phases for which `load` and `tasks` have memory; 0: only counts the phases of the first file */
    uint64_t room;
    uint64_t at, phases;
};

static hpcw_status phase_begin(void *context, uint64_t number, hpcw_error *err) {
    struct rank_reading *g = context;
    (void)err;
    g->at = number;
    g->phases = number + 1;
    return HPCW_OK;
}

static hpcw_status task(void *context, const struct read_vom_task *t, hpcw_error *err) {
    (void)err;
    struct rank_reading *g = context;
    /* As in vt, the id 0 means that there is no entity, so the task has no load. */
    if (g->at < g->room && (!t->entity.has_id || t->entity.id != 0)) {
        g->load[g->at] += t->time;
        g->tasks[g->at]++;
    }
    return HPCW_OK;
}

static hpcw_status read_file(struct rank_reading *g, uint32_t rank, hpcw_error *err) {
    char path[4096 + 64];
    (void)pthread_mutex_lock(&g->all->lock);
    (void)snprintf(path, sizeof path, "%s", read_vom_set_path(&g->all->set, rank));
    (void)pthread_mutex_unlock(&g->all->lock);
    struct read_vom *reader;
    hpcw_status s = read_vom_open(path, rank, READ_VOM_LENIENT, &reader, err);
    if (s == HPCW_OK) {
        const struct read_vom_events events = {.context = g, .phase_begin = phase_begin, .task = task};
        g->phases = 0;
        s = read_vom_run(reader, UINT64_MAX, &events, err);
        (void)pthread_mutex_lock(&g->all->lock);
        read_vom_warn(reader, &g->all->warning);
        if (g->room > 0) {
            read_vom_warn_phases(path, g->room, g->phases, &g->all->warning);
        }
        (void)pthread_mutex_unlock(&g->all->lock);
        read_vom_free(reader);
    }
    return s;
}

static void end_reading(void *context, void *state) {
    (void)context;
    struct rank_reading *g = state;
    hpcw_i_free(g->load);
    hpcw_i_free(g->tasks);
}

static hpcw_status begin_reading(void *context, void *state, hpcw_error *err) {
    struct vom_loads *all = context;
    struct rank_reading *g = state;
    *g = (struct rank_reading){.all = all, .room = all->phases};
    g->load = hpcw_i_calloc((size_t)all->phases, sizeof *g->load);
    g->tasks = hpcw_i_calloc((size_t)all->phases, sizeof *g->tasks);
    return g->load != NULL && g->tasks != NULL ? HPCW_OK
                                               : hpcw_i_fail_memory(err, "report", all->phases, "phases");
}

static hpcw_status read_rank(void *context, void *state, uint64_t rank, hpcw_error *err) {
    struct vom_loads *all = context;
    struct rank_reading *g = state;
    for (uint64_t k = 0; k < all->phases; k++) {
        g->load[k] = 0;
        g->tasks[k] = 0;
    }
    hpcw_status s = read_file(g, (uint32_t)rank, err);
    if (s != HPCW_OK) {
        return s;
    }
    (void)pthread_mutex_lock(&all->lock);
    all->most_phases = g->phases > all->most_phases ? g->phases : all->most_phases;
    for (uint64_t k = 0; k < g->phases && k < all->phases; k++) {
        struct phase_load *p = &all->phase[k];
        ui_raster_add(&all->raster, k, rank, g->load[k]);
        p->sum_ns += g->load[k] > 0 ? (uint64_t)llround(g->load[k] * 1e9) : 0;
        p->tasks += g->tasks[k];
        p->ranks++;
        if (g->load[k] > p->most || (g->load[k] == p->most && rank < p->busiest)) {
            p->most = g->load[k];
            p->busiest = (uint32_t)rank;
        }
    }
    (void)pthread_mutex_unlock(&all->lock);
    return HPCW_OK;
}

/* ---- Drawing ---- */

static void mark_truth(const struct gen_report *r, const struct vom_loads *all, struct gen_areas *areas) {
    double last = (double)all->phases - 0.5;
    const cJSON *one;
    const cJSON *rank;
    cJSON_ArrayForEach(one, gen_report_truth(r, "machine.slow_nodes")) {
        double first = gen_report_number(one, "first_rank") - 0.5;
        gen_areas_add(areas, -0.5, last, first, first + gen_report_number(one, "ranks"),
                      "slow node (injected)");
    }
    cJSON_ArrayForEach(one, gen_report_truth(r, "vom.phases")) {
        double phase = gen_report_number(one, "phase");
        cJSON_ArrayForEach(rank, cJSON_GetObjectItemCaseSensitive(one, "ranks")) {
            double at = gen_report_number(rank, "rank");
            gen_areas_add(areas, phase - 0.5, phase + 0.5, at - 0.5, at + 0.5,
                          "overloaded rank (in truth.json)");
        }
    }
}

static void draw_map(const struct gen_report *r, const struct vom_loads *all) {
    struct gen_areas areas = {0};
    mark_truth(r, all, &areas);
    ui_page_heat(r->page,
                 &(struct ui_page_heat){.title = "Load of every rank in every phase",
                                        .caption = "The sum of the times of a rank's objects",
                                        .origin = UI_PAGE_READ,
                                        .x = {"phase", UI_PAGE_COUNT, -0.5, (double)all->phases - 0.5, true},
                                        .y = {"rank", UI_PAGE_COUNT, -0.5, (double)all->ranks - 0.5, true},
                                        .label = "load",
                                        .unit = UI_PAGE_SECONDS,
                                        .raster = &all->raster,
                                        .area = areas.area,
                                        .areas = areas.count});
    gen_areas_free(&areas);
}

/* Draws curves over the phases. With many phases, a point is the largest value of several phases. */
static hpcw_status draw_curves(const struct gen_report *r, const struct vom_loads *all, hpcw_error *err) {
    uint64_t span = all->phases / UI_RASTER_MAX + (all->phases % UI_RASTER_MAX != 0);
    size_t n = (size_t)((all->phases - 1) / span + 1);
    struct ui_page_point *point = hpcw_i_calloc(3 * n, sizeof *point);
    if (point == NULL) {
        return hpcw_i_fail_memory(err, "report", n, "points");
    }
    for (size_t i = 0; i < 3 * n; i++) {
        point[i] = (struct ui_page_point){.x = (double)(i % n * span), .y = NAN, .low = NAN, .high = NAN};
    }
    for (uint64_t k = 0; k < all->phases; k++) {
        double mean = mean_of(&all->phase[k]);
        const double value[3] = {mean > 0 ? all->phase[k].most / mean - 1 : 0, all->phase[k].most, mean};
        for (size_t c = 0; c < 3; c++) {
            double *y = &point[c * n + (size_t)(k / span)].y;
            *y = isnan(*y) || value[c] > *y ? value[c] : *y;
        }
    }
    const struct ui_page_axis x = {.label = "phase", .unit = UI_PAGE_COUNT};
    ui_page_xy(r->page, &(struct ui_page_xy){.title = "Imbalance of every phase",
                                             .caption = "Load of the busiest rank over the mean of all, minus "
                                                        "one: 0 is balanced, 1 twice the necessary time.",
                                             .origin = UI_PAGE_READ,
                                             .x = x,
                                             .y = {.label = "imbalance", .unit = UI_PAGE_PLAIN},
                                             .series = &(struct ui_page_series){.name = "imbalance",
                                                                                .colour = 1,
                                                                                .line = true,
                                                                                .point = point,
                                                                                .points = n},
                                             .count = 1});
    const struct ui_page_series series[] = {
        {.name = "busiest rank", .colour = 1, .line = true, .point = point + n, .points = n},
        {.name = "mean of all ranks", .colour = 0, .line = true, .point = point + 2 * n, .points = n}};
    ui_page_xy(r->page, &(struct ui_page_xy){.title = "Load of the busiest rank, and mean load",
                                             .caption = "A phase takes as long as its busiest rank.",
                                             .origin = UI_PAGE_READ,
                                             .x = x,
                                             .y = {.label = "load", .unit = UI_PAGE_SECONDS, .log = true},
                                             .series = series,
                                             .count = 2});
    hpcw_i_free(point);
    return HPCW_OK;
}

/* Adds a finding: the phase in which most time is lost, and the time that balanced phases would save. */
static void put_finding(const struct gen_report *r, const struct vom_loads *all) {
    const cJSON *kind = gen_report_truth(r, "vom.scenario.kind");
    double whole = 0, necessary = 0, lost = -1;
    uint64_t worst = 0;
    for (uint64_t k = 0; k < all->phases; k++) {
        double mean = mean_of(&all->phase[k]), most = all->phase[k].most;
        whole += most;
        necessary += mean;
        worst = most - mean > lost ? k : worst;
        lost = most - mean > lost ? most - mean : lost;
    }
    if (!(whole > 0)) {
        return;
    }
    ui_page_finding(r->page);
    char text[32];
    (void)snprintf(text, sizeof text, "phase %" PRIu64, worst);
    ui_page_text(r->page, "balanced phases would save ");
    ui_page_number(r->page, UI_PAGE_SHARE, 1 - necessary / whole);
    ui_page_text(r->page, " of the time; ");
    ui_page_link_chart(r->page, text);
    ui_page_text(r->page, " loses most, where the ranks wait ");
    ui_page_number(r->page, UI_PAGE_SECONDS, lost);
    ui_page_text(r->page, " on average for rank %u", all->phase[worst].busiest);
    gen_report_put_host(r, all->phase[worst].busiest);
    ui_page_text(r->page, ", which works ");
    ui_page_number(r->page, UI_PAGE_SECONDS, all->phase[worst].most);
    if (cJSON_IsString(kind) && strcmp(kind->valuestring, "none") != 0) {
        ui_page_text(r->page, ". Injected: %s", kind->valuestring);
    }
    ui_page_text(r->page, ".");
    ui_page_end(r->page);
}

static hpcw_status draw(const struct gen_report *r, const struct vom_loads *all, hpcw_error *err) {
    uint64_t tasks = 0;
    for (uint64_t k = 0; k < all->phases; k++) {
        tasks += all->phase[k].tasks;
    }
    ui_page_heading(r->page, "Load of ranks (vt load-balancing data)");
    ui_page_begin(r->page, UI_PAGE_FACTS);
    gen_report_fact(r->page, "Ranks", UI_PAGE_COUNT, all->ranks);
    gen_report_fact(r->page, "Phases", UI_PAGE_COUNT, (double)all->phases);
    gen_report_fact(r->page, "Objects measured", UI_PAGE_COUNT, (double)tasks);
    const cJSON *kind = gen_report_truth(r, "vom.scenario.kind");
    if (cJSON_IsString(kind)) {
        ui_page_fact(r->page, "Scenario injected");
        ui_page_text(r->page, "%s", kind->valuestring);
        ui_page_end(r->page);
    }
    ui_page_end(r->page);
    draw_map(r, all);
    put_finding(r, all);
    return draw_curves(r, all, err);
}

/* Reads the files of all ranks, with memory for all->phases phases. */
static hpcw_status read_ranks(const struct gen_report *r, struct vom_loads *all, hpcw_error *err) {
    all->phase = hpcw_i_calloc((size_t)all->phases, sizeof *all->phase);
    if (all->phase == NULL) {
        return hpcw_i_fail_memory(err, "report", all->phases, "phases");
    }
    for (uint64_t k = 0; k < all->phases; k++) {
        all->phase[k].busiest = UINT32_MAX;
    }
    hpcw_status s = ui_raster_init(&all->raster, all->phases, all->ranks, UI_RASTER_MAX, UI_REDUCE_MAX, err);
    if (s == HPCW_OK) {
        const struct gen_pool_work work = {.name = "report",
                                           .context = all,
                                           .state_size = sizeof(struct rank_reading),
                                           .begin = begin_reading,
                                           .step = read_rank,
                                           .end = end_reading};
        s = gen_pool_run(r->jobs, 0, all->ranks, 1, &work, err);
        ui_raster_finish(&all->raster);
    }
    return s;
}

/* Reads the files of all ranks. If a file has more phases than expected from the files before, reads all files
 * again with more memory. Numbers of phases can differ after a run that was killed. */
static hpcw_status read_all(const struct gen_report *r, struct vom_loads *all, hpcw_error *err) {
    struct rank_reading first = {.all = all};
    hpcw_status s = read_file(&first, 0, err);
    all->most_phases = first.phases;
    while (s == HPCW_OK && all->phases < all->most_phases) {
        all->phases = all->most_phases;
        hpcw_i_free(all->phase);
        ui_raster_free(&all->raster);
        s = read_ranks(r, all, err);
    }
    return s;
}

hpcw_status gen_report_vom(const struct gen_report *r, hpcw_error *err) {
    bool directory;
    hpcw_status s = read_vom_is_directory(r->path, &directory, err);
    if (s != HPCW_OK) {
        return s;
    }
    if (!directory) {
        return hpcw_i_fail(err, HPCW_ENOTSUP, "%s: expected the directory of all ranks' files, got one file",
                           r->path);
    }
    struct vom_loads all = {0};
    s = read_vom_set_open(r->path, false, &all.set, err);
    if (s != HPCW_OK) {
        return s;
    }
    all.ranks = all.set.ranks;
    (void)pthread_mutex_init(&all.lock, NULL);
    s = read_all(r, &all, err);
    s = read_vom_set_check(&all.set, s, err);
    if (s == HPCW_OK && all.phases > 0) {
        s = draw(r, &all, err);
    }
    if (all.warning.code != HPCW_OK && r->warning->code == HPCW_OK) {
        *r->warning = all.warning;
    }
    (void)pthread_mutex_destroy(&all.lock);
    ui_raster_free(&all.raster);
    hpcw_i_free(all.phase);
    read_vom_set_close(&all.set);
    return s;
}
