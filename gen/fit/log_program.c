/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/fit/log_program.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/fit/pairs.h"
#include "gen/model/draw/grid.h"
#include "gen/model/trace/script.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

/* Iterations that the times are learned from; kinds of what some iterations have more; and how many have it, at least. */
enum { MOST_SAMPLES = 1000, MOST_EXTRAS = 4, LEAST_EXTRAS = 4, TRACKS = GEN_FIT_LOG_TRACKS };

/* As many iterations as have the same calls, at least. */
static const double least_share = 0.5;

/* What is shorter is the pause before a call; and by how much rank 0 works longer than others, at least; nanoseconds. */
static const double pause_ns = 300, root_ns = 5000;

/* What some iterations have more, before an item of the others, as the first of them has it. */
struct program_extra {
    size_t before;
    uint64_t hash;
    uint32_t times, last, step; /* a step of 0: irregular */
    struct gen_fit_log_items items;
};

struct program_loop {
    const struct gen_fit_log_calls *calls;
    uint32_t side[3];
    uint32_t iterations;
    uint32_t track; /* whose program it is */
    size_t *begin
        [TRACKS]; /* [iterations + 3] the first call of an iteration, from 1 on; 0: before it; one more: after it */
    uint64_t *hash[TRACKS]; /* [iterations] */
    size_t loop[TRACKS];    /* the first call of the loop, */
    uint32_t first[TRACKS]; /* in this iteration */
    size_t calls_usual;     /* of an iteration */
    uint64_t usual;         /* the hash of most iterations, */
    uint32_t as_usual;      /* of so many */
    struct gen_fit_log_items items, other, part;
    double pauses_ms; /* in an iteration of the twin, besides the work, about */
    double *gap;      /* [MOST_SAMPLES * TRACKS + 1] */
    uint32_t extras;
    struct program_extra extra[MOST_EXTRAS];
};

/* ---- the usual iteration ---- */

static bool divide_track(struct program_loop *l, uint32_t t) {
    const struct gen_fit_log_track *track = &l->calls->track[t];
    size_t at = 0;
    l->begin[t] = hpcw_i_calloc((size_t)l->iterations + 3, sizeof *l->begin[t]);
    l->hash[t] = hpcw_i_calloc(l->iterations, sizeof *l->hash[t]);
    if (l->begin[t] == NULL || l->hash[t] == NULL) {
        return false;
    }
    for (uint32_t k = 0; k <= l->iterations + 1; k++) {
        l->begin[t][k] = at;
        while (at < track->calls && (k > l->iterations || track->call[at].iteration <= k)) {
            at++;
        }
    }
    l->begin[t][l->iterations + 2] = at;
    return true;
}

/* Iteration k, from 1 on. */
static void items_of(const struct program_loop *l, uint32_t t, uint32_t k, struct gen_fit_log_items *items) {
    gen_fit_log_items_of(l->calls, t, l->begin[t][k], l->begin[t][k + 1], l->side, true, true, items);
}

