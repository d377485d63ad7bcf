/* SPDX-License-Identifier: BSD-3-Clause */
/* doc/formats/linktest.md, "Rules": container, file header, then every permutation (linktest_rows.c). */
#include <inttypes.h>
#include <string.h>

#include "libreader/linktest/private.h"
#include "libwriter/base/status.h"

/* Offsets of the fields behind the mode string, counted back from the end of the file header. */
#define FLAGS_BEFORE_END 87u
#define NUMBERS_BEFORE_END 74u

static hpcw_status number_rule(const struct read_linktest *r, unsigned index, const char *field, bool good,
                               const char *expected, uint64_t got, hpcw_error *err) {
    if (good) {
        return HPCW_OK;
    }
    return read_linktest_wrong(r, NULL, r->header_size - NUMBERS_BEFORE_END + 8 * (uint64_t)index, err,
                               "%s: expected %s, got %" PRIu64, field, expected, got);
}

static hpcw_status flag_rule(const struct read_linktest *r, enum read_linktest_flag flag, bool good,
                             const char *expected, hpcw_error *err) {
    static const char *const names[READ_LINKTEST_FLAGS] = {
        "all-to-all",  "bidirectional kernel", "unidirectional kernel", "bisection",  "randomized steps",
        "serial",      "no SION file",         "parallel SION file",    "GPU memory", "several buffers",
        "random fill", "checked buffers",      "memory allocator",
    };
    if (good) {
        return HPCW_OK;
    }
    return read_linktest_wrong(r, NULL, r->header_size - FLAGS_BEFORE_END + (uint64_t)flag, err,
                               "%s: expected %s, got %u", names[flag], expected, r->info.flags[flag]);
}

/* Rules 8 to 10 and 12. */
static hpcw_status header_rules(const struct read_linktest *r, hpcw_error *err) {
    const struct read_linktest_info *info = &r->info;
    if (!r->hash_whole) {
        return read_linktest_wrong(r, NULL, 20, err,
                                   "git hash: expected 40 characters and a NUL, got \"%.41s\"", info->git_hash);
    }
    if (!r->mode_whole || info->mode[0] == '\0') {
        return read_linktest_wrong(r, NULL, 65, err,
                                   "mode: expected a word with one NUL, at its end, got \"%.64s\"", info->mode);
    }
    for (int i = 0; i < READ_LINKTEST_ALLOCATOR; i++) {
        hpcw_status status =
            flag_rule(r, (enum read_linktest_flag)i, info->flags[i] <= 1, "a flag, 0 or 1", err);
        if (status != HPCW_OK) {
            return status;
        }
    }
    hpcw_status status =
        flag_rule(r, READ_LINKTEST_NO_SION, info->flags[READ_LINKTEST_NO_SION] == 0, "0 in a file", err);
    if (status == HPCW_OK) {
        status = number_rule(r, 0, "messages", info->messages >= 1, ">= 1", info->messages, err);
    }
    return status;
}

/* What no source decides, as we write it: rules 8, 9, 11, 13 to 15. */
static hpcw_status strict_header(const struct read_linktest *r, hpcw_error *err) {
    static const char *const modes[] = {"mpi", "tcp", "ucp", "ibverbs", "psm2", "cuda"};
    const struct read_linktest_info *info = &r->info;
    const uint8_t *flags = info->flags;
    hpcw_status status;
    if (strspn(info->git_hash, "0123456789abcdef") != 40) {
        return read_linktest_wrong(r, NULL, 20, err, "git hash: expected 40 lower-case hex digits, got \"%s\"",
                                   info->git_hash);
    }
    size_t m = 0;
    while (m < sizeof modes / sizeof modes[0] && strcmp(modes[m], info->mode) != 0) {
        m++;
    }
    if (m == sizeof modes / sizeof modes[0]) {
        return read_linktest_wrong(
            r, NULL, 65, err, "mode: expected mpi, tcp, ucp, ibverbs, psm2 or cuda, got \"%s\"", info->mode);
    }
    const struct {
        enum read_linktest_flag flag;
        bool good;
        const char *expected;
    } flag_rules[] = {
        {READ_LINKTEST_ALL_TO_ALL, flags[READ_LINKTEST_ALL_TO_ALL] == 0 || m == 0, "0 unless the mode is mpi"},
        {READ_LINKTEST_UNIDIRECTIONAL,
         flags[READ_LINKTEST_UNIDIRECTIONAL] == 0 || flags[READ_LINKTEST_BIDIRECTIONAL] == 0,
         "0 with the bidirectional kernel"},
        {READ_LINKTEST_ALLOCATOR, flags[READ_LINKTEST_ALLOCATOR] == 0, "0"},
    };
    for (size_t i = 0; i < sizeof flag_rules / sizeof flag_rules[0]; i++) {
        status = flag_rule(r, flag_rules[i].flag, flag_rules[i].good, flag_rules[i].expected, err);
        if (status != HPCW_OK) {
            return status;
        }
    }
    bool many = flags[READ_LINKTEST_MANY_BUFFERS] != 0;
    const struct {
        unsigned index;
        const char *field;
        bool good;
        const char *expected;
        uint64_t got;
    } number_rules[] = {
        {3, "retests", info->retests <= info->tasks, "at most the number of tasks", info->retests},
        {4, "message buffers", many ? info->message_buffers >= 2 : info->message_buffers == 1,
         many ? ">= 2 with several buffers" : "1 without several buffers", info->message_buffers},
        {5, "seed of the buffer fill", flags[READ_LINKTEST_RANDOM_BUFFERS] != 0 || info->buffer_seed == 0,
         "0 without a random fill", info->buffer_seed},
        {7, "seed of the task randomization", info->randomized != 0 || info->task_seed == 0,
         "0 without randomized tasks", info->task_seed},
    };
    for (size_t i = 0; i < sizeof number_rules / sizeof number_rules[0]; i++) {
        status = number_rule(r, number_rules[i].index, number_rules[i].field, number_rules[i].good,
                             number_rules[i].expected, number_rules[i].got, err);
        if (status != HPCW_OK) {
            return status;
        }
    }
    return HPCW_OK;
}

hpcw_status read_linktest_verify(struct read_linktest *reader, unsigned flags, hpcw_error *err) {
    bool strict = (flags & READ_SION_STRICT) != 0;
    struct read_linktest_pass *pass = NULL;
    hpcw_status status = read_sion_verify(reader->sion, flags, err);
    if (status == HPCW_OK) {
        status = header_rules(reader, err);
    }
    if (status == HPCW_OK && strict) {
        status = strict_header(reader, err);
    }
    if (status == HPCW_OK) {
        status = read_linktest_pass_new(reader, strict, &pass, err);
    }
    for (uint64_t p = 0; p < reader->info.permutations && status == HPCW_OK; p++) {
        status = read_linktest_pass_run(pass, p, err);
    }
    read_linktest_pass_free(pass);
    return status;
}
