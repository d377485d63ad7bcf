/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/dataset/repair.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/dataset/again.h"
#include "gen/dataset/compare.h"
#include "gen/dataset/directory/description.h"
#include "gen/dataset/directory/lease.h"
#include "gen/spec/pool.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/io/dir.h"
#include "libwriter/io/sink.h"

/* A file of the dataset. Files have the order of the manifest; the last three are truth.json, manifest and
 * checksum list. */
struct repair_file {
    char *name;
    bool damaged;
    char *why; /* why the file cannot be read; NULL: it can be read */
    /* counts as damaged because of its size; its content was not read and may be right */
    bool unread;
    bool replaced; /* was made again, under a temporary name */
    bool has_size; /* the manifest has the size of the file: `size` */
    uint64_t size;
    /* Number of digests in `want`: one from the manifest, one from the checksum list. If these digests differ, one
     * list is damaged, and a file with either digest is right. */
    unsigned wants;
    struct gen_digest want[2];
    struct gen_stored now;
};

struct repairing {
    const struct gen_run *run;
    struct gen_repair *repair;
    uint64_t tag; /* part of temporary names */
    /* [f]: index of the first file of format f; [gen_format_count]: index of truth.json */
    uint64_t first[GEN_MOST_FORMATS + 1];
    size_t count;                      /* number of files, with truth.json, manifest and checksum list */
    struct repair_file *file;          /* [count] */
    const struct repair_file **sorted; /* [count] sorted by name */
    bool listed;                       /* the checksum list exists */
    bool with_digests;                 /* the dataset has checksums */
};

enum { TRUTH = 3, MANIFEST = 2, CHECKSUMS = 1 }; /* positions in `file`, from its end */

static struct repair_file *list_of(const struct repairing *r, size_t from_end) {
    return &r->file[r->count - from_end];
}

/* ---- the files and their digests ---- */

static int by_name(const void *a, const void *b) {
    return strcmp((*(const struct repair_file *const *)a)->name, (*(const struct repair_file *const *)b)->name);
}

static struct repair_file *find(const struct repairing *r, const char *name) {
    const struct repair_file key = {.name = (char *)(uintptr_t)name};
    const struct repair_file *at = &key;
    const struct repair_file **hit = bsearch(&at, r->sorted, r->count, sizeof *r->sorted, by_name);
    return hit == NULL ? NULL : &r->file[*hit - r->file];
}

static hpcw_status name_files(struct repairing *r, hpcw_error *err) {
    static const char *const list[] = {GEN_TRUTH, GEN_MANIFEST, GEN_CHECKSUMS};
    const struct gen_dataset *d = r->run->dataset;
    r->count = TRUTH;
    for (size_t f = 0; f < gen_format_count; f++) {
        r->first[f] = r->count - TRUTH;
        r->count += (d->formats >> f & 1) != 0 ? (size_t)gen_format[f]->units(d) : 0;
    }
    r->first[gen_format_count] = r->count - TRUTH;
    r->file = hpcw_i_calloc(r->count, sizeof *r->file);
    r->sorted = hpcw_i_calloc(r->count, sizeof *r->sorted);
    bool ok = r->file != NULL && r->sorted != NULL;
    hpcw_status s = HPCW_OK;
    for (size_t i = 0; s == HPCW_OK && ok && i < r->count; i++) {
        struct gen_unit unit;
        size_t f = 0;
        while (f < gen_format_count && i >= r->first[f + 1]) {
            f++;
        }
        const char *name = unit.path;
        if (f < gen_format_count) {
            s = gen_format[f]->unit(d, i - r->first[f], &unit, err);
        } else {
            name = list[i - r->first[gen_format_count]];
        }
        ok = s != HPCW_OK || (r->file[i].name = hpcw_i_strdup(name)) != NULL;
        r->sorted[i] = &r->file[i];
    }
    if (s == HPCW_OK && !ok) {
        return hpcw_i_fail_memory(err, r->run->directory, r->count, "files");
    }
    if (s == HPCW_OK) {
        qsort(r->sorted, r->count, sizeof *r->sorted, by_name);
    }
    return s;
}

static void want_digest(struct repair_file *file, const char *text) {
    file->wants += file->wants < 2 && gen_digest_parse(text, &file->want[file->wants]);
}

