/* SPDX-License-Identifier: BSD-3-Clause */
/* F4, private to the VOM reader: the text of numbers and strings. */
#ifndef HPCW_LIBREADER_VOM_JSON_LITERAL_H
#define HPCW_LIBREADER_VOM_JSON_LITERAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Longest text of a number, several times what the digits of any double need. */
#define READ_VOM_MOST_NUMBER 256u

/* Whether a JSON number has a point or an exponent. */
bool read_vom_looks_float(const char *text, size_t size);

/* An integer. False if it has other characters than digits, or is above `most`. */
bool read_vom_count_of(const char *text, size_t size, uint64_t most, uint64_t *count);

/* The nearest double of a JSON number of at most READ_VOM_MOST_NUMBER characters. False if it is too large. */
bool read_vom_double_of(const char *text, size_t size, double *number);

bool read_vom_is_utf8(const unsigned char *text, size_t size);

#endif
