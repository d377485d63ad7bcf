/* SPDX-License-Identifier: BSD-3-Clause */
/* Files for tests: a scratch directory, whole files, comparison with the first difference by offset. */
#ifndef HPCW_TESTS_SUPPORT_FILES_H
#define HPCW_TESTS_SUPPORT_FILES_H

#include <stdbool.h>
#include <stddef.h>

/* A fresh directory below $TMPDIR or /tmp; remove it with scratch_remove, which takes the files in it along. */
void scratch_make(char *path, size_t size);
void scratch_remove(const char *path);

/* Number of entries in a directory, hidden ones included. */
int count_entries(const char *directory);

/* A whole file; NULL if it cannot be read. To be freed by the caller. */
unsigned char *read_file(const char *path, size_t *size);

/* Whether two byte strings are equal; otherwise says on stderr where they differ first. */
bool same_bytes(const char *what, const unsigned char *want, size_t want_size, const unsigned char *got,
                size_t got_size);

/* Path of a golden file, or NULL if HPCW_GOLDEN is not set. */
const char *golden_path(const char *name, char *path, size_t size);

#endif