static bool are_equal(const struct gen_digest *a, const struct gen_digest *b) {
    return a->high == b->high && a->low == b->low;
}

/* Returns whether the file has one of its listed digests. Without a digest, compares only the size. */
static bool is_wanted(const struct repair_file *file) {
    bool is = file->wants == 0 && (!file->has_size || file->size == file->now.size);
    for (unsigned i = 0; i < file->wants; i++) {
        is = is || are_equal(&file->want[i], &file->now.digest);
    }
    return is;
}

static void read_manifest(struct repairing *r, const char *text) {
    cJSON *manifest = text == NULL ? NULL : cJSON_Parse(text);
    const cJSON *item;
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(manifest, "files")) {
        const cJSON *name = cJSON_GetObjectItemCaseSensitive(item, "path");
        const cJSON *digest = cJSON_GetObjectItemCaseSensitive(item, "xxh128");
        struct repair_file *file = cJSON_IsString(name) ? find(r, name->valuestring) : NULL;
        uint64_t size;
        if (file != NULL && gen_directory_listed_size(item, &size)) {
            file->has_size = true;
            file->size = size;
        }
        if (file != NULL && cJSON_IsString(digest)) {
            want_digest(file, digest->valuestring);
        }
    }
    cJSON_Delete(manifest);
}

bool gen_repair_stops(hpcw_status s, const hpcw_error *why) {
    return s == HPCW_ENOMEM || s == HPCW_EACCES ||
           (s != HPCW_OK && (why->sys_errno == EMFILE || why->sys_errno == ENFILE || why->sys_errno == ESTALE));
}

/* Keeps the reason why a file cannot be read, so that it is reported. The file is then made again. */
static void keep_reason(struct repair_file *file, const hpcw_error *why) {
    file->why = file->why == NULL ? hpcw_i_strdup(why->message) : file->why;
}

static hpcw_status read_checksums(struct repairing *r, hpcw_error *err) {
    char path[GEN_DIRECTORY_PATH];
    char *text = NULL;
    hpcw_error why;
    gen_directory_path(r->run->directory, GEN_CHECKSUMS, path);
    hpcw_status s = gen_directory_read(path, &text, &why);
    if (gen_repair_stops(s, &why)) {
        return hpcw_i_fail_as(err, &why);
    }
    if (s != HPCW_OK && s != HPCW_ENOENT) {
        keep_reason(list_of(r, CHECKSUMS), &why);
    }
    r->listed = s == HPCW_OK;
    for (char *line = text; line != NULL && *line != '\0';) {
        size_t n = strcspn(line, "\n");
        char *next = line + n + (line[n] == '\n');
        line[n] = '\0';
        if (n > GEN_DIGEST_TEXT + 1 && memcmp(line + 32, "  ", 2) == 0) {
            struct repair_file *file = find(r, line + 34);
            line[32] = '\0';
            if (file != NULL) {
                want_digest(file, line);
            }
        }
        line = next;
    }
    hpcw_i_free(text);
    return HPCW_OK;
}

/* Checks that manifest and checksum list are of one dataset. Damage changes only some digests of a list. If
 * most differ, one list is from another dataset, and it is not known which. A repair could then replace right
 * files. */
static hpcw_status check_lists(const struct repairing *r, hpcw_error *err) {
    size_t both = 0;
    size_t differ = 0;
    for (size_t i = 0; i < r->count - MANIFEST; i++) {
        both += r->file[i].wants == 2;
        differ += r->file[i].wants == 2 && !are_equal(&r->file[i].want[0], &r->file[i].want[1]);
    }
    return 2 * differ <= both
               ? HPCW_OK
               : hpcw_i_fail(err, HPCW_ECHECKSUM,
                             "%s: expected " GEN_MANIFEST " and " GEN_CHECKSUMS
                             " of one dataset, got %zu other digests of %zu: remove the one of another dataset",
                             r->run->directory, differ, both);
}

/* ---- what is damaged ---- */

