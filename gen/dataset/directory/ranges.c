/* SPDX-License-Identifier: BSD-3-Clause */
/* Files below .hpcw with the state of written ranges. Such a file may come from anywhere, so it must agree with
 * the description of the dataset. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/dataset/directory/directory.h"
#include "gen/dataset/directory/lines.h"
#include "gen/format/pending.h"
#include "gen/spec/stream.h"
#include "libreader/source.h"
#include "libwriter/base/buf.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/io/sink.h"
#include "libwriter/io/sys.h"

struct gen_slice gen_part_of(const struct gen_dataset *d, size_t format, uint32_t part, uint32_t parts) {
    uint64_t units = (d->formats >> format & 1) != 0 ? gen_format[format]->units(d) : 0;
    return (struct gen_slice){units * part / parts, units * (part + (uint64_t)1) / parts};
}

void gen_range_free(struct gen_range *range) {
    hpcw_i_free(range->file);
    cJSON_Delete(range->partial);
    *range = (struct gen_range){0};
}

static bool is_text(const cJSON *object, const char *key, const char *want) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsString(item) && strcmp(item->valuestring, want) == 0;
}

hpcw_status gen_directory_size(const char *path, uint64_t *size, hpcw_error *err) {
    int e = hpcw_i_sys_size_of(path, size);
    return e == 0 ? HPCW_OK : hpcw_i_fail_sys(err, e, "%s: cannot get its size", path);
}

hpcw_status gen_directory_find(const char *path, bool *is, uint64_t *size, hpcw_error *err) {
    struct hpcw_i_entry entry;
    int e = hpcw_i_sys_look(path, false, &entry);
    *is = e == 0 && entry.kind == HPCW_I_FILE;
    *size = *is ? entry.size : 0;
    return e == 0 ? HPCW_OK : hpcw_i_fail_sys(err, e, "%s: cannot look at it", path);
}

/* Sets *has to whether a file of this name exists and has this size. *now becomes its size, and is unchanged if
 * there is no such file. */
static hpcw_status has_size(const char *dir, const char *name, uint64_t size, bool *has, uint64_t *now,
                            hpcw_error *err) {
    char path[GEN_DIRECTORY_PATH];
    bool is = false;
    uint64_t here;
    gen_directory_path(dir, name, path);
    hpcw_status s = gen_directory_find(path, &is, &here, err);
    *has = is && here == size;
    *now = is ? here : *now;
    return s;
}

/* ---- the state of one range: a file with one JSON text per line ----
 *
 *  {"fingerprint":"...","format":"vom","begin":"0","end":"4096"}
 *  {"path":"vom/data.0.json.br","size":"8312","xxh128":"..."}      for each data file
 *  {"partial":{...},"xxh128":"..."}                                partial results, and their digest */
#define PARTIAL "{\"partial\":"
#define DIGEST ",\"xxh128\":\""

static hpcw_status end_line(struct hpcw_i_buf *buf, struct hpcw_i_json *json, hpcw_error *err) {
    hpcw_i_json_end_object(json);
    hpcw_status s = hpcw_i_json_finish(json, err);
    return s != HPCW_OK || hpcw_i_buf_append(buf, "\n", 1)
               ? s
               : hpcw_i_fail_memory(err, NULL, 0, "the state of a range");
}

static hpcw_status add_head(struct hpcw_i_buf *buf, const struct gen_run *run, const struct gen_format *format,
                            const struct gen_range *r, hpcw_error *err) {
    struct hpcw_i_json json;
    hpcw_i_json_open_buf(&json, buf, NULL);
    hpcw_i_json_begin_object(&json);
    hpcw_i_json_put_str(&json, "fingerprint", run->fingerprint);
    hpcw_i_json_put_str(&json, "format", format->name);
    gen_partial_put(&json, "begin", r->begin);
    gen_partial_put(&json, "end", r->end);
    return end_line(buf, &json, err);
}

