/* SPDX-License-Identifier: BSD-3-Clause */
/* An event log in a report: where the time of the ranks goes, and a window with a timeline for each rank. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gen/report/report.h"
#include "libreader/clog2/clog2.h"
#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

enum {
    MOST_STATES = 64,    /* that have a profile; further ones count as the last */
    SHOWN_STATES = 11,   /* with a colour of their own; the others share one */
    GROUPS = 32,         /* of ranks */
    MOST_TURNS = 100000, /* of rank 0 */
};

struct profile_state {
    char name[40];
    double own, whole; /* seconds over all ranks: as the innermost state, and with nested ones */
    uint64_t count;
    double group[GROUPS]; /* own, by ranks */
    uint64_t turns;       /* on rank 0 */
    double turn_time;
};

struct profile_turn {
    uint32_t state;
    double from, to;
};

struct log_profile {
    uint32_t ranks;
    uint32_t group_ranks;
    struct profile_state state[MOST_STATES];
    struct profile_turn *turn; /* whole states of rank 0, in the order in which they end */
    size_t turns, turn_capacity;
    double begin, end;
    uint64_t cases[READ_CLOG2_RULES];
    bool failed; /* out of memory */

    /* The window, in a second pass. */
    double from, to;
    struct ui_raster raster;
    uint32_t colour_of[MOST_STATES]; /* by profile */
    uint32_t colours;
    float *share; /* [height][width][colours] seconds */
};

static uint32_t profile_of(uint32_t state) {
    return state < MOST_STATES ? state : MOST_STATES - 1;
}

/* ---- First pass ---- */

static void add_stretch(void *context, const struct read_clog2_stretch *s) {
    struct log_profile *p = context;
    struct profile_state *t = &p->state[profile_of(s->state)];
    if (s->rank < p->ranks) {
        t->own += s->to - s->from;
        t->group[s->rank / p->group_ranks] += s->to - s->from;
    }
    p->begin = s->from < p->begin ? s->from : p->begin;
    p->end = s->to > p->end ? s->to : p->end;
}

static void add_turn(struct log_profile *p, const struct read_clog2_stretch *s) {
    if (p->turns == MOST_TURNS) {
        return;
    }
    struct profile_turn *grown = hpcw_i_grow(p->turn, &p->turn_capacity, p->turns + 1, sizeof *grown);
    if (grown == NULL) {
        p->failed = true;
        return;
    }
    p->turn = grown;
    p->turn[p->turns++] = (struct profile_turn){profile_of(s->state), s->from, s->to};
}

static void add_state(void *context, const struct read_clog2_stretch *s) {
    struct log_profile *p = context;
    struct profile_state *t = &p->state[profile_of(s->state)];
    if (t->count++ == 0) {
        if (s->state >= MOST_STATES - 1) {
            (void)snprintf(t->name, sizeof t->name, "all others");
        } else if (s->name[0] != '\0') {
            (void)snprintf(t->name, sizeof t->name, "%s", s->name);
        } else {
            (void)snprintf(t->name, sizeof t->name, "state %u", s->state);
        }
    }
    t->whole += s->to - s->from;
    if (s->rank == 0) {
        t->turns++;
        t->turn_time += s->to - s->from;
        add_turn(p, s);
    }
}

/* ---- The window ---- */

/* Without a given window, the middle one of the times that rank 0 is in the state that takes most of its time, and at least a
 * fiftieth of the log. */
static void choose_window(struct log_profile *p, const struct gen_report *r) {
    p->from = p->begin;
    p->to = p->end;
    if (r->from_s < r->to_s) {
        p->from = r->from_s > p->begin ? r->from_s : p->begin;
        p->to = r->to_s < p->end ? r->to_s : p->end;
        return;
    }
    uint32_t best = MOST_STATES;
    for (uint32_t k = 0; k < MOST_STATES; k++) {
        if (p->state[k].turns >= 3 &&
            (best == MOST_STATES || p->state[k].turn_time > p->state[best].turn_time)) {
            best = k;
        }
    }
    uint64_t seen = 0;
    for (size_t i = 0; best < MOST_STATES && i < p->turns; i++) {
        if (p->turn[i].state == best && seen++ == p->state[best].turns / 2) {
            p->from = p->turn[i].from;
            p->to = p->turn[i].to;
        }
    }
    const double least = (p->end - p->begin) / 50;
    if (p->to - p->from < least) {
        const double middle = (p->from + p->to) / 2;
        p->from = middle - least / 2 > p->begin ? middle - least / 2 : p->begin;
        p->to = middle + least / 2 < p->end ? middle + least / 2 : p->end;
    }
}

