/* SPDX-License-Identifier: BSD-3-Clause */
/* Formats whose pages have examples. The list has a file of its own, since the template of a format has another
 * list. */
#include <stddef.h>

#include "tests/docs/example.h"

#define ITEM(number, name) docs_##name,
const struct docs_example *const docs_lists[] = {GEN_FORMAT_LIST(ITEM) NULL};
