/* SPDX-License-Identifier: BSD-3-Clause */
/* What `info` prints for a directory: its contents, and for a dataset also the run. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "gen/cli/common/common.h"
#include "gen/dataset/directory/directory.h"
#include "libreader/source.h"
#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/io/sys.h"
#include "libwriter/io/tree.h"

/* ---- what a file is ---- */

const char *gen_cli_kind(const char *path) {
    static const struct {
        const char *name, *magic;
        size_t size;
    } known[] = {{"an HDF5 file", "\x89HDF\r\n\x1a\n", 8},
                 {"a netCDF file", "CDF", 3},
                 {"a NumPy array", "\x93NUMPY", 6},
                 {"a ZIP file", "PK\3\4", 4},
                 {"a gzip file", "\x1f\x8b", 2},
                 {"a Zstandard file", "\x28\xb5\x2f\xfd", 4},
                 {"a Parquet file", "PAR1", 4},
                 {"a program",
                  "\x7f"
                  "ELF",
                  4},
                 {"an OTF2 file", "OTF2", 4},
                 {"an HTML page", "<!DOCTYPE html", 14},
                 {"a PNG image", "\x89PNG", 4},
                 {"a PDF file", "%PDF", 4},
                 {"a script", "#!", 2}};
    unsigned char head[256];
    struct hpcw_i_entry entry;
    size_t size = 0;
    int fd;
    int e = hpcw_i_sys_look(path, true, &entry);
    if (e == 0 && entry.kind == HPCW_I_FILE &&
        (e = hpcw_i_sys_open(path, O_RDONLY | O_NONBLOCK, 0, &fd)) == 0) {
        e = hpcw_i_sys_pread(fd, head, sizeof head, 0, &size);
        hpcw_i_sys_drop(fd);
    }
    if (e == 0 && entry.kind == HPCW_I_FILE && read_source_is_unfinished(path)) {
        return "an unfinished file, whose writer still runs, or died and has to write it again";
    }
    if (e != 0 || entry.kind != HPCW_I_FILE || size == 0) {
        return e != 0                           ? "a file that cannot be read"
               : entry.kind == HPCW_I_DIRECTORY ? "a directory"
               : entry.kind == HPCW_I_FILE      ? "an empty file"
                                                : "a special file";
    }
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (size >= known[i].size && memcmp(head, known[i].magic, known[i].size) == 0) {
            return known[i].name;
        }
    }
    size_t printable = 0;
    while (printable < size && (head[printable] >= ' ' || strchr("\t\n\r", head[printable]) != NULL) &&
           head[printable] != 0) {
        printable++;
    }
    return printable < size ? "other data" : strchr("{[", head[0]) != NULL ? "JSON" : "a text";
}

/* ---- what is in a directory ---- */

struct content {
    char *name;
    const char *what;
    uint64_t files, bytes, stored;
};

struct contents {
    struct content *item;
    size_t count, capacity;
    struct content all;
};

static void free_contents(struct contents *c) {
    for (size_t i = 0; i < c->count; i++) {
        hpcw_i_free(c->item[i].name);
    }
    hpcw_i_free(c->item);
}

static int add_file(void *context, int at, const char *name, const struct hpcw_i_entry *entry) {
    struct content *c = context;
    (void)at;
    (void)name;
    if (entry->kind != HPCW_I_DIRECTORY) {
        c->files++;
        c->bytes += entry->size;
        c->stored += entry->freed;
    }
    return 0;
}

