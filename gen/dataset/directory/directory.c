/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/dataset/directory/directory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gen/dataset/directory/description.h"
#include "libreader/source.h"
#include "libwriter/base/buf.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/io/dir.h"
#include "libwriter/io/sink.h"
#include "libwriter/io/sys.h"

#define LARGEST_TEXT ((uint64_t)256 << 20)

void gen_directory_path(const char *dir, const char *name, char path[GEN_DIRECTORY_PATH]) {
    (void)snprintf(path, GEN_DIRECTORY_PATH, "%s/%s", dir, name);
}

bool gen_directory_is_below(const char *path) {
    if (strlen(path) >= GEN_UNIT_PATH) {
        return false;
    }
    for (const char *part = path;; part++) {
        size_t n = strcspn(part, "/");
        if (n == 0 || (n == 2 && memcmp(part, "..", 2) == 0)) {
            return false;
        }
        part += n;
        if (*part == '\0') {
            return true;
        }
    }
}

hpcw_status gen_directory_read(const char *path, char **text, hpcw_error *err) {
    struct read_source *source;
    *text = NULL;
    hpcw_status s = read_source_open(path, &source, err);
    if (s != HPCW_OK) {
        return s;
    }
    uint64_t size = read_source_size(source);
    char *made = size > LARGEST_TEXT ? NULL : hpcw_i_malloc((size_t)size + 1);
    if (size > LARGEST_TEXT) {
        s = hpcw_i_fail(err, HPCW_EFORMAT, "%s: expected at most 256 MiB, got %" PRIu64 " bytes", path, size);
    } else if (made == NULL) {
        s = hpcw_i_fail_memory(err, path, size, "bytes");
    } else {
        s = read_source_read(source, 0, made, (size_t)size, "content", err);
        made[size] = '\0';
    }
    read_source_free(source);
    if (s != HPCW_OK) {
        hpcw_i_free(made);
        return s;
    }
    *text = made;
    return HPCW_OK;
}

hpcw_status gen_directory_read_json(const char *path, cJSON **json, hpcw_error *err) {
    char *text;
    *json = NULL;
    hpcw_status s = gen_directory_read(path, &text, err);
    if (s != HPCW_OK) {
        return s;
    }
    const char *end = NULL;
    *json = cJSON_ParseWithOpts(text, &end, 1);
    if (*json == NULL) {
        s = hpcw_i_fail(err, HPCW_EFORMAT, "%s: expected JSON, got something else at offset %td", path,
                        end == NULL ? (ptrdiff_t)0 : end - text);
    }
    hpcw_i_free(text);
    return s;
}

hpcw_status gen_directory_check_finished(const char *dir, hpcw_error *err) {
    struct hpcw_i_entry description;
    char path[GEN_DIRECTORY_PATH];
    gen_directory_path(dir, GEN_PARAMETERS, path);
    const int e = hpcw_i_sys_look(path, true, &description);
    if (e != 0) {
        return hpcw_i_fail_sys(err, e, "%s: cannot look at it", dir);
    }
    return description.kind == HPCW_I_NOTHING
               ? HPCW_OK
               : hpcw_i_fail(err, HPCW_ESTATE,
                             "%s: expected a finished dataset, got an unfinished one: " GEN_TO_FINISH, dir);
}

enum { FINGERPRINT = 64 };

/* *is: the parameter file exists. *same: its first line has the run's fingerprint. */
static hpcw_status read_begun(const struct gen_run *run, bool *is, bool *same, hpcw_error *err) {
    char path[GEN_DIRECTORY_PATH];
    char *text;
    hpcw_error why = {.message = ""};
    gen_directory_path(run->directory, GEN_PARAMETERS, path);
    hpcw_status s = gen_directory_read(path, &text, &why);
    *is = s != HPCW_ENOENT;
    *same = s == HPCW_OK && strncmp(text, "; ", 2) == 0 &&
            strncmp(text + 2, run->fingerprint, strlen(run->fingerprint)) == 0;
    hpcw_i_free(text);
    /* With --force an invalid parameter file is no failure, since the directory is cleared. */
    bool fails = read_source_is_of_system(s, &why) || (s != HPCW_OK && s != HPCW_ENOENT && !run->force);
    return fails ? hpcw_i_fail_as(err, &why) : HPCW_OK;
}

