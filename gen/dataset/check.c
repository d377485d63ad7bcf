/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/dataset/check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "gen/dataset/compare.h"
#include "gen/dataset/directory/description.h"
#include "gen/dataset/lists.h"
#include "gen/spec/pool.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/io/sys.h"

/* A file that the manifest lists. */
struct entry {
    const cJSON *json;
    const char *name; /* "" if the entry has no allowed name */
    size_t index;
    bool bad; /* a fault was found */
};

struct checking {
    struct gen_check *check;
    char *text; /* text of the manifest */
    cJSON *manifest;
    size_t count;
    struct entry *entry;         /* [count] */
    const struct entry **sorted; /* [count] sorted by name */
    /* [f]: index of the first file of format f; [gen_format_count]: index of the first file without a format */
    size_t first[GEN_MOST_FORMATS + 1];
};

/* Sort order of a fault: by stage of the check, then by file. */
static uint64_t order_of(const struct checking *c, unsigned stage, size_t index) {
    return (uint64_t)stage * (c->count + 1) + index;
}

/* Records a fault. Returns HPCW_OK if the search for further faults goes on. */
static hpcw_status found(struct checking *c, uint64_t order, const char *name, const hpcw_error *e,
                         hpcw_error *err) {
    gen_faults_add(&c->check->faults, order, name, e);
    if (c->check->all) {
        return HPCW_OK;
    }
    *err = *e;
    return e->code;
}

/* ---- the manifest ---- */

static int by_name(const void *a, const void *b) {
    return strcmp((*(const struct entry *const *)a)->name, (*(const struct entry *const *)b)->name);
}

static const struct entry *find(const struct checking *c, const char *name) {
    const struct entry key = {.name = name};
    const struct entry *at = &key;
    const struct entry **hit = bsearch(&at, c->sorted, c->count, sizeof *c->sorted, by_name);
    return hit == NULL ? NULL : *hit;
}

static hpcw_status load(struct checking *c, hpcw_error *err) {
    char path[GEN_DIRECTORY_PATH];
    const char *dir = c->check->directory;
    gen_directory_path(dir, GEN_MANIFEST, path);
    hpcw_status s = gen_directory_read_json(path, &c->manifest, err);
    if (s == HPCW_ENOENT) {
        s = gen_directory_check_finished(dir, err);
        return s != HPCW_OK ? s
                            : hpcw_i_fail(err, HPCW_ENOENT,
                                          "%s: expected a finished dataset, got no " GEN_MANIFEST
                                          "; verify other files one by one, by their names",
                                          dir);
    }
    s = s == HPCW_OK ? gen_directory_read(path, &c->text, err) : s;
    if (s != HPCW_OK) {
        return s;
    }
    const cJSON *files = cJSON_GetObjectItemCaseSensitive(c->manifest, "files");
    const cJSON *item;
    cJSON_ArrayForEach(item, files) {
        c->count++;
    }
    if (c->count == 0) {
        return hpcw_i_fail(err, HPCW_EFORMAT, "%s: expected a list of files, got none", path);
    }
    c->entry = hpcw_i_calloc(c->count, sizeof *c->entry);
    c->sorted = hpcw_i_calloc(c->count, sizeof *c->sorted);
    if (c->entry == NULL || c->sorted == NULL) {
        return hpcw_i_fail_memory(err, path, c->count, "files");
    }
    size_t i = 0;
    cJSON_ArrayForEach(item, files) {
        const cJSON *name = cJSON_GetObjectItemCaseSensitive(item, "path");
        bool good = cJSON_IsString(name) && gen_directory_is_below(name->valuestring);
        c->entry[i] = (struct entry){.json = item, .name = good ? name->valuestring : "", .index = i};
        c->sorted[i] = &c->entry[i];
        i++;
    }
    qsort(c->sorted, c->count, sizeof *c->sorted, by_name);
    return HPCW_OK;
}

/* ---- sizes and digests ---- */

