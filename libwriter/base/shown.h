/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes texts from files, paths and the environment safe for terminals and shells. */
#ifndef HPCW_BASE_SHOWN_H
#define HPCW_BASE_SHOWN_H

#include <stddef.h>

/* Replaces bytes by question marks if a terminal may take them for a part of a command: ASCII controls, U+0080 to
 * U+009F, and bytes that are not UTF-8. Line feeds are controls, so the text becomes one line. The length stays the
 * same. */
void hpcw_i_shown(char *text);

/*
 * Writes a path as one word of a command that a person copies into a shell: quoted if necessary, and never an
 * option. Returns `room`, or `instead` if the word does not fit or the path has bytes that hpcw_i_shown replaces.
 */
const char *hpcw_i_shown_word(char *room, size_t size, const char *path, const char *instead);

#endif
