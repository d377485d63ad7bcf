/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments that must agree on all processes. Each opener compares its path and every option, and reports
 * differences. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <hpcw/clog2.h>
#include <hpcw/clog2_log.h>
#include <hpcw/linktest.h>
#include <hpcw/rank2file.h>
#include <hpcw/sion.h>
#include <hpcw/vom.h>

#include "libwriter/comm/agree.h"
#include "libwriter/fields/linktest.h"
#include "tests/support/world.h"

enum { REFUSED, ACCEPTED, FOLDERS };

union options {
    hpcw_sion_options sion;
    hpcw_clog2_options clog2;
    hpcw_clog2_log_options log;
    hpcw_linktest_params linktest;
    hpcw_rank2file_options rank2file;
};

/* An option that differs on one process. size > 0: `size` bytes of `value` at offset `at`. size 0: `text`, or what
 * `set` changes. */
struct change {
    const char *name;            /* name of the option in the message */
    const char *usual, *changed; /* values in the message */
    size_t at, size;
    uint64_t value;
    const char *text;
    void (*set)(union options *o);
};

struct opener {
    const char *name;
    void (*init)(union options *o);
    hpcw_status (*open)(const char *path, const union options *o, hpcw_error *err);
    const char *path_name; /* name of the path in the message */
    const struct change *change;
    size_t changes;
};

#define AT(member) .at = offsetof(union options, member), .size = sizeof((union options *)0)->member
#define TEXT_AT(member) .at = offsetof(union options, member)
#define ROWS(rows) (rows), sizeof(rows) / sizeof(rows)[0]

static hpcw_status no_sink(void *context, const char *path, uint64_t tag, bool creates, hpcw_sink **out,
                           hpcw_error *err) {
    (void)context, (void)path, (void)tag, (void)creates, (void)err;
    *out = NULL;
    return HPCW_ENOTSUP;
}

/* ---- SION ---- */

static uint64_t size_of(void *context, uint32_t rank) {
    (void)context;
    return 100 + rank;
}

static void set_size_of(union options *o) {
    o->sion.size_of = size_of;
}

static const uint64_t sizes[] = {1};

static void set_all_sizes(union options *o) {
    o->sion.all_sizes = sizes;
}

static void init_sion(union options *o) {
    hpcw_sion_options_init(&o->sion);
    o->sion.fs_block_size = 512;
}

static hpcw_status open_sion(const char *path, const union options *o, hpcw_error *err) {
    hpcw_sion *h;
    hpcw_status s = hpcw_sion_open(path, world, &o->sion, &h, err);
    hpcw_sion_free(h);
    return s;
}

static const struct change sion_changes[] = {
    {"layout", "aligned", "packed", AT(sion.layout), HPCW_SION_PACKED},
    {"tasks_per_group", "0", "2", AT(sion.tasks_per_group), 2},
    {"content", "records", "stream", AT(sion.content), HPCW_SION_STREAM},
    {"content", "records", "keyval", AT(sion.content), HPCW_SION_KEYVAL},
    {"endian", "little", "big", AT(sion.endian), HPCW_SION_BIG},
    {"data_endian", "little", "big", AT(sion.data_endian), HPCW_SION_BIG},
    {"flavour", "parallel", "serial", AT(sion.flavour), HPCW_SION_SERIAL},
    {"flavour", "parallel", "mapped", AT(sion.flavour), HPCW_SION_MAPPED},
    {"fs_block_size", "512", "0", AT(sion.fs_block_size), 0},
    {"files", "1", "2", AT(sion.files), 2},
    {"durability", "file", "none", AT(sion.durability), HPCW_SYNC_NONE},
    {"durability", "file", "directory", AT(sion.durability), HPCW_SYNC_DIRECTORY},
    {"source of chunk sizes", "own", "size_of", .set = set_size_of},
    {"source of chunk sizes", "own", "all_sizes", .set = set_all_sizes},
};

static void init_part(union options *o) {
    init_sion(o);
    o->sion.size_of = size_of;
    o->sion.files = 4;
    o->sion.set_tasks = 4 * (uint32_t)processes;
    o->sion.set_files = 1;
}

