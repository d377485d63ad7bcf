/* SPDX-License-Identifier: BSD-3-Clause */
/* report: writes a page about a dataset. Each format draws a section of the page. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "gen/cli/commands.h"
#include "gen/cli/common/standard_output.h"
#include "gen/dataset/directory/directory.h"
#include "gen/format/format.h"
#include "gen/report/report.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/io/sys.h"
#include "libwriter/io/text.h"
#include "ui/cli/progress.h"
#include "ui/page/page.h"

/* Draws the section about the machine and its faults, which all formats share. */
static void put_machine(const struct gen_report *r) {
    static const struct {
        const char *name, *path;
        enum ui_page_unit unit;
    } number[] = {{"Ranks", "ranks", UI_PAGE_COUNT},
                  {"Nodes", "machine.nodes", UI_PAGE_COUNT},
                  {"Seed", "seed", UI_PAGE_PLAIN}};
    static const struct {
        const char *name, *path;
    } injected[] = {{"Slow ports", "machine.slow_ports"},
                    {"Slow cables", "machine.slow_cables"},
                    {"Slow nodes", "machine.slow_nodes"}};
    struct ui_page *page = r->page;
    const cJSON *preset = gen_report_truth(r, "machine.preset");
    if (!cJSON_IsObject(gen_report_truth(r, "machine"))) {
        return;
    }
    ui_page_about(page);
    ui_page_begin(page, UI_PAGE_PARAGRAPH);
    ui_page_text(
        page, "Synthetic data of one simulated machine. Frames in the charts mark the faults that truth.json "
              "lists.");
    ui_page_end(page);
    ui_page_begin(page, UI_PAGE_FACTS);
    if (cJSON_IsString(preset)) {
        ui_page_fact(page, "Machine");
        ui_page_text(page, "%s", preset->valuestring);
        ui_page_end(page);
    }
    for (size_t i = 0; i < sizeof number / sizeof number[0]; i++) {
        const cJSON *value = gen_report_truth(r, number[i].path);
        if (cJSON_IsNumber(value)) {
            gen_report_fact(page, number[i].name, number[i].unit, value->valuedouble);
        }
    }
    for (size_t i = 0; i < sizeof injected / sizeof injected[0]; i++) {
        const cJSON *list = gen_report_truth(r, injected[i].path);
        if (cJSON_IsArray(list)) {
            ui_page_fact(page, injected[i].name);
            ui_page_number(page, UI_PAGE_COUNT, cJSON_GetArraySize(list));
            ui_page_text(page, " injected");
            ui_page_end(page);
        }
    }
    ui_page_end(page);
    ui_page_end(page);
}

/* Returns the length of a path without slashes at its end. */
static size_t length_of(const char *path) {
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/') {
        n--;
    }
    return n < GEN_DIRECTORY_PATH - 32 ? n : GEN_DIRECTORY_PATH - 32;
}

static size_t last_part(const char *path, size_t n) {
    while (n > 0 && path[n - 1] != '/') {
        n--;
    }
    return n;
}

/* Makes a path whose last part is the name of the file or directory. A path that ends in "." or ".." has no
 * such name, so it is replaced by the real path. */
static void name_path(const char *path, char named[GEN_DIRECTORY_PATH]) {
    const size_t n = length_of(path), from = last_part(path, n);
    const bool dots = (n == from + 1 || (n == from + 2 && path[from + 1] == '.')) && path[from] == '.';
    char *real = dots ? hpcw_i_sys_real_path(path) : NULL;
    (void)snprintf(named, GEN_DIRECTORY_PATH, "%s", real == NULL ? path : real);
    named[length_of(named)] = '\0';
    hpcw_i_free(real);
}

/* Makes the path of the page. By default the page is beside the dataset, not in it, as a report must not
 * change files and checksums of the dataset. */
static hpcw_status output_path(const struct gen_cli_options *o, const char *named,
                               char output[GEN_DIRECTORY_PATH], hpcw_error *err) {
    if (o->output[0] != '\0') {
        (void)snprintf(output, GEN_DIRECTORY_PATH, "%s", o->output);
    } else if (strcmp(named, "/") == 0) {
        return hpcw_i_fail(err, HPCW_EINVAL, "/: expected --output, as this directory has no name for a page");
    } else {
        (void)snprintf(output, GEN_DIRECTORY_PATH, "%s.report.html", named);
    }
    return HPCW_OK;
}

/* The titles of report's pages begin with one of these. No other page of hpcw has such a title. */
#define OF_DATASET "Synthetic run of "
#define OF_FILE "Report on "

