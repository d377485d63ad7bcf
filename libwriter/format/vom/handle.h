/* SPDX-License-Identifier: BSD-3-Clause */
/* The handle of an open file, and the functions that the parts of the writer share. */
#ifndef HPCW_FORMAT_VOM_HANDLE_H
#define HPCW_FORMAT_VOM_HANDLE_H

#include <hpcw/vom.h>

#include "libwriter/format/vom/seen.h"
#include "libwriter/io/json.h"
#include "libwriter/io/sink_set.h"

/* A text that is written to a sink, as data files and statistics files are. */
struct hpcw_i_vom_output {
    char *path;
    struct hpcw_i_dir *dir; /* directory of `path`; NULL: the bytes go to a sink of the caller */
    hpcw_sink *sink;        /* sink for the text; compresses it if `brotli` */
    hpcw_sink *file;        /* sink for the bytes of the file; owned by `sink`, or equal to it */
    bool brotli;
    bool finished; /* the text is complete and the sink has it */
    uint64_t text_size;
    hpcw_status status; /* the first failure that makes further writes useless */
    hpcw_error error;
    struct hpcw_i_json json;
};

/* Opens the sinks and starts the text. After a failure the caller must free `out`. */
hpcw_status hpcw_i_vom_output_open(struct hpcw_i_vom_output *out, const char *path,
                                   const hpcw_vom_options *options, hpcw_error *err);
/* Copies the failure of the calls on out->json to `out`, and returns it. */
hpcw_status hpcw_i_vom_output_fail(struct hpcw_i_vom_output *out, hpcw_error *err);
/* Returns the status of all calls on out->json so far. A failure stays. */
static inline hpcw_status hpcw_i_vom_output_status(struct hpcw_i_vom_output *out, hpcw_error *err) {
    return hpcw_i_json_status(&out->json) == HPCW_OK ? HPCW_OK : hpcw_i_vom_output_fail(out, err);
}
/* Returns HPCW_ESTATE with the reason if nothing more can be written. */
hpcw_status hpcw_i_vom_output_usable(const struct hpcw_i_vom_output *out, hpcw_error *err);
/* Makes `out` unusable for this reason, and returns the reason. */
hpcw_status hpcw_i_vom_output_break(struct hpcw_i_vom_output *out, hpcw_status code, const hpcw_error *why);
/* `finish` ends the text and writes all of it. `publish` then gives the file its name. */
hpcw_status hpcw_i_vom_output_finish(struct hpcw_i_vom_output *out, hpcw_error *err);
hpcw_status hpcw_i_vom_output_publish(struct hpcw_i_vom_output *out, hpcw_error *err);
void hpcw_i_vom_output_free(struct hpcw_i_vom_output *out);

/* What the open phase or iteration contains so far, in the order of the text. */
enum hpcw_i_vom_progress {
    HPCW_I_VOM_NOTHING,
    HPCW_I_VOM_EDGES,           /* the array of edges is open */
    HPCW_I_VOM_ITERATIONS,      /* the array of iterations is open */
    HPCW_I_VOM_TASKS,           /* the array of tasks is open */
    HPCW_I_VOM_LATE_EDGES,      /* the array of edges is open, after the tasks */
    HPCW_I_VOM_LATE_ITERATIONS, /* the array of iterations is open, after the tasks and edges */
};

struct hpcw_i_vom_section {
    bool open;
    enum hpcw_i_vom_progress progress;
    uint64_t id;
    uint64_t tasks, edges;
};

/* Marks in the set of ids. */
enum {
    HPCW_I_VOM_WANTED = 1, /* an edge needs a task with this id, which was not written so far */
    HPCW_I_VOM_TASK = 2,
};

struct hpcw_vom {
    struct hpcw_i_vom_output out;
    hpcw_vom_options options; /* without attributes; lists of phases are copies */
    bool any_phase;           /* a phase was begun; after its end, phase.id is still its number */
    bool any_iteration;       /* an iteration of the open phase was begun */
    bool muted;               /* the open phase must not be written */
    bool any_written;         /* at least one phase was written */
    bool counted;             /* the first migratable task of the phase has set the number of subphases */
    uint32_t subphases;
    struct hpcw_i_vom_section phase, iteration;
    struct hpcw_i_vom_known {
        struct hpcw_i_seen ids;   /* tasks of the phase, and ids that must still become tasks */
        struct hpcw_i_seen pairs; /* edges of the phase */
    } * known;                    /* allocated only with options.check */
    uint64_t wanted;              /* number of ids with the mark HPCW_I_VOM_WANTED */
};

/* Returns HPCW_EINVAL without a handle, and HPCW_ESTATE if the handle cannot be written to any more. */
hpcw_status hpcw_i_vom_usable(const struct hpcw_vom *v, hpcw_error *err);

/* Ends the text of a data file and writes all of it. */
hpcw_status hpcw_i_vom_finish(struct hpcw_vom *v, hpcw_error *err);

/* Returns the path of the set that a file belongs to: its own path without ".RANK" and ".br", as in data.json. The
 * caller frees it. NULL: out of memory. */
char *hpcw_i_vom_set_path(const char *path);

/* Checks whether the file may end after the phases so far. */
hpcw_status hpcw_i_vom_check_end(const struct hpcw_vom *v, hpcw_error *err);

/* Write records as JSON. The caller has checked the records. */
void hpcw_i_vom_put_task(struct hpcw_i_json *j, uint32_t node, const hpcw_vom_task *task);
void hpcw_i_vom_put_edge(struct hpcw_i_json *j, const hpcw_vom_edge *edge);
/* Writes an object of named values, with its keys in byte order. */
void hpcw_i_vom_put_values(struct hpcw_i_json *j, const char *key, const hpcw_vom_value *values, size_t count);

#endif
