/* SPDX-License-Identifier: BSD-3-Clause */
/* F6: sets parameters of the models from the command line and configuration files. */
#ifndef HPCW_GEN_CLI_APPLY_H
#define HPCW_GEN_CLI_APPLY_H

#include "ui/cli/settings.h"
#include "ui/param/param.h"

/* The parameters of one module with the struct that holds their values. */
struct gen_param_group {
    const struct ui_param *params;
    size_t count;
    void *owner;
};

/*
 * Applies the settings in order. HPCW_EINVAL for an unknown key, with the nearest known one, or the parameter's own error
 * for its value; the message begins with the setting's origin.
 */
HPCW_MUST_CHECK hpcw_status gen_settings_apply(const struct ui_settings *settings,
                                               const struct gen_param_group *groups, size_t group_count,
                                               hpcw_error *err);

#endif