/* Sets *is to whether `hpcgen report` wrote this file. A new report may replace an older one. */
static int look_for_page(const char *path, bool *is) {
    struct hpcw_i_text text;
    char head[4096]; /* the title stands in the first KiB */
    size_t size = 0;
    *is = false;
    int e = hpcw_i_text_open(path, &text);
    if (e == 0) {
        e = hpcw_i_text_read(&text, head, sizeof head - 1, &size);
        hpcw_i_text_close(&text);
    }
    head[size] = '\0';
    *is = e == 0 && strstr(head, "<meta name=\"generator\" content=\"hpcw ") != NULL &&
          (strstr(head, "<title>" OF_DATASET) != NULL || strstr(head, "<title>" OF_FILE) != NULL);
    return e;
}

static hpcw_status check_output(const struct gen_cli_options *o, const char *path, const char *output,
                                hpcw_error *err) {
    struct hpcw_i_entry entry;
    /* Links are not followed: a symbolic link counts as an existing file, even if it leads to nothing. */
    int e = o->force ? 0 : hpcw_i_sys_look(output, false, &entry);
    if (e != 0) {
        return hpcw_i_fail_sys(err, e, "%s: cannot look at it", output);
    }
    bool is_page = false;
    if (!o->force && entry.kind == HPCW_I_FILE) {
        e = look_for_page(output, &is_page);
    }
    if (!o->force && entry.kind != HPCW_I_NOTHING && !is_page) {
        return e != 0 ? hpcw_i_fail_sys(err, e, "%s: cannot find out whether it is a report", output)
                      : hpcw_i_fail(err, HPCW_EEXIST,
                                    "%s: expected a new file or an older report, got another: choose another "
                                    "--output, or --force to replace it",
                                    output);
    }
    return gen_cli_check_output(output, &path, 1, err);
}

/* Makes the title: the last name of the path, and for a dataset also the ranks and the machine. */
static void make_title(const struct gen_report *r, const char *path, char title[GEN_DIRECTORY_PATH]) {
    const size_t n = length_of(path), from = last_part(path, n);
    const cJSON *ranks = gen_report_truth(r, "ranks"), *preset = gen_report_truth(r, "machine.preset");
    if (cJSON_IsNumber(ranks) && cJSON_IsString(preset)) {
        (void)snprintf(title, GEN_DIRECTORY_PATH, OF_DATASET "%.0f ranks on %.64s: %.*s", ranks->valuedouble,
                       preset->valuestring, (int)(n - from), path + from);
    } else {
        (void)snprintf(title, GEN_DIRECTORY_PATH, OF_FILE "%.*s", (int)(n - from), path + from);
    }
}

/* Finds the formats that truth.json has but the dataset lacks. Names them on the page, and in the error *lacks. */
static hpcw_status name_missing(const struct gen_report *r, const char *dir, hpcw_error *lacks,
                                hpcw_error *err) {
    char path[GEN_DIRECTORY_PATH], names[256] = "";
    for (size_t f = 0; f < gen_format_count; f++) {
        const size_t n = strlen(names);
        hpcw_status s = gen_cli_find(dir, f, path, err);
        if (s != HPCW_OK) {
            return s;
        }
        if (path[0] == '\0' && gen_report_truth(r, gen_format[f]->name) != NULL) {
            (void)snprintf(names + n, sizeof names - n, "%s%s", n > 0 ? ", " : "", gen_format[f]->name);
        }
    }
    if (names[0] != '\0') {
        (void)hpcw_i_fail(
            lacks, HPCW_ENOENT,
            "%s: expected all formats of the dataset, got none of %s: `hpcgen repair` makes them again", dir,
            names);
        ui_page_begin(r->page, UI_PAGE_NOTE);
        ui_page_text(r->page, "Missing formats of the dataset: %s.", names);
        ui_page_end(r->page);
    }
    return HPCW_OK;
}

/* Draws all formats of a dataset. *lacks becomes an error that names missing formats. */
static hpcw_status draw_all(struct gen_report *r, const char *dir, hpcw_error *lacks, hpcw_error *err) {
    char links[GEN_DIRECTORY_PATH];
    size_t drawn = 0;
    hpcw_status s = gen_cli_find(dir, GEN_FORMAT_LINKTEST, links, err);
    r->links = links[0] == '\0' ? NULL : links;
    s = s == HPCW_OK ? name_missing(r, dir, lacks, err) : s;
    for (size_t f = 0; s == HPCW_OK && f < gen_format_count; f++) {
        char path[GEN_DIRECTORY_PATH];
        s = gen_cli_find(dir, f, path, err);
        if (s == HPCW_OK && path[0] != '\0') {
            r->path = path;
            s = gen_format[f]->report(r, err);
            drawn++;
        }
    }
    if (s == HPCW_OK && drawn == 0) {
        s = hpcw_i_fail(err, HPCW_EFORMAT,
                        "%s: expected a dataset, or a file of a known format (see hpcgen list), got %s", dir,
                        gen_cli_kind(dir));
    }
    return s;
}

