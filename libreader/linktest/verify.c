/* SPDX-License-Identifier: BSD-3-Clause */
/* All rules of doc/formats/linktest.md, "Rules": the container, the file header, then every permutation. */
#include <inttypes.h>
#include <string.h>

#include "libreader/linktest/pass.h"
#include "libwriter/base/status.h"

/* ---- Rules of the file header ----------------------------------------------------------------------------- */

/* The first failure stays in `status`. From then on nothing is checked. */
struct header_check {
    const struct read_linktest *r;
    hpcw_status status;
    hpcw_error *err;
};

static void number_rule(struct header_check *c, enum read_linktest_number number, const char *field, bool good,
                        const char *expected, uint64_t got) {
    if (c->status == HPCW_OK && !good) {
        c->status = read_linktest_wrong(c->r, NULL, read_linktest_number_at(c->r, number), c->err,
                                        "%s: expected %s, got %" PRIu64, field, expected, got);
    }
}

static void flag_rule(struct header_check *c, enum read_linktest_flag flag, bool good, const char *expected) {
    static const char *const names[READ_LINKTEST_FLAGS] = {
        "all-to-all",  "bidirectional kernel", "unidirectional kernel", "bisection",  "randomized steps",
        "serial",      "no SION file",         "parallel SION file",    "GPU memory", "several buffers",
        "random fill", "checked buffers",      "memory allocator",
    };
    if (c->status == HPCW_OK && !good) {
        c->status =
            read_linktest_wrong(c->r, NULL, c->r->flags_at + (uint64_t)flag, c->err, "%s: expected %s, got %u",
                                names[flag], expected, c->r->info.flags[flag]);
    }
}

static void text_rule(struct header_check *c, uint64_t offset, bool good, const char *expected,
                      const char *got) {
    if (c->status == HPCW_OK && !good) {
        c->status = read_linktest_wrong(c->r, NULL, offset, c->err, "%s, got \"%.64s\"", expected, got);
    }
}

/* Rules 8 to 10 and 12. */
static void header_rules(struct header_check *c) {
    const struct read_linktest_info *info = &c->r->info;
    text_rule(c, READ_LINKTEST_HASH_AT, c->r->hash_whole, "git hash: expected 40 characters and a NUL",
              info->git_hash);
    text_rule(c, READ_LINKTEST_MODE_AT, c->r->mode_whole && info->mode[0] != '\0',
              "mode: expected a word with one NUL, at its end", info->mode);
    for (int i = 0; i < READ_LINKTEST_ALLOCATOR; i++) {
        flag_rule(c, (enum read_linktest_flag)i, info->flags[i] <= 1, "a flag, 0 or 1");
    }
    flag_rule(c, READ_LINKTEST_NO_SION, info->flags[READ_LINKTEST_NO_SION] == 0, "0 in a file");
    number_rule(c, READ_LINKTEST_MESSAGES, "messages", info->messages >= 1, ">= 1", info->messages);
}

static bool is_known(const char *mode) {
    static const char *const modes[] = {"mpi", "tcp", "ucp", "ibverbs", "psm2", "cuda"};
    for (size_t m = 0; m < sizeof modes / sizeof modes[0]; m++) {
        if (strcmp(modes[m], mode) == 0) {
            return true;
        }
    }
    return false;
}

/* What no source decides, as hpcw writes it: rules 8, 9, 11, 13 to 15. */
static void strict_rules(struct header_check *c) {
    const struct read_linktest_info *info = &c->r->info;
    const uint8_t *flags = info->flags;
    bool many = flags[READ_LINKTEST_MANY_BUFFERS] != 0;
    text_rule(c, READ_LINKTEST_HASH_AT,
              strspn(info->git_hash, "0123456789abcdef") == READ_LINKTEST_HASH_SIZE - 1,
              "git hash: expected 40 lower-case hex digits", info->git_hash);
    text_rule(c, READ_LINKTEST_MODE_AT, is_known(info->mode),
              "mode: expected mpi, tcp, ucp, ibverbs, psm2 or cuda", info->mode);
    flag_rule(c, READ_LINKTEST_ALL_TO_ALL,
              flags[READ_LINKTEST_ALL_TO_ALL] == 0 || strcmp(info->mode, "mpi") == 0,
              "0 unless the mode is mpi");
    flag_rule(c, READ_LINKTEST_UNIDIRECTIONAL,
              flags[READ_LINKTEST_UNIDIRECTIONAL] == 0 || flags[READ_LINKTEST_BIDIRECTIONAL] == 0,
              "0 with the bidirectional kernel");
    flag_rule(c, READ_LINKTEST_ALLOCATOR, flags[READ_LINKTEST_ALLOCATOR] == 0, "0");
    number_rule(c, READ_LINKTEST_RETESTS, "retests", info->retests <= info->tasks,
                "at most the number of tasks", info->retests);
    number_rule(c, READ_LINKTEST_MESSAGE_BUFFERS, "message buffers",
                many ? info->message_buffers >= 2 : info->message_buffers == 1,
                many ? ">= 2 with several buffers" : "1 without several buffers", info->message_buffers);
    number_rule(c, READ_LINKTEST_BUFFER_SEED, "seed of the buffer fill",
                flags[READ_LINKTEST_RANDOM_BUFFERS] != 0 || info->buffer_seed == 0, "0 without a random fill",
                info->buffer_seed);
    number_rule(c, READ_LINKTEST_TASK_SEED, "seed of the task randomization",
                info->randomized != 0 || info->task_seed == 0, "0 without randomized tasks", info->task_seed);
}

/* ---- The result ------------------------------------------------------------------------------------------- */

hpcw_status read_linktest_verify(struct read_linktest *reader, unsigned flags, hpcw_error *err) {
    bool strict = (flags & READ_SION_STRICT) != 0;
    struct read_linktest_pass *pass = NULL;
    struct header_check check = {.r = reader, .err = err};
    check.status = read_sion_verify(reader->sion, flags, err);
    header_rules(&check);
    if (strict) {
        strict_rules(&check);
    }
    hpcw_status status = check.status;
    if (status == HPCW_OK) {
        status = read_linktest_pass_new(reader, strict, &pass, err);
    }
    for (uint64_t p = 0; p < reader->info.permutations && status == HPCW_OK; p++) {
        status = read_linktest_pass_run(pass, p, err);
    }
    read_linktest_pass_free(pass);
    return status;
}