/* Lists the states that occur, the one that takes most time first. */
static uint32_t sort_states(const struct log_profile *p, uint32_t order[MOST_STATES]) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < MOST_STATES; k++) {
        if (p->state[k].count == 0) {
            continue;
        }
        uint32_t at = n++;
        while (at > 0 && p->state[order[at - 1]].own < p->state[k].own) {
            order[at] = order[at - 1];
            at--;
        }
        order[at] = k;
    }
    return n;
}

static void add_to_window(void *context, const struct read_clog2_stretch *s) {
    struct log_profile *p = context;
    double from = s->from > p->from ? s->from : p->from;
    double to = s->to < p->to ? s->to : p->to;
    if (from >= to || s->rank >= p->ranks) {
        return;
    }
    double cell = (p->to - p->from) / p->raster.width;
    size_t row = (size_t)(s->rank / p->raster.span_y) * p->raster.width;
    uint32_t first = (uint32_t)((from - p->from) / cell);
    for (uint32_t x = first; x < p->raster.width; x++) {
        double left = p->from + x * cell;
        double right = left + cell;
        double part = (to < right ? to : right) - (from > left ? from : left);
        if (left >= to) {
            break;
        }
        if (part > 0) {
            p->share[(row + x) * p->colours + p->colour_of[profile_of(s->state)]] += (float)part;
        }
    }
}

static hpcw_status read_window(struct log_profile *p, struct read_clog2 *reader, hpcw_error *err) {
    hpcw_status s = ui_raster_init(&p->raster, UI_RASTER_MAX, p->ranks, UI_RASTER_MAX, UI_REDUCE_MAX, err);
    if (s != HPCW_OK) {
        return s;
    }
    size_t cells = (size_t)p->raster.width * p->raster.height;
    p->share = hpcw_i_calloc(cells * p->colours, sizeof *p->share);
    if (p->share == NULL) {
        return hpcw_i_fail_memory(err, "report", cells, "cells");
    }
    s = read_clog2_watch(
        reader, &(struct read_clog2_watch){.context = p, .by_rank = true, .stretch = add_to_window}, err);
    for (size_t i = 0; s == HPCW_OK && i < cells; i++) {
        float most = 0;
        for (uint32_t k = 0; k < p->colours; k++) {
            if (p->share[i * p->colours + k] > most) {
                most = p->share[i * p->colours + k];
                p->raster.cell[i] = k;
            }
        }
    }
    return s;
}

/* ---- Drawing ---- */

static void draw_states(const struct gen_report *r, const struct log_profile *p, const uint32_t *order,
                        uint32_t states) {
    ui_page_table(r->page, "States, the busiest first. ", UI_PAGE_READ, false);
    ui_page_columns(r->page, (const char *const[]){"state", "times", "own time, all ranks", "share",
                                                   "with nested ones", NULL});
    double all = 0;
    for (uint32_t k = 0; k < states; k++) {
        all += p->state[order[k]].own;
    }
    for (uint32_t k = 0; k < states; k++) {
        const struct profile_state *t = &p->state[order[k]];
        ui_page_row(r->page, NULL, false);
        ui_page_text_cell(r->page, "%s", t->name);
        ui_page_number_cell(r->page, UI_PAGE_COUNT, (double)t->count);
        ui_page_number_cell(r->page, UI_PAGE_SECONDS, t->own);
        ui_page_number_cell(r->page, UI_PAGE_SHARE, all > 0 ? t->own / all : NAN);
        ui_page_number_cell(r->page, UI_PAGE_SECONDS, t->whole);
        ui_page_end(r->page);
    }
    ui_page_end(r->page);
}

