/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/fit/log/program/program.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gen/fit/log/program/course.h"
#include "gen/fit/log/program/machine.h"
#include "gen/fit/log/program/versions.h"
#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

/* Most calls held in memory. Each call needs 100 bytes. */
#define MOST_CALLS UINT64_C(20000000)

/* ---- roles ---- */

static bool have_one_role(const struct fit_program *p, uint32_t rank, uint32_t other) {
    const uint32_t ranks = p->history.ranks;
    return p->steps[rank].hash == p->steps[other].hash &&
           (!p->scales || fit_grid_place(p->grid, rank, ranks) == fit_grid_place(p->grid, other, ranks));
}

static hpcw_status add_to_role(struct fit_program *p, uint32_t rank, hpcw_error *err) {
    uint32_t role = 0;
    while (role < p->roles && !have_one_role(p, p->role[role].rank[0], rank)) {
        role++;
    }
    struct fit_role *r = &p->role[role];
    p->roles = role == p->roles ? role + 1 : p->roles;
    if ((r->ranks & (r->ranks - 1)) == 0) { /* the array is full: double it */
        uint32_t *grown = hpcw_i_realloc(r->rank, (r->ranks == 0 ? 1 : 2 * (size_t)r->ranks) * sizeof *grown);
        if (grown == NULL) {
            return hpcw_i_fail_memory(err, "fit", p->history.ranks, "ranks");
        }
        r->rank = grown;
    }
    r->rank[r->ranks++] = rank;
    p->role_of[rank] = role;
    return HPCW_OK;
}

/* Returns the last site (line of the text) in a node. Sites are numbered in the order of the text. */
static uint32_t last_site(const struct fit_tree *t, uint32_t node) {
    const struct fit_node *n = &t->node[node];
    while (n->number == FIT_LOOP) {
        n = &t->node[n->child[n->children - 1]];
    }
    return n->site;
}

static uint32_t first_site(const struct fit_tree *t, uint32_t node) {
    const struct fit_node *n = &t->node[node];
    while (n->number == FIT_LOOP) {
        n = &t->node[n->child[0]];
    }
    return n->site;
}

/* Returns the loop with the most calls in a list of nodes, if it has more than `least` calls; otherwise
 * FIT_LOOP. calls: number of calls at each site. *most: number of calls of the loop. */
static uint32_t longest_of(const struct fit_tree *t, const uint32_t *node, size_t count, const uint64_t *calls,
                           uint64_t least, uint64_t *most) {
    uint32_t longest = FIT_LOOP;
    *most = least;
    for (size_t i = 0; i < count; i++) {
        uint64_t sum = 0;
        for (uint32_t site = first_site(t, node[i]); site <= last_site(t, node[i]); site++) {
            sum += calls[site];
        }
        if (t->node[node[i]].number == FIT_LOOP && sum > *most) {
            *most = sum;
            longest = node[i];
        }
    }
    return longest;
}

/* If an inner loop has more than this share of the calls of an outer loop, its turns are the phases. */
#define NEARLY_ALL 0.9

/* Returns whether the turns of an inner loop may be the phases of a run, rather than parts of a phase. They may
 * if they are many. Unless p->outer, they also may if their number varies, or if the loop has nearly all calls of
 * the outer loop: then something such as a checkpoint interrupts the phases. share: its share of these calls. */
static bool may_be_phases(const struct fit_program *p, const struct fit_node *loop, double share) {
    return loop->turns[0] > FIT_FEW || (!p->outer && (!fit_turns_the_same(loop) || share > NEARLY_ALL));
}

static uint32_t total_turns(const struct fit_node *loop, uint32_t entries) {
    uint32_t sum = 0;
    for (size_t i = 0; i < entries; i++) {
        sum += loop->turns[i < loop->times ? i : loop->times - 1];
    }
    return sum;
}

/* Finds the main loop of a role. The search begins with the outermost loop that has the most calls. It goes on to
 * an inner loop that has more than half of these calls and whose turns may be phases. Also sets the numbers of
 * turns of the nested loops. */
