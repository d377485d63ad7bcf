/* SPDX-License-Identifier: BSD-3-Clause */
/* Assertions that the LinkTest reader accepts or refuses a file (an image of it in memory). */
#ifndef HPCW_TESTS_SUPPORT_LINKTEST_JUDGE_H
#define HPCW_TESTS_SUPPORT_LINKTEST_JUDGE_H

#include "libreader/linktest/linktest.h"
#include "tests/support/linktest_image.h"

/* Results of all kinds; linktest_specs has all of them. */
#define LINKTEST_SPECS 5u
extern const struct linktest_image_spec linktest_plain;  /* 6 tasks, 4 retests */
extern const struct linktest_image_spec linktest_rich;   /* three permutations, all-to-all */
extern const struct linktest_image_spec linktest_halves; /* bisection, big-endian */
extern const struct linktest_image_spec linktest_pair;   /* the smallest */
extern const struct linktest_image_spec linktest_spread; /* two permutations, two files */
extern const struct linktest_image_spec *const linktest_specs[LINKTEST_SPECS];

hpcw_status open_linktest(const struct linktest_image *image, struct read_linktest **reader, hpcw_error *err);

/* Opens and verifies the image. Returns the first failure. */
hpcw_status judge_linktest(const struct linktest_image *image, unsigned flags, hpcw_error *err);

/* These fail the test unless the reader accepts the image, or refuses it with a message that contains `text`. */
void accept_linktest(const struct linktest_image *image, unsigned flags);
void refuse_linktest(const struct linktest_image *image, unsigned flags, hpcw_status status, const char *text);

/* Store and read eight bytes of a stream as a number. linktest_image_bits returns the number for a double. */
void linktest_image_put(struct linktest_image *image, uint32_t rank, size_t offset, uint64_t value);
uint64_t linktest_image_get(struct linktest_image *image, uint32_t rank, size_t offset);
uint64_t linktest_image_bits(double x);

#endif