/* The states that take most time. */
static void put_finding(const struct gen_report *r, const struct log_profile *p, const uint32_t *order,
                        uint32_t states) {
    const int slow = cJSON_GetArraySize(gen_report_truth(r, "machine.slow_nodes"));
    double all = 0;
    for (uint32_t k = 0; k < states; k++) {
        all += p->state[order[k]].own;
    }
    if (!(all > 0)) {
        return;
    }
    ui_page_finding(r->page);
    for (uint32_t k = 0; k < states && k < 3; k++) {
        ui_page_text(r->page, k == 0 ? "" : ", ");
        ui_page_number(r->page, UI_PAGE_SHARE, p->state[order[k]].own / all);
        ui_page_text(r->page, " of the time in states is in %s", p->state[order[k]].name);
    }
    if (slow > 0) {
        ui_page_text(r->page, ". Injected: %d slow %s", slow, slow == 1 ? "node" : "nodes");
    }
    ui_page_text(r->page, ".");
    ui_page_end(r->page);
}

/* Own times of the states shown, by groups of ranks. */
static void draw_groups(const struct gen_report *r, const struct log_profile *p, const uint32_t *order,
                        uint32_t states) {
    uint32_t groups = (p->ranks - 1) / p->group_ranks + 1;
    char text[GROUPS][32];
    const char *category[GROUPS];
    double value[SHOWN_STATES + 1][GROUPS] = {{0}};
    struct ui_page_bar bar[SHOWN_STATES + 1];
    for (uint32_t g = 0; g < groups; g++) {
        uint32_t first = g * p->group_ranks;
        uint32_t last = first + p->group_ranks < p->ranks ? first + p->group_ranks - 1 : p->ranks - 1;
        if (first == last) {
            (void)snprintf(text[g], sizeof text[g], "rank %u", first);
        } else {
            (void)snprintf(text[g], sizeof text[g], "ranks %u to %u", first, last);
        }
        category[g] = text[g];
        for (uint32_t k = 0; k < states; k++) {
            value[p->colour_of[order[k]]][g] += p->state[order[k]].group[g] / (last - first + 1);
        }
    }
    for (uint32_t k = 0; k < p->colours; k++) {
        bar[k] = (struct ui_page_bar){.name = k < SHOWN_STATES ? p->state[order[k]].name : "other states",
                                      .colour = k,
                                      .stack = "time",
                                      .value = value[k]};
    }
    ui_page_bars(r->page,
                 &(struct ui_page_bars){.title = "Where the time of the ranks goes",
                                        .caption = "Time in which a state was the innermost one; mean of the "
                                                   "ranks of a group.",
                                        .origin = UI_PAGE_READ,
                                        .category_label = "ranks",
                                        .label = "time per rank",
                                        .unit = UI_PAGE_SECONDS,
                                        .category = category,
                                        .categories = groups,
                                        .bar = bar,
                                        .count = p->colours});
}

/* Marks the ranks of slow nodes, and those that were interrupted in the window. */
static void mark_truth(const struct gen_report *r, const struct log_profile *p, struct gen_areas *areas) {
    const cJSON *one;
    cJSON_ArrayForEach(one, gen_report_truth(r, "machine.slow_nodes")) {
        double first = gen_report_number(one, "first_rank") - 0.5;
        gen_areas_add(areas, p->from, p->to, first, first + gen_report_number(one, "ranks"),
                      "slow node (injected)");
    }
    const cJSON *phases = gen_report_truth(r, "clog2.phases");
    cJSON_ArrayForEach(one, gen_report_truth(r, "clog2.interruptions")) {
        const double phase = gen_report_number(one, "phase");
        const double rank = gen_report_number(one, "rank");
        if (!(phase >= 0 && phase < cJSON_GetArraySize(phases))) {
            continue;
        }
        /* From where the phase before ends to where this one does. */
        const cJSON *before = phase < 1 ? NULL : cJSON_GetArrayItem(phases, (int)phase - 1);
        const double from = before == NULL ? 0 : gen_report_number(before, "end_ns") / 1e9;
        const double to = gen_report_number(cJSON_GetArrayItem(phases, (int)phase), "end_ns") / 1e9;
        if (from < p->to && to > p->from) {
            gen_areas_add(areas, from, to, rank - 0.5, rank + 0.5, "interrupted rank (injected)");
        }
    }
}