static hpcw_status look_at_file(void *context, void *state, uint64_t index, hpcw_error *err) {
    struct repairing *r = context;
    struct repair_file *file = &r->file[index];
    char path[GEN_DIRECTORY_PATH];
    bool is;
    hpcw_error why;
    (void)state;
    gen_directory_path(r->run->directory, file->name, path);
    hpcw_status s = gen_directory_find(path, &is, &file->now.size, &why);
    /* If the size is wrong or unknown, the file is not read, as it may be of any size. */
    const bool is_list = index >= r->count - MANIFEST;
    file->unread = s == HPCW_OK && is && (is_list || (file->has_size && file->size != file->now.size));
    if (file->unread) {
        file->damaged = true;
        return HPCW_OK;
    }
    if (s == HPCW_OK && is) {
        s = gen_digest_file(path, &file->now.digest, &file->now.size, &why);
    }
    file->damaged = s != HPCW_OK || !is || !is_wanted(file);
    if (s != HPCW_OK) {
        keep_reason(file, &why);
    }
    return gen_repair_stops(s, &why) ? hpcw_i_fail_as(err, &why) : HPCW_OK;
}

static bool wants_comparison(void *context, const char *name, uint64_t *order) {
    const struct repair_file *file = find(context, name);
    *order = 0;
    return file != NULL && file->wants == 0 && !file->damaged;
}

/* Files without a known digest are damaged if they differ from what the parameters give. */
static hpcw_status compare_unlisted(struct repairing *r, hpcw_error *err) {
    const struct gen_run *run = r->run;
    struct gen_faults faults;
    gen_faults_init(&faults);
    const struct gen_compare compare = {
        .directory = run->directory, .faults = &faults, .order = wants_comparison, .context = r};
    hpcw_status s = HPCW_OK;
    for (size_t f = 0; s == HPCW_OK && f < gen_format_count; f++) {
        bool any = false;
        for (size_t i = r->first[f]; i < r->first[f + 1]; i++) {
            any = any || r->file[i].wants == 0;
        }
        if (any) {
            s = gen_again(run, gen_format[f], (struct gen_slice){0, r->first[f + 1] - r->first[f]},
                          gen_compare_source(&compare), NULL, err);
        }
    }
    for (size_t i = 0; i < faults.count; i++) {
        struct repair_file *file = find(r, faults.fault[i].path);
        if (file != NULL) {
            file->damaged = true;
        }
    }
    if (s == HPCW_OK && faults.no_memory) {
        s = hpcw_i_fail_memory(err, run->directory, 0, "a list of faults");
    }
    gen_faults_free(&faults);
    return s;
}

/* ---- making files again ---- */

enum { TEMPORARY = GEN_UNIT_PATH + 64 };

/* Makes the temporary name of a file, relative to the dataset's directory. The temporary file is in the directory
 * of the file, so both have the same stripes. If this run dies, the next run removes the temporary file. */
static void temporary_name(const struct repairing *r, const struct repair_file *file, char name[TEMPORARY]) {
    const char *slash = strrchr(file->name, '/');
    (void)snprintf(name, TEMPORARY, "%.*s.hpcw-%016" PRIx64 "-%016" PRIx64 ".tmp",
                   slash == NULL ? 0 : (int)(slash - file->name) + 1, file->name, r->tag,
                   (uint64_t)(file - r->file));
}

static hpcw_status measure_temporary(const struct repairing *r, const struct repair_file *file,
                                     struct gen_stored *made, hpcw_error *err) {
    char name[TEMPORARY];
    char path[GEN_DIRECTORY_PATH];
    temporary_name(r, file, name);
    gen_directory_path(r->run->directory, name, path);
    return gen_digest_file(path, &made->digest, &made->size, err);
}

static void remove_temporary(const struct repairing *r, const struct repair_file *file) {
    char name[TEMPORARY];
    temporary_name(r, file, name);
    (void)hpcw_i_below_unlink(r->run->below.root, name);
}

/* Creates the directories of a file if they were lost, too. With --sync, flushes each new directory and its
 * name to disk. */
static hpcw_status make_folders(const struct repairing *r, const struct repair_file *file, hpcw_error *err) {
    const struct gen_run *run = r->run;
    char folder[GEN_UNIT_PATH];
    hpcw_status s = HPCW_OK;
    (void)snprintf(folder, sizeof folder, "%s", file->name);
    for (char *slash = folder; s == HPCW_OK && (slash = strchr(slash, '/')) != NULL; *slash++ = '/') {
        *slash = '\0';
        s = gen_format_make_folder(run->below.root, run->directory, folder, run->durability != HPCW_SYNC_NONE,
                                   err);
    }
    return s;
}