/* Reads the fingerprint of the manifest; "" without a manifest. */
static hpcw_status read_manifest(const struct gen_run *run, char fingerprint[FINGERPRINT], hpcw_error *err) {
    char path[GEN_DIRECTORY_PATH];
    cJSON *manifest;
    hpcw_error why = {.message = ""};
    gen_directory_path(run->directory, GEN_MANIFEST, path);
    hpcw_status s = gen_directory_read_json(path, &manifest, &why);
    const cJSON *f = cJSON_GetObjectItemCaseSensitive(manifest, "fingerprint");
    (void)snprintf(fingerprint, FINGERPRINT, "%s", cJSON_IsString(f) ? f->valuestring : "");
    cJSON_Delete(manifest);
    return read_source_is_of_system(s, &why) ? hpcw_i_fail_as(err, &why) : HPCW_OK;
}

/* Sets *is to whether the directory exists, and *empty to whether it contains nothing except .hpcw. */
static hpcw_status look_inside(const char *dir, bool *is, bool *empty, hpcw_error *err) {
    struct hpcw_i_listing *listing;
    const char *name;
    int e = hpcw_i_sys_list(dir, &listing);
    *is = e == 0;
    *empty = true;
    if (e != 0) {
        return e == ENOENT ? HPCW_OK : hpcw_i_fail_sys(err, e, "%s: cannot open the directory", dir);
    }
    while (*empty && (e = hpcw_i_sys_list_next(listing, &name)) == 0 && name != NULL) {
        *empty = strcmp(name, GEN_STATE_DIR) == 0;
    }
    hpcw_i_sys_list_free(listing);
    return e == 0 ? HPCW_OK : hpcw_i_fail_sys(err, e, "%s: cannot read the directory", dir);
}

hpcw_status gen_directory_look(const struct gen_run *run, enum gen_directory_state *state, hpcw_error *err) {
    char fingerprint[FINGERPRINT] = "";
    bool is, empty, begun, same;
    *state = GEN_DIRECTORY_FRESH;
    hpcw_status s = look_inside(run->directory, &is, &empty, err);
    if (s != HPCW_OK || !is) {
        return s;
    }
    s = read_begun(run, &begun, &same, err);
    if (s == HPCW_OK && begun) {
        *state = same ? GEN_DIRECTORY_UNFINISHED : GEN_DIRECTORY_DIFFERENT;
    } else if (s == HPCW_OK && !empty) {
        s = read_manifest(run, fingerprint, err);
        *state = fingerprint[0] == '\0'                       ? GEN_DIRECTORY_OTHER
                 : strcmp(fingerprint, run->fingerprint) == 0 ? GEN_DIRECTORY_FINISHED
                                                              : GEN_DIRECTORY_DIFFERENT;
    }
    /* If .hpcw has no description, *state stays GEN_DIRECTORY_FRESH: a run is about to write the description,
     * or died before. */
    return s;
}

hpcw_status gen_directory_open(const struct gen_run *run, const char *name, hpcw_durability durability,
                               hpcw_sink **out, hpcw_error *err) {
    char path[GEN_DIRECTORY_PATH];
    gen_directory_path(run->directory, name, path);
    return hpcw_i_sink_open_below(run->below.root, name, path, durability, out, err);
}

