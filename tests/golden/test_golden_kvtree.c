/* SPDX-License-Identifier: BSD-3-Clause */
/* Trees of the real KVTree and SCR. Each is read, printed as the original prints it, and stored again with the
 * same bytes. No copy with one flipped bit is accepted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <hpcw/kvtree.h>

#include "tests/support/files.h"

struct file {
    const char *set, *name;
    unsigned trees;
};

static const struct file files[] = {
    {"kvtree-1.5.0-gather24-seg256", "rank2file", 1},
    {"kvtree-1.5.0-gather24-seg256", "rank2file.0.0", 1},
    {"kvtree-1.5.0-gather24-seg256", "rank2file.0.3", 1},
    {"kvtree-1.5.0-gather24-seg256", "rank2file.0.6", 1},
    {"kvtree-1.5.0-gather24-seg256", "rank2file.0.7", 1},
    {"kvtree-1.5.0-gather24-seg256", "rank2file.0.11", 1},
    {"kvtree-1.5.0-gather24-seg256", "rank2file.0.13", 1},
    {"kvtree-1.5.0-gather24-seg256", "rank2file.0.15", 1},
    {"kvtree-1.5.0-gather24-seg256", "rank2file.0.18", 1},
    {"kvtree-1.5.0-gather24-seg256", "rank2file.0.21", 1},
    {"kvtree-1.5.0-gather24-seg256", "rank2file.0.23", 1},
    {"kvtree-1.5.0-gather24-seg256", "rank2file.1.0", 1},
    {"kvtree-1.5.0-gather24-seg256", "rank2file.1.15", 1},
    {"kvtree-1.5.0-gather4", "rank2file", 1},
    {"kvtree-1.5.0-gather4", "rank2file.0.0", 1},
    {"kvtree-1.5.0-offsets6", "rank2file", 1},
    {"kvtree-1.5.0-offsets6", "rank2file.0.0", 3},
    {"kvtree-1.5.0-single", "deep_100.kv", 1},
    {"kvtree-1.5.0-single", "empty_tree.kv", 1},
    {"kvtree-1.5.0-single", "many_children.kv", 1},
    {"kvtree-1.5.0-single", "odd_keys.kv", 1},
    {"kvtree-1.5.0-single", "value_types.kv", 1},
    {"kvtree-1.5.0-togather10", "rank2file", 1},
    {"kvtree-1.5.0-togather10", "rank2file.0.0", 1},
    {"kvtree-1.5.0-togather10", "rank2file.0.3", 1},
    {"kvtree-1.5.0-togather10", "rank2file.0.6", 1},
    {"kvtree-1.5.0-togather10", "rank2file.0.9", 1},
    {"scr-1.1.8-4ranks", ".scr/index.scr", 1},
    {"scr-1.1.8-4ranks", "scr.dataset.1/.scr/rank2file.0.0.scr", 1},
    {"scr-1.1.8-4ranks", "scr.dataset.1/.scr/rank2file.scr", 1},
    {"scr-1.1.8-4ranks", "scr.dataset.1/.scr/summary.scr", 1},
    {"scr-1.2.2-4ranks", ".scr/index.scr", 1},
    {"scr-1.2.2-4ranks", ".scr/scr.dataset.1/rank2file.0.0.scr", 1},
    {"scr-1.2.2-4ranks", ".scr/scr.dataset.1/rank2file.scr", 1},
    {"scr-1.2.2-4ranks", ".scr/scr.dataset.1/summary.scr", 1},
    {"scr-3.1.0-4ranks", ".scr/index.scr", 1},
    {"scr-3.1.0-4ranks", ".scr/scr.dataset.1/rank2file", 1},
    {"scr-3.1.0-4ranks", ".scr/scr.dataset.1/rank2file.0.0", 1},
    {"scr-3.1.0-4ranks", ".scr/scr.dataset.1/summary.scr", 1},
};
enum { FILES = sizeof files / sizeof files[0] };

/* Returns NULL without the golden files. */
static unsigned char *content(const struct file *f, size_t *size) {
    char name[512];
    char path[1024];
    (void)snprintf(name, sizeof name, "rank2file/%s/%s", f->set, f->name);
    return golden_path(name, path, sizeof path) == NULL ? NULL : read_file(path, size);
}

static void stored_again(void **state) {
    (void)state;
    for (size_t i = 0; i < FILES; i++) {
        size_t size = 0;
        unsigned char *data = content(&files[i], &size);
        hpcw_sink *sink = NULL;
        hpcw_error err = {.message = ""};
        unsigned trees = 0;
        if (data == NULL) {
            skip();
        }
        assert_int_equal(hpcw_sink_open_memory(&sink, &err), HPCW_OK);
        for (size_t at = 0; at < size; trees++) {
            hpcw_kvtree *tree = NULL;
            size_t stored = 0;
            if (hpcw_kvtree_decode(files[i].name, data + at, size - at, &stored, &tree, &err) != HPCW_OK) {
                fail_msg("%s", err.message);
            }
            assert_int_equal(hpcw_kvtree_size(tree), stored);
            assert_int_equal(hpcw_kvtree_write(tree, sink, at, &err), HPCW_OK);
            hpcw_kvtree_free(tree);
            at += stored;
        }
        assert_int_equal(trees, files[i].trees);
        size_t got_size = 0;
        const unsigned char *got = hpcw_sink_memory_data(sink, &got_size);
        assert_true(same_bytes(files[i].name, data, size, got, got_size));
        hpcw_sink_free(sink);
        free(data);
    }
}

