/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * F4: what the generator needs to know of a format, as a table entry. Adding a format is adding a row to the
 * table in table.c and the file NAME.c that defines it: see doc/new-format.md.
 *
 * A format's output is a number of *units*: physical files, numbered from 0 in an order that depends on the
 * dataset alone. A run writes a range of them. What a range leaves behind for the others to know (exact partial
 * sums, counts) is its *partial*, a JSON object; whoever has the partials of all ranges can finish the dataset.
 */
#ifndef HPCW_GEN_FORMAT_FORMAT_H
#define HPCW_GEN_FORMAT_FORMAT_H

#include <cjson/cJSON.h>

#include "gen/format/units.h"
#include "gen/report/report.h"
#include "gen/spec/dataset.h"
#include "libwriter/comm/comm.h"

struct gen_format;

/* A range of units that all processes of `comm` write. */
struct gen_write {
    const struct gen_format *format;
    const struct gen_dataset *dataset;
    const char *directory; /* of the dataset */
    hpcw_comm *comm;
    uint32_t jobs; /* threads of this process */
    uint64_t begin, end;
    hpcw_durability durability;
    /* Told how many payload bytes were written, from any thread. */
    void (*progress)(void *context, uint64_t bytes);
    void *progress_context;
};

struct gen_format {
    const char *name;
    const char *version; /* of the format that is written, for the manifest */
    const char *help;    /* one phrase */

    /* Whether the format can take this dataset. HPCW_EINVAL or HPCW_ERANGE with what would work. */
    hpcw_status (*limits)(const struct gen_dataset *d, hpcw_error *err);

    bool container; /* its units are members of one set: reading the first one reads them all */
    const char
        *folder; /* its units are read together by the name of this folder, below the dataset's; or NULL */
    uint64_t (*units)(const struct gen_dataset *d);
    hpcw_status (*unit)(const struct gen_dataset *d, uint64_t index, struct gen_unit *unit, hpcw_error *err);

    /* Memory of one process while it writes, what partial results take when a run ends (NULL: nothing to speak of), and
     * seconds of one core for all units: rough, for `plan`. */
    uint64_t (*memory)(const struct gen_dataset *d, uint32_t jobs);
    uint64_t (*partial_memory)(const struct gen_dataset *d);
    double (*seconds)(const struct gen_dataset *d);

    /* Whether a path below a dataset's directory is that of a unit of some dataset, whatever its parameters: what
     * --force may remove. */
    bool (*owns)(const char *path);

    /* Whether unit `index`, written in this range, is pending until the other ranges are written: it then has the name
     * gen_pending_name, not its own, until `complete`. NULL: no unit is. */
    bool (*is_pending)(const struct gen_dataset *d, uint64_t begin, uint64_t end, uint64_t index);

    /* Collective. Writes units [begin, end); on process 0 `partial` is an open object to add to, elsewhere
     * NULL. */
    hpcw_status (*write)(const struct gen_write *w, struct hpcw_i_json *partial, hpcw_error *err);

    /*
     * Ends what ranges could not end by themselves, from the partials of all ranges in order; *changed: how
     * many of the first units got new content or their name only now. NULL: ranges end everything themselves.
     */
    hpcw_status (*complete)(const struct gen_write *w, const cJSON *const *partial, size_t count,
                            uint64_t *changed, hpcw_error *err);

    /* Adds what was injected as members of an open object. In a finished dataset that has lost other files it
     * stands for the partial of the whole range. */
    hpcw_status (*truth)(const struct gen_dataset *d, const cJSON *const *partial, size_t count,
                         struct hpcw_i_json *json, hpcw_error *err);

    /* Whether a file, or a folder of them, is of this format; reads a few bytes at most. More special formats
     * stand first in the table. */
    bool (*probe)(const char *path);
    /* Structure and content. `ours`: by the rules of our own writer, which are stricter than those of real
     * files. `files`: out, how many were looked at; left alone where `path` is a folder. */
    hpcw_status (*verify)(const char *path, bool ours, uint64_t *files, hpcw_error *err);
    /* What is in a file, as members of an open object. */
    hpcw_status (*info)(const char *path, struct hpcw_i_json *json, hpcw_error *err);
    /* What is in it as sections of a page. Streams: memory does not grow with the number of ranks, but for a few words
     * each. */
    hpcw_status (*report)(const struct gen_report *r, hpcw_error *err);
};

extern const struct gen_format gen_format_linktest;
extern const struct gen_format gen_format_rank2file;
extern const struct gen_format gen_format_sion;
extern const struct gen_format gen_format_vom;
extern const struct gen_format gen_format_clog2;

/* The table: table.c, or what a program defines in its place. */
extern const struct gen_format *const gen_format[];
extern const size_t gen_format_count;

/* The formats by name for option tables: NULL behind the last. `list` is not used. */
const char *gen_format_name(const void *list, size_t index);

/* The folder of a format's units, below the dataset's: that of `folder`, or else its name. */
const char *gen_format_folder(const struct gen_format *format);

/* Whose folder a path below a dataset's directory is in or is: the index of the format, or gen_format_count. */
size_t gen_format_of_path(const char *path);

/* Index of the format that recognises a file, or gen_format_count. */
size_t gen_format_of_file(const char *path);

/* ---- helpers for formats ---- */

/* Facts of a container as members of an open object, for the formats that live in one. */
struct read_sion;
hpcw_status gen_format_sion_info(struct read_sion *reader, struct hpcw_i_json *json, hpcw_error *err);

#endif