static hpcw_status add_unit(struct hpcw_i_buf *buf, const struct gen_run *run, const struct gen_format *format,
                            const struct gen_range *r, uint64_t k, hpcw_error *err) {
    const struct gen_stored *file = &r->file[k - r->begin];
    struct gen_unit unit;
    hpcw_status s = format->unit(run->dataset, k, &unit, err);
    if (s != HPCW_OK) {
        return s;
    }
    struct hpcw_i_json json;
    hpcw_i_json_open_buf(&json, buf, NULL);
    hpcw_i_json_begin_object(&json);
    hpcw_i_json_put_str(&json, "path", unit.path);
    gen_partial_put(&json, "size", file->size);
    if (r->digested) {
        char text[GEN_DIGEST_TEXT];
        gen_digest_text(&file->digest, text);
        hpcw_i_json_put_str(&json, "xxh128", text);
    }
    return end_line(buf, &json, err);
}

hpcw_status gen_directory_write_range(const struct gen_run *run, const struct gen_format *format,
                                      const struct gen_range *range, const void *partial, size_t size,
                                      hpcw_error *err) {
    char name[GEN_UNIT_PATH];
    gen_directory_range_name(format, range->begin, range->end, name);
    struct gen_stream out = {0};
    hpcw_status s = gen_directory_open(run, name, run->durability, &out.sink, err);
    for (uint64_t k = range->begin; s == HPCW_OK && k < range->end; k++) {
        s = k == range->begin ? add_head(&out.buf, run, format, range, err) : HPCW_OK;
        s = s == HPCW_OK ? add_unit(&out.buf, run, format, range, k, err) : s;
        s = s == HPCW_OK ? gen_stream_flush(&out, GEN_STREAM_PIECE, err) : s;
    }
    if (s == HPCW_OK) {
        struct gen_digest digest;
        char text[GEN_DIGEST_TEXT];
        gen_digest_bytes(partial, size, &digest);
        gen_digest_text(&digest, text);
        const struct hpcw_i_piece rest[] = {
            {out.buf.data, out.buf.size}, {PARTIAL, sizeof PARTIAL - 1}, {partial, size},
            {DIGEST, sizeof DIGEST - 1},  {text, GEN_DIGEST_TEXT - 1},   {"\"}\n", 3}};
        s = hpcw_i_sink_write(out.sink, out.at, rest, sizeof rest / sizeof rest[0], err);
    }
    hpcw_i_buf_free(&out.buf);
    if (s == HPCW_OK) {
        s = hpcw_sink_publish(out.sink, err);
    }
    hpcw_sink_free(out.sink);
    return s;
}

/* Reads the digest of a file from its JSON object. If there is none, range->digested becomes false. */
static void take_digest(struct gen_range *range, const cJSON *item, struct gen_digest *digest) {
    const cJSON *text = cJSON_GetObjectItemCaseSensitive(item, "xxh128");
    *digest = (struct gen_digest){0};
    range->digested = range->digested && cJSON_IsString(text) && gen_digest_parse(text->valuestring, digest);
}

static hpcw_status refuse_size(const char *dir, const char *name, uint64_t want, uint64_t got,
                               hpcw_error *err) {
    return got == UINT64_MAX
               ? hpcw_i_fail(err, HPCW_EFORMAT, "%s/%s: expected a file of %" PRIu64 " bytes, got none", dir,
                             name, want)
               : hpcw_i_fail(err, HPCW_EFORMAT,
                             "%s/%s: expected a file of %" PRIu64 " bytes, got one of %" PRIu64, dir, name,
                             want, got);
}

