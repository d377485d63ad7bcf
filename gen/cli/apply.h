/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings from the command line and configuration files, given to the parameters of the models. */
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
 * Sets every parameter named, in order. An unknown key is HPCW_EINVAL and names the nearest one; a value that
 * the parameter refuses is its error. Both begin with the origin.
 */
HPCW_MUST_CHECK hpcw_status gen_settings_apply(const struct ui_settings *settings,
                                               const struct gen_param_group *groups, size_t group_count,
                                               hpcw_error *err);

#endif
