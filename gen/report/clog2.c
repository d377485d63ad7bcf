/* SPDX-License-Identifier: BSD-3-Clause */
/* An event log in a report: how long the run takes, who waits for whom, and the whole log as a chart that zooms. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gen/report/log.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

/* ---- The first reading of the log makes a profile ---- */

static void add_stretch(void *context, const struct read_clog2_stretch *s) {
    struct log_profile *p = context;
    struct log_state *t = &p->state[log_profile_of(s->state)];
    if (s->rank < p->ranks) {
        t->own += s->to - s->from;
        if (s->thread == 0) {
            t->main += s->to - s->from;
            t->group[s->rank / p->group_ranks] += s->to - s->from;
            p->rank[s->rank].in_states += s->to - s->from;
            p->rank[s->rank].in_mpi += log_is_mpi(s->name) ? s->to - s->from : 0;
        }
    }
    p->begin = s->from < p->begin ? s->from : p->begin;
    p->end = s->to > p->end ? s->to : p->end;
}

/* Keeps the LOG_PLACES longest occurrences of a state. Of equally long ones, the earlier are kept. */
static void add_place(struct log_state *t, const struct read_clog2_stretch *s) {
    const double length = s->to - s->from;
    uint32_t at = t->places;
    while (at > 0 && t->place[at - 1].to - t->place[at - 1].from < length) {
        at--;
    }
    if (at == LOG_PLACES) {
        return;
    }
    t->places += t->places < LOG_PLACES;
    memmove(&t->place[at + 1], &t->place[at], (t->places - at - 1) * sizeof t->place[0]);
    t->place[at] = (struct log_place){s->rank, s->from, s->to};
}

static void add_state(void *context, const struct read_clog2_stretch *s) {
    struct log_profile *p = context;
    struct log_state *t = &p->state[log_profile_of(s->state)];
    if (t->count++ == 0) {
        if (s->state >= LOG_MOST_STATES - 1) {
            (void)snprintf(t->name, sizeof t->name, "all others");
        } else if (s->name[0] != '\0') {
            (void)snprintf(t->name, sizeof t->name, "%s", s->name);
        } else {
            (void)snprintf(t->name, sizeof t->name, "state %u", s->state);
        }
    }
    t->whole += s->to - s->from;
    if (s->rank < p->ranks) {
        add_place(t, s);
    }
}

static void sort_states(struct log_profile *p) {
    for (uint32_t k = 0; k < LOG_MOST_STATES; k++) {
        if (p->state[k].count == 0) {
            continue;
        }
        uint32_t at = p->states++;
        while (at > 0 && p->state[p->order[at - 1]].own < p->state[k].own) {
            p->order[at] = p->order[at - 1];
            at--;
        }
        p->order[at] = k;
    }
    for (uint32_t k = 0; k < p->states; k++) {
        const uint32_t colour = k < LOG_SHOWN_STATES ? k : LOG_SHOWN_STATES;
        p->colour_of[p->order[k]] = colour;
        p->colour[colour] = colour;
        p->name[colour] = k < LOG_SHOWN_STATES ? p->state[p->order[k]].name : "other states";
        p->colours = colour + 1;
    }
    p->colour[p->colours] = LOG_GREY;
    p->name[p->colours++] = "computing (outside of states)";
}

/* ---- Waits ---- */

/* Returns the column that contains a time, in the rasters of the charts. */
static uint64_t column_of(const struct log_profile *p, double time) {
    const double column = (time - p->begin) / (p->end - p->begin) * UI_RASTER_MAX;
    return column < 0 ? 0 : column < UI_RASTER_MAX ? (uint64_t)column : UI_RASTER_MAX - 1;
}

static void add_wait(void *context, const struct gen_waits_wait *w) {
    struct log_profile *p = context;
    const double from = (double)w->from_ns / 1e9, to = (double)w->to_ns / 1e9;
    const double width = (p->end - p->begin) / UI_RASTER_MAX;
    const uint64_t last = column_of(p, to);
    for (uint64_t x = column_of(p, from); x <= last; x++) {
        const double left = p->begin + (double)x * width, right = left + width;
        const double part = (to < right ? to : right) - (from > left ? from : left);
        if (part > 0) {
            ui_raster_add(&p->waiting, x, w->rank, part);
            ui_raster_add(&p->cause, x, w->cause_rank, part);
        }
    }
    if (w->to_ns - w->from_ns > p->longest.to_ns - p->longest.from_ns) {
        p->longest = *w;
    }
}