static const struct change part_changes[] = {
    {"set_tasks", NULL, "1000", AT(sion.set_tasks), 1000},
    {"set_first_file", "0", "1", AT(sion.set_first_file), 1},
    {"set_files", "1", "2", AT(sion.set_files), 2},
};

/* ---- CLOG-2 ---- */

static void entry_of(void *context, uint32_t index, hpcw_clog2_comm_entry *entry) {
    (void)context;
    entry->index = (int32_t)index;
}

static void set_clog2_sink(union options *o) {
    o->clog2.sink_source.open = no_sink;
}

static void init_clog2(union options *o) {
    hpcw_clog2_options_init(&o->clog2);
    o->clog2.ranks = 3;
    o->clog2.comms = 1;
    o->clog2.comm_of = entry_of;
}

static hpcw_status open_clog2(const char *path, const union options *o, hpcw_error *err) {
    hpcw_clog2 *h;
    hpcw_status s = hpcw_clog2_open(path, world, &o->clog2, &h, err);
    hpcw_clog2_free(h);
    return s;
}

static const struct change clog2_changes[] = {
    {"ranks", "3", "4", AT(clog2.ranks), 4},
    {"threads", "1", "2", AT(clog2.threads), 2},
    {"states", "0", "5", AT(clog2.states), 5},
    {"solos", "0", "5", AT(clog2.solos), 5},
    {"known_solos", "0", "2", AT(clog2.known_solos), 2},
    {"block_size", "65536", "1024", AT(clog2.block_size), 1024},
    {"comms", "1", "2", AT(clog2.comms), 2},
    {"durability", "file", "directory", AT(clog2.durability), HPCW_SYNC_DIRECTORY},
    {"sink_source", "files", "own", .set = set_clog2_sink},
};

/* ---- recording a CLOG-2 log ---- */

static double now(void) {
    return 1;
}

static void set_log_sink(union options *o) {
    o->log.sink_source.open = no_sink;
}

static void init_log(union options *o) {
    hpcw_clog2_log_options_init(&o->log);
    o->log.clock = HPCW_CLOG2_CLOCK_SYSTEM;
    o->log.now = now;
    o->log.sync_rounds = 1;
}

static hpcw_status open_log(const char *path, const union options *o, hpcw_error *err) {
    hpcw_clog2_log *h;
    hpcw_status s = hpcw_clog2_log_open(path, world, &o->log, &h, err);
    hpcw_clog2_log_free(h);
    return s;
}

static const struct change log_changes[] = {
    {"clock", "system", "caller", AT(log.clock), HPCW_CLOG2_CLOCK_CALLER},
    {"sync", "best", "none", AT(log.sync), HPCW_CLOG2_SYNC_NONE},
    {"sync", "best", "sequential", AT(log.sync), HPCW_CLOG2_SYNC_SEQUENTIAL},
    {"sync", "best", "tree", AT(log.sync), HPCW_CLOG2_SYNC_TREE},
    {"sync", "best", "neighbours", AT(log.sync), HPCW_CLOG2_SYNC_NEIGHBOURS},
    {"sync_rounds", "1", "2", AT(log.sync_rounds), 2},
    {"memory", "67108864", "33554432", AT(log.memory), 32 << 20},
    {"block_size", "65536", "1024", AT(log.block_size), 1024},
    {"durability", "file", "none", AT(log.durability), HPCW_SYNC_NONE},
    {"sink_source", "files", "own", .set = set_log_sink},
};

/* ---- LinkTest ---- */

static void set_linktest_sink(union options *o) {
    o->linktest.sink_source.open = no_sink;
}

static void init_linktest(union options *o) {
    hpcw_linktest_params *p = &o->linktest;
    hpcw_linktest_params_init(p);
    p->tasks = 4 * (uint32_t)processes;
    p->count = 4;
    p->random_buffers = true;
    p->permutations = 1;
    p->fs_block_size = 512;
}

static hpcw_status open_linktest(const char *path, const union options *o, hpcw_error *err) {
    hpcw_linktest *h;
    hpcw_status s = hpcw_linktest_open(path, world, &o->linktest, &h, err);
    hpcw_linktest_free(h);
    return s;
}

static const char one[] = "0000000000000000000000000000000000000001";

