/* SPDX-License-Identifier: BSD-3-Clause */
/* verify and info: what is on disk, read by the independent readers. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/status.h"
#include "format.h"
#include "hpcgen_commands.h"
#include "pool.h"
#include "store.h"
#include "tool/text.h"

/* ---- verify ---- */

/* A file of the manifest. Files of a set beyond the first are read with it. */
struct check {
    const char *dir;
    const cJSON *files;
    size_t count;
    const cJSON **file; /* [count] */
};

static hpcw_status check_digest(const struct check *c, const cJSON *file, const char *path, hpcw_error *err) {
    const cJSON *text = cJSON_GetObjectItemCaseSensitive(file, "xxh128");
    const cJSON *size = cJSON_GetObjectItemCaseSensitive(file, "size");
    struct hpcw_i_digest want;
    struct hpcw_i_digest got;
    uint64_t bytes = 0;
    (void)c;
    struct stat st;
    if (lstat(path, &st) != 0) {
        return hpcw_i_fail(err, HPCW_ENOENT, "%s: it is in the manifest and not in the directory", path);
    }
    if (!cJSON_IsNumber(size) || (double)st.st_size != size->valuedouble) {
        return hpcw_i_fail(err, HPCW_ECHECKSUM, "%s: size: wanted %.0f bytes, got %lld", path,
                           cJSON_IsNumber(size) ? size->valuedouble : -1.0, (long long)st.st_size);
    }
    if (!cJSON_IsString(text)) {
        return HPCW_OK; /* made without checksums */
    }
    if (!hpcw_i_digest_parse(text->valuestring, &want)) {
        return hpcw_i_fail(err, HPCW_EFORMAT, "%s: the manifest's xxh128 is no digest: %.64s", path,
                           text->valuestring);
    }
    hpcw_status s = hpcw_i_digest_file(path, &got, &bytes, err);
    if (s == HPCW_OK && (want.high != got.high || want.low != got.low)) {
        char is[HPCW_I_DIGEST_TEXT];
        hpcw_i_digest_text(&got, is);
        s = hpcw_i_fail(err, HPCW_ECHECKSUM, "%s: XXH3-128: wanted %s, got %s", path, text->valuestring, is);
    }
    return s;
}

static size_t format_of_path(const char *name) {
    for (size_t f = 0; f < hpcw_i_format_count; f++) {
        size_t n = strlen(hpcw_i_format[f]->name);
        if (strncmp(name, hpcw_i_format[f]->name, n) == 0 && name[n] == '/') {
            return f;
        }
    }
    return hpcw_i_format_count;
}

static bool is_first_of_format(const struct check *c, uint64_t index, size_t format) {
    for (uint64_t i = 0; i < index; i++) {
        const cJSON *name = cJSON_GetObjectItemCaseSensitive(c->file[i], "path");
        if (cJSON_IsString(name) && format_of_path(name->valuestring) == format) {
            return false;
        }
    }
    return true;
}

static hpcw_status check_file(void *context, void *state, uint64_t index, hpcw_error *err) {
    const struct check *c = context;
    (void)state;
    const cJSON *name = cJSON_GetObjectItemCaseSensitive(c->file[index], "path");
    if (!cJSON_IsString(name) || strstr(name->valuestring, "..") != NULL || name->valuestring[0] == '/') {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s/" HPCW_I_MANIFEST ": file %llu: wanted a path below the directory", c->dir,
                           (unsigned long long)index);
    }
    char path[HPCW_I_STORE_PATH];
    hpcw_i_store_path(c->dir, name->valuestring, path);
    hpcw_status s = check_digest(c, c->file[index], path, err);
    size_t f = format_of_path(name->valuestring);
    if (s != HPCW_OK || f == hpcw_i_format_count) {
        return s;
    }
    return !hpcw_i_format[f]->container || is_first_of_format(c, index, f)
               ? hpcw_i_format[f]->verify(path, true, err)
               : HPCW_OK;
}

