/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/dataset/directory.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "gen/dataset/description.h"
#include "libreader/source.h"
#include "libwriter/base/buf.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
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

static bool has_fingerprint(const cJSON *json, const char *fingerprint) {
    const cJSON *f = cJSON_GetObjectItemCaseSensitive(json, "fingerprint");
    return cJSON_IsString(f) && strcmp(f->valuestring, fingerprint) == 0;
}

/* The first line of the parameter file has the fingerprint. */
static bool begun_with(const struct gen_run *run) {
    char path[GEN_DIRECTORY_PATH];
    char *text;
    gen_directory_path(run->directory, GEN_PARAMETERS, path);
    if (gen_directory_read(path, &text, NULL) != HPCW_OK) {
        return false;
    }
    bool same =
        strncmp(text, "; ", 2) == 0 && strncmp(text + 2, run->fingerprint, strlen(run->fingerprint)) == 0;
    hpcw_i_free(text);
    return same;
}

static bool is_there(const char *dir, const char *name) {
    char path[GEN_DIRECTORY_PATH];
    struct stat st;
    gen_directory_path(dir, name, path);
    return lstat(path, &st) == 0;
}

hpcw_status gen_directory_look(const struct gen_run *run, enum gen_directory_state *state, hpcw_error *err) {
    const char *dir = run->directory;
    *state = GEN_DIRECTORY_FRESH;
    DIR *d = opendir(dir);
    if (d == NULL) {
        return errno == ENOENT ? HPCW_OK : hpcw_i_fail_sys(err, errno, "%s: cannot open the directory", dir);
    }
    struct dirent *entry;
    bool empty = true; /* except for the state directory */
    while ((entry = readdir(d)) != NULL) {
        empty = empty && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
                          strcmp(entry->d_name, GEN_STATE_DIR) == 0);
    }
    (void)closedir(d);
    if (is_there(dir, GEN_PARAMETERS)) {
        *state = begun_with(run) ? GEN_DIRECTORY_UNFINISHED : GEN_DIRECTORY_DIFFERENT;
        return HPCW_OK;
    }
    if (empty) {
        /* A state directory without a description: another part is about to write it, or died before. */
        return HPCW_OK;
    }
    *state = GEN_DIRECTORY_OTHER;
    char path[GEN_DIRECTORY_PATH];
    cJSON *manifest = NULL;
    gen_directory_path(dir, GEN_MANIFEST, path);
    if (is_there(dir, GEN_MANIFEST) && gen_directory_read_json(path, &manifest, NULL) == HPCW_OK &&
        cJSON_IsString(cJSON_GetObjectItemCaseSensitive(manifest, "fingerprint"))) {
        *state = has_fingerprint(manifest, run->fingerprint) ? GEN_DIRECTORY_FINISHED : GEN_DIRECTORY_DIFFERENT;
    }
    cJSON_Delete(manifest);
    return HPCW_OK;
}

static hpcw_status make_directory(const char *path, hpcw_error *err) {
    int e = hpcw_i_sys_mkdir(path, 0777);
    return e == 0 || e == EEXIST ? HPCW_OK : hpcw_i_fail_sys(err, e, "%s: cannot create the directory", path);
}

/* The description as a configuration file. */
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

/* Writes the description, if it does not exist. */
static hpcw_status write_description(const struct gen_run *run, hpcw_error *err) {
    if (begun_with(run)) {
        return HPCW_OK;
    }
    char path[GEN_DIRECTORY_PATH];
    struct hpcw_i_buf buf = {0};
    hpcw_sink *sink = NULL;
    gen_directory_path(run->directory, GEN_PARAMETERS, path);
    hpcw_status s = describe(run->dataset, run->fingerprint, &buf)
                        ? hpcw_sink_open_file(path, run->durability, &sink, err)
                        : hpcw_i_fail_memory(err, path, 0, NULL);
    if (s == HPCW_OK) {
        s = hpcw_sink_write_at(sink, 0, buf.data, buf.size, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_sink_publish(sink, err);
    }
    hpcw_sink_free(sink);
    hpcw_i_buf_free(&buf);
    return s;
}

hpcw_status gen_directory_begin(const struct gen_run *run, const struct hpcw_i_stripes *stripes,
                                hpcw_error *err) {
    const char *dir = run->directory;
    char path[GEN_DIRECTORY_PATH];
    /* First of all: a directory with more than its state in it must have a description. */
    hpcw_status s = write_description(run, err);
    for (size_t i = 0; s == HPCW_OK && i < gen_format_count; i++) {
        if (run->dataset->formats >> i & 1) {
            gen_directory_path(dir, gen_format_folder(gen_format[i]), path);
            s = make_directory(path, err);
            if (s == HPCW_OK && (stripes->count != 0 || stripes->bytes != 0)) {
                s = hpcw_i_fs_set_stripe(NULL, path, stripes, err);
            }
        }
    }
    return s;
}

/* ---- differences ---- */

enum { DIFFERENCE = 160 };

/* The first line that differs between two descriptions, after that with the fingerprint. */
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