/* The fields of the table in libwriter/fields have no rows here: fields_must_agree takes them from it. */
static const struct change linktest_changes[] = {
    {"tasks", NULL, "1000", AT(linktest.tasks), 1000},
    {"git_hash", "none", "\"0000000000000000000000000000000000000001\"", TEXT_AT(linktest.git_hash),
     .text = one},
    {"mode", "\"mpi\"", "\"psm2\"", TEXT_AT(linktest.mode), .text = "psm2"},
    {"kernel", "semidirectional", "bidirectional", AT(linktest.kernel), HPCW_LINKTEST_BIDIRECTIONAL},
    {"kernel", "semidirectional", "unidirectional", AT(linktest.kernel), HPCW_LINKTEST_UNIDIRECTIONAL},
    {"step_seed", "0", "7", AT(linktest.step_seed), 7},
    {"max_host_size", "64", "65", AT(linktest.max_host_size), 65},
    {"files", "1", "2", AT(linktest.files), 2},
    {"set_first_file", "0", "1", AT(linktest.set_first_file), 1},
    {"set_files", "0", "1", AT(linktest.set_files), 1},
    {"fs_block_size", "512", "4096", AT(linktest.fs_block_size), 4096},
    {"layout", "aligned", "packed", AT(linktest.layout), HPCW_SION_PACKED},
    {"durability", "file", "none", AT(linktest.durability), HPCW_SYNC_NONE},
    {"sink_source", "files", "own", .set = set_linktest_sink},
};

/* ---- rank2file ---- */

static void set_rank2file_sink(union options *o) {
    o->rank2file.sink_source.open = no_sink;
}

static void init_rank2file(union options *o) {
    hpcw_rank2file_options_init(&o->rank2file);
    o->rank2file.dataset.id = 6;
    o->rank2file.count = 1;
}

static hpcw_status open_rank2file(const char *path, const union options *o, hpcw_error *err) {
    hpcw_rank2file *h;
    hpcw_status s = hpcw_rank2file_open(path, world, &o->rank2file, &h, err);
    hpcw_rank2file_free(h);
    return s;
}

static const struct change rank2file_changes[] = {
    {"layout", "scr-1.1", "scr-1.2", AT(rank2file.layout), HPCW_RANK2FILE_SCR_1_2},
    {"layout", "scr-1.1", "shared", AT(rank2file.layout), HPCW_RANK2FILE_SHARED},
    {"dataset.id", "6", "7", AT(rank2file.dataset.id), 7},
    {"dataset.name", "\"scr.dataset.6\"", "\"other\"", TEXT_AT(rank2file.dataset.name), .text = "other"},
    {"dataset.checkpoint", "0", "7", AT(rank2file.dataset.checkpoint), 7},
    {"dataset.created_us", "0", "7", AT(rank2file.dataset.created_us), 7},
    {"dataset.flushed", "none", "\"2024-01-01T00:00:00\"", TEXT_AT(rank2file.dataset.flushed),
     .text = "2024-01-01T00:00:00"},
    {"dataset.user", "none", "\"other\"", TEXT_AT(rank2file.dataset.user), .text = "other"},
    {"dataset.job_id", "none", "\"7\"", TEXT_AT(rank2file.dataset.job_id), .text = "7"},
    {"dataset.job_name", "none", "\"other\"", TEXT_AT(rank2file.dataset.job_name), .text = "other"},
    {"dataset.cluster", "none", "\"other\"", TEXT_AT(rank2file.dataset.cluster), .text = "other"},
    {"leaf_ranks", "8192", "7", AT(rank2file.leaf_ranks), 7},
    {"leaf_bytes", "1048576", "4096", AT(rank2file.leaf_bytes), 4096},
    {"durability", "file", "directory", AT(rank2file.durability), HPCW_SYNC_DIRECTORY},
    {"sink_source", "files", "own", .set = set_rank2file_sink},
};

static const struct opener openers[] = {
    {"sion", init_sion, open_sion, "path", ROWS(sion_changes)},
    {"part", init_part, open_sion, "path", ROWS(part_changes)},
    {"clog2", init_clog2, open_clog2, "path", ROWS(clog2_changes)},
    {"log", init_log, open_log, "path", ROWS(log_changes)},
    {"linktest", init_linktest, open_linktest, "path", ROWS(linktest_changes)},
    {"rank2file", init_rank2file, open_rank2file, "prefix", ROWS(rank2file_changes)},
};

