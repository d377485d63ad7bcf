/* SPDX-License-Identifier: BSD-3-Clause */
/* list: prints the formats, presets, workloads, and parameters with their values. An argument chooses one of
 * these topics, or one workload. */
#include <stdio.h>
#include <string.h>

#include "gen/cli/commands.h"
#include "gen/format/format.h"
#include "gen/sim/lua/program.h"
#include "gen/workloads/workloads.h"
#include "libwriter/base/status.h"
#include "ui/cli/text.h"

/* The meanings of the marks in the help of parameters. */
static const struct {
    const char *mark, *meaning;
} marks[] = {{"[A]", "assumed, as plausible"},
             {"[L]", "measured: the 32-rank data set of the LB-analysis-framework"},
             {"[M]", "measured with Open MPI on two cores of a virtual machine"},
             {"[P14]", "seen in public course notes, logs and tools"}};

enum { MARKS = sizeof marks / sizeof marks[0] };

/* Adds the meaning of a parameter and the values it takes. */
static void json_param(const struct ui_param *p, struct hpcw_i_json *json) {
    const bool number = p->type == UI_PARAM_U32 || p->type == UI_PARAM_U64 || p->type == UI_PARAM_SIZE ||
                        p->type == UI_PARAM_F64;
    hpcw_i_json_key_object(json, p->key);
    hpcw_i_json_put_str(json, "meaning", p->help);
    if (p->unit != NULL) {
        hpcw_i_json_put_str(json, "unit", p->unit);
    }
    if (number) {
        hpcw_i_json_put_f64(json, "least", p->min);
        hpcw_i_json_put_f64(json, "most", p->max);
    }
    if (p->type == UI_PARAM_CHOICE) {
        hpcw_i_json_key_array(json, "choices");
        for (size_t i = 0; p->choices[i] != NULL; i++) {
            hpcw_i_json_str(json, p->choices[i]);
        }
        hpcw_i_json_end_array(json);
    }
    hpcw_i_json_end_object(json);
}

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
    hpcw_i_json_key_object(json, "parameters");
    for (size_t i = 0; (p = gen_dataset_param(i, &group)) != NULL; i++) {
        json_param(p, json);
    }
    hpcw_i_json_end_object(json);
    hpcw_i_json_key_object(json, "marks");
    for (size_t m = 0; m < MARKS; m++) {
        hpcw_i_json_put_str(json, marks[m].mark, marks[m].meaning);
    }
    hpcw_i_json_end_object(json);
    return gen_cli_result_print(&r, HPCW_OK, err);
}

/* ---- for people ---- */

enum { COLUMN = 30, WIDTH_MAX = 100 };

static unsigned width_of_list(void) {
    const unsigned width = ui_text_width(stdout);
    return width > WIDTH_MAX ? WIDTH_MAX : width;
}

/* Prints a name, and a text beside it that is wrapped from `column` on. */
static void print_entry(const char *name, const char *text, unsigned column) {
    unsigned at = (unsigned)printf("  %s", name);
    if (at + 2 > column) {
        (void)printf("\n");
        at = 0;
    }
    ui_text_wrap(stdout, text, at, column, width_of_list());
}

/* ---- parameters ---- */

/* Parameters that users set most: faults, the size of the run, and what load balancers and tools react to. */
static const char *const often[] = {"machine.ppn",
                                    "machine.nodes_per_switch",
                                    "machine.nodes_per_group",
                                    "machine.bad_node_share",
                                    "machine.bad_cable_share",
                                    "machine.slow_node_share",
                                    "linktest.messages",
                                    "linktest.message_size",
                                    "linktest.permutations",
                                    "linktest.all_to_all",
                                    "sion.files",
                                    "sion.mean_size",
                                    "load.phases",
                                    "load.objects",
                                    "load.course",
                                    "load.noise",
                                    "load.balancer",
                                    "load.balancer_interval",
                                    "load.comm",
                                    "load.scenario",
                                    "load.scenario_factor",
                                    "vom.container",
                                    "vom.iterations",
                                    "rank2file.layout",
                                    "rank2file.checkpoints",
                                    "rank2file.mean_size",
                                    "rank2file.missing_files",
                                    "rank2file.wrong_crcs",
                                    "trace.skew",
                                    "trace.drift"};

