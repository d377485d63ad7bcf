/* SPDX-License-Identifier: BSD-3-Clause */
/* verify: sizes, checksums and structure of what is on disk, by the independent readers. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gen/cli/commands.h"
#include "gen/dataset/directory.h"
#include "gen/format/format.h"
#include "gen/spec/pool.h"
#include "libwriter/base/buf.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

hpcw_status gen_cli_refuse_file(const char *path, hpcw_error *err) {
    struct stat st;
    if (stat(path, &st) != 0) {
        return hpcw_i_fail_sys(err, errno, "%s: expected a file or directory", path);
    }
    if (S_ISREG(st.st_mode) && access(path, R_OK) != 0) {
        return hpcw_i_fail_sys(err, errno, "%s: cannot open for reading", path);
    }
    return hpcw_i_fail(err, HPCW_EFORMAT,
                       "%s: expected a file of a known format (see hpcgen list), got another one", path);
}

/* The files of a manifest. */
struct verification {
    const char *dir;
    const cJSON *files;
    size_t count;
    const cJSON **file;   /* [count] */
    size_t first[64 + 1]; /* index of the first file of each format, and of those of none */
};

static hpcw_status check_digest(const cJSON *file, const char *path, hpcw_error *err) {
    const cJSON *text = cJSON_GetObjectItemCaseSensitive(file, "xxh128");
    const cJSON *size = cJSON_GetObjectItemCaseSensitive(file, "size");
    struct gen_digest want;
    struct gen_digest got;
    uint64_t bytes = 0;
    struct stat st;
    if (lstat(path, &st) != 0) {
        return hpcw_i_fail(err, HPCW_ENOENT, "%s: expected a file, as the manifest lists it, got none", path);
    }
    if (!cJSON_IsNumber(size) || (double)st.st_size != size->valuedouble) {
        return hpcw_i_fail(err, HPCW_ECHECKSUM, "%s: size: expected %.0f bytes, got %" PRId64, path,
                           cJSON_IsNumber(size) ? size->valuedouble : -1.0, (int64_t)st.st_size);
    }
    if (!cJSON_IsString(text)) {
        return HPCW_OK; /* written without checksums */
    }
    if (!gen_digest_parse(text->valuestring, &want)) {
        return hpcw_i_fail(err, HPCW_EFORMAT, "%s: xxh128 in the manifest: expected 32 hex digits, got %.64s",
                           path, text->valuestring);
    }
    hpcw_status s = gen_digest_file(path, &got, &bytes, err);
    if (s == HPCW_OK && (want.high != got.high || want.low != got.low)) {
        char is[GEN_DIGEST_TEXT];
        gen_digest_text(&got, is);
        s = hpcw_i_fail(err, HPCW_ECHECKSUM, "%s: XXH3-128: expected %s, got %s", path, text->valuestring, is);
    }
    return s;
}

/* Size and digest of one file. */
static hpcw_status check_file(void *context, void *state, uint64_t index, hpcw_error *err) {
    const struct verification *c = context;
    (void)state;
    const cJSON *name = cJSON_GetObjectItemCaseSensitive(c->file[index], "path");
    if (!cJSON_IsString(name) || !gen_directory_is_below(name->valuestring)) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s/" GEN_MANIFEST ": file %" PRIu64
                           ": expected a path below the directory, got %.100s",
                           c->dir, index, cJSON_IsString(name) ? name->valuestring : "none");
    }
    char path[GEN_DIRECTORY_PATH];
    gen_directory_path(c->dir, name->valuestring, path);
    return check_digest(c->file[index], path, err);
}

/* Structure and content of one file; of a set or directory that is read together, of all files at its first one. */
static hpcw_status check_structure(void *context, void *state, uint64_t index, hpcw_error *err) {
    const struct verification *c = context;
    (void)state;
    const char *name = cJSON_GetObjectItemCaseSensitive(c->file[index], "path")->valuestring;
    size_t f = gen_format_of_path(name);
    bool together = f < gen_format_count && (gen_format[f]->container || gen_format[f]->folder != NULL);
    if (f == gen_format_count || (together && c->first[f] != index)) {
        return HPCW_OK;
    }
    char path[GEN_DIRECTORY_PATH];
    gen_directory_path(c->dir, gen_format[f]->folder != NULL ? gen_format[f]->folder : name, path);
    uint64_t files;
    return gen_format[f]->verify(path, true, &files, err);
}

/* First sizes and checksums: after damage, what a file says is no good explanation. */
static hpcw_status check_files(const struct gen_cli_options *o, struct verification *c, hpcw_error *err) {
    const struct gen_pool_work content = {.name = "verify", .context = c, .step = check_file};
    hpcw_status s = gen_pool_run(o->jobs, 0, c->count, 1, &content, err);
    if (s != HPCW_OK) {
        return s;
    }
    for (size_t i = c->count; i-- > 0;) {
        c->first[gen_format_of_path(cJSON_GetObjectItemCaseSensitive(c->file[i], "path")->valuestring)] = i;
    }
    const struct gen_pool_work structure = {.name = "verify", .context = c, .step = check_structure};
    return gen_pool_run(o->jobs, 0, c->count, 1, &structure, err);
}

/* Checks one line of the checksum list, and moves *list after it. */
static hpcw_status check_line(const char *path, const char **list, unsigned line, const char *digest,
                              const char *name, hpcw_error *err) {
    size_t n = strcspn(*list, "\n");
    size_t d = strlen(digest);
    const char *got = *list;
    *list += n + (got[n] == '\n');
    if (got[n] == '\n' && n == d + 2 + strlen(name) && memcmp(got, digest, d) == 0 &&
        memcmp(got + d, "  ", 2) == 0 && memcmp(got + d + 2, name, n - d - 2) == 0) {
        return HPCW_OK;
    }
    return hpcw_i_fail(err, HPCW_ECHECKSUM, "%s: line %u: expected \"%.40s  %.200s\", got \"%.*s\"", path, line,
                       digest, name, n < 240 ? (int)n : 240, got);
}

