/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file header, and the lengths that follow from it. Rules are numbered as in doc/formats/linktest.md, "Rules".
 */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "libreader/linktest/private.h"
#include "libwriter/base/bytes.h"
#include "libwriter/base/checked.h"
#include "libwriter/base/status.h"

/* The fields after the mode string (doc/formats/linktest.md, "File header"). This table is independent of the
 * writer's table, so that the reader can check the writer. */
enum { FIELDS_SIZE = 77, END_HEADER_SIZE = 10 };

static const struct field {
    uint8_t at;                       /* offset of the field, from the end of the mode string */
    enum { FLAG, CODE, NUMBER } kind; /* FLAG: bool of one byte; CODE: uint8_t; NUMBER: uint64_t */
    size_t member;                    /* offset in hpcw_linktest_info */
    const char *name;                 /* name in hpcw_linktest_info */
} fields[] = {
/* clang-format off */
#define MEMBER(name) offsetof(hpcw_linktest_info, name), #name
    {0, FLAG, MEMBER(all_to_all)},
    {1, FLAG, MEMBER(bidirectional)},
    {2, FLAG, MEMBER(unidirectional)},
    {3, FLAG, MEMBER(bisection)},
    {4, FLAG, MEMBER(randomize_steps)},
    {5, FLAG, MEMBER(serial)},
    {6, FLAG, MEMBER(no_sion)},
    {7, FLAG, MEMBER(parallel_sion)},
    {8, FLAG, MEMBER(gpu_memory)},
    {9, FLAG, MEMBER(many_buffers)},
    {10, FLAG, MEMBER(random_buffers)},
    {11, FLAG, MEMBER(check_buffers)},
    {12, CODE, MEMBER(allocator)},
    {13, NUMBER, MEMBER(messages)},
    {21, NUMBER, MEMBER(message_size)},
    {29, NUMBER, MEMBER(warmup_messages)},
    {37, NUMBER, MEMBER(retests)},
    {45, NUMBER, MEMBER(message_buffers)},
    {53, NUMBER, MEMBER(buffer_seed)},
    {61, NUMBER, MEMBER(permutations)},
    {69, NUMBER, MEMBER(task_seed)},
#undef MEMBER
};
/* clang-format on */

/* Reads a field from the bytes after the mode string. */
static void take(struct read_linktest *r, const struct field *f, const unsigned char *bytes) {
    void *member = (char *)&r->info + f->member;
    switch (f->kind) {
    case FLAG:
        *(bool *)member = bytes[f->at] != 0;
        if (bytes[f->at] > 1 && r->odd_flag == NULL) {
            r->odd_flag = member;
            r->odd_value = bytes[f->at];
        }
        break;
    case CODE:
        *(uint8_t *)member = bytes[f->at];
        break;
    case NUMBER:
        *(uint64_t *)member = hpcw_i_get_u64(bytes + f->at, r->data_big);
        break;
    }
}

static const struct field *field_of(const struct read_linktest *r, const void *member) {
    const struct field *f = fields;
    while ((const char *)&r->info + f->member != member) {
        f++;
    }
    return f;
}

hpcw_status read_linktest_wrong_field(const struct read_linktest *r, const void *member, const char *expected,
                                      hpcw_error *err) {
    const struct field *f = field_of(r, member);
    uint64_t got = member == r->odd_flag ? r->odd_value
                   : f->kind == NUMBER   ? *(const uint64_t *)member
                                         : *(const uint8_t *)member;
    return read_linktest_wrong(r, NULL, r->fields_at + f->at, err, "%s: expected %s, got %" PRIu64, f->name,
                               expected, got);
}

/* Checks rules 1 and 2, about the container. */
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
    r->data_big = sion.data_big;
    r->info.tasks = read_sion_tasks(r->sion);
    if (r->info.tasks < 2 || r->info.tasks % 2 != 0) {
        return hpcw_i_fail(err, HPCW_EFORMAT, "%s: number of tasks: expected an even one >= 2, got %" PRIu32,
                           r->name, r->info.tasks);
    }
    return read_sion_find(r->sion, 0, &r->task0, err);
}