static bool find_loop(const struct fit_program *p, struct fit_role *r, const struct fit_place *place) {
    const struct fit_steps *s = &p->steps[r->rank[0]];
    uint64_t *calls = hpcw_i_calloc(r->tree.sites + (size_t)1, sizeof *calls);
    uint64_t most = 0;
    uint32_t entries = 1;
    bool phases = true;
    r->loop = FIT_LOOP;
    r->nests = 0;
    for (size_t i = 0; calls != NULL && i < s->count; i++) {
        calls[place[i].site] += s->step[i].calls;
    }
    uint32_t loop = calls == NULL ? FIT_LOOP : longest_of(&r->tree, r->tree.top, r->tree.tops, calls, 0, &most);
    double share = 1;
    while (loop != FIT_LOOP && (phases || r->nests < FIT_NEST)) {
        const struct fit_node *n = &r->tree.node[loop];
        const uint64_t all = most;
        entries = total_turns(n, entries);
        phases = phases && (r->loop == FIT_LOOP || may_be_phases(p, n, share));
        r->loop = phases ? loop : r->loop;
        if (r->nests < FIT_NEST) {
            r->nest[r->nests++] = entries;
        }
        loop = longest_of(&r->tree, n->child, n->children, calls, all / 2, &most);
        share = (double)most / (double)all;
    }
    hpcw_i_free(calls);
    return calls != NULL;
}

/* ---- times ---- */

struct timing {
    struct fit_program *p;
    uint32_t versions; /* see fit_program_fold */
    uint32_t *serial;  /* [comms] */
};

static uint32_t levels_of(uint32_t size) {
    uint32_t levels = 0;
    while ((UINT32_C(1) << levels) < size && levels < 31) {
        levels++;
    }
    return levels;
}

/* Returns when the receive of a message was posted, seconds; NaN: the log does not show it. */
static double posted_at(const struct fit_program *p, uint32_t rank, const struct fit_end *sent) {
    const struct fit_rank *to = &p->history.rank[sent->peer];
    const size_t c = fit_call_at(to, sent->other);
    const uint32_t ends = c == SIZE_MAX ? 0 : to->call[c].ends;
    for (uint32_t i = 0; i < ends; i++) {
        const uint32_t e = to->call[c].first + i;
        if (!to->end[e].send && to->end[e].peer == rank && to->end[e].other == sent->time) {
            return p->steps[sent->peer].posted[e];
        }
    }
    return NAN;
}

/* Returns the time at which the simulator would end a call, if it began at the same time as in the log;
 * seconds. */
static double least_end(struct timing *t, uint32_t rank, const struct fit_step *step,
                        const struct fit_call *call) {
    const struct fit_machine *m = &t->p->machine;
    const struct fit_rank *of = &t->p->history.rank[rank];
    double end = call->begin + 5e-8; /* SIM_CALL */
    if (step->verb == FIT_MEET || step->verb == FIT_SPLIT) {
        uint32_t place;
        const uint32_t comm = fit_comm_of(&t->p->history, rank, step, &place);
        const struct fit_meetings *g = &t->p->meetings[comm];
        const double bytes = step->verb == FIT_MEET ? t->p->steps[rank].item[step->first].bytes : 8;
        if (place < g->size) {
            const enum sim_call as = step->verb == FIT_MEET ? (enum sim_call)step->call : SIM_CALL_ALLGATHER;
            end = fmax(end, fit_meetings_wait(g, t->serial[comm], place, as)) +
                  levels_of(g->size) * (m->latency + bytes / m->rate);
        }
        t->serial[comm]++;
        return end;
    }
    for (uint32_t e = call->first; e < call->first + call->ends; e++) {
        const struct fit_end *message = &of->end[e];
        const double flight = m->latency + message->bytes / m->rate;
        if (!message->send) {
            end = fmax(end, message->other + flight);
        } else if (step->verb == FIT_SENDRECV && m->eager > 0 && message->bytes > m->eager) {
            end = fmax(end, fmax(call->begin, posted_at(t->p, rank, message)) + flight);
        } else if (step->verb == FIT_SEND && message->bytes > m->eager) {
            /* The receive counts as posted when the send begins. If the time at which it was posted counted, more
             * rows of the recorded LU and MG would differ. */
            end = fmax(end, call->begin + flight);
        } else {
            end = fmax(end, call->begin + m->latency / 4);
        }
    }
    return end;
}