/* Creates an empty file with the temporary name and the access rights of the damaged file, before a sink writes
 * into it. So the new version of a private file is private from its first byte on. */
static hpcw_status keep_access(const struct repairing *r, const struct repair_file *file, hpcw_error *err) {
    struct hpcw_i_dir *root = r->run->below.root;
    struct hpcw_i_dir *parent = NULL;
    struct hpcw_i_entry damaged;
    char temporary[TEMPORARY];
    int at, fd;
    int e = hpcw_i_below_look(root, file->name, &damaged);
    if (e == 0 && damaged.kind != HPCW_I_FILE) {
        return HPCW_OK;
    }
    temporary_name(r, file, temporary);
    e = e == 0 ? hpcw_i_below_hold(root, file->name, &parent) : e;
    e = e == 0 ? hpcw_i_dir_fd(parent, &at) : e;
    e = e == 0 ? hpcw_i_below_open(root, temporary, O_RDWR | O_CREAT | O_EXCL, true, &fd) : e;
    if (e == 0) {
        const char *slash = strrchr(file->name, '/');
        hpcw_i_sys_take_access(fd, at, slash == NULL ? file->name : slash + 1, damaged.mode, damaged.group);
        e = hpcw_i_sys_give(fd, damaged.owner);
        hpcw_i_sys_drop(fd);
        if (e != 0) {
            (void)hpcw_i_below_unlink(root, temporary);
        }
    }
    hpcw_i_dir_release(parent);
    return e == 0 ? HPCW_OK
                  : hpcw_i_fail_sys(err, e, "%s/%s: cannot create a file that takes its place",
                                    r->run->directory, file->name);
}

static hpcw_status open_again(void *context, const char *path, uint64_t tag, bool creates, hpcw_sink **out,
                              hpcw_error *err) {
    const struct repairing *r = context;
    char temporary[TEMPORARY];
    (void)tag;
    (void)creates;
    *out = NULL;
    struct repair_file *file = find(r, path + strlen(r->run->directory) + 1);
    if (file == NULL || !file->damaged) {
        return hpcw_sink_open_null(out, err);
    }
    hpcw_status s = make_folders(r, file, err);
    s = s == HPCW_OK ? keep_access(r, file, err) : s;
    file->replaced = s == HPCW_OK;
    temporary_name(r, file, temporary);
    return s == HPCW_OK ? gen_directory_open(r->run, temporary, r->run->durability, out, err) : s;
}

static hpcw_sink_source again_source(struct repairing *r) {
    return (hpcw_sink_source){.open = open_again, .context = r};
}

/* Checks whether a file that was made again has a listed digest or, without a digest, the listed size. */
static hpcw_status prove(const struct repairing *r, struct repair_file *file, hpcw_error *err) {
    hpcw_status s = measure_temporary(r, file, &file->now, err);
    return s != HPCW_OK || is_wanted(file)
               ? s
               : hpcw_i_fail(
                     err, HPCW_ECHECKSUM,
                     "%s/%s: made again: expected the size and digest that are listed for it, got others: "
                     "the list is damaged, or other parameters made this dataset",
                     r->run->directory, file->name);
}

/* Renames a file from its temporary to its final name. With --sync, flushes the new name to disk. */
static hpcw_status give_name(const struct repairing *r, const struct repair_file *file, hpcw_error *err) {
    char temporary[TEMPORARY];
    struct hpcw_i_dir *root = r->run->below.root;
    temporary_name(r, file, temporary);
    int e = hpcw_i_below_rename(root, temporary, file->name);
    e = e == 0 && r->run->durability != HPCW_SYNC_NONE ? hpcw_i_below_sync(root, file->name) : e;
    return e == 0 ? HPCW_OK
                  : hpcw_i_fail_sys(err, e, "%s/%s: cannot rename the repaired file to this name",
                                    r->run->directory, file->name);
}

/* Sets *same to whether a file that was not read because of its size equals the file made again. Then only its
 * size in the manifest was wrong or unknown. */