/* Reads the line of one data file, and checks that the file exists and has the right size. */
static hpcw_status take_unit(const struct gen_run *run, const struct gen_format *format,
                             struct gen_range *range, uint64_t index, const cJSON *item, hpcw_error *err) {
    const char *dir = run->directory;
    struct gen_stored *file = &range->file[index - range->begin];
    struct gen_unit unit;
    hpcw_status s = format->unit(run->dataset, index, &unit, err);
    if (s == HPCW_OK && !is_text(item, "path", unit.path)) {
        s = hpcw_i_fail(err, HPCW_EFORMAT, "file %" PRIu64 ": expected %s, got another path", index, unit.path);
    }
    if (s == HPCW_OK) {
        s = gen_partial_u64(item, "size", &file->size, err);
    }
    if (s != HPCW_OK) {
        return s;
    }
    /* A pending file has a temporary name until all parts are written. An interrupted join may have renamed it
     * already. */
    char pending[GEN_UNIT_PATH];
    bool is_pending = gen_is_pending(format, run->dataset, range->begin, range->end, index);
    gen_pending_name(format, index, pending);
    bool has;
    uint64_t now = UINT64_MAX;
    s = has_size(dir, unit.path, file->size, &has, &now, err);
    if (s == HPCW_OK && !has && is_pending) {
        s = has_size(dir, pending, file->size, &has, &now, err);
    }
    if (s != HPCW_OK) {
        return s;
    }
    if (!has) {
        return refuse_size(dir, is_pending ? pending : unit.path, file->size, now, err);
    }
    take_digest(range, item, &file->digest);
    return HPCW_OK;
}

static hpcw_status take_head(const struct gen_run *run, const struct gen_format *format, const cJSON *head,
                             struct gen_range *range, hpcw_error *err) {
    const uint64_t units = format->units(run->dataset);
    if (!is_text(head, "fingerprint", run->fingerprint) || !is_text(head, "format", format->name)) {
        return hpcw_i_fail(err, HPCW_EFORMAT, "expected format %s and fingerprint %s, got others", format->name,
                           run->fingerprint);
    }
    hpcw_status s = gen_partial_u64(head, "begin", &range->begin, err);
    s = s == HPCW_OK ? gen_partial_u64(head, "end", &range->end, err) : s;
    if (s == HPCW_OK && (range->begin >= range->end || range->end > units)) {
        s = hpcw_i_fail(err, HPCW_EFORMAT,
                        "expected a range of the %" PRIu64 " files, got %" PRIu64 " to %" PRIu64, units,
                        range->begin, range->end);
    }
    return s;
}

/* Reads a line that must exist. */
static hpcw_status next_line(struct gen_lines *lines, char **text, hpcw_error *err) {
    const hpcw_status s = gen_lines_next(lines, text, err);
    return s != HPCW_OK || *text != NULL
               ? s
               : hpcw_i_fail(err, HPCW_EFORMAT, "line %" PRIu64 ": expected JSON, got the end of the file",
                             lines->number);
}

/* Parses a line. The caller deletes the JSON, also after a failure. */
static hpcw_status parse(const struct gen_lines *lines, const char *text, cJSON **json, hpcw_error *err) {
    *json = cJSON_ParseWithOpts(text, NULL, 1);
    return *json != NULL ? HPCW_OK
                         : hpcw_i_fail(err, HPCW_EFORMAT, "line %" PRIu64 ": expected JSON, got something else",
                                       lines->number);
}

static hpcw_status next_json(struct gen_lines *lines, cJSON **json, hpcw_error *err) {
    char *text;
    *json = NULL;
    const hpcw_status s = next_line(lines, &text, err);
    return s == HPCW_OK ? parse(lines, text, json, err) : s;
}

