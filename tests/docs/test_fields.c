/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of fields in doc/formats list the fields of the code, with the same positions and types. Usage:
 * test_docs_fields FOLDER_OF_THE_PAGES */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "libwriter/fields/linktest.h"
#include "libwriter/format/linktest/params.h"

static const char *pages;

static const struct hpcw_i_linktest_field *field_at(size_t at) {
    for (size_t i = 0; i < hpcw_i_linktest_field_count; i++) {
        if (hpcw_i_linktest_fields[i].at == at) {
            return &hpcw_i_linktest_fields[i];
        }
    }
    return NULL;
}

/* Rows after the mode string are "| 66 + b | 1 | u8 | `bidirectional` | ...". The last row is the tag at the
 * end. */
static void linktest_file_header(void **state) {
    (void)state;
    char path[1024], line[1024];
    (void)snprintf(path, sizeof path, "%s/linktest.md", pages);
    FILE *page = fopen(path, "r");
    assert_non_null(page);
    bool inside = false;
    const unsigned header =
        HPCW_I_LINKTEST_MODE_AT + (unsigned)hpcw_i_linktest_fields_size + HPCW_I_LINKTEST_HEADER_END;
    bool found[HPCW_I_LINKTEST_MOST_FIELDS] = {false};
    size_t end = 0;
    while (fgets(line, sizeof line, page) != NULL) {
        unsigned at, size, told = header;
        char type[8] = "", name[64] = "";
        (void)sscanf(line, "rank 0 %u + b", &told);
        (void)sscanf(line, "At the start of the stream of rank 0: %u + b bytes", &told);
        if (told != header) {
            fail_msg("%s: the page has a file header of %u + b bytes, the code of %u + b", path, told, header);
        }
        inside = line[0] == '#' ? strcmp(line, "## File header\n") == 0 : inside;
        if (!inside || sscanf(line, "| %u + b | %u | %7s | `%63[^`]`", &at, &size, type, name) < 3) {
            continue;
        }
        end = at - HPCW_I_LINKTEST_MODE_AT;
        if (size == HPCW_I_LINKTEST_HEADER_END) {
            break;
        }
        const struct hpcw_i_linktest_field *f = field_at(end);
        if (f == NULL || strcmp(f->name, name) != 0 ||
            strcmp(type, hpcw_i_linktest_is_byte(f) ? "u8" : "u64") != 0 ||
            size != (hpcw_i_linktest_is_byte(f) ? 1 : 8)) {
            fail_msg("%s: offset %u + b: the page has %s of type %s and %u bytes, the code %s of type %s", path,
                     at, name, type, size, f == NULL ? "no field" : f->name,
                     f == NULL || hpcw_i_linktest_is_byte(f) ? "u8" : "u64");
        }
        found[f - hpcw_i_linktest_fields] = true;
    }
    (void)fclose(page);
    for (size_t i = 0; i < hpcw_i_linktest_field_count; i++) {
        if (!found[i]) {
            fail_msg("%s: File header: expected a row for %s at offset %zu + b", path,
                     hpcw_i_linktest_fields[i].name, HPCW_I_LINKTEST_MODE_AT + hpcw_i_linktest_fields[i].at);
        }
    }
    assert_int_equal(end, hpcw_i_linktest_fields_size);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(linktest_file_header)};
    if (argc != 2) {
        (void)fprintf(stderr, "usage: test_docs_fields FOLDER_OF_THE_PAGES\n");
        return 2;
    }
    pages = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
