/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/support/sion_judge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

struct read_sion_image sion_image_view(const struct sion_image *image) {
    return (struct read_sion_image){image->data, image->size};
}

/* Opens and verifies the images. Returns the first failure. */
hpcw_status judge_files(const struct read_sion_image *images, uint32_t count, unsigned flags, hpcw_error *err) {
    struct read_sion *reader;
    hpcw_status status = read_sion_open_memory(images, count, &reader, err);
    if (status == HPCW_OK) {
        status = read_sion_verify(reader, flags, err);
    }
    read_sion_free(reader);
    return status;
}

hpcw_status judge_image(const struct sion_image *image, unsigned flags, hpcw_error *err) {
    struct read_sion_image one = sion_image_view(image);
    return judge_files(&one, 1, flags, err);
}

void accept_image(const struct sion_image *image, unsigned flags) {
    hpcw_error err = {0};
    if (judge_image(image, flags, &err) != HPCW_OK) {
        fail_msg("refused: %s", err.message);
    }
}

/* Fails the test unless the reader refuses the image with this status and a message that contains `text`. */
void refuse_image(const struct sion_image *image, unsigned flags, hpcw_status status, const char *text) {
    hpcw_error err = {0};
    hpcw_status got = judge_image(image, flags, &err);
    if (got != status || strstr(err.message, text) == NULL) {
        fail_msg("expected %s \"%s\", got %s \"%s\"", hpcw_status_name(status), text, hpcw_status_name(got),
                 err.message);
    }
}

struct read_sion *open_images(const struct read_sion_image *images, uint32_t count) {
    struct read_sion *reader;
    hpcw_error err = {0};
    if (read_sion_open_memory(images, count, &reader, &err) != HPCW_OK) {
        fail_msg("not opened: %s", err.message);
    }
    return reader;
}

/* Reads a stream in pieces of `step` bytes and compares it with the formula. */
void check_stream(struct read_sion *reader, const struct read_sion_task *task, size_t step) {
    unsigned char bytes[4096];
    assert_true(step <= sizeof bytes);
    for (uint64_t k = 0; k < task->size; k += step) {
        size_t part = task->size - k < step ? (size_t)(task->size - k) : step;
        assert_int_equal(read_sion_read(reader, task, k, bytes, part, NULL), HPCW_OK);
        for (size_t i = 0; i < part; i++) {
            assert_int_equal(bytes[i], sion_image_byte(task->rank, k + i));
        }
    }
    assert_int_equal(read_sion_read(reader, task, task->size, bytes, 1, NULL), HPCW_ETRUNCATED);
    assert_int_equal(read_sion_read(reader, task, UINT64_MAX, bytes, 2, NULL), HPCW_ETRUNCATED);
    assert_int_equal(read_sion_read(reader, task, task->size, bytes, 0, NULL), HPCW_OK);
}
