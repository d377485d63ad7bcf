/* SPDX-License-Identifier: BSD-3-Clause */
/* The content of a CLOG-2 log as JSON. */
#include <string.h>

#include "libreader/clog2/private.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/io/json.h"

enum {
    MOST_RANKS = 64, /* with more ranks, states are not shown rank by rank */
    MOST_FLOWS = 64  /* number of pairs of ranks that are shown: those with the most bytes */
};

static void put_text(struct hpcw_i_json *json, const char *key, const char *text) {
    bool good = hpcw_i_json_is_utf8(text, strlen(text));
    hpcw_i_json_put_str(json, key, good ? text : "(not UTF-8)");
}

/* Writes a time unless it is not finite, which JSON cannot express: a damaged log may hold any time. */
static void put_time(struct hpcw_i_json *json, const char *key, double seconds) {
    if (seconds - seconds == 0) {
        hpcw_i_json_put_f64(json, key, seconds);
    }
}

static void put_rules(struct hpcw_i_json *json, const struct read_clog2_pass *p) {
    hpcw_i_json_key_array(json, "problems");
    for (int rule = 0; rule < READ_CLOG2_RULES; rule++) {
        if (p->count[rule] > 0) {
            hpcw_i_json_flat_object(json);
            hpcw_i_json_put_str(json, "problem", read_clog2_rule_text((enum read_clog2_rule)rule));
            hpcw_i_json_put_u64(json, "count", p->count[rule]);
            hpcw_i_json_put_u64(json, "first_offset", p->first[rule]);
            hpcw_i_json_put_bool(json, "converter_fails", rule < READ_CLOG2_FATAL);
            hpcw_i_json_end_object(json);
        }
    }
    hpcw_i_json_end_array(json);
}

static int by_bytes(const void *a_, const void *b_) {
    const struct read_clog2_row *a = a_, *b = b_;
    return a->amount.bytes != b->amount.bytes ? (a->amount.bytes < b->amount.bytes ? 1 : -1)
                                              : read_clog2_by_key(a, b);
}

/* Writes the profile of one state or solo event. row[count]: its totals on each rank that has it. */
static void put_share(struct hpcw_i_json *json, const struct read_clog2_definition *d,
                      const struct read_clog2_row *row, size_t count, uint32_t ranks) {
    struct read_clog2_amount all = {0};
    const struct read_clog2_row *least = row, *most = row;
    for (size_t i = 0; i < count; i++) {
        all.count += row[i].amount.count;
        all.seconds += row[i].amount.seconds;
        least = row[i].amount.seconds < least->amount.seconds ? &row[i] : least;
        most = row[i].amount.seconds > most->amount.seconds ? &row[i] : most;
    }
    hpcw_i_json_begin_object(json);
    hpcw_i_json_put_i64(json, d->state ? "state" : "event", d->number);
    put_text(json, "name", d->name);
    put_text(json, "colour", d->colour);
    put_text(json, "format", d->format);
    hpcw_i_json_put_u64(json, "count", all.count);
    hpcw_i_json_put_u64(json, "ranks", count);
    if (d->state && count > 0) {
        put_time(json, "seconds", all.seconds);
        put_time(json, "least_s", least->amount.seconds);
        hpcw_i_json_put_u64(json, "least_rank", least->key[1]);
        put_time(json, "most_s", most->amount.seconds);
        hpcw_i_json_put_u64(json, "most_rank", most->key[1]);
    }
    if (ranks <= MOST_RANKS && count > 0) {
        hpcw_i_json_key_array(json, "by_rank");
        for (size_t i = 0; i < count; i++) {
            hpcw_i_json_flat_object(json);
            hpcw_i_json_put_u64(json, "rank", row[i].key[1]);
            hpcw_i_json_put_u64(json, "count", row[i].amount.count);
            if (d->state) {
                put_time(json, "seconds", row[i].amount.seconds);
            }
            hpcw_i_json_end_object(json);
        }
        hpcw_i_json_end_array(json);
    }
    hpcw_i_json_end_object(json);
}