static hpcw_status read_waits(const struct gen_report *r, struct log_profile *p, hpcw_error *err) {
    struct ui_raster *const layer[] = {&p->waiting, &p->cause, &p->sent};
    hpcw_status s = HPCW_OK;
    for (size_t i = 0; s == HPCW_OK && i < sizeof layer / sizeof layer[0]; i++) {
        s = ui_raster_init(layer[i], UI_RASTER_MAX, p->ranks, UI_RASTER_MAX, UI_REDUCE_SUM, err);
    }
    return s == HPCW_OK ? gen_waits_watch(r->path, add_wait, p, &p->waits, err) : s;
}

/* ---- The last reading of the log fills the timeline ---- */

static void draw_stretch(void *context, const struct read_clog2_stretch *s) {
    struct log_profile *p = context;
    if (s->rank >= p->ranks || s->thread != 0) {
        return;
    }
    struct log_rank *rank = &p->rank[s->rank];
    ui_timeline_add(&p->timeline, s->rank, p->colours - 1, rank->last, s->from);
    ui_timeline_add(&p->timeline, s->rank, p->colour_of[log_profile_of(s->state)], s->from, s->to);
    rank->last = s->to > rank->last ? s->to : rank->last;
    if (p->detail != NULL) {
        gen_report_detail_state(p->detail, s->rank, log_profile_of(s->state), s->from, s->to);
    }
}

static void draw_message(void *context, const struct read_clog2_end *e) {
    struct log_profile *p = context;
    if (e->rank >= p->ranks || e->peer >= p->ranks) {
        return;
    }
    if (e->send) {
        ui_raster_add(&p->sent, column_of(p, e->time), e->rank, e->bytes);
    }
    if (p->detail != NULL && e->meets) {
        gen_report_detail_message(p->detail, e->send ? e->rank : e->peer, e->send ? e->peer : e->rank,
                                  e->send ? e->time : e->other, e->send ? e->other : e->time,
                                  (uint64_t)e->bytes);
    }
}

static hpcw_status read_timeline(const struct gen_report *r, struct log_profile *p, struct read_clog2 *reader,
                                 hpcw_error *err) {
    hpcw_status s = ui_timeline_init(&p->timeline, p->begin, p->end, p->ranks, p->colours, err);
    if (s == HPCW_OK && r->detail != NULL) {
        s = gen_report_detail_open(r, p, &p->detail, err);
    }
    for (uint32_t k = 0; k < p->ranks; k++) {
        p->rank[k].last = p->begin;
    }
    const struct read_clog2_watch watch = {.context = p,
                                           .by_rank = true,
                                           .no_meetings = r->detail == NULL,
                                           .stretch = draw_stretch,
                                           .message = draw_message};
    s = s == HPCW_OK ? read_clog2_watch(reader, &watch, err) : s;
    if (s != HPCW_OK) {
        return s;
    }
    ui_timeline_finish(&p->timeline);
    return p->detail == NULL ? HPCW_OK : gen_report_detail_finish(p->detail, err);
}

/* ---- Drawing ---- */

static double computing_of(const struct log_profile *p, uint32_t first, uint32_t last) {
    double sum = 0;
    for (uint32_t k = first; k <= last; k++) {
        sum += log_computing(p, k);
    }
    return sum;
}

static void put_state(const struct gen_report *r, const struct log_profile *p, const char *name, double count,
                      double own, double whole) {
    ui_page_row(r->page, NULL, false);
    ui_page_text_cell(r->page, "%s", name);
    ui_page_number_cell(r->page, UI_PAGE_COUNT, count);
    ui_page_number_cell(r->page, UI_PAGE_SECONDS, own);
    ui_page_number_cell(r->page, UI_PAGE_SHARE, own / ((p->end - p->begin) * p->ranks));
    ui_page_number_cell(r->page, UI_PAGE_SECONDS, whole);
    ui_page_end(r->page);
}