static bool add_times(struct timing *t, struct fit_role *r, uint32_t member, const struct fit_place *place) {
    const uint32_t rank = r->rank[member];
    const struct fit_steps *s = &t->p->steps[rank];
    const struct fit_call *call = t->p->history.rank[rank].call;
    bool good = true;
    double last = t->p->history.begin;
    fit_serial_clear(&t->p->history, rank, s, t->serial);
    for (size_t i = 0; good && i < s->count; i++) {
        const struct fit_step *step = &s->step[i];
        struct fit_site *at = &r->site[place[i].site];
        struct fit_time time = {.member = member, .turn = place[i].turn, .part = place[i].part};
        for (uint32_t k = 0; good && k < step->calls; k++) {
            const struct fit_call *c = &call[step->call_index + k];
            time.first = k == 0 && place[i].turn > 0 && (i == 0 || place[i - 1].turn != place[i].turn);
            time.value = c->begin - last;
            good = fit_draws_add(k == 0 ? &at->gap : &at->between, time);
            time.value = c->end - (step->verb == FIT_OTHER ? c->begin : least_end(t, rank, step, c));
            good = good && fit_draws_add(&at->rest, time);
            last = c->end;
        }
    }
    return good;
}

/* The members of a role get factors if their times differ by more than this share of the run's length. */
#define LEAST_SHARE 1e-3

/* A step is minor if it takes less than MINOR_SHARE of the run and has less than FEW_SHARE of the times of its
 * role. A minor step only keeps the mean of its times. All minor steps share one distribution. */
#define MINOR_SHARE 2e-3
#define FEW_SHARE 0.02

/* If a step is minor, divides its times by their mean and moves them to `all`, the times of all minor steps. least,
 * few: limits of a minor step's seconds and number of times. */
static bool pool(struct fit_draws *d, struct fit_draws *all, double least, double few) {
    bool good = true;
    if (d->count == 0 || d->sum > least || (double)d->count > few) {
        return good;
    }
    const double mean = d->sum / (double)d->count;
    for (size_t i = 0; good && mean > 0 && i < d->count; i++) {
        d->time[i].value /= mean;
        good = fit_draws_add(all, d->time[i]);
    }
    fit_draws_free(d);
    d->mean = mean;
    return good;
}

static bool pool_minor(const struct fit_program *p, struct fit_role *r) {
    const double least = MINOR_SHARE * (p->history.end - p->history.begin) * r->ranks;
    const double few = fmax(100, FEW_SHARE * (double)p->steps[r->rank[0]].count * r->ranks);
    struct fit_site *minor = &r->site[r->tree.sites];
    bool good = true;
    for (uint32_t i = 0; good && i < r->tree.sites; i++) {
        struct fit_site *s = &r->site[i];
        good = pool(&s->gap, &minor->gap, least, few) && pool(&s->between, &minor->between, least, few) &&
               pool(&s->rest, &minor->rest, least, few);
    }
    return good;
}

static bool learn_times(const struct fit_program *p, struct fit_role *r) {
    const double least = LEAST_SHARE * (p->history.end - p->history.begin);
    bool good = true;
    for (uint32_t i = 0; good && i <= r->tree.sites; i++) {
        struct fit_draws *of[] = {&r->site[i].gap, &r->site[i].between, &r->site[i].rest};
        for (size_t k = 0; good && k < 3; k++) {
            /* Times that follow the course were already divided by the factors of their members. */
            good = i == r->tree.sites || of[k]->follows || fit_draws_members(of[k], r->ranks, least);
            if (i < r->tree.sites && k < 2) {
                fit_draws_compare(of[k], r->ranks);
            }
            fit_draws_learn(of[k]);
        }
    }
    return good;
}

/* ---- roles and their times ---- */

static void free_sites(struct fit_role *r) {
    for (uint32_t i = 0; r->site != NULL && i <= r->tree.sites; i++) {
        fit_draws_free(&r->site[i].gap);
        fit_draws_free(&r->site[i].between);
        fit_draws_free(&r->site[i].rest);
    }
    hpcw_i_free(r->site);
    r->site = NULL;
}

static hpcw_status place_times(struct timing *t, struct fit_role *r, struct fit_place *place, hpcw_error *err) {
    struct fit_program *p = t->p;
    const struct fit_steps *s = &p->steps[r->rank[0]];
    hpcw_status status = fit_tree_places(&r->tree, FIT_LOOP, place, s->count, err);
    if (status != HPCW_OK) {
        return status;
    }
    bool good = find_loop(p, r, place);
    status = fit_tree_places(&r->tree, r->loop, place, s->count, err);
    r->site = hpcw_i_calloc(r->tree.sites + (size_t)1, sizeof *r->site);
    good = good && r->site != NULL;
    r->turns = 1;
    for (size_t i = 0; status == HPCW_OK && good && i < s->count; i++) {
        r->site[place[i].site].inner = place[i].inner;
        r->turns = place[i].turn > r->turns ? place[i].turn : r->turns;
    }
    for (uint32_t m = 0; status == HPCW_OK && good && m < r->ranks; m++) {
        good = add_times(t, r, m, place);
    }
    return good ? status : hpcw_i_fail_memory(err, "fit", s->count, "steps");
}