static int by_value(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static hpcw_status find_usual(struct program_loop *l, hpcw_error *err) {
    const uint64_t *hash = l->hash[l->track];
    uint64_t *sorted = hpcw_i_malloc(l->iterations * sizeof *sorted);
    if (sorted == NULL) {
        return hpcw_i_fail_memory(err, NULL, l->iterations, "iterations");
    }
    memcpy(sorted, hash, l->iterations * sizeof *sorted);
    qsort(sorted, l->iterations, sizeof *sorted, by_value);
    l->as_usual = 0;
    for (uint32_t k = 0, same = 0; k < l->iterations; k++) {
        same = k > 0 && sorted[k] == sorted[k - 1] ? same + 1 : 1;
        if (same > l->as_usual) {
            l->as_usual = same;
            l->usual = sorted[k];
        }
    }
    hpcw_i_free(sorted);
    uint32_t first = 0;
    while (hash[first] != l->usual) {
        first++;
    }
    items_of(l, l->track, first + 1, &l->items);
    l->calls_usual = l->begin[l->track][first + 2] - l->begin[l->track][first + 1];
    return HPCW_OK;
}

static void join_tags(int32_t *tag, int32_t other) {
    *tag = *tag == other || other == GEN_FIT_LOG_NO_TAG ? *tag
           : *tag == GEN_FIT_LOG_NO_TAG                 ? other
                                                        : GEN_FIT_LOG_MANY_TAGS;
}

/* The median of an item's gap, and its mean bytes, over usual iterations of all tracks. */
static void learn_item(struct program_loop *l, size_t item) {
    struct gen_fit_log_item *to = &l->items.item[item];
    const uint32_t step = 1 + l->iterations / MOST_SAMPLES;
    size_t n = 0;
    double bytes = 0, sizes = 0;
    for (uint32_t t = 0; t < l->calls->tracks; t++) {
        for (uint32_t k = 0; k < l->iterations; k += step) {
            if (l->hash[t][k] != l->usual) {
                continue;
            }
            items_of(l, t, k + 1, &l->other);
            const struct gen_fit_log_item *one = &l->other.item[item];
            const bool moves = one->messages > 0 || one->kind == MODEL_TRACE_CALL_COLLECTIVE;
            l->gap[n++] = one->gap;
            bytes += moves ? one->bytes : 0;
            sizes += moves;
            join_tags(&to->tag, one->tag);
            to->directions |= one->kind == MODEL_TRACE_CALL_SENDS ? one->directions : 0;
        }
    }
    qsort(l->gap, n, sizeof *l->gap, by_size);
    to->gap = n > 0 ? l->gap[n / 2] : 0;
    to->bytes = sizes > 0 ? bytes / sizes : 0;
}

/* ---- what some iterations have more ---- */

/* Whether an iteration has all the usual items, and more in one place: before which of them. */
static bool has_more_items(const struct gen_fit_log_items *usual, const struct gen_fit_log_items *here,
                           size_t *before) {
    size_t after = 0;
    while (
        after < usual->count && after < here->count &&
        gen_fit_log_items_same(&usual->item[usual->count - 1 - after], &here->item[here->count - 1 - after])) {
        after++;
    }
    *before = 0;
    while (*before + after < usual->count && *before + after < here->count &&
           gen_fit_log_items_same(&usual->item[*before], &here->item[*before])) {
        ++*before;
    }
    return *before + after == usual->count && here->count > usual->count;
}

static void add_extra(struct program_loop *l, uint32_t k) {
    const struct gen_fit_log_items *usual = &l->items, *here = &l->other;
    size_t before;
    if (!has_more_items(usual, here, &before)) {
        return;
    }
    l->part.count = here->count - usual->count;
    memcpy(l->part.item, here->item + before, l->part.count * sizeof l->part.item[0]);
    const uint64_t hash = gen_fit_log_items_hash(&l->part);
    uint32_t e = 0;
    while (e < l->extras && (l->extra[e].hash != hash || l->extra[e].before != before)) {
        e++;
    }
    if (e == MOST_EXTRAS) {
        return;
    }
    struct program_extra *x = &l->extra[e];
    if (e == l->extras) {
        l->extras++;
        *x = (struct program_extra){.before = before, .hash = hash};
        memcpy(&x->items, &l->part, sizeof x->items);
    } else {
        x->step = x->times == 1 || x->step == k - x->last ? k - x->last : 0;
    }
    x->times++;
    x->last = k;
}

static void find_extras(struct program_loop *l) {
    l->extras = 0;
    for (uint32_t k = 0; k < l->iterations; k++) {
        if (l->hash[l->track][k] != l->usual) {
            items_of(l, l->track, k + 1, &l->other);
            add_extra(l, k);
        }
    }
}

/* Where the loop begins: what comes before the first iteration belongs to it if it is no usual one, too. The first iteration
 * was found by its end, so it may have more at its begin. */
static void find_begin(struct program_loop *l, uint32_t t) {
    enum { FEW = 3 };
    const size_t usual_begin = l->begin[t][2] > l->calls_usual ? l->begin[t][2] - l->calls_usual : 0;
    l->loop[t] = l->begin[t][1];
    if (l->calls->ranks >= GEN_FIT_LEAST_VALUES) { /* what phase 0 takes is learned */
        l->loop[t] = usual_begin > l->loop[t] ? usual_begin : l->loop[t];
        l->first[t] = 1;
        return;
    }
    for (uint32_t k = 0; k < FEW && k < l->iterations; k++) {
        size_t before = 0;
        items_of(l, t, k + 1, &l->other);
        const bool usual = l->hash[t][k] == l->usual;
        if (usual || has_more_items(&l->items, &l->other, &before)) {
            const size_t calls = l->begin[t][k + 2] - l->begin[t][k + 1];
            const bool late = !usual && before == 0 && calls > l->calls_usual;
            l->loop[t] = late ? l->begin[t][k + 2] - l->calls_usual : l->begin[t][k + 1];
            l->first[t] = k + 1;
            return;
        }
    }
    l->first[t] = 1;
}

/* ---- text ---- */

struct program_text {
    char text[MODEL_TRACE_MOST_TEXT];
    size_t length;
    double unit; /* bytes of a weight */
    uint32_t weights;
    uint32_t directions; /* of the exchanges that share the last one */
};

static void say(struct program_text *to, const char *fmt, ...) HPCW_PRINTF(2, 3);
static void say(struct program_text *to, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    const size_t room = to->length < sizeof to->text ? sizeof to->text - to->length : 0;
    const int n = vsnprintf(to->text + (room > 0 ? to->length : 0), room, fmt, args);
    to->length += n > 0 ? (size_t)n : 0;
    va_end(args);
}

/* So many digits are nobody's measured value. */
static double rounded(double value, int digits) {
    const double unit = value > 0 ? pow(10, floor(log10(value)) + 1 - digits) : 1;
    return fmax(1, round(value / unit) * unit);
}

static void begin_text(struct program_text *text) {
    text->length = text->weights = text->directions = 0;
    text->text[0] = '\0';
}

/* Without the blank after the last statement. */
static void end_text(struct program_text *text) {
    if (text->length > 0 && text->length < sizeof text->text) {
        text->text[--text->length] = '\0';
    }
}

/* To whom a message goes, and its tag, if these tell anything. */
static void say_way(struct program_text *to, const struct gen_fit_log_item *i) {
    const bool tagged = i->tag >= 0 && i->tag < 1000;
    if (tagged) {
        say(to, ":%d", i->tag);
    }
    if (i->directions != MODEL_TRACE_ALL_WAYS) {
        int d = 0;
        while ((i->directions >> 2 * d & 3) == 0) {
            d++;
        }
        const uint32_t ways = i->directions >> 2 * d & 3;
        say(to, "%s:%c%s", tagged ? "" : ":", "xyz"[d], ways == 1 ? "-" : ways == 2 ? "+" : "");
    }
}

static void say_item(struct program_text *to, const struct gen_fit_log_item *i) {
    const char *name;
    uint32_t usual;
    (void)model_trace_program_call(i->name, &name, &usual);
    say(to, "%s", name);
    if (i->kind == MODEL_TRACE_CALL_SENDS || i->kind == MODEL_TRACE_CALL_SENDS_AND_WAITS) {
        const double weight = fmin(1000, fmax(1, round(i->bytes / to->unit)));
        const bool more = model_trace_program_shares(&to->directions, i->directions);
        for (uint32_t k = 0; k < i->again || k == 0; k++) {
            to->weights += more ? 0 : (uint32_t)weight;
            say(to, "%s%s:%.0f", k > 0 ? " " : "", k > 0 ? name : "", weight);
            say_way(to, i);
        }
    } else if (i->kind == MODEL_TRACE_CALL_COLLECTIVE && i->bytes > 0 && i->bytes != usual) {
        say(to, ":%.0f", i->bytes);
    }
    say(to, " ");
}

/* How many calls in a row are the same, with about the same time before each. */
static size_t alike_until(const struct gen_fit_log_items *items, size_t from, size_t end) {
    const struct gen_fit_log_item *first = &items->item[from];
    size_t n = 1;
    while ((first->kind == MODEL_TRACE_CALL_ALONE || first->kind == MODEL_TRACE_CALL_COLLECTIVE) &&
           from + n < end && gen_fit_log_items_same(first, &items->item[from + n]) &&
           first->bytes == items->item[from + n].bytes &&
           fabs(first->gap - items->item[from + n].gap) < 0.1 * first->gap + 1e-6) {
        n++;
    }
    return n;
}

enum { LEAST_REPEATS = 3 };

static void begin_repeat(struct program_text *to, size_t times) {
    if (times >= LEAST_REPEATS) {
        say(to, "repeat:%zu { ", times);
    }
}

/* Returns how many calls are said besides the first one. */
static size_t end_repeat(struct program_text *to, size_t times) {
    say(to, times >= LEAST_REPEATS ? "} " : "");
    return times >= LEAST_REPEATS ? times - 1 : 0;
}

/* Whether rank 0 does more than another one. */
static bool has_more(double ns, double root) {
    return root > ns + root_ns && root > 1.5 * ns;
}

/* Less than this is the code between two calls, which the model adds. */
static const double least_work_ns = 200;

static void say_work(struct program_text *to, double ns, double root) {
    const double all = fmin(ns, root);
    if (all >= least_work_ns) {
        say(to, "local:%.0f ", fmin(1e9, rounded(all, 1)));
    }
    if (has_more(all, root)) {
        say(to, "root:%.0f ", fmin(1e9, rounded(root - all, 1)));
    }
}

/* What comes before the loop and after it, or in some iterations: times of few calls, so one digit of them, what all ranks do,
 * and what rank 0 does besides. */
static void say_once(struct program_text *to, const struct gen_fit_log_items *items,
                     const struct gen_fit_log_items *of_root, bool starts) {
    for (size_t i = 0; i < items->count; i++) {
        /* When programs start is no part of them. */
        const double from = starts && i == 0 ? 0 : 1e9;
        const double ns = from * items->item[i].gap;
        const double root = of_root != NULL ? from * of_root->item[i].gap : ns;
        const size_t same = has_more(ns, root) ? 1 : alike_until(items, i, items->count);
        begin_repeat(to, same);
        say_work(to, ns, root);
        say_item(to, &items->item[i]);
        i += end_repeat(to, same);
    }
}

/* Exchanges go all ways unless each of some goes in one dimension of several; MPI_Sendrecv has a direction. */
static void set_directions(struct gen_fit_log_items *items) {
    uint32_t all = 0;
    for (size_t i = 0; i < items->count; i++) {
        all |= items->item[i].directions;
    }
    for (size_t i = 0; i < items->count; i++) {
        struct gen_fit_log_item *one = &items->item[i];
        uint32_t dimensions = 0, last = 0;
        for (uint32_t d = 0; d < 3; d++) {
            const bool has = (one->directions >> 2 * d & 3) != 0;
            dimensions += has;
            last = has ? d : last;
        }
        const bool others = (all & ~(3u << 2 * last)) != 0;
        if (one->kind == MODEL_TRACE_CALL_SENDS) {
            one->directions = dimensions == 1 && others ? 3u << 2 * last : MODEL_TRACE_ALL_WAYS;
        }
    }
}

/* The largest size of which all messages are whole multiples, nearly: a part of the smallest one. */
static double unit_of(const struct gen_fit_log_items *items) {
    enum { PARTS = 12 };
    double least = INFINITY;
    for (size_t i = 0; i < items->count; i++) {
        const struct gen_fit_log_item *one = &items->item[i];
        const bool sends = one->kind == MODEL_TRACE_CALL_SENDS || one->kind == MODEL_TRACE_CALL_SENDS_AND_WAITS;
        least = sends && one->bytes > 0 && one->bytes < least ? one->bytes : least;
    }
    for (int k = 1; k <= PARTS; k++) {
        bool whole = true;
        for (size_t i = 0; i < items->count; i++) {
            const double times = items->item[i].bytes * k / least;
            whole = whole && (items->item[i].messages == 0 || fabs(times - round(times)) < 0.01 * times);
        }
        if (whole) {
            return least / k;
        }
    }
    return least / PARTS;
}

static void say_extra(struct program_loop *l, struct program_text *to, const struct program_extra *x) {
    const double percent = fmin(100, fmax(1, round(100.0 * x->times / l->iterations)));
    say(to, x->step > 1 ? "every:%.0f { " : "some:%.0f { ", x->step > 1 ? x->step : percent);
    for (size_t i = 0; i < x->items.count; i++) { /* what they take is in the times of these iterations */
        const size_t same = alike_until(&x->items, i, x->items.count);
        begin_repeat(to, same);
        say_item(to, &x->items.item[i]);
        i += end_repeat(to, same);
    }
    say(to, "} ");
}

/* Whether an exchange is open before an item: nothing can be put there. */
static bool is_open_before(const struct gen_fit_log_items *items, size_t at) {
    bool open = false;
    for (size_t i = 0; i < at; i++) {
        const enum model_trace_call kind = items->item[i].kind;
        open = kind == MODEL_TRACE_CALL_POSTS || kind == MODEL_TRACE_CALL_SENDS ||
               (open && kind != MODEL_TRACE_CALL_WAITS);
    }
    return open;
}

/* A reduction at the end goes without saying. */
static bool ends_with_reduction(const struct gen_fit_log_items *items) {
    return items->count > 0 && strcmp(items->item[items->count - 1].name, "MPI_Allreduce") == 0;
}

/* Where something else can stand next, or the loop ends. */
static size_t until_extra(const struct program_loop *l, size_t from, size_t end) {
    for (uint32_t e = 0; e < l->extras; e++) {
        const size_t at = l->extra[e].before;
        end = at > from && at < end ? at : end;
    }
    return end;
}

static void say_loop(struct program_loop *l, struct program_text *to) {
    const size_t count = l->items.count;
    const size_t reduces = ends_with_reduction(&l->items);
    for (size_t i = 0; i <= count; i++) {
        for (uint32_t e = 0; e < l->extras; e++) {
            if (l->extra[e].before == i && l->extra[e].times >= LEAST_EXTRAS && !is_open_before(&l->items, i)) {
                say_extra(l, to, &l->extra[e]);
            }
        }
        const size_t same =
            i + reduces < count ? alike_until(&l->items, i, until_extra(l, i, count - reduces)) : 1;
        const double ns = i < count ? 1e9 * l->items.item[i].gap : 0;
        begin_repeat(to, same);
        if (ns >= pause_ns) {
            say(to, "work:%.0f ", fmin(1e9, rounded(ns, 3)));
        }
        if (i + reduces < count) {
            say_item(to, &l->items.item[i]);
        }
        i += end_repeat(to, same);
    }
    say(to, "%s", reduces ? "" : "silent ");
}

/* ---- learning ---- */

static hpcw_status learn_loop(struct program_loop *l, struct program_text *to, bool *can, hpcw_error *err) {
    for (uint32_t t = 0; t < l->calls->tracks; t++) {
        for (uint32_t k = 0; k < l->iterations; k++) {
            items_of(l, t, k + 1, &l->other);
            l->hash[t][k] = gen_fit_log_items_hash(&l->other);
        }
    }
    hpcw_status s = find_usual(l, err);
    *can =
        s == HPCW_OK && !l->items.too_many && l->items.count > 0 && l->as_usual >= least_share * l->iterations;
    if (!*can) {
        return s;
    }
    for (size_t i = 0; i < l->items.count; i++) {
        learn_item(l, i);
    }
    find_extras(l);
    for (uint32_t t = 0; t < l->calls->tracks; t++) {
        find_begin(l, t);
    }
    l->pauses_ms = 1e-4 * (double)l->items.count;
    set_directions(&l->items);
    to->unit = unit_of(&l->items);
    begin_text(to);
    say_loop(l, to);
    end_text(to);
    return HPCW_OK;
}

/* The program of one track. */
static bool is_program(const struct program_text *loop, const struct program_loop *l) {
    struct model_trace_program *program = hpcw_i_malloc(sizeof *program);
    uint32_t directions = 0;
    for (uint32_t d = 0; d < 3; d++) {
        directions |= l->side[d] > 1 ? 3u << 2 * d : 0;
    }
    const bool is = program != NULL && loop->length < sizeof loop->text &&
                    model_trace_program_read(program, "trace.loop", loop->text, true, MODEL_TRACE_MOST_PARTS,
                                             NULL) == HPCW_OK &&
                    model_trace_program_check(program, "trace.loop", directions, NULL) == HPCW_OK;
    hpcw_i_free(program);
    return is;
}

/* Before the first iteration or after the last one, on one rank. */
static void once_of(const struct program_loop *l, uint32_t t, bool start, struct gen_fit_log_items *items) {
    const size_t begin = start ? 0 : l->begin[t][l->iterations + 1];
    const size_t end = start ? l->loop[t] : l->begin[t][l->iterations + 2];
    gen_fit_log_items_of(l->calls, t, begin, end, l->side, false, start, items);
}

/* What a rank does between its calls from one on to the end of an iteration. Seconds. */
static double work_of(const struct program_loop *l, uint32_t t, size_t from, uint32_t k) {
    double seconds = 0;
    for (size_t i = from; i < l->begin[t][k + 1]; i++) {
        seconds += l->calls->track[t].call[i].gap;
    }
    return seconds;
}

/* What the first iteration takes longer than a later one: of few ranks, that is no statistic of phase 0. */
static void say_setup(const struct program_loop *l, struct program_text *to) {
    double more[TRACKS];
    for (uint32_t t = 0; t < TRACKS; t++) {
        const uint32_t from = t < l->calls->tracks ? t : 0;
        const uint32_t later = (l->iterations + 1) / 2;
        more[t] =
            work_of(l, from, l->loop[from], l->first[from]) - work_of(l, from, l->begin[from][later], later);
    }
    say_work(to, 1e9 * more[0], 1e9 * more[1]);
}

/* Rank 0's times tell what it does alone if it makes the same calls as the other one. */
static void learn_once(struct program_loop *l, bool start, struct program_text *to) {
    once_of(l, 0, start, &l->part);
    once_of(l, l->calls->tracks - 1, start, &l->other);
    const bool same = gen_fit_log_items_hash(&l->part) == gen_fit_log_items_hash(&l->other);
    for (size_t i = 0; same && i < l->part.count; i++) {
        join_tags(&l->part.item[i].tag, l->other.item[i].tag);
    }
    set_directions(&l->part);
    begin_text(to);
    say_once(to, &l->part, same ? &l->other : NULL, start);
    if (start && l->calls->ranks < GEN_FIT_LEAST_VALUES) {
        say_setup(l, to);
    }
    end_text(to);
}

/* What a program before or after the loop can have. */
static bool is_part(const struct program_text *text, uint32_t exchanges) {
    struct model_trace_program *program = hpcw_i_malloc(sizeof *program);
    const bool is = program != NULL && text->length > 0 && text->length < sizeof text->text &&
                    model_trace_program_read(program, "", text->text, false, exchanges, NULL) == HPCW_OK;
    hpcw_i_free(program);
    return is;
}

static hpcw_status learn_parts(struct program_loop *l, const struct program_text *loop,
                               struct gen_fit_twin *twin, hpcw_error *err) {
    /* Messages of whole parts, so that all have the sizes that the weights say. */
    enum { ELEMENT = 8, SMALL = 1000 };
    struct program_text *text = hpcw_i_malloc(sizeof *text);
    if (text == NULL) {
        return hpcw_i_fail_memory(err, NULL, 0, NULL);
    }
    text->unit = loop->unit;
    learn_once(l, true, text);
    hpcw_status s = gen_fit_learn_text(twin, "trace.loop", loop->text, GEN_FIT_PER_RUN, err);
    if (s == HPCW_OK && is_part(text, MODEL_TRACE_MORE_PARTS)) {
        char ratio[32];
        (void)snprintf(ratio, sizeof ratio, "%.9g", (double)text->weights / loop->weights);
        s = gen_fit_learn_text(twin, "trace.start", text->text, GEN_FIT_PER_RUN, err);
        s = s == HPCW_OK ? gen_fit_learn_text(twin, "load.setup_edges", ratio, GEN_FIT_PER_EDGE, err) : s;
    }
    if (s == HPCW_OK && loop->weights * ELEMENT < SMALL) {
        s = gen_fit_learn(twin, "load.edge_unit", loop->weights * ELEMENT, GEN_FIT_PER_EDGE, err);
    }
    learn_once(l, false, text);
    if (s == HPCW_OK && is_part(text, 0)) {
        s = gen_fit_learn_text(twin, "trace.end", text->text, GEN_FIT_PER_RUN, err);
    }
    hpcw_i_free(text);
    return s;
}

hpcw_status gen_fit_log_program(const struct gen_fit_log_calls *calls, uint32_t iterations,
                                struct gen_fit_twin *twin, double *pauses_ms, bool *learned, hpcw_error *err) {
    struct program_loop *l = hpcw_i_calloc(1, sizeof *l);
    struct program_text *loop = hpcw_i_malloc(sizeof *loop);
    hpcw_status s = HPCW_OK;
    *learned = false;
    *pauses_ms = 0;
    if (l != NULL) {
        l->calls = calls;
        l->iterations = iterations;
        l->gap = hpcw_i_malloc(((size_t)MOST_SAMPLES + 2) * TRACKS * sizeof *l->gap);
        model_grid_shape(calls->ranks, twin->dataset.load_params.dims, l->side);
    }
    bool good = l != NULL && loop != NULL && l->gap != NULL;
    for (uint32_t t = 0; good && t < calls->tracks; t++) {
        good = divide_track(l, t);
    }
    s = good ? s : hpcw_i_fail_memory(err, NULL, iterations, "iterations");
    for (uint32_t t = 0; s == HPCW_OK && !*learned && t < calls->tracks; t++) {
        l->track = t;
        s = learn_loop(l, loop, learned, err);
        *learned = s == HPCW_OK && *learned && is_program(loop, l);
    }
    if (s == HPCW_OK && *learned) {
        const double share = 100.0 * l->as_usual / iterations;
        *pauses_ms = l->pauses_ms;
        s = learn_parts(l, loop, twin, err);
        gen_fit_remark(twin, "clog2: the calls of an iteration are those of %.0f %% of them%s", share,
                       calls->unknown ? "; calls that no program of a twin can make are left out" : "");
    }
    for (uint32_t t = 0; l != NULL && t < TRACKS; t++) {
        hpcw_i_free(l->begin[t]);
        hpcw_i_free(l->hash[t]);
    }
    if (l != NULL) {
        hpcw_i_free(l->gap);
    }
    hpcw_i_free(loop);
    hpcw_i_free(l);
    return s;
}
