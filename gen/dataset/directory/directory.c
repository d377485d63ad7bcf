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

hpcw_status gen_directory_read_dataset(const char *dir, const char *name, struct gen_dataset *d, char **text,
                                       hpcw_error *err) {
    char path[GEN_DIRECTORY_PATH];
    char *own = NULL;
    cJSON *json = NULL;
    gen_directory_path(dir, name, path);
    hpcw_status s = gen_directory_read_json(path, &json, err);
    s = s == HPCW_OK ? gen_directory_read(path, &own, err) : s;
    s = s == HPCW_OK ? gen_dataset_of_manifest(path, own, json, d, err) : s;
    cJSON_Delete(json);
    if (text != NULL) {
        *text = own;
    } else {
        hpcw_i_free(own);
    }
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

/* Reads the fingerprint in the manifest or the description; "" if there is none. *is: the file exists. strict: fails
 * if the file is not readable JSON. */
static hpcw_status read_fingerprint(const struct gen_run *run, const char *name, bool strict, bool *is,
                                    char fingerprint[FINGERPRINT], hpcw_error *err) {
    char path[GEN_DIRECTORY_PATH];
    cJSON *json;
    hpcw_error why = {.message = ""};
    gen_directory_path(run->directory, name, path);
    hpcw_status s = gen_directory_read_json(path, &json, &why);
    const cJSON *f = cJSON_GetObjectItemCaseSensitive(json, "fingerprint");
    *is = s != HPCW_ENOENT;
    (void)snprintf(fingerprint, FINGERPRINT, "%s", cJSON_IsString(f) ? f->valuestring : "");
    cJSON_Delete(json);
    return read_source_is_of_system(s, &why) || (strict && s != HPCW_OK && *is) ? hpcw_i_fail_as(err, &why)
                                                                                : HPCW_OK;
}

/* *is: the description exists. *same: it has the run's fingerprint. With --force an invalid description is no
 * failure, since the directory is cleared. */
static hpcw_status read_begun(const struct gen_run *run, bool *is, bool *same, hpcw_error *err) {
    char fingerprint[FINGERPRINT];
    hpcw_status s = read_fingerprint(run, GEN_PARAMETERS, !run->force, is, fingerprint, err);
    *same = strcmp(fingerprint, run->fingerprint) == 0;
    return s;
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
        s = read_fingerprint(run, GEN_MANIFEST, false, &is, fingerprint, err);
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

/* Writes the description unless it exists. */
static hpcw_status write_description(const struct gen_run *run, hpcw_error *err) {
    bool is, same;
    hpcw_sink *sink;
    struct hpcw_i_json json;
    hpcw_status s = read_begun(run, &is, &same, err);
    if (s != HPCW_OK || same) {
        return s;
    }
    s = gen_directory_open(run, GEN_PARAMETERS, run->durability, &sink, err);
    if (s != HPCW_OK) {
        return s;
    }
    hpcw_i_json_open_sink(&json, sink, &(struct hpcw_i_json_options){.indent = true});
    hpcw_i_json_begin_object(&json);
    gen_dataset_describe(run->dataset, run->fingerprint, &json);
    hpcw_i_json_end_object(&json);
    s = hpcw_i_json_finish(&json, err);
    s = s == HPCW_OK ? hpcw_sink_publish(sink, err) : s;
    hpcw_sink_free(sink);
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

hpcw_status gen_directory_refuse_different(const struct gen_run *run, hpcw_error *err) {
    char path[GEN_DIRECTORY_PATH];
    char difference[DIFFERENCE] = "got others";
    struct hpcw_i_buf text = {0};
    cJSON *got = NULL;
    gen_directory_path(run->directory, GEN_PARAMETERS, path);
    if (gen_directory_read_json(path, &got, NULL) != HPCW_OK) {
        gen_directory_path(run->directory, GEN_MANIFEST, path);
        (void)gen_directory_read_json(path, &got, NULL);
    }
    if (gen_dataset_text(run->dataset, &text, NULL) == HPCW_OK) {
        cJSON *want = cJSON_ParseWithLength((const char *)text.data, text.size);
        (void)members_differ(want, cJSON_GetObjectItemCaseSensitive(got, "parameters"), difference);
        cJSON_Delete(want);
    }
    cJSON_Delete(got);
    hpcw_i_buf_free(&text);
    return hpcw_i_fail(err, HPCW_EEXIST,
                       "%s: a dataset with other parameters exists: %s: choose another --out, or --force to "
                       "replace it",
                       path, difference);
}
