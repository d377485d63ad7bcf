/* SPDX-License-Identifier: BSD-3-Clause */
/* What ranks of an event log wait for: the findings of a report, and their evidence. */
#include <inttypes.h>
#include <stdio.h>

#include "gen/report/log.h"

enum { MOST_ROWS = 12 }; /* most rows of a table; this many fit on a screen beside the chart */

static const char *const kind_name[] = {
    [GEN_WAITS_LATE_SENDER] = "receives for late senders",
    [GEN_WAITS_LATE_RECEIVER] = "sends for late receivers",
    [GEN_WAITS_COLLECTIVE] = "collective calls for the last rank",
};

static double seconds(uint64_t ns) {
    return (double)ns / 1e9;
}

/* ---- Findings ---- */

/* Puts "rank 7 (host)" as a link: to `place` in the chart or, if this is NULL, to the rank's row in the table. */
static void put_rank(const struct gen_report *r, uint32_t rank, const struct gen_waits_wait *place) {
    char text[32], id[32];
    (void)snprintf(text, sizeof text, "rank %u", rank);
    (void)snprintf(id, sizeof id, "rank-%u", rank);
    if (place == NULL) {
        ui_page_link(r->page, id, text);
    } else {
        ui_page_link_place(r->page, rank, seconds(place->from_ns), seconds(place->to_ns), text);
    }
    gen_report_put_host(r, rank);
}

struct log_shares {
    double all; /* time of all ranks */
    double mpi, others, computing;
    /* MPI call and other state with the most time; NULL: there is none */
    const struct log_state *call, *other;
};

static struct log_shares shares_of(const struct log_profile *p) {
    struct log_shares sum = {.all = (p->end - p->begin) * p->ranks};
    double in_states = 0;
    for (uint32_t k = 0; k < p->ranks; k++) {
        sum.mpi += p->rank[k].in_mpi;
        in_states += p->rank[k].in_states;
        sum.computing += log_computing(p, k);
    }
    sum.others = in_states > sum.mpi ? in_states - sum.mpi : 0;
    for (uint32_t k = 0; k < p->states; k++) {
        const struct log_state *t = &p->state[p->order[k]];
        const struct log_state **most = log_is_mpi(t->name) ? &sum.call : &sum.other;
        *most = *most == NULL || t->main > (*most)->main ? t : *most;
    }
    return sum;
}

static void put_most(const struct gen_report *r, const struct log_state *most, double all) {
    if (most != NULL) {
        ui_page_text(r->page, " (");
        ui_page_number(r->page, UI_PAGE_SHARE, most->main / all);
        ui_page_text(r->page, " in %s)", most->name);
    }
}

/* The time of all ranks after their last states is reported if it is at least this share of their whole
 * time. */
#define LEAST_ENDED 0.001

static void find_shares(const struct gen_report *r, const struct log_profile *p) {
    const struct log_shares sum = shares_of(p);
    struct ui_page *page = r->page;
    ui_page_finding(page);
    ui_page_text(page, "the run takes ");
    ui_page_number(page, UI_PAGE_SECONDS, p->end - p->begin);
    ui_page_text(page, " on %u %s. Of their time ", p->ranks, p->ranks == 1 ? "rank" : "ranks");
    if (sum.call == NULL) {
        ui_page_text(page, "none is in MPI");
    } else {
        ui_page_number(page, UI_PAGE_SHARE, sum.mpi / sum.all);
        ui_page_text(page, " is in MPI");
        put_most(r, sum.call, sum.all);
    }
    /* A sum below this is a rounding error: all time of other states is in nested calls of MPI. */
    if (sum.other != NULL && sum.others > 1e-6 * sum.all) {
        ui_page_text(page, ", ");
        ui_page_number(page, UI_PAGE_SHARE, sum.others / sum.all);
        ui_page_text(page, " in other states");
        put_most(r, sum.other, sum.all);
    }
    ui_page_text(page, ", ");
    ui_page_number(page, UI_PAGE_SHARE, sum.computing / sum.all);
    ui_page_text(page, " computing outside of states");
    if (log_ended(p) >= LEAST_ENDED * sum.all) {
        ui_page_text(page, ", ");
        ui_page_number(page, UI_PAGE_SHARE, log_ended(p) / sum.all);
        ui_page_text(page, " after their last state");
    }
    ui_page_text(page, ".");
    ui_page_end(page);
}

