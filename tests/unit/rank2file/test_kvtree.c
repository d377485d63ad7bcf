/* SPDX-License-Identifier: BSD-3-Clause */
/* Small trees: construction, bytes, refusals (doc/formats/rank2file.md#rank2file-1 to rank2file-6), and
 * printing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <hpcw/kvtree.h>

#include "libwriter/base/bytes.h"
#include "libwriter/base/crc32.h"
#include "libwriter/format/kvtree/node.h"
#include "tests/support/faults.h"
#include "tests/support/files.h"

#define OK(call) assert_int_equal(call, HPCW_OK)

static void crc_of_known_texts(void **state) {
    (void)state;
    assert_int_equal(hpcw_i_crc32(0, "123456789", 9), 0xcbf43926u);
    assert_int_equal(hpcw_i_crc32(0, "", 0), 0);
    uint32_t crc = hpcw_i_crc32(0, "12345", 5);
    crc = hpcw_i_crc32(crc, NULL, 0);
    assert_int_equal(hpcw_i_crc32(crc, "6789", 4), 0xcbf43926u);
}

static hpcw_kvtree *sample(void) {
    hpcw_kvtree *root = NULL;
    hpcw_kvtree *dset = NULL;
    OK(hpcw_kvtree_new(&root, NULL));
    OK(hpcw_kvtree_set(root, "VERSION", "5", NULL));
    OK(hpcw_kvtree_set(root, "VERSION", "6", NULL));
    OK(hpcw_kvtree_add(root, "DSET", &dset, NULL));
    OK(hpcw_kvtree_set_u64(dset, "ID", UINT64_MAX, NULL));
    OK(hpcw_kvtree_add(dset, "", NULL, NULL));
    OK(hpcw_kvtree_add(root, "gone", NULL, NULL));
    OK(hpcw_kvtree_add(root, "last", NULL, NULL));
    hpcw_kvtree_remove(root, "gone");
    hpcw_kvtree_remove(root, "never there");
    return root;
}

static void what_was_set_is_there(void **state) {
    (void)state;
    hpcw_kvtree *root = sample();
    uint64_t id = 0;
    hpcw_error err = {.message = ""};
    assert_int_equal(hpcw_kvtree_count(root), 3);
    assert_string_equal(hpcw_kvtree_value(root, "VERSION"), "6");
    assert_null(hpcw_kvtree_value(root, "DSET"));
    OK(hpcw_kvtree_value_u64(hpcw_kvtree_get(root, "DSET"), "ID", &id, NULL));
    assert_true(id == UINT64_MAX);
    assert_int_equal(hpcw_kvtree_value_u64(root, "last", &id, &err), HPCW_EFORMAT);
    assert_string_equal(err.message, "last: expected one value, got none");
    assert_null(hpcw_kvtree_get(hpcw_kvtree_get(root, "nothing"), "below"));
    assert_string_equal(hpcw_kvtree_key(hpcw_kvtree_next(hpcw_kvtree_first(root))), "DSET");
    assert_string_equal(hpcw_kvtree_key(root), "");

    hpcw_kvtree *copy = NULL;
    OK(hpcw_kvtree_new(&copy, NULL));
    OK(hpcw_kvtree_set(copy, "more", "1", NULL));
    OK(hpcw_kvtree_merge(copy, root, NULL));
    OK(hpcw_kvtree_merge(copy, root, NULL));
    assert_int_equal(hpcw_kvtree_size(copy), hpcw_kvtree_size(root) + strlen("more1") + 10);
    assert_int_equal(hpcw_kvtree_merge(copy, copy, NULL), HPCW_EINVAL);
    hpcw_kvtree_free(copy);
    hpcw_kvtree_free(root);
}

static const char *number_key(unsigned i) {
    static char key[16];
    (void)snprintf(key, sizeof key, "%u", i);
    return key;
}

/* A node with many children finds each of them by a hash, whatever was removed before, and keeps their order. */
static void many_children(void **state) {
    (void)state;
    enum { MANY = 1000 };
    hpcw_kvtree *root = NULL;
    OK(hpcw_kvtree_new(&root, NULL));
    for (unsigned i = 0; i < MANY; i++) {
        OK(hpcw_kvtree_add(root, number_key(i), NULL, NULL));
        OK(hpcw_kvtree_add(root, number_key(i / 2), NULL, NULL));
        assert_int_equal(hpcw_kvtree_count(root), i + 1);
        assert_true((root->by_hash != NULL) == (i >= HPCW_I_KVTREE_FEW));
    }
    for (unsigned i = 0; i < MANY;
         i += i % 3 == 0 ? 1 : 2) { /* those of i % 3 = 2, the first and the last stay */
        if (i > 0 && i < MANY - 1) {
            hpcw_kvtree_remove(root, number_key(i));
        }
    }
    hpcw_sink *sink = NULL;
    hpcw_kvtree *again = NULL;
    OK(hpcw_sink_open_memory(&sink, NULL));
    OK(hpcw_kvtree_write(root, sink, 0, NULL));
    size_t size = 0;
    const void *data = hpcw_sink_memory_data(sink, &size);
    OK(hpcw_kvtree_decode("tree", data, size, NULL, &again, NULL));
    for (int t = 0; t < 2; t++) {
        hpcw_kvtree *tree = t == 0 ? root : again;
        const hpcw_kvtree *n = hpcw_kvtree_first(tree);
        assert_int_equal(tree->by_hash->count, hpcw_kvtree_count(tree));
        for (unsigned i = 0; i < MANY; i++) {
            const bool stays = i == 0 || i % 3 == 2 || i == MANY - 1;
            assert_ptr_equal(hpcw_kvtree_get(tree, number_key(i)), stays ? n : NULL);
            n = stays ? hpcw_kvtree_next(n) : n;
        }
        assert_null(n);
    }
    hpcw_sink_free(sink);
    hpcw_kvtree_free(again);

    /* Two children with one hash: here two with one key, which a stored tree may not have. */
    OK(hpcw_i_kvtree_append(root, "5", 1, NULL, NULL));
    assert_null(root->by_hash);
    assert_string_equal(hpcw_kvtree_key(hpcw_kvtree_get(root, "8")), "8");
    hpcw_error err = {.message = ""};
    OK(hpcw_sink_open_memory(&sink, NULL));
    OK(hpcw_kvtree_write(root, sink, 0, NULL));
    data = hpcw_sink_memory_data(sink, &size);
    assert_int_equal(hpcw_kvtree_decode("tree", data, size, NULL, &again, &err), HPCW_EFORMAT);
    assert_string_equal(err.message, "tree: offset 20: expected every key once, got \"5\" twice");
    hpcw_sink_free(sink);
    hpcw_kvtree_free(root);
}

