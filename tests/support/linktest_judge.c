/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/support/linktest_judge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "libwriter/base/bytes.h"

const struct linktest_image_spec linktest_plain = {.tasks = 6, .retests = 4, .fs_block_size = 64};
const struct linktest_image_spec linktest_rich = {
    .tasks = 8, .all_to_all = true, .randomized = 3, .retests = 5, .fs_block_size = 1};
const struct linktest_image_spec linktest_halves = {
    .tasks = 8, .big = true, .bisection = true, .retests = 2, .fs_block_size = 512};
const struct linktest_image_spec linktest_pair = {.tasks = 2, .fs_block_size = 1};
const struct linktest_image_spec linktest_spread = {
    .tasks = 10, .retests = 10, .randomized = 2, .fs_block_size = 16, .two_files = true};
const struct linktest_image_spec *const linktest_specs[LINKTEST_SPECS] = {
    &linktest_plain, &linktest_rich, &linktest_halves, &linktest_pair, &linktest_spread};

hpcw_status open_linktest(const struct linktest_image *image, struct read_linktest **reader, hpcw_error *err) {
    struct read_sion_image views[2];
    for (uint32_t k = 0; k < image->files; k++) {
        views[k] = (struct read_sion_image){image->file[k].data, image->file[k].size};
    }
    return read_linktest_open_memory(views, image->files, reader, err);
}

/* Opens and verifies the image. Returns the first failure. */
hpcw_status judge_linktest(const struct linktest_image *image, unsigned flags, hpcw_error *err) {
    struct read_linktest *reader;
    hpcw_status status = open_linktest(image, &reader, err);
    if (status == HPCW_OK) {
        status = read_linktest_verify(reader, flags, err);
    }
    read_linktest_free(reader);
    return status;
}

void accept_linktest(const struct linktest_image *image, unsigned flags) {
    hpcw_error err = {0};
    if (judge_linktest(image, flags, &err) != HPCW_OK) {
        fail_msg("refused: %s", err.message);
    }
}

void refuse_linktest(const struct linktest_image *image, unsigned flags, hpcw_status status, const char *text) {
    hpcw_error err = {0};
    hpcw_status got = judge_linktest(image, flags, &err);
    if (got != status || strstr(err.message, text) == NULL) {
        fail_msg("expected %s \"%s\", got %s \"%s\"", hpcw_status_name(status), text, hpcw_status_name(got),
                 err.message);
    }
}

uint64_t linktest_image_bits(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

void linktest_image_put(struct linktest_image *image, uint32_t rank, size_t offset, uint64_t value) {
    hpcw_i_put_u64(linktest_image_byte(image, rank, offset), value, image->spec.big);
}

uint64_t linktest_image_get(struct linktest_image *image, uint32_t rank, size_t offset) {
    return hpcw_i_get_u64(linktest_image_byte(image, rank, offset), image->spec.big);
}