/* The checksum list must say what the manifest says. */
static hpcw_status check_list(const char *dir, hpcw_error *err) {
    char path[HPCW_I_STORE_PATH];
    char name[HPCW_I_STORE_PATH];
    char *text;
    hpcw_i_store_path(dir, HPCW_I_CHECKSUMS, path);
    hpcw_status s = hpcw_i_store_read(path, &text, NULL);
    if (s == HPCW_ENOENT) {
        return HPCW_OK; /* made without checksums */
    }
    s = hpcw_i_store_read(path, &text, err);
    if (s != HPCW_OK) {
        return s;
    }
    const char *last = strstr(text, "  " HPCW_I_MANIFEST "\n");
    struct hpcw_i_digest want = {0};
    struct hpcw_i_digest got = {0};
    char digest[HPCW_I_DIGEST_TEXT] = "";
    if (last != NULL && last - text >= 32) {
        memcpy(digest, last - 32, 32);
    }
    hpcw_i_store_path(dir, HPCW_I_MANIFEST, name);
    if (!hpcw_i_digest_parse(digest, &want)) {
        s = hpcw_i_fail(err, HPCW_EFORMAT, "%s: wanted a digest of " HPCW_I_MANIFEST ", got none", path);
    } else {
        s = hpcw_i_digest_file(name, &got, NULL, err);
    }
    if (s == HPCW_OK && (want.high != got.high || want.low != got.low)) {
        s = hpcw_i_fail(err, HPCW_ECHECKSUM, "%s: XXH3-128: wanted %s, got another one", name, digest);
    }
    hpcw_i_free(text);
    return s;
}

static hpcw_status verify_directory(const struct hpcgen_options *o, const char *dir, uint64_t *files,
                                    hpcw_error *err) {
    char path[HPCW_I_STORE_PATH];
    cJSON *manifest;
    struct check c = {.dir = dir};
    struct hpcw_i_buf list = {0};
    hpcw_i_store_path(dir, HPCW_I_MANIFEST, path);
    hpcw_status s = hpcw_i_store_read_json(path, &manifest, err);
    if (s == HPCW_ENOENT) {
        return hpcw_i_fail(err, HPCW_ENOENT, "%s: wanted a finished dataset, got no " HPCW_I_MANIFEST, dir);
    }
    if (s != HPCW_OK) {
        return s;
    }
    c.files = cJSON_GetObjectItemCaseSensitive(manifest, "files");
    const cJSON *file;
    cJSON_ArrayForEach(file, c.files) {
        if (s == HPCW_OK && !hpcw_i_buf_append(&list, &file, sizeof file)) {
            s = hpcw_i_fail(err, HPCW_ENOMEM, "%s: out of memory", path);
        }
    }
    c.file = (const cJSON **)(void *)list.data;
    c.count = list.size / sizeof *c.file;
    if (s == HPCW_OK && c.count == 0) {
        s = hpcw_i_fail(err, HPCW_EFORMAT, "%s: wanted a list of files, got none", path);
    }
    if (s == HPCW_OK) {
        s = check_list(dir, err);
    }
    if (s == HPCW_OK) {
        const struct hpcw_i_pool_work work = {.context = &c, .step = check_file};
        s = hpcw_i_pool_run(o->jobs, 0, c.count, 1, &work, err);
    }
    *files = c.count;
    hpcw_i_buf_free(&list);
    cJSON_Delete(manifest);
    return s;
}

static hpcw_status unknown_file(const char *path, hpcw_error *err) {
    struct stat st;
    if (stat(path, &st) != 0) {
        return hpcw_i_fail(err, HPCW_ENOENT, "%s: no such file or directory", path);
    }
    return hpcw_i_fail(err, HPCW_EFORMAT,
                       "%s: wanted a file of a known format (see hpcgen list), got another one", path);
}