/* A node whose table finds no memory keeps the children that it has, and can get more later. */
static void many_children_without_memory(void **state) {
    (void)state;
    enum { MANY = 60 };
    bool met = true;
    for (unsigned long n = 1; met; n++) {
        hpcw_kvtree *root = NULL;
        hpcw_error err = {.message = ""};
        OK(hpcw_kvtree_new(&root, NULL));
        fault_arm(FAULT_NOMEM, n);
        unsigned count = 0;
        while (count < MANY && hpcw_kvtree_add(root, number_key(count), NULL, &err) == HPCW_OK) {
            count++;
        }
        met = fault_disarm();
        assert_int_equal(met ? HPCW_ENOMEM : HPCW_OK, err.code);
        assert_true(met == (count < MANY));
        for (unsigned i = 0; i < MANY; i++) {
            assert_true((hpcw_kvtree_get(root, number_key(i)) != NULL) == (i < count));
        }
        for (unsigned i = 0; i < MANY; i++) {
            OK(hpcw_kvtree_add(root, number_key(i), NULL, NULL));
        }
        assert_int_equal(hpcw_kvtree_count(root), MANY);
        hpcw_kvtree_free(root);
    }
}

static void deeper_than_any_tool(void **state) {
    (void)state;
    hpcw_kvtree *root = NULL;
    hpcw_error err = {.message = ""};
    OK(hpcw_kvtree_new(&root, NULL));
    hpcw_kvtree *node = root;
    for (unsigned i = 0; i < HPCW_KVTREE_MAX_DEPTH; i++) {
        OK(hpcw_kvtree_add(node, "k", &node, NULL));
    }
    assert_int_equal(hpcw_kvtree_add(node, "k", &node, &err), HPCW_ERANGE);
    assert_null(node);
    char path[256];
    scratch_make(path, sizeof path - 8);
    size_t n = strlen(path);
    (void)snprintf(path + n, sizeof path - n, "/deep");
    OK(hpcw_kvtree_write_file(root, path, HPCW_SYNC_NONE, &err));
    hpcw_kvtree_free(root);
    OK(hpcw_kvtree_read_file(path, &root, &err));
    hpcw_sink *sink = NULL;
    OK(hpcw_sink_open_memory(&sink, NULL));
    OK(hpcw_kvtree_print(root, HPCW_KVTREE_TREE, sink, NULL));
    assert_int_equal(hpcw_kvtree_print(root, HPCW_KVTREE_JSON, sink, &err), HPCW_ERANGE);
    hpcw_sink_free(sink);
    hpcw_kvtree_free(root);
    path[n] = '\0';
    scratch_remove(path);
}

