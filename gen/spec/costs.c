/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/spec/costs.h"

#include <string.h>

#include "gen/model/machine/truth.h"
#include "gen/spec/units.h"
#include "libwriter/base/status.h"

/* ---- which faults ---- */

static bool is_before(const struct gen_cost_fault *a, const struct gen_cost_fault *b) {
    return a->kind != b->kind ? a->kind < b->kind : a->weight > b->weight;
}

/* Inserts a fault by kind and weight, after equal ones. If the list is full, the last fault is dropped. */
static void add(struct gen_costs *c, struct gen_cost_fault fault) {
    uint32_t at = c->count;
    while (at > 0 && is_before(&fault, &c->fault[at - 1])) {
        at--;
    }
    if (at < SIM_MOST_CLOCKS) {
        c->count += c->count < SIM_MOST_CLOCKS;
        memmove(&c->fault[at + 1], &c->fault[at], (c->count - 1 - at) * sizeof *c->fault);
        c->fault[at] = fault;
    }
}

static void add_interruptions(const struct gen_dataset *d, struct gen_costs *c) {
    struct model_load calm = d->load;
    calm.disturbed = NULL;
    for (uint32_t k = 0; calm.params.noise.probability > 0 && k < calm.params.phases; k++) {
        for (uint32_t r = 0; r < d->ranks; r++) {
            uint32_t slot;
            const uint64_t length_ns = model_load_interruption(&calm, r, k, &slot);
            if (length_ns > 0) {
                add(c, (struct gen_cost_fault){GEN_COST_INTERRUPTION, {r, k}, (double)length_ns});
            }
        }
    }
}

void gen_costs_choose(const struct gen_dataset *d, struct gen_costs *c) {
    const struct model_machine *m = &d->machine;
    struct model_truth_node node;
    struct model_truth_cable cable;
    uint32_t a = 0;
    uint32_t b = 0;
    *c = (struct gen_costs){.count = 0};
    if (d->load.params.scenario.kind != MODEL_SCENARIO_NONE) {
        add(c, (struct gen_cost_fault){GEN_COST_SCENARIO, {0, 0}, 0});
    }
    while (model_truth_next_node(m, &a, &node)) {
        add(c, (struct gen_cost_fault){GEN_COST_SLOW_NODE, {node.node, 0}, (node.factor - 1) * node.ranks});
    }
    add_interruptions(d, c);
    for (a = 0; model_truth_next_port(m, &a, &node);) {
        add(c, (struct gen_cost_fault){GEN_COST_SLOW_PORT, {node.node, 0}, 1 - node.factor});
    }
    for (a = 0; model_truth_next_cable(m, &a, &b, &cable);) {
        add(c,
            (struct gen_cost_fault){GEN_COST_SLOW_CABLE, {cable.switch_a, cable.switch_b}, 1 - cable.factor});
    }
    for (uint32_t i = 0; i < c->count; i++) {
        const struct gen_cost_fault *f = &c->fault[i];
        c->repair[i] = (struct model_repair){f->kind == GEN_COST_SLOW_PORT    ? MODEL_REPAIRS_PORT
                                             : f->kind == GEN_COST_SLOW_CABLE ? MODEL_REPAIRS_CABLE
                                                                              : MODEL_REPAIRS_NOTHING,
                                             f->place[0], f->place[1]};
    }
}

/* ---- the run ---- */

uint64_t gen_costs_load_ns(const struct gen_cost_fault *f, const struct model_load *load, uint32_t rank,
                           uint32_t phase, uint64_t load_ns) {
    uint32_t slot;
    if (f->kind == GEN_COST_INTERRUPTION && f->place[0] == rank && f->place[1] == phase) {
        return load_ns - model_load_interruption(load, rank, phase, &slot);
    }
    if (f->kind == GEN_COST_SLOW_NODE && f->place[0] == model_machine_node(load->machine, rank)) {
        /* Interruptions last as long on a slow node as on others. */
        const uint64_t fixed_ns = model_load_interruption(load, rank, phase, &slot);
        const double factor = model_machine_slowness(load->machine, f->place[0]);
        return fixed_ns + (uint64_t)((double)(load_ns - fixed_ns) / factor + 0.5);
    }
    return load_ns;
}

