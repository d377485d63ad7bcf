/* SPDX-License-Identifier: BSD-3-Clause */
/* JSON files of hpcw-bench and hpcw-linktest. The same call writes a member or reads it back. So one function
 * describes an object for both directions.
 *
 * The first failure is kept, and later calls do nothing. Reading is strict: every member exists once, has the
 * right type and is in range, and there is no other member. HPCW_EFORMAT: the message names the member. */
#ifndef HPCW_BENCH_MEASURE_JSON_H
#define HPCW_BENCH_MEASURE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/sink.h>
#include <hpcw/status.h>

#include "bench/measure/machine.h"
#include "bench/measure/stats.h"
#include "libwriter/io/json.h"

struct cJSON;

enum { BENCH_JSON_DEPTH = 8, BENCH_JSON_MEMBERS = 32 };

/* An object or array being read. */
struct bench_json_node {
    const char *key;                               /* name of the member; NULL: element of an array */
    size_t index;                                  /* index of the element */
    const struct cJSON *value;                     /* the object or array itself */
    const struct cJSON *next;                      /* next element to read of an array */
    const struct cJSON *taken[BENCH_JSON_MEMBERS]; /* members that were read */
    size_t count;                                  /* number of members or elements that were read */
};

struct bench_json {
    bool reads;
    /* writer; callers use it directly for values that are never read back */
    struct hpcw_i_json out;
    hpcw_sink *sink;
    const char *path; /* path of the file being read, for messages */
    hpcw_status status;
    hpcw_error *err;
    struct cJSON *tree;
    struct bench_json_node node[BENCH_JSON_DEPTH];
    size_t depth;
};

/* Open the top-level object of a file to write (create) or to read (parse). A written file gets its final name when
 * it is complete. source: what opens its sink; NULL: a file by its path. path: NULL: standard output. */
hpcw_status bench_json_create(struct bench_json *io, const hpcw_sink_source *source, const char *path,
                              hpcw_error *err);
hpcw_status bench_json_parse(struct bench_json *io, const char *path, const char *text, size_t size,
                             hpcw_error *err);

/* Ends the top-level object, unless `s` is already a failure, and frees the memory of `io`. Returns the first
 * failure. */
hpcw_status bench_json_close(struct bench_json *io, hpcw_status s, hpcw_error *err);

/* Makes reading fail, since a value is not as `expected`. Does nothing when writing. key: member of the open
 * object; NULL: the object itself. */
void bench_json_refuse(struct bench_json *io, const char *key, const char *expected);
void bench_json_no_memory(struct bench_json *io);

/* ---- structure ---- */

/* Begins an object. key: name of the member; NULL: the object is an element of an array. flat: write it on one
 * line. If `there` is NULL, the object must exist. Otherwise *there says whether it exists. If not, JSON's null
 * stands for the object, the function returns false, and the caller skips the members and bench_json_end. */
bool bench_json_begin(struct bench_json *io, const char *key, bool flat, bool *there);
void bench_json_end(struct bench_json *io);

/* Begins an array and returns its number of elements. `count` elements are written, at most `most` are read. */
size_t bench_json_begin_array(struct bench_json *io, const char *key, size_t count, size_t most);
void bench_json_end_array(struct bench_json *io);

/* ---- values ----
 *
 * key: name of the member; NULL: a text that is an element of an array. or_null: JSON's null stands for "", 0 or
 * NaN. least, most: limits for reading, in addition to the limits of the type of the field and of a double. */

/* When reading, bytes that could control a terminal become question marks. */
void bench_json_text(struct bench_json *io, const char *key, char *text, size_t size, bool or_null);
void bench_json_bool(struct bench_json *io, const char *key, bool *v);
void bench_json_u64(struct bench_json *io, const char *key, uint64_t *v, bool or_null);
void bench_json_u32(struct bench_json *io, const char *key, uint32_t *v, double least, double most);
void bench_json_int(struct bench_json *io, const char *key, int *v, double least);
void bench_json_seconds(struct bench_json *io, const char *key, uint64_t *time_ns);
void bench_json_number(struct bench_json *io, const char *key, double *v, double most, bool or_null);
/* Writes words[index], or reads one of the words. Returns the index of the word. */
unsigned bench_json_word(struct bench_json *io, const char *key, unsigned index, const char *const *words,
                         unsigned count);
/* ---- objects that several kinds of files contain ---- */

void bench_json_machine(struct bench_json *io, struct bench_machine *m); /* member "machine" */
void bench_json_stats(struct bench_json *io, struct bench_stats *s);     /* all members of `s` */

/* Writes the current time in UTC, as "2026-11-22T10:20:30Z". */
enum { BENCH_TIME = 32 };
void bench_json_now(char text[BENCH_TIME]);

#endif