/* Returns whether the times in different turns of an inner loop differ by more than chance. */
static bool parts_differ(const struct fit_draws *d, double least) {
    double sum[FIT_FEW] = {0}, squares[FIT_FEW] = {0}, n[FIT_FEW] = {0};
    if (d->sum <= least) {
        return false;
    }
    for (size_t k = 0; k < d->count; k++) {
        const struct fit_time *time = &d->time[k];
        sum[time->part] += time->value;
        squares[time->part] += time->value * time->value;
        n[time->part]++;
    }
    const double whole = d->sum / (double)d->count;
    double between = 0, chance = 0;
    for (size_t part = 0; part < FIT_FEW; part++) {
        if (n[part] > 0) {
            const double mean = sum[part] / n[part];
            between += (mean - whole) * (mean - whole);
            chance += fmax(0, squares[part] / n[part] - mean * mean) / n[part];
        }
    }
    return between > 2 * chance && between > 0.01 * whole * whole;
}

static bool contains(const struct fit_tree *t, uint32_t loop, uint32_t other) {
    const struct fit_node *n = &t->node[loop];
    bool found = false;
    for (size_t i = 0; n->number == FIT_LOOP && !found && i < n->children; i++) {
        found = n->child[i] == other || contains(t, n->child[i], other);
    }
    return found;
}

/* Returns an inner loop to unroll: the times of its turns differ by more than chance. FIT_LOOP: there is none. */
static uint32_t find_uneven(const struct fit_program *p, const struct fit_role *r) {
    const double least = MINOR_SHARE * (p->history.end - p->history.begin) * r->ranks;
    for (uint32_t i = 0; i < r->tree.sites; i++) {
        const struct fit_site *s = &r->site[i];
        if (s->inner == FIT_LOOP || !(parts_differ(&s->gap, least) || parts_differ(&s->rest, least))) {
            continue;
        }
        if (!contains(&r->tree, s->inner, r->loop) && fit_tree_is_plain(&r->tree, s->inner)) {
            return s->inner;
        }
    }
    return FIT_LOOP;
}

/* ---- folding ---- */

/* MOST_UNROLLED: most loops that are unrolled. MOST_ROLES: most roles; each role is a function of the text. */
enum { MOST_UNROLLED = 64, MOST_ROLES = 256 };

static hpcw_status fold_role(struct timing *t, struct fit_role *r, hpcw_error *err) {
    const struct fit_steps *s = &t->p->steps[r->rank[0]];
    struct fit_place *place = hpcw_i_malloc((s->count + 1) * sizeof *place);
    bool good = place != NULL;
    hpcw_status status = !good ? HPCW_OK : fit_fold(s->number, s->count, &r->tree, err);
    status = status == HPCW_OK && good ? place_times(t, r, place, err) : status;
    /* If the text is for other numbers of ranks, no loop is unrolled: times of few ranks would decide which
     * loops are. */
    for (int i = 0; status == HPCW_OK && good && i < MOST_UNROLLED && !t->p->scales; i++) {
        const uint32_t loop = find_uneven(t->p, r);
        if (loop == FIT_LOOP) {
            break;
        }
        free_sites(r);
        good = fit_tree_unroll(&r->tree, loop);
        status = good ? place_times(t, r, place, err) : status;
    }
    good = good && (status != HPCW_OK || t->versions == 0 || fit_versions_number(t->p, r, place, t->versions));
    good = good && (status != HPCW_OK || pool_minor(t->p, r));
    hpcw_i_free(place);
    return good ? status : hpcw_i_fail_memory(err, "fit", s->count, "steps");
}

/* ---- all ---- */

static void free_roles(struct fit_program *p) {
    for (uint32_t r = 0; p->role != NULL && r < p->roles; r++) {
        struct fit_role *role = &p->role[r];
        hpcw_i_free(role->lucks);
        free_sites(role);
        hpcw_i_free(role->rank);
        fit_tree_free(&role->tree);
        *role = (struct fit_role){0};
    }
    p->roles = 0;
}