static bool is_often(const char *key) {
    bool is = false;
    for (size_t i = 0; i < sizeof often / sizeof often[0]; i++) {
        is = is || strcmp(key, often[i]) == 0;
    }
    return is;
}

/* Returns whether a parameter belongs to a topic, the part of its key before the dot. NULL stands for all
 * topics. */
static bool is_of_topic(const char *key, const char *topic) {
    const size_t n = strcspn(key, ".");
    return topic == NULL || (strncmp(key, topic, n) == 0 && topic[n] == '\0');
}

static bool names_all_choices(const struct ui_param *p) {
    bool all = true;
    for (size_t i = 0; p->choices[i] != NULL; i++) {
        all = all && strstr(p->help, p->choices[i]) != NULL;
    }
    return all;
}

/* Makes a text of the legal values, as "1 to 4096" or "none, spike". The text is "" if all values are legal, or
 * if the help of the parameter names them. */
static void range_text(const struct ui_param *p, char *text, size_t size) {
    char least[UI_PARAM_SIZE_TEXT], most[UI_PARAM_SIZE_TEXT];
    size_t used = 0;
    text[0] = '\0';
    if (p->type == UI_PARAM_CHOICE && !names_all_choices(p)) {
        for (size_t i = 0; p->choices[i] != NULL && used < size; i++) {
            used += (size_t)snprintf(text + used, size - used, "%s%s", i == 0 ? "" : ", ", p->choices[i]);
        }
    } else if (p->type == UI_PARAM_SIZE) {
        (void)snprintf(text, size, "%s to %s", ui_param_size_text(least, (uint64_t)p->min),
                       ui_param_size_text(most, (uint64_t)p->max));
    } else if (p->type == UI_PARAM_U32 || p->type == UI_PARAM_U64 || p->type == UI_PARAM_F64) {
        (void)snprintf(text, size, "%.10g to %.10g", p->min, p->max);
    }
}

static void print_param(const struct gen_dataset *d, const struct gen_dataset *usual,
                        const struct gen_dataset_group *group, const struct ui_param *p) {
    enum { SHORT = 40 }; /* most bytes of a value; --json prints all of it */
    char value[UI_PARAM_TEXT], before[UI_PARAM_TEXT], name[160], range[256], text[1280];
    const bool has_unit = p->unit != NULL && p->type != UI_PARAM_SIZE;
    ui_param_get(p, (const char *)d + group->offset, value, sizeof value);
    ui_param_get(p, (const char *)usual + group->offset, before, sizeof before);
    const bool is_set = strcmp(value, before) != 0;
    range_text(p, range, sizeof range);
    (void)snprintf(name, sizeof name, "%s = %.*s%s%s%s", p->key, SHORT, value,
                   strlen(value) > SHORT ? "..." : "", has_unit ? " " : "", has_unit ? p->unit : "");
    (void)snprintf(text, sizeof text, "%.900s%s%s%s%s%.*s%s", p->help, is_set || range[0] != '\0' ? " (" : "",
                   range, is_set && range[0] != '\0' ? "; " : "", is_set ? "default: " : "", is_set ? SHORT : 0,
                   before, is_set || range[0] != '\0' ? ")" : "");
    print_entry(name, text, COLUMN);
}

static size_t count_params(const char *topic, bool only_often) {
    const struct gen_dataset_group *group;
    const struct ui_param *p;
    size_t count = 0;
    for (size_t i = 0; (p = gen_dataset_param(i, &group)) != NULL; i++) {
        count += is_of_topic(p->key, topic) && (!only_often || is_often(p->key));
    }
    return count;
}

/* Prints the parameters of a topic; NULL: of all topics. Unless `all`, prints only those that users set most,
 * if the topic has any. */