/* ---- the tests ---- */

static void apply(const struct change *c, union options *o) {
    unsigned char *field = (unsigned char *)o + c->at;
    uint32_t value32 = (uint32_t)c->value;
    bool flag = c->value != 0;
    if (c->set != NULL) {
        c->set(o);
    } else if (c->text != NULL) {
        memcpy(field, &c->text, sizeof c->text);
    } else {
        memcpy(field,
               c->size == sizeof flag      ? (void *)&flag
               : c->size == sizeof value32 ? (void *)&value32
                                           : (void *)(uintptr_t)&c->value,
               c->size);
    }
}

/* Opens with `o`, which differs on process `culprit`. It must fail on all processes with the right message. */
static void assert_mismatch(const struct opener *opener, const union options *o, const char *path, int culprit,
                            const char *about, const char *name, const char *usual, const char *changed) {
    char want[1024];
    hpcw_error err = {.message = ""};
    hpcw_status s = opener->open(path, o, &err);
    int other = culprit == 0 ? 1 : culprit; /* the lowest process that differs from process 0 */
    (void)snprintf(want, sizeof want,
                   "%s: expected the same %s on all processes, got %s on process 0 and %s on process %d", about,
                   name, culprit == 0 ? changed : usual, culprit == 0 ? usual : changed, other);
    bool good = s == HPCW_EMISMATCH && strcmp(err.message, want) == 0 && err.process == other;
    if (!good) {
        print_error("%s, process %d: status %d, process %d: %s\nexpected: %s\n", opener->name, process, (int)s,
                    err.process, err.message, want);
    }
    assert_true(on_all(good));
    assert_true(same_verdict(s, &err));
}

static void path_in(int folder, const char *name, char *path, size_t size) {
    (void)snprintf(path, size, "%s/%d/%s", scratch, folder, name);
}

static void option_must_agree(const struct opener *opener, const struct change *change) {
    char path[512];
    path_in(REFUSED, opener->name, path, sizeof path);
    for (int culprit = 0; culprit < processes; culprit += processes - 1) {
        union options o;
        memset(&o, 0, sizeof o);
        opener->init(&o);
        if (process == culprit) {
            apply(change, &o);
        }
        char tasks[16]; /* the only usual value that depends on the number of processes */
        (void)snprintf(tasks, sizeof tasks, "%d", 4 * processes);
        assert_mismatch(opener, &o, path, culprit, path, change->name,
                        change->usual == NULL ? tasks : change->usual, change->changed);
    }
}

static void options_must_agree(void **state) {
    (void)state;
    char dir[300];
    (void)snprintf(dir, sizeof dir, "%s/%d", scratch, REFUSED);
    for (size_t i = 0; processes > 1 && i < sizeof openers / sizeof openers[0]; i++) {
        for (size_t c = 0; c < openers[i].changes; c++) {
            option_must_agree(&openers[i], &openers[i].change[c]);
        }
    }
    assert_int_equal(entries_seen(dir), 0);
}

static void fields_must_agree(void **state) {
    (void)state;
    static const struct opener opener = {"linktest", init_linktest, open_linktest, "path", NULL, 0};
    union options usual;
    init_linktest(&usual);
    for (size_t i = 0; processes > 1 && i < hpcw_i_linktest_field_count; i++) {
        const struct hpcw_i_linktest_field *f = &hpcw_i_linktest_fields[i];
        if (f->params == HPCW_I_LINKTEST_DERIVED) {
            continue;
        }
        const uint64_t value = hpcw_i_linktest_given(f, &usual.linktest);
        const bool flag = f->type == HPCW_I_LINKTEST_BOOL;
        char number[24];
        (void)snprintf(number, sizeof number, "%" PRIu64, value);
        const struct change change = {.name = f->name,
                                      .usual = !flag        ? number
                                               : value != 0 ? "yes"
                                                            : "no",
                                      .changed = !flag        ? "7"
                                                 : value != 0 ? "no"
                                                              : "yes",
                                      .at = f->params,
                                      .size = flag ? sizeof flag : sizeof value,
                                      .value = !flag ? 7 : value == 0};
        option_must_agree(&opener, &change);
    }
}

