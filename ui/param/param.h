/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parameters by name. A module with parameters has a plain struct and a table that describes its fields. That
 * table serves --set, configuration files, `list`, the manifest, completion and the manual.
 */
#ifndef HPCW_UI_PARAM_PARAM_H
#define HPCW_UI_PARAM_PARAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

struct hpcw_i_buf;
struct hpcw_i_json;

enum ui_param_type {
    UI_PARAM_BOOL,   /* bool: true/false, yes/no, on/off, 1/0 */
    UI_PARAM_U32,    /* uint32_t */
    UI_PARAM_U64,    /* uint64_t */
    UI_PARAM_SIZE,   /* uint64_t: 4096, 4K, 4KiB, 4 KiB (of 1024), 4KB (of 1000); bytes, unless `unit` is set */
    UI_PARAM_F64,    /* double, finite, C locale */
    UI_PARAM_CHOICE, /* int: index into `choices` */
    UI_PARAM_STRING, /* char[size]: NUL-terminated copy */
};

struct ui_param {
    const char *key; /* "linktest.messages": group, dot, name; lower case, [a-z0-9_] */
    enum ui_param_type type;
    size_t offset;              /* offset of the field in the owner's struct */
    double min, max;            /* numbers: legal range, both included */
    const char *unit;           /* "us", "GB/s", "bytes", ...; NULL if it has none */
    const char *help;           /* one sentence without a full stop; may name its source, as "[L]" */
    const char *const *choices; /* UI_PARAM_CHOICE: NULL-terminated names */
    size_t size;                /* UI_PARAM_STRING: capacity with NUL */
};

/* A row of a table: UI_PARAM(struct x, "x.count", U32, count, 0, 100, NULL, "what it counts"). The arguments
 * after the field are the members from `min` on, or designators. */
#define UI_PARAM(owner, name, kind, field, ...)                                                                \
    { .key = name, .type = UI_PARAM_##kind, .offset = offsetof(owner, field), __VA_ARGS__ }

/* Prints a size in the largest unit that keeps it a whole number: "4K". */
enum { UI_PARAM_SIZE_TEXT = 32 };
char *ui_param_size_text(char text[UI_PARAM_SIZE_TEXT], uint64_t bytes);

/* Prints a size for people, as ui_text_bytes and ui_text_bytes_binary do: "285.3 MB", or "272.1 MiB" if
 * `binary`. */
char *ui_param_bytes_text(char text[UI_PARAM_SIZE_TEXT], uint64_t bytes, bool binary);

/* Sets a field of `owner` from text. HPCW_EINVAL, HPCW_ERANGE: the message has the key, the expected and the actual
 * value. */
hpcw_status ui_param_set(const struct ui_param *param, void *owner, const char *text, hpcw_error *err);

/* Capacity for any field as text. */
enum { UI_PARAM_TEXT = 4096 };

/* Prints the field as text that ui_param_set reads back to the same bits; doubles in their shortest form. */
void ui_param_get(const struct ui_param *param, const void *owner, char *text, size_t size);

/* Appends "name = value" as a line of a configuration. A long value takes several lines. False if memory runs
 * out. */
bool ui_param_line(const char *name, const char *value, struct hpcw_i_buf *buf);

/* Adds the field to an open JSON object under its key, as a value of its JSON type. */
void ui_param_json(const struct ui_param *param, const void *owner, struct hpcw_i_json *json);

#endif