static void draw_states(const struct gen_report *r, const struct log_profile *p) {
    const double computing = computing_of(p, 0, p->ranks - 1);
    ui_page_table(r->page, "States, the busiest first. ", UI_PAGE_READ, false);
    ui_page_columns(r->page, (const char *const[]){"state", "times", "own time, all ranks",
                                                   "share of all ranks' time", "with nested ones", NULL});
    bool listed = false;
    for (uint32_t k = 0; k < p->states; k++) {
        const struct log_state *t = &p->state[p->order[k]];
        if (!listed && computing >= t->own) {
            put_state(r, p, p->name[p->colours - 1], NAN, computing, NAN);
            listed = true;
        }
        put_state(r, p, t->name, (double)t->count, t->own, t->whole);
    }
    if (!listed) {
        put_state(r, p, p->name[p->colours - 1], NAN, computing, NAN);
    }
    if (log_ended(p) > 0) {
        put_state(r, p, "no state any more", NAN, log_ended(p), NAN);
    }
    ui_page_end(r->page);
}

/* Draws how much time each group of ranks spends in each state. */
static void draw_groups(const struct gen_report *r, const struct log_profile *p) {
    uint32_t groups = (p->ranks - 1) / p->group_ranks + 1;
    char text[LOG_GROUPS][32];
    const char *category[LOG_GROUPS];
    double value[LOG_COLOURS][LOG_GROUPS] = {{0}};
    struct ui_page_bar bar[LOG_COLOURS];
    for (uint32_t g = 0; g < groups; g++) {
        uint32_t first = g * p->group_ranks;
        uint32_t last = first + p->group_ranks < p->ranks ? first + p->group_ranks - 1 : p->ranks - 1;
        if (first == last) {
            (void)snprintf(text[g], sizeof text[g], "rank %u", first);
        } else {
            (void)snprintf(text[g], sizeof text[g], "ranks %u to %u", first, last);
        }
        category[g] = text[g];
        for (uint32_t k = 0; k < p->states; k++) {
            value[p->colour_of[p->order[k]]][g] += p->state[p->order[k]].group[g] / (last - first + 1);
        }
        value[p->colours - 1][g] = computing_of(p, first, last) / (last - first + 1);
    }
    for (uint32_t k = 0; k < p->colours; k++) {
        bar[k] = (struct ui_page_bar){
            .name = p->name[k], .colour = p->colour[k], .stack = "time", .value = value[k]};
    }
    ui_page_bars(r->page,
                 &(struct ui_page_bars){.title = "Where the time of the ranks goes",
                                        .caption = "Time in which a state was the innermost one, and time "
                                                   "in none until the rank's last one; mean of the ranks of a "
                                                   "group.",
                                        .origin = UI_PAGE_READ,
                                        .category_label = "ranks",
                                        .label = "time per rank",
                                        .unit = UI_PAGE_SECONDS,
                                        .category = category,
                                        .categories = groups,
                                        .bar = bar,
                                        .count = p->colours});
}

/* Marks injected faults: the ranks of slow nodes, and the ranks that were interrupted. */
static void mark_truth(const struct gen_report *r, const struct log_profile *p, struct gen_areas *areas) {
    const cJSON *one;
    cJSON_ArrayForEach(one, gen_report_truth(r, "machine.slow_nodes")) {
        double first = gen_report_number(one, "first_rank") - 0.5;
        gen_areas_add(areas, p->begin, p->end, first, first + gen_report_number(one, "ranks"),
                      "slow node (injected)");
    }
    const cJSON *phases = gen_report_truth(r, "clog2.phases");
    cJSON_ArrayForEach(one, gen_report_truth(r, "clog2.interruptions")) {
        const double phase = gen_report_number(one, "phase");
        const double rank = gen_report_number(one, "rank");
        if (!(phase >= 0 && phase < cJSON_GetArraySize(phases))) {
            continue;
        }
        /* A phase lasts from the end of the phase before it to its own end. */
        const cJSON *before = phase < 1 ? NULL : cJSON_GetArrayItem(phases, (int)phase - 1);
        gen_areas_add(areas, before == NULL ? 0 : gen_report_number(before, "end_ns") / 1e9,
                      gen_report_number(cJSON_GetArrayItem(phases, (int)phase), "end_ns") / 1e9, rank - 0.5,
                      rank + 0.5, "interrupted rank (injected)");
    }
}