static void paths_must_agree(void **state) {
    (void)state;
    char usual[512], changed[512], usual_shown[520], changed_shown[520], dir[300];
    (void)snprintf(dir, sizeof dir, "%s/%d", scratch, REFUSED);
    path_in(REFUSED, "x", usual, sizeof usual);
    path_in(REFUSED, "y", changed, sizeof changed);
    (void)snprintf(usual_shown, sizeof usual_shown, "\"%s\"", usual);
    (void)snprintf(changed_shown, sizeof changed_shown, "\"%s\"", changed);
    for (size_t i = 0; processes > 1 && i < sizeof openers / sizeof openers[0]; i++) {
        for (int culprit = 0; culprit < processes; culprit += processes - 1) {
            union options o;
            memset(&o, 0, sizeof o);
            openers[i].init(&o);
            assert_mismatch(&openers[i], &o, process == culprit ? changed : usual, culprit,
                            culprit == 0 ? usual : changed, openers[i].path_name, usual_shown, changed_shown);
        }
    }
    for (int culprit = 0; processes > 1 && culprit < processes; culprit++) {
        hpcw_error err = {.message = ""};
        hpcw_status s = hpcw_vom_make_directory(process == culprit ? changed : usual, world, &err);
        assert_true(on_all(s == HPCW_EMISMATCH));
        assert_true(same_verdict(s, &err));
    }
    assert_int_equal(entries_seen(dir), 0);
}

/* The usual options, before any change, must be accepted. */
static void equal_options_are_accepted(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof openers / sizeof openers[0]; i++) {
        char path[512];
        hpcw_error err = {.message = ""};
        union options o;
        memset(&o, 0, sizeof o);
        openers[i].init(&o);
        path_in(ACCEPTED, openers[i].name, path, sizeof path);
        hpcw_status s = openers[i].open(path, &o, &err);
        if (s != HPCW_OK) {
            print_error("%s, process %d: %s\n", openers[i].name, process, err.message);
        }
        assert_true(on_all(s == HPCW_OK));
    }
}

/* ---- hpcw_i_agree_same, called directly ---- */

static hpcw_status compare(struct hpcw_i_same value, hpcw_status mine, struct hpcw_i_words *words,
                           hpcw_error *err) {
    const struct hpcw_i_same same[] = {{.name = "first", .number = 5}, value};
    *err = (hpcw_error){.message = ""};
    return hpcw_i_agree_same(world, mine, "here", same, 2, words, err);
}

static void values_as_a_person_reads_them(void **state) {
    (void)state;
    static const struct {
        struct hpcw_i_same usual, changed;
        const char *usual_shown, *changed_shown;
    } row[] = {
        {{.number = 0}, {.number = UINT64_MAX}, "0", "18446744073709551615"},
        {{.number = 0, .words = "zero one"}, {.number = 1, .words = "zero one"}, "zero", "one"},
        {{.number = 1, .words = "zero one"}, {.number = 2, .words = "zero one"}, "one", "2"},
        {{.number = 0, .words = "auto"},
         {.number = UINT64_MAX, .words = "auto"},
         "auto",
         "18446744073709551615"},
        {{.text = "a"}, {.text = "b"}, "\"a\"", "\"b\""},
        {{.words = "none", .text = ""}, {.words = "none"}, "\"\"", "none"},
        {{.text = "0"}, {.number = '0'}, "\"0\"", "48"},
        {{.text = "a"}, {.text = "a b"}, "\"a\"", "\"a b\""},
    };
    for (size_t i = 0; processes > 1 && i < sizeof row / sizeof row[0]; i++) {
        for (int culprit = 0; culprit < processes; culprit++) {
            struct hpcw_i_same value = process == culprit ? row[i].changed : row[i].usual;
            value.name = "second";
            hpcw_error err;
            hpcw_status s = compare(value, HPCW_OK, NULL, &err);
            char want[256];
            (void)snprintf(
                want, sizeof want,
                "here: expected the same second on all processes, got %s on process 0 and %s on process %d",
                culprit == 0 ? row[i].changed_shown : row[i].usual_shown,
                culprit == 0 ? row[i].usual_shown : row[i].changed_shown, culprit == 0 ? 1 : culprit);
            if (strcmp(err.message, want) != 0) {
                print_error("process %d: %s\nexpected: %s\n", process, err.message, want);
            }
            assert_true(on_all(s == HPCW_EMISMATCH && strcmp(err.message, want) == 0));
            assert_true(same_verdict(s, &err));
        }
    }
}