/* Returns the time of a rank outside of MPI until its last state ends. A rank that ends early has less work. */
static double work_of(const struct log_profile *p, uint32_t rank) {
    const double work = p->rank[rank].last - p->begin - p->rank[rank].in_mpi;
    return work > 0 ? work : 0;
}

static uint32_t busiest(const struct log_profile *p) {
    uint32_t most = 0;
    for (uint32_t k = 1; k < p->ranks; k++) {
        most = work_of(p, k) > work_of(p, most) ? k : most;
    }
    return most;
}

static void find_imbalance(const struct gen_report *r, const struct log_profile *p) {
    const uint32_t most = busiest(p);
    double mean = 0, in_mpi = 0;
    for (uint32_t k = 0; k < p->ranks; k++) {
        mean += work_of(p, k) / p->ranks;
        in_mpi += p->rank[k].in_mpi;
    }
    if (!(mean > 0) || !(in_mpi > 0)) {
        return;
    }
    ui_page_finding(r->page);
    ui_page_text(r->page, "Imbalance ");
    ui_page_number(r->page, UI_PAGE_SHARE, work_of(p, most) / mean - 1);
    ui_page_text(r->page, ": ");
    put_rank(r, most, NULL);
    ui_page_text(r->page, " is outside of MPI for ");
    ui_page_number(r->page, UI_PAGE_SECONDS, work_of(p, most));
    ui_page_text(r->page, ", the mean rank for ");
    ui_page_number(r->page, UI_PAGE_SECONDS, mean);
    ui_page_text(r->page, ".");
    ui_page_end(r->page);
}

static void sum_kinds(const struct gen_waits *w, struct gen_waits_sum kind[GEN_WAITS_KINDS]) {
    for (int i = 0; i < GEN_WAITS_KINDS; i++) {
        kind[i] = (struct gen_waits_sum){0};
        for (uint32_t k = 0; k < w->ranks; k++) {
            kind[i].count += w->rank[k].kind[i].count;
            kind[i].time_ns += w->rank[k].kind[i].time_ns;
        }
    }
}

static uint64_t waits_of(const struct gen_waits_rank *rank) {
    uint64_t sum = 0;
    for (int kind = 0; kind < GEN_WAITS_KINDS; kind++) {
        sum += rank->kind[kind].time_ns;
    }
    return sum;
}

enum wait_figure { CAUSED, WAITED, ON_PATH };

static uint64_t figure_of(const struct gen_waits_rank *rank, enum wait_figure figure) {
    return figure == CAUSED ? rank->caused_ns : figure == WAITED ? waits_of(rank) : rank->path_ns;
}

static uint32_t most_of(const struct gen_waits *w, enum wait_figure figure) {
    uint32_t most = 0;
    for (uint32_t k = 1; k < w->ranks; k++) {
        most = figure_of(&w->rank[k], figure) > figure_of(&w->rank[most], figure) ? k : most;
    }
    return most;
}

static double all_waits(const struct gen_waits *w) {
    double all = 0;
    for (uint32_t k = 0; k < w->ranks; k++) {
        all += seconds(waits_of(&w->rank[k]));
    }
    return all;
}

/* Returns the sum of waits of `rank` for the rank that it waits for most. */
static const struct gen_waits_ranks *most_between(const struct gen_waits *w, uint32_t rank) {
    size_t i = 0;
    while (w->between[i].rank != rank) {
        i++;
    }
    return &w->between[i];
}