static void draw_window(const struct gen_report *r, const struct log_profile *p, const uint32_t *order) {
    const char *name[SHOWN_STATES + 1];
    for (uint32_t k = 0; k < p->colours; k++) {
        name[k] = k < SHOWN_STATES ? p->state[order[k]].name : "other states";
    }
    char caption[256];
    if (p->raster.span_y > 1) {
        (void)snprintf(caption, sizeof caption,
                       "A cell has the colour of the state in which its %" PRIu64
                       " ranks spent most of their time there",
                       p->raster.span_y);
    } else {
        (void)snprintf(caption, sizeof caption,
                       "A cell has the colour of the state in which the rank spent most of its time there");
    }
    struct gen_areas areas = {0};
    mark_truth(r, p, &areas);
    ui_page_heat(r->page, &(struct ui_page_heat){.title = "A window of the log",
                                                 .caption = caption,
                                                 .origin = UI_PAGE_READ,
                                                 .x = {"time", UI_PAGE_SECONDS, p->from, p->to, false},
                                                 .y = {"rank", UI_PAGE_COUNT, -0.5, p->ranks - 0.5, true},
                                                 .label = "state",
                                                 .raster = &p->raster,
                                                 .name = name,
                                                 .names = p->colours,
                                                 .area = areas.area,
                                                 .areas = areas.count});
    gen_areas_free(&areas);
}

static hpcw_status draw(const struct gen_report *r, struct log_profile *p, struct read_clog2 *reader,
                        hpcw_error *err) {
    uint32_t order[MOST_STATES] = {0};
    uint32_t states = sort_states(p, order);
    ui_page_heading(r->page, "Event log (CLOG-2)");
    if (r->warning->code != HPCW_OK) {
        ui_page_begin(r->page, UI_PAGE_PARAGRAPH);
        ui_page_text(r->page, "%s", r->warning->message);
        ui_page_end(r->page);
    }
    ui_page_begin(r->page, UI_PAGE_FACTS);
    gen_report_fact(r->page, "Ranks", UI_PAGE_COUNT, p->ranks);
    if (states > 0) {
        gen_report_fact(r->page, "First state begins", UI_PAGE_SECONDS, p->begin);
        gen_report_fact(r->page, "Last state ends", UI_PAGE_SECONDS, p->end);
    }
    ui_page_end(r->page);
    if (states == 0) {
        return HPCW_OK;
    }
    for (uint32_t k = 0; k < states; k++) {
        p->colour_of[order[k]] = k < SHOWN_STATES ? k : SHOWN_STATES;
    }
    p->colours = states < SHOWN_STATES + 1 ? states : SHOWN_STATES + 1;
    put_finding(r, p, order, states);
    draw_groups(r, p, order, states);
    draw_states(r, p, order, states);
    choose_window(p, r);
    if (p->from >= p->to) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: expected a window within %.9f to %.9f s, got %.9f to %.9f",
                           r->path, p->begin, p->end, r->from_s, r->to_s);
    }
    hpcw_status s = read_window(p, reader, err);
    if (s == HPCW_OK) {
        draw_window(r, p, order);
    }
    return s;
}

hpcw_status gen_report_clog2(const struct gen_report *r, hpcw_error *err) {
    struct read_clog2 *reader;
    hpcw_status s = read_clog2_open(r->path, &reader, err);
    if (s != HPCW_OK) {
        return s;
    }
    struct log_profile *p = hpcw_i_calloc(1, sizeof *p);
    if (p == NULL) {
        s = hpcw_i_fail_memory(err, r->path, 0, NULL);
        goto done;
    }
    p->ranks = read_clog2_info(reader)->ranks;
    p->group_ranks = p->ranks / GROUPS + (p->ranks % GROUPS != 0);
    p->begin = INFINITY;
    s = read_clog2_watch(
        reader,
        &(struct read_clog2_watch){
            .context = p, .by_rank = true, .stretch = add_stretch, .state = add_state, .cases = p->cases},
        err);
    read_clog2_warn(reader, p->cases, r->warning);
    if (s == HPCW_OK && p->failed) {
        s = hpcw_i_fail_memory(err, r->path, 0, NULL);
    }
    s = s == HPCW_OK ? draw(r, p, reader, err) : s;
    ui_raster_free(&p->raster);
    hpcw_i_free(p->share);
    hpcw_i_free(p->turn);
done:
    hpcw_i_free(p);
    read_clog2_free(reader);
    return s;
}
