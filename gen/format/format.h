/* SPDX-License-Identifier: BSD-3-Clause */
/* Interface of a format: a row of the table in table.c. A new format is a new row and the file that defines the
 * row: see doc/new-format.md.
 *
 * The output of a format is a number of *units*: physical files, numbered from 0 in an order that depends only
 * on the dataset. A run writes a range of units. It also makes a *partial*, the partial result of the range: a
 * JSON object of what other ranges need, such as exact sums and counts. The partials of all ranges are enough
 * to finish the dataset. */
#ifndef HPCW_GEN_FORMAT_FORMAT_H
#define HPCW_GEN_FORMAT_FORMAT_H

#include <cjson/cJSON.h>

#include "gen/report/report.h"
#include "gen/spec/dataset.h"
#include "gen/spec/units.h"
#include "libwriter/comm/comm.h"

struct gen_exporter;
struct gen_fit_facts;
struct gen_fit_twin;
struct gen_format;
struct gen_rewriter;
struct hpcw_i_dir;

/* Arguments for writing a range of units. All processes of `comm` write it. */
struct gen_write {
    const struct gen_format *format;
    const struct gen_dataset *dataset;
    const char *directory; /* directory of the dataset */
    /* the same directory, held open; files in it are created and renamed through libwriter/io/dir.h */
    struct hpcw_i_dir *root;
    hpcw_comm *comm;
    uint32_t jobs; /* number of threads of this process */
    uint64_t begin, end;
    hpcw_durability durability;
    /* opens files by path, from any thread */
    hpcw_sink_source outputs;
    /* true: units are written to other places than `directory`, so no directory is made and no unit is
     * pending */
    bool again;
    /* Reports the number of payload bytes written. Called from any thread. */
    void (*progress)(void *context, uint64_t bytes);
    void *progress_context;
};

/* A list of injected faults in truth.json, or a single fault that is null if it was not injected. `info` counts
 * them. */
struct gen_injected {
    const char *key;  /* name of the number in the output of `info`; NULL ends an array of lists */
    const char *path; /* of the list or fault, as "rank2file.faults" */
};

struct gen_format {
    const char *name;
    const char *version; /* version of the file format, for the manifest */
    const char *help;    /* one phrase */

    /* format that this one is a special case of, or NULL: a file of this format is also one of `within`. Functions
     * that are NULL here are taken from `within`. */
    const struct gen_format *within;

    /* Checks whether the format supports the dataset. The dataset has its parameters, seed and number of ranks,
     * but no models yet: gen_dataset_build follows. HPCW_EINVAL or HPCW_ERANGE; the message says what would be
     * allowed. NULL: any. */
    hpcw_status (*limits)(const struct gen_dataset *d, hpcw_error *err);

    /* the units are files of one set: a reader of the first one reads all of them */
    bool container;
    /* name of the directory, below that of the dataset, for units that are read together; NULL: the name of the
     * format */
    const char *folder;
    /* true: readers take each file in `folder` for a unit, so no other file may be there */
    bool alone;
    /* directory of further units that are read one by one; NULL: none */
    const char *beside;

    uint64_t (*units)(const struct gen_dataset *d);
    hpcw_status (*unit)(const struct gen_dataset *d, uint64_t index, struct gen_unit *unit, hpcw_error *err);

    /* Estimates for `plan`. memory: of one process while it writes. partial_memory: of the partials at the end
     * of a run; NULL: negligible. seconds: of one core for all units. */
    uint64_t (*memory)(const struct gen_dataset *d, uint32_t jobs);
    uint64_t (*partial_memory)(const struct gen_dataset *d);
    double (*seconds)(const struct gen_dataset *d);

    /* Returns whether a path below the dataset's directory is that of a unit, for any parameters. --force
     * removes only files of a manifest that have such a path. */
    bool (*owns)(const char *path);

    /* true: unit 0 is pending, that is, has the name gen_pending_name, until `complete`. The reason is that
     * readers take a set with unit 0 for complete. If one range is the whole set, unit 0 is not pending. */
    bool pending;

    /* Collective. Writes the units [begin, end). partial: on process 0 an open object to add members to,
     * elsewhere NULL. */
    hpcw_status (*write)(const struct gen_write *w, struct hpcw_i_json *partial, hpcw_error *err);

    /* Finishes the units with the partials of all ranges, in order. *changed: how many units, from the first one
     * on, got new content now. NULL: each range finishes its own units. */
    hpcw_status (*complete)(const struct gen_write *w, const cJSON *const *partial, size_t count,
                            uint64_t *changed, hpcw_error *err);

