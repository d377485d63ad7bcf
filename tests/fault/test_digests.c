/* SPDX-License-Identifier: BSD-3-Clause */
/* Somebody replaces files as soon as a run has written them. The lists of the run must describe what it wrote. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "gen/dataset/directory/directory.h"
#include "gen/dataset/generate.h"
#include "gen/format/format.h"
#include "libwriter/io/sys.h"
#include "tests/support/files.h"

enum { RANKS = 4 };

static char dir[256];
static const struct gen_dataset *made;
static unsigned replaced;

/* Before the next file gets its final name, replaces every file that already has its own by another one of the same
 * size. */
static int replace_all(enum hpcw_i_sys_call call, size_t *size) {
    (void)size;
    if (call != HPCW_I_SYS_RENAME) {
        return 0;
    }
    replaced = 0;
    for (size_t f = 0; f < gen_format_count; f++) {
        for (uint64_t k = 0; (made->formats >> f & 1) != 0 && k < gen_format[f]->units(made); k++) {
            struct gen_unit unit;
            char path[GEN_DIRECTORY_PATH];
            char other[GEN_DIRECTORY_PATH];
            size_t bytes;
            assert_int_equal(gen_format[f]->unit(made, k, &unit, NULL), HPCW_OK);
            (void)snprintf(path, sizeof path, "%s/%s", dir, unit.path);
            unsigned char *data = read_file(path, &bytes);
            if (data == NULL) {
                continue;
            }
            replaced++;
            memset(data, 'x', bytes);
            (void)snprintf(other, sizeof other, "%s/other", dir);
            FILE *file = fopen(other, "wb");
            assert_non_null(file);
            assert_int_equal(fwrite(data, 1, bytes, file), bytes);
            assert_int_equal(fclose(file), 0);
            assert_int_equal(rename(other, path), 0);
            free(data);
        }
    }
    return 0;
}

/* Returns the checksum list of a dataset as text; `gate` is called while it is written. */
static char *list_of(int (*gate)(enum hpcw_i_sys_call call, size_t *size)) {
    struct gen_dataset d;
    struct gen_outcome outcome;
    hpcw_error err = {.message = ""};
    char path[300];
    size_t size = 0;
    assert_int_equal(gen_dataset_init(&d, "dfplus-hdr200", GEN_SCALE_TINY, NULL), HPCW_OK);
    d.ranks = RANKS;
    d.seed = 3;
    d.formats = ((uint64_t)1 << gen_format_count) - 1;
    d.block_size = 4096;
    d.linktest_files = 2;
    d.params.sion_files = 2;
    scratch_make(dir, sizeof dir);
    made = &d;
    struct gen_run run = {.dataset = &d,
                          .directory = dir,
                          .comm = hpcw_i_comm_or_self(NULL),
                          .jobs = 1,
                          .parts = 1,
                          .checksums = true,
                          .durability = HPCW_SYNC_NONE};
    hpcw_status s = gen_dataset_build(&d, &err);
    hpcw_i_sys_gate = gate;
    s = s == HPCW_OK ? gen_generate(&run, &outcome, &err) : s;
    hpcw_i_sys_gate = NULL;
    if (s != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    (void)snprintf(path, sizeof path, "%s/" GEN_CHECKSUMS, dir);
    char *list = (char *)read_file(path, &size);
    assert_non_null(list);
    list = realloc(list, size + 1);
    assert_non_null(list);
    list[size] = '\0';
    gen_dataset_free(&d);
    scratch_remove(dir);
    return list;
}

static void replaced_files(void **state) {
    (void)state;
    char *quiet = list_of(NULL);
    char *disturbed = list_of(replace_all);
    assert_true(replaced > 2 * RANKS);
    assert_string_equal(quiet, disturbed);
    free(quiet);
    free(disturbed);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(replaced_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