static void find_waits(const struct gen_report *r, const struct log_profile *p) {
    const struct gen_waits *w = &p->waits;
    struct ui_page *page = r->page;
    const double all = all_waits(w);
    struct gen_waits_sum kind[GEN_WAITS_KINDS];
    sum_kinds(w, kind);
    if (!(all > 0)) {
        return;
    }
    ui_page_finding(page);
    ui_page_text(page, "Ranks wait for others in ");
    ui_page_number(page, UI_PAGE_SHARE, all / ((p->end - p->begin) * p->ranks));
    ui_page_text(page, " of their time: ");
    for (int i = 0, before = 0; i < GEN_WAITS_KINDS; i++) {
        if (kind[i].time_ns > 0) {
            ui_page_text(page, before++ > 0 ? ", " : "");
            ui_page_number(page, UI_PAGE_SHARE, seconds(kind[i].time_ns) / all);
            ui_page_text(page, " of it in %s", kind_name[i]);
        }
    }
    const uint32_t late = most_of(w, CAUSED), waiting = most_of(w, WAITED);
    ui_page_text(page, ". They wait most for ");
    put_rank(r, late, NULL);
    ui_page_text(page, ": ");
    ui_page_number(page, UI_PAGE_SECONDS, seconds(w->rank[late].caused_ns));
    ui_page_text(page, " of ");
    ui_page_number(page, UI_PAGE_SECONDS, all);
    ui_page_text(page, ". The one that waits most is ");
    put_rank(r, waiting, NULL);
    ui_page_text(page, ": ");
    ui_page_number(page, UI_PAGE_SECONDS, seconds(waits_of(&w->rank[waiting])));
    const struct gen_waits_ranks *most = most_between(w, waiting);
    ui_page_text(page, ", of which ");
    ui_page_number(page, UI_PAGE_SECONDS, seconds(most->sum.time_ns));
    ui_page_text(page, " for ");
    put_rank(r, most->cause, NULL);
    ui_page_text(page, ".");
    ui_page_end(page);
    const struct gen_waits_wait *longest = &p->longest;
    ui_page_finding(page);
    ui_page_text(page, "The longest wait: ");
    put_rank(r, longest->rank, longest);
    ui_page_text(page, " waits ");
    ui_page_number(page, UI_PAGE_SECONDS, seconds(longest->to_ns - longest->from_ns));
    ui_page_text(page, " in %s for ", w->name[longest->call]);
    put_rank(r, longest->cause_rank, longest);
    /* The log's clock does not show 0 at the first state, with which the run begins. So the text names the
     * clock. */
    ui_page_text(page, ", from ");
    ui_page_number(page, UI_PAGE_SECONDS, seconds(longest->from_ns));
    ui_page_text(page, " of the log's clock on.");
    ui_page_end(page);
}

/* Returns the state that takes most of the critical path, over all ranks. */
static uint32_t path_state(const struct gen_waits *w, uint64_t *most_ns) {
    uint32_t most = 0;
    *most_ns = 0;
    for (uint32_t k = 0; k < w->names; k++) {
        uint64_t sum = 0;
        for (size_t i = 0; i < w->shares; i++) {
            sum += w->share[i].state == k ? w->share[i].time_ns : 0;
        }
        if (sum > *most_ns) {
            *most_ns = sum;
            most = k;
        }
    }
    return most;
}

static const char *state_name(const struct gen_waits *w, uint32_t state) {
    return state == 0 ? "computing outside of states" : w->name[state];
}

/* Names the kinds of injected faults that a reader of waits must know, with their numbers. Slow nodes and
 * interruptions cause waits; wrong clocks shift the times from which waits and the critical path are computed. */
static void put_injected(const struct gen_report *r) {
    static const struct {
        const char *list, *name;
    } kind[] = {{"machine.slow_nodes", "slow node"},
                {"clog2.interruptions", "interruption"},
                {"clog2.clocks", "wrong clock"}};
    const char *before = ". Injected: ";
    for (size_t i = 0; i < sizeof kind / sizeof kind[0]; i++) {
        const int count = cJSON_GetArraySize(gen_report_truth(r, kind[i].list));
        if (count > 0) {
            ui_page_text(r->page, "%s%d %s%s", before, count, kind[i].name, count == 1 ? "" : "s");
            before = ", ";
        }
    }
}

static void find_path(const struct gen_report *r, const struct log_profile *p) {
    const struct gen_waits *w = &p->waits;
    const double all = seconds(w->end_ns - w->begin_ns);
    const uint32_t most = most_of(w, ON_PATH);
    uint64_t in_state;
    const uint32_t state = path_state(w, &in_state);
    if (!(all > 0)) {
        return;
    }
    ui_page_finding(r->page);
    ui_page_text(r->page, "The critical path, which leads to ranks that are late by themselves, is ");
    ui_page_number(r->page, UI_PAGE_SHARE, seconds(in_state) / all);
    ui_page_text(r->page, " %s, and for ", state_name(w, state));
    ui_page_number(r->page, UI_PAGE_SECONDS, seconds(w->rank[most].path_ns));
    ui_page_text(r->page, " of ");
    ui_page_number(r->page, UI_PAGE_SECONDS, all);
    ui_page_text(r->page, " on ");
    put_rank(r, most, NULL);
    put_injected(r);
    ui_page_text(r->page, ".");
    ui_page_end(r->page);
}