/* Fails for an unfinished dataset, and for a file or directory in one. Some ranks may be missing there, and
 * sums would mislead. */
static hpcw_status check_finished(const char *path, hpcw_error *err) {
    char parent[GEN_DIRECTORY_PATH];
    gen_directory_path(path, "..", parent);
    hpcw_status s = gen_directory_check_finished(path, err);
    return s == HPCW_OK ? gen_directory_check_finished(parent, err) : s;
}

hpcw_status gen_cli_report(const struct gen_cli_options *o, const char *path, hpcw_error *err) {
    char output[GEN_DIRECTORY_PATH], named[GEN_DIRECTORY_PATH];
    struct hpcw_i_entry entry;
    hpcw_sink *sink;
    size_t f;
    name_path(path, named);
    hpcw_status s = output_path(o, named, output, err);
    s = s == HPCW_OK ? ui_page_available(err) : s;
    if (s != HPCW_OK) {
        return s;
    }
    s = gen_cli_is_standard(output) ? HPCW_OK : check_output(o, path, output, err);
    if (s != HPCW_OK) {
        return s;
    }
    s = gen_format_of_file(path, &f, err);
    s = s == HPCW_OK ? check_finished(path, err) : s;
    if (s != HPCW_OK) {
        return s;
    }
    int e = hpcw_i_sys_look(path, true, &entry);
    e = e == 0 && entry.kind == HPCW_I_NOTHING && f == gen_format_count ? ENOENT : e;
    if (e != 0) {
        return hpcw_i_fail_sys(err, e, "%s: expected a file or directory", path);
    }
    hpcw_error warning = {.code = HPCW_OK}, lacks = {.code = HPCW_OK};
    struct log_detail *made = NULL;
    struct gen_report r = {.path = path, .jobs = o->jobs, .made = &made, .warning = &warning};
    char detail[GEN_DIRECTORY_PATH + 8];
    if (o->detail && gen_cli_is_standard(output)) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "%s: --detail: expected a file for --output, as scripts stand beside it, got "
                           "standard output",
                           path);
    }
    if (o->detail && f < gen_format_count && f != GEN_FORMAT_CLOG2) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: --detail: expected an event log, got one of format %s", path,
                           gen_format[f]->name);
    }
    if (o->detail) {
        (void)snprintf(detail, sizeof detail, "%s.detail", output);
        r.detail = detail;
    }
    /* By default, --from and --to cover the whole log. */
    if (o->export.from > 0 || o->export.to < 1e8) {
        r.from_s = o->export.from;
        r.to_s = o->export.to;
        if (o->export.from >= o->export.to) {
            return hpcw_i_fail(err, HPCW_EINVAL, "%s: window of time: expected end > begin, got %g to %g s",
                               path, o->export.from, o->export.to);
        }
    }
    cJSON *truth = NULL;
    if (f == gen_format_count && entry.kind == HPCW_I_DIRECTORY) {
        char name[GEN_DIRECTORY_PATH];
        hpcw_error why = {.message = ""};
        gen_directory_path(path, GEN_TRUTH, name);
        s = gen_directory_read_json(name, &truth, &why);
        if (s != HPCW_OK && s != HPCW_ENOENT) {
            return hpcw_i_fail_as(err, &why);
        }
        r.truth = truth;
    }
    char title[GEN_DIRECTORY_PATH];
    make_title(&r, named, title);
    s = gen_cli_open_output(output, HPCW_SYNC_NONE, &sink, err);
    s = s == HPCW_OK ? ui_page_open_sink(sink, title, &r.page, err) : s;
    if (s == HPCW_OK) {
        struct ui_progress *progress = gen_cli_show_reading(o);
        put_machine(&r);
        s = f < gen_format_count ? gen_format[f]->report(&r, err) : draw_all(&r, path, &lacks, err);
        ui_progress_stop(progress);
    }
    if (s == HPCW_OK && made != NULL) {
        /* An older page of this name would load the new scripts. So they get their names only when the new page
         * is complete. */
        s = ui_page_settle(r.page, err);
        s = s == HPCW_OK ? gen_report_detail_publish(made, err) : s;
    }
    if (s == HPCW_OK) {
        s = ui_page_finish(r.page, err);
    }
    gen_report_detail_free(made);
    if (s == HPCW_OK && !o->quiet) {
        (void)fprintf(stderr, "%s", ui_page_said(r.page));
    }
    ui_page_free(r.page);
    cJSON_Delete(truth);
    if (s == HPCW_OK) {
        gen_cli_warn(&lacks);
        gen_cli_warn(&warning);
    }
    if (s == HPCW_OK && !o->quiet) {
        hpcw_error room;
        (void)fprintf(stderr, "hpcgen: %s\n", gen_cli_output_name(output, &room));
    }
    return s;
}
