/* SPDX-License-Identifier: BSD-3-Clause */
/* The formats whose pages have examples, in a file of its own: the template of a format has another list. */
#include <stddef.h>

#include "tests/docs/example.h"

const struct docs_example *const docs_lists[] = {
    docs_clog2, docs_linktest, docs_rank2file, docs_sion, docs_vom, NULL,
};