/* Appends the name and the parameters of the workload. Its text is in a file of its own, GEN_WORKLOAD_TEXT. */
static bool describe_workload(const struct gen_workload *w, struct hpcw_i_buf *buf) {
    bool ok = ui_param_line("workload", w->name, buf) && hpcw_i_buf_append_str(buf, "[workload]\n");
    for (size_t i = 0; ok && i < w->settings; i++) {
        ok = ui_param_line(w->setting[i].key, w->setting[i].value, buf);
    }
    return ok;
}

static bool describe(const struct gen_dataset *d, const char *fingerprint, struct hpcw_i_buf *buf) {
    char line[512];
    (void)snprintf(line, sizeof line,
                   "; %s\n; The description of an unfinished dataset.\n[hpcgen]\nranks = %u\nseed = %" PRIu64
                   "\npreset = %s\n"
                   "scale = %s\nblocksize = %u\nfiles = %u\nformats = ",
                   fingerprint, d->ranks, d->seed, d->preset, gen_scale_name[d->scale], d->block_size,
                   d->linktest_files);
    bool ok = hpcw_i_buf_append_str(buf, line);
    const char *comma = "";
    for (size_t i = 0; i < gen_format_count; i++) {
        if (d->formats >> i & 1) {
            ok = ok && hpcw_i_buf_append_str(buf, comma) && hpcw_i_buf_append_str(buf, gen_format[i]->name);
            comma = ",";
        }
    }
    ok = ok && hpcw_i_buf_append_str(buf, "\n");
    if (d->workload != NULL) {
        ok = ok && describe_workload(d->workload, buf);
    }
    const char *section = "";
    const struct gen_dataset_group *group;
    const struct ui_param *p;
    for (size_t i = 0; (p = gen_dataset_param(i, &group)) != NULL; i++) {
        char value[UI_PARAM_TEXT];
        int n = (int)strcspn(p->key, ".");
        if (strncmp(section, p->key, (size_t)n + 1) != 0) {
            section = p->key;
            (void)snprintf(line, sizeof line, "[%.*s]\n", n, section);
            ok = ok && hpcw_i_buf_append_str(buf, line);
        }
        ui_param_get(p, (const char *)d + group->offset, value, sizeof value);
        ok = ok && ui_param_line(p->key + n + 1, value, buf);
    }
    return ok;
}

static hpcw_status write_state(const struct gen_run *run, const char *path, const struct hpcw_i_buf *text,
                               hpcw_error *err) {
    hpcw_sink *sink = NULL;
    hpcw_status s = gen_directory_open(run, path, run->durability, &sink, err);
    s = s == HPCW_OK ? hpcw_sink_write_at(sink, 0, text->data, text->size, err) : s;
    s = s == HPCW_OK ? hpcw_sink_publish(sink, err) : s;
    hpcw_sink_free(sink);
    return s;
}

/* Writes the description unless it exists. Writes the text of the workload first, since the description refers
 * to it. */
static hpcw_status write_description(const struct gen_run *run, hpcw_error *err) {
    const struct gen_workload *w = run->dataset->workload;
    bool is, same;
    struct hpcw_i_buf buf = {0};
    hpcw_status s = read_begun(run, &is, &same, err);
    if (s != HPCW_OK || same) {
        return s;
    }
    if (!describe(run->dataset, run->fingerprint, &buf)) {
        s = hpcw_i_fail_memory(err, run->directory, 0, "its description");
    }
    s = s == HPCW_OK && w != NULL ? write_state(run, GEN_WORKLOAD_TEXT, &w->text, err) : s;
    s = s == HPCW_OK ? write_state(run, GEN_PARAMETERS, &buf, err) : s;
    hpcw_i_buf_free(&buf);
    return s;
}

