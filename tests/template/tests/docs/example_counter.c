/* SPDX-License-Identifier: BSD-3-Clause */
/* The worked example of doc/formats/counter.md: two ranks. */
#include <stdio.h>

#include <hpcw/counter.h>

#include "libreader/counter/counter.h"
#include "tests/docs/example.h"

static hpcw_status write_example(const char *directory, hpcw_error *err) {
    char path[1024];
    hpcw_counter *c;
    hpcw_counter_options o;
    (void)snprintf(path, sizeof path, "%s/two.counter", directory);
    hpcw_counter_options_init(&o);
    o.count = 2;
    o.unit = "messages";
    hpcw_status s = hpcw_counter_open(path, NULL, &o, &c, err);
    if (s == HPCW_OK) {
        s = hpcw_counter_write(c, 0, 42, err);
        s = s == HPCW_OK ? hpcw_counter_write(c, 1, 258, err) : s;
        s = s == HPCW_OK ? hpcw_counter_close(c, err) : s;
        hpcw_counter_free(c);
    }
    return s;
}

static hpcw_status verify_example(const char *path, hpcw_error *err) {
    struct read_counter *reader;
    hpcw_status s = read_counter_open(path, &reader, err);
    if (s == HPCW_OK) {
        s = read_counter_verify(reader, err);
        read_counter_free(reader);
    }
    return s;
}

const struct docs_example docs_counter[] = {
    {"counter.md", "hex two.counter", write_example, verify_example},
    {NULL, NULL, NULL, NULL},
};