/* For long texts the message shows the part that differs, even if process 0 cannot send all of it. */
static void long_texts(void **state) {
    (void)state;
    static const size_t lengths[] = {161, 1000, 4000, 9000};
    for (size_t i = 0; processes > 1 && i < sizeof lengths / sizeof lengths[0]; i++) {
        static char text[10000];
        memset(text, 'a', lengths[i]);
        memcpy(text + lengths[i] - 10, process == processes - 1 ? "last name!" : "usual name", 11);
        hpcw_error err;
        hpcw_status s = compare((struct hpcw_i_same){.name = "text", .text = text}, HPCW_OK, NULL, &err);
        assert_true(on_all(s == HPCW_EMISMATCH));
        assert_true(same_verdict(s, &err));
        assert_true(on_all(strlen(err.message) < 500));
        if (lengths[i] < 4096) {
            assert_non_null(strstr(err.message, "aaausual name\" on process 0"));
            assert_non_null(strstr(err.message, "aaalast name!\" on process"));
        }
        memcpy(text + 50, process == processes - 1 ? "here" : "this", 4);
        s = compare((struct hpcw_i_same){.name = "text", .text = text}, HPCW_OK, NULL, &err);
        assert_true(on_all(s == HPCW_EMISMATCH));
        assert_non_null(strstr(err.message, "got \"...aaaa"));
        assert_non_null(strstr(err.message, "thisaaaa"));
        assert_non_null(strstr(err.message, "hereaaaa"));
        assert_true(lengths[i] < 1000 || strstr(err.message, "aaa...\" on process 0") != NULL);
    }
}

/* The call that compares values also reduces the words of all processes. If a process fails, its status is returned
 * even if values differ. Without failures and differences, the message stays empty. */
static void words_and_failures(void **state) {
    (void)state;
    for (int culprit = -1; culprit < processes; culprit++) {
        bool me = process == culprit;
        uint64_t word[3] = {1, (uint64_t)process + 10, (uint64_t)process + 20};
        struct hpcw_i_words words = {.sums = 1, .mins = 1, .maxs = 1, .word = word};
        hpcw_error err;
        hpcw_status mine = me ? HPCW_ENOENT : HPCW_OK;
        /* If a process fails, the processes also have different values. */
        struct hpcw_i_same value = {.name = "second", .number = culprit < 0 ? 0 : (uint64_t)process};
        hpcw_status s = compare(value, mine, &words, &err);
        assert_true(on_all(s == (culprit < 0 ? HPCW_OK : HPCW_ENOENT)));
        if (culprit < 0) {
            assert_true(on_all(word[0] == (uint64_t)processes && word[1] == 10 &&
                               word[2] == (uint64_t)processes + 19 && err.message[0] == '\0'));
        }
        assert_true(on_all(processes == 1 || err.process == (culprit < 0 ? 0 : culprit)));
        /* If values differ, the words of no process change. */
        value.number = (uint64_t)process;
        uint64_t before[3];
        memcpy(before, word, sizeof before);
        s = compare(value, HPCW_OK, &words, &err);
        assert_true(on_all(processes == 1 || (s == HPCW_EMISMATCH && memcmp(word, before, sizeof word) == 0)));
    }
    /* Without a struct for the message (err is NULL), the status is the same. */
    const struct hpcw_i_same same = {.name = "number", .number = (uint64_t)process};
    hpcw_status s = hpcw_i_agree_same(world, HPCW_OK, "here", &same, 1, NULL, NULL);
    assert_true(on_all(s == (processes > 1 ? HPCW_EMISMATCH : HPCW_OK)));
}

int main(int argc, char **argv) {
    world_begin(&argc, &argv, FOLDERS);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_must_agree),
        cmocka_unit_test(fields_must_agree),
        cmocka_unit_test(paths_must_agree),
        cmocka_unit_test(equal_options_are_accepted),
        cmocka_unit_test(values_as_a_person_reads_them),
        cmocka_unit_test(long_texts),
        cmocka_unit_test(words_and_failures),
    };
    return world_end(cmocka_run_group_tests(tests, NULL, NULL));
}