static hpcw_status draw_timeline(const struct gen_report *r, const struct log_profile *p, hpcw_error *err) {
    const bool given = r->from_s < r->to_s;
    const double from = given && r->from_s > p->begin ? r->from_s : p->begin;
    const double to = given && r->to_s < p->end ? r->to_s : p->end;
    if (from >= to) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: expected a window within %.9f to %.9f s, got %.9f to %.9f",
                           r->path, p->begin, p->end, r->from_s, r->to_s);
    }
    struct ui_page_place *place = hpcw_i_calloc((size_t)p->states * LOG_PLACES, sizeof *place);
    const char *event_name[LOG_MOST_STATES];
    size_t places = 0;
    if (place == NULL) {
        return hpcw_i_fail_memory(err, "report", p->states, "states");
    }
    for (uint32_t k = 0; k < p->states; k++) {
        const struct log_state *t = &p->state[p->order[k]];
        for (uint32_t i = 0; i < t->places; i++) {
            place[places++] =
                (struct ui_page_place){t->name, t->place[i].rank, t->place[i].from, t->place[i].to};
        }
    }
    for (uint32_t k = 0; k < LOG_MOST_STATES; k++) {
        event_name[k] = p->state[k].name;
    }
    const struct ui_page_layer layer[] = {
        {"time that others wait for the rank", UI_PAGE_SECONDS, &p->cause},
        {"time that the rank waits", UI_PAGE_SECONDS, &p->waiting},
        {"bytes that the rank sends", UI_PAGE_BYTES, &p->sent},
    };
    struct gen_areas areas = {0};
    mark_truth(r, p, &areas);
    struct ui_page_timeline chart = {
        .title = "The whole log",
        .caption =
            "Each cell has the colour of the state that took most of it. A click says what is there. Drag "
            "to move; after a click, the wheel zooms in time, with Shift in ranks. On the keyboard: arrows "
            "move, + and - zoom in time, i and o in ranks, 0 shows all, Enter says what is in the middle, "
            "Shift and arrows what is beside it. With fingers: two zoom.",
        .origin = UI_PAGE_READ,
        .timeline = &p->timeline,
        .name = p->name,
        .colour = p->colour,
        .from = from,
        .to = to,
        .layer = layer,
        .layers = sizeof layer / sizeof layer[0],
        .place = place,
        .places = places,
        .area = areas.area,
        .areas = areas.count,
        .event_name = event_name,
        .event_names = LOG_MOST_STATES,
    };
    if (p->detail != NULL) {
        const char *slash = strrchr(r->detail, '/');
        chart.folder = slash == NULL ? r->detail : slash + 1;
        chart.script = gen_report_detail_scripts(p->detail, &chart.scripts);
    }
    ui_page_timeline(r->page, &chart);
    gen_areas_free(&areas);
    hpcw_i_free(place);
    return HPCW_OK;
}

static void put_how(const struct gen_report *r, const struct log_profile *p) {
    struct ui_page *page = r->page;
    ui_page_heading(page, "How the event log was read");
    ui_page_begin(page, UI_PAGE_LIST);
    static const char *const item[] = {
        "The run lasts from the first begin of a state to the last end of one. The time of all ranks is this "
        "time for each of them.",
        "A state is a call of MPI if its name begins with MPI_. A rank that is in no state is computing, "
        "until its last state ends.",
        "A rank waits for a late sender from the begin of its receiving call to the begin of the send.",
        "A rank waits for a late receiver from the begin of its blocking send, or of MPI_Sendrecv, to the "
        "begin of the receive or of MPI_Irecv. So does a call of MPI_Wait or MPI_Waitall that completes sends: "
        "it waits from its begin for the last of their receives.",
        "A log does not say which requests a call completes. MPI_Waitall is taken to complete all sends, "
        "MPI_Wait the "
        "oldest one, and a receiving call the oldest MPI_Irecv. In a program that also has persistent receives "
        "it may "
        "be a later one; such waits may be too long.",
        "Time in MPI that is no wait is that of the calls themselves, or has no cause that the log shows.",
        "A rank waits in a collective call until the last rank of the communicator enters it. A rank that "
        "leaves before, as in MPI_Bcast, does not count.",
        "The critical path is followed backwards from the rank that ends last. At the end of a wait it goes on "
        "with the rank that was waited for.",
        "Times are those of the log. If clocks of hosts differ, waits between hosts are wrong by as much.",
    };
    for (size_t i = 0; i < sizeof item / sizeof item[0]; i++) {
        ui_page_begin(page, UI_PAGE_ITEM);
        ui_page_text(page, "%s", item[i]);
        ui_page_end(page);
    }
    if (p->threads > 1) {
        ui_page_begin(page, UI_PAGE_ITEM);
        ui_page_text(page, "Only the main thread of a rank counts, except in the table of states.");
        ui_page_end(page);
    }
    ui_page_end(page);
    ui_page_begin(page, UI_PAGE_FACTS);
    gen_report_fact(page, "Messages matched", UI_PAGE_COUNT, (double)p->waits.messages);
    gen_report_fact(page, "Sends and receives without the other end", UI_PAGE_COUNT,
                    (double)p->waits.unmatched);
    gen_report_fact(page, "Messages that arrive before they are sent", UI_PAGE_COUNT,
                    (double)p->waits.backward);
    gen_report_fact(page, "Collective calls", UI_PAGE_COUNT, (double)p->waits.collectives);
    gen_report_fact(page, "Collective calls that some rank does not enter", UI_PAGE_COUNT,
                    (double)p->waits.incomplete);
    ui_page_end(page);
}

