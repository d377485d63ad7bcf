/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/format/load_tally.h"

#include <math.h>
#include <string.h>

#include "gen/spec/units.h"
#include "libwriter/base/status.h"
#include "libwriter/io/json.h"

static void add(uint64_t sum[2], unsigned __int128 value) {
    unsigned __int128 s = (((unsigned __int128)sum[1] << 64) | sum[0]) + value;
    sum[0] = (uint64_t)s;
    sum[1] = (uint64_t)(s >> 64);
}

static double as_double(const uint64_t sum[2]) {
    return (double)sum[1] * 0x1p64 + (double)sum[0];
}

/* Inserts a rank or object in descending order of loads, and drops the lightest one. */
static void insert(struct gen_tally_heavy list[GEN_TALLY_HEAVIEST], struct gen_tally_heavy one) {
    size_t at = GEN_TALLY_HEAVIEST;
    while (at > 0 && (list[at - 1].load_ns < one.load_ns ||
                      (list[at - 1].load_ns == one.load_ns && list[at - 1].number > one.number))) {
        at--;
    }
    if (at < GEN_TALLY_HEAVIEST) {
        memmove(&list[at + 1], &list[at], (GEN_TALLY_HEAVIEST - 1 - at) * sizeof *list);
        list[at] = one;
    }
}

void gen_tally_rank(struct gen_load_tally *t, uint32_t rank, uint64_t load_ns, uint64_t calm_ns,
                    uint32_t arrived) {
    add(t->sum, load_ns);
    add(t->calm_sum, calm_ns);
    t->calm_most = t->calm_most > calm_ns ? t->calm_most : calm_ns;
    add(t->squares, (unsigned __int128)load_ns * load_ns);
    t->arrived += arrived;
    insert(t->ranks, (struct gen_tally_heavy){load_ns, rank, rank});
}

void gen_tally_object(struct gen_load_tally *t, uint32_t object, uint32_t rank, uint64_t load_ns) {
    insert(t->objects, (struct gen_tally_heavy){load_ns, object, rank});
}

void gen_tally_optimum(struct gen_load_tally *t, const struct model_load_optimum *optimum) {
    t->bound_ns = optimum->bound_ns;
    t->longest_first_ns = optimum->longest_first_ns;
    t->longest_first_sum = optimum->sum_ns;
}

void gen_tally_merge(struct gen_load_tally *t, const struct gen_load_tally *other) {
    add(t->sum, ((unsigned __int128)other->sum[1] << 64) | other->sum[0]);
    add(t->squares, ((unsigned __int128)other->squares[1] << 64) | other->squares[0]);
    add(t->calm_sum, ((unsigned __int128)other->calm_sum[1] << 64) | other->calm_sum[0]);
    t->calm_most = t->calm_most > other->calm_most ? t->calm_most : other->calm_most;
    t->arrived += other->arrived;
    t->bound_ns += other->bound_ns;
    t->longest_first_ns += other->longest_first_ns;
    t->longest_first_sum += other->longest_first_sum;
    for (size_t i = 0; i < GEN_TALLY_HEAVIEST; i++) {
        insert(t->ranks, other->ranks[i]);
        insert(t->objects, other->objects[i]);
    }
}

/* ---- as JSON ---- */

enum { SUM_WORDS = 11, HEAVY_WORDS = 3 };
static const char *const sum_key[SUM_WORDS] = {
    "sum_low",   "sum_high", "squares_low", "squares_high",     "calm_low",         "calm_high",
    "calm_most", "arrived",  "bound_ns",    "longest_first_ns", "longest_first_sum"};
static const char *const heavy_key[HEAVY_WORDS] = {"load_ns", "number", "rank"};

static void put_heavy(struct hpcw_i_json *json, const char *key, const struct gen_tally_heavy *list) {
    hpcw_i_json_key_array(json, key);
    for (size_t i = 0; i < GEN_TALLY_HEAVIEST && list[i].load_ns > 0; i++) {
        const uint64_t word[HEAVY_WORDS] = {list[i].load_ns, list[i].number, list[i].rank};
        hpcw_i_json_begin_object(json);
        gen_partial_put_words(json, heavy_key, HEAVY_WORDS, word);
        hpcw_i_json_end_object(json);
    }
    hpcw_i_json_end_array(json);
}

void gen_tally_put(struct hpcw_i_json *json, const struct gen_load_tally *t) {
    const uint64_t word[SUM_WORDS] = {t->sum[0],      t->sum[1],           t->squares[0],       t->squares[1],
                                      t->calm_sum[0], t->calm_sum[1],      t->calm_most,        t->arrived,
                                      t->bound_ns,    t->longest_first_ns, t->longest_first_sum};
    hpcw_i_json_flat_object(json);
    gen_partial_put_words(json, sum_key, SUM_WORDS, word);
    put_heavy(json, "ranks", t->ranks);
    put_heavy(json, "objects", t->objects);
    hpcw_i_json_end_object(json);
}

static hpcw_status get_heavy(const cJSON *item, const char *key, struct gen_tally_heavy *list,
                             hpcw_error *err) {
    const cJSON *one;
    cJSON_ArrayForEach(one, cJSON_GetObjectItemCaseSensitive(item, key)) {
        uint64_t word[HEAVY_WORDS];
        hpcw_status s = gen_partial_words(one, heavy_key, HEAVY_WORDS, word, err);
        if (s != HPCW_OK) {
            return s;
        }
        insert(list, (struct gen_tally_heavy){word[0], word[1], word[2]});
    }
    return HPCW_OK;
}

hpcw_status gen_tally_get(const cJSON *item, struct gen_load_tally *t, hpcw_error *err) {
    uint64_t word[SUM_WORDS];
    hpcw_status s = gen_partial_words(item, sum_key, SUM_WORDS, word, err);
    if (s != HPCW_OK) {
        return s;
    }
    *t = (struct gen_load_tally){.sum = {word[0], word[1]},
                                 .squares = {word[2], word[3]},
                                 .calm_sum = {word[4], word[5]},
                                 .calm_most = word[6],
                                 .arrived = word[7],
                                 .bound_ns = word[8],
                                 .longest_first_ns = word[9],
                                 .longest_first_sum = word[10]};
    s = get_heavy(item, "ranks", t->ranks, err);
    return s == HPCW_OK ? get_heavy(item, "objects", t->objects, err) : s;
}

/* ---- figures ---- */

double gen_tally_mean(const struct gen_load_tally *t, uint32_t ranks) {
    return as_double(t->sum) * 1e-9 / ranks;
}

double gen_tally_sd(const struct gen_load_tally *t, uint32_t ranks) {
    double mean = gen_tally_mean(t, ranks);
    double variance = as_double(t->squares) * 1e-18 / ranks - mean * mean;
    return variance > 0 ? sqrt(variance) : 0;
}

double gen_tally_imbalance(const struct gen_load_tally *t, uint32_t ranks) {
    return (double)t->ranks[0].load_ns / 1e9 / gen_tally_mean(t, ranks) - 1;
}

double gen_tally_calm_imbalance(const struct gen_load_tally *t, uint32_t ranks) {
    return (double)t->calm_most / (as_double(t->calm_sum) / ranks) - 1;
}

double gen_tally_longest_first(const struct gen_load_tally *t, uint32_t ranks) {
    return (double)t->longest_first_ns / ((double)t->longest_first_sum / ranks) - 1;
}