/* Reads the last line. The partial results exist only here, so a digest protects them against damage. */
static hpcw_status take_partial(struct gen_lines *lines, struct gen_range *range, hpcw_error *err) {
    char *text;
    cJSON *json;
    hpcw_status s = next_line(lines, &text, err);
    if (s != HPCW_OK) {
        return s;
    }
    const size_t size = strlen(text);
    const size_t before = sizeof PARTIAL - 1;
    const size_t after = sizeof DIGEST - 1 + GEN_DIGEST_TEXT - 1 + 2;
    if (size < before + after || memcmp(text, PARTIAL, before) != 0 ||
        memcmp(text + size - after, DIGEST, sizeof DIGEST - 1) != 0) {
        return hpcw_i_fail(err, HPCW_EFORMAT, "expected the partial results with their digest, got none");
    }
    struct gen_digest digest;
    char want[GEN_DIGEST_TEXT];
    gen_digest_bytes(text + before, size - before - after, &digest);
    gen_digest_text(&digest, want);
    if (memcmp(text + size - (GEN_DIGEST_TEXT - 1) - 2, want, GEN_DIGEST_TEXT - 1) != 0) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "expected partial results with this digest, got others: they are damaged");
    }
    s = parse(lines, text, &json, err);
    range->partial = cJSON_DetachItemFromObjectCaseSensitive(json, "partial");
    cJSON_Delete(json);
    return s != HPCW_OK || cJSON_IsObject(range->partial)
               ? s
               : hpcw_i_fail(err, HPCW_EFORMAT, "expected an object as partial results, got something else");
}

static hpcw_status take_lines(const struct gen_run *run, const struct gen_format *format,
                              struct gen_lines *lines, struct gen_range *range, hpcw_error *err) {
    cJSON *json;
    hpcw_status s = next_json(lines, &json, err);
    if (s == HPCW_OK) {
        s = take_head(run, format, json, range, err);
    }
    cJSON_Delete(json);
    if (s != HPCW_OK) {
        return s;
    }
    range->digested = true;
    range->file = hpcw_i_calloc((size_t)(range->end - range->begin), sizeof *range->file);
    if (range->file == NULL) {
        return hpcw_i_fail_memory(err, NULL, range->end - range->begin, "files");
    }
    for (uint64_t k = range->begin; s == HPCW_OK && k < range->end; k++) {
        s = next_json(lines, &json, err);
        if (s == HPCW_OK) {
            s = take_unit(run, format, range, k, json, err);
        }
        cJSON_Delete(json);
    }
    char *more;
    s = s == HPCW_OK ? take_partial(lines, range, err) : s;
    s = s == HPCW_OK ? gen_lines_next(lines, &more, err) : s;
    return s != HPCW_OK ? s
           : more == NULL
               ? HPCW_OK
               : hpcw_i_fail(err, HPCW_EFORMAT, "expected nothing after the partial results, got line %" PRIu64,
                             lines->number);
}

/* Reads the state of a range. After a failure there is nothing to free. */
static hpcw_status read_range(const char *path, const struct gen_run *run, const struct gen_format *format,
                              struct gen_range *range, hpcw_error *err) {
    struct gen_lines lines;
    *range = (struct gen_range){0};
    hpcw_status s = gen_lines_open(&lines, path, err);
    if (s != HPCW_OK) {
        return s;
    }
    hpcw_error reason = {.message = ""};
    s = take_lines(run, format, &lines, range, &reason);
    gen_lines_close(&lines);
    if (s != HPCW_OK) {
        gen_range_free(range);
        s = read_source_is_of_system(s, &reason)
                ? hpcw_i_fail_as(err, &reason)
                : hpcw_i_fail(err, HPCW_EFORMAT,
                              "%s: not of this dataset, or damaged: %.600s: write its part again", path,
                              reason.message);
    }
    return s;
}

hpcw_status gen_directory_has_range(const struct gen_run *run, const struct gen_format *format,
                                    struct gen_slice units, bool *has, hpcw_error *err) {
    char name[GEN_UNIT_PATH];
    char path[GEN_DIRECTORY_PATH];
    struct gen_range range;
    hpcw_error why;
    gen_directory_range_name(format, units.begin, units.end, name);
    gen_directory_path(run->directory, name, path);
    hpcw_status s = read_range(path, run, format, &range, &why);
    *has = s == HPCW_OK && range.begin == units.begin && range.end == units.end;
    gen_range_free(&range);
    return read_source_is_of_system(s, &why) ? hpcw_i_fail_as(err, &why) : HPCW_OK;
}

