/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/support/vom_memory.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static hpcw_status open_memory(void *context, const char *path, uint64_t tag, bool creates, hpcw_sink **out,
                               hpcw_error *err) {
    (void)path;
    assert_true(tag == 0 && creates);
    struct vom_memory *memory = context;
    hpcw_status s = hpcw_sink_open_memory(out, err);
    memory->sink = *out;
    return s;
}

hpcw_vom_options vom_options(struct vom_memory *memory, uint32_t rank, uint32_t ranks) {
    hpcw_vom_options o;
    hpcw_vom_options_init(&o);
    o.rank = rank;
    o.ranks = ranks;
    o.sink_source = (hpcw_sink_source){.open = open_memory, .context = memory};
    return o;
}

hpcw_vom *vom_open(const hpcw_vom_options *options) {
    hpcw_vom *v = NULL;
    hpcw_error err;
    vom_ok(hpcw_vom_open("memory", options, &v, &err), &err);
    return v;
}

void vom_ok(hpcw_status s, const hpcw_error *err) {
    if (s != HPCW_OK) {
        fail_msg("%s", err->message);
    }
}

void vom_refused(hpcw_status s, hpcw_status want, const hpcw_error *err, const char *part) {
    if (s != want || err->code != want || strstr(err->message, part) == NULL) {
        fail_msg("wanted %s with \"%s\", got %s with \"%s\"", hpcw_status_name(want), part, hpcw_status_name(s),
                 s == HPCW_OK ? "" : err->message);
    }
}

void vom_expect(hpcw_vom *v, const struct vom_memory *memory, const char *phases) {
    hpcw_error err;
    size_t size = 0;
    vom_ok(hpcw_vom_close(v, &err), &err);
    const char *text = hpcw_sink_memory_data(memory->sink, &size);
    static const char before[] = ",\"phases\":[";
    /* The metadata also has a key "phases", but its value is an object. */
    const char *begin = memmem(text, size, before, sizeof before - 1);
    assert_non_null(begin);
    begin += sizeof before - 1;
    size_t got = size - (size_t)(begin - text);
    if (got != strlen(phases) + 2 || memcmp(begin, phases, got - 2) != 0 ||
        memcmp(begin + got - 2, "]}", 2) != 0) {
        fail_msg("wanted %s]}\ngot    %.*s", phases, (int)got, begin);
    }
    assert_true(hpcw_vom_text_size(v) == size);
    hpcw_vom_free(v);
}

static const uint64_t indices[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};

static hpcw_vom_entity element(uint32_t rank, uint64_t number) {
    return hpcw_vom_element(rank, number, 7, &indices[number], 1);
}

hpcw_vom_task vom_task(uint32_t rank, uint64_t number) {
    return (hpcw_vom_task){.entity = element(rank, number), .time_s = 0.5};
}

hpcw_vom_edge vom_edge(uint64_t from, uint64_t to) {
    return (hpcw_vom_edge){.category = HPCW_VOM_SEND_RECV,
                           .from = element(0, from),
                           .to = element(0, to),
                           .bytes = 160,
                           .messages = 3};
}

static char *put_element(char *p, uint64_t number) {
    return p + sprintf(p,
                       "{\"collection_id\":7,\"home\":0,\"id\":%" PRIu64 ",\"index\":[%" PRIu64
                       "],\"migratable\":true,\"type\":\"object\"}",
                       262147 + 262144 * number, number);
}

const char *vom_task_text(uint64_t number) {
    static char text[512];
    char *p = text + sprintf(text, "{\"entity\":");
    p = put_element(p, number);
    (void)sprintf(p, ",\"node\":0,\"resource\":\"cpu\",\"time\":0.5}");
    return text;
}

const char *vom_edge_text(uint64_t from, uint64_t to) {
    static char text[1024];
    char *p = text + sprintf(text, "{\"bytes\":160.0,\"from\":");
    p = put_element(p, from);
    p += sprintf(p, ",\"messages\":3,\"to\":");
    p = put_element(p, to);
    (void)sprintf(p, ",\"type\":\"SendRecv\"}");
    return text;
}
