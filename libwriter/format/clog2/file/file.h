/* SPDX-License-Identifier: BSD-3-Clause */
/* A log that is being written, for slice.c and for the merge, which encodes records itself. */
#ifndef HPCW_FORMAT_CLOG2_FILE_FILE_H
#define HPCW_FORMAT_CLOG2_FILE_FILE_H

#include <pthread.h>

#include <hpcw/clog2.h>

#include "libwriter/format/clog2/file/records.h"
#include "libwriter/io/dir.h"

struct hpcw_clog2 {
    hpcw_comm *comm;
    char *path;
    hpcw_clog2_options options;
    struct hpcw_i_clog2_bounds bounds;
    hpcw_sink *sink;
    bool closed;
    pthread_mutex_t lock;
    /* reason given to hpcw_clog2_abandon; the lock protects it. Code HPCW_OK: not abandoned */
    hpcw_error abandoned;
};

/* ---- file.c ---- */

/* Directory and name of a log's file, found before the log is written. */
struct hpcw_i_clog2_place {
    struct hpcw_i_dir *dir; /* directory of the file; NULL: the path is looked up at the open */
    /* name of the file in `dir`, with symbolic links followed; NULL: the last part of the path, and links are
     * followed at the open */
    char *name;
};

/* Magic number at the start of a local file of a recording. It also shows the byte order. */
#define HPCW_I_CLOG2_LOCAL_TAG UINT64_C(0x0a324c43574350c8)

/* Fails with HPCW_EEXIST if an output in directory `at` would replace a local file, whose records may be nowhere
 * else. Follows symbolic links. A file that this user cannot read counts as another one. path: for messages. */
hpcw_status hpcw_i_clog2_check_output(int at, const char *name, const char *path, hpcw_error *err);

/* Opens the file of a log, unless `path` is a local file. Collective: process 0 creates the file, and all other
 * processes must find the same file. */
hpcw_status hpcw_i_clog2_sink_open(const struct hpcw_i_clog2_place *place, const char *path, hpcw_comm *comm,
                                   const hpcw_sink_source *source, uint64_t tag, hpcw_durability durability,
                                   hpcw_sink **out, hpcw_error *err);

/* Opens a log as hpcw_clog2_open, but at a place that was found before. */
hpcw_status hpcw_i_clog2_open_at(const struct hpcw_i_clog2_place *place, const char *path, hpcw_comm *comm,
                                 const hpcw_clog2_options *options, hpcw_clog2 **out, hpcw_error *err);

/* ---- preamble.c: preamble and table of communicators (doc/formats/clog2.md, same titles) ---- */

enum {
    HPCW_I_CLOG2_PREAMBLE = 1024,
    HPCW_I_CLOG2_ENTRY = 40 /* bytes of an entry of the table of communicators */
};

/* Writes the preamble of a finished log. `table` is the offset of the table of communicators. */
void hpcw_i_clog2_preamble(const hpcw_clog2_options *options, uint64_t table,
                           unsigned char bytes[HPCW_I_CLOG2_PREAMBLE]);

/* Encodes an entry of the table of communicators. Before the first entry, the table has the number of entries in
 * four bytes. */
void hpcw_i_clog2_encode_entry(const hpcw_clog2_comm_entry *entry, unsigned char p[HPCW_I_CLOG2_ENTRY]);

/* ---- slice.c ---- */

/* Returns space for the next records, as hpcw_i_clog2_blocks_space. */
hpcw_status hpcw_i_clog2_slice_space(hpcw_clog2_slice *slice, uint32_t size, double time, unsigned char **space,
                                     size_t *room, size_t *most, hpcw_error *err);
void hpcw_i_clog2_slice_took(hpcw_clog2_slice *slice, size_t bytes, size_t records);

#endif
