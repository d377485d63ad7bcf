/* SPDX-License-Identifier: BSD-3-Clause */
/* info: prints what a file contains, which libreader/ reads independently of the writers. */
#include "gen/cli/commands.h"
#include "gen/dataset/directory/directory.h"
#include "gen/format/format.h"
#include "libreader/source.h"
#include "ui/cli/progress.h"

hpcw_status gen_cli_info(const struct gen_cli_options *o, const char *path, hpcw_error *err) {
    const struct gen_format *row = NULL;
    char dataset[GEN_DIRECTORY_PATH];
    bool directory = false;
    size_t f;
    hpcw_status s = gen_format_of_file(path, &f, err);
    if (s == HPCW_OK && f == gen_format_count) {
        s = read_source_is_directory(path, &directory, err);
    }
    if (s == HPCW_OK && !directory) {
        s = gen_cli_find_row(path, GEN_CLI_INFO, &row, err);
    }
    if (s != HPCW_OK) {
        return s;
    }
    struct gen_cli_result r;
    gen_cli_result_begin(&r, o->json);
    r.as_summary = !o->all;
    hpcw_i_json_put_str(&r.json, "file", path);
    struct ui_progress *progress = gen_cli_show_reading(o);
    if (directory) {
        s = gen_cli_put_contents(path, o->all || o->json, &r.json, err);
    } else {
        hpcw_i_json_put_str(&r.json, "format", row->name);
        gen_directory_path(path, "..", dataset);
        if (gen_directory_check_finished(dataset, NULL) == HPCW_ESTATE) {
            gen_cli_put_unfinished(&r.json);
        }
        s = row->info(path, &r.json, err);
    }
    ui_progress_stop(progress);
    return gen_cli_result_print(&r, s, err);
}
