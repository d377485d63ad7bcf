/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LinkTest 2.1.17 streams: N tasks (N is the container's), task 0's stream begins with the file header and has
 * a summary before the data of each permutation. All lengths follow from the header and the host name. Rule numbers are
 * those of doc/formats/linktest.md, "Rules".
 */
#include "libreader/linktest/linktest.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libreader/linktest/private.h"
#include "libwriter/base/bytes.h"
#include "libwriter/base/checked.h"
#include "libwriter/base/hash.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

#define HASH_AT 20u
#define HASH_SIZE 41u
#define MODE_SIZE_AT 61u
#define MODE_AT 65u
#define BEHIND_MODE 87u /* flags, eight numbers, END_HEADER */
#define NUMBERS 8u

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

/* ------------------------------------------------------------------------------------------------------------
 *  File header
 * --------------------------------------------------------------------------------------------------------- */

/* The container must be one that can hold such streams at all: rules 1 and 2. */
static hpcw_status check_container(struct read_linktest *r, hpcw_error *err) {
    struct read_sion_info sion;
    hpcw_status status = read_sion_info(r->sion, 0, &sion, err);
    if (status != HPCW_OK) {
        return status;
    }
    if (sion.mode != READ_SION_MODE_PLAIN) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: container: expected plain streams (mode 50), got mode %" PRIu32, r->name,
                           sion.mode);
    }
    if (sion.files > 1 && sion.file_number != 0) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "%s: expected file 0 of the set of %" PRIu32 " files, got file %" PRIu32, r->name,
                           sion.files, sion.file_number);
    }
    r->info.data_big = sion.data_big;
    r->info.tasks = read_sion_tasks(r->sion);
    if (r->info.tasks < 2 || r->info.tasks % 2 != 0) {
        return hpcw_i_fail(err, HPCW_EFORMAT, "%s: number of tasks: expected an even one >= 2, got %" PRIu32,
                           r->name, r->info.tasks);
    }
    return read_sion_find(r->sion, 0, &r->task0, err);
}

/* Rules 6, 7, 9 and 16. */
static hpcw_status read_header(struct read_linktest *r, hpcw_error *err) {
    struct read_linktest_info *info = &r->info;
    bool big = info->data_big;
    unsigned char head[MODE_AT], rest[BEHIND_MODE];
    hpcw_status status = read_sion_read(r->sion, &r->task0, 0, head, sizeof head, err);
    if (status != HPCW_OK) {
        return status;
    }
    if (memcmp(head, "LinkTest", 8) != 0) {
        return read_linktest_wrong(r, NULL, 0, err, "tag: expected \"LinkTest\", got %02x %02x %02x %02x ...",
                                   head[0], head[1], head[2], head[3]);
    }
    info->major = hpcw_i_get_u32(head + 8, big);
    info->minor = hpcw_i_get_u32(head + 12, big);
    info->patch = hpcw_i_get_u32(head + 16, big);
    if (info->major != 2 || info->minor != 1 || info->patch != 17) {
        return read_linktest_wrong(r, NULL, 8, err,
                                   "version: expected 2.1.17, whose layout this is, got %" PRIu32 ".%" PRIu32
                                   ".%" PRIu32,
                                   info->major, info->minor, info->patch);
    }
    memcpy(info->git_hash, head + HASH_AT, HASH_SIZE);
    info->git_hash[HASH_SIZE] = '\0';
    r->hash_whole = strlen(info->git_hash) == HASH_SIZE - 1;

    uint32_t b = hpcw_i_get_u32(head + MODE_SIZE_AT, big);
    if (b < 1 || b > r->task0.size - MODE_AT) {
        return read_linktest_wrong(r, NULL, MODE_SIZE_AT, err,
                                   "length of the mode string: expected 1 .. the stream's %" PRIu64
                                   ", got %" PRIu32,
                                   r->task0.size, b);
    }
    if (b > READ_LINKTEST_MOST_MODE) {
        return hpcw_i_fail(
            err, HPCW_ERANGE,
            "%s: stream of rank 0 at offset 61: mode string: this reader takes %u bytes, got %" PRIu32, r->name,
            READ_LINKTEST_MOST_MODE, b);
    }
    status = read_sion_read(r->sion, &r->task0, MODE_AT, info->mode, b, err);
    if (status != HPCW_OK) {
        return status;
    }
    info->mode[b] = '\0';
    r->mode_whole = strlen(info->mode) == b - 1;

    status = read_sion_read(r->sion, &r->task0, MODE_AT + (uint64_t)b, rest, sizeof rest, err);
    if (status != HPCW_OK) {
        return status;
    }
    memcpy(info->flags, rest, sizeof info->flags);
    uint64_t *const numbers[NUMBERS] = {&info->messages,   &info->message_size,    &info->warmup_messages,
                                        &info->retests,    &info->message_buffers, &info->buffer_seed,
                                        &info->randomized, &info->task_seed};
    for (size_t i = 0; i < NUMBERS; i++) {
        *numbers[i] = hpcw_i_get_u64(rest + READ_LINKTEST_FLAGS + 8 * i, big);
    }
    if (memcmp(rest + READ_LINKTEST_FLAGS + 8 * NUMBERS, "END_HEADER", 10) != 0) {
        return read_linktest_wrong(r, NULL, MODE_AT + (uint64_t)b + READ_LINKTEST_FLAGS + 8 * NUMBERS, err,
                                   "expected \"END_HEADER\", got something else");
    }
    r->header_size = MODE_AT + (uint64_t)b + BEHIND_MODE;
    info->permutations = info->randomized > 0 ? info->randomized : 1;
    info->steps = info->flags[READ_LINKTEST_BISECTION] != 0 ? info->tasks / 2 : info->tasks - 1;
    return HPCW_OK;
}

