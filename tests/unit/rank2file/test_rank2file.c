/* SPDX-License-Identifier: BSD-3-Clause */
/* Maps: sizes, division into files, and what is refused by the writer and by the reader. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <hpcw/rank2file.h>

#include "libwriter/base/bytes.h"
#include "tests/support/files.h"
#include "tests/support/rank2file_cases.h"

#define OK(call) assert_int_equal(call, HPCW_OK)

/* ---- sizes and division into files ---- */

struct plain {
    char name[32];
    hpcw_rank2file_entry entry;
    uint64_t size;
    /* number of files of each rank, 0 or 1; HPCW_RANK2FILE_NO_ENTRY: rank 1 has no entry */
    size_t count;
};

static size_t plain_entries(void *context, uint32_t rank, const hpcw_rank2file_entry **entry) {
    struct plain *p = context;
    if (p->count == HPCW_RANK2FILE_NO_ENTRY) {
        if (rank == 1) {
            return p->count;
        }
    } else if (p->count == 0) {
        return 0;
    }
    (void)snprintf(p->name, sizeof p->name, "rank_%u.ckpt", rank);
    p->entry = (hpcw_rank2file_entry){.name = p->name, .size = p->size, .crc = 0x1117285b, .has_crc = true};
    *entry = &p->entry;
    return 1;
}

static hpcw_rank2file_options options_of(hpcw_rank2file_layout layout) {
    hpcw_rank2file_options o;
    hpcw_rank2file_options_init(&o);
    o.layout = layout;
    o.dataset.id = 1;
    o.durability = HPCW_SYNC_NONE;
    return o;
}

