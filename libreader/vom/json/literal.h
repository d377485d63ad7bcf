/* SPDX-License-Identifier: BSD-3-Clause */
/* F4, private to the VOM reader: numbers and strings as they come out of the tokeniser. */
#ifndef HPCW_LIBREADER_VOM_JSON_LITERAL_H
#define HPCW_LIBREADER_VOM_JSON_LITERAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Longest spelling of a number; the digits of any double that anybody writes fit several times. */
#define READ_VOM_MOST_NUMBER 256u

/* Whether a JSON number has a point or an exponent. */
bool read_vom_looks_float(const char *text, size_t size);

/* An integer; false if it is not digits alone or above `most`. */
bool read_vom_count_of(const char *text, size_t size, uint64_t most, uint64_t *count);

/* The nearest double of a JSON number of at most READ_VOM_MOST_NUMBER characters; false if it is too
 * large. */
bool read_vom_double_of(const char *text, size_t size, double *number);

bool read_vom_is_utf8(const unsigned char *text, size_t size);

#endif
