/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/fit/log/program/course.h"

#include <math.h>

#include "gen/fit/sketch.h"
#include "libwriter/base/mem.h"

/* Returns whether d has the times before calls inside the main loop, and not only the mean of these times. */
static bool is_long(const struct fit_draws *d) {
    return d->count > 0 && d->points == 0 && d->mean == 0 && d->time[d->count - 1].turn > 0;
}

/* Removes the times before the first turn of the main loop. Sets d->first to the mean of the removed times. */
static void take_first(struct fit_draws *d) {
    size_t kept = 0, firsts = 0;
    for (size_t k = 0; k < d->count; k++) {
        if (d->time[k].turn > 0) {
            d->time[kept++] = d->time[k];
        } else {
            d->first += d->time[k].value;
            d->sum -= d->time[k].value;
            firsts++;
        }
    }
    d->count = kept;
    d->first /= firsts > 0 ? (double)firsts : 1;
}

static uint32_t group_of(const struct fit_course *c, uint32_t turn) {
    return (turn - 1) / c->width;
}

/* ---- the course ---- */

/* Computes the course of the run, a factor for each group of turns, from the times before calls. all: false,
 * leaves out the times before the first step of a turn. Returns false if there are no times. */
static bool add_up(struct fit_program *p, bool all) {
    struct fit_course *c = &p->course;
    double sum = 0;
    *c = (struct fit_course){.turns = p->phases, .width = (p->phases + FIT_MOST_COURSE - 1) / FIT_MOST_COURSE};
    c->groups = (c->turns + c->width - 1) / c->width;
    for (uint32_t r = 0; r < p->roles; r++) {
        for (uint32_t i = 0; i < p->role[r].tree.sites; i++) {
            const struct fit_draws *d = &p->role[r].site[i].gap;
            for (size_t k = 0; is_long(d) && k < d->count; k++) {
                if (all || !d->time[k].first) {
                    c->factor[group_of(c, d->time[k].turn)] += d->time[k].value;
                    sum += d->time[k].value;
                }
            }
        }
    }
    for (uint32_t turn = 1; sum > 0 && turn <= c->turns; turn += c->width) {
        const uint32_t left = c->turns + 1 - turn;
        const double share = (double)(left < c->width ? left : c->width) / c->turns;
        c->factor[group_of(c, turn)] /= sum * share;
    }
    return sum > 0;
}

/* Returns the spread of the times before the first step of a turn, each divided by the course's factor of a
 * turn. before: 0, the factor of the same turn; 1, that of the previous turn. */
static double spread_of_firsts(const struct fit_program *p, const struct fit_role *r, uint32_t before) {
    double spread = 0;
    for (uint32_t i = 0; i < r->tree.sites; i++) {
        const struct fit_draws *d = &r->site[i].gap;
        double sum = 0, squares = 0, count = 0;
        for (size_t k = 0; is_long(d) && k < d->count; k++) {
            if (d->time[k].first && d->time[k].turn > 1) {
                const double factor = p->course.factor[group_of(&p->course, d->time[k].turn - before)];
                const double value = d->time[k].value / fmax(factor, 1e-6);
                sum += value;
                squares += value * value;
                count++;
            }
        }
        spread += sum > 0 ? squares * count / (sum * sum) : 0;
    }
    return spread;
}

/* Decides whether the time before the first step of a turn belongs to this turn or to the previous one, which a
 * log does not show. The choice with the smaller spread is taken. */
static void begin_turns(struct fit_program *p) {
    if (!add_up(p, false)) {
        return;
    }
    for (uint32_t r = 0; r < p->roles; r++) {
        struct fit_role *role = &p->role[r];
        /* If the first step is a loop itself, the time before it stays in the turn. */
        role->late = role->tree.node[role->tree.node[role->loop].child[0]].number != FIT_LOOP &&
                     spread_of_firsts(p, role, 1) < spread_of_firsts(p, role, 0);
        for (uint32_t i = 0; role->late && i < role->tree.sites; i++) {
            struct fit_draws *d = &role->site[i].gap;
            for (size_t k = 0; is_long(d) && k < d->count; k++) {
                d->time[k].turn -= d->time[k].first;
            }
            if (is_long(d)) {
                take_first(d);
            }
        }
    }
}

/* Returns the variance of the times divided by the square of their mean. Each time is divided by the factor of its
 * turn; NULL: not divided. */
static double variance(const struct fit_course *c, const struct fit_draws *d, const double *factor) {
    double sum = 0, squares = 0;
    for (size_t k = 0; k < d->count; k++) {
        const double over = factor != NULL ? fmax(factor[group_of(c, d->time[k].turn)], 1e-6) : 1;
        const double value = d->time[k].value / over;
        sum += value;
        squares += value * value;
    }
    return sum > 0 ? squares * (double)d->count / (sum * sum) - 1 : 0;
}

/* Computes the course of one step: a factor for each group of turns. Returns NULL if a group has fewer than
 * FIT_LEAST_VALUES times or, with *good = false, when memory runs out. */
static double *course_of(const struct fit_course *c, const struct fit_draws *d, bool *good) {
    double *factor = hpcw_i_calloc(c->groups, sizeof *factor);
    uint32_t *count = hpcw_i_calloc(c->groups, sizeof *count);
    *good = factor != NULL && count != NULL;
    bool enough = *good && d->sum > 0;
    for (size_t k = 0; enough && k < d->count; k++) {
        factor[group_of(c, d->time[k].turn)] += d->time[k].value;
        count[group_of(c, d->time[k].turn)]++;
    }
    for (uint32_t g = 0; enough && g < c->groups; g++) {
        enough = count[g] >= FIT_LEAST_VALUES;
        factor[g] /= d->sum / (double)d->count * (count[g] > 0 ? count[g] : 1);
    }
    hpcw_i_free(count);
    if (!enough) {
        hpcw_i_free(factor);
        factor = NULL;
    }
    return factor;
}

