/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The metadata of a SION container.
 *
 *   meta.c      common parts of both writers below: fixed fields, shapes, limits
 *   files.c     the sinks of the files
 *   gather.c    one process writes all tables of a single file and publishes it. This takes few messages. Compared
 *               with windows.c, a close takes a third of the time with 8 processes, and a fifth with 5000 blocks
 *   windows.c   each process writes a part: sets of files, tasks in any order, tables of any size
 */
#ifndef HPCW_FORMAT_SION_META_META_H
#define HPCW_FORMAT_SION_META_META_H

#include "libwriter/format/sion/handle/handle.h"

/* ---- meta.c; no collectives ---- */

/* Returns the number of entries in the mapping of a file; 0 for an empty mapping, HPCW_I_SION_NO_MAPPING for
 * none. */
uint64_t hpcw_i_sion_mapping_of(const struct hpcw_sion *h, uint32_t file);

/* Returns the shape of a file whose tasks have at most `blocks` blocks, after hpcw_i_sion_check_limits. */
hpcw_sion_shape hpcw_i_sion_shape_of_file(const struct hpcw_sion *h, uint32_t file, uint64_t blocks);

/* Checks offsets, sizes and counts for which the format or its readers have too few bits (doc/formats/sion.md,
 * "Rules"). `blocks` [files] is the largest number of blocks of any task; 0: a file of another run. If `blocks` is
 * NULL, each task has one block, and all processes get the same result. */
hpcw_status hpcw_i_sion_check_limits(const struct hpcw_sion *h, const uint64_t *blocks, hpcw_error *err);

/* Returns the word in the table of sizes for a block that a task does not use. It is the same in either byte
 * order. */
static inline uint64_t hpcw_i_sion_unused(const struct hpcw_sion *h) {
    return h->options.mark_unused ? UINT64_MAX : 0;
}

/* Encodes the fixed part of META1 of a file, HPCW_I_SION_TABLES_AT bytes. */
void hpcw_i_sion_encode_head(const struct hpcw_sion *h, uint32_t file, unsigned char *head);

/* Encodes the commit mark of a file, HPCW_I_SION_COMMIT_SIZE bytes. */
void hpcw_i_sion_encode_commit(const struct hpcw_sion *h, uint64_t blocks, uint64_t meta2_start,
                               unsigned char *mark);

/* Returns a task's entry of the mapping, as a word in the file's byte order: index `column` in file number
 * `file`. */
uint64_t hpcw_i_sion_mapping_entry(const struct hpcw_sion *h, uint32_t file, uint32_t column);

/* ---- files.c: the physical files, as one process sees them; no collectives ---- */

/* `create` divides the own tasks by file, converts their chunk starts to offsets in the file, and creates the files
 * that this process leads. After all processes have done this, `join` opens the other files. */
hpcw_status hpcw_i_sion_files_create(struct hpcw_sion *h, hpcw_error *err);
hpcw_status hpcw_i_sion_files_join(struct hpcw_sion *h, hpcw_error *err);

/* Returns the path of a file, to be freed; NULL: out of memory. */
char *hpcw_i_sion_path_of_file(const struct hpcw_sion *h, uint32_t file);

/* Gets the sink of a file. A process without tasks in the file opens one, for the metadata. */
hpcw_status hpcw_i_sion_sink_of_file(struct hpcw_sion *h, uint32_t file, hpcw_sink **sink, hpcw_error *err);

/* Opens sinks again that were detached because one process was to write all metadata. */
hpcw_status hpcw_i_sion_files_reopen(struct hpcw_sion *h, hpcw_error *err);

/* ---- gather.c ---- */

/* Returns whether one process may write all tables. All processes get the same result. */
bool hpcw_i_sion_has_leader(const struct hpcw_sion *h);

/*
 * Writes the end of a file: tables, commit mark and name. Collective; only if hpcw_i_sion_has_leader. `s` is the
 * status of this process so far. All processes return the same. *large: nothing was written, as the tables are too
 * large for one process; sinks other than the leader's may be detached already.
 */
hpcw_status hpcw_i_sion_gather_meta(struct hpcw_sion *h, hpcw_status s, bool *large, hpcw_error *err);

/* ---- windows.c ---- */

/* Facts about the files that all processes know once the data is written. */
struct hpcw_i_sion_extent {
    uint64_t *lowest;  /* [files] lowest process with tasks in the file */
    uint64_t *highest; /* [files] highest process with tasks in the file */
    uint64_t *blocks;  /* [files] largest number of blocks of any task; 0: a file of another run */
};

/* Writes all tables. Collective. *agreed is true if all processes failed together. Otherwise one process may fail
 * alone. */
hpcw_status hpcw_i_sion_write_windows(struct hpcw_sion *h, const struct hpcw_i_sion_extent *extent,
                                      bool *agreed, hpcw_error *err);

#endif