void gen_report_log_find(const struct gen_report *r, const struct log_profile *p) {
    find_shares(r, p);
    find_imbalance(r, p);
    find_waits(r, p);
    find_path(r, p);
}

/* ---- Evidence ---- */

static void draw_between(const struct gen_report *r, const struct gen_waits *w) {
    const double all = all_waits(w);
    ui_page_table(r->page, "Which ranks wait for which, the longest time first. ", UI_PAGE_READ, false);
    ui_page_columns(r->page, (const char *const[]){"rank that waits", "rank it waits for", "times", "time",
                                                   "share of all waits", NULL});
    for (size_t i = 0; i < w->betweens && i < MOST_ROWS; i++) {
        const struct gen_waits_ranks *pair = &w->between[i];
        ui_page_row(r->page, NULL, false);
        ui_page_number_cell(r->page, UI_PAGE_COUNT, pair->rank);
        ui_page_number_cell(r->page, UI_PAGE_COUNT, pair->cause);
        ui_page_number_cell(r->page, UI_PAGE_COUNT, (double)pair->sum.count);
        ui_page_number_cell(r->page, UI_PAGE_SECONDS, seconds(pair->sum.time_ns));
        ui_page_number_cell(r->page, UI_PAGE_SHARE, seconds(pair->sum.time_ns) / all);
        ui_page_end(r->page);
    }
    ui_page_end(r->page);
}

static void draw_pairs(const struct gen_report *r, const struct gen_waits *w) {
    static const char *const name[] = {[GEN_WAITS_LATE_SENDER] = "late sender",
                                       [GEN_WAITS_LATE_RECEIVER] = "late receiver",
                                       [GEN_WAITS_COLLECTIVE] = "collective call"};
    const double all = all_waits(w);
    ui_page_table(r->page, "Which calls wait for which, the longest time first. ", UI_PAGE_READ, false);
    ui_page_columns(r->page, (const char *const[]){"wait", "call that waits", "what it waits for", "times",
                                                   "time, all ranks", "share of all waits", NULL});
    for (size_t i = 0; i < w->pairs && i < MOST_ROWS; i++) {
        const struct gen_waits_pair *pair = &w->pair[i];
        ui_page_row(r->page, NULL, false);
        ui_page_text_cell(r->page, "%s", name[pair->kind]);
        ui_page_text_cell(r->page, "%s", w->name[pair->call]);
        ui_page_text_cell(r->page, "%s", w->name[pair->cause]);
        ui_page_number_cell(r->page, UI_PAGE_COUNT, (double)pair->sum.count);
        ui_page_number_cell(r->page, UI_PAGE_SECONDS, seconds(pair->sum.time_ns));
        ui_page_number_cell(r->page, UI_PAGE_SHARE, seconds(pair->sum.time_ns) / all);
        ui_page_end(r->page);
    }
    ui_page_end(r->page);
}

struct rank_list {
    uint32_t rank[MOST_ROWS];
    size_t count;
};

static bool is_listed(const struct rank_list *list, uint32_t rank) {
    for (size_t i = 0; i < list->count; i++) {
        if (list->rank[i] == rank) {
            return true;
        }
    }
    return false;
}

static void list_rank(struct rank_list *list, uint32_t rank) {
    if (!is_listed(list, rank)) {
        list->rank[list->count++] = rank;
    }
}

/* Lists the ranks that the findings name, then those for which others wait most. */
static void choose_ranks(const struct log_profile *p, struct rank_list *list) {
    const uint32_t waiting = most_of(&p->waits, WAITED);
    list->count = 0;
    list_rank(list, most_of(&p->waits, CAUSED));
    list_rank(list, waiting);
    if (p->waits.betweens > 0) {
        list_rank(list, most_between(&p->waits, waiting)->cause);
    }
    list_rank(list, most_of(&p->waits, ON_PATH));
    list_rank(list, busiest(p));
    while (list->count < MOST_ROWS && list->count < p->ranks) {
        uint32_t next = UINT32_MAX;
        for (uint32_t k = 0; k < p->ranks; k++) {
            if (!is_listed(list, k) &&
                (next == UINT32_MAX || p->waits.rank[k].caused_ns > p->waits.rank[next].caused_ns)) {
                next = k;
            }
        }
        list_rank(list, next);
    }
}

