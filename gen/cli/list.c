/* SPDX-License-Identifier: BSD-3-Clause */
/* list: the formats, the presets, and every parameter with its value. */
#include <stdio.h>

#include "gen/cli/commands.h"
#include "gen/format/format.h"
#include "libwriter/base/status.h"
#include "ui/cli/text.h"

static hpcw_status list_json(const struct gen_dataset *d, hpcw_error *err) {
    struct gen_cli_result r;
    struct hpcw_i_json *json = &r.json;
    gen_cli_result_begin(&r, true);
    hpcw_i_json_key_object(json, "formats");
    for (size_t f = 0; f < gen_format_count; f++) {
        hpcw_i_json_put_str(json, gen_format[f]->name, gen_format[f]->help);
    }
    hpcw_i_json_end_object(json);
    hpcw_i_json_key_object(json, "presets");
    for (size_t i = 0; i < model_machine_preset_count; i++) {
        hpcw_i_json_put_str(json, model_machine_preset[i].name, model_machine_preset[i].help);
    }
    hpcw_i_json_end_object(json);
    hpcw_i_json_put_str(json, "preset", d->preset);
    hpcw_i_json_put_str(json, "scale", gen_scale_name[d->scale]);
    hpcw_i_json_key_object(json, "set");
    const struct gen_dataset_group *group;
    const struct ui_param *p;
    for (size_t i = 0; (p = gen_dataset_param(i, &group)) != NULL; i++) {
        ui_param_json(p, (const char *)d + group->offset, json);
    }
    hpcw_i_json_end_object(json);
    return gen_cli_result_print(&r, HPCW_OK, err);
}

static hpcw_status list_params(const struct gen_dataset *d, hpcw_error *err) {
    struct ui_table table = {0};
    ui_table_column(&table, "key", UI_LEFT);
    ui_table_column(&table, "value", UI_RIGHT);
    ui_table_column(&table, "unit", UI_LEFT);
    ui_table_column(&table, "meaning", UI_LEFT);
    const struct gen_dataset_group *group;
    const struct ui_param *p;
    for (size_t i = 0; (p = gen_dataset_param(i, &group)) != NULL; i++) {
        char value[256];
        ui_param_get(p, (const char *)d + group->offset, value, sizeof value);
        ui_table_cell(&table, "%s", p->key);
        ui_table_cell(&table, "%s", value);
        ui_table_cell(&table, "%s", p->unit == NULL ? "" : p->unit);
        ui_table_cell(&table, "%s", p->help);
    }
    hpcw_status s = ui_table_print(&table, stdout, 2, err);
    ui_table_free(&table);
    return s;
}

hpcw_status gen_cli_list(const struct gen_cli_options *o, hpcw_error *err) {
    struct gen_dataset d;
    hpcw_status s = gen_dataset_init(&d, o->preset, (enum gen_scale)o->scale, err);
    if (s == HPCW_OK) {
        s = gen_cli_apply(&o->set, &d, err);
    }
    if (s != HPCW_OK || o->json) {
        return s == HPCW_OK ? list_json(&d, err) : s;
    }
    (void)printf("formats (--formats)\n");
    for (size_t f = 0; f < gen_format_count; f++) {
        (void)printf("  %-16s %s\n", gen_format[f]->name, gen_format[f]->help);
    }
    (void)printf("\npresets (--preset)\n");
    for (size_t i = 0; i < model_machine_preset_count; i++) {
        (void)printf("  %-16s %s\n", model_machine_preset[i].name, model_machine_preset[i].help);
    }
    (void)printf("\nparameters (--set KEY=VALUE) with their values for preset %s and scale %s\n", d.preset,
                 gen_scale_name[d.scale]);
    return list_params(&d, err);
}