/* ---- partial results ---- */

static const char *const fault_word[] = {"kind", "place", "second", "time_ns"};
static const char *const affected_word[] = {"rank", "wait_ns"};
enum { FAULT_WORDS = sizeof fault_word / sizeof fault_word[0], AFFECTED_WORDS = 2 };

void gen_costs_put(const struct gen_costs *c, struct hpcw_i_json *partial) {
    hpcw_i_json_key_array(partial, "costs");
    for (uint32_t i = 0; i < c->count; i++) {
        const struct gen_cost_fault *f = &c->fault[i];
        const struct sim_price *p = &c->price[i];
        const uint64_t word[FAULT_WORDS] = {f->kind, f->place[0], f->place[1], p->time_ns};
        hpcw_i_json_begin_object(partial);
        gen_partial_put_words(partial, fault_word, FAULT_WORDS, word);
        hpcw_i_json_key_array(partial, "affected");
        for (uint32_t k = 0; k < p->ranks; k++) {
            const uint64_t one[AFFECTED_WORDS] = {p->affected[k].rank, p->affected[k].wait_ns};
            hpcw_i_json_begin_object(partial);
            gen_partial_put_words(partial, affected_word, AFFECTED_WORDS, one);
            hpcw_i_json_end_object(partial);
        }
        hpcw_i_json_end_array(partial);
        hpcw_i_json_end_object(partial);
    }
    hpcw_i_json_end_array(partial);
}

static hpcw_status read_one(const cJSON *item, struct gen_cost_fault *f, struct sim_price *p, hpcw_error *err) {
    uint64_t word[FAULT_WORDS] = {0};
    const cJSON *one;
    hpcw_status s = gen_partial_words(item, fault_word, FAULT_WORDS, word, err);
    *f = (struct gen_cost_fault){(enum gen_cost_kind)word[0], {(uint32_t)word[1], (uint32_t)word[2]}, 0};
    *p = (struct sim_price){.time_ns = word[3]};
    cJSON_ArrayForEach(one, cJSON_GetObjectItemCaseSensitive(item, "affected")) {
        uint64_t value[AFFECTED_WORDS] = {0};
        s = s == HPCW_OK ? gen_partial_words(one, affected_word, AFFECTED_WORDS, value, err) : s;
        if (p->ranks < SIM_MOST_AFFECTED) {
            p->affected[p->ranks++] = (struct sim_affected){(uint32_t)value[0], value[1]};
        }
    }
    return s;
}

hpcw_status gen_costs_read(const cJSON *const *partial, size_t count, struct gen_costs *c, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    *c = (struct gen_costs){.count = 0};
    for (size_t i = 0; i < count; i++) {
        const cJSON *item;
        cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(partial[i], "costs")) {
            if (s == HPCW_OK && c->count < SIM_MOST_CLOCKS) {
                s = read_one(item, &c->fault[c->count], &c->price[c->count], err);
                c->count++;
            }
        }
    }
    return s;
}

/* ---- truth ---- */

void gen_costs_truth(const struct gen_costs *c, enum gen_cost_kind kind, uint32_t place, uint32_t second,
                     struct hpcw_i_json *json) {
    uint32_t i = 0;
    while (i < c->count &&
           (c->fault[i].kind != kind || c->fault[i].place[0] != place || c->fault[i].place[1] != second)) {
        i++;
    }
    hpcw_i_json_key(json, "cost_s");
    if (i == c->count) {
        hpcw_i_json_null(json);
        return;
    }
    const struct sim_price *p = &c->price[i];
    hpcw_i_json_seconds(json, p->time_ns);
    hpcw_i_json_key_array(json, "affected");
    for (uint32_t k = 0; k < p->ranks; k++) {
        hpcw_i_json_flat_object(json);
        hpcw_i_json_put_u64(json, "rank", p->affected[k].rank);
        hpcw_i_json_put_seconds(json, "wait_s", p->affected[k].wait_ns);
        hpcw_i_json_end_object(json);
    }
    hpcw_i_json_end_array(json);
}