static hpcw_rank2file_map *map_of(const hpcw_rank2file_options *o, uint32_t ranks, struct plain *p) {
    hpcw_rank2file_map *map;
    hpcw_error err = {.message = ""};
    if (hpcw_rank2file_map_new(o, 0, ranks, plain_entries, p, &map, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    return map;
}

/* Sizes that follow from doc/formats/rank2file.md, "Map" and "Stored tree". */
static void sizes_of_the_page(void **state) {
    (void)state;
    struct plain p = {.size = 524294, .count = 1};
    hpcw_rank2file_options o = options_of(HPCW_RANK2FILE_SCR_1_1);
    hpcw_rank2file_node node;
    hpcw_rank2file_map *map = map_of(&o, 1, &p);
    assert_int_equal(hpcw_rank2file_map_nodes(map), 2);
    hpcw_rank2file_map_node(map, 1, &node);
    assert_int_equal(node.size, 128);
    assert_string_equal(node.path, "scr.dataset.1/.scr/rank2file.scr");
    hpcw_rank2file_map_free(map);

    map = map_of(&o, 4096, &p);
    assert_int_equal(hpcw_rank2file_map_nodes(map), 2);
    hpcw_rank2file_map_node(map, 0, &node);
    /* Bytes of a rank: 46 + len(rank) + len(name) + len(size) + len(crc). The name is "rank_", the digits of the
     * rank, and ".ckpt". */
    uint64_t digits = 10 + 2 * 90 + 3 * 900 + 4 * (4096 - 1000);
    assert_int_equal(node.size, 68 + 4 + 4096 * (46 + 10 + 6 + 10) + 2 * digits);
    hpcw_rank2file_map_free(map);

    map = map_of(&o, 1000000, &p);
    assert_int_equal(hpcw_rank2file_map_nodes(map), 124);
    hpcw_rank2file_map_node(map, 122, &node);
    assert_int_equal(node.level, 0);
    assert_int_equal(node.first, 122 * 8192);
    assert_int_equal(node.end, 1000000);
    assert_string_equal(node.path, "scr.dataset.1/.scr/rank2file.0.999424.scr");
    hpcw_rank2file_map_free(map);
}

static void cut_by_bytes(void **state) {
    (void)state;
    struct plain p = {.size = 1, .count = 1};
    for (uint64_t bytes = 256; bytes < 1200; bytes += 7) {
        hpcw_rank2file_options o = options_of(HPCW_RANK2FILE_SCR_3);
        o.leaf_bytes = bytes;
        hpcw_rank2file_map *map = map_of(&o, 100, &p);
        uint32_t nodes = hpcw_rank2file_map_nodes(map);
        uint32_t next = 0;
        uint32_t level = 0;
        for (uint32_t i = 0; i < nodes; i++) {
            hpcw_rank2file_node node;
            hpcw_rank2file_map_node(map, i, &node);
            if (node.level > level) {
                assert_int_equal(next, 100);
                next = 0;
                level++;
            }
            assert_int_equal(node.level, level);
            assert_int_equal(node.first, next);
            assert_true(node.end > node.first && node.size <= bytes);
            next = node.end;
            /* The next rank did not fit. It needs at most the bytes of a rank with two digits. */
            if (level == 0 && node.end < 100) {
                assert_true(node.size + 46 + 2 + 7 + 12 + 1 + 10 > bytes);
            }
        }
        assert_int_equal(next, 100);
        hpcw_rank2file_map_free(map);
    }
}

static void ranks_without_files(void **state) {
    (void)state;
    static const uint64_t sizes[] = {
        [HPCW_RANK2FILE_SCR_1_1] = 69 + 3 * (2 + 4 + 5 + 4), [HPCW_RANK2FILE_SCR_3] = 69 + 3 * (2 + 4)};
    for (int layout = 0; layout <= 2; layout += 2) {
        struct plain p = {.count = 0};
        hpcw_rank2file_options o = options_of((hpcw_rank2file_layout)layout);
        hpcw_rank2file_node node;
        hpcw_rank2file_map *map = map_of(&o, 3, &p);
        hpcw_rank2file_map_node(map, 0, &node);
        assert_int_equal(node.size, sizes[layout]);
        /* The callback gives other files than when the map was made. */
        hpcw_sink *sink = NULL;
        hpcw_error err = {.message = ""};
        OK(hpcw_sink_open_memory(&sink, NULL));
        p.count = 1;
        assert_int_equal(hpcw_rank2file_map_write(map, 0, plain_entries, &p, sink, &err), HPCW_ESTATE);
        assert_int_equal(hpcw_rank2file_map_write(map, 0, NULL, NULL, sink, &err), HPCW_EINVAL);
        assert_int_equal(hpcw_rank2file_map_write(map, 2, plain_entries, &p, sink, &err), HPCW_EINVAL);
        hpcw_sink_free(sink);
        hpcw_rank2file_map_free(map);
    }
}

/* ---- arguments ---- */

static void put_byte(const char *directory, const char *name) {
    char path[2000];
    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fputc('x', f), 'x');
    assert_int_equal(fclose(f), 0);
}

static const char *const bad_names[] = {
    "",    "/etc/passwd", "..", "../x", "a/../b", "a/..", "./a",
    "a/.", "a//b",        "a/", "a\nb", "a\x7f",  "\x01", ".scr/rank2file.scr",
};

static void names_that_are_refused(void **state) {
    (void)state;
    char dir[256];
    char prefix[300];
    hpcw_rank2file_options o = options_of(HPCW_RANK2FILE_SCR_1_1);
    hpcw_rank2file *w;
    hpcw_rank2file_file *file;
    hpcw_error err = {.message = ""};
    scratch_make(dir, sizeof dir);
    (void)snprintf(prefix, sizeof prefix, "%s/run", dir);
    o.count = 2;
    OK(hpcw_rank2file_open(prefix, NULL, &o, &w, &err));
    for (size_t i = 0; i < sizeof bad_names / sizeof bad_names[0]; i++) {
        assert_int_equal(hpcw_rank2file_add(w, 0, bad_names[i], 1, NULL, &err), HPCW_EINVAL);
        assert_non_null(strstr(err.message, "rank 0, name \""));
        assert_int_equal(hpcw_rank2file_create(w, 0, bad_names[i], &file, &err), HPCW_EINVAL);
        assert_null(file);
    }
    char data[400];
    char name[HPCW_RANK2FILE_MAX_NAME + 2];
    (void)snprintf(data, sizeof data, "%s/scr.dataset.1", prefix);
    for (size_t i = 0; i < sizeof name; i++) {
        /* each part of the path is short enough for a file system */
        name[i] = i % 200 == 199 ? '/' : 'x';
    }
    name[HPCW_RANK2FILE_MAX_NAME - 14] = '\0'; /* the longest name in the directory "scr.dataset.1/" */
    for (char *slash = strchr(name, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        char path[2000];
        (void)snprintf(path, sizeof path, "%s/%.*s", data, (int)(slash - name), name);
        assert_int_equal(mkdir(path, 0777), 0);
    }
    put_byte(data, name);
    OK(hpcw_rank2file_add(w, 0, name, 1, NULL, &err));
    name[HPCW_RANK2FILE_MAX_NAME - 14] = 'x';
    name[HPCW_RANK2FILE_MAX_NAME - 13] = '\0';
    assert_int_equal(hpcw_rank2file_add(w, 0, name, 1, NULL, &err), HPCW_EINVAL);
    OK(hpcw_rank2file_add(w, 1, "...", 1, NULL, &err));
    put_byte(data, "...");
    OK(hpcw_rank2file_add(w, 1, "a b.c\xc3\xa4", 1, NULL, &err));
    put_byte(data, "a b.c\xc3\xa4");
    assert_int_equal(hpcw_rank2file_add(w, 2, "a", 1, NULL, &err), HPCW_EINVAL);
    assert_int_equal(hpcw_rank2file_add(w, 0, NULL, 1, NULL, &err), HPCW_EINVAL);
    OK(hpcw_rank2file_close(w, &err));
    assert_int_equal(hpcw_rank2file_add(w, 0, "late", 1, NULL, &err), HPCW_ESTATE);
    assert_int_equal(hpcw_rank2file_close(w, &err), HPCW_ESTATE);
    assert_int_equal(hpcw_rank2file_dataset_of(w)->files, 3);
    hpcw_rank2file_free(w);

    o.dataset.id = 2;
    OK(hpcw_rank2file_open(prefix, NULL, &o, &w, &err));
    OK(hpcw_rank2file_add(w, 1, "same", 1, NULL, &err));
    OK(hpcw_rank2file_add(w, 0, "same", 1, NULL, &err));
    (void)snprintf(data, sizeof data, "%s/scr.dataset.2", prefix);
    put_byte(data, "same");
    assert_int_equal(hpcw_rank2file_close(w, &err), HPCW_EINVAL);
    assert_non_null(strstr(err.message, "name \"same\": expected every name once, ranks 0 and 1 have it"));
    hpcw_rank2file_free(w);
    o.dataset.id = 3;
    OK(hpcw_rank2file_open(prefix, NULL, &o, &w, &err));
    OK(hpcw_rank2file_create(w, 1, "a/b/c", &file, &err));
    OK(hpcw_rank2file_file_write(file, "123456789", 9, &err));
    assert_int_equal(hpcw_rank2file_file_crc(file), 0xcbf43926u);
    assert_int_equal(hpcw_rank2file_file_size(file), 9);
    assert_int_equal(hpcw_rank2file_file_write(file, NULL, 1, &err), HPCW_EINVAL);
    OK(hpcw_rank2file_file_close(file, &err));
    assert_int_equal(hpcw_rank2file_file_close(file, &err), HPCW_ESTATE);
    assert_int_equal(hpcw_rank2file_file_write(file, "1", 1, &err), HPCW_ESTATE);
    hpcw_rank2file_file_free(file);
    hpcw_error reason = {.code = HPCW_EIO, .message = "the cat"};
    hpcw_rank2file_abandon(w, &reason);
    assert_int_equal(hpcw_rank2file_close(w, &err), HPCW_EIO);
    assert_non_null(strstr(err.message, "the cat"));
    hpcw_rank2file_free(w);
    o.dataset.id = 4;
    OK(hpcw_rank2file_open(prefix, NULL, &o, &w, &err));
    hpcw_rank2file_abandon(w, NULL);
    assert_int_equal(hpcw_rank2file_close(w, &err), HPCW_ESTATE);
    assert_non_null(strstr(err.message, "the program abandoned it"));
    hpcw_rank2file_free(w);
    scratch_remove(dir);
}

static void options_that_are_refused(void **state) {
    (void)state;
    hpcw_rank2file_options o = options_of(HPCW_RANK2FILE_SCR_1_1);
    hpcw_rank2file_layout layout;
    hpcw_error err = {.message = ""};
    OK(hpcw_rank2file_options_check(&o, &err));
    OK(hpcw_rank2file_layout_of("shared", &layout, &err));
    assert_int_equal(layout, HPCW_RANK2FILE_SHARED);
    assert_int_equal(hpcw_rank2file_layout_of("scr-2", &layout, &err), HPCW_EINVAL);
    assert_string_equal(err.message, "layout: expected scr-1.1, scr-1.2, scr-3 or shared, got \"scr-2\"");
    assert_int_equal(hpcw_rank2file_options_check(NULL, &err), HPCW_EINVAL);
    static const uint32_t descending[] = {3, 2};
    static const char *const names[] = {"", ".", "..", "a/b", "/a", ".scr", "a\n"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        o.dataset.name = names[i];
        assert_int_equal(hpcw_rank2file_options_check(&o, &err), HPCW_EINVAL);
    }
    char name[300];
    memset(name, 'x', sizeof name);
    name[201] = '\0';
    o.dataset.name = name;
    assert_int_equal(hpcw_rank2file_options_check(&o, &err), HPCW_ERANGE);
    o = options_of((hpcw_rank2file_layout)4);
    assert_int_equal(hpcw_rank2file_options_check(&o, &err), HPCW_EINVAL);
    o = options_of(HPCW_RANK2FILE_SHARED);
    o.dataset.id = 0x80000000u;
    assert_int_equal(hpcw_rank2file_options_check(&o, &err), HPCW_EINVAL);
    o = options_of(HPCW_RANK2FILE_SHARED);
    o.leaf_ranks = 1;
    assert_int_equal(hpcw_rank2file_options_check(&o, &err), HPCW_EINVAL);
    o = options_of(HPCW_RANK2FILE_SHARED);
    o.dataset.user = "";
    assert_int_equal(hpcw_rank2file_options_check(&o, &err), HPCW_EINVAL);
    o = options_of(HPCW_RANK2FILE_SHARED);
    o.count = 2;
    o.ranks = descending;
    assert_int_equal(hpcw_rank2file_options_check(&o, &err), HPCW_EINVAL);
    hpcw_rank2file *w = NULL;
    o = options_of(HPCW_RANK2FILE_SHARED);
    assert_int_equal(hpcw_rank2file_open("", NULL, &o, &w, &err), HPCW_EINVAL);
    /* a dataset without ranks */
    assert_int_equal(hpcw_rank2file_open("/tmp/none", NULL, &o, &w, &err), HPCW_ERANGE);
    assert_null(w);
    hpcw_rank2file_map *map;
    struct plain p = {.count = 1};
    assert_int_equal(hpcw_rank2file_map_new(&o, 2, 1, plain_entries, &p, &map, &err), HPCW_EINVAL);
    assert_int_equal(hpcw_rank2file_map_new(&o, 0, 0, plain_entries, &p, &map, &err), HPCW_EINVAL);
    assert_int_equal(hpcw_rank2file_map_new(&o, 0, 1, NULL, &p, &map, &err), HPCW_EINVAL);
    assert_int_equal(hpcw_rank2file_restart_load(NULL, 0, NULL, &err), HPCW_EINVAL);
    assert_int_equal(hpcw_rank2file_restart_check(NULL, false, &err), HPCW_EINVAL);
    hpcw_rank2file_map_free(NULL);
    hpcw_rank2file_restart_free(NULL);
    hpcw_rank2file_free(NULL);
    hpcw_rank2file_file_free(NULL);
}

/* ---- damaged maps ---- */

static char base[256];
enum { RANKS = 12 };
static const struct rank2file_case deep = {
    .name = "deep", .layout = HPCW_RANK2FILE_SCR_1_1, .ranks = RANKS, .leaf_ranks = 2};

#define D "scr.dataset.7/.scr/"

static const char *in_base(const char *name) {
    static char path[2][600];
    static unsigned next;
    char *p = path[next++ % 2];
    (void)snprintf(p, sizeof path[0], "%s/%s", base, name);
    return p;
}

static hpcw_status restart(hpcw_error *err) {
    hpcw_rank2file_restart *r;
    hpcw_status s = hpcw_rank2file_restart_open(base, NULL, NULL, &r, err);
    if (s == HPCW_OK) {
        s = hpcw_rank2file_restart_load(r, 0, NULL, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_rank2file_restart_check(r, true, err);
    }
    hpcw_rank2file_restart_free(r);
    return s;
}

static void assert_damage(hpcw_status want, const char *file, const char *words) {
    hpcw_error err = {.message = ""};
    hpcw_status s = restart(&err);
    if (s != want || err.code != s || strstr(err.message, file) == NULL || strstr(err.message, words) == NULL ||
        strchr(err.message, '\n') != NULL) {
        fail_msg("expected %d, %s: %s; got %d: %s", (int)want, file, words, (int)s, err.message);
    }
}

/* Replaces the last key of a path of keys, "A/B/C", by one with this value. NULL: removes it. Then a restart
 * must fail with these words. */
static void edit_named(const char *file, const char *keys, const char *value, hpcw_status want,
                       const char *named, const char *words) {
    hpcw_kvtree *tree;
    char key[200];
    hpcw_error err = {.message = ""};
    OK(hpcw_kvtree_read_file(in_base(file), &tree, &err));
    size_t size = 0;
    unsigned char *saved = read_file(in_base(file), &size);
    assert_non_null(saved);
    hpcw_kvtree *node = tree;
    for (const char *slash; (slash = strchr(keys, '/')) != NULL; keys = slash + 1) {
        (void)snprintf(key, sizeof key, "%.*s", (int)(slash - keys), keys);
        OK(hpcw_kvtree_add(node, key, &node, NULL));
    }
    if (value == NULL) {
        hpcw_kvtree_remove(node, keys);
    } else if (*value == '+') {
        OK(hpcw_kvtree_add(node, keys, &node, NULL));
        OK(hpcw_kvtree_add(node, value + 1, NULL, NULL));
    } else {
        OK(hpcw_kvtree_set(node, keys, value, NULL));
    }
    OK(hpcw_kvtree_write_file(tree, in_base(file), HPCW_SYNC_NONE, NULL));
    hpcw_kvtree_free(tree);
    assert_damage(want, named, words);
    FILE *f = fopen(in_base(file), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(saved, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
    free(saved);
    OK(restart(NULL));
}

static void edit(const char *file, const char *keys, const char *value, hpcw_status want, const char *words) {
    edit_named(file, keys, value, want, file, words);
}

#define ROOT D "rank2file.scr"
#define INNER D "rank2file.1.4.scr"
#define LEAF D "rank2file.0.4.scr"
#define SUMMARY D "summary.scr"
#define BAD HPCW_EFORMAT

static void trees_that_lie(void **state) {
    (void)state;
    hpcw_error err = {.message = ""};
    scratch_make(base, sizeof base);
    OK(rank2file_case_write(&deep, NULL, base, NULL, RANKS, NULL, &err));
    OK(restart(&err));
    /* The root of a map has level 3, and two files: from rank 0 and from rank 8 on. */
    edit(ROOT, "LEVEL", "0", BAD, "LEVEL: expected 1 or more, got 0");
    edit(ROOT, "LEVEL", "03", BAD, "LEVEL: expected a decimal number of at most 32, got \"03\"");
    edit(ROOT, "LEVEL", "99", BAD, "got \"99\"");
    edit(ROOT, "LEVEL", "+4", BAD, "LEVEL: expected one value, got 2");
    edit(ROOT, "LEVEL", NULL, BAD, "expected a key LEVEL, got none");
    edit(ROOT, "RANKS", NULL, BAD, "RANKS: expected at least 1, got 0");
    edit(ROOT, "RANKS", "0", BAD, "RANKS: expected at least 1, got 0");
    edit(ROOT, "RANK", NULL, BAD, "expected a key RANK, got none");
    edit(ROOT, "other", "1", BAD, "expected a known key, got \"other\"");
    edit(ROOT, "RANK/0", NULL, BAD, "RANK: expected rank 0 as the first reader");
    edit(ROOT, "RANK/0/FILE", NULL, BAD, "expected a key FILE, got none");
    edit(ROOT, "RANK/0/OFFSET", NULL, BAD, "expected a key OFFSET, got none");
    edit(ROOT, "RANK/8/OFFSET", "1", BAD, "OFFSET of rank 8: expected 0, got 1");
    edit(ROOT, "RANK/12/OFFSET", "0", BAD, "expected a key FILE, got none");
    edit(ROOT, "RANK/x/OFFSET", "0", BAD, "rank: expected a decimal number");
    /* Invalid references: outside, in a circle, to the wrong level. */
    edit(ROOT, "RANK/8/FILE", ".scr/rank2file.scr", BAD,
         "FILE of rank 8: expected .scr/rank2file.2.8.scr or the like");
    edit(ROOT, "RANK/8/FILE", "../../rank2file.2.8.scr", BAD, "FILE of rank 8: expected");
    edit(ROOT, "RANK/8/FILE", ".scr/rank2file.1.8.scr", BAD, "FILE of rank 8: expected");
    edit(ROOT, "RANK/8/FILE", ".scr/rank2file.2.08.scr", BAD, "FILE of rank 8: expected");
    edit(ROOT, "RANK/8/FILE", ".2.8", BAD, "FILE of rank 8: expected");
    edit(INNER, "LEVEL", "2", BAD, "LEVEL: expected 1, got 2");
    edit(INNER, "RANKS", "13", BAD, "RANKS: expected those of the root, got 13");
    edit(INNER, "RANK/4", NULL, BAD, "RANK: expected rank 4 as the first reader, got another");
    edit(INNER, "RANK", "x", BAD, "rank: expected a decimal number");
    /* Leaves. */
    edit(LEAF, "LEVEL", "1", BAD, "LEVEL: expected a decimal number of at most 0, got \"1\"");
    edit(LEAF, "RANKS", "4", BAD, "RANKS: expected those of the root, 12, got 4");
    edit(LEAF, "RANK/5", NULL, BAD, "RANK: expected an entry of rank 5, got none");
    edit(LEAF, "RANK/6/FILE/x/SIZE", "1", BAD, "rank: expected one of 4 to 5, got 6");
    edit(LEAF, "RANK/05/FILE/x/SIZE", "1", BAD, "got \"05\"");
    edit(LEAF, "RANK/4/SEG", "1", BAD, "expected a known key, got \"SEG\"");
    edit(LEAF, "RANK/4/FILE/rank_4.0.ckpt/SIZE", "0x10", BAD, "SIZE: expected a decimal number");
    edit(LEAF, "RANK/4/FILE/rank_4.0.ckpt/SIZE", "18446744073709551616", BAD,
         "SIZE: expected a decimal number");
    edit(LEAF, "RANK/4/FILE/rank_4.0.ckpt/CRC", "0x0123", BAD, "CRC: expected a hexadecimal number");
    edit(LEAF, "RANK/4/FILE/rank_4.0.ckpt/CRC", "0xABC", BAD, "CRC: expected a hexadecimal number");
    edit(LEAF, "RANK/4/FILE/rank_4.0.ckpt/CRC", "0x123456789", BAD, "CRC: expected a hexadecimal number");
    for (size_t i = 0; i + 1 < sizeof bad_names / sizeof bad_names[0]; i++) {
        if (strchr(bad_names[i], '/') == NULL) {
            char keys[64];
            (void)snprintf(keys, sizeof keys, "RANK/4/FILE/%s/SIZE", bad_names[i]);
            edit(LEAF, keys, "1", BAD, "name of a file \"");
        }
    }
    edit_named(LEAF, "RANK/4/FILE/rank_7.0.ckpt/SIZE", "1", BAD, "scr.dataset.7/.scr: ",
               "name \"rank_7.0.ckpt\": expected every name once, ranks 4 and 7 have it");
    /* Data that do not match the map. */
    edit_named(LEAF, "RANK/4/FILE/rank_4.0.ckpt/SIZE", "249", HPCW_ETRUNCATED, "scr.dataset.7/rank_4.0.ckpt",
               "rank 4: size: expected 249 bytes, got 248");
    scratch_remove(base);
}

static void summaries_that_lie(void **state) {
    (void)state;
    hpcw_error err = {.message = ""};
    scratch_make(base, sizeof base);
    OK(rank2file_case_write(&deep, NULL, base, NULL, RANKS, NULL, &err));
    edit(SUMMARY, "VERSION", "5", BAD, "expected VERSION = 6");
    edit(SUMMARY, "COMPLETE", "0", BAD, "COMPLETE = 1");
    edit(SUMMARY, "DSET/COMPLETE", NULL, BAD, "COMPLETE = 1");
    edit(SUMMARY, "DSET/CKPT", NULL, BAD, "CKPT: expected one value, got none");
    edit(SUMMARY, "DSET/ID", "8", BAD,
         "DSET: expected dataset scr.dataset.7 with id 7, got scr.dataset.7 with 8");
    edit(SUMMARY, "DSET/NAME", "x", BAD, "got x with 7");
    edit(SUMMARY, "DSET/FILES", "-1", BAD, "FILES: expected a decimal number");
    const char *index = HPCW_RANK2FILE_INDEX;
    edit(index, "VERSION", "3", BAD, "VERSION: expected 1 with a map DIR or NAME, or 2 with a map NAME, got 3");
    edit(index, "CURRENT", "+more", BAD, "CURRENT: expected one value, got 2");
    edit(index, "DIR", NULL, BAD, "VERSION: expected 1 with a map DIR");
    edit(index, "DIR/scr.dataset.7/DSET", "0", BAD, "DSET: expected 1 to 2147483647, got 0");
    edit(index, "DIR/scr.dataset.7/DSET", "8", BAD, "expected COMPLETE = 1, got none or another");
    edit(index, "DSET/7/DIR/scr.dataset.7/COMPLETE", "0", BAD, "expected COMPLETE = 1, got none or another");
    scratch_remove(base);
}

static void change(const char *file, long offset, int bits) {
    FILE *f = fopen(in_base(file), "r+b");
    assert_non_null(f);
    assert_int_equal(fseek(f, offset, SEEK_SET), 0);
    int c = fgetc(f);
    assert_int_equal(fseek(f, offset, SEEK_SET), 0);
    assert_int_not_equal(fputc(c == EOF ? 'x' : c ^ bits, f), EOF);
    assert_int_equal(fclose(f), 0);
}

/* A directory, pipe or the like in place of a file counts as damage, without a wait. */
static void no_files(void **state) {
    (void)state;
    hpcw_error err = {.message = ""};
    scratch_make(base, sizeof base);
    OK(rank2file_case_write(&deep, NULL, base, NULL, RANKS, NULL, &err));
    static const char *const files[] = {"scr.dataset.7/rank_5.0.ckpt", LEAF, ROOT, SUMMARY,
                                        HPCW_RANK2FILE_INDEX};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char name[600];
        (void)snprintf(name, sizeof name, "%s", in_base(files[i]));
        OK(rename(name, in_base("kept")));
        OK(mkfifo(name, 0600));
        assert_damage(HPCW_EFORMAT, files[i], "expected a regular file, got a FIFO, a socket or a device");
        OK(unlink(name));
        OK(mknod(name, S_IFSOCK | 0600, 0));
        assert_damage(HPCW_EFORMAT, files[i], "expected a regular file, got a FIFO, a socket or a device");
        OK(unlink(name));
        OK(symlink("/dev/zero", name));
        assert_damage(HPCW_EFORMAT, files[i], "expected a regular file, got a FIFO, a socket or a device");
        OK(unlink(name));
        OK(symlink(name, name));
        assert_damage(HPCW_EFORMAT, files[i],
                      "expected a regular file, got symbolic links that lead to no file");
        OK(unlink(name));
        OK(mkdir(name, 0700));
        assert_damage(HPCW_EFORMAT, files[i], "expected a regular file, got a directory");
        OK(rmdir(name));
        OK(rename(in_base("kept"), name));
    }
    scratch_remove(base);
}

static void files_that_changed(void **state) {
    (void)state;
    hpcw_error err = {.message = ""};
    scratch_make(base, sizeof base);
    OK(rank2file_case_write(&deep, NULL, base, NULL, RANKS, NULL, &err));
    static const char data[] = "scr.dataset.7/rank_5.0.ckpt";
    change(data, 10, 1);
    assert_damage(HPCW_ECHECKSUM, data, "rank 5: CRC-32: expected 0x");
    change(data, 10, 1);
    OK(truncate(in_base(data), 100));
    assert_damage(HPCW_ETRUNCATED, data, "rank 5: size: expected 285 bytes, got 100");
    OK(truncate(in_base(data), 286));
    assert_damage(HPCW_EFORMAT, data, "rank 5: size: expected 285 bytes, got 286");
    OK(unlink(in_base(data)));
    assert_damage(HPCW_ENOENT, data, "rank 5: cannot open for reading");
    OK(symlink("rank_4.0.ckpt", in_base(data)));
    assert_damage(HPCW_ETRUNCATED, data, "rank 5: size");
    OK(unlink(in_base(data)));
    OK(unlink(in_base(LEAF)));
    assert_damage(HPCW_ENOENT, LEAF, "cannot open for reading");
    OK(link(in_base(D "rank2file.0.6.scr"), in_base(LEAF)));
    assert_damage(HPCW_EFORMAT, LEAF, "rank: expected one of 4 to 5, got 6");
    OK(truncate(in_base(LEAF), 300));
    assert_damage(HPCW_EFORMAT, LEAF, "");
    OK(truncate(in_base(LEAF), 0));
    assert_damage(HPCW_ETRUNCATED, LEAF,
                  "expected at least 12 bytes at offset 0 for the ranks 4 to 5, got a file of 0");
    change(ROOT, 60, 4);
    assert_damage(HPCW_ECHECKSUM, ROOT, "CRC-32: expected");
    OK(unlink(in_base(HPCW_RANK2FILE_INDEX)));
    assert_damage(HPCW_ENOENT, HPCW_RANK2FILE_INDEX, "cannot open for reading");
    scratch_remove(base);
}

/* A map without one of the ranks, for tests of readers. */
static void a_rank_without_an_entry(void **state) {
    (void)state;
    struct plain p = {.count = HPCW_RANK2FILE_NO_ENTRY};
    hpcw_rank2file_options o = options_of(HPCW_RANK2FILE_SCR_3);
    hpcw_rank2file_map *map = map_of(&o, 3, &p);
    scratch_make(base, sizeof base);
    for (uint32_t i = 0; i < 2; i++) {
        hpcw_rank2file_node node;
        hpcw_sink *sink;
        hpcw_rank2file_map_node(map, i, &node);
        OK(hpcw_sink_open_file(in_base(strrchr(node.path, '/') + 1), HPCW_SYNC_NONE, &sink, NULL));
        OK(hpcw_rank2file_map_write(map, i, plain_entries, &p, sink, NULL));
        OK(hpcw_sink_publish(sink, NULL));
        hpcw_sink_free(sink);
    }
    hpcw_rank2file_map_free(map);
    hpcw_rank2file_restart *r;
    hpcw_error err = {.message = ""};
    OK(hpcw_rank2file_restart_open_root(in_base("rank2file"), NULL, &r, &err));
    assert_int_equal(hpcw_rank2file_restart_load(r, 0, NULL, &err), HPCW_EFORMAT);
    assert_non_null(strstr(err.message, "RANK: expected an entry of rank 1, got none"));
    assert_int_equal(hpcw_rank2file_restart_files(r), 0);
    hpcw_rank2file_restart_free(r);
    scratch_remove(base);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_of_the_page),        cmocka_unit_test(cut_by_bytes),
        cmocka_unit_test(ranks_without_files),      cmocka_unit_test(names_that_are_refused),
        cmocka_unit_test(options_that_are_refused), cmocka_unit_test(trees_that_lie),
        cmocka_unit_test(summaries_that_lie),       cmocka_unit_test(no_files),
        cmocka_unit_test(summaries_that_lie),       cmocka_unit_test(files_that_changed),
        cmocka_unit_test(a_rank_without_an_entry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
