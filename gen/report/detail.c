/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes the single events of a log for the chart of its page. They are in script files: browsers fetch no data
 * from file://, but they run scripts from there. A script file has the events of a block of ranks, sorted by
 * the time at which the events end.
 *
 * A script calls hpcwDetail(NUMBER, TEXT). TEXT is base64 of records, and a record is a row of numbers. A
 * number has seven bits in each byte, the lowest bits first; all bytes but the last one have the highest bit
 * set. Times are nanoseconds from the begin of the log. A difference has its sign in the lowest bit. A record
 * is one of these rows:
 *
 *     message: 0, sender, receiver, time of the send, time of the receive less that of the send, bytes
 *     state:   index of the state + 1, rank in the block, begin of the state less the end of this rank's last
 *              state in the file, length
 *
 * A message is in the block of its receiver only. With a copy in the block of its sender, the scripts of a log
 * that has only messages would exceed 0.3 of the log's size.
 */
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>

#include "gen/export/folder.h"
#include "gen/report/log.h"
#include "libwriter/base/array.h"
#include "libwriter/base/buf.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

enum {
    BLOCKS = 64,          /* most blocks of a log; each has a buffer */
    BLOCK_RANKS = 64,     /* fewest ranks of a block, so that the ranks on a screen are in few files */
    SCRIPT_BYTES = 262144 /* bytes of records in a file; a browser reads one in a few ms */
};

struct detail_block {
    struct hpcw_i_buf records;
    double from, to;
};

struct log_detail {
    struct gen_folder folder;
    bool opened;
    uint32_t ranks, block_ranks;
    double begin;
    struct detail_block block[BLOCKS];
    uint64_t *last_ns; /* [ranks] end of the rank's last state in the file that is being written */
    struct ui_page_script *script;
    size_t scripts, capacity;
    hpcw_status status;
    hpcw_error error;
};

hpcw_status gen_report_detail_open(const struct gen_report *r, const struct log_profile *p,
                                   struct log_detail **out, hpcw_error *err) {
    struct log_detail *d = hpcw_i_calloc(1, sizeof *d);
    *out = d;
    if (d == NULL) {
        return hpcw_i_fail_memory(err, r->detail, 0, NULL);
    }
    d->ranks = p->ranks;
    d->begin = p->begin;
    d->block_ranks = (p->ranks - 1) / BLOCKS + 1;
    d->block_ranks = d->block_ranks < BLOCK_RANKS ? BLOCK_RANKS : d->block_ranks;
    d->last_ns = hpcw_i_calloc(p->ranks, sizeof *d->last_ns);
    if (d->last_ns == NULL) {
        return hpcw_i_fail_memory(err, r->detail, p->ranks, "ranks");
    }
    for (size_t i = 0; i < BLOCKS; i++) {
        d->block[i] = (struct detail_block){.from = INFINITY, .to = -INFINITY};
    }
    d->opened = true;
    return gen_folder_open(&d->folder, r->detail, err);
}

static void fail_memory(struct log_detail *d) {
    if (d->status == HPCW_OK) {
        d->status = hpcw_i_fail_memory(&d->error, d->folder.path, d->scripts, "scripts");
    }
}

static bool make_script(struct log_detail *d, const struct detail_block *b, struct hpcw_i_buf *text) {
    char head[48];
    (void)snprintf(head, sizeof head, "hpcwDetail(%zu,\"", d->scripts);
    return hpcw_i_buf_append_str(text, head) && ui_page_base64(text, b->records.data, b->records.size) &&
           hpcw_i_buf_append_str(text, "\");\n");
}

