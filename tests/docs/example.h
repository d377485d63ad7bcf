/* SPDX-License-Identifier: BSD-3-Clause */
/* Worked examples of a page in doc/formats: for each file, a function that writes it and one that verifies it. */
#ifndef HPCW_TESTS_DOCS_EXAMPLE_H
#define HPCW_TESTS_DOCS_EXAMPLE_H

#include <hpcw/status.h>

#include "gen/spec/formats.h"

/* One file. */
struct docs_example {
    const char *page; /* file in doc/formats; NULL ends a list */
    /* opening line of its fenced blocks: kind, space, name of the file; see support/hexdump.h */
    const char *block;

    /* Writes the file as `directory`/NAME by the public API, with the other files of its set. */
    hpcw_status (*write)(const char *directory, hpcw_error *err);

    /* Opens and verifies a file with the strict reader at its strictest. All examples of a page are in one
     * directory under their names, so that the files of a set find each other. */
    hpcw_status (*verify)(const char *path, hpcw_error *err);
};

/* Each format has a list in its own source file. */
#define DOCS_LIST(number, name) extern const struct docs_example docs_##name[];
GEN_FORMAT_LIST(DOCS_LIST)

/* All lists, ended by NULL: tests/docs/lists.c. */
extern const struct docs_example *const docs_lists[];

#endif
