/* SPDX-License-Identifier: BSD-3-Clause */
/* Assertions on the SION reader's verdict on images. */
#ifndef HPCW_TESTS_SUPPORT_SION_JUDGE_H
#define HPCW_TESTS_SUPPORT_SION_JUDGE_H

#include "libreader/sion/sion.h"
#include "tests/support/sion_image.h"

struct read_sion_image sion_image_view(const struct sion_image *image);

/* Opens and verifies images. Returns the first failure. */
hpcw_status judge_files(const struct read_sion_image *images, uint32_t count, unsigned flags, hpcw_error *err);
hpcw_status judge_image(const struct sion_image *image, unsigned flags, hpcw_error *err);

/* These fail the test unless the reader accepts the image, or refuses it with a message that contains `text`. */
void accept_image(const struct sion_image *image, unsigned flags);
void refuse_image(const struct sion_image *image, unsigned flags, hpcw_status status, const char *text);

/* Opens a reader, or fails the test. */
struct read_sion *open_images(const struct read_sion_image *images, uint32_t count);

/* Reads a stream in pieces of `step` <= 4096 bytes and compares it with sion_image_byte. */
void check_stream(struct read_sion *reader, const struct read_sion_task *task, size_t step);

#endif