static void list_params(const struct gen_dataset *d, const struct gen_dataset *usual, const char *topic,
                        bool all) {
    const struct gen_dataset_group *group;
    const struct ui_param *p;
    const size_t shown = count_params(topic, true), total = count_params(topic, false);
    bool marked[MARKS] = {false};
    all = all || shown == 0;
    (void)printf("parameters (--set KEY=VALUE) of preset %s, scale %s\n", d->preset, gen_scale_name[d->scale]);
    for (size_t i = 0; (p = gen_dataset_param(i, &group)) != NULL; i++) {
        if (is_of_topic(p->key, topic) && (all || is_often(p->key))) {
            print_param(d, usual, group, p);
            for (size_t m = 0; m < MARKS; m++) {
                marked[m] = marked[m] || strstr(p->help, marks[m].mark) != NULL;
            }
        }
    }
    if (!all && total > shown) {
        (void)printf("  ... and %zu more: hpcgen list %s%s--all\n", total - shown, topic == NULL ? "" : topic,
                     topic == NULL ? "" : " ");
    }
    bool any = false;
    for (size_t m = 0; m < MARKS; m++) {
        if (marked[m]) {
            (void)printf("%s", any ? "" : "\nwhere values come from\n");
            print_entry(marks[m].mark, marks[m].meaning, 10);
            any = true;
        }
    }
}

/* ---- topics ---- */

/* Writes the names of all topics into `all`, with commas between them. */
static void name_topics(char *all, size_t size) {
    size_t used = 0;
    for (size_t i = 0; used < size && gen_cli_topics[i] != NULL; i++) {
        used += (size_t)snprintf(all + used, size - used, "%s%s", i == 0 ? "" : ", ", gen_cli_topics[i]);
    }
}

static bool is_workload(const char *topic) {
    bool is = false;
    for (size_t i = 0; topic != NULL && i < gen_workload_files; i++) {
        is = is || strcmp(topic, gen_workload_file[i].name) == 0;
    }
    return is;
}

static hpcw_status check_topic(const char *topic, hpcw_error *err) {
    char all[256];
    if (is_workload(topic)) {
        return HPCW_OK;
    }
    for (size_t i = 0; gen_cli_topics[i] != NULL; i++) {
        if (topic == NULL || strcmp(topic, gen_cli_topics[i]) == 0) {
            return HPCW_OK;
        }
    }
    name_topics(all, sizeof all);
    const char *near = ui_text_nearest(topic, ui_text_name_in_array, gen_cli_topics);
    return near != NULL
               ? hpcw_i_fail(err, HPCW_EINVAL, "list: unknown topic `%.60s`; did you mean `%s`?", topic, near)
               : hpcw_i_fail(err, HPCW_EINVAL, "list: unknown topic `%.60s`: expected one of %s", topic, all);
}

static void list_formats(void) {
    (void)printf("formats (--formats)\n");
    for (size_t f = 0; f < gen_format_count; f++) {
        print_entry(gen_format[f]->name, gen_format[f]->help, 20);
    }
}

static void list_presets(void) {
    (void)printf("presets (--preset)\n");
    for (size_t i = 0; i < model_machine_preset_count; i++) {
        print_entry(model_machine_preset[i].name, model_machine_preset[i].help, 20);
    }
}

/* ---- workloads ---- */

/* Gets the description of a workload: the comment in its second line, after the licence, without the dashes. */
static void first_words(const struct gen_workload_file *f, char *words, size_t size) {
    const char *text = (const char *)f->data;
    const char *end = text + f->size;
    const char *at = memchr(text, '\n', f->size);
    at = at == NULL ? end : at + 1 + strspn(at + 1, "- ");
    const char *line = memchr(at, '\n', (size_t)(end - at));
    (void)snprintf(words, size, "%.*s", (int)((line == NULL ? end : line) - at), at);
}

/* Gets what a parameter means: the comment at the end of its line. "" if it has none. */
static void meaning_of(const struct gen_workload_file *f, const char *key, char *words, size_t size) {
    const char *at = (const char *)f->data;
    const char *end = at + f->size;
    char line[256], start[128];
    const int start_size = snprintf(start, sizeof start, "  %s = ", key);
    words[0] = '\0';
    while (at < end && words[0] == '\0') {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        next = next == NULL ? end : next;
        (void)snprintf(line, sizeof line, "%.*s", (int)(next - at), at);
        const char *comment = strstr(line, "-- ");
        if (strncmp(line, start, (size_t)start_size) == 0 && comment != NULL) {
            (void)snprintf(words, size, "%s", comment + 3);
        }
        at = next + 1;
    }
}

/* Context of the functions that get the parameters of a workload: the file of the workload, and where to add
 * JSON. */
struct list_target {
    const struct gen_workload_file *file;
    struct hpcw_i_json *json;
};

static void json_parameter(void *context, const char *key, const char *value) {
    const struct list_target *to = context;
    hpcw_i_json_put_str(to->json, key, value);
}

