/* SPDX-License-Identifier: BSD-3-Clause */
/* What to export from any format, and how much was exported. */
#ifndef HPCW_GEN_EXPORT_EXPORT_H
#define HPCW_GEN_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stdint.h>

#include <hpcw/sink.h>
#include <hpcw/status.h>

enum gen_export_form {
    GEN_EXPORT_AUTO,
    GEN_EXPORT_CHROME,
    GEN_EXPORT_CSV,
    GEN_EXPORT_EDGES,
    GEN_EXPORT_NPY,
    GEN_EXPORT_HOSTS,
    GEN_EXPORT_BYTES,
    GEN_EXPORT_OTF2,
    GEN_EXPORT_TASKS,
    GEN_EXPORT_STATES,
    GEN_EXPORT_MESSAGES,
    GEN_EXPORT_NPZ,
};

struct gen_export {
    int form;            /* enum gen_export_form */
    double from_s, to_s; /* events with from_s <= time < to_s */
    uint32_t first_rank, last_rank;
    uint64_t permutation; /* permutation of a LinkTest result */
    bool has_task;
    uint32_t task;
    bool has_key; /* export only the values of records with the key `key` */
    uint64_t key;
};

/* Forms and options that a format supports for `export` or `rewrite`. */
struct gen_offer {
    int form[6]; /* the first one is the default; 0 ends the list */
    /* long names of supported options that only some formats support */
    const char *takes[4];
};

struct gen_exported {
    const char *items; /* what `count` counts, as "events" */
    /* number of items: lines of CSV without the heading, events of the JSON, arrays of an .npz */
    uint64_t count;
    uint64_t bytes;
    bool empty; /* the arrays have no rows */
    /* why the exported data may be wrong; code HPCW_OK: no known reason */
    hpcw_error warning;
};

struct gen_exporter {
    struct gen_offer offer; /* enum gen_export_form */
    hpcw_status (*run)(const char *path, const struct gen_export *what, hpcw_sink *sink,
                       struct gen_exported *done, hpcw_error *err);
    /* The form for which `directory` is called: it makes a new directory, `output`, in place of a file. 0: none. */
    int directory_form;
    hpcw_status (*directory)(const char *path, const struct gen_export *what, const char *output, bool sync,
                             struct gen_exported *done, hpcw_error *err);
};

#endif