static void draw_ranks(const struct gen_report *r, const struct log_profile *p) {
    struct rank_list list;
    choose_ranks(p, &list);
    ui_page_table(r->page, "Ranks of the findings, and ranks that others wait for. ", UI_PAGE_READ, false);
    ui_page_columns(r->page, (const char *const[]){"rank", "host", "others wait for it", "it waits",
                                                   "outside of MPI", "on the critical path", NULL});
    for (size_t i = 0; i < list.count; i++) {
        const uint32_t rank = list.rank[i];
        const struct gen_waits_rank *w = &p->waits.rank[rank];
        char id[32], host[GEN_REPORT_HOST];
        (void)snprintf(id, sizeof id, "rank-%u", rank);
        gen_report_host(r, rank, host);
        ui_page_row(r->page, id, false);
        ui_page_number_cell(r->page, UI_PAGE_COUNT, rank);
        ui_page_text_cell(r->page, "%s", host[0] == '\0' ? "not known" : host);
        ui_page_number_cell(r->page, UI_PAGE_SECONDS, seconds(w->caused_ns));
        ui_page_number_cell(r->page, UI_PAGE_SECONDS, seconds(waits_of(w)));
        ui_page_number_cell(r->page, UI_PAGE_SECONDS, work_of(p, rank));
        ui_page_number_cell(r->page, UI_PAGE_SECONDS, seconds(w->path_ns));
        ui_page_end(r->page);
    }
    ui_page_end(r->page);
}

static void draw_path(const struct gen_report *r, const struct gen_waits *w) {
    ui_page_table(r->page, "The critical path, the longest share first. ", UI_PAGE_READ, false);
    ui_page_columns(r->page, (const char *const[]){"rank", "state", "time", "share of the run", NULL});
    for (size_t i = 0; i < w->shares && i < MOST_ROWS; i++) {
        ui_page_row(r->page, NULL, false);
        ui_page_number_cell(r->page, UI_PAGE_COUNT, w->share[i].rank);
        ui_page_text_cell(r->page, "%s", state_name(w, w->share[i].state));
        ui_page_number_cell(r->page, UI_PAGE_SECONDS, seconds(w->share[i].time_ns));
        ui_page_number_cell(r->page, UI_PAGE_SHARE,
                            (double)w->share[i].time_ns / (double)(w->end_ns - w->begin_ns));
        ui_page_end(r->page);
    }
    ui_page_end(r->page);
}

static double outside(const struct log_profile *p, uint32_t rank) {
    return work_of(p, rank);
}

static double waiting(const struct log_profile *p, uint32_t rank) {
    return seconds(waits_of(&p->waits.rank[rank]));
}

static double caused(const struct log_profile *p, uint32_t rank) {
    return seconds(p->waits.rank[rank].caused_ns);
}

static hpcw_status draw_curve(const struct gen_report *r, const struct log_profile *p, const char *title,
                              const char *caption, double (*value)(const struct log_profile *p, uint32_t rank),
                              hpcw_error *err) {
    struct gen_by_rank curve;
    hpcw_status s = gen_by_rank_init(&curve, p->ranks, err);
    for (uint32_t k = 0; s == HPCW_OK && k < p->ranks; k++) {
        gen_by_rank_add(&curve, k, value(p, k));
    }
    s = s == HPCW_OK ? gen_by_rank_draw(&curve, r->page, title, caption, "time", UI_PAGE_SECONDS, err) : s;
    gen_by_rank_free(&curve);
    return s;
}

hpcw_status gen_report_log_draw_waits(const struct gen_report *r, const struct log_profile *p,
                                      hpcw_error *err) {
    hpcw_status s =
        draw_curve(r, p, "Who works: time outside of MPI", "Of a rank's main thread.", outside, err);
    s = s == HPCW_OK ? draw_curve(r, p, "Who waits: time in calls that wait for other ranks",
                                  "How waits are found stands below.", waiting, err)
                     : s;
    s = s == HPCW_OK ? draw_curve(r, p, "Who is late: time that others wait for a rank",
                                  "All ranks may wait for one at the same time.", caused, err)
                     : s;
    if (s == HPCW_OK) {
        draw_ranks(r, p);
        if (p->waits.pairs > 0) {
            draw_between(r, &p->waits);
            draw_pairs(r, &p->waits);
        }
        draw_path(r, &p->waits);
    }
    return s;
}