/* The sizes of the parts, none of which can be larger than task 0's stream: rules 13 and 17. */
static hpcw_status measure(struct read_linktest *r, hpcw_error *err) {
    const struct read_linktest_info *info = &r->info;
    uint64_t all, retests_at = r->header_size - 10 - 8 * (NUMBERS - 3);
    r->all_to_all = info->flags[READ_LINKTEST_ALL_TO_ALL] != 0 ? 8 : 0;
    r->data_size = 16 * (uint64_t)(info->tasks - 1) + r->all_to_all;
    uint64_t timings = (uint64_t)info->tasks * info->steps;
    if (info->retests > timings || info->retests > r->task0.size / 32) {
        return read_linktest_wrong(r, NULL, retests_at, err,
                                   "retests: expected at most the %" PRIu64
                                   " timings and what the stream's %" PRIu64 " bytes can hold, got %" PRIu64,
                                   timings, r->task0.size, info->retests);
    }
    if (info->retests > READ_LINKTEST_MOST_RETESTS && info->retests > info->tasks) {
        return hpcw_i_fail(err, HPCW_ERANGE,
                           "%s: stream of rank 0 at offset %" PRIu64 ": retests: this reader takes %" PRIu64
                           ", got %" PRIu64,
                           r->name, retests_at, READ_LINKTEST_MOST_RETESTS, info->retests);
    }
    r->summary_size = 88 + 3 * r->all_to_all + 32 * info->retests;
    if (!hpcw_i_mul_u64(info->permutations, r->summary_size + r->data_size, &all) || all > r->task0.size) {
        return read_linktest_wrong(r, NULL, r->header_size - 26, err,
                                   "randomized tasks: expected as many permutations of %" PRIu64
                                   " bytes as the stream's %" PRIu64 " bytes can hold, got %" PRIu64,
                                   r->summary_size + r->data_size, r->task0.size, info->permutations);
    }
    struct read_linktest_head head;
    return read_linktest_head_of(r, &r->task0, &head, err);
}

static hpcw_status open_on(struct read_sion *sion, struct read_linktest **out, hpcw_error *err) {
    *out = NULL;
    hpcw_status status;
    struct read_linktest *r = hpcw_i_calloc(1, sizeof *r);
    if (r == NULL) {
        status = hpcw_i_fail(err, HPCW_ENOMEM, "%s: no memory to open it", read_sion_name(sion));
        read_sion_free(sion);
        return status;
    }
    r->sion = sion;
    r->name = read_sion_name(sion);
    if ((status = check_container(r, err)) == HPCW_OK && (status = read_header(r, err)) == HPCW_OK) {
        status = measure(r, err);
    }
    if (status != HPCW_OK) {
        read_linktest_free(r);
        r = NULL;
    }
    *out = r;
    return status;
}

