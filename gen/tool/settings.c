/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/settings.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "tool/text.h"

hpcw_status hpcw_i_fail_at(hpcw_error *err, hpcw_status code, const char *place) {
    if (err != NULL) {
        hpcw_error inner = *err;
        /* The record replaces control characters, so a hostile file name stays on its line. */
        (void)hpcw_i_fail(err, code, "%s: %s", place, inner.message);
        err->sys_errno = inner.sys_errno;
        err->process = inner.process;
    }
    return code;
}

static void setting_free(struct hpcw_i_setting *s) {
    hpcw_i_free(s->key);
    hpcw_i_free(s->value);
    hpcw_i_free(s->origin);
}

static hpcw_status reserve(struct hpcw_i_settings *s, size_t more, hpcw_error *err) {
    if (s->capacity - s->count >= more) {
        return HPCW_OK;
    }
    size_t capacity = s->capacity * 2 > s->count + more ? s->capacity * 2 : s->count + more;
    struct hpcw_i_setting *items = hpcw_i_realloc(s->items, capacity * sizeof *items);
    if (items == NULL) {
        return hpcw_i_fail(err, HPCW_ENOMEM, "list of %zu parameters: no memory", s->count + more);
    }
    s->items = items;
    s->capacity = capacity;
    return HPCW_OK;
}

hpcw_status hpcw_i_settings_add(struct hpcw_i_settings *settings, const char *key, const char *value,
                                const char *origin, hpcw_error *err) {
    hpcw_status status = reserve(settings, 1, err);
    if (status != HPCW_OK) {
        return status;
    }
    struct hpcw_i_setting new = {hpcw_i_strdup(key), hpcw_i_strdup(value), hpcw_i_strdup(origin)};
    if (new.key == NULL || new.value == NULL || new.origin == NULL) {
        setting_free(&new);
        return hpcw_i_fail(err, HPCW_ENOMEM, "parameter %s: no memory", key);
    }
    settings->items[settings->count++] = new;
    return HPCW_OK;
}

hpcw_status hpcw_i_settings_put_before(struct hpcw_i_settings *settings, struct hpcw_i_settings *weaker,
                                       hpcw_error *err) {
    if (weaker->count == 0) {
        hpcw_i_settings_free(weaker);
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
    *weaker = (struct hpcw_i_settings){0};
    return HPCW_OK;
}

void hpcw_i_settings_free(struct hpcw_i_settings *settings) {
    for (size_t i = 0; i < settings->count; i++) {
        setting_free(&settings->items[i]);
    }
    hpcw_i_free(settings->items);
    *settings = (struct hpcw_i_settings){0};
}

/* ---- applying ---- */

struct groups {
    const struct hpcw_i_param_group *groups;
    size_t count;
};

static const struct hpcw_i_param *param_at(const struct groups *all, size_t index, void **owner) {
    for (size_t g = 0; g < all->count; g++) {
        if (index < all->groups[g].count) {
            *owner = all->groups[g].owner;
            return &all->groups[g].params[index];
        }
        index -= all->groups[g].count;
    }
    return NULL;
}

static const char *key_at(const void *list, size_t index) {
    void *owner;
    const struct hpcw_i_param *param = param_at(list, index, &owner);
    return param == NULL ? NULL : param->key;
}

/* "mesages" names linktest.messages if no other group has a parameter that is as near. */
static const char *nearest_key(const char *key, const struct groups *all) {
    const char *near = hpcw_i_text_nearest(key, key_at, all);
    if (near != NULL || strchr(key, '.') != NULL) {
        return near;
    }
    void *owner;
    const struct hpcw_i_param *param;
    for (size_t i = 0; (param = param_at(all, i, &owner)) != NULL; i++) {
        const char *dot = strchr(param->key, '.');
        if (dot != NULL && strcmp(dot + 1, key) == 0) {
            if (near != NULL) {
                return NULL;
            }
            near = param->key;
        }
    }
    return near;
}

hpcw_status hpcw_i_settings_apply(const struct hpcw_i_settings *settings,
                                  const struct hpcw_i_param_group *groups, size_t group_count,
                                  hpcw_error *err) {
    const struct groups all = {groups, group_count};
    for (size_t s = 0; s < settings->count; s++) {
        const struct hpcw_i_setting *setting = &settings->items[s];
        const struct hpcw_i_param *param;
        void *owner = NULL;
        size_t i = 0;
        while ((param = param_at(&all, i, &owner)) != NULL && strcmp(param->key, setting->key) != 0) {
            i++;
        }
        if (param == NULL) {
            const char *near = nearest_key(setting->key, &all);
            return near == NULL
                       ? hpcw_i_fail(err, HPCW_EINVAL, "%s: wanted a parameter, got \"%s\"", setting->origin,
                                     setting->key)
                       : hpcw_i_fail(err, HPCW_EINVAL, "%s: wanted a parameter, got \"%s\"; did you mean %s?",
                                     setting->origin, setting->key, near);
        }
        hpcw_status status = hpcw_i_param_set(param, owner, setting->value, err);
        if (status != HPCW_OK) {
            return hpcw_i_fail_at(err, status, setting->origin);
        }
    }
    return HPCW_OK;
}
