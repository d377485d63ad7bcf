/* SPDX-License-Identifier: BSD-3-Clause */
/* repair: makes damaged and lost files of a dataset again. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gen/cli/commands.h"
#include "gen/dataset/directory/directory.h"
#include "gen/dataset/repair.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/shown.h"
#include "libwriter/base/status.h"
#include "libwriter/io/sys.h"

struct repaired_paths {
    bool print;
    struct hpcw_i_json *json;
};

static void told(void *context, const char *path, const char *why) {
    const struct repaired_paths *p = context;
    if (p->print) {
        if (why != NULL) {
            (void)fprintf(stderr, "hpcgen: %s\n", why);
        }
        (void)fprintf(stderr, "hpcgen: repaired %s\n", path);
    }
    hpcw_i_json_str(p->json, path);
}

/* Gets the dataset from the manifest. If the manifest is missing or damaged, the options describe the dataset.
 * *manifest becomes the text of the manifest, or NULL if the options were used. */
static hpcw_status find_dataset(const struct gen_cli_options *o, const char *dir, struct gen_dataset *d,
                                char **manifest, hpcw_error *err) {
    hpcw_error e = {.message = ""};
    hpcw_status s = gen_directory_read_dataset(dir, GEN_MANIFEST, d, manifest, &e);
    if (s == HPCW_OK) {
        return s;
    }
    hpcw_i_free(*manifest);
    *manifest = NULL;
    gen_dataset_free(d);
    /* Fails, since the manifest need not be damaged. Another version of the program may have written it, or it
     * cannot be read now. */
    if (s == HPCW_EMISMATCH || gen_repair_stops(s, &e)) {
        return hpcw_i_fail_as(err, &e);
    }
    if (o->ranks == 0) {
        char word[200]; /* if the path is longer, the message has "DIR" instead */
        return hpcw_i_fail(err, s,
                           "%.700s: repair it with the options that made the dataset, as in: hpcgen repair %s "
                           "--ranks N",
                           e.message, hpcw_i_shown_word(word, sizeof word, dir, "DIR"));
    }
    if (s != HPCW_ENOENT && !o->quiet) {
        hpcw_error room;
        (void)fprintf(stderr, "hpcgen: %s\n", gen_cli_printable(e.message, &room));
    }
    return gen_cli_resolve(o, false, d, err);
}

static hpcw_status check_finished(const char *dir, hpcw_error *err) {
    struct hpcw_i_entry directory;
    const int e = hpcw_i_sys_look(dir, true, &directory);
    if (e != 0) {
        return hpcw_i_fail_sys(err, e, "%s: cannot look at it", dir);
    }
    if (directory.kind != HPCW_I_DIRECTORY) {
        return hpcw_i_fail(err, HPCW_ENOENT, "%s: expected the directory of a dataset, got none", dir);
    }
    return gen_directory_check_finished(dir, err);
}

hpcw_status gen_cli_repair(const struct gen_cli_options *o, const char *dir, hpcw_error *err) {
    struct gen_dataset d = {0};
    char *manifest = NULL;
    struct gen_cli_result r;
    gen_cli_result_begin(&r, true);
    struct repaired_paths paths = {.print = !o->quiet, .json = &r.json};
    struct gen_repair repair = {.told = told, .context = &paths};
    struct gen_left left = {0};
    struct gen_run run = {.dataset = &d,
                          .directory = dir,
                          .left = &left,
                          .comm = hpcw_i_comm_or_self(NULL),
                          .jobs = o->jobs,
                          .parts = 1,
                          .takeover = o->takeover,
                          .checksums = o->checksums,
                          .durability = o->sync ? HPCW_SYNC_DIRECTORY : HPCW_SYNC_NONE};
    hpcw_status s = check_finished(dir, err);
    s = s == HPCW_OK ? find_dataset(o, dir, &d, &manifest, err) : s;
    hpcw_i_json_put_str(&r.json, "directory", dir);
    hpcw_i_json_key_array(&r.json, "repaired");
    s = s == HPCW_OK ? gen_repair_dataset(&run, manifest, &repair, err) : s;
    hpcw_i_json_end_array(&r.json);
    hpcw_i_json_put_u64(&r.json, "files_repaired", repair.repaired);
    hpcw_i_json_put_u64(&r.json, "files_kept", repair.files - repair.repaired);
    if (s == HPCW_OK && !o->quiet) {
        hpcw_error room;
        (void)fprintf(stderr, "hpcgen: %s: %" PRIu64 " of %" PRIu64 " files repaired\n",
                      gen_cli_printable(dir, &room), repair.repaired, repair.files);
        gen_cli_print_left(dir, &left);
    }
    r.as_json = true;
    if (!o->json) {
        hpcw_i_json_end_object(&r.json);
        hpcw_i_json_free(&r.json);
        hpcw_i_buf_free(&r.text);
    } else {
        s = gen_cli_result_print(&r, s, err);
    }
    gen_dataset_free(&d);
    hpcw_i_free(manifest);
    return s;
}
