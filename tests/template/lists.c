/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists only the template's page. test_examples.c is linked with this file in place of tests/docs/lists.c. */
#include <stddef.h>

#include "tests/docs/example.h"

extern const struct docs_example docs_counter[];

const struct docs_example *const docs_lists[] = {docs_counter, NULL};
