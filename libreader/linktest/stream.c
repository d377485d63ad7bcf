/* SPDX-License-Identifier: BSD-3-Clause */
/* Offsets of the parts of a stream (doc/formats/linktest.md, "Stream"). */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "libreader/linktest/private.h"
#include "libwriter/base/bytes.h"
#include "libwriter/base/status.h"

hpcw_status read_linktest_wrong(const struct read_linktest *r, const struct read_sion_task *task,
                                uint64_t offset, hpcw_error *err, const char *fmt, ...) {
    char text[512];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return hpcw_i_fail(err, HPCW_EFORMAT, "%s: stream of rank %" PRId64 " at offset %" PRIu64 ": %s", r->name,
                       task == NULL ? 0 : task->rank, offset, text);
}

hpcw_status read_linktest_head_of(const struct read_linktest *r, const struct read_sion_task *task,
                                  struct read_linktest_head *head, hpcw_error *err) {
    /* The products below cannot overflow: opening the result compared them with the length of rank 0's stream. */
    uint64_t before = task->rank == 0 ? r->header_size : 0;
    uint64_t unit = r->data_size + (task->rank == 0 ? r->summary_size : 0);
    uint64_t rest = before + r->info.permutations * unit + READ_LINKTEST_END_BLOCK_SIZE;
    if (task->size < rest || task->size - rest < READ_LINKTEST_HEAD_SIZE + 1) {
        return read_linktest_wrong(r, task, task->size, err,
                                   "end of the stream: expected a host name after %" PRIu64 " bytes of %" PRIu64
                                   " permutations, got %" PRIu64 " bytes",
                                   rest, r->info.permutations, task->size);
    }
    head->offset = before;
    head->size = task->size - rest;
    if (head->size - READ_LINKTEST_HEAD_SIZE > READ_LINKTEST_MOST_HOST) {
        return hpcw_i_fail(err, HPCW_ERANGE,
                           "%s: stream of rank %" PRId64 ": %" PRIu64 " bytes leave a host name of %" PRIu64
                           " bytes with %" PRIu64 " permutations, this reader takes %u",
                           r->name, task->rank, task->size, head->size - READ_LINKTEST_HEAD_SIZE,
                           r->info.permutations, READ_LINKTEST_MOST_HOST);
    }
    return HPCW_OK;
}

hpcw_status read_linktest_head_check(const struct read_linktest *r, const struct read_sion_task *task,
                                     const struct read_linktest_head *head, const unsigned char *bytes,
                                     char *host, int32_t *core, hpcw_error *err) {
    bool big = r->data_big;
    size_t h = (size_t)head->size - READ_LINKTEST_HEAD_SIZE;
    uint32_t stored = hpcw_i_get_u32(bytes, big);
    if (stored != h) {
        return read_linktest_wrong(
            r, task, head->offset, err,
            "length of the host name: expected %zu, what the length of the stream leaves, got %" PRIu32, h,
            stored);
    }
    const unsigned char *nul = memchr(bytes + READ_LINKTEST_HOST_AT, '\0', h);
    if (nul != bytes + READ_LINKTEST_HOST_AT + h - 1) {
        return read_linktest_wrong(r, task, head->offset + READ_LINKTEST_HOST_AT, err,
                                   "host name: expected one NUL as the last of its %zu bytes, got %s", h,
                                   nul == NULL ? "none" : "one before");
    }
    for (const unsigned char *c = bytes + READ_LINKTEST_HOST_AT; c < nul; c++) {
        if (*c <= 0x20 || *c > 0x7e) {
            return read_linktest_wrong(r, task, head->offset + (uint64_t)(c - bytes), err,
                                       "host name: expected printable ASCII, got %02x", *c);
        }
    }
    if (h == 1) {
        return read_linktest_wrong(r, task, head->offset, err, "host name: expected one, got an empty text");
    }
    int32_t number = (int32_t)hpcw_i_get_u32(bytes + READ_LINKTEST_HOST_AT + h, big);
    if (number < 0) {
        return read_linktest_wrong(r, task, head->offset + READ_LINKTEST_HOST_AT + h, err,
                                   "core number: expected >= 0, got %" PRId32, number);
    }
    if (host != NULL) {
        memcpy(host, nul - (h - 1), h);
    }
    if (core != NULL) {
        *core = number;
    }
    return HPCW_OK;
}

uint64_t read_linktest_data_at(const struct read_linktest *r, const struct read_sion_task *task,
                               const struct read_linktest_head *head, uint64_t permutation) {
    uint64_t summary = task->rank == 0 ? r->summary_size : 0;
    return head->offset + head->size + permutation * (summary + r->data_size) + summary;
}
