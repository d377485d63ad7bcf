/* SPDX-License-Identifier: BSD-3-Clause */
/* verify: checks sizes, checksums and structure of files, which libreader/ reads independently of the
 * writers. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gen/cli/commands.h"
#include "gen/dataset/check.h"
#include "gen/format/format.h"
#include "libreader/source.h"
#include "libwriter/base/status.h"
#include "ui/cli/progress.h"

static hpcw_status print_faults(const char *what, const struct gen_fault *fault, size_t count,
                                hpcw_error *err) {
    struct gen_cli_result r;
    struct hpcw_i_json *json = &r.json;
    gen_cli_result_begin(&r, true);
    hpcw_i_json_put_bool(json, "ok", false);
    hpcw_i_json_put_str(json, "kind", what);
    hpcw_i_json_key_array(json, "faults");
    for (size_t i = 0; i < count; i++) {
        hpcw_i_json_flat_object(json);
        hpcw_i_json_put_str(json, "path", fault[i].path);
        hpcw_i_json_put_str(json, "message", fault[i].message);
        hpcw_i_json_end_object(json);
    }
    hpcw_i_json_end_array(json);
    return gen_cli_result_print(&r, HPCW_OK, err);
}

static hpcw_status verify_dataset(const struct gen_cli_options *o, const char *dir, uint64_t *files,
                                  hpcw_error *err) {
    struct gen_check c = {.directory = dir, .jobs = o->jobs, .all = o->all, .deep = o->deep};
    hpcw_error ignored;
    gen_faults_init(&c.faults);
    struct ui_progress *progress = gen_cli_show_reading(o);
    hpcw_status s = gen_check_dataset(&c, err);
    ui_progress_stop(progress);
    size_t count = c.faults.count;
    if (o->json && count > 0) {
        hpcw_status printed = print_faults("dataset", c.faults.fault, o->all ? count : 1, &ignored);
        s = s == HPCW_OK ? printed : s;
    }
    if (o->all && count > 0) {
        for (size_t i = 0; i < count; i++) {
            (void)fprintf(stderr, "hpcgen: %s\n", c.faults.fault[i].message);
        }
        s = hpcw_i_fail(err, c.faults.fault[0].code, "%s: expected no fault, got %zu", dir, count);
    }
    *files = c.files;
    gen_faults_free(&c.faults);
    return s;
}

/* Verifies a file or directory of one format, which is not a dataset. */
static hpcw_status verify_format(const struct gen_cli_options *o, const char *path, size_t f, uint64_t *files,
                                 hpcw_error *err) {
    if (f == gen_format_count) {
        return gen_cli_refuse_file(path, err);
    }
    if (o->deep) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "%s: --deep: expected the directory of a dataset, got a file or directory of "
                           "format %s",
                           path, gen_format[f]->name);
    }
    struct ui_progress *progress = gen_cli_show_reading(o);
    hpcw_status s = gen_format[f]->verify(path, false, files, err);
    ui_progress_stop(progress);
    return s;
}

hpcw_status gen_cli_verify(const struct gen_cli_options *o, const char *path, hpcw_error *err) {
    bool directory = false;
    uint64_t files = 0; /* stays 0 for a directory of one format, for which `verify` counts no files */
    size_t f;
    hpcw_status s = gen_format_of_file(path, &f, err);
    if (s == HPCW_OK && f == gen_format_count) {
        s = read_source_is_directory(path, &directory, err);
    }
    if (s != HPCW_OK) {
        return s;
    }
    if (directory) {
        s = verify_dataset(o, path, &files, err);
        if (s != HPCW_OK) {
            return s;
        }
    } else {
        s = verify_format(o, path, f, &files, err);
        if (s != HPCW_OK && o->json) {
            hpcw_error ignored;
            struct gen_fault fault = {.path = (char *)(uintptr_t)path, .message = err->message};
            (void)print_faults(f < gen_format_count ? gen_format[f]->name : "unknown", &fault, 1, &ignored);
        }
        if (s != HPCW_OK) {
            return s;
        }
    }
    const char *what = f < gen_format_count ? gen_format[f]->name : "dataset";
    char count[40] = "";
    hpcw_error room;
    if (o->json) {
        (void)snprintf(count, sizeof count, ",\"files\":%" PRIu64, files);
        (void)printf("{\"ok\":true,\"kind\":\"%s\"%s}\n", what, files == 0 ? "" : count);
    } else if (!o->quiet) {
        (void)snprintf(count, sizeof count, ", %" PRIu64 " %sfile%s", files, directory ? "data " : "",
                       files == 1 ? "" : "s");
        (void)printf("%s: ok (%s%s)\n", gen_cli_printable(path, &room), what, files == 0 ? "" : count);
    }
    return HPCW_OK;
}