/* ---- invalid bytes ---- */

struct image {
    unsigned char data[1 << 14];
    size_t size;
};

static void put(struct image *image, const void *bytes, size_t size) {
    memcpy(image->data + image->size, bytes, size);
    image->size += size;
}

static void put_u32(struct image *image, uint32_t v) {
    hpcw_i_put_u32(image->data + image->size, v, true);
    image->size += 4;
}

static void begin(struct image *image) {
    static const unsigned char header[20] = {0x95, 0x1f, 0xc3, 0xf5, 0, 1, 0, 1, [19] = 1};
    image->size = 0;
    put(image, header, sizeof header);
}

/* Writes the length and the CRC that belong to the content. */
static void end(struct image *image) {
    hpcw_i_put_u64(image->data + 8, image->size + 4, true);
    put_u32(image, hpcw_i_crc32(0, image->data, image->size));
}

static void assert_refused(const struct image *image, hpcw_status want, const char *message) {
    hpcw_kvtree *tree = (hpcw_kvtree *)(uintptr_t)image;
    hpcw_error err = {.message = ""};
    assert_int_equal(hpcw_kvtree_decode("f", image->data, image->size, NULL, &tree, &err), want);
    assert_null(tree);
    assert_int_equal(err.code, want);
    assert_string_equal(err.message, message);
}

