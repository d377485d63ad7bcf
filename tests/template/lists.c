/* SPDX-License-Identifier: BSD-3-Clause */
/* The template's page alone: test_examples.c is linked with this instead of tests/docs/lists.c. */
#include <stddef.h>

#include "tests/docs/example.h"

extern const struct docs_example docs_counter[];

const struct docs_example *const docs_lists[] = {docs_counter, NULL};