/* The checksum list must agree with the manifest, and with the digest of the manifest. */
static hpcw_status check_list(const struct verification *c, hpcw_error *err) {
    char path[GEN_DIRECTORY_PATH];
    char manifest[GEN_DIRECTORY_PATH];
    char *text = NULL;
    struct gen_digest digest;
    char now[GEN_DIGEST_TEXT];
    gen_directory_path(c->dir, GEN_CHECKSUMS, path);
    gen_directory_path(c->dir, GEN_MANIFEST, manifest);
    hpcw_error e = {.message = ""};
    hpcw_status s = gen_directory_read(path, &text, &e);
    if (s == HPCW_ENOENT && cJSON_GetObjectItemCaseSensitive(c->file[0], "xxh128") == NULL) {
        return HPCW_OK; /* written without checksums */
    }
    if (s != HPCW_OK) {
        *err = e;
        return s;
    }
    /* The manifest first: if it was changed, the rest of the list no longer agrees with it. */
    s = gen_digest_file(manifest, &digest, NULL, err);
    const char *last = strstr(text, "  " GEN_MANIFEST "\n");
    if (s == HPCW_OK) {
        gen_digest_text(&digest, now);
        if (last == NULL || last - text < 32) {
            s = hpcw_i_fail(err, HPCW_EFORMAT, "%s: expected a digest of " GEN_MANIFEST ", got none", path);
        } else if (memcmp(last - 32, now, 32) != 0) {
            s = hpcw_i_fail(err, HPCW_ECHECKSUM, "%s: XXH3-128: expected %.32s, got %s", manifest, last - 32,
                            now);
        }
    }
    const char *list = text;
    unsigned line = 1;
    for (size_t i = 0; s == HPCW_OK && i < c->count; i++) {
        const cJSON *name = cJSON_GetObjectItemCaseSensitive(c->file[i], "path");
        const cJSON *want = cJSON_GetObjectItemCaseSensitive(c->file[i], "xxh128");
        s = check_line(path, &list, line++, cJSON_IsString(want) ? want->valuestring : "(no digest)",
                       cJSON_IsString(name) ? name->valuestring : "(no path)", err);
    }
    if (s == HPCW_OK) {
        s = check_line(path, &list, line++, now, GEN_MANIFEST, err);
    }
    if (s == HPCW_OK && *list != '\0') {
        s = hpcw_i_fail(err, HPCW_ECHECKSUM, "%s: expected %u lines, got more", path, line - 1);
    }
    hpcw_i_free(text);
    return s;
}

static hpcw_status verify_directory(const struct gen_cli_options *o, const char *dir, uint64_t *files,
                                    hpcw_error *err) {
    char path[GEN_DIRECTORY_PATH];
    cJSON *manifest;
    struct verification c = {.dir = dir};
    struct hpcw_i_buf list = {0};
    gen_directory_path(dir, GEN_MANIFEST, path);
    hpcw_status s = gen_directory_read_json(path, &manifest, err);
    if (s == HPCW_ENOENT) {
        return hpcw_i_fail(err, HPCW_ENOENT, "%s: expected a finished dataset, got no " GEN_MANIFEST, dir);
    }
    if (s != HPCW_OK) {
        return s;
    }
    c.files = cJSON_GetObjectItemCaseSensitive(manifest, "files");
    const cJSON *file;
    cJSON_ArrayForEach(file, c.files) {
        if (s == HPCW_OK && !hpcw_i_buf_append(&list, &file, sizeof(cJSON *))) {
            s = hpcw_i_fail_memory(err, path, 0, NULL);
        }
    }
    c.file = (const cJSON **)(void *)list.data;
    c.count = list.size / sizeof(cJSON *);
    if (s == HPCW_OK && c.count == 0) {
        s = hpcw_i_fail(err, HPCW_EFORMAT, "%s: expected a list of files, got none", path);
    }
    if (s == HPCW_OK) {
        s = check_list(&c, err);
    }
    if (s == HPCW_OK) {
        s = check_files(o, &c, err);
    }
    *files = c.count;
    hpcw_i_buf_free(&list);
    cJSON_Delete(manifest);
    return s;
}

hpcw_status gen_cli_verify(const struct gen_cli_options *o, const char *path, hpcw_error *err) {
    struct stat st;
    uint64_t files = 0; /* stays 0 for the directory of a format, whose files nobody counts */
    hpcw_status s;
    const char *what = "dataset";
    bool is_directory = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    size_t f = gen_format_of_file(path);
    if (is_directory && f == gen_format_count) {
        s = verify_directory(o, path, &files, err);
    } else {
        if (f == gen_format_count) {
            return gen_cli_refuse_file(path, err);
        }
        what = gen_format[f]->name;
        s = gen_format[f]->verify(path, false, &files, err);
    }
    if (s != HPCW_OK) {
        return s;
    }
    char count[40] = "";
    if (o->json) {
        (void)snprintf(count, sizeof count, ",\"files\":%" PRIu64, files);
        (void)printf("{\"ok\":true,\"kind\":\"%s\"%s}\n", what, files == 0 ? "" : count);
    } else if (!o->quiet) {
        (void)snprintf(count, sizeof count, ", %" PRIu64 " file%s", files, files == 1 ? "" : "s");
        (void)printf("%s: ok (%s%s)\n", path, what, files == 0 ? "" : count);
    }
    return HPCW_OK;
}
