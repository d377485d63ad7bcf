/* SPDX-License-Identifier: BSD-3-Clause */
/* The file header and the lengths that follow from it. Rule numbers are those of doc/formats/linktest.md, "Rules". */
#include <inttypes.h>
#include <string.h>

#include "libreader/linktest/private.h"
#include "libwriter/base/bytes.h"
#include "libwriter/base/checked.h"
#include "libwriter/base/status.h"

/* Rules 1 and 2. */
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

/* Tag, version, hash and mode: rules 6, 7 and 9. */
static hpcw_status read_texts(struct read_linktest *r, hpcw_error *err) {
    struct read_linktest_info *info = &r->info;
    bool big = info->data_big;
    unsigned char head[READ_LINKTEST_MODE_AT];
    hpcw_status status = read_sion_read(r->sion, &r->task0, 0, head, sizeof head, err);
    if (status != HPCW_OK) {
        return status;
    }
    if (memcmp(head, "LinkTest", 8) != 0) {
        return read_linktest_wrong(r, NULL, 0, err, "tag: expected \"LinkTest\", got %02x %02x %02x %02x ...",
                                   head[0], head[1], head[2], head[3]);
    }
    info->major = hpcw_i_get_u32(head + READ_LINKTEST_VERSION_AT, big);
    info->minor = hpcw_i_get_u32(head + READ_LINKTEST_VERSION_AT + 4, big);
    info->patch = hpcw_i_get_u32(head + READ_LINKTEST_VERSION_AT + 8, big);
    if (info->major != 2 || info->minor != 1 || info->patch != 17) {
        return read_linktest_wrong(r, NULL, READ_LINKTEST_VERSION_AT, err,
                                   "version: expected 2.1.17, whose layout this is, got %" PRIu32 ".%" PRIu32
                                   ".%" PRIu32,
                                   info->major, info->minor, info->patch);
    }
    memcpy(info->git_hash, head + READ_LINKTEST_HASH_AT, READ_LINKTEST_HASH_SIZE);
    info->git_hash[READ_LINKTEST_HASH_SIZE] = '\0';
    r->hash_whole = strlen(info->git_hash) == READ_LINKTEST_HASH_SIZE - 1;

    uint32_t b = hpcw_i_get_u32(head + READ_LINKTEST_MODE_SIZE_AT, big);
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
    status = read_sion_read(r->sion, &r->task0, READ_LINKTEST_MODE_AT, info->mode, b, err);
    info->mode[b] = '\0';
    r->mode_whole = strlen(info->mode) == b - 1;
    r->flags_at = READ_LINKTEST_MODE_AT + (uint64_t)b;
    r->numbers_at = r->flags_at + READ_LINKTEST_FLAGS;
    return status;
}

/* Flags, numbers and the tag at the end: rule 16. */
static hpcw_status read_numbers(struct read_linktest *r, hpcw_error *err) {
    enum { NUMBERS_SIZE = 8 * READ_LINKTEST_NUMBERS };
    struct read_linktest_info *info = &r->info;
    uint64_t *const numbers[READ_LINKTEST_NUMBERS] = {
        [READ_LINKTEST_MESSAGES] = &info->messages,
        [READ_LINKTEST_MESSAGE_SIZE] = &info->message_size,
        [READ_LINKTEST_WARMUP_MESSAGES] = &info->warmup_messages,
        [READ_LINKTEST_RETESTS] = &info->retests,
        [READ_LINKTEST_MESSAGE_BUFFERS] = &info->message_buffers,
        [READ_LINKTEST_BUFFER_SEED] = &info->buffer_seed,
        [READ_LINKTEST_RANDOMIZED] = &info->randomized,
        [READ_LINKTEST_TASK_SEED] = &info->task_seed,
    };
    unsigned char bytes[READ_LINKTEST_FLAGS + NUMBERS_SIZE + READ_LINKTEST_END_HEADER_SIZE];
    hpcw_status status = read_sion_read(r->sion, &r->task0, r->flags_at, bytes, sizeof bytes, err);
    if (status != HPCW_OK) {
        return status;
    }
    memcpy(info->flags, bytes, sizeof info->flags);
    for (size_t i = 0; i < READ_LINKTEST_NUMBERS; i++) {
        *numbers[i] = hpcw_i_get_u64(bytes + READ_LINKTEST_FLAGS + 8 * i, info->data_big);
    }
    r->header_size = r->flags_at + sizeof bytes;
    if (memcmp(bytes + READ_LINKTEST_FLAGS + NUMBERS_SIZE, "END_HEADER", READ_LINKTEST_END_HEADER_SIZE) != 0) {
        return read_linktest_wrong(r, NULL, r->numbers_at + NUMBERS_SIZE, err,
                                   "expected \"END_HEADER\", got something else");
    }
    info->permutations = info->randomized > 0 ? info->randomized : 1;
    info->steps = info->flags[READ_LINKTEST_BISECTION] != 0 ? info->tasks / 2 : info->tasks - 1;
    return HPCW_OK;
}

uint64_t read_linktest_number_at(const struct read_linktest *r, enum read_linktest_number number) {
    return r->numbers_at + 8 * (uint64_t)number;
}

/* The sizes of the parts, none of which can be larger than the stream of rank 0: rules 13 and 17. */
static hpcw_status measure(struct read_linktest *r, hpcw_error *err) {
    const struct read_linktest_info *info = &r->info;
    uint64_t retests_at = read_linktest_number_at(r, READ_LINKTEST_RETESTS);
    r->all_to_all = info->flags[READ_LINKTEST_ALL_TO_ALL] != 0 ? 8 : 0;
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
        return read_linktest_wrong(r, NULL, read_linktest_number_at(r, READ_LINKTEST_RANDOMIZED), err,
                                   "randomized tasks: expected as many permutations of %" PRIu64
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
        status = read_numbers(r, err);
    }
    return status == HPCW_OK ? measure(r, err) : status;
}