static hpcw_status check_digest(const cJSON *file, const char *path, hpcw_error *err) {
    const cJSON *text = cJSON_GetObjectItemCaseSensitive(file, "xxh128");
    const cJSON *size = cJSON_GetObjectItemCaseSensitive(file, "size");
    struct gen_digest want;
    struct gen_digest got;
    uint64_t bytes = 0;
    struct hpcw_i_entry entry;
    int e = hpcw_i_sys_look(path, false, &entry);
    if (e != 0) {
        return hpcw_i_fail_sys(err, e, "%s: cannot look at it", path);
    }
    if (entry.kind == HPCW_I_NOTHING) {
        return hpcw_i_fail(err, HPCW_ENOENT, "%s: expected a file, as the manifest lists it, got none", path);
    }
    if (!cJSON_IsNumber(size) || (double)entry.size != size->valuedouble) {
        return hpcw_i_fail(err, HPCW_ECHECKSUM, "%s: size: expected %.0f bytes, got %" PRIu64, path,
                           cJSON_IsNumber(size) ? size->valuedouble : -1.0, entry.size);
    }
    if (!cJSON_IsString(text)) {
        return HPCW_OK; /* the dataset was written without checksums */
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

static hpcw_status check_content(const struct checking *c, const struct entry *entry, hpcw_error *err) {
    if (*entry->name == '\0') {
        const cJSON *name = cJSON_GetObjectItemCaseSensitive(entry->json, "path");
        return hpcw_i_fail(
            err, HPCW_EFORMAT, "%s/" GEN_MANIFEST ": file %zu: expected a path below the directory, got %.100s",
            c->check->directory, entry->index, cJSON_IsString(name) ? name->valuestring : "none");
    }
    char path[GEN_DIRECTORY_PATH];
    gen_directory_path(c->check->directory, entry->name, path);
    return check_digest(entry->json, path, err);
}

static hpcw_status check_file(void *context, void *state, uint64_t index, hpcw_error *err) {
    struct checking *c = context;
    struct entry *entry = &c->entry[index];
    hpcw_error e = {.message = ""};
    (void)state;
    if (check_content(c, entry, &e) == HPCW_OK) {
        return HPCW_OK;
    }
    entry->bad = true;
    return found(c, order_of(c, 1, (size_t)index), *entry->name == '\0' ? GEN_MANIFEST : entry->name, &e, err);
}

/* ---- structure ---- */

/* Returns whether a file is already known to be damaged. Its content would then give misleading faults. */
static bool is_damaged(const struct checking *c, size_t f, const struct entry *entry, bool together) {
    bool bad = entry->bad;
    for (size_t i = entry->index; together && i < c->count && !bad; i++) {
        bad = c->entry[i].bad && gen_format_of_path(c->entry[i].name) == f;
    }
    return bad;
}

/* Checks structure and content of one file. Files that are read together, as a set or directory, are all
 * checked with the first of them. */
static hpcw_status check_structure(void *context, void *state, uint64_t index, hpcw_error *err) {
    struct checking *c = context;
    const struct entry *entry = &c->entry[index];
    (void)state;
    size_t f = gen_format_of_path(entry->name);
    const bool beside = gen_format_is_beside(entry->name);
    bool together =
        f < gen_format_count && !beside && (gen_format[f]->container || gen_format[f]->folder != NULL);
    if (f == gen_format_count || (together && c->first[f] != index) || is_damaged(c, f, entry, together)) {
        return HPCW_OK;
    }
    char path[GEN_DIRECTORY_PATH];
    const char *name = together && gen_format[f]->folder != NULL ? gen_format[f]->folder : entry->name;
    hpcw_error e = {.message = ""};
    uint64_t files;
    gen_directory_path(c->check->directory, name, path);
    return gen_format[f]->verify(path, true, &files, &e) == HPCW_OK
               ? HPCW_OK
               : found(c, order_of(c, 2, (size_t)index), name, &e, err);
}

static hpcw_status check_files(struct checking *c, hpcw_error *err) {
    const struct gen_pool_work content = {.name = "verify", .context = c, .step = check_file};
    hpcw_status s = gen_pool_run(c->check->jobs, 0, c->count, 1, &content, err);
    if (s != HPCW_OK) {
        return s;
    }
    for (size_t i = c->count; i-- > 0;) {
        c->first[gen_format_of_path(c->entry[i].name)] = i;
    }
    const struct gen_pool_work structure = {.name = "verify", .context = c, .step = check_structure};
    return gen_pool_run(c->check->jobs, 0, c->count, 1, &structure, err);
}

/* ---- the checksum list ---- */

/* Checks one line of the checksum list and advances *list past it. */
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

/* Compares the digests in the checksum list with those in the manifest, and the listed digest of the manifest
 * with that of the file. */
static hpcw_status check_list(const struct checking *c, hpcw_error *err) {
    char path[GEN_DIRECTORY_PATH];
    char manifest[GEN_DIRECTORY_PATH];
    char *text = NULL;
    struct gen_digest digest;
    char now[GEN_DIGEST_TEXT];
    gen_directory_path(c->check->directory, GEN_CHECKSUMS, path);
    gen_directory_path(c->check->directory, GEN_MANIFEST, manifest);
    hpcw_error e = {.message = ""};
    hpcw_status s = gen_directory_read(path, &text, &e);
    if (s == HPCW_ENOENT && cJSON_GetObjectItemCaseSensitive(c->entry[0].json, "xxh128") == NULL) {
        return HPCW_OK; /* the dataset was written without checksums */
    }
    if (s != HPCW_OK) {
        *err = e;
        return s;
    }
    /* The digest of the manifest is checked first: a changed manifest may also contradict other lines of the
     * list. */
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
        const cJSON *name = cJSON_GetObjectItemCaseSensitive(c->entry[i].json, "path");
        const cJSON *want = cJSON_GetObjectItemCaseSensitive(c->entry[i].json, "xxh128");
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

/* ---- every byte ---- */

static bool order_of_name(void *context, const char *name, uint64_t *order) {
    const struct checking *c = context;
    const struct entry *entry = find(c, name);
    *order = order_of(c, 3, entry == NULL ? c->count : entry->index);
    /* Files that the manifest does not list are reported when the manifest is compared. */
    return entry != NULL ? !entry->bad : strcmp(name, GEN_MANIFEST) == 0 || strcmp(name, GEN_CHECKSUMS) == 0;
}

/* Sets the sizes and digests of a range of all files of a format to those in the manifest. */
static hpcw_status take_entries(const struct checking *c, const struct gen_run *run,
                                const struct gen_format *format, struct gen_range *range, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    for (uint64_t k = 0; s == HPCW_OK && k < range->end; k++) {
        struct gen_unit unit;
        s = format->unit(run->dataset, k, &unit, err);
        const struct entry *entry = s == HPCW_OK ? find(c, unit.path) : NULL;
        const cJSON *json = entry == NULL ? NULL : entry->json;
        const cJSON *text = cJSON_GetObjectItemCaseSensitive(json, "xxh128");
        (void)gen_directory_listed_size(json, &range->file[k].size);
        if (cJSON_IsString(text)) {
            (void)gen_digest_parse(text->valuestring, &range->file[k].digest);
        }
    }
    return s;
}

static hpcw_status compare_all(struct checking *c, struct gen_run *run, struct gen_ranges *ranges,
                               hpcw_error *err) {
    bool any_bad = false;
    hpcw_status s = HPCW_OK;
    for (size_t f = 0; s == HPCW_OK && f < gen_format_count; f++) {
        if (run->dataset->formats >> f & 1) {
            s = gen_ranges_of_all(run, gen_format[f], &run->outputs, &ranges[f], err);
            s = s == HPCW_OK ? take_entries(c, run, gen_format[f], ranges[f].range, err) : s;
        }
    }
    for (size_t i = 0; i < c->count; i++) {
        any_bad = any_bad || c->entry[i].bad;
    }
    if (s == HPCW_OK) {
        s = gen_write_truth(run, ranges, err);
    }
    return s == HPCW_OK && !any_bad ? gen_write_manifest(run, ranges, true, err) : s;
}

static hpcw_status check_deep(struct checking *c, hpcw_error *err) {
    char path[GEN_DIRECTORY_PATH];
    struct gen_dataset d = {0};
    gen_directory_path(c->check->directory, GEN_MANIFEST, path);
    const struct gen_compare compare = {
        .directory = c->check->directory, .faults = &c->check->faults, .order = order_of_name, .context = c};
    struct gen_run run = {.dataset = &d,
                          .directory = c->check->directory,
                          .comm = hpcw_i_comm_or_self(NULL),
                          .jobs = c->check->jobs,
                          .parts = 1,
                          .checksums = cJSON_HasObjectItem(c->entry[0].json, "xxh128"),
                          .outputs = gen_compare_source(&compare)};
    struct gen_ranges ranges[GEN_MOST_FORMATS] = {{0}};
    hpcw_error e = {.message = ""};
    hpcw_status s;
    if (gen_dataset_of_manifest(path, c->text, c->manifest, &d, &e) != HPCW_OK) {
        s = found(c, order_of(c, 3, 0), GEN_MANIFEST, &e, err);
    } else {
        s = gen_dataset_fingerprint(&d, run.fingerprint, err);
        s = s == HPCW_OK ? compare_all(c, &run, ranges, err) : s;
    }
    gen_ranges_free(ranges);
    gen_dataset_free(&d);
    return s;
}

/* ---- all ---- */

hpcw_status gen_check_dataset(struct gen_check *check, hpcw_error *err) {
    struct checking c = {.check = check};
    hpcw_error e = {.message = ""};
    hpcw_status s = load(&c, &e);
    if (s != HPCW_OK) {
        gen_faults_add(&check->faults, 0, GEN_MANIFEST, &e);
    } else {
        hpcw_status l = check_list(&c, &e);
        s = l == HPCW_OK ? HPCW_OK : found(&c, 0, GEN_CHECKSUMS, &e, err);
        s = s == HPCW_OK ? check_files(&c, &e) : s;
        s = s == HPCW_OK && check->deep ? check_deep(&c, &e) : s;
        check->files = c.first[gen_format_count];
    }
    gen_faults_sort(&check->faults);
    if (check->faults.no_memory) {
        s = hpcw_i_fail_memory(err, check->directory, 0, "a list of faults");
    } else if (check->faults.count > 0) {
        s = hpcw_i_fail(err, check->faults.fault[0].code, "%s", check->faults.fault[0].message);
    } else if (s != HPCW_OK) {
        *err = e; /* failure of the check itself */
    }
    cJSON_Delete(c.manifest);
    hpcw_i_free(c.text);
    hpcw_i_free(c.entry);
    hpcw_i_free((void *)(uintptr_t)c.sorted);
    return s;
}