static int by_name(const void *a, const void *b) {
    const struct content *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static int largest_first(const void *a, const void *b) {
    const struct content *x = a, *y = b;
    return x->bytes != y->bytes ? (x->bytes < y->bytes) - (x->bytes > y->bytes) : strcmp(x->name, y->name);
}

/* Lists the names in a directory, sorted. */
static hpcw_status list(const char *dir, struct contents *c, hpcw_error *err) {
    struct hpcw_i_listing *listing;
    const char *name;
    int e = hpcw_i_sys_list(dir, &listing);
    bool memory = true;
    if (e != 0) {
        return hpcw_i_fail_sys(err, e, "%s: cannot read the directory", dir);
    }
    while (memory && (e = hpcw_i_sys_list_next(listing, &name)) == 0 && name != NULL) {
        struct content *grown = hpcw_i_grow(c->item, &c->capacity, c->count + 1, sizeof *grown);
        memory = grown != NULL;
        if (memory) {
            c->item = grown;
            grown[c->count] = (struct content){.name = hpcw_i_strdup(name)};
            memory = grown[c->count].name != NULL;
            c->count += memory;
        }
    }
    hpcw_i_sys_list_free(listing);
    if (c->count > 1) {
        qsort(c->item, c->count, sizeof *c->item, by_name);
    }
    return !memory  ? hpcw_i_fail_memory(err, dir, c->count, "names")
           : e != 0 ? hpcw_i_fail_sys(err, e, "%s: cannot read the directory", dir)
                    : HPCW_OK;
}

static bool exists(const char *dir, const char *name) {
    char path[GEN_DIRECTORY_PATH];
    struct hpcw_i_entry entry;
    gen_directory_path(dir, name, path);
    return hpcw_i_sys_look(path, true, &entry) == 0 && entry.kind == HPCW_I_FILE;
}

/* Returns the name of the format of a file or directory. NULL if it has none or cannot be read. */
static const char *format_of(const char *path) {
    size_t f;
    return gen_format_of_file(path, &f, NULL) == HPCW_OK && f < gen_format_count ? gen_format[f]->name : NULL;
}

/* Returns what a path is: the name of its format, "dataset", or the kind of file, such as "text". An unknown
 * directory gets the format of its first file with a known format. */
static const char *what_is(const char *path) {
    enum { TRIED = 16 };
    struct contents inside = {0};
    const char *what = format_of(path);
    if (what == NULL && (exists(path, GEN_MANIFEST) || exists(path, GEN_PARAMETERS))) {
        what = "dataset";
    }
    if (what == NULL && strcmp(gen_cli_kind(path), "a directory") == 0 &&
        list(path, &inside, NULL) == HPCW_OK) {
        for (size_t i = 0; what == NULL && i < inside.count && i < TRIED; i++) {
            char file[GEN_DIRECTORY_PATH];
            gen_directory_path(path, inside.item[i].name, file);
            what = format_of(file);
        }
    }
    free_contents(&inside);
    if (what == NULL) {
        const char *kind = gen_cli_kind(path);
        what = kind + (strncmp(kind, "a ", 2) == 0 ? 2 : strncmp(kind, "an ", 3) == 0 ? 3 : 0);
    }
    return what;
}

/* Returns what a file in the directory of a dataset is for, if its name tells that; otherwise NULL. */
static const char *what_is_list(const char *name) {
    static const char *const list[][2] = {{GEN_MANIFEST, "manifest"},
                                          {GEN_TRUTH, "truth"},
                                          {GEN_CHECKSUMS, "checksums"},
                                          {GEN_STATE_DIR, "state of the run"}};
    const char *what = NULL;
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        what = strcmp(name, list[i][0]) == 0 ? list[i][1] : what;
    }
    return what;
}

/* Finds the sizes of all files in a directory, but the kinds of only the largest 256: a kind is found by
 * opening the file, and there can be many thousand files. */
static hpcw_status look_into(const char *dir, bool dataset, struct contents *c, hpcw_error *err) {
    enum { OPENED = 256 };
    char path[GEN_DIRECTORY_PATH];
    hpcw_status s = list(dir, c, err);
    for (size_t i = 0; s == HPCW_OK && i < c->count; i++) {
        struct content *item = &c->item[i];
        gen_directory_path(dir, item->name, path);
        if (hpcw_i_tree_walk(AT_FDCWD, path, add_file, item) != 0) {
            item->what = "cannot be read";
        }
        c->all.files += item->files;
        c->all.bytes += item->bytes;
        c->all.stored += item->stored;
    }
    if (s == HPCW_OK && c->count > 1) {
        qsort(c->item, c->count, sizeof *c->item, largest_first);
    }
    for (size_t i = 0; s == HPCW_OK && i < c->count; i++) {
        struct content *item = &c->item[i];
        const char *of_dataset = dataset ? what_is_list(item->name) : NULL;
        gen_directory_path(dir, item->name, path);
        if (item->what == NULL) {
            item->what = of_dataset != NULL ? of_dataset : i < OPENED ? what_is(path) : "";
        }
    }
    return s;
}

/* ---- the run of a dataset ---- */

/* Adds a number that stands in the text of the manifest. It keeps all digits, where cJSON would round a large
 * number. */