/* ---- all ranges of a format ---- */

static int by_begin(const void *a, const void *b) {
    uint64_t x = ((const struct gen_range *)a)->begin;
    uint64_t y = ((const struct gen_range *)b)->begin;
    return x < y ? -1 : x > y;
}

static hpcw_status check_cover(const struct gen_run *run, const struct gen_format *format,
                               const struct gen_range *range, size_t count, hpcw_error *err) {
    const char *dir = run->directory;
    const uint64_t units = format->units(run->dataset);
    uint64_t next = 0;
    for (size_t i = 0; i <= count; i++) {
        uint64_t begin = i < count ? range[i].begin : units;
        if (begin > next) {
            return hpcw_i_fail(err, HPCW_ESTATE,
                               "%s: %s: expected all %" PRIu64 " files, files %" PRIu64 " to %" PRIu64
                               " are not written yet: write the parts that are missing",
                               dir, format->name, units, next, begin - 1);
        }
        if (begin < next) {
            return hpcw_i_fail(err, HPCW_ESTATE,
                               "%s: %s: expected every file once, file %" PRIu64
                               " was written by two runs with different "
                               "--part: remove the .jsonl file of one in " GEN_STATE_DIR,
                               dir, format->name, begin);
        }
        next = i < count ? range[i].end : units;
    }
    return HPCW_OK;
}

/* Calls `take` with the file name of each range of a format, relative to the directory. */
static hpcw_status each_range(const char *dir, const struct gen_format *format,
                              hpcw_status (*take)(void *context, const char *name, hpcw_error *err),
                              void *context, hpcw_error *err) {
    char state[GEN_DIRECTORY_PATH];
    struct hpcw_i_listing *listing;
    const char *name;
    gen_directory_path(dir, GEN_STATE_DIR, state);
    int e = hpcw_i_sys_list(state, &listing);
    if (e != 0) {
        return hpcw_i_fail_sys(err, e, "%s: cannot open the directory", state);
    }
    hpcw_status s = HPCW_OK;
    while (s == HPCW_OK && (e = hpcw_i_sys_list_next(listing, &name)) == 0 && name != NULL) {
        char below[sizeof GEN_STATE_DIR + 256];
        if (gen_directory_is_range(format, name)) {
            (void)snprintf(below, sizeof below, GEN_STATE_DIR "/%s", name);
            s = take(context, below, err);
        }
    }
    hpcw_i_sys_list_free(listing);
    return e == 0 ? s : hpcw_i_fail_sys(err, e, "%s: cannot read the directory", state);
}

struct range_list {
    const struct gen_run *run;
    const struct gen_format *format;
    struct hpcw_i_buf list; /* elements of type struct gen_range */
};

static hpcw_status read_one(void *context, const char *name, hpcw_error *err) {
    struct range_list *r = context;
    struct gen_range one;
    char path[GEN_DIRECTORY_PATH];
    gen_directory_path(r->run->directory, name, path);
    hpcw_status s = read_range(path, r->run, r->format, &one, err);
    if (s == HPCW_OK && !hpcw_i_buf_append(&r->list, &one, sizeof one)) {
        gen_range_free(&one);
        s = hpcw_i_fail_memory(err, path, 0, NULL);
    }
    return s;
}

hpcw_status gen_directory_ranges(const struct gen_run *run, const struct gen_format *format,
                                 struct gen_range **range, size_t *count, hpcw_error *err) {
    struct range_list r = {.run = run, .format = format};
    hpcw_status s = each_range(run->directory, format, read_one, &r, err);
    *range = (struct gen_range *)(void *)r.list.data;
    *count = r.list.size / sizeof **range;
    if (s == HPCW_OK && *count > 0) {
        qsort(*range, *count, sizeof **range, by_begin);
    }
    return s == HPCW_OK ? check_cover(run, format, *range, *count, err) : s;
}