static hpcw_status compare_unread(const struct repairing *r, struct repair_file *file, bool *same,
                                  hpcw_error *err) {
    char path[GEN_DIRECTORY_PATH];
    struct gen_stored is;
    hpcw_error why = {.message = ""};
    *same = false;
    if (!file->unread) {
        return HPCW_OK;
    }
    gen_directory_path(r->run->directory, file->name, path);
    hpcw_status s = gen_directory_find(path, same, &is.size, &why);
    *same = *same && is.size == file->now.size;
    if (s == HPCW_OK && *same) {
        s = gen_digest_file(path, &is.digest, &is.size, &why);
        *same = s == HPCW_OK && is.size == file->now.size && are_equal(&is.digest, &file->now.digest);
    }
    if (s != HPCW_OK) {
        keep_reason(file, &why);
    }
    return gen_repair_stops(s, &why) ? hpcw_i_fail_as(err, &why) : HPCW_OK;
}

/* Renames files that were made again to their final names. Removes those that do not match their digests, or
 * that equal the existing files. Returns the first failure; `s`: status so far. */
static hpcw_status put_back(struct repairing *r, size_t begin, size_t end, hpcw_status s, hpcw_error *err) {
    for (size_t i = begin; i < end; i++) {
        struct repair_file *file = &r->file[i];
        hpcw_error e = {.message = ""};
        if (!file->replaced) {
            continue;
        }
        hpcw_status one = s == HPCW_OK ? prove(r, file, &e) : s;
        bool same = false;
        one = one == HPCW_OK ? compare_unread(r, file, &same, &e) : one;
        one = one == HPCW_OK && !same ? give_name(r, file, &e) : one;
        file->replaced = false;
        file->damaged = one != HPCW_OK;
        if (one == HPCW_OK && !same) {
            r->repair->repaired++;
            if (r->repair->told != NULL) {
                r->repair->told(r->repair->context, file->name, file->why);
            }
        } else {
            remove_temporary(r, file);
            if (s == HPCW_OK && one != HPCW_OK) {
                s = one;
                *err = e;
            }
        }
    }
    return s;
}

static hpcw_status repair_format(struct repairing *r, size_t f, hpcw_error *err) {
    const struct gen_format *format = gen_format[f];
    const uint64_t base = r->first[f];
    const uint64_t units = r->first[f + 1] - base;
    hpcw_status s = HPCW_OK;
    for (uint64_t k = 0; s == HPCW_OK && k < units;) {
        uint64_t end = k;
        while (end < units && r->file[base + end].damaged) {
            end++;
        }
        if (end > k) {
            struct gen_slice range = gen_again_range(r->run->dataset, format, k, end);
            if (r->run->label != NULL) {
                r->run->label(r->run->context, format->name);
            }
            s = gen_again(r->run, format, range, again_source(r), NULL, err);
            s = put_back(r, base + range.begin, base + range.end, s, err);
        }
        k = end + 1;
    }
    return s;
}

/* ---- the lists ---- */

/* Makes for each format a range of all its files, as if one run had written them, with their present sizes and
 * digests. With `partials`, also computes the partial results. */
static hpcw_status ranges_of_files(struct repairing *r, bool partials, struct gen_ranges *ranges,
                                   hpcw_error *err) {
    const hpcw_sink_source nothing = again_source(r); /* all data files are repaired, so nothing is written */
    hpcw_status s = HPCW_OK;
    for (size_t f = 0; s == HPCW_OK && f < gen_format_count; f++) {
        const uint64_t units = r->first[f + 1] - r->first[f];
        if (units == 0) {
            continue;
        }
        s = gen_ranges_of_all(r->run, gen_format[f], partials ? &nothing : NULL, &ranges[f], err);
        for (uint64_t k = 0; s == HPCW_OK && k < units; k++) {
            ranges[f].range->file[k] = r->file[r->first[f] + k].now;
        }
    }
    return s;
}

static hpcw_status repair_truth(struct repairing *r, hpcw_error *err) {
    struct gen_run run = *r->run;
    struct repair_file *truth = list_of(r, TRUTH);
    struct gen_ranges ranges[GEN_MOST_FORMATS] = {{0}};
    if (truth->wants > 0 && !truth->damaged) {
        return HPCW_OK;
    }
    run.outputs = again_source(r);
    hpcw_status s = ranges_of_files(r, true, ranges, err);
    /* An undamaged truth.json gets here only if its digest is not known. Then it is compared with the new one. */
    truth->unread = truth->unread || !truth->damaged;
    truth->damaged = true;
    s = s == HPCW_OK ? gen_write_truth(&run, ranges, err) : s;
    s = put_back(r, r->count - TRUTH, r->count - MANIFEST, s, err);
    gen_ranges_free(ranges);
    return s;
}