    /* Adds the injected faults as members of an open JSON object in truth.json. If a finished dataset lost
     * files of other formats and is repaired, the old object is the only partial; the log is written again. jobs:
     * number of threads. */
    hpcw_status (*truth)(const struct gen_dataset *d, const cJSON *const *partial, size_t count, uint32_t jobs,
                         struct hpcw_i_json *json, hpcw_error *err);
    /* lists of faults that `truth` adds; NULL: none */
    const struct gen_injected *injected;

    /* Sets *is if a file or directory has this format; reads at most a few bytes. More special formats come
     * first in the table. *is is false if the path does not exist or has another format. Any other obstacle to
     * reading is an error. */
    hpcw_status (*probe)(const char *path, bool *is, hpcw_error *err);
    /* Checks the structure and content of a file. ours: true, also applies the rules of our own writer, which
     * files of other programs need not follow. *files: number of files read; unchanged if `path` is a
     * directory. */
    hpcw_status (*verify)(const char *path, bool ours, uint64_t *files, hpcw_error *err);
    /* Adds a summary of a file as members of an open object. */
    hpcw_status (*info)(const char *path, struct hpcw_i_json *json, hpcw_error *err);
    /* Adds sections to the page of a report. Memory: a few words per rank. */
    hpcw_status (*report)(const struct gen_report *r, hpcw_error *err);
    /* Exports a file for other programs: gen/export/export.h. NULL: `export` is refused. */
    const struct gen_exporter *export;
    /* Writes a file in another form: gen/export/rewrite/rewrite.h. NULL: `rewrite` is refused. */
    const struct gen_rewriter *rewrite;
    /* Adds the facts of a file or directory, and learns the twin, a synthetic copy, if it is not NULL. The member
     * is NULL: `fit` is refused. */
    hpcw_status (*fit)(const char *path, struct gen_fit_facts *facts, struct gen_fit_twin *twin,
                       hpcw_error *err);
    /* Learns one twin from data sets of several sizes, path[count]. The member is NULL: a twin is learned from
     * only one data set of the format. */
    hpcw_status (*fit_sizes)(const char *const *path, size_t count, struct gen_fit_twin *twin, hpcw_error *err);
    /* GEN_FIT_LAST: the format is learned after others, since it depends on their results. GEN_FIT_ALONE: a
     * twin of this format has no other format. */
    enum { GEN_FIT_WITH_OTHERS, GEN_FIT_LAST, GEN_FIT_ALONE } fit_rule;
    /* word for a file of the format in messages of `fit` that leave the file out; NULL: `name` */
    const char *noun;
};

#define GEN_FORMAT_ROW(number, name) extern const struct gen_format gen_format_##name;
GEN_FORMAT_LIST(GEN_FORMAT_ROW)

/* The table of formats. It is defined in table.c, or by a program with its own table. */
extern const struct gen_format *const gen_format[];
extern const size_t gen_format_count;

/* Returns the name of a format, for option tables; NULL after the last one. `list` is unused. */
const char *gen_format_name(const void *list, size_t index);

/* Returns the directory of a format's units below the dataset's: `folder`, or else the name of the format. */
const char *gen_format_folder(const struct gen_format *format);

/* Returns the index of the format whose directory contains a path below the dataset's, or gen_format_count. */
size_t gen_format_of_path(const char *path);

/* Returns whether a path is in the directory `beside` of its format. */
bool gen_format_is_beside(const char *path);

/* *f: index of the format that recognises a file or directory, or gen_format_count. Fails if the path cannot be
 * read. */
hpcw_status gen_format_of_file(const char *path, size_t *f, hpcw_error *err);

/* Returns the error HPCW_EEXIST: something else has the name of the directory `name` below the dataset's
 * directory. link: it is a symbolic link. */
hpcw_status gen_format_refuse_folder(const char *directory, const char *name, bool link, hpcw_error *err);

/* ---- helpers for formats ---- */

/* Makes the directory `name` below the dataset's directory, unless it exists. root: the dataset's directory,
 * held open. sync: flushes the new directory and its name to disk. HPCW_EEXIST: something else has the name, or
 * it is a symbolic link. */
hpcw_status gen_format_make_folder(struct hpcw_i_dir *root, const char *directory, const char *name, bool sync,
                                   hpcw_error *err);

/* Adds a summary of a SION container as members of an open object. The formats SION and LinkTest use it, since
 * LinkTest results are containers. */
struct read_sion;
hpcw_status gen_format_sion_info(struct read_sion *reader, struct hpcw_i_json *json, hpcw_error *err);

/* Returns flags of read_sion_verify that say how strictly a container is read. ours: first checks that the
 * header of the container has the name of the file. */
hpcw_status gen_format_sion_flags(struct read_sion *reader, const char *path, bool ours, unsigned *flags,
                                  hpcw_error *err);

#endif
