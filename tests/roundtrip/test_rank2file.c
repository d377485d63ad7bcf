/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes checkpoints of all layouts, and maps of all depths, and restarts from them. Maps are written by the writer
 * of checkpoints, and one node at a time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include <hpcw/hpcw.h>

#include "libwriter/base/crc32.h"
#include "tests/support/files.h"
#include "tests/support/rank2file_cases.h"

static const char *in_scratch(const char *name) {
    static char path[4][600];
    static unsigned next;
    char *p = path[next++ % 4];
    (void)snprintf(p, sizeof path[0], "%s/%s", scratch, name);
    return p;
}

static void write_case(const struct rank2file_case *c, const char *prefix) {
    hpcw_error err = {.message = ""};
    if (rank2file_case_write(c, NULL, prefix, NULL, c->ranks, NULL, &err) != HPCW_OK) {
        fail_msg("%s: %s", c->name, err.message);
    }
}

static hpcw_rank2file_restart *opened(const char *prefix) {
    hpcw_rank2file_restart *r;
    hpcw_error err = {.message = ""};
    if (hpcw_rank2file_restart_open(prefix, NULL, NULL, &r, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    return r;
}

static void assert_loads(const struct rank2file_case *c, hpcw_rank2file_restart *r, uint32_t count,
                         const uint32_t *ranks, const uint32_t *want) {
    hpcw_error err = {.message = ""};
    if (hpcw_rank2file_restart_load(r, count, ranks, &err) != HPCW_OK ||
        hpcw_rank2file_restart_check(r, true, &err) != HPCW_OK) {
        fail_msg("%s: %s", c->name, err.message);
    }
    assert_true(rank2file_case_loaded(c, r, count, want));
}

/* The call that fills columns returns the same as the call for one file, for any number of rows. */
static void assert_columns(hpcw_rank2file_restart *r) {
    enum { ROWS = 5 };
    uint32_t rank[ROWS], crc[ROWS];
    const char *name[ROWS];
    uint64_t size[ROWS];
    bool has_size[ROWS], has_crc[ROWS];
    const hpcw_rank2file_files columns = {rank, name, size, crc, has_size, has_crc};
    const uint64_t files = hpcw_rank2file_restart_files(r);
    for (uint64_t k = 0; k < files; k++) {
        hpcw_rank2file_found f;
        char path[512];
        const size_t i = k % ROWS, left = (size_t)(files - k);
        if (i == 0) {
            assert_int_equal(hpcw_rank2file_restart_fill(r, k, left < ROWS ? left : ROWS, &columns, NULL),
                             HPCW_OK);
        }
        assert_int_equal(hpcw_rank2file_restart_file(r, k, &f, NULL), HPCW_OK);
        (void)snprintf(path, sizeof path, "%s/%s", hpcw_rank2file_restart_base(r), name[i]);
        assert_string_equal(path, f.path);
        assert_true(rank[i] == f.rank && name[i] == f.name && size[i] == f.size && crc[i] == f.crc &&
                    has_size[i] == f.has_size && has_crc[i] == f.has_crc);
    }
    const hpcw_rank2file_files none = {.rank = NULL};
    assert_int_equal(hpcw_rank2file_restart_fill(r, 0, (size_t)files, &none, NULL), HPCW_OK);
    assert_int_equal(hpcw_rank2file_restart_fill(r, files, 0, &columns, NULL), HPCW_OK);
    assert_int_equal(hpcw_rank2file_restart_fill(r, files, 1, &columns, NULL), HPCW_EINVAL);
    assert_int_equal(hpcw_rank2file_restart_fill(r, 0, SIZE_MAX, &columns, NULL), HPCW_EINVAL);
    assert_int_equal(hpcw_rank2file_restart_fill(r, 0, 0, NULL, NULL), HPCW_EINVAL);
}

static void what_was_written_is_found(void **state) {
    (void)state;
    for (unsigned i = 0; i < rank2file_case_count; i++) {
        const struct rank2file_case *c = &rank2file_cases[i];
        char name[32];
        (void)snprintf(name, sizeof name, "case%u", i);
        write_case(c, in_scratch(name));
        hpcw_rank2file_restart *r = opened(in_scratch(name));
        assert_int_equal(hpcw_rank2file_restart_ranks(r), c->ranks);
        assert_int_equal(hpcw_rank2file_restart_layout(r), c->layout);
        const hpcw_rank2file_dataset *d = hpcw_rank2file_restart_dataset(r);
        assert_int_equal(d->id, 7);
        assert_int_equal(d->checkpoint, 7);
        assert_string_equal(d->name, c->layout == HPCW_RANK2FILE_SCR_3 ? "ckpt.7" : "scr.dataset.7");
        assert_string_equal(d->user, "user1");
        assert_string_equal(d->job_name, "simA");
        assert_null(d->cluster);
        uint32_t all[RANK2FILE_MOST_RANKS];
        uint32_t some[RANK2FILE_MOST_RANKS];
        uint32_t n = 0;
        for (uint32_t k = 0; k < c->ranks; k++) {
            all[k] = k;
            if (k % 3 == 1) {
                some[n++] = k;
            }
        }
        assert_loads(c, r, c->ranks, NULL, all);
        assert_int_equal(hpcw_rank2file_restart_files(r), d->files);
        uint64_t sum = 0;
        for (uint64_t k = 0; k < d->files; k++) {
            hpcw_rank2file_found f;
            assert_int_equal(hpcw_rank2file_restart_file(r, k, &f, NULL), HPCW_OK);
            sum += f.size;
        }
        assert_int_equal(sum, d->size);
        assert_columns(r);
        assert_loads(c, r, c->ranks, all, all);
        assert_loads(c, r, n, some, some);
        assert_loads(c, r, 0, all, all);
        assert_loads(c, r, 1, &all[c->ranks - 1], &all[c->ranks - 1]);
        assert_columns(r);
        hpcw_rank2file_restart_free(r);
    }
}

/* Both maps of the shared layout have the same content. */
static void both_maps_agree(void **state) {
    (void)state;
    for (unsigned i = 0; i < rank2file_case_count; i++) {
        const struct rank2file_case *c = &rank2file_cases[i];
        uint32_t all[RANK2FILE_MOST_RANKS];
        if (c->layout != HPCW_RANK2FILE_SHARED) {
            continue;
        }
        char root[700];
        (void)snprintf(root, sizeof root, "%s/case%u/.scr/scr.dataset.7/rank2file", scratch, i);
        hpcw_rank2file_restart *r;
        hpcw_error err = {.message = ""};
        if (hpcw_rank2file_restart_open_root(root, NULL, &r, &err) != HPCW_OK) {
            fail_msg("%s", err.message);
        }
        for (uint32_t k = 0; k < c->ranks; k++) {
            all[k] = k;
        }
        assert_loads(c, r, c->ranks, NULL, all);
        hpcw_rank2file_restart_free(r);
    }
}

/* ---- maps written node by node ---- */

struct listed {
    const struct rank2file_case *c;
    char name[4][64];
    hpcw_rank2file_entry entry[4];
};

static size_t entries_of(void *context, uint32_t rank, const hpcw_rank2file_entry **entry) {
    struct listed *l = context;
    unsigned n = rank2file_case_files(l->c, rank);
    for (unsigned k = 0; k < n; k++) {
        static unsigned char data[4096];
        uint64_t bytes;
        rank2file_case_file(rank, k, l->name[k], sizeof l->name[k], &bytes);
        for (uint64_t i = 0; i < bytes; i++) {
            data[i] = rank2file_case_byte(rank, k, i);
        }
        l->entry[k] = (hpcw_rank2file_entry){l->name[k], bytes, hpcw_i_crc32(0, data, (size_t)bytes), true};
    }
    *entry = l->entry;
    return n;
}

static void assert_node_is(const hpcw_rank2file_map *map, uint32_t i, struct listed *l, const char *prefix) {
    hpcw_rank2file_node node;
    hpcw_sink *sink = NULL;
    hpcw_error err = {.message = ""};
    char path[1200];
    hpcw_rank2file_map_node(map, i, &node);
    assert_int_equal(hpcw_sink_open_memory(&sink, &err), HPCW_OK);
    if (hpcw_rank2file_map_write(map, i, entries_of, l, sink, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    (void)snprintf(path, sizeof path, "%s/%s", prefix, node.path);
    size_t want_size = 0;
    size_t got_size = 0;
    unsigned char *want = read_file(path, &want_size);
    const unsigned char *got = hpcw_sink_memory_data(sink, &got_size);
    assert_non_null(want);
    assert_int_equal(node.size, got_size);
    assert_true(same_bytes(path, want, want_size, got, got_size));
    free(want);
    hpcw_sink_free(sink);
}

static void nodes_are_the_same(void **state) {
    (void)state;
    for (unsigned i = 0; i < rank2file_case_count; i++) {
        const struct rank2file_case *c = &rank2file_cases[i];
        struct listed l = {.c = c};
        hpcw_rank2file_options o;
        char name[32];
        (void)snprintf(name, sizeof name, "case%u", i);
        rank2file_case_options(c, &o);
        for (uint32_t m = 0; m < hpcw_rank2file_layout_maps(c->layout); m++) {
            hpcw_rank2file_map *map;
            hpcw_error err = {.message = ""};
            if (hpcw_rank2file_map_new(&o, m, c->ranks, entries_of, &l, &map, &err) != HPCW_OK) {
                fail_msg("%s: %s", c->name, err.message);
            }
            for (uint32_t k = 0; k < hpcw_rank2file_map_nodes(map); k++) {
                assert_node_is(map, k, &l, in_scratch(name));
            }
            hpcw_rank2file_map_free(map);
        }
    }
}

/* ---- several datasets in one prefix ---- */

static void datasets_side_by_side(void **state) {
    (void)state;
    for (int layout = 0; layout < 4; layout++) {
        struct rank2file_case c = {.name = "several", .layout = (hpcw_rank2file_layout)layout, .ranks = 3};
        char name[32];
        (void)snprintf(name, sizeof name, "several%d", layout);
        const char *prefix = in_scratch(name);
        hpcw_rank2file_options o;
        hpcw_error err = {.message = ""};
        for (uint64_t id = 1; id <= 3; id++) {
            rank2file_case_options(&c, &o);
            o.dataset.id = id;
            o.dataset.flushed = "2026-11-20T18:25:45";
            c.ranks = (uint32_t)id;
            assert_int_equal(rank2file_case_write(&c, &o, prefix, NULL, c.ranks, NULL, &err), HPCW_OK);
            hpcw_rank2file_restart *r = opened(prefix);
            assert_int_equal(hpcw_rank2file_restart_dataset(r)->id, id);
            assert_int_equal(hpcw_rank2file_restart_ranks(r), id);
            hpcw_rank2file_restart_free(r);
        }
        /* An id and a name that already exist. */
        assert_int_equal(rank2file_case_write(&c, &o, prefix, NULL, c.ranks, NULL, &err), HPCW_EEXIST);
        o.dataset.id = 9;
        o.dataset.name = layout == HPCW_RANK2FILE_SCR_3 ? "ckpt.2" : "scr.dataset.2";
        assert_int_equal(rank2file_case_write(&c, &o, prefix, NULL, c.ranks, NULL, &err), HPCW_EEXIST);
        /* A dataset of another layout. */
        o.layout = (hpcw_rank2file_layout)((layout + 1) % 4);
        o.dataset.name = "other";
        assert_int_equal(rank2file_case_write(&c, &o, prefix, NULL, c.ranks, NULL, &err), HPCW_EEXIST);
        hpcw_rank2file_restart *r;
        const char *first = layout == HPCW_RANK2FILE_SCR_3 ? "ckpt.1" : "scr.dataset.1";
        assert_int_equal(hpcw_rank2file_restart_open(prefix, NULL, first, &r, &err), HPCW_OK);
        assert_int_equal(hpcw_rank2file_restart_ranks(r), 1);
        hpcw_rank2file_restart_free(r);
        assert_int_equal(hpcw_rank2file_restart_open(prefix, NULL, "none", &r, &err), HPCW_ENOENT);
        assert_null(r);
        (void)snprintf(name, sizeof name, "several%d/%s", layout, HPCW_RANK2FILE_INDEX);
        hpcw_kvtree *index;
        assert_int_equal(hpcw_kvtree_read_file(in_scratch(name), &index, &err), HPCW_OK);
        /* Without the key CURRENT in the index, a restart takes the newest dataset that did not fail. */
        hpcw_kvtree_remove(index, "CURRENT");
        hpcw_kvtree *record = hpcw_kvtree_get(hpcw_kvtree_get(index, "DSET"), "3");
        if (layout < 2) {
            record = hpcw_kvtree_get(hpcw_kvtree_get(record, layout == 0 ? "DIR" : "NAME"), "scr.dataset.3");
        }
        assert_non_null(record);
        assert_int_equal(hpcw_kvtree_set(record, "FAILED", "2026-11-20T18:25:46", NULL), HPCW_OK);
        assert_int_equal(hpcw_kvtree_write_file(index, in_scratch(name), HPCW_SYNC_NONE, &err), HPCW_OK);
        hpcw_kvtree_free(index);
        r = opened(prefix);
        assert_int_equal(hpcw_rank2file_restart_dataset(r)->id, 2);
        hpcw_rank2file_restart_free(r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_is_found),
        cmocka_unit_test(both_maps_agree),
        cmocka_unit_test(nodes_are_the_same),
        cmocka_unit_test(datasets_side_by_side),
    };
    return cmocka_run_group_tests(tests, scratch_set_up, scratch_tear_down);
}
