/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks all rules of doc/formats/linktest.md, "Rules": the container, the file header, then every permutation. */
#include <string.h>

#include "libreader/linktest/pass.h"
#include "libwriter/base/status.h"

/* ---- Rules of the file header ----------------------------------------------------------------------------- */

/* A check of the file header. The first failure stays in `status`; after a failure nothing more is checked. */
struct header_check {
    const struct read_linktest *r;
    hpcw_status status;
    hpcw_error *err;
};

static void field_rule(struct header_check *c, const void *member, bool good, const char *expected) {
    if (c->status == HPCW_OK && !good) {
        c->status = read_linktest_wrong_field(c->r, member, expected, c->err);
    }
}

static void text_rule(struct header_check *c, uint64_t offset, bool good, const char *expected,
                      const char *got) {
    if (c->status == HPCW_OK && !good) {
        c->status = read_linktest_wrong(c->r, NULL, offset, c->err, "%s, got \"%.64s\"", expected, got);
    }
}

/* Checks rules 8 to 10 and 12. */
static void header_rules(struct header_check *c) {
    const hpcw_linktest_info *info = &c->r->info;
    text_rule(c, READ_LINKTEST_HASH_AT, c->r->hash_whole, "git hash: expected 40 characters and a NUL",
              info->git_hash);
    text_rule(c, READ_LINKTEST_MODE_AT, c->r->mode_whole && info->mode[0] != '\0',
              "mode: expected a word with one NUL, at its end", info->mode);
    field_rule(c, c->r->odd_flag, c->r->odd_flag == NULL, "a flag, 0 or 1");
    field_rule(c, &info->no_sion, !info->no_sion, "0 in a file");
    field_rule(c, &info->messages, info->messages >= 1, ">= 1");
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

/* Checks the strict parts of rules 8, 9, 11 and 13 to 15: conventions of hpcw for which LinkTest has no rule. */
static void strict_rules(struct header_check *c) {
    const hpcw_linktest_info *info = &c->r->info;
    text_rule(c, READ_LINKTEST_HASH_AT,
              strspn(info->git_hash, "0123456789abcdef") == READ_LINKTEST_HASH_SIZE - 1,
              "git hash: expected 40 lower-case hex digits", info->git_hash);
    text_rule(c, READ_LINKTEST_MODE_AT, is_known(info->mode),
              "mode: expected mpi, tcp, ucp, ibverbs, psm2 or cuda", info->mode);
    field_rule(c, &info->all_to_all, !info->all_to_all || strcmp(info->mode, "mpi") == 0,
               "0 unless mode is mpi");
    field_rule(c, &info->unidirectional, !info->unidirectional || !info->bidirectional, "0 with bidirectional");
    field_rule(c, &info->allocator, info->allocator == 0, "0");
    field_rule(c, &info->retests, info->retests <= info->tasks, "at most the number of tasks");
    field_rule(c, &info->message_buffers,
               info->many_buffers ? info->message_buffers >= 2 : info->message_buffers == 1,
               info->many_buffers ? ">= 2 with many_buffers" : "1 without many_buffers");
    field_rule(c, &info->buffer_seed, info->random_buffers || info->buffer_seed == 0,
               "0 without random_buffers");
    field_rule(c, &info->task_seed, info->randomized || info->task_seed == 0, "0 if permutations is 0");
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
