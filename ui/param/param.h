/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parameters by name. A module that can be tuned owns a plain struct and a table that describes its fields; the
 * one table feeds --set, configuration files, `list`, the manifest, completion and the manual.
 */
#ifndef HPCW_UI_PARAM_PARAM_H
#define HPCW_UI_PARAM_PARAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

struct hpcw_i_json;

enum hpcw_i_param_type {
    HPCW_I_PARAM_BOOL,   /* bool: true/false, yes/no, on/off, 1/0 */
    HPCW_I_PARAM_U32,    /* uint32_t */
    HPCW_I_PARAM_U64,    /* uint64_t */
    HPCW_I_PARAM_SIZE,   /* uint64_t bytes: 4096, 4K, 2M, 1G (powers of 1024) */
    HPCW_I_PARAM_F64,    /* double, finite, C locale */
    HPCW_I_PARAM_CHOICE, /* int: index into `choices` */
    HPCW_I_PARAM_STRING, /* char[size]: NUL-terminated copy */
};

struct hpcw_i_param {
    const char *key; /* "linktest.messages": group, dot, name; lower case, [a-z0-9_] */
    enum hpcw_i_param_type type;
    size_t offset;              /* of the field in the owner's struct */
    size_t size;                /* HPCW_I_PARAM_STRING: capacity with NUL */
    double min, max;            /* numbers: legal range, both included */
    const char *const *choices; /* HPCW_I_PARAM_CHOICE: NULL-terminated names */
    const char *unit;           /* "us", "GB/s", "bytes", ...; NULL if it has none */
    const char *help;           /* one sentence without a full stop; its source in brackets where it has one */
};

/* Sets a field of `owner` from text. HPCW_EINVAL or HPCW_ERANGE with key, wanted and got. */
hpcw_status hpcw_i_param_set(const struct hpcw_i_param *param, void *owner, const char *text, hpcw_error *err);

/* The field as text that hpcw_i_param_set takes back to the same bits; doubles in shortest form. */
void hpcw_i_param_get(const struct hpcw_i_param *param, const void *owner, char *text, size_t size);

/* Adds the field to an open JSON object under its key, with its natural type. */
void hpcw_i_param_json(const struct hpcw_i_param *param, const void *owner, struct hpcw_i_json *json);

#endif
