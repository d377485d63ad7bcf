/* SPDX-License-Identifier: BSD-3-Clause */
#include "ui/cli/settings.h"

#include <stdio.h>
#include <string.h>

#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "ui/cli/text.h"

hpcw_status ui_fail_at(hpcw_error *err, hpcw_status code, const char *place) {
    if (err != NULL) {
        hpcw_error inner = *err;
        /* hpcw_i_fail replaces control characters. So a line feed in a file name cannot break the message. */
        (void)hpcw_i_fail(err, code, "%s: %s", place, inner.message);
        err->sys_errno = inner.sys_errno;
        err->process = inner.process;
    }
    return code;
}

static void setting_free(struct ui_setting *s) {
    hpcw_i_free(s->key);
    hpcw_i_free(s->value);
    hpcw_i_free(s->origin);
}

static hpcw_status reserve(struct ui_settings *s, size_t more, hpcw_error *err) {
    struct ui_setting *items = hpcw_i_grow(s->items, &s->capacity, s->count + more, sizeof *items);
    if (items == NULL) {
        return hpcw_i_fail_memory(err, "settings", s->count + more, "parameters");
    }
    s->items = items;
    return HPCW_OK;
}

hpcw_status ui_settings_add(struct ui_settings *settings, const char *key, const char *value,
                            const char *origin, hpcw_error *err) {
    hpcw_status status = reserve(settings, 1, err);
    if (status != HPCW_OK) {
        return status;
    }
    struct ui_setting new = {hpcw_i_strdup(key), hpcw_i_strdup(value), hpcw_i_strdup(origin)};
    if (new.key == NULL || new.value == NULL || new.origin == NULL) {
        setting_free(&new);
        return hpcw_i_fail_memory(err, key, 0, NULL);
    }
    settings->items[settings->count++] = new;
    return HPCW_OK;
}

hpcw_status ui_settings_put_before(struct ui_settings *settings, struct ui_settings *weaker, hpcw_error *err) {
    if (weaker->count == 0) {
        ui_settings_free(weaker);
        return HPCW_OK;
    }
    hpcw_status status = reserve(weaker, settings->count, err);
    if (status != HPCW_OK) {
        return status;
    }
    for (size_t i = 0; i < settings->count; i++) {
        weaker->items[weaker->count++] = settings->items[i];
    }
    hpcw_i_free(settings->items);
    *settings = *weaker;
    *weaker = (struct ui_settings){0};
    return HPCW_OK;
}

void ui_settings_free(struct ui_settings *settings) {
    for (size_t i = 0; i < settings->count; i++) {
        setting_free(&settings->items[i]);
    }
    hpcw_i_free(settings->items);
    *settings = (struct ui_settings){0};
}
