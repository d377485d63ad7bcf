/* SPDX-License-Identifier: BSD-3-Clause */
/* What each iteration injects: remembered while the log is written, in partial results, in truth.json. */
#include "gen/format/clog2.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/exchange.h"

/*
 * Words of an iteration: number, start, duration, compute_ns, slowest_ns, slowest_rank, messages, numbers of interruptions
 * and of backward arrows; then two words for each interruption, three for each arrow.
 */
enum { FACT_WORDS = 9, NOISE_WORDS = 2, BACKWARD_WORDS = 3 };

static bool add_words(struct hpcw_i_buf *facts, const uint64_t *word, size_t count) {
    return hpcw_i_buf_append(facts, word, count * sizeof *word);
}

hpcw_status gen_clog2_remember(struct hpcw_i_buf *facts, const struct gen_trace_log_part *part,
                               hpcw_error *err) {
    const struct model_trace_run *run = part->run;
    const struct model_trace_facts *f = &run->facts;
    const uint64_t word[FACT_WORDS] = {part->iteration, part->start_ns, f->duration_ns,
                                       f->compute_ns,   f->slowest_ns,  f->slowest_rank,
                                       run->messages,   run->noises,    run->backwards};
    bool ok = add_words(facts, word, FACT_WORDS);
    for (size_t i = 0; ok && i < run->noises; i++) {
        ok = add_words(facts, (const uint64_t[]){run->noise[i].rank, run->noise[i].length_ns}, NOISE_WORDS);
    }
    for (size_t i = 0; ok && i < run->backwards; i++) {
        const struct model_trace_backward *b = &run->backward[i];
        ok = add_words(facts, (const uint64_t[]){b->from, b->to, b->by_ns}, BACKWARD_WORDS);
    }
    return ok ? HPCW_OK : hpcw_i_fail_memory(err, "clog2", 0, "the list of faults");
}

/* The first words' names, in partial results as in truth.json. */
static const char *const fact_name[FACT_WORDS - 2] = {"iteration",  "start_ns",     "duration_ns", "compute_ns",
                                                      "slowest_ns", "slowest_rank", "messages"};

static void put_list(struct hpcw_i_json *json, const char *key, const char *const *name, size_t names,
                     const uint64_t *word, uint64_t count) {
    hpcw_i_json_key_array(json, key);
    for (uint64_t i = 0; i < count; i++) {
        hpcw_i_json_flat_object(json);
        for (size_t k = 0; k < names; k++) {
            hpcw_i_json_put_u64(json, name[k], word[i * names + k]);
        }
        hpcw_i_json_end_object(json);
    }
    hpcw_i_json_end_array(json);
}

static hpcw_status put_facts(void *context, const uint64_t *word, size_t words, hpcw_error *err) {
    static const char *const noise_name[NOISE_WORDS] = {"rank", "length_ns"};
    static const char *const backward_name[BACKWARD_WORDS] = {"from", "to", "by_ns"};
    struct hpcw_i_json *json = context;
    (void)err;
    for (size_t i = 0; i + FACT_WORDS <= words;) {
        const uint64_t *w = word + i;
        hpcw_i_json_begin_object(json);
        for (size_t k = 0; k < FACT_WORDS - 2; k++) {
            hpcw_i_json_put_u64(json, fact_name[k], w[k]);
        }
        put_list(json, "interruptions", noise_name, NOISE_WORDS, w + FACT_WORDS, w[FACT_WORDS - 2]);
        put_list(json, "backward_arrows", backward_name, BACKWARD_WORDS,
                 w + FACT_WORDS + NOISE_WORDS * w[FACT_WORDS - 2], w[FACT_WORDS - 1]);
        hpcw_i_json_end_object(json);
        i += FACT_WORDS + NOISE_WORDS * w[FACT_WORDS - 2] + BACKWARD_WORDS * w[FACT_WORDS - 1];
    }
    return HPCW_OK;
}

hpcw_status gen_clog2_collect(hpcw_comm *comm, const struct hpcw_i_buf *facts, struct hpcw_i_json *partial,
                              hpcw_error *err) {
    if (partial != NULL) {
        hpcw_i_json_key_array(partial, "iterations");
    }
    hpcw_status s = hpcw_i_comm_collect(comm, 0, (const uint64_t *)(const void *)facts->data,
                                        facts->size / sizeof(uint64_t), put_facts, partial, err);
    if (partial != NULL) {
        hpcw_i_json_end_array(partial);
    }
    return s;
}

static void copy_list(struct hpcw_i_json *json, const char *key, const cJSON *list) {
    hpcw_i_json_key_array(json, key);
    const cJSON *one;
    const cJSON *member;
    cJSON_ArrayForEach(one, list) {
        hpcw_i_json_flat_object(json);
        cJSON_ArrayForEach(member, one) {
            uint64_t value = 0;
            (void)gen_partial_u64(one, member->string, &value, NULL);
            hpcw_i_json_put_u64(json, member->string, value);
        }
        hpcw_i_json_end_object(json);
    }
    hpcw_i_json_end_array(json);
}

/* The clocks of all hosts, if they are wrong. */
static void put_clocks(const struct gen_dataset *d, struct hpcw_i_json *json) {
    hpcw_i_json_key_array(json, "clocks");
    for (uint32_t n = 0; d->trace.clock != NULL && n < d->machine.nodes; n++) {
        char host[MODEL_HOST_SIZE];
        model_machine_host(&d->machine, n, host);
        hpcw_i_json_flat_object(json);
        hpcw_i_json_put_str(json, "host", host);
        hpcw_i_json_put_u64(json, "node", n);
        hpcw_i_json_put_u64(json, "first_rank", (uint64_t)n * d->machine.params.ppn);
        hpcw_i_json_put_f64(json, "offset_ns", d->trace.clock[n].offset_ns);
        hpcw_i_json_put_f64(json, "drift_ppm", d->trace.clock[n].drift * 1e6);
        hpcw_i_json_end_object(json);
    }
    hpcw_i_json_end_array(json);
}

hpcw_status gen_clog2_truth(const struct gen_dataset *d, const cJSON *const *partial, size_t count,
                            struct hpcw_i_json *json, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    uint32_t found = 0;
    put_clocks(d, json);
    hpcw_i_json_key_array(json, "iterations");
    for (size_t i = 0; i < count; i++) {
        const cJSON *item;
        cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(partial[i], "iterations")) {
            hpcw_i_json_begin_object(json);
            for (size_t k = 0; s == HPCW_OK && k < FACT_WORDS - 2; k++) {
                uint64_t value = 0;
                s = gen_partial_u64(item, fact_name[k], &value, err);
                hpcw_i_json_put_u64(json, fact_name[k], value);
            }
            copy_list(json, "interruptions", cJSON_GetObjectItemCaseSensitive(item, "interruptions"));
            copy_list(json, "backward_arrows", cJSON_GetObjectItemCaseSensitive(item, "backward_arrows"));
            hpcw_i_json_end_object(json);
            found++;
        }
    }
    hpcw_i_json_end_array(json);
    if (s == HPCW_OK && found != d->trace.iterations) {
        s = hpcw_i_fail(err, HPCW_EFORMAT, "partial result: iterations: expected %u of them, got %u",
                        d->trace.iterations, found);
    }
    return s;
}