static hpcw_status make_steps(struct fit_program *p, hpcw_error *err) {
    const uint32_t ranks = p->history.ranks;
    p->steps = hpcw_i_calloc(ranks, sizeof *p->steps);
    p->role = hpcw_i_calloc(ranks, sizeof *p->role);
    p->role_of = hpcw_i_calloc(ranks, sizeof *p->role_of);
    p->lack = hpcw_i_calloc(p->history.names + 1, sizeof *p->lack);
    if (p->lack == NULL || p->steps == NULL || p->role == NULL || p->role_of == NULL) {
        return hpcw_i_fail_memory(err, "fit", ranks, "ranks");
    }
    hpcw_status s = HPCW_OK;
    for (uint32_t r = 0; s == HPCW_OK && r < ranks; r++) {
        s = fit_steps_make(&p->history, r, &p->steps[r], p->lack, err);
    }
    return s == HPCW_OK ? fit_meetings_find(&p->history, p->steps, &p->meetings, err) : s;
}

hpcw_status fit_program_read(const char *path, struct fit_program *p, hpcw_error *err) {
    *p = (struct fit_program){0};
    hpcw_status s = fit_history_read(path, MOST_CALLS, &p->history, err);
    s = s == HPCW_OK ? make_steps(p, err) : s;
    if (s == HPCW_OK && !(fit_machine_learn(p))) {
        s = hpcw_i_fail_memory(err, "fit", p->history.messages, "messages");
    }
    return s;
}

hpcw_status fit_program_fold(struct fit_program *p, uint32_t versions, hpcw_error *err) {
    struct timing t = {.p = p, .versions = versions};
    t.serial = hpcw_i_calloc(p->history.comms, sizeof *t.serial);
    hpcw_status s =
        t.serial == NULL ? hpcw_i_fail_memory(err, "fit", p->history.comms, "communicators") : HPCW_OK;
    free_roles(p);
    for (uint32_t r = 0; s == HPCW_OK && r < p->history.ranks; r++) {
        s = fit_steps_number(&p->steps[r], versions > 0, err);
        s = s == HPCW_OK ? add_to_role(p, r, err) : s;
    }
    if (s == HPCW_OK && p->roles > MOST_ROLES) {
        s = hpcw_i_fail(err, HPCW_EINVAL, "%s: expected ranks of at most %d roles, got %" PRIu32,
                        p->history.path, MOST_ROLES, p->roles);
    }
    for (uint32_t r = 0; s == HPCW_OK && r < p->roles; r++) {
        s = fold_role(&t, &p->role[r], err);
    }
    p->phases = s == HPCW_OK ? p->role[0].turns : 1;
    for (uint32_t r = 1; s == HPCW_OK && r < p->roles; r++) {
        p->phases = p->role[r].turns == p->phases ? p->phases : 1;
    }
    p->nests = 0;
    for (bool equal = s == HPCW_OK; equal && p->nests < p->role[0].nests;) {
        const uint32_t turns = p->role[0].nest[p->nests];
        for (uint32_t r = 1; r < p->roles; r++) {
            equal = equal && p->nests < p->role[r].nests && p->role[r].nest[p->nests] == turns;
        }
        if (equal) {
            p->nest[p->nests++] = turns;
        }
    }
    p->course = (struct fit_course){0};
    bool good = s != HPCW_OK || p->phases == 1 ||
                fit_course_learn(p, LEAST_SHARE * (p->history.end - p->history.begin));
    for (uint32_t r = 0; s == HPCW_OK && good && r < p->roles; r++) {
        good = learn_times(p, &p->role[r]);
    }
    s = good ? s : hpcw_i_fail_memory(err, "fit", p->history.calls, "calls");
    hpcw_i_free(t.serial);
    return s;
}

void fit_program_free(struct fit_program *p) {
    free_roles(p);
    for (uint32_t r = 0; p->steps != NULL && r < p->history.ranks; r++) {
        fit_steps_free(&p->steps[r]);
    }
    fit_meetings_free(p->meetings, p->history.comms);
    hpcw_i_free(p->role);
    hpcw_i_free(p->role_of);
    hpcw_i_free(p->lack);
    hpcw_i_free(p->steps);
    fit_history_free(&p->history);
    *p = (struct fit_program){0};
}
