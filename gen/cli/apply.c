/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/cli/apply.h"

#include <string.h>

#include "libwriter/base/status.h"
#include "ui/cli/text.h"

struct param_groups {
    const struct gen_param_group *groups;
    size_t count;
};

static const struct ui_param *param_at(const struct param_groups *all, size_t index, void **owner) {
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
    const struct ui_param *param = param_at(list, index, &owner);
    return param == NULL ? NULL : param->key;
}

/* A key without its group, as "messages", names linktest.messages if no other group has such a parameter. */
static const char *nearest_key(const char *key, const struct param_groups *all) {
    const char *near = ui_text_nearest(key, key_at, all);
    if (near != NULL || strchr(key, '.') != NULL) {
        return near;
    }
    void *owner;
    const struct ui_param *param;
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

hpcw_status gen_settings_apply(const struct ui_settings *settings, const struct gen_param_group *groups,
                               size_t group_count, hpcw_error *err) {
    const struct param_groups all = {groups, group_count};
    for (size_t s = 0; s < settings->count; s++) {
        const struct ui_setting *setting = &settings->items[s];
        const struct ui_param *param;
        void *owner = NULL;
        size_t i = 0;
        while ((param = param_at(&all, i, &owner)) != NULL && strcmp(param->key, setting->key) != 0) {
            i++;
        }
        if (param == NULL) {
            const char *near = nearest_key(setting->key, &all);
            return near == NULL
                       ? hpcw_i_fail(err, HPCW_EINVAL, "%s: expected a parameter, got \"%s\"", setting->origin,
                                     setting->key)
                       : hpcw_i_fail(err, HPCW_EINVAL, "%s: expected a parameter, got \"%s\"; did you mean %s?",
                                     setting->origin, setting->key, near);
        }
        hpcw_status status = ui_param_set(param, owner, setting->value, err);
        if (status != HPCW_OK) {
            return ui_fail_at(err, status, setting->origin);
        }
    }
    return HPCW_OK;
}