hpcw_status read_linktest_open(const char *path, struct read_linktest **out, hpcw_error *err) {
    *out = NULL;
    struct read_sion *sion;
    hpcw_status status = read_sion_open(path, &sion, err);
    return status == HPCW_OK ? open_on(sion, out, err) : status;
}

hpcw_status read_linktest_open_memory(const struct read_sion_image *images, uint32_t count,
                                      struct read_linktest **out, hpcw_error *err) {
    *out = NULL;
    struct read_sion *sion;
    hpcw_status status = read_sion_open_memory(images, count, &sion, err);
    return status == HPCW_OK ? open_on(sion, out, err) : status;
}

void read_linktest_free(struct read_linktest *reader) {
    if (reader != NULL) {
        read_sion_free(reader->sion);
        hpcw_i_free(reader);
    }
}

const struct read_linktest_info *read_linktest_info(const struct read_linktest *reader) {
    return &reader->info;
}

struct read_sion *read_linktest_sion(struct read_linktest *reader) {
    return reader->sion;
}

/* ------------------------------------------------------------------------------------------------------------
 *  Parts of a stream
 * --------------------------------------------------------------------------------------------------------- */

hpcw_status read_linktest_head_of(const struct read_linktest *r, const struct read_sion_task *task,
                                  struct read_linktest_head *head, hpcw_error *err) {
    /* open has compared these products with task 0's stream, so they do not overflow. */
    uint64_t before = task->rank == 0 ? r->header_size : 0;
    uint64_t unit = r->data_size + (task->rank == 0 ? r->summary_size : 0);
    uint64_t rest = before + r->info.permutations * unit + READ_LINKTEST_END_BLOCK;
    if (task->size < rest || task->size - rest < 8 + 1) {
        return read_linktest_wrong(r, task, task->size, err,
                                   "end of the stream: expected a host name after %" PRIu64 " bytes of %" PRIu64
                                   " permutations, got %" PRIu64 " bytes",
                                   rest, r->info.permutations, task->size);
    }
    head->offset = before;
    head->size = task->size - rest;
    if (head->size - 8 > READ_LINKTEST_MOST_HOST) {
        return hpcw_i_fail(err, HPCW_ERANGE,
                           "%s: stream of rank %" PRId64 ": %" PRIu64 " bytes leave a host name of %" PRIu64
                           " bytes with %" PRIu64 " permutations, this reader takes %u",
                           r->name, task->rank, task->size, head->size - 8, r->info.permutations,
                           READ_LINKTEST_MOST_HOST);
    }
    return HPCW_OK;
}

hpcw_status read_linktest_head_check(const struct read_linktest *r, const struct read_sion_task *task,
                                     const struct read_linktest_head *head, const unsigned char *bytes,
                                     char *host, int32_t *core, hpcw_error *err) {
    bool big = r->info.data_big;
    size_t h = (size_t)head->size - 8;
    uint32_t stored = hpcw_i_get_u32(bytes, big);
    if (stored != h) {
        return read_linktest_wrong(
            r, task, head->offset, err,
            "length of the host name: expected %zu, what the length of the stream leaves, got %" PRIu32, h,
            stored);
    }
    const unsigned char *nul = memchr(bytes + 4, '\0', h);
    if (nul != bytes + 4 + h - 1) {
        return read_linktest_wrong(r, task, head->offset + 4, err,
                                   "host name: expected one NUL as the last of its %zu bytes, got %s", h,
                                   nul == NULL ? "none" : "one before");
    }
    *core = (int32_t)hpcw_i_get_u32(bytes + 4 + h, big);
    if (host != NULL) {
        memcpy(host, bytes + 4, h);
    }
    return HPCW_OK;
}

uint64_t read_linktest_data_at(const struct read_linktest *r, const struct read_sion_task *task,
                               const struct read_linktest_head *head, uint64_t permutation) {
    uint64_t summary = task->rank == 0 ? r->summary_size : 0;
    return head->offset + head->size + permutation * (summary + r->data_size) + summary;
}

