/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parameters given as key=value, by --set or in a configuration file. They are kept in a list. They are set after
 * the defaults, the preset and the scale, and so override them.
 */
#ifndef HPCW_UI_CLI_SETTINGS_H
#define HPCW_UI_CLI_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include <hpcw/status.h>

struct ui_setting {
    char *key;    /* "linktest.messages" */
    char *value;  /* "100" */
    char *origin; /* where it was given: "--set", "run.ini:12" */
};

/* A list in ascending order of precedence. A zeroed struct is an empty list. */
struct ui_settings {
    struct ui_setting *items;
    size_t count, capacity;
};

/* Appends copies of key, value and origin. HPCW_ENOMEM. */
HPCW_MUST_CHECK hpcw_status ui_settings_add(struct ui_settings *settings, const char *key, const char *value,
                                            const char *origin, hpcw_error *err);

/* Moves all items of `weaker` in front of those of `settings`. HPCW_ENOMEM leaves both as they were. */
HPCW_MUST_CHECK hpcw_status ui_settings_put_before(struct ui_settings *settings, struct ui_settings *weaker,
                                                   hpcw_error *err);

void ui_settings_free(struct ui_settings *settings);

/* Puts "place: " before the message of an error; err may be NULL. Returns err's code, or `code` if err is NULL.
 */
hpcw_status ui_fail_at(hpcw_error *err, hpcw_status code, const char *place);

#endif
