/* SPDX-License-Identifier: BSD-3-Clause */
/* list: the formats, the presets, and every parameter with its value. */
#include <stdio.h>
#include <string.h>

#include "gen/cli/commands.h"
#include "gen/format/format.h"
#include "gen/sim/lua/program.h"
#include "gen/workloads/workloads.h"
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

/* ---- workloads ---- */

/* The description of a workload: the comment in the line after its licence, without the dashes. */
static void first_words(const struct gen_workload_file *f, char *words, size_t size) {
    const char *text = (const char *)f->data;
    const char *end = text + f->size;
    const char *at = memchr(text, '\n', f->size);
    at = at == NULL ? end : at + 1 + strspn(at + 1, "- ");
    const char *line = memchr(at, '\n', (size_t)(end - at));
    (void)snprintf(words, size, "%.*s", (int)((line == NULL ? end : line) - at), at);
}

static void json_parameter(void *context, const char *key, const char *value) {
    hpcw_i_json_put_str(context, key, value);
}

static void table_parameter(void *context, const char *key, const char *value) {
    struct ui_table *table = context;
    ui_table_cell(table, "  workload.%s", key);
    ui_table_cell(table, "%s", value);
}

/* Opens a workload of the library for its parameters: of two ranks and one phase, as nothing is run. */
static hpcw_status open_workload(const struct gen_workload_file *f, struct sim_lua **lua, hpcw_error *err) {
    const struct sim_lua_text text = {
        .name = f->name, .text = (const char *)f->data, .size = f->size, .ranks = 2, .phases = 1};
    return sim_lua_open(&text, lua, err);
}

static hpcw_status list_workloads(bool as_json, hpcw_error *err) {
    struct gen_cli_result r;
    struct ui_table table = {0};
    hpcw_status s = HPCW_OK;
    gen_cli_result_begin(&r, as_json);
    ui_table_column(&table, "workload (--workload)", UI_LEFT);
    ui_table_column(&table, "what it is, and its parameters (--set)", UI_LEFT);
    for (size_t i = 0; s == HPCW_OK && i < gen_workload_files; i++) {
        const struct gen_workload_file *f = &gen_workload_file[i];
        struct sim_lua *lua;
        char words[128];
        first_words(f, words, sizeof words);
        s = open_workload(f, &lua, err);
        if (s == HPCW_OK && as_json) {
            hpcw_i_json_key_object(&r.json, f->name);
            hpcw_i_json_put_str(&r.json, "help", words);
            hpcw_i_json_key_object(&r.json, "set");
            s = sim_lua_parameters(lua, json_parameter, &r.json, err);
            hpcw_i_json_end_object(&r.json);
            hpcw_i_json_end_object(&r.json);
        } else if (s == HPCW_OK) {
            ui_table_cell(&table, "%s", f->name);
            ui_table_cell(&table, "%s", words);
            s = sim_lua_parameters(lua, table_parameter, &table, err);
        }
        sim_lua_free(lua);
    }
    s = s == HPCW_OK && !as_json ? ui_table_print(&table, stdout, 0, err) : s;
    ui_table_free(&table);
    return gen_cli_result_print(&r, s, err);
}

hpcw_status gen_cli_list(const struct gen_cli_options *o, const char *what, hpcw_error *err) {
    struct gen_dataset d;
    if (what != NULL) {
        return strcmp(what, "workloads") == 0
                   ? list_workloads(o->json, err)
                   : hpcw_i_fail(err, HPCW_EINVAL, "list: expected nothing or workloads, got \"%s\"", what);
    }
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