static hpcw_status read_head(struct read_linktest *r, const struct read_sion_task *task, char *host,
                             int32_t *core, hpcw_error *err) {
    unsigned char bytes[8 + READ_LINKTEST_MOST_HOST];
    struct read_linktest_head head;
    hpcw_status status = read_linktest_head_of(r, task, &head, err);
    if (status == HPCW_OK) {
        status = read_sion_read(r->sion, task, head.offset, bytes, (size_t)head.size, err);
    }
    if (status == HPCW_OK) {
        status = read_linktest_head_check(r, task, &head, bytes, host, core, err);
    }
    return status;
}

/* ------------------------------------------------------------------------------------------------------------
 *  Reading
 * --------------------------------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b) {
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

hpcw_status read_linktest_totals(struct read_linktest *reader, uint32_t *hosts, uint64_t *payload,
                                 hpcw_error *err) {
    hpcw_status status = HPCW_OK;
    uint32_t n = reader->info.tasks, seen = 0;
    uint64_t sum = 0;
    uint64_t *hashes = NULL;
    char *host = NULL;
    hashes = hpcw_i_calloc(n, sizeof *hashes);
    host = hpcw_i_malloc(READ_LINKTEST_MOST_HOST);
    if (hashes == NULL || host == NULL) {
        status = hpcw_i_fail(err, HPCW_ENOMEM, "%s: no memory for the host names of %" PRIu32 " tasks",
                             reader->name, n);
        goto done;
    }
    uint32_t files = read_sion_files(reader->sion);
    for (uint32_t file = 0; file < files; file++) {
        struct read_sion_info info;
        if ((status = read_sion_info(reader->sion, file, &info, err)) != HPCW_OK) {
            goto done;
        }
        for (uint32_t index = 0; index < info.tasks && seen < n; index++) {
            struct read_sion_task task;
            int32_t core;
            if ((status = read_sion_task(reader->sion, file, index, &task, err)) != HPCW_OK) {
                goto done;
            }
            if (task.rank < 0) {
                continue;
            }
            if ((status = read_head(reader, &task, host, &core, err)) != HPCW_OK) {
                goto done;
            }
            hashes[seen++] = hpcw_i_hash_text(host);
            sum += task.size;
        }
    }
    if (payload != NULL) {
        *payload = sum;
    }
    if (hosts != NULL) {
        qsort(hashes, seen, sizeof *hashes, by_value);
        *hosts = seen > 0;
        for (uint32_t i = 1; i < seen; i++) {
            *hosts += hashes[i] != hashes[i - 1];
        }
    }
done:
    hpcw_i_free(hashes);
    hpcw_i_free(host);
    return status;
}

hpcw_status read_linktest_host(struct read_linktest *reader, uint32_t rank, char *host, int32_t *core,
                               hpcw_error *err) {
    struct read_sion_task task;
    hpcw_status status = read_sion_find(reader->sion, rank, &task, err);
    return status == HPCW_OK ? read_head(reader, &task, host, core, err) : status;
}

/* Where the summary of a permutation starts in task 0's stream. */
static hpcw_status summary_at(struct read_linktest *r, uint64_t permutation, uint64_t *offset,
                              hpcw_error *err) {
    struct read_linktest_head head;
    if (permutation >= r->info.permutations) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: expected a permutation below %" PRIu64 ", got %" PRIu64,
                           r->name, r->info.permutations, permutation);
    }
    hpcw_status status = read_linktest_head_of(r, &r->task0, &head, err);
    if (status == HPCW_OK) {
        *offset = read_linktest_data_at(r, &r->task0, &head, permutation) - r->summary_size;
    }
    return status;
}

hpcw_status read_linktest_summary(struct read_linktest *reader, uint64_t permutation,
                                  struct read_linktest_summary *summary, hpcw_error *err) {
    bool big = reader->info.data_big;
    unsigned char bytes[READ_LINKTEST_TIME + 24 + 24];
    uint64_t at = 0;
    hpcw_status status = summary_at(reader, permutation, &at, err);
    if (status != HPCW_OK) {
        return status;
    }
    size_t size = READ_LINKTEST_TIME + 24 + 3 * (size_t)reader->all_to_all;
    status = read_sion_read(reader->sion, &reader->task0, at, bytes, size, err);
    if (status != HPCW_OK) {
        return status;
    }
    memset(summary, 0, sizeof *summary);
    memcpy(summary->start, bytes, READ_LINKTEST_TIME);
    double *const values[6] = {&summary->min,
                               &summary->avg,
                               &summary->max,
                               &summary->all_to_all_min,
                               &summary->all_to_all_avg,
                               &summary->all_to_all_max};
    for (size_t i = 0; i < (reader->all_to_all != 0 ? 6u : 3u); i++) {
        *values[i] = hpcw_i_get_f64(bytes + READ_LINKTEST_TIME + 8 * i, big);
    }
    uint64_t end_at = at + reader->summary_size - READ_LINKTEST_TIME;
    return read_sion_read(reader->sion, &reader->task0, end_at, summary->end, READ_LINKTEST_TIME, err);
}

