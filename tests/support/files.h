/* SPDX-License-Identifier: BSD-3-Clause */
/* Files for tests: a scratch directory, reading of whole files, and comparison that reports the offset of the
 * first difference. */
#ifndef HPCW_TESTS_SUPPORT_FILES_H
#define HPCW_TESTS_SUPPORT_FILES_H

#include <stdbool.h>
#include <stddef.h>

/* Makes an empty directory below $TMPDIR or /tmp. scratch_remove removes it with the files in it. */
void scratch_make(char *path, size_t size);
void scratch_remove(const char *path);

/* The scratch directory of a test or of a group of tests, made and removed by its two fixtures. */
extern char scratch[256];
int scratch_set_up(void **state);
int scratch_tear_down(void **state);

/* Returns the number of entries in a directory, including hidden ones. */
int count_entries(const char *directory);

/* Reads a whole file, to be freed by the caller. NULL: it cannot be read. */
unsigned char *read_file(const char *path, size_t *size);

/* Returns whether two byte strings are equal. Otherwise reports the first difference on stderr. */
bool same_bytes(const char *what, const unsigned char *want, size_t want_size, const unsigned char *got,
                size_t got_size);

/* Returns the path of a golden file, or NULL if HPCW_GOLDEN is not set. */
const char *golden_path(const char *name, char *path, size_t size);

#endif