static void no_bit_may_turn(void **state) {
    (void)state;
    for (size_t i = 0; i < FILES; i++) {
        size_t size = 0;
        unsigned char *data = content(&files[i], &size);
        if (data == NULL) {
            skip();
        }
        for (size_t bit = 0; bit < 8 * size; bit++) {
            hpcw_kvtree *tree = NULL;
            hpcw_error err = {.message = ""};
            data[bit / 8] ^= (unsigned char)(1 << bit % 8);
            hpcw_status s = HPCW_OK;
            for (size_t at = 0, stored = 0; s == HPCW_OK && at < size; at += stored) {
                s = hpcw_kvtree_decode(files[i].name, data + at, size - at, &stored, &tree, &err);
                hpcw_kvtree_free(tree);
            }
            if (s == HPCW_OK || err.code != s || strstr(err.message, "offset") == NULL) {
                fail_msg("%s, bit %zu: %s", files[i].name, bit, err.message);
            }
            data[bit / 8] ^= (unsigned char)(1 << bit % 8);
        }
        free(data);
    }
}

/* Formats bytes as the golden printouts of the original's print tool do. */
static char *shown(const unsigned char *text, size_t size) {
    char *out = malloc(4 * size + 1);
    char *p = out;
    assert_non_null(out);
    for (size_t i = 0; i < size; i++) {
        unsigned char c = text[i];
        if (c >= 0x80) {
            *p++ = 'M';
            *p++ = '-';
            c &= 0x7f;
        }
        if (c == 0x7f || (c < ' ' && c != '\n' && c != '\t')) {
            *p++ = '^';
            c ^= 0x40;
        }
        *p++ = (char)c;
    }
    *p = '\0';
    return out;
}

/* Returns the output of the original's print tool for a file, up to the blank line after it. */
static char *page_of(const struct file *f) {
    char name[512];
    char path[1024];
    (void)snprintf(name, sizeof name, "rank2file/%s.txt", f->set);
    size_t size = 0;
    char *text = (char *)read_file(golden_path(name, path, sizeof path), &size);
    assert_non_null(text);
    text[size] = '\0';
    (void)snprintf(name, sizeof name, "kvtree_print -m keyval ./%s  (", f->name);
    char *at = strstr(text, name);
    assert_non_null(at);
    at = strchr(at, '\n') + 1;
    char *end = at[0] == '\n' ? at : strstr(at, "\n\nkvtree_print");
    if (end != NULL) {
        end[*end == '\n' && end != at] = '\0';
    }
    memmove(text, at, strlen(at) + 1);
    return text;
}

static void printed_alike(void **state) {
    (void)state;
    for (size_t i = 0; i < FILES; i++) {
        size_t size = 0;
        size_t stored = 0;
        unsigned char *data = content(&files[i], &size);
        hpcw_kvtree *tree = NULL;
        hpcw_sink *sink = NULL;
        if (data == NULL) {
            skip();
        }
        assert_int_equal(hpcw_kvtree_decode(files[i].name, data, size, &stored, &tree, NULL), HPCW_OK);
        assert_int_equal(hpcw_sink_open_memory(&sink, NULL), HPCW_OK);
        assert_int_equal(hpcw_kvtree_print(tree, HPCW_KVTREE_KEYVAL, sink, NULL), HPCW_OK);
        const unsigned char *text = hpcw_sink_memory_data(sink, &size);
        char *got = shown(text, size);
        char *want = page_of(&files[i]);
        /* Long texts and lines of the golden output are truncated. */
        for (char *w = want, *g = got; *w != '\0';) {
            size_t n = strcspn(w, "\n");
            if (strncmp(w, "  ... (", 7) == 0) {
                break;
            }
            size_t m = strcspn(g, "\n");
            bool cut = n >= 150 && n < m;
            if (memcmp(w, g, cut ? 140 : n) != 0 || (!cut && n != m)) {
                fail_msg("%s: expected \"%.*s\", got \"%.*s\"", files[i].name, (int)n, w, (int)m, g);
            }
            w += n + (w[n] == '\n');
            g += m + (g[m] == '\n');
        }
        free(want);
        free(got);
        hpcw_sink_free(sink);
        hpcw_kvtree_free(tree);
        free(data);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stored_again),
        cmocka_unit_test(no_bit_may_turn),
        cmocka_unit_test(printed_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
