/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the generator needs of a format: a row of the table in table.c. A new format is a new row, and the file that
 * defines it: see doc/new-format.md.
 *
 * A format's output is a number of *units*: physical files, numbered from 0 in an order that depends only on the
 * dataset. A run writes a range of them. What the other ranges need of it, such as exact sums and counts, is its
 * *partial*, a JSON object. The partials of all ranges are enough to finish the dataset.
 */
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

/* A range of units that all processes of `comm` write. */
struct gen_write {
    const struct gen_format *format;
    const struct gen_dataset *dataset;
    const char *directory; /* of the dataset */
    struct hpcw_i_dir
        *root; /* the same, held: all that is created or renamed in it goes through libwriter/io/dir.h */
    hpcw_comm *comm;
    uint32_t jobs; /* threads of this process */
    uint64_t begin, end;
    hpcw_durability durability;
    hpcw_sink_source outputs; /* opens the files, by their paths, from any thread */
    bool again;               /* not for `directory`: no directory is made, and no unit is pending */
    /* Called with the number of payload bytes written, from any thread. */
    void (*progress)(void *context, uint64_t bytes);
    void *progress_context;
};

struct gen_format {
    const char *name;
    const char *version; /* of the file format, for the manifest */
    const char *help;    /* one phrase */

    /* The format that such a file has, too, and whose verbs stand in for what this one lacks; or NULL. */
    const struct gen_format *within;

    /* Whether the format allows this dataset. HPCW_EINVAL or HPCW_ERANGE, with what would be allowed. NULL: any. */
    hpcw_status (*limits)(const struct gen_dataset *d, hpcw_error *err);

    bool container; /* its units are files of one set: a reader of the first one reads all */
    /* The directory of its units below the dataset's, by which they are read together; or NULL. */
    const char *folder;
    bool alone;         /* readers take every file in `folder` for a unit: nothing else may be there */
    const char *beside; /* another directory of units, which are read one by one; or NULL */

    uint64_t (*units)(const struct gen_dataset *d);
    hpcw_status (*unit)(const struct gen_dataset *d, uint64_t index, struct gen_unit *unit, hpcw_error *err);

    /* Rough, for `plan`: memory of one process while it writes; of the partials at the end of a run (NULL: negligible);
     * seconds of one core for all units. */
    uint64_t (*memory)(const struct gen_dataset *d, uint32_t jobs);
    uint64_t (*partial_memory)(const struct gen_dataset *d);
    double (*seconds)(const struct gen_dataset *d);

    /* Whether a path below a dataset's directory is that of a unit, with whatever parameters. --force removes nothing else
     * of what a manifest lists. */
    bool (*owns)(const char *path);

    /* Readers take a set with a unit 0 for a finished one: unless a range is the whole set, unit 0 is pending until the
     * other ranges are written. It then has the name gen_pending_name, not its own, until `complete`. */
    bool pending;

    /* Collective. Writes units [begin, end). `partial` is an open object on process 0, to add members to, and NULL on
     * the others. */
    hpcw_status (*write)(const struct gen_write *w, struct hpcw_i_json *partial, hpcw_error *err);

    /* Finishes the units, from the partials of all ranges in order; *changed is the number of units, from the first one
     * on, that got new content only now. NULL: every range finishes its own. */
    hpcw_status (*complete)(const struct gen_write *w, const cJSON *const *partial, size_t count,
                            uint64_t *changed, hpcw_error *err);

    /* Adds what was injected as members of an open object. If a finished dataset lost files of other formats, this object
     * is later the only partial. */
    hpcw_status (*truth)(const struct gen_dataset *d, const cJSON *const *partial, size_t count,
                         struct hpcw_i_json *json, hpcw_error *err);

    /* Whether a file or directory is of this format; reads at most a few bytes. More special formats come first in the
     * table. Where nothing is, or something else, *is is false; whatever else keeps it from being read is an error. */
    hpcw_status (*probe)(const char *path, bool *is, hpcw_error *err);
    /* Checks structure and content. `ours`: by the rules of our own writer, which are stricter than real files are.
     * *files is the number of files read, unchanged if `path` is a directory. */
    hpcw_status (*verify)(const char *path, bool ours, uint64_t *files, hpcw_error *err);
    /* Adds what a file holds as members of an open object. */
    hpcw_status (*info)(const char *path, struct hpcw_i_json *json, hpcw_error *err);
    /* Adds sections to a page. Memory: a few words per rank. */
    hpcw_status (*report)(const struct gen_report *r, hpcw_error *err);
    /* Converts for other programs: gen/export/export.h. NULL: `export` is refused. */
    const struct gen_exporter *export;
    /* Writes again in another form: gen/export/rewrite/rewrite.h. NULL: `rewrite` is refused. */
    const struct gen_rewriter *rewrite;
    /* Adds what a file or directory says to the facts, and to the twin if it is not NULL. A twin has one data set of each
     * format. NULL: `fit` is refused. */
    hpcw_status (*fit)(const char *path, struct gen_fit_facts *facts, struct gen_fit_twin *twin,
                       hpcw_error *err);
    bool fit_alone;    /* its twin has no other format */
    bool fit_last;     /* what it learns depends on what the formats without this have told */
    const char *noun;  /* fit NULL: what messages call such a file; NULL: its name */
    const char *unfit; /* fit NULL: what the refusal says after the path; NULL: as for the other verbs */
};

#define GEN_FORMAT_ROW(number, name) extern const struct gen_format gen_format_##name;
GEN_FORMAT_LIST(GEN_FORMAT_ROW)

/* The table: that of table.c, unless a program defines its own. */
extern const struct gen_format *const gen_format[];
extern const size_t gen_format_count;

/* The names of the formats, for option tables: NULL after the last. `list` is not used. */
const char *gen_format_name(const void *list, size_t index);

/* The directory of a format's units below the dataset's: `folder`, otherwise the name of the format. */
const char *gen_format_folder(const struct gen_format *format);

/* Index of the format in whose directory a path below the dataset's is, or gen_format_count. */
size_t gen_format_of_path(const char *path);

/* Whether it is in the directory `beside`. */
bool gen_format_is_beside(const char *path);

/* *f: index of the format that recognises a file or directory, or gen_format_count. Fails if it cannot be read. */
hpcw_status gen_format_of_file(const char *path, size_t *f, hpcw_error *err);

/* The error for something else in the place of a directory below that of a dataset: HPCW_EEXIST. */
hpcw_status gen_format_refuse_folder(const char *directory, const char *name, bool link, hpcw_error *err);

/* ---- helpers for formats ---- */

/* Makes a directory below that of a dataset, `directory`, unless there is one. With `sync`, it is written back to the disk with
 * its name. HPCW_EEXIST: something else has the name, also a symbolic link. */
hpcw_status gen_format_make_folder(struct hpcw_i_dir *root, const char *directory, const char *name, bool sync,
                                   hpcw_error *err);

/* Adds what a SION container holds as members of an open object: for SION's own row, and LinkTest's, whose results are
 * in a container. */
struct read_sion;
hpcw_status gen_format_sion_info(struct read_sion *reader, struct hpcw_i_json *json, hpcw_error *err);

/* How strictly to read a container, as flags of read_sion_verify; if it is ours, first checks that its header has the name
 * of the file. */
hpcw_status gen_format_sion_flags(struct read_sion *reader, const char *path, bool ours, unsigned *flags,
                                  hpcw_error *err);

#endif