static void damage_is_named(void **state) {
    (void)state;
    static struct image image;
    begin(&image);
    put_u32(&image, 0);
    end(&image);
    hpcw_kvtree *tree = NULL;
    OK(hpcw_kvtree_decode("f", image.data, image.size, NULL, &tree, NULL));
    assert_int_equal(hpcw_kvtree_size(tree), 28);
    hpcw_kvtree_free(tree);

    struct image bad = image;
    bad.data[0] = 0;
    assert_refused(&bad, HPCW_EFORMAT, "f: offset 0: magic: expected 0x951fc3f5, got 0x001fc3f5");
    bad = image;
    bad.data[5] = 2;
    assert_refused(&bad, HPCW_EFORMAT, "f: offset 4: type: expected 1, got 2");
    bad = image;
    bad.data[7] = 0;
    assert_refused(&bad, HPCW_EFORMAT, "f: offset 6: version: expected 1, got 0");
    bad = image;
    bad.data[19] = 3;
    assert_refused(&bad, HPCW_EFORMAT, "f: offset 16: flags: expected 1, got 3");
    bad = image;
    bad.data[15] = 27;
    assert_refused(&bad, HPCW_EFORMAT, "f: offset 8: stored size: expected 28 to 2147483647, got 27");
    bad = image;
    bad.data[8] = 0xff;
    assert_refused(&bad, HPCW_EFORMAT,
                   "f: offset 8: stored size: expected 28 to 2147483647, got 18374686479671623708");
    bad = image;
    bad.data[15] = 29;
    assert_refused(&bad, HPCW_ETRUNCATED,
                   "f: offset 8: stored size: expected at most the 28 bytes that are left, got 29");
    bad = image;
    bad.size = 23;
    assert_refused(&bad, HPCW_ETRUNCATED, "f: offset 0: tree: expected at least 24 bytes, got 23");
    bad = image;
    bad.data[27] ^= 1;
    assert_int_equal(hpcw_kvtree_decode("f", bad.data, bad.size, NULL, &tree, NULL), HPCW_ECHECKSUM);
    bad = image;
    bad.size++;
    assert_refused(&bad, HPCW_EFORMAT, "f: offset 28: expected the end of the file, got 1 more bytes");
    /* Without a CRC, the four bytes after the map are too many. */
    bad = image;
    bad.data[19] = 0;
    assert_refused(&bad, HPCW_EFORMAT, "f: offset 24: expected the end of the tree, got 4 more bytes");
    bad.size = 24;
    bad.data[15] = 24;
    OK(hpcw_kvtree_decode("f", bad.data, bad.size, NULL, &tree, NULL));
    hpcw_kvtree_free(tree);

    begin(&image);
    put_u32(&image, 2);
    put(&image, "a\0\0\0\0\0", 6);
    end(&image);
    assert_refused(&image, HPCW_EFORMAT, "f: offset 20: number of children: expected at most 1, got 2");
    begin(&image);
    put_u32(&image, 1);
    put(&image, "abcdefgh", 8);
    end(&image);
    assert_refused(&image, HPCW_EFORMAT, "f: offset 24: key: expected a NUL after it, got the end");
    begin(&image);
    put_u32(&image, 1);
    put(&image, "abcdefg", 8);
    end(&image);
    assert_refused(&image, HPCW_EFORMAT, "f: offset 32: number of children: expected 4 bytes, got 0");
    begin(&image);
    put_u32(&image, 3);
    put(&image, "a\0\0\0\0\0b\0\0\0\0\0a\0\0\0\0\0", 18);
    end(&image);
    assert_refused(&image, HPCW_EFORMAT, "f: offset 20: expected every key once, got \"a\" twice");

    begin(&image);
    put_u32(&image, 1);
    for (unsigned i = 0; i < 600; i++) {
        put(&image, "k", 2);
        put_u32(&image, 1);
    }
    put(&image, "k", 2);
    put_u32(&image, 0);
    end(&image);
    assert_refused(&image, HPCW_EFORMAT, "f: offset 3020: expected at most 500 levels of keys, got more");
}

static void refused_arguments(void **state) {
    (void)state;
    hpcw_kvtree *root = sample();
    hpcw_kvtree *tree;
    assert_int_equal(hpcw_kvtree_new(NULL, NULL), HPCW_EINVAL);
    assert_int_equal(hpcw_kvtree_add(NULL, "k", NULL, NULL), HPCW_EINVAL);
    assert_int_equal(hpcw_kvtree_set(root, "k", NULL, NULL), HPCW_EINVAL);
    assert_int_equal(hpcw_kvtree_set(root, NULL, "v", NULL), HPCW_EINVAL);
    assert_int_equal(hpcw_kvtree_write(NULL, NULL, 0, NULL), HPCW_EINVAL);
    assert_int_equal(hpcw_kvtree_write(root, NULL, 0, NULL), HPCW_EINVAL);
    assert_int_equal(hpcw_kvtree_print(root, HPCW_KVTREE_TREE, NULL, NULL), HPCW_EINVAL);
    assert_int_equal(hpcw_kvtree_decode("f", NULL, 1, NULL, &tree, NULL), HPCW_EINVAL);
    assert_int_equal(hpcw_kvtree_decode("f", "", 0, NULL, &tree, NULL), HPCW_ETRUNCATED);
    assert_int_equal(hpcw_kvtree_read_file("/nowhere/at/all", &tree, NULL), HPCW_ENOENT);
    assert_int_equal(hpcw_kvtree_read_file("/", &tree, NULL), HPCW_EFORMAT);
    assert_int_equal(hpcw_kvtree_size(NULL), 0);
    hpcw_kvtree_free(NULL);
    hpcw_kvtree_free(root);
}