static void put_about(const struct gen_report *r, const struct log_profile *p) {
    if (r->truth == NULL) {
        ui_page_about(r->page);
        ui_page_text(r->page, "The event log (CLOG-2) of a program on %u %s.", p->ranks,
                     p->ranks == 1 ? "rank" : "ranks");
        ui_page_end(r->page);
    }
    ui_page_heading(r->page, "Event log (CLOG-2)");
    if (r->warning->code != HPCW_OK) {
        ui_page_begin(r->page, UI_PAGE_PARAGRAPH);
        ui_page_text(r->page, "%s", r->warning->message);
        ui_page_end(r->page);
    }
    ui_page_begin(r->page, UI_PAGE_FACTS);
    gen_report_fact(r->page, "Ranks", UI_PAGE_COUNT, p->ranks);
    if (p->begin < p->end) {
        gen_report_fact(r->page, "First state begins", UI_PAGE_SECONDS, p->begin);
        gen_report_fact(r->page, "Last state ends", UI_PAGE_SECONDS, p->end);
    }
    ui_page_end(r->page);
}

static hpcw_status draw(const struct gen_report *r, struct log_profile *p, struct read_clog2 *reader,
                        hpcw_error *err) {
    put_about(r, p);
    if (!(p->begin < p->end)) {
        return HPCW_OK;
    }
    sort_states(p);
    hpcw_status s = read_waits(r, p, err);
    s = s == HPCW_OK ? read_timeline(r, p, reader, err) : s;
    if (s == HPCW_OK) {
        gen_report_log_find(r, p);
        s = draw_timeline(r, p, err);
    }
    if (s == HPCW_OK) {
        draw_groups(r, p);
        draw_states(r, p);
        s = gen_report_log_draw_waits(r, p, err);
    }
    if (s == HPCW_OK) {
        put_how(r, p);
    }
    return s;
}

hpcw_status gen_report_clog2(const struct gen_report *r, hpcw_error *err) {
    struct read_clog2 *reader;
    hpcw_status s = read_clog2_open(r->path, &reader, err);
    if (s != HPCW_OK) {
        return s;
    }
    struct log_profile *p = NULL;
    s = read_clog2_bound_ranks(reader, err);
    if (s != HPCW_OK) {
        goto done;
    }
    p = hpcw_i_calloc(1, sizeof *p);
    struct log_rank *rank = hpcw_i_calloc(read_clog2_info(reader)->ranks, sizeof *rank);
    if (p == NULL || rank == NULL) {
        hpcw_i_free(rank);
        s = hpcw_i_fail_memory(err, r->path, 0, NULL);
        goto done;
    }
    p->rank = rank;
    p->ranks = read_clog2_info(reader)->ranks;
    p->threads = read_clog2_info(reader)->threads;
    p->group_ranks = p->ranks / LOG_GROUPS + (p->ranks % LOG_GROUPS != 0);
    p->begin = INFINITY;
    s = read_clog2_watch(
        reader,
        &(struct read_clog2_watch){
            .context = p, .by_rank = true, .stretch = add_stretch, .state = add_state, .cases = p->cases},
        err);
    read_clog2_warn(reader, p->cases, r->warning);
    s = s == HPCW_OK ? draw(r, p, reader, err) : s;
    if (s == HPCW_OK && p->detail != NULL) {
        *r->made = p->detail;
    } else {
        gen_report_detail_free(p->detail);
    }
    ui_timeline_free(&p->timeline);
    ui_raster_free(&p->waiting);
    ui_raster_free(&p->cause);
    ui_raster_free(&p->sent);
    gen_waits_free(&p->waits);
    hpcw_i_free(p->rank);
done:
    hpcw_i_free(p);
    read_clog2_free(reader);
    return s;
}