static hpcw_status forget_one(void *context, const char *name, hpcw_error *err) {
    return gen_directory_remove(context, name, err);
}

hpcw_status gen_directory_forget(const struct gen_run *run, const struct gen_format *format, hpcw_error *err) {
    return each_range(run->directory, format, forget_one, (void *)(uintptr_t)run, err);
}

/* ---- a finished dataset with missing files ---- */

bool gen_directory_listed_size(const cJSON *entry, uint64_t *size) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(entry, "size");
    const bool good = cJSON_IsNumber(item) && item->valuedouble >= 0 && item->valuedouble <= 0x1p53;
    *size = good ? (uint64_t)item->valuedouble : 0;
    return good;
}

/* *is: the file of a manifest entry has the right size and, with `content`, the right digest. */
static hpcw_status is_intact(const char *dir, const cJSON *entry, bool content, bool *is, hpcw_error *err) {
    const cJSON *path = cJSON_GetObjectItemCaseSensitive(entry, "path");
    const cJSON *text = cJSON_GetObjectItemCaseSensitive(entry, "xxh128");
    uint64_t size;
    uint64_t now;
    *is = cJSON_IsString(path) && gen_directory_is_below(path->valuestring) &&
          gen_directory_listed_size(entry, &size);
    hpcw_status s = *is ? has_size(dir, path->valuestring, size, is, &now, err) : HPCW_OK;
    if (s != HPCW_OK || !*is || !content || !cJSON_IsString(text)) {
        return s;
    }
    struct gen_digest want;
    struct gen_digest got;
    char name[GEN_DIRECTORY_PATH];
    gen_directory_path(dir, path->valuestring, name);
    s = gen_digest_file(name, &got, NULL, err);
    *is = s == HPCW_OK && gen_digest_parse(text->valuestring, &want) && want.high == got.high &&
          want.low == got.low;
    return s;
}

/* Makes a range of all files of a format, as if one run had written them, from the manifest, whose next entry
 * is *next. If a file is missing or has another size, *range stays empty. *next moves to the first entry of the
 * next format. */
static hpcw_status range_of_manifest(const struct gen_run *run, const struct gen_format *format,
                                     const cJSON *truth, const cJSON **next, struct gen_range *range,
                                     hpcw_error *err) {
    uint64_t units = format->units(run->dataset);
    const cJSON *partial = cJSON_GetObjectItemCaseSensitive(truth, format->name);
    *range = (struct gen_range){.end = units, .digested = true};
    range->file = hpcw_i_calloc((size_t)units, sizeof *range->file);
    hpcw_status s = range->file != NULL ? HPCW_OK : hpcw_i_fail_memory(err, run->directory, units, "files");
    bool ok = cJSON_IsObject(partial);
    const cJSON *entry = *next;
    for (uint64_t k = 0; s == HPCW_OK && k < units; k++) {
        struct gen_unit unit;
        s = ok ? format->unit(run->dataset, k, &unit, err) : s;
        ok = ok && s == HPCW_OK && is_text(entry, "path", unit.path);
        s = ok ? is_intact(run->directory, entry, false, &ok, err) : s;
        if (s == HPCW_OK && ok) {
            (void)gen_directory_listed_size(entry, &range->file[k].size);
            take_digest(range, entry, &range->file[k].digest);
        }
        entry = entry == NULL ? NULL : entry->next;
    }
    *next = entry;
    range->partial = s == HPCW_OK && ok ? cJSON_Duplicate(partial, 1) : NULL;
    if (s == HPCW_OK && ok && range->partial == NULL) {
        s = hpcw_i_fail_memory(err, run->directory, 0, format->name);
    }
    if (range->partial == NULL) {
        gen_range_free(range);
    }
    return s;
}