static void assert_prints(const hpcw_kvtree *root, hpcw_kvtree_form form, const char *want) {
    hpcw_sink *sink = NULL;
    size_t size = 0;
    OK(hpcw_sink_open_memory(&sink, NULL));
    OK(hpcw_kvtree_print(root, form, sink, NULL));
    const unsigned char *got = hpcw_sink_memory_data(sink, &size);
    assert_true(same_bytes("print", (const unsigned char *)want, strlen(want), got, size));
    hpcw_sink_free(sink);
}

static void three_forms(void **state) {
    (void)state;
    hpcw_kvtree *root = sample();
    assert_prints(root, HPCW_KVTREE_TREE,
                  "  VERSION\n    6\n  DSET\n    ID\n      18446744073709551615\n    \n  last\n");
    assert_prints(root, HPCW_KVTREE_KEYVAL,
                  "  VERSION = 6\n  DSET\n    ID = 18446744073709551615\n    \n  last\n");
    assert_prints(
        root, HPCW_KVTREE_JSON,
        "{\n  \"VERSION\": \"6\",\n  \"DSET\": {\n    \"ID\": \"18446744073709551615\",\n    \"\": {}\n"
        "  },\n  \"last\": {}\n}\n");
    hpcw_kvtree_free(root);
}

/* Each system call or allocation fails once while a tree is written, read and printed. */
static void every_call_fails_once(void **state) {
    (void)state;
    char dir[256];
    char path[512];
    scratch_make(dir, sizeof dir);
    (void)snprintf(path, sizeof path, "%s/tree", dir);
    hpcw_kvtree *root = sample();
    for (int fault = 0; fault < FAULTS; fault++) {
        for (unsigned long n = 1;; n++) {
            hpcw_kvtree *again = NULL;
            hpcw_sink *sink = NULL;
            hpcw_error err = {.message = ""};
            int descriptors = count_descriptors();
            fault_arm((enum fault)fault, n);
            hpcw_status s = hpcw_kvtree_write_file(root, path, HPCW_SYNC_FILE, &err);
            if (s == HPCW_OK) {
                s = hpcw_kvtree_read_file(path, &again, &err);
            }
            if (s == HPCW_OK) {
                s = hpcw_sink_open_memory(&sink, &err);
            }
            for (int form = 0; s == HPCW_OK && form < 3; form++) {
                s = hpcw_kvtree_print(again, (hpcw_kvtree_form)form, sink, &err);
            }
            bool met = fault_disarm();
            hpcw_sink_free(sink);
            hpcw_kvtree_free(again);
            assert_int_equal(count_descriptors(), descriptors);
            /* If only the close after reading fails, nothing is lost and the call succeeds. */
            bool fails = met && !fault_is_harmless((enum fault)fault) && s != HPCW_OK;
            assert_int_equal(s, fails ? fault_status((enum fault)fault) : HPCW_OK);
            assert_true(!fails || good_message(s, &err, ""));
            if (!met) {
                assert_true(n > 1);
                break;
            }
        }
    }
    hpcw_kvtree_free(root);
    scratch_remove(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crc_of_known_texts),
        cmocka_unit_test(what_was_set_is_there),
        cmocka_unit_test(deeper_than_any_tool),
        cmocka_unit_test(damage_is_named),
        cmocka_unit_test(refused_arguments),
        cmocka_unit_test(three_forms),
        cmocka_unit_test(every_call_fails_once),
        cmocka_unit_test(many_children),
        cmocka_unit_test(many_children_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