static void put_exact(struct hpcw_i_json *json, const char *text, const char *key) {
    char name[32];
    (void)snprintf(name, sizeof name, "\"%s\":", key);
    const char *at = strstr(text, name);
    if (at != NULL) {
        hpcw_i_json_put_u64(json, key, strtoull(at + strlen(name), NULL, 10));
    }
}

static void put_text(struct hpcw_i_json *json, const char *key, const cJSON *value) {
    if (cJSON_IsString(value)) {
        hpcw_i_json_put_str(json, key, value->valuestring);
    }
}

/* Adds `value` as a number: the number itself, the number of elements of an array, 1 for an object, 0 for null. */
static void put_count(struct hpcw_i_json *json, const char *key, const cJSON *value) {
    if (cJSON_IsArray(value)) {
        hpcw_i_json_put_u64(json, key, (uint64_t)cJSON_GetArraySize(value));
    } else if (cJSON_IsObject(value) || cJSON_IsNull(value)) {
        hpcw_i_json_put_u64(json, key, cJSON_IsObject(value) ? 1 : 0);
    } else if (cJSON_IsNumber(value) && value->valuedouble >= 0 && value->valuedouble < 1e15) {
        hpcw_i_json_put_u64(json, key, (uint64_t)value->valuedouble);
    }
}

/* Adds the number of faults in each list of truth.json. `list` NULL: the format has no such lists. */
static void put_injected(struct hpcw_i_json *json, const struct gen_report *r,
                         const struct gen_injected *list) {
    for (; list != NULL && list->key != NULL; list++) {
        put_count(json, list->key, gen_report_truth(r, list->path));
    }
}

/* Adds the number that a fault has as its member `key`, or null if it has none. */
static void put_number_of(struct hpcw_i_json *json, const cJSON *fault, const char *key) {
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(fault, key);
    hpcw_i_json_key(json, key);
    if (cJSON_IsNumber(value) && strcmp(key, "phase") == 0) {
        hpcw_i_json_u64(json, (uint64_t)value->valuedouble);
    } else if (cJSON_IsNumber(value)) {
        hpcw_i_json_f64(json, value->valuedouble);
    } else {
        hpcw_i_json_null(json);
    }
}

/* Adds the place of a fault: its host, its file, its two switches, or its rank. Adds null for a scenario, which is
 * an imbalance of the whole run. */
static void put_where(struct hpcw_i_json *json, const cJSON *fault) {
    const cJSON *host = cJSON_GetObjectItemCaseSensitive(fault, "host");
    const cJSON *file = cJSON_GetObjectItemCaseSensitive(fault, "file");
    const cJSON *a = cJSON_GetObjectItemCaseSensitive(fault, "switch_a");
    const cJSON *b = cJSON_GetObjectItemCaseSensitive(fault, "switch_b");
    const cJSON *rank = cJSON_GetObjectItemCaseSensitive(fault, "rank");
    char text[64] = "";
    if (cJSON_IsNumber(a) && cJSON_IsNumber(b)) {
        (void)snprintf(text, sizeof text, "switches %.0f and %.0f", a->valuedouble, b->valuedouble);
    } else if (cJSON_IsNumber(rank)) {
        (void)snprintf(text, sizeof text, "rank %.0f", rank->valuedouble);
    }
    const char *where = cJSON_IsString(host)   ? host->valuestring
                        : cJSON_IsString(file) ? file->valuestring
                                               : text;
    hpcw_i_json_key(json, "where");
    if (where[0] != '\0') {
        hpcw_i_json_str(json, where);
    } else {
        hpcw_i_json_null(json);
    }
}

/* Adds all faults in a part of truth.json. An object of truth.json is a fault if it has a visibility or a cost. */
static void put_faults(struct hpcw_i_json *json, const cJSON *part) {
    const cJSON *item;
    if (cJSON_HasObjectItem(part, "visibility") || cJSON_HasObjectItem(part, "cost_s")) {
        hpcw_i_json_flat_object(json);
        put_text(json, "kind", cJSON_GetObjectItemCaseSensitive(part, "kind"));
        put_where(json, part);
        put_number_of(json, part, "phase");
        put_number_of(json, part, "factor");
        put_number_of(json, part, "cost_s");
        hpcw_i_json_end_object(json);
        return;
    }
    cJSON_ArrayForEach(item, part) {
        put_faults(json, item);
    }
}

