/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers as text and back. The result depends on the arguments alone: not on a locale, not on libm.
 *
 * Every hpcw_i_fmt_ function writes to `p` and returns the end of what it wrote, so that calls chain. No NUL is
 * added. At least HPCW_I_FMT_ROOM bytes must be writable at `p`: what lies between the returned end and
 * p + HPCW_I_FMT_ROOM may be overwritten.
 */
#ifndef HPCW_BASE_NUMFMT_H
#define HPCW_BASE_NUMFMT_H

#include <stdint.h>

#include <hpcw/status.h>

#define HPCW_I_FMT_ROOM 40

/* Writes a decimal number of at most 20 characters. */
char *hpcw_i_fmt_u64(char *p, uint64_t v);
char *hpcw_i_fmt_i64(char *p, int64_t v);

/* Writes a decimal number with at least `width` digits, width <= 20, by adding leading zeros. */
char *hpcw_i_fmt_u64_width(char *p, uint64_t v, unsigned width);

/* Writes lower-case hexadecimal without prefix, with leading zeros up to `width` digits, width <= 16. */
char *hpcw_i_fmt_hex(char *p, uint64_t v, unsigned width);

enum hpcw_i_float_style {
    /* Always recognisable as a float: 0.0, 160.0, 100000000000000.0, 1e+15, 0.0001, 1e-05. Fixed for
     * 1e-4 <= |v| < 1e15, otherwise scientific with a sign and at least two digits in the exponent. These are
     * the conventions of vt's JSON files. */
    HPCW_I_FLOAT_JSON,
    /* For texts that people read, and for parameters: 0, 160, 0.00001, 1e-7, 100000000000000000000, 1e+21. Fixed
     * for 1e-6 <= |v| < 1e21: the conventions of ECMAScript (and so of RFC 8785), but -0 keeps its sign. */
    HPCW_I_FLOAT_COMPACT,
};

/* Writes the shortest text that reads back to the same double. If there are several, writes the one nearest to the
 * double. At most 25 characters. For NaN and infinities it writes nothing and returns `p`. */
char *hpcw_i_fmt_f64(char *p, double v, enum hpcw_i_float_style style);

/* Writes nanoseconds as exact seconds: 1234567890 -> 1.23456789, 2000000000 -> 2.0. At most 21 characters. */
char *hpcw_i_fmt_seconds(char *p, uint64_t time_ns);

/*
 * Parses a number from a command line or a configuration file. All of `text` must be the number: no blanks, no
 * leading '+', no hexadecimal, no "inf" or "nan". `what` names the value in the message. `*out` is set on success
 * only.
 *
 * Integers are decimal digits; leading zeros do not mean octal. Doubles are digits
 * with an optional fraction and an optional exponent ("1", "0.25", "-1.5e-3"), rounded to the nearest double.
 *
 * Returns HPCW_OK; HPCW_EINVAL if `text` is not such a number; HPCW_ERANGE if it is not in [min, max] or too
 * large for the type; HPCW_ENOMEM (doubles).
 */
hpcw_status hpcw_i_parse_u64(const char *what, const char *text, uint64_t min, uint64_t max, uint64_t *out,
                             hpcw_error *err) HPCW_MUST_CHECK;
hpcw_status hpcw_i_parse_f64(const char *what, const char *text, double min, double max, double *out,
                             hpcw_error *err) HPCW_MUST_CHECK;

#endif