hpcw_status hpcgen_verify(const struct hpcgen_options *o, const char *path, hpcw_error *err) {
    struct stat st;
    uint64_t files = 1;
    hpcw_status s;
    const char *what = "dataset";
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
        s = verify_directory(o, path, &files, err);
    } else {
        size_t f = hpcw_i_format_of_file(path);
        if (f == hpcw_i_format_count) {
            return unknown_file(path, err);
        }
        what = hpcw_i_format[f]->name;
        s = hpcw_i_format[f]->verify(path, false, err);
    }
    if (s != HPCW_OK) {
        return s;
    }
    if (o->json) {
        (void)printf("{\"ok\":true,\"kind\":\"%s\",\"files\":%llu}\n", what, (unsigned long long)files);
    } else if (!o->quiet) {
        (void)printf("%s: ok (%s, %llu file%s)\n", path, what, (unsigned long long)files,
                     files == 1 ? "" : "s");
    }
    return HPCW_OK;
}

/* ---- info ---- */

/* The JSON of a format's info, as indented lines for people. */
static void print_item(const cJSON *item, unsigned depth);

static void print_members(const cJSON *object, unsigned depth) {
    const cJSON *item;
    cJSON_ArrayForEach(item, object) {
        print_item(item, depth);
    }
}

static void print_scalar(const cJSON *item) {
    if (cJSON_IsString(item)) {
        (void)printf("%s", item->valuestring);
    } else {
        char *text = cJSON_PrintUnformatted(item);
        (void)printf("%s", text == NULL ? "?" : text);
        cJSON_free(text);
    }
}

/* An array element that has scalars only fits on one line. */
static bool is_record(const cJSON *item) {
    const cJSON *member;
    cJSON_ArrayForEach(member, item) {
        if (cJSON_IsObject(member) || cJSON_IsArray(member)) {
            return false;
        }
    }
    return cJSON_IsObject(item);
}

static void print_item(const cJSON *item, unsigned depth) {
    (void)printf("%*s", (int)(2 * depth), "");
    if (item->string != NULL) {
        (void)printf("%s:", item->string);
    } else {
        (void)printf("-");
    }
    if (item->string == NULL && is_record(item)) {
        const cJSON *member;
        cJSON_ArrayForEach(member, item) {
            (void)printf(" %s=", member->string);
            print_scalar(member);
        }
        (void)printf("\n");
    } else if (cJSON_IsObject(item) || cJSON_IsArray(item)) {
        (void)printf("\n");
        print_members(item, depth + 1);
    } else {
        (void)printf(" ");
        print_scalar(item);
        (void)printf("\n");
    }
}

hpcw_status hpcgen_info(const struct hpcgen_options *o, const char *path, hpcw_error *err) {
    size_t f = hpcw_i_format_of_file(path);
    if (f == hpcw_i_format_count) {
        return unknown_file(path, err);
    }
    struct hpcw_i_buf buf = {0};
    struct hpcw_i_json json;
    hpcw_i_json_open_buf(&json, &buf, &(struct hpcw_i_json_options){.indent = true, .replace_bad_utf8 = true});
    hpcw_i_json_begin_object(&json);
    hpcw_i_json_put_str(&json, "file", path);
    hpcw_i_json_put_str(&json, "format", hpcw_i_format[f]->name);
    hpcw_status s = hpcw_i_format[f]->info(path, &json, err);
    hpcw_i_json_end_object(&json);
    hpcw_status j = hpcw_i_json_finish(&json, s == HPCW_OK ? err : NULL);
    s = s == HPCW_OK ? j : s;
    if (s == HPCW_OK && o->json) {
        (void)fwrite(buf.data, 1, buf.size, stdout);
    } else if (s == HPCW_OK) {
        cJSON *parsed = cJSON_ParseWithLength((const char *)buf.data, buf.size);
        if (parsed == NULL) {
            s = hpcw_i_fail(err, HPCW_ENOMEM, "%s: out of memory", path);
        }
        print_members(parsed, 0);
        cJSON_Delete(parsed);
    }
    hpcw_i_buf_free(&buf);
    return s;
}