static void put_run(struct hpcw_i_json *json, const char *text, const cJSON *manifest, const cJSON *truth,
                    bool faults) {
    static const struct gen_injected of_machine[] = {{"slow_ports", "machine.slow_ports"},
                                                     {"slow_cables", "machine.slow_cables"},
                                                     {"slow_nodes", "machine.slow_nodes"},
                                                     {NULL, NULL}};
    const struct gen_report r = {.truth = truth}, m = {.truth = manifest};
    put_text(json, "hpcw", gen_report_truth(&m, "parameters.hpcw"));
    put_exact(json, text, "ranks");
    put_text(json, "preset", gen_report_truth(&m, "parameters.preset"));
    put_text(json, "scale", gen_report_truth(&m, "parameters.scale"));
    put_exact(json, text, "seed");
    put_text(json, "workload", gen_report_truth(&r, "clog2.workload"));
    put_count(json, "nodes", gen_report_truth(&r, "machine.nodes"));
    put_count(json, "phases", gen_report_truth(&r, "clog2.phases"));
    put_count(json, "checkpoints", gen_report_truth(&r, "rank2file.checkpoints"));
    hpcw_i_json_key_object(json, "injected");
    put_injected(json, &r, of_machine);
    for (size_t f = 0; f < gen_format_count; f++) {
        put_injected(json, &r, gen_format[f]->injected);
    }
    put_text(json, "load_scenario", gen_report_truth(&r, "vom.scenario.kind"));
    hpcw_i_json_end_object(json);
    if (faults) {
        hpcw_i_json_key_array(json, "faults");
        put_faults(json, truth);
        hpcw_i_json_end_array(json);
    }
}

static hpcw_status read_run(const char *dir, bool faults, struct hpcw_i_json *json, hpcw_error *err) {
    char path[GEN_DIRECTORY_PATH];
    char *text = NULL;
    cJSON *manifest = NULL, *truth = NULL;
    gen_directory_path(dir, GEN_MANIFEST, path);
    hpcw_status s = gen_directory_read_json(path, &manifest, err);
    s = s == HPCW_OK ? gen_directory_read(path, &text, err) : s;
    if (s == HPCW_OK) {
        hpcw_error ignored;
        gen_directory_path(dir, GEN_TRUTH, path);
        /* Without truth.json, its members are left out. `hpcgen verify` tells what is wrong with the file. */
        if (gen_directory_read_json(path, &truth, &ignored) != HPCW_OK) {
            truth = NULL;
        }
        put_run(json, text, manifest, truth, faults);
    }
    hpcw_i_free(text);
    cJSON_Delete(manifest);
    cJSON_Delete(truth);
    return s;
}

void gen_cli_put_unfinished(struct hpcw_i_json *json) {
    hpcw_i_json_put_str(json, "state", "unfinished");
    hpcw_i_json_put_str(json, "next", GEN_TO_FINISH);
}

hpcw_status gen_cli_put_contents(const char *dir, bool faults, struct hpcw_i_json *json, hpcw_error *err) {
    struct contents c = {0};
    const bool complete = exists(dir, GEN_MANIFEST), dataset = complete || exists(dir, GEN_PARAMETERS);
    hpcw_status s = look_into(dir, dataset, &c, err);
    hpcw_i_json_put_str(json, "format", dataset ? "dataset" : "directory");
    if (complete) {
        hpcw_i_json_put_str(json, "state", "complete");
    } else if (dataset) {
        gen_cli_put_unfinished(json);
    }
    hpcw_i_json_put_u64(json, "files", c.all.files);
    hpcw_i_json_put_u64(json, "bytes", c.all.bytes);
    hpcw_i_json_put_u64(json, "stored_bytes", c.all.stored);
    s = s == HPCW_OK && complete ? read_run(dir, faults, json, err) : s;
    hpcw_i_json_key_array(json, "contents");
    for (size_t i = 0; s == HPCW_OK && i < c.count; i++) {
        hpcw_i_json_flat_object(json);
        hpcw_i_json_put_str(json, "name", c.item[i].name);
        hpcw_i_json_put_str(json, "what", c.item[i].what);
        hpcw_i_json_put_u64(json, "files", c.item[i].files);
        hpcw_i_json_put_u64(json, "bytes", c.item[i].bytes);
        hpcw_i_json_end_object(json);
    }
    hpcw_i_json_end_array(json);
    free_contents(&c);
    return s;
}
