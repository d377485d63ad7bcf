/* SPDX-License-Identifier: BSD-3-Clause */
/* Worked examples of doc/formats: our writer makes the bytes of the page, and our strict reader accepts them.
 * Usage: test_docs_examples FOLDER_OF_THE_PAGES */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/docs/example.h"
#include "tests/support/files.h"
#include "tests/support/hexdump.h"

#define PATH 1024

static const char *pages;
static char directory[64];

static const char *name_of(const struct docs_example *x) {
    return strchr(x->block, ' ') + 1;
}

/* Returns the bytes of the example from the page. */
static unsigned char *described(const struct docs_example *x, char *page, size_t *size) {
    (void)snprintf(page, PATH, "%s/%s", pages, x->page);
    hpcw_error err = {.message = ""};
    unsigned char *data = hexdump_read(page, x->block, size, &err);
    if (data == NULL) {
        fail_msg("%s", err.message);
    }
    return data;
}

/* Makes a directory in the scratch directory, and the path of the example in it. */
static void place(const struct docs_example *x, const char *kind, char *folder, char *path) {
    (void)snprintf(folder, PATH, "%s/%s-%s", directory, x->page, kind);
    (void)mkdir(folder, 0777);
    (void)snprintf(path, PATH + 256, "%s/%s", folder, name_of(x));
}

static void compare_with_ours(const struct docs_example *x) {
    char page[PATH], folder[PATH], path[PATH + 256];
    size_t described_size = 0, size = 0;
    unsigned char *want = described(x, page, &described_size);
    place(x, "written", folder, path);
    hpcw_error err = {.message = ""};
    if (x->write(folder, &err) != HPCW_OK) {
        fail_msg("%s: %s", x->block, err.message);
    }
    unsigned char *got = read_file(path, &size);
    if (got == NULL) {
        fail_msg("%s: expected a file %s", x->block, path);
    }
    for (size_t k = 0; k < described_size && k < size; k++) {
        if (want[k] != got[k]) {
            fail_msg("%s:%u: byte %04zx of %s: the page has %02x, the writer makes %02x", page,
                     hexdump_line(page, x->block, k), k, name_of(x), want[k], got[k]);
        }
    }
    if (described_size != size) {
        fail_msg("%s: %s: the page has %zu bytes, the writer makes %zu", page, name_of(x), described_size,
                 size);
    }
    free(want);
    free(got);
}

static void our_writer_makes_them(void **state) {
    (void)state;
    for (size_t i = 0; docs_lists[i] != NULL; i++) {
        for (const struct docs_example *x = docs_lists[i]; x->page != NULL; x++) {
            compare_with_ours(x);
        }
    }
}

/* Writes the page's bytes to a file for the reader. */
static void store(const struct docs_example *x) {
    char page[PATH], folder[PATH], path[PATH + 256];
    size_t size = 0;
    unsigned char *data = described(x, page, &size);
    place(x, "described", folder, path);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
    free(data);
}

static void our_reader_accepts_them(void **state) {
    (void)state;
    for (size_t i = 0; docs_lists[i] != NULL; i++) {
        for (const struct docs_example *x = docs_lists[i]; x->page != NULL; x++) {
            store(x);
        }
        for (const struct docs_example *x = docs_lists[i]; x->page != NULL; x++) {
            char folder[PATH], path[PATH + 256];
            place(x, "described", folder, path);
            hpcw_error err = {.message = ""};
            if (x->verify(path, &err) != HPCW_OK) {
                fail_msg("%s: %s: the strict reader refuses it: %s", x->page, name_of(x), err.message);
            }
        }
    }
}

int main(int argc, char **argv) {
    if (argc != 2) {
        (void)fprintf(stderr, "usage: %s FOLDER_OF_THE_PAGES\n", argv[0]);
        return 2;
    }
    pages = argv[1];
    scratch_make(directory, sizeof directory);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(our_writer_makes_them),
        cmocka_unit_test(our_reader_accepts_them),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_remove(directory);
    return failed;
}