hpcw_status gen_directory_begin(const struct gen_run *run, const struct hpcw_i_stripes *stripes,
                                hpcw_error *err) {
    const char *dir = run->directory;
    char path[GEN_DIRECTORY_PATH];
    /* The description is written first, since a directory with other content than .hpcw must have one. */
    hpcw_status s = write_description(run, err);
    for (size_t i = 0; s == HPCW_OK && i < gen_format_count; i++) {
        if (run->dataset->formats >> i & 1) {
            const char *folder = gen_format_folder(gen_format[i]);
            gen_directory_path(dir, folder, path);
            s = gen_format_make_folder(run->below.root, dir, folder, false, err);
            if (s == HPCW_OK && (stripes->count != 0 || stripes->bytes != 0)) {
                s = hpcw_i_fs_set_stripe(NULL, path, stripes, err);
            }
        }
    }
    return s;
}

/* ---- differences ---- */

enum { DIFFERENCE = 160 };

/* Finds the first line that differs between two descriptions, after the line with the fingerprint. */
static bool lines_differ(const char *want, const char *got, char text[DIFFERENCE]) {
    want += strcspn(want, "\n");
    got += strcspn(got, "\n");
    while (*want == '\n' && *got == '\n') {
        size_t w = strcspn(++want, "\n");
        size_t g = strcspn(++got, "\n");
        if (w != g || memcmp(want, got, w) != 0) {
            (void)snprintf(text, DIFFERENCE, "expected %.*s, got %.*s", w < 64 ? (int)w : 64, want,
                           g < 64 ? (int)g : 64, got);
            return true;
        }
        want += w;
        got += g;
    }
    return false;
}

static bool members_differ(const cJSON *want, const cJSON *got, char text[DIFFERENCE]) {
    const cJSON *w;
    cJSON_ArrayForEach(w, want) {
        const cJSON *g = cJSON_GetObjectItemCaseSensitive(got, w->string);
        if (cJSON_IsObject(w) && cJSON_IsObject(g) && members_differ(w, g, text)) {
            return true;
        }
        if (!cJSON_Compare(w, g, 1)) {
            char *a = cJSON_PrintUnformatted(w);
            char *b = cJSON_PrintUnformatted(g);
            (void)snprintf(text, DIFFERENCE, "expected %s = %.48s, got %.48s", w->string, a == NULL ? "?" : a,
                           b == NULL ? "nothing" : b);
            cJSON_free(a);
            cJSON_free(b);
            return true;
        }
    }
    return false;
}

static void differ_from_manifest(const char *path, const struct gen_dataset *d, char text[DIFFERENCE]) {
    struct hpcw_i_buf buf = {0};
    cJSON *got = NULL;
    if (gen_dataset_text(d, &buf, NULL) == HPCW_OK && gen_directory_read_json(path, &got, NULL) == HPCW_OK) {
        cJSON *want = cJSON_ParseWithLength((const char *)buf.data, buf.size);
        (void)members_differ(want, cJSON_GetObjectItemCaseSensitive(got, "parameters"), text);
        cJSON_Delete(want);
    }
    cJSON_Delete(got);
    hpcw_i_buf_free(&buf);
}

hpcw_status gen_directory_refuse_different(const struct gen_run *run, hpcw_error *err) {
    const struct gen_dataset *d = run->dataset;
    char path[GEN_DIRECTORY_PATH];
    char difference[DIFFERENCE] = "got others";
    char *text = NULL;
    gen_directory_path(run->directory, GEN_PARAMETERS, path);
    if (gen_directory_read(path, &text, NULL) == HPCW_OK) {
        struct hpcw_i_buf buf = {0};
        if (describe(d, "", &buf) && hpcw_i_buf_append(&buf, "", 1)) {
            (void)lines_differ((const char *)buf.data, text, difference);
        }
        hpcw_i_buf_free(&buf);
        hpcw_i_free(text);
    } else {
        gen_directory_path(run->directory, GEN_MANIFEST, path);
        differ_from_manifest(path, d, difference);
    }
    return hpcw_i_fail(err, HPCW_EEXIST,
                       "%s: a dataset with other parameters exists: %s: choose another --out, or --force to "
                       "replace it",
                       path, difference);
}