/* Reads tag, version, hash and mode: rules 6, 7 and 9. */
static hpcw_status read_texts(struct read_linktest *r, hpcw_error *err) {
    hpcw_linktest_info *info = &r->info;
    unsigned char head[READ_LINKTEST_MODE_AT];
    hpcw_status status = read_sion_read(r->sion, &r->task0, 0, head, sizeof head, err);
    if (status != HPCW_OK) {
        return status;
    }
    if (memcmp(head, "LinkTest", 8) != 0) {
        return read_linktest_wrong(r, NULL, 0, err, "tag: expected \"LinkTest\", got %02x %02x %02x %02x ...",
                                   head[0], head[1], head[2], head[3]);
    }
    for (size_t i = 0; i < 3; i++) {
        info->version[i] = hpcw_i_get_u32(head + READ_LINKTEST_VERSION_AT + 4 * i, r->data_big);
    }
    if (info->version[0] != 2 || info->version[1] != 1 || info->version[2] != 17) {
        return read_linktest_wrong(r, NULL, READ_LINKTEST_VERSION_AT, err,
                                   "version: expected 2.1.17, whose layout this is, got %" PRIu32 ".%" PRIu32
                                   ".%" PRIu32,
                                   info->version[0], info->version[1], info->version[2]);
    }
    info->git_hash = memcpy(r->git_hash, head + READ_LINKTEST_HASH_AT, READ_LINKTEST_HASH_SIZE);
    r->hash_whole = strlen(r->git_hash) == READ_LINKTEST_HASH_SIZE - 1;

    uint32_t b = hpcw_i_get_u32(head + READ_LINKTEST_MODE_SIZE_AT, r->data_big);
    if (b < 1 || b > r->task0.size - READ_LINKTEST_MODE_AT) {
        return read_linktest_wrong(r, NULL, READ_LINKTEST_MODE_SIZE_AT, err,
                                   "length of the mode string: expected 1 .. the stream's %" PRIu64
                                   ", got %" PRIu32,
                                   r->task0.size, b);
    }
    if (b > READ_LINKTEST_MOST_MODE) {
        return hpcw_i_fail(
            err, HPCW_ERANGE,
            "%s: stream of rank 0 at offset %d: mode string: this reader takes %u bytes, got %" PRIu32, r->name,
            READ_LINKTEST_MODE_SIZE_AT, READ_LINKTEST_MOST_MODE, b);
    }
    status = read_sion_read(r->sion, &r->task0, READ_LINKTEST_MODE_AT, r->mode, b, err);
    info->mode = r->mode;
    r->mode_whole = strlen(r->mode) == b - 1;
    r->fields_at = READ_LINKTEST_MODE_AT + (uint64_t)b;
    return status;
}

/* Reads the fields after the mode string, and the tag at the end: rule 16. */
static hpcw_status read_fields(struct read_linktest *r, hpcw_error *err) {
    hpcw_linktest_info *info = &r->info;
    unsigned char bytes[FIELDS_SIZE + END_HEADER_SIZE];
    hpcw_status status = read_sion_read(r->sion, &r->task0, r->fields_at, bytes, sizeof bytes, err);
    if (status != HPCW_OK) {
        return status;
    }
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        take(r, &fields[i], bytes);
    }
    r->header_size = r->fields_at + sizeof bytes;
    if (memcmp(bytes + FIELDS_SIZE, "END_HEADER", END_HEADER_SIZE) != 0) {
        return read_linktest_wrong(r, NULL, r->fields_at + FIELDS_SIZE, err,
                                   "expected \"END_HEADER\", got something else");
    }
    info->randomized = info->permutations > 0;
    info->permutations = info->randomized ? info->permutations : 1;
    info->steps = info->bisection ? info->tasks / 2 : info->tasks - 1;
    return HPCW_OK;
}

/* Computes the sizes of header, summary and data in the streams, and checks that the stream of rank 0 is large
 * enough for them: rules 13 and 17. */
static hpcw_status measure(struct read_linktest *r, hpcw_error *err) {
    const hpcw_linktest_info *info = &r->info;
    uint64_t retests_at = r->fields_at + field_of(r, &info->retests)->at;
    r->all_to_all = info->all_to_all ? 8 : 0;
    r->data_size = 16 * (uint64_t)(info->tasks - 1) + r->all_to_all;
    uint64_t timings = (uint64_t)info->tasks * info->steps;
    if (info->retests > timings || info->retests > r->task0.size / READ_LINKTEST_SLOW_SIZE) {
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
    r->summary_size = READ_LINKTEST_SUMMARY_SIZE + 3 * r->all_to_all + READ_LINKTEST_SLOW_SIZE * info->retests;
    uint64_t all;
    if (!hpcw_i_mul_u64(info->permutations, r->summary_size + r->data_size, &all) || all > r->task0.size) {
        return read_linktest_wrong(r, NULL, r->fields_at + field_of(r, &info->permutations)->at, err,
                                   "permutations: expected as many of %" PRIu64
                                   " bytes as the stream's %" PRIu64 " bytes can hold, got %" PRIu64,
                                   r->summary_size + r->data_size, r->task0.size, info->permutations);
    }
    return HPCW_OK;
}

hpcw_status read_linktest_header(struct read_linktest *r, hpcw_error *err) {
    hpcw_status status = check_container(r, err);
    if (status == HPCW_OK) {
        status = read_texts(r, err);
    }
    if (status == HPCW_OK) {
        status = read_fields(r, err);
    }
    return status == HPCW_OK ? measure(r, err) : status;
}