static hpcw_status write_whole_range(const struct gen_run *run, const struct gen_format *format,
                                     const struct gen_range *range, hpcw_error *err) {
    char *text = cJSON_PrintUnformatted(range->partial);
    hpcw_status s = text == NULL ? hpcw_i_fail_memory(err, run->directory, 0, "the partial results of a format")
                                 : gen_directory_write_range(run, format, range, text, strlen(text), err);
    cJSON_free(text);
    return s;
}

/* Reads truth.json if its size and digest are those in the manifest; otherwise *truth becomes NULL. `files`: the
 * array of files in the manifest. */
static hpcw_status read_truth(const struct gen_run *run, const cJSON *files, cJSON **truth, hpcw_error *err) {
    char path[GEN_DIRECTORY_PATH];
    const cJSON *last = NULL;
    bool intact = false;
    *truth = NULL;
    for (const cJSON *entry = files == NULL ? NULL : files->child; entry != NULL; entry = entry->next) {
        last = entry;
    }
    hpcw_status s =
        is_text(last, "path", GEN_TRUTH) ? is_intact(run->directory, last, true, &intact, err) : HPCW_OK;
    gen_directory_path(run->directory, GEN_TRUTH, path);
    return s == HPCW_OK && intact ? gen_directory_read_json(path, truth, err) : s;
}

/* *is: the checksum list exists, or the run computes no checksums. */
static hpcw_status has_checksums(const struct gen_run *run, bool *is, hpcw_error *err) {
    char path[GEN_DIRECTORY_PATH];
    uint64_t size;
    gen_directory_path(run->directory, GEN_CHECKSUMS, path);
    *is = true;
    return run->checksums ? gen_directory_find(path, is, &size, err) : HPCW_OK;
}

hpcw_status gen_directory_reopen(const struct gen_run *run, bool *whole, hpcw_error *err) {
    char path[GEN_DIRECTORY_PATH];
    cJSON *manifest;
    cJSON *truth = NULL;
    gen_directory_path(run->directory, GEN_MANIFEST, path);
    hpcw_status s = gen_directory_read_json(path, &manifest, err);
    if (s != HPCW_OK) {
        return s;
    }
    const cJSON *files = cJSON_GetObjectItemCaseSensitive(manifest, "files");
    bool listed = false;
    s = read_truth(run, files, &truth, err);
    s = s == HPCW_OK ? has_checksums(run, &listed, err) : s;
    *whole = truth != NULL && listed;
    struct gen_range kept[GEN_MOST_FORMATS] = {{0}};
    const cJSON *next = files == NULL ? NULL : files->child;
    for (size_t f = 0; s == HPCW_OK && f < gen_format_count; f++) {
        if (run->dataset->formats >> f & 1) {
            s = range_of_manifest(run, gen_format[f], truth, &next, &kept[f], err);
            *whole = *whole && kept[f].partial != NULL;
        }
    }
    if (s == HPCW_OK && !*whole) {
        s = gen_directory_begin(run, &(struct hpcw_i_stripes){0}, err);
        /* In truth.json, the costs of faults stand at the faults. So the object of the log is no whole partial, and
         * the log is written again. */
        for (size_t f = 0; s == HPCW_OK && f < gen_format_count; f++) {
            if (kept[f].partial != NULL && f != GEN_FORMAT_CLOG2) {
                s = write_whole_range(run, gen_format[f], &kept[f], err);
            }
        }
        /* Manifest and truth.json are removed last, so that the directory has a manifest or a state at any
         * time. */
        if (s == HPCW_OK) {
            s = gen_directory_remove_lists(run, err);
        }
    }
    for (size_t f = 0; f < gen_format_count; f++) {
        gen_range_free(&kept[f]);
    }
    cJSON_Delete(truth);
    cJSON_Delete(manifest);
    return s;
}