static void json_meaning(void *context, const char *key, const char *value) {
    const struct list_target *to = context;
    char words[256];
    (void)value;
    meaning_of(to->file, key, words, sizeof words);
    hpcw_i_json_put_str(to->json, key, words);
}

static void print_parameter(void *context, const char *key, const char *value) {
    const struct list_target *to = context;
    char words[256], name[160];
    meaning_of(to->file, key, words, sizeof words);
    (void)snprintf(name, sizeof name, "  workload.%s = %s", key, value);
    print_entry(name, words, COLUMN + 4);
}

/* Opens a workload of the library to list its parameters. It gets two ranks and one phase, but is not run. */
static hpcw_status open_workload(const struct gen_workload_file *f, struct sim_lua **lua, hpcw_error *err) {
    const struct sim_lua_text text = {
        .name = f->name, .text = (const char *)f->data, .size = f->size, .ranks = 2, .phases = 1};
    return sim_lua_open(&text, lua, err);
}

/* Lists the workload `only`, or all if it is NULL. */
static hpcw_status list_workloads(const char *only, bool as_json, hpcw_error *err) {
    struct gen_cli_result r;
    hpcw_status s = HPCW_OK;
    gen_cli_result_begin(&r, as_json);
    if (!as_json) {
        (void)printf("workloads (--workload) with their parameters (--set)\n");
    }
    for (size_t i = 0; s == HPCW_OK && i < gen_workload_files; i++) {
        const struct gen_workload_file *f = &gen_workload_file[i];
        struct sim_lua *lua;
        struct list_target to = {f, &r.json};
        char words[256];
        if (only != NULL && strcmp(only, f->name) != 0) {
            continue;
        }
        first_words(f, words, sizeof words);
        s = open_workload(f, &lua, err);
        if (s == HPCW_OK && as_json) {
            hpcw_i_json_key_object(&r.json, f->name);
            hpcw_i_json_put_str(&r.json, "help", words);
            hpcw_i_json_key_object(&r.json, "set");
            s = sim_lua_parameters(lua, json_parameter, &to, err);
            hpcw_i_json_end_object(&r.json);
            hpcw_i_json_key_object(&r.json, "meanings");
            s = s == HPCW_OK ? sim_lua_parameters(lua, json_meaning, &to, err) : s;
            hpcw_i_json_end_object(&r.json);
            hpcw_i_json_end_object(&r.json);
        } else if (s == HPCW_OK) {
            print_entry(f->name, words, 14);
            s = sim_lua_parameters(lua, print_parameter, &to, err);
        }
        sim_lua_free(lua);
    }
    return gen_cli_result_print(&r, s, err);
}

hpcw_status gen_cli_list(const struct gen_cli_options *o, const char *topic, hpcw_error *err) {
    struct gen_dataset d, usual;
    char topics[256];
    hpcw_status s = check_topic(topic, err);
    const bool one = is_workload(topic);
    if (s != HPCW_OK || one || (topic != NULL && strcmp(topic, "workloads") == 0)) {
        return s == HPCW_OK ? list_workloads(one ? topic : NULL, o->json, err) : s;
    }
    s = gen_dataset_init(&d, o->preset, (enum gen_scale)o->scale, err);
    s = s == HPCW_OK ? gen_dataset_init(&usual, o->preset, (enum gen_scale)o->scale, err) : s;
    if (s == HPCW_OK) {
        s = gen_cli_apply(&o->set, &d, err);
    }
    if (s != HPCW_OK || o->json) {
        return s == HPCW_OK ? list_json(&d, err) : s;
    }
    const bool formats = topic == NULL || strcmp(topic, "formats") == 0;
    const bool presets = topic == NULL || strcmp(topic, "presets") == 0;
    if (formats) {
        list_formats();
    }
    if (presets) {
        (void)printf("%s", formats ? "\n" : "");
        list_presets();
    }
    if (topic == NULL) {
        (void)printf("\ntopics (hpcgen list TOPIC)\n");
        name_topics(topics, sizeof topics);
        ui_text_wrap(stdout, topics, 0, 2, width_of_list());
        (void)printf("\n");
    }
    if (topic == NULL || (!formats && !presets)) {
        list_params(&d, &usual, topic, o->all);
    }
    return HPCW_OK;
}