hpcw_status read_linktest_slow(struct read_linktest *reader, uint64_t permutation, uint64_t first, size_t count,
                               struct read_linktest_slow *slow, hpcw_error *err) {
    bool big = reader->info.data_big;
    uint64_t d = reader->info.retests, at = 0;
    if (first > d || count > d - first) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "%s: expected entries of a slow list of %" PRIu64 ", got %" PRIu64 " + %zu",
                           reader->name, d, first, count);
    }
    hpcw_status status = summary_at(reader, permutation, &at, err);
    if (status != HPCW_OK) {
        return status;
    }
    /* Four arrays, one after the other; pieces of each go through a small buffer. */
    for (unsigned array = 0; array < 4; array++) {
        unsigned char bytes[4096];
        uint64_t from = at + READ_LINKTEST_TIME + 24 + 3 * reader->all_to_all + 8 * (array * d + first);
        for (size_t i = 0; i < count && status == HPCW_OK; i += sizeof bytes / 8) {
            size_t part = count - i < sizeof bytes / 8 ? count - i : sizeof bytes / 8;
            status = read_sion_read(reader->sion, &reader->task0, from + 8 * i, bytes, 8 * part, err);
            for (size_t k = 0; k < part && status == HPCW_OK; k++) {
                struct read_linktest_slow *s = &slow[i + k];
                if (array == 0) {
                    s->retest = hpcw_i_get_f64(bytes + 8 * k, big);
                } else if (array == 1) {
                    s->original = hpcw_i_get_f64(bytes + 8 * k, big);
                } else {
                    *(array == 2 ? &s->from : &s->to) = hpcw_i_get_u64(bytes + 8 * k, big);
                }
            }
        }
    }
    return status;
}

hpcw_status read_linktest_row(struct read_linktest *reader, uint32_t rank, uint64_t permutation, double *time,
                              uint64_t *partner, double *all_to_all, hpcw_error *err) {
    if (permutation >= reader->info.permutations) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: expected a permutation below %" PRIu64 ", got %" PRIu64,
                           reader->name, reader->info.permutations, permutation);
    }
    bool big = reader->info.data_big;
    struct read_sion_task task;
    struct read_linktest_head head;
    hpcw_status status = read_sion_find(reader->sion, rank, &task, err);
    if (status == HPCW_OK) {
        status = read_linktest_head_of(reader, &task, &head, err);
    }
    if (status != HPCW_OK) {
        return status;
    }
    uint64_t at = read_linktest_data_at(reader, &task, &head, permutation);
    size_t slots = reader->info.tasks - 1;
    if (time != NULL) {
        status = read_sion_read(reader->sion, &task, at, time, 8 * slots, err);
        for (size_t s = 0; s < slots && status == HPCW_OK && big != HPCW_I_HOST_BIG; s++) {
            time[s] = hpcw_i_get_f64(time + s, big);
        }
    }
    if (partner != NULL && status == HPCW_OK) {
        status = read_sion_read(reader->sion, &task, at + 8 * slots, partner, 8 * slots, err);
        for (size_t s = 0; s < slots && status == HPCW_OK && big != HPCW_I_HOST_BIG; s++) {
            partner[s] = hpcw_i_get_u64(partner + s, big);
        }
    }
    if (all_to_all != NULL && status == HPCW_OK) {
        unsigned char bytes[8] = {0};
        status = read_sion_read(reader->sion, &task, at + 16 * slots, bytes, (size_t)reader->all_to_all, err);
        *all_to_all = status == HPCW_OK ? hpcw_i_get_f64(bytes, big) : 0;
    }
    return status;
}