/* Makes manifest and checksum list again from the files, and replaces them if they differ. The checksum list
 * has the digest of the new manifest, so it is made after the manifest. */
static hpcw_status repair_lists(struct repairing *r, hpcw_error *err) {
    struct gen_run run = *r->run;
    struct gen_ranges ranges[GEN_MOST_FORMATS] = {{0}};
    run.checksums = r->with_digests;
    run.outputs = again_source(r);
    hpcw_status s = ranges_of_files(r, false, ranges, err);
    for (size_t which = MANIFEST; s == HPCW_OK && which >= (run.checksums ? CHECKSUMS : MANIFEST); which--) {
        list_of(r, which)->damaged = true;
        s = gen_write_manifest(&run, ranges, which == CHECKSUMS, err);
        s = put_back(r, r->count - which, r->count - which + 1, s, err);
    }
    gen_ranges_free(ranges);
    return s;
}

/* ---- all ---- */

static hpcw_status find_damage(struct repairing *r, const char *manifest, hpcw_error *err) {
    hpcw_status s = name_files(r, err);
    if (s != HPCW_OK) {
        return s;
    }
    read_manifest(r, manifest);
    s = read_checksums(r, err);
    s = s == HPCW_OK ? check_lists(r, err) : s;
    if (s != HPCW_OK) {
        return s;
    }
    /* The dataset has checksums if the checksum list exists or any digest is intact; others may be damaged. */
    r->with_digests = r->listed || (manifest == NULL && r->run->checksums);
    for (size_t i = 0; !r->with_digests && i < r->count; i++) {
        r->with_digests = r->file[i].wants > 0;
    }
    if (manifest != NULL) {
        list_of(r, MANIFEST)->wants = 0; /* no digest is needed: the parameters in it match its fingerprint */
    }
    const struct gen_pool_work work = {.name = "repair", .context = r, .step = look_at_file};
    s = gen_pool_run(r->run->jobs, 0, r->count, 1, &work, err);
    return s == HPCW_OK ? compare_unlisted(r, err) : s;
}

/* Fails if a damaged file has no known digest. Without a manifest, only digests prove that the parameters are
 * those of the dataset. */
static hpcw_status check_proof(const struct repairing *r, hpcw_error *err) {
    for (size_t i = 0; i < r->count - TRUTH; i++) {
        if (r->file[i].wants == 0 && r->file[i].damaged) {
            return hpcw_i_fail(
                err, HPCW_ECHECKSUM,
                "%s/%s: expected what these parameters give, got something else, and neither " GEN_MANIFEST
                " nor " GEN_CHECKSUMS " says what it should be",
                r->run->directory, r->file[i].name);
        }
    }
    return HPCW_OK;
}

hpcw_status gen_repair_dataset(struct gen_run *run, const char *manifest, struct gen_repair *repair,
                               hpcw_error *err) {
    struct repairing r = {.run = run, .repair = repair, .tag = hpcw_i_sink_random()};
    struct gen_lease lease = {.fd = -1};
    hpcw_status s = gen_dataset_fingerprint(run->dataset, run->fingerprint, err);
    repair->repaired = 0;
    s = s == HPCW_OK ? gen_lease_take(run, "repair", &lease, err) : s;
    s = s == HPCW_OK ? find_damage(&r, manifest, err) : s;
    if (s == HPCW_OK && manifest == NULL) {
        s = check_proof(&r, err);
    }
    for (size_t f = 0; s == HPCW_OK && f < gen_format_count; f++) {
        s = repair_format(&r, f, err);
    }
    s = s == HPCW_OK ? repair_truth(&r, err) : s;
    s = s == HPCW_OK ? gen_lease_check(&lease, err) : s;
    s = s == HPCW_OK ? repair_lists(&r, err) : s;
    s = s == HPCW_OK ? gen_directory_end(run, err) : s; /* also removes temporary files of a killed repair */
    repair->files = r.count - (r.with_digests ? 0 : 1);
    gen_lease_end(&lease);
    for (size_t i = 0; r.file != NULL && i < r.count; i++) {
        hpcw_i_free(r.file[i].name);
        hpcw_i_free(r.file[i].why);
    }
    hpcw_i_free(r.file);
    hpcw_i_free((void *)(uintptr_t)r.sorted);
    return s;
}
