/* SPDX-License-Identifier: BSD-3-Clause */
/* The examples of doc/formats/sion.md. */
#include <stdio.h>
#include <string.h>

#include <hpcw/sion.h>

#include "libreader/sion/sion.h"
#include "tests/docs/example.h"
#include "tests/support/sion_cases.h"

static hpcw_status open_in(const char *directory, const char *name, hpcw_sion_options *o, hpcw_sion **sion,
                           hpcw_error *err) {
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    return hpcw_sion_open(path, NULL, o, sion, err);
}

/* Closes the container if all writes succeeded. Frees it in any case. */
static hpcw_status finish(hpcw_sion *sion, hpcw_status s, hpcw_error *err) {
    if (s == HPCW_OK) {
        s = hpcw_sion_close(sion, err);
    }
    hpcw_sion_free(sion);
    return s;
}

static hpcw_status write_one_task(const char *directory, hpcw_error *err) {
    unsigned char data[40];
    hpcw_sion *sion;
    hpcw_sion_options o;
    hpcw_sion_options_init(&o);
    o.chunk_size = 100;
    o.fs_block_size = 512;
    o.flavour = HPCW_SION_SERIAL;
    hpcw_status s = open_in(directory, "one_task.sion", &o, &sion, err);
    if (s != HPCW_OK) {
        return s;
    }
    for (size_t k = 0; k < sizeof data; k++) {
        data[k] = golden_byte(0, k);
    }
    return finish(sion, hpcw_sion_write(sion, 0, data, sizeof data, err), err);
}

static hpcw_status write_keys(const char *directory, hpcw_error *err) {
    static const uint64_t sizes[2] = {32, 16};
    hpcw_sion *sion;
    hpcw_sion_options o;
    hpcw_sion_options_init(&o);
    o.count = 2;
    o.sizes = sizes;
    o.fs_block_size = 16;
    o.content = HPCW_SION_KEYVAL;
    o.endian = o.data_endian = HPCW_SION_BIG;
    hpcw_status s = open_in(directory, "keys.sion", &o, &sion, err);
    if (s == HPCW_OK) {
        s = hpcw_sion_write_key(sion, 0, 7, "hello", 5, err);
        if (s == HPCW_OK) {
            s = hpcw_sion_write_key(sion, 0, 9, "sion!", 5, err);
        }
        s = finish(sion, s, err);
    }
    return s;
}

static hpcw_status write_set(const char *directory, hpcw_error *err) {
    hpcw_sion *sion;
    hpcw_sion_options o;
    hpcw_sion_options_init(&o);
    o.count = 2;
    o.files = 2;
    o.chunk_size = 3;
    o.fs_block_size = 1;
    hpcw_status s = open_in(directory, "set.sion", &o, &sion, err);
    if (s == HPCW_OK) {
        s = hpcw_sion_write(sion, 0, "one", 3, err);
        if (s == HPCW_OK) {
            s = hpcw_sion_write(sion, 1, "two", 3, err);
        }
        s = finish(sion, s, err);
    }
    return s;
}

static hpcw_status verify(const char *path, hpcw_error *err) {
    struct read_sion *reader;
    hpcw_status s = read_sion_open(path, &reader, err);
    if (s == HPCW_OK) {
        s = read_sion_verify(reader, READ_SION_STRICT | READ_SION_GAPS, err);
        read_sion_free(reader);
    }
    return s;
}

const struct docs_example docs_sion[] = {
    {"sion.md", "hex one_task.sion", write_one_task, verify},
    {"sion.md", "hex keys.sion", write_keys, verify},
    {"sion.md", "hex set.sion", write_set, verify},
    {"sion.md", "hex set.sion.000001", write_set, verify},
    {NULL, NULL, NULL, NULL},
};