static void put_profile(struct hpcw_i_json *json, const struct read_clog2_pass *p,
                        const struct read_clog2_row *row) {
    const uint32_t ranks = read_clog2_info(p->reader)->ranks;
    hpcw_i_json_key_array(json, "profile");
    for (size_t i = 0, n = 0; i < p->shares.count; i += n) {
        for (n = 1; i + n < p->shares.count && row[i + n].key[0] == row[i].key[0]; n++) {
        }
        put_share(json, &p->definition[row[i].key[0]], row + i, n, ranks);
    }
    hpcw_i_json_end_array(json);
}

static void put_flows(struct hpcw_i_json *json, const struct read_clog2_pass *p,
                      const struct read_clog2_row *row) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < p->flows.count; i++) {
        bytes += row[i].amount.bytes;
    }
    hpcw_i_json_put_u64(json, "messages", p->arrows);
    hpcw_i_json_put_u64(json, "message_bytes", bytes);
    hpcw_i_json_put_u64(json, "backward_messages", p->count[READ_CLOG2_BACKWARD]);
    hpcw_i_json_put_u64(json, "nesting_errors", p->count[READ_CLOG2_NESTING]);
    hpcw_i_json_put_u64(json, "pairs", p->flows.count);
    hpcw_i_json_key_array(json, "largest_pairs");
    for (size_t i = 0; i < p->flows.count && i < MOST_FLOWS; i++) {
        hpcw_i_json_flat_object(json);
        hpcw_i_json_put_u64(json, "from", row[i].key[0]);
        hpcw_i_json_put_u64(json, "to", row[i].key[1]);
        hpcw_i_json_put_u64(json, "messages", row[i].amount.count);
        hpcw_i_json_put_u64(json, "bytes", row[i].amount.bytes);
        hpcw_i_json_end_object(json);
    }
    hpcw_i_json_end_array(json);
}

static void put_all(struct hpcw_i_json *json, const struct read_clog2_pass *p,
                    const struct read_clog2_row *shares, const struct read_clog2_row *flows) {
    const struct read_clog2_info *info = read_clog2_info(p->reader);
    hpcw_i_json_put_str(json, "version", "CLOG-02.44");
    hpcw_i_json_put_u64(json, "ranks", info->ranks);
    hpcw_i_json_put_u64(json, "threads", info->threads);
    hpcw_i_json_put_u64(json, "communicators", info->comms);
    hpcw_i_json_put_u64(json, "block_size", info->block_size);
    hpcw_i_json_put_u64(json, "blocks", info->blocks);
    hpcw_i_json_put_u64(json, "user_states", info->states);
    hpcw_i_json_put_u64(json, "user_solo_events", info->solos);
    hpcw_i_json_put_u64(json, "records", p->records);
    hpcw_i_json_put_u64(json, "drawables", p->drawables);
    put_time(json, "begin_s", p->begin);
    put_time(json, "end_s", p->end);
    put_rules(json, p);
    put_profile(json, p, shares);
    put_flows(json, p, flows);
}

hpcw_status read_clog2_report(struct read_clog2 *reader, struct hpcw_i_json *json, hpcw_error *err) {
    struct read_clog2_pass pass;
    struct read_clog2_row *shares = NULL, *flows = NULL;
    hpcw_status s = read_clog2_pass_run(&pass, reader, 0, true, NULL, err);
    if (s == HPCW_OK) {
        shares = read_clog2_rows(&pass.shares, read_clog2_by_key);
        flows = read_clog2_rows(&pass.flows, by_bytes);
        s = shares == NULL || flows == NULL ? hpcw_i_fail_memory(err, read_clog2_name(reader), 0, "its profile")
                                            : HPCW_OK;
    }
    if (s == HPCW_OK) {
        put_all(json, &pass, shares, flows);
    }
    hpcw_i_free(shares);
    hpcw_i_free(flows);
    read_clog2_pass_free(&pass);
    return s;
}