/* Writes the events of a block to a script file, and empties the block. */
static void put_script(struct log_detail *d, size_t block) {
    struct detail_block *b = &d->block[block];
    struct ui_page_script *grown = hpcw_i_grow(d->script, &d->capacity, d->scripts + 1, sizeof *grown);
    struct hpcw_i_buf text = {0};
    char name[32], path[PATH_MAX];
    hpcw_sink *sink = NULL;
    (void)snprintf(name, sizeof name, "%zu.js", d->scripts);
    (void)snprintf(path, sizeof path, "%s/%s", d->folder.path, name); /* for messages */
    d->script = grown == NULL ? d->script : grown;
    if (grown == NULL || !make_script(d, b, &text)) {
        fail_memory(d);
        goto done;
    }
    d->status = hpcw_i_sink_open_below(d->folder.below.root, name, path, HPCW_SYNC_NONE, &sink, &d->error);
    d->status = d->status == HPCW_OK ? hpcw_sink_write_at(sink, 0, text.data, text.size, &d->error) : d->status;
    d->status = d->status == HPCW_OK ? hpcw_sink_publish(sink, &d->error) : d->status;
    const uint64_t first = (uint64_t)block * d->block_ranks;
    const uint64_t last = first + d->block_ranks < d->ranks ? first + d->block_ranks - 1 : d->ranks - 1;
    d->script[d->scripts++] = (struct ui_page_script){first, last, b->from, b->to};
    for (uint64_t k = first; k <= last; k++) {
        d->last_ns[k] = 0;
    }
done:
    hpcw_sink_free(sink);
    hpcw_i_buf_free(&text);
    b->records.size = 0;
    b->from = INFINITY;
    b->to = -INFINITY;
}

static void put_numbers(struct log_detail *d, size_t block, const uint64_t *number, size_t count, double from,
                        double to) {
    struct detail_block *b = &d->block[block];
    for (size_t i = 0; d->status == HPCW_OK && i < count; i++) {
        unsigned char byte[10];
        size_t n = 0;
        uint64_t rest = number[i];
        for (; rest >= 128; rest >>= 7) {
            byte[n++] = (unsigned char)(rest % 128 + 128);
        }
        byte[n++] = (unsigned char)rest;
        if (!hpcw_i_buf_append(&b->records, byte, n)) {
            fail_memory(d);
        }
    }
    b->from = from < b->from ? from : b->from;
    b->to = to > b->to ? to : b->to;
    if (d->status == HPCW_OK && b->records.size >= SCRIPT_BYTES) {
        put_script(d, block);
    }
}

static uint64_t ns_of(const struct log_detail *d, double time) {
    const double ns = (time - d->begin) * 1e9;
    return ns > 0 ? (uint64_t)llround(ns) : 0;
}

/* Returns a - b with its sign in the lowest bit. */
static uint64_t difference(uint64_t a, uint64_t b) {
    return a >= b ? (a - b) << 1 : (b - a) << 1 | 1;
}

void gen_report_detail_state(struct log_detail *d, uint32_t rank, uint32_t state, double from, double to) {
    const uint64_t from_ns = ns_of(d, from), to_ns = ns_of(d, to);
    const uint64_t number[] = {state + (uint64_t)1, rank % d->block_ranks,
                               difference(from_ns, d->last_ns[rank]), to_ns > from_ns ? to_ns - from_ns : 0};
    d->last_ns[rank] = to_ns;
    put_numbers(d, rank / d->block_ranks, number, sizeof number / sizeof number[0], from, to);
}

void gen_report_detail_message(struct log_detail *d, uint32_t from_rank, uint32_t to_rank, double from,
                               double to, uint64_t bytes) {
    const uint64_t number[] = {
        0, from_rank, to_rank, ns_of(d, from), difference(ns_of(d, to), ns_of(d, from)), bytes};
    put_numbers(d, to_rank / d->block_ranks, number, sizeof number / sizeof number[0], from, to);
}

hpcw_status gen_report_detail_finish(struct log_detail *d, hpcw_error *err) {
    for (size_t i = 0; i < BLOCKS; i++) {
        if (d->status == HPCW_OK && d->block[i].records.size > 0) {
            put_script(d, i);
        }
    }
    return d->status == HPCW_OK ? HPCW_OK : hpcw_i_fail_as(err, &d->error);
}

hpcw_status gen_report_detail_publish(struct log_detail *d, hpcw_error *err) {
    uint64_t bytes;
    return gen_folder_publish(&d->folder, false, &bytes, err);
}

const struct ui_page_script *gen_report_detail_scripts(const struct log_detail *d, size_t *count) {
    *count = d->scripts;
    return d->script;
}

void gen_report_detail_free(struct log_detail *d) {
    if (d == NULL) {
        return;
    }
    if (d->opened) {
        gen_folder_close(&d->folder);
    }
    for (size_t i = 0; i < BLOCKS; i++) {
        hpcw_i_buf_free(&d->block[i].records);
    }
    hpcw_i_free(d->last_ns);
    hpcw_i_free(d->script);
    hpcw_i_free(d);
}