/* Chooses the course of a step: the common course of all steps, the step's own, or none. The own course must
 * leave less than half of the variance that the others leave. */
static bool choose_course(const struct fit_course *c, struct fit_draws *d) {
    bool good;
    double *own = course_of(c, d, &good);
    const double common = variance(c, d, c->factor), none = variance(c, d, NULL);
    if (own != NULL && variance(c, d, own) < fmin(common, none) / 2) {
        d->course = own;
        d->follows = true;
        return good;
    }
    hpcw_i_free(own);
    d->follows = common < none;
    return good;
}

/* ---- luck ---- */

static size_t column_of(const struct fit_program *p, const struct fit_time *t) {
    return t->member * (size_t)p->course.groups + group_of(&p->course, t->turn);
}

/* Adds up the seconds of each rank in each group of turns: as measured, and as expected. */
static void add_steps(const struct fit_program *p, const struct fit_role *r, double *took, double *expected) {
    for (uint32_t i = 0; i < r->tree.sites; i++) {
        const struct fit_draws *d = &r->site[i].gap;
        for (size_t k = 0; d->follows && k < d->count; k++) {
            const struct fit_time *t = &d->time[k];
            const size_t at = column_of(p, t);
            const double factor = d->factor != NULL ? d->factor[t->member] : 1;
            took[at] += t->value * factor;
            expected[at] += d->sum / (double)d->count * factor;
        }
    }
}

/* Returns the spread of ln(time) in a role, around the mean of each step. Times are divided by luck, the factor
 * of their rank and turn; NULL: not divided. */
static double spread_of(const struct fit_program *p, const struct fit_role *r, const double *lucks) {
    double spread = 0;
    for (uint32_t i = 0; i < r->tree.sites; i++) {
        const struct fit_draws *d = &r->site[i].gap;
        double sum = 0, squares = 0;
        for (size_t k = 0; d->follows && k < d->count; k++) {
            const struct fit_time *t = &d->time[k];
            const double luck = lucks != NULL ? fmax(1e-6, lucks[column_of(p, t)]) : 1;
            const double ln = gen_fit_ln(fmax(1e-9, t->value) / luck);
            sum += ln;
            squares += ln * ln;
        }
        spread += d->count > 0 ? squares - sum * sum / (double)d->count : 0;
    }
    return spread;
}

static void take_out(const struct fit_program *p, struct fit_role *r, const double *lucks) {
    for (uint32_t i = 0; i < r->tree.sites; i++) {
        struct fit_draws *d = &r->site[i].gap;
        for (size_t k = 0; d->follows && k < d->count; k++) {
            struct fit_time *t = &d->time[k];
            const double luck = lucks[column_of(p, t)];
            t->value = luck > 0 ? t->value / luck : d->sum / (double)d->count;
        }
    }
}

/* Learns luck, the factor of a rank's times in each group of turns. A large run has no luck, since the text would
 * have a line for each rank. */
static bool learn_luck(const struct fit_program *p, struct fit_role *r) {
    const size_t cells = r->ranks * (size_t)p->course.groups;
    if ((uint64_t)p->history.ranks * p->course.groups > FIT_MOST_LUCKS) {
        return true;
    }
    double *took = hpcw_i_calloc(cells, sizeof *took);
    double *expected = hpcw_i_calloc(cells, sizeof *expected);
    const bool good = took != NULL && expected != NULL;
    if (good) {
        add_steps(p, r, took, expected);
    }
    for (size_t at = 0; good && at < cells; at++) {
        took[at] = expected[at] > 0 ? took[at] / expected[at] : 1;
    }
    if (good && spread_of(p, r, took) < spread_of(p, r, NULL)) {
        take_out(p, r, took);
        r->lucks = took;
        took = NULL;
    }
    hpcw_i_free(took);
    hpcw_i_free(expected);
    return good;
}

bool fit_course_learn(struct fit_program *p, double least) {
    bool good = true;
    for (uint32_t r = 0; r < p->roles; r++) {
        for (uint32_t i = 0; i < p->role[r].tree.sites; i++) {
            if (is_long(&p->role[r].site[i].gap)) {
                take_first(&p->role[r].site[i].gap);
            }
        }
    }
    begin_turns(p);
    if (!add_up(p, true)) {
        p->course.turns = 0;
    }
    for (uint32_t r = 0; good && p->course.turns > 0 && r < p->roles; r++) {
        struct fit_role *role = &p->role[r];
        for (uint32_t i = 0; good && i < role->tree.sites; i++) {
            struct fit_draws *d = &role->site[i].gap;
            if (!is_long(d)) {
                continue;
            }
            good = choose_course(&p->course, d);
            if (!d->follows) {
                continue;
            }
            const double *factor = d->course != NULL ? d->course : p->course.factor;
            d->sum = 0;
            for (size_t k = 0; k < d->count; k++) {
                d->time[k].value /= fmax(factor[group_of(&p->course, d->time[k].turn)], 1e-6);
                d->sum += d->time[k].value;
            }
            good = good && fit_draws_members(d, role->ranks, least);
        }
        good = good && learn_luck(p, role);
    }
    return good;
}
